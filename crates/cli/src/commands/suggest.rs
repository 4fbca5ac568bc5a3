//! `hindcast suggest`: what a run says that the skill should change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hindcast_case::MatchLevel;
use hindcast_report::{StoredRun, printable};
use hindcast_runner::SkillPack;
use serde_json::json;
use similar::TextDiff;

use crate::args::SuggestFormat;
use crate::commands::{files, stored};
use crate::failure::{Failure, Outcome};
use crate::output;

/// Under which heading a patch adds to a file.
const HEADING: &str = "## Learned from replays";

/// One change, and the cases that ask for it.
struct Suggestion {
    file: String,
    text: String,
    cases: Vec<String>,
}

pub(crate) fn run(run: &Path, skill: Option<&Path>, least: usize, format: SuggestFormat) -> Result<Outcome, Failure> {
    let run = stored::open(run)?;
    let mut suggestions = collect(&run)?;
    suggestions.retain(|suggestion| suggestion.cases.len() >= least);
    match format {
        SuggestFormat::Json => {
            let list: Vec<_> = suggestions
                .iter()
                .map(|one| json!({"file": one.file, "suggestion": one.text, "cases": one.cases}))
                .collect();
            output::print_json(&json!(list))?;
        }
        SuggestFormat::Text => output::print(&printable(&text(&suggestions)))?,
        SuggestFormat::Patch => output::print(&patch(&run, skill, &suggestions)?)?,
    }
    Ok(Outcome::Clean)
}

/// The suggestions of the cases that don't match, merged; those that most cases ask for first, file by file.
fn collect(run: &StoredRun) -> Result<Vec<Suggestion>, Failure> {
    let mut merged: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let wrong = run.cases().filter(|row| row.comparable().is_some_and(|level| level != MatchLevel::Matched));
    for row in wrong {
        let path = run.dir.join("cases").join(format!("{}.json", row.incident_id));
        for suggestion in files::read_case(&path)?.improvement_suggestions {
            let (file, text) = suggestion.split_once(": ").unwrap_or(("SKILL.md", &suggestion));
            let cases = merged.entry((file.to_owned(), text.to_owned())).or_default();
            if !cases.contains(&row.incident_id) {
                cases.push(row.incident_id.clone());
            }
        }
    }
    let mut by_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ((file, _), cases) in &merged {
        let all = by_file.entry(file).or_default();
        for case in cases {
            if !all.contains(&case.as_str()) {
                all.push(case);
            }
        }
    }
    let weight: BTreeMap<String, usize> =
        by_file.iter().map(|(file, cases)| ((*file).to_owned(), cases.len())).collect();
    let mut suggestions: Vec<Suggestion> =
        merged.into_iter().map(|((file, text), cases)| Suggestion { file, text, cases }).collect();
    suggestions.sort_by(|one, other| {
        let key = |one: &Suggestion| {
            (std::cmp::Reverse(weight[&one.file]), one.file.clone(), std::cmp::Reverse(one.cases.len()))
        };
        key(one).cmp(&key(other)).then_with(|| one.text.cmp(&other.text))
    });
    Ok(suggestions)
}

fn text(suggestions: &[Suggestion]) -> String {
    if suggestions.is_empty() {
        return "nothing to suggest: every comparable case matches\n".to_owned();
    }
    let mut text = String::new();
    let mut file = "";
    for one in suggestions {
        if one.file != file {
            let gap = if file.is_empty() { "" } else { "\n" };
            let of_file = suggestions.iter().filter(|other| other.file == one.file).flat_map(|other| &other.cases);
            let cases = of_file.collect::<BTreeSet<_>>().len();
            text.push_str(&format!("{gap}{}: {}\n", one.file, counted(cases)));
            file = &one.file;
        }
        text.push_str(&format!(
            "  {:>9}  {}\n             {}\n",
            counted(one.cases.len()),
            one.text,
            one.cases.join(", ")
        ));
    }
    text
}

fn counted(cases: usize) -> String {
    if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") }
}

/// A patch against the skill, for `git apply` or `patch -p1` inside its folder.
fn patch(run: &StoredRun, skill: Option<&Path>, suggestions: &[Suggestion]) -> Result<String, Failure> {
    let dir: PathBuf = match (skill, run.totals["skill_pack"]["dir"].as_str()) {
        (Some(dir), _) => dir.to_owned(),
        (None, Some(dir)) => dir.into(),
        (None, None) => {
            return Err(Failure::new("the run was made without a skill folder")
                .help("name the skill to patch with --skill DIR"));
        }
    };
    let pack = SkillPack::open(&dir).map_err(|error| Failure::new(error.to_string()))?;
    let mut by_file: BTreeMap<&str, Vec<&Suggestion>> = BTreeMap::new();
    for one in suggestions {
        by_file.entry(&one.file).or_default().push(one);
    }
    let mut patch = String::new();
    for (path, suggestions) in by_file {
        let Some(file) = pack.file(path) else {
            anstream::eprintln!("left out: {} has no {path}", pack.name);
            continue;
        };
        let before = String::from_utf8_lossy(&file.bytes).into_owned();
        let after = with_lessons(&before, &suggestions);
        let diff = TextDiff::from_lines(&before, &after);
        patch.push_str(&diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string());
    }
    Ok(patch)
}

/// The file with the suggestions as a list: at the end of their section, which stands before the checks or at the end.
fn with_lessons(text: &str, suggestions: &[&Suggestion]) -> String {
    let new = suggestions.iter().filter(|one| !text.contains(&one.text));
    let lessons: String = new.map(|one| format!("- {} ({})\n", one.text, one.cases.join(", "))).collect();
    if lessons.is_empty() {
        return text.to_owned();
    }
    let next_heading = |from: usize| text[from..].find("\n## ").map(|at| from + at + 1);
    if let Some(section) = text.find(HEADING) {
        let end = next_heading(section + HEADING.len()).unwrap_or(text.len());
        let (head, tail) = text.split_at(end);
        let gap = if tail.is_empty() { "" } else { "\n" };
        return format!("{}\n{lessons}{gap}{tail}", head.trim_end());
    }
    let at = text.find("\n## Checks").map_or(text.len(), |at| at + 1);
    let (head, tail) = text.split_at(at);
    let gap = if tail.is_empty() { "" } else { "\n" };
    format!("{}\n\n{HEADING}\n\n{lessons}{gap}{tail}", head.trim_end())
}
