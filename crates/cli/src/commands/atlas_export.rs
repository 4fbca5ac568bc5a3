//! `hindcast atlas export`: the atlas' checks as parts of a skill's references.

use std::fmt::Write as _;
use std::path::Path;

use hindcast_atlas::{Atlas, MechanismIx};
use hindcast_case::{Reference, Vocabulary};

use crate::failure::{Failure, Outcome};
use crate::output;

/// Between these lines the generated part stands.
const BEGIN: &str = "<!-- checks: begin";
const END: &str = "<!-- checks: end -->";

/// Prints the checks, or writes them into the references of a pack; with `check` only tells whether they are current.
pub(crate) fn run(atlas: &Atlas, pack: Option<&Path>, check: bool) -> Result<Outcome, Failure> {
    let Some(pack) = pack else {
        let parts = Reference::ALL.iter().map(|reference| format!("# {reference}\n\n{}", checks(atlas, *reference)));
        return output::print(&parts.collect::<Vec<_>>().join("\n")).map(|()| Outcome::Clean);
    };
    let mut stale = Vec::new();
    for reference in Reference::ALL {
        let path = pack.join(reference.as_str());
        let text = std::fs::read_to_string(&path).map_err(|error| Failure::io("read", &path, &error))?;
        let Some(current) = with_checks(&text, &checks(atlas, *reference)) else {
            return Err(Failure::new(format!("{} has no place for the checks", path.display()))
                .help(format!("add the lines {BEGIN} --> and {END}")));
        };
        if current == text {
            continue;
        }
        stale.push(path.display().to_string());
        if !check {
            output::write_atomically(&path, &current)?;
        }
    }
    if !check || stale.is_empty() {
        let told = if stale.is_empty() {
            "the checks are current\n".to_owned()
        } else {
            format!("written: {}\n", stale.join(", "))
        };
        return output::print(&told).map(|()| Outcome::Clean);
    }
    output::print(&format!("not current: {}\n", stale.join(", "))).map(|()| Outcome::Findings)
}

/// The text with its generated part replaced; none where it has no place for one.
fn with_checks(text: &str, checks: &str) -> Option<String> {
    let begin = text.find(BEGIN)?;
    let begin = begin + text[begin..].find('\n')? + 1;
    let end = begin + text[begin..].find(END)?;
    Some(format!("{}\n{checks}\n{}", &text[..begin], &text[end..]))
}

/// The checks of a reference: each mechanism with its queries, thresholds, refutations and next steps.
fn checks(atlas: &Atlas, reference: Reference) -> String {
    let mechanisms = atlas.mechanisms().filter(|(_, mechanism)| mechanism.reference == reference);
    let parts: Vec<String> = mechanisms.map(|(ix, _)| mechanism(atlas, ix)).collect();
    if parts.is_empty() { "No mechanism of the atlas belongs here alone.".to_owned() } else { parts.join("\n\n") }
}

fn mechanism(atlas: &Atlas, ix: MechanismIx) -> String {
    let m = &atlas[ix];
    let mut text = format!("### `{}`: {}\n\n", m.id, m.title);
    let scope = m.scope.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut line = |told: String| writeln!(text, "{told}").expect("writing to a string does not fail");
    line(format!("Role {}; path {}; TiKV's side {}; scope {scope}.", m.role.as_str(), m.path, m.is_tikv_side));
    if !m.note.is_empty() {
        line(m.note.to_string());
    }
    line("\n| check | proves it when | threshold | since |\n|---|---|---|---|".to_owned());
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    for (index, row) in m.evidence.iter().enumerate() {
        let number = index + 1;
        line(format!(
            "| {number}. `{}` | {} | {} | {} |",
            cell(&row.metric),
            cell(&row.shape),
            cell(&row.threshold),
            cell(&row.since)
        ));
    }
    let queries = m.evidence.iter().enumerate().filter(|(_, row)| !row.promql.is_empty());
    let queries: Vec<String> = queries.map(|(index, row)| format!("# {}\n{}", index + 1, row.promql)).collect();
    if !queries.is_empty() {
        line(format!("\n```promql\n{}\n```", queries.join("\n")));
    }
    let list = |items: &[String]| items.iter().map(|item| format!("\n- {item}")).collect::<String>();
    if !m.refuted_by.is_empty() {
        line(format!("\nRefuted by:{}", list(&m.refuted_by)));
    }
    if !m.log_patterns.is_empty() {
        let quoted: Vec<String> = m.log_patterns.iter().map(|pattern| format!("\"{pattern}\"")).collect();
        line(format!("\nIn logs: {}.", quoted.join(", ")));
    }
    let ids = |all: &[MechanismIx]| all.iter().map(|ix| format!("`{}`", atlas[*ix].id)).collect::<Vec<_>>().join(", ");
    let near =
        |all: &[(MechanismIx, u8)]| all.iter().filter(|(_, edges)| *edges == 1).map(|(ix, _)| *ix).collect::<Vec<_>>();
    let (causes, effects) = (near(&atlas.ancestors(ix)), near(&atlas.descendants(ix)));
    match causes.is_empty() {
        true => line("\nNext: nothing in the atlas stands before it; when it is proven, stop here.".to_owned()),
        false => line(format!("\nNext: when it is proven, check what can cause it: {}.", ids(&causes))),
    }
    if !effects.is_empty() {
        line(format!("It leads to: {}.", ids(&effects)));
    }
    text.trim_end().to_owned()
}
