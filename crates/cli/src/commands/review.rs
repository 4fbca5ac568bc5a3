//! `hindcast review`: the verdicts of a run, and what people decide on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hindcast_case::{Case, IncidentId, Vocabulary};
use hindcast_report::{StoredRow, StoredRun, printable};
use hindcast_review::{Decision, Entry, ReviewBook};
use serde_json::json;

use crate::args::{Format, ReviewArguments};
use crate::commands::{files, stored};
use crate::failure::{Failure, Outcome};
use crate::output;

/// A verdict that waits for a person.
struct Waiting<'a> {
    row: &'a StoredRow,
    /// Why a look is worth it, strongest first.
    reasons: Vec<String>,
    /// How much.
    weight: u32,
    /// The decision that stands.
    decided: Option<&'a Entry>,
}

pub(crate) fn run(arguments: &ReviewArguments) -> Result<Outcome, Failure> {
    let run = stored::open(&arguments.run)?;
    let book = ReviewBook::new(&casebook_of(&run)?);
    let decisions = decisions(arguments)?;
    if decisions.is_empty() && arguments.undo.is_empty() {
        return queue(&run, &book, arguments.format);
    }
    let reviewer = reviewer(arguments)?;
    // A decision is about the present by nature; it stands beside the case, not in it.
    let time = jiff::Timestamp::now().to_string();
    for (id, decision) in decisions {
        let judged = judged(&run, &id)?;
        let seen = book.version(&id).map_err(|error| Failure::new(error.to_string()))?;
        book.decide(&judged, &seen, &decision, &reviewer, &time).map_err(|error| Failure::new(error.to_string()))?;
        anstream::eprintln!("{id}: kept in {}", book.path(&id).display());
    }
    for id in &arguments.undo {
        let id = incident(id)?;
        book.undo(&id, &reviewer, &time).map_err(|error| Failure::new(error.to_string()))?;
        anstream::eprintln!("{id}: the last decision is taken back");
    }
    Ok(Outcome::Clean)
}

fn decisions(arguments: &ReviewArguments) -> Result<Vec<(IncidentId, Decision)>, Failure> {
    let reason = arguments.reason.clone().unwrap_or_default();
    let mut decisions = Vec::new();
    for id in &arguments.accept {
        decisions.push((incident(id)?, Decision::Accept));
    }
    for id in &arguments.unclear {
        decisions.push((incident(id)?, Decision::HumanUnclear { reason: reason.clone() }));
    }
    for id in &arguments.r#override {
        let level = arguments.level.as_deref().map(word).transpose()?;
        let Some(level) = level else {
            return Err(Failure::new("--override needs --level").help("matched, partially_matched, mismatched"));
        };
        let mismatch = arguments.mismatch.iter().map(|text| word(text)).collect::<Result<_, _>>()?;
        decisions.push((incident(id)?, Decision::Override { level, mismatch, reason: reason.clone() }));
    }
    Ok(decisions)
}

fn word<T: Vocabulary>(text: &str) -> Result<T, Failure> {
    T::recognise(text).ok_or_else(|| {
        let known: Vec<&str> = T::ALL.iter().map(|word| word.as_str()).collect();
        let near = hindcast_case::nearest(text, known.iter().copied()).map(|near| format!("did you mean {near}? "));
        Failure::new(format!("{text:?} is not a {}", T::WHAT)).help(format!(
            "{}known: {}",
            near.unwrap_or_default(),
            known.join(", ")
        ))
    })
}

fn incident(text: &str) -> Result<IncidentId, Failure> {
    IncidentId::parse(text).ok_or_else(|| Failure::new(format!("{text:?} is not an incident id")))
}

/// Who decides: as said, or as git and the system know them.
fn reviewer(arguments: &ReviewArguments) -> Result<String, Failure> {
    let of_git = || {
        let output = std::process::Command::new("git").args(["config", "user.name"]).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let names = [arguments.reviewer.clone(), of_git(), std::env::var("USER").ok()];
    let name = names.into_iter().flatten().find(|name| !name.trim().is_empty());
    name.ok_or_else(|| Failure::new("who decides is not known").help("--reviewer NAME, or HINDCAST_REVIEWER"))
}

/// The casebook that a run was made of.
fn casebook_of(run: &StoredRun) -> Result<PathBuf, Failure> {
    let path = run.dir.join("plan.json");
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::io("read", &path, &error))?;
    let plan: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let casebook = plan["casebook"].as_str().map(PathBuf::from).filter(|dir| dir.is_dir());
    casebook.ok_or_else(|| Failure::new(format!("the casebook of {} is not where it was", run.dir.display())))
}

fn judged(run: &StoredRun, id: &IncidentId) -> Result<Case, Failure> {
    files::read_case(&run.dir.join("cases").join(format!("{id}.json")))
}

/// Lists what waits, where a look is worth most first.
fn queue(run: &StoredRun, book: &ReviewBook, format: Format) -> Result<Outcome, Failure> {
    let standing = book.standing().map_err(|error| Failure::new(error.to_string()))?;
    let before = previous(&run.dir);
    let mut waiting: Vec<Waiting<'_>> =
        run.cases().filter_map(|row| wait(run, row, &standing, before.as_ref())).collect();
    waiting.sort_by(|one, other| {
        let key = |one: &Waiting<'_>| (std::cmp::Reverse(one.weight), one.row.incident_id.clone());
        key(one).cmp(&key(other))
    });
    if format == Format::Json {
        let list: Vec<_> = waiting
            .iter()
            .map(|one| {
                json!({
                    "incident_id": one.row.incident_id, "match_level": one.row.level().map(hindcast_case::Vocabulary::as_str),
                    "weight": one.weight, "reasons": one.reasons, "reviewer": one.decided.map(|entry| &entry.reviewer),
                    "decision": one.decided.map(|entry| &entry.decision),
                })
            })
            .collect();
        output::print_json(&json!(list))?;
        return Ok(Outcome::Clean);
    }
    let open = waiting.iter().filter(|one| one.weight > 0).count();
    let mut text = String::new();
    for one in &waiting {
        let level = one.row.level().map_or("", |level| level.as_str());
        let by = one.decided.map(|entry| format!(" [{} by {}]", entry.decision, entry.reviewer)).unwrap_or_default();
        text.push_str(&format!("{:<14} {level:<24} {}{by}\n", one.row.incident_id, one.reasons.join("; ")));
    }
    text.push_str(&format!("\n{open} of {} wait for a decision\n", waiting.len()));
    output::print(&printable(&text))?;
    Ok(Outcome::Clean)
}

/// How much a person's look at a verdict is worth; replays that failed have none.
fn wait<'a>(
    run: &StoredRun,
    row: &'a StoredRow,
    standing: &'a BTreeMap<String, Entry>,
    before: Option<&StoredRun>,
) -> Option<Waiting<'a>> {
    let level = row.level()?;
    let decided = standing.get(&row.incident_id);
    let mut found: Vec<(u32, String)> = Vec::new();
    match decided {
        Some(entry) if entry.level == level.as_str() => {
            let reasons = vec!["decided".to_owned()];
            return Some(Waiting { row, reasons, weight: 0, decided });
        }
        Some(entry) => found.push((100, format!("a reviewer said {}", entry.level))),
        None => {}
    }
    if row.leak_score.is_some() {
        found.push((50, "the inputs may give the conclusion away".to_owned()));
    }
    let earlier = before.and_then(|run| run.cases().find(|other| other.incident_id == row.incident_id)?.level());
    if let Some(earlier) = earlier.filter(|earlier| *earlier != level) {
        found.push((30, format!("it was {earlier} in the run before")));
    }
    if let Ok(case) = IncidentId::parse(&row.incident_id).ok_or(()).and_then(|id| judged(run, &id).map_err(|_| ())) {
        let skill = &case.skill_conclusion;
        if skill.earliest_proven_bottleneck.is_empty() {
            found.push((10, "the skill names no bottleneck".to_owned()));
        } else if !skill.uncertainty_statement.is_empty() {
            found.push((10, "the skill has doubts".to_owned()));
        }
    }
    found.push((1, "not decided".to_owned()));
    let weight = found.iter().map(|(weight, _)| weight).sum();
    let reasons = found.into_iter().map(|(_, reason)| reason).collect();
    Some(Waiting { row, reasons, weight, decided })
}

/// The run before, in the same folder.
fn previous(dir: &Path) -> Option<StoredRun> {
    let parent = dir.canonicalize().ok()?.parent()?.to_owned();
    let name = dir.canonicalize().ok()?.file_name()?.to_owned();
    let mut names: Vec<_> = std::fs::read_dir(&parent).ok()?.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let earlier = names.into_iter().take_while(|other| *other != name).collect::<Vec<_>>();
    earlier.into_iter().rev().find_map(|name| StoredRun::open(&parent.join(name)).ok())
}
