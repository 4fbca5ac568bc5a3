//! `hindcast diff`: what changed from one run to another.

use std::collections::BTreeMap;
use std::path::Path;

use hindcast_case::{IncidentId, Reference, Vocabulary};
use hindcast_report::{Difference, StoredRun, printable};
use hindcast_runner::SkillPack;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::args::Format;
use crate::commands::{files, stored};
use crate::failure::{Failure, Outcome};
use crate::output;

/// Lines of the skill's own diff that are shown.
const MAX_LINES: usize = 200;

pub(crate) fn run(before: &Path, after: &Path, format: Format) -> Result<Outcome, Failure> {
    let first = stored::open(before)?;
    let second = stored::open(&stored::place(after, &first.dir))?;
    let difference = Difference::between(&first, &second);
    let reads = reads(&first, &second, &difference);
    let skill = skill_changes(&first, &second, &reads);
    let references = references(&reads);
    match format {
        Format::Json => {
            let mut value = difference.json();
            value["before"] = about(&first);
            value["after"] = about(&second);
            value["skill_changes"] = match &skill {
                Ok(changes) => changes.iter().map(|change| json!({"file": change.path, "flipped_cases_that_read_it": change.readers, "diff": change.diff})).collect(),
                Err(why) => json!({"unknown": why}),
            };
            value["references_of_flips"] = json!(references);
            output::print_json(&value)?;
        }
        Format::Text => {
            let mut text = format!(
                "before  {}  ({})\nafter   {}  ({})\n",
                first.dir.display(),
                first.skill(),
                second.dir.display(),
                second.skill()
            );
            for line in rules(&first, &second) {
                text.push_str(&format!("note    {line}\n"));
            }
            text.push('\n');
            text.push_str(&difference.text());
            if !references.is_empty() {
                text.push_str("\nreferences that flipped cases read in only one of the runs\n");
                for (name, ids) in &references {
                    text.push_str(&format!("  {name:<32} {}\n", ids.join(", ")));
                }
            }
            if let (Some(one), Some(other)) = (first.cost(), second.cost()) {
                text.push_str(&format!("\ncost: {one:.2} -> {other:.2} USD\n"));
            }
            match &skill {
                Ok(changes) if changes.is_empty() => text.push_str("\nthe skill is the same\n"),
                Ok(changes) => {
                    text.push_str("\nthe skill changed\n");
                    let told = changes.iter().flat_map(|change| {
                        std::iter::once(change.title()).chain(change.diff.lines().map(str::to_owned))
                    });
                    let lines: Vec<String> = told.collect();
                    for line in lines.iter().take(MAX_LINES) {
                        text.push_str(&format!("  {line}\n"));
                    }
                    if lines.len() > MAX_LINES {
                        text.push_str(&format!(
                            "  … and {} more lines (-o json has them all)\n",
                            lines.len() - MAX_LINES
                        ));
                    }
                }
                Err(why) => text.push_str(&format!("\nwhat changed in the skill is not known: {why}\n")),
            }
            output::print(&printable(&text))?;
        }
    }
    Ok(Outcome::Clean)
}

fn about(run: &StoredRun) -> Value {
    json!({"run": run.dir.display().to_string(), "skill": run.skill(), "cost_usd": run.cost(), "pack": run.totals["skill_pack"]})
}

/// What a reader must know where the runs are not alike.
fn rules(first: &StoredRun, second: &StoredRun) -> Vec<String> {
    let mut notes = Vec::new();
    if first.totals["plan"] != second.totals["plan"] {
        notes.push(
            "the runs differ in their runner, model or limits: a difference need not come from the skill".to_owned(),
        );
    }
    if first.totals["runner_version"] != second.totals["runner_version"] {
        notes.push(format!(
            "the runner's version differs: {} and {}",
            first.totals["runner_version"], second.totals["runner_version"]
        ));
    }
    let repeats = |run: &StoredRun| run.totals["replays"]["repeats"].as_u64().unwrap_or(1);
    if repeats(first) > 1 || repeats(second) > 1 {
        notes.push("of repeats only the first of each case is compared".to_owned());
    }
    notes
}

/// A file of the skill that differs.
struct Change {
    path: String,
    diff: String,
    /// The cases that flipped and read it in either run.
    readers: Vec<String>,
}

impl Change {
    fn title(&self) -> String {
        match self.readers.as_slice() {
            [] => format!("{}: no case that flipped read it", self.path),
            readers => format!("{}: read by flipped cases {}", self.path, readers.join(", ")),
        }
    }
}

/// The references that each flipped case read, in the run before and in the one after.
type Reads = BTreeMap<String, [Vec<Reference>; 2]>;

fn reads(first: &StoredRun, second: &StoredRun, difference: &Difference<'_>) -> Reads {
    let flips = difference.flips.iter().filter_map(|flip| IncidentId::parse(&flip.after.incident_id));
    let read = |run: &StoredRun, id: &IncidentId| {
        let case = files::read_case(&run.case(id)).ok();
        case.map(|case| case.skill_conclusion.reference_files_consulted).unwrap_or_default()
    };
    flips.map(|id| (id.to_string(), [read(first, &id), read(second, &id)])).collect()
}

/// The flipped cases that read a file of the skill in either run. The skill's own page is read by all.
fn readers(reads: &Reads, path: &str) -> Vec<String> {
    let has_read =
        |sides: &[Vec<Reference>; 2]| path == "SKILL.md" || sides.iter().flatten().any(|one| one.as_str() == path);
    reads.iter().filter(|(_, sides)| has_read(sides)).map(|(id, _)| id.clone()).collect()
}

/// The files of the skill that differ, where both skills can still be read.
fn skill_changes(first: &StoredRun, second: &StoredRun, reads: &Reads) -> Result<Vec<Change>, String> {
    let (one, other) = (&first.totals["skill_pack"], &second.totals["skill_pack"]);
    if one["hash"].is_string() && one["hash"] == other["hash"] {
        return Ok(Vec::new());
    }
    let (one, other) = (pack(one)?, pack(other)?);
    let mut paths: Vec<&str> = one.files.iter().chain(&other.files).map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let text = |pack: &SkillPack, path: &str| {
        pack.file(path).map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default()
    };
    let changes = paths.into_iter().filter_map(|path| {
        let (before, after) = (text(&one, path), text(&other, path));
        if before == after {
            return None;
        }
        let diff = TextDiff::from_lines(&before, &after)
            .unified_diff()
            .header(&format!("a/{path}"), &format!("b/{path}"))
            .to_string();
        Some(Change { path: path.to_owned(), diff, readers: readers(reads, path) })
    });
    Ok(changes.collect())
}

/// The skill of a run as it was: where it lies, if it is the same still, or at its commit.
fn pack(of: &Value) -> Result<SkillPack, String> {
    let (Some(dir), Some(hash)) = (of["dir"].as_str(), of["hash"].as_str()) else {
        return Err("a run was made without a skill folder".to_owned());
    };
    let dir = Path::new(dir);
    let commit = of["reference"].as_str().or_else(|| of["commit"].as_str());
    let tries = [SkillPack::open(dir).ok(), commit.and_then(|commit| SkillPack::at(dir, commit).ok())];
    let found = tries.into_iter().flatten().find(|pack| pack.hash == hash);
    found.ok_or_else(|| {
        format!("version {} is neither in {} nor in its git history", &hash[..hash.len().min(12)], dir.display())
    })
}

/// References that a flipped case read in one run and not in the other, with the cases.
fn references(reads: &Reads) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, [before, after]) in reads {
        let gone = before.iter().filter(|one| !after.contains(one)).map(|one| format!("- {}", one.as_str()));
        let new = after.iter().filter(|one| !before.contains(one)).map(|one| format!("+ {}", one.as_str()));
        for name in gone.chain(new) {
            found.entry(name).or_default().push(id.clone());
        }
    }
    found
}
