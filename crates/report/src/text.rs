//! One case, step by step, for a terminal.

use std::fmt::Write as _;

use hindcast_case::{Case, Vocabulary};
use hindcast_verdict::{Basis, Comparer, Conclusion, Reader, Stated, Verdict};

use crate::model::bottleneck;
use crate::terminal::printable;

/// A verdict with every step that led to it.
#[must_use]
pub fn verdict_text(reader: &Reader, case: &Case, verdict: &Verdict) -> String {
    let mut out = format!("{}  {}\n{}\n", case.incident_id, case.canonical_incident.title, rule_line(verdict));
    out.push_str("\nWhat the engineers say\n");
    conclusion(&mut out, reader, &verdict.human);
    out.push_str("\nWhat the skill says\n");
    conclusion(&mut out, reader, &verdict.skill);
    out.push_str("\nHow they relate\n");
    let relation = &verdict.relation;
    let path = relation.path.iter().map(|ix| reader.atlas[*ix].id.as_str()).collect::<Vec<_>>().join(" -> ");
    let edges = if relation.edges == 0 { String::new() } else { format!(" by {} causal edge(s)", relation.edges) };
    line(&mut out, "bottleneck", &format!("{}{edges}", relation.kind.as_str()));
    if !path.is_empty() {
        line(&mut out, "causal path", &path);
    }
    let dimensions = &verdict.dimensions;
    line(&mut out, "side", if dimensions.side_compatible { "compatible" } else { "not compatible" });
    line(&mut out, "scope", if dimensions.scope_contradicts { "contradicts" } else { "does not contradict" });
    line(&mut out, "path", if dimensions.path_compatible { "compatible" } else { "not compatible" });
    let mode = match dimensions.entry_mode_right {
        Some(true) => "right",
        Some(false) => "wrong",
        None => "not known",
    };
    line(&mut out, "entry mode", mode);
    section(&mut out, "Notes", &verdict.notes);
    section(&mut out, "Suggestions for the skill", &verdict.suggestions);
    if !verdict.windows.is_empty() {
        out.push_str("\nWindows (beside the verdict, not part of it)\n");
        for review in &verdict.windows {
            let assessment = review.assessment.map_or("", Vocabulary::as_str);
            line(&mut out, &review.label, &format!("{assessment}: {}", review.notes.join(" ")));
        }
    }
    printable(&out).into_owned()
}

fn rule_line(verdict: &Verdict) -> String {
    let types = verdict.mismatch.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    let types = if types.is_empty() { String::new() } else { format!("  [{types}]") };
    format!("{}{types}  by rule `{}`", verdict.level, verdict.rule)
}

/// What a human conclusion says, as structured values.
#[must_use]
pub fn extraction_text(comparer: &Comparer, case: &Case, human: &Conclusion) -> String {
    let mut out = format!("{}  {}\n", case.incident_id, case.canonical_incident.title);
    line(&mut out, "status", comparer.human_status(case, human).as_str());
    conclusion(&mut out, &comparer.reader, human);
    let chain: Vec<String> =
        comparer.reader.chain(human).into_iter().map(|s| comparer.reader.subject_name(s)).collect();
    if chain.len() > 1 {
        line(&mut out, "chain", &chain.join(" -> "));
    }
    for window in &case.final_human_conclusion.analysis_windows {
        let times = format!("{} to {}", window.start_time, window.end_time);
        let times = if window.start_time.is_empty() { "no times" } else { &times };
        line(&mut out, &window.label, &format!("{} ({times}): {}", window.inferred_bottleneck, window.summary));
    }
    line(&mut out, "as one line", &comparer.reader.structured(human).to_string());
    printable(&out).into_owned()
}

fn conclusion(out: &mut String, reader: &Reader, conclusion: &Conclusion) {
    let name = bottleneck(reader, conclusion);
    let basis = conclusion.bottleneck.map(|stated| origin(stated, conclusion)).unwrap_or_default();
    line(out, "bottleneck", &if name.is_empty() { "none named".to_owned() } else { format!("{name}{basis}") });
    dimension(out, "side", conclusion.side, conclusion);
    dimension(out, "scope", conclusion.scope, conclusion);
    dimension(out, "path", conclusion.path, conclusion);
    for claim in &conclusion.claims.claims {
        let words = conclusion.text.get(claim.span.start..claim.span.end).unwrap_or_default();
        line(out, "claim", &format!("{}: {} \"{words}\"", claim.role.as_str(), reader.subject_name(claim.subject)));
    }
}

fn dimension<T: Vocabulary>(out: &mut String, label: &str, stated: Option<Stated<T>>, conclusion: &Conclusion) {
    if let Some(stated) = stated {
        line(out, label, &format!("{}{}", stated.value.as_str(), origin(stated, conclusion)));
    }
}

/// Where a value comes from.
fn origin<T: Copy>(stated: Stated<T>, conclusion: &Conclusion) -> String {
    let certainty = if stated.certainty == hindcast_case::Certainty::Suspected { ", suspected" } else { "" };
    match stated.basis {
        Basis::Field(field) => format!("  (field {field}{certainty})"),
        Basis::Words(span) => {
            format!("  (\"{}\"{certainty})", conclusion.text.get(span.start..span.end).unwrap_or_default())
        }
        Basis::Atlas => format!("  (usual for this mechanism{certainty})"),
        Basis::Incident => format!("  (from the incident's description{certainty})"),
    }
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        writeln!(out, "\n{title}").expect("writing to a string does not fail");
        for text in lines {
            writeln!(out, "  - {text}").expect("writing to a string does not fail");
        }
    }
}

fn line(out: &mut String, label: &str, value: &str) {
    writeln!(out, "  {label:<12} {value}").expect("writing to a string does not fail");
}
