//! `hindcast run`: a casebook through a skill, compared, reported.

mod plan;
mod replays;
mod totals;

use std::io::Write;
use std::path::{Path, PathBuf};

use hindcast_atlas::Atlas;
use hindcast_case::{Case, MatchLevel, Severity, SkillConclusion};
use hindcast_replay::{LeakCheck, replay_with};
use hindcast_report::{
    Facts, HtmlReport, Point, Row, StoredRun, Tally, agreement_line, confusion_table, row_json, rows_table, run_json,
};
use hindcast_runner::{Record, ReplayStore};
use hindcast_skill::{BuiltinSkill, Question};
use hindcast_verdict::Comparer;
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::args::{Format, RunArguments};
use crate::commands::{files, gate, stored};
use crate::failure::{Failure, Outcome};
use crate::output;
use plan::{Plan, Runner};
use totals::Totals;

/// Cases in work at once: enough to keep the cores busy, few enough to hold in memory.
const CHUNK: usize = 512;

/// What came of one replay.
enum Replayed {
    /// Compared and written; the section of the report belongs to the first repeat.
    Done(Box<Row>, String),
    /// The replay failed; the reason.
    Failed { id: String, repeat: u32, reason: String },
    /// There is no such replay yet.
    Missing,
    /// Not usable; the reason, one line each.
    Unusable(String),
}

/// What came of one file: its replays, and what was kept of them.
type OfCase = (Vec<Replayed>, Vec<Record>);

/// Where conclusions come from.
enum Answers<'a> {
    Builtin(BuiltinSkill<'a>),
    Stored(ReplayStore, u32),
}

pub(crate) fn run(arguments: &RunArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    if arguments.schema_prompt {
        return output::print(hindcast_runner::schema_prompt()).map(|()| Outcome::Clean);
    }
    let (plan, pack, dir) = match &arguments.resume {
        Some(run) => {
            let (plan, pack) = Plan::resume(run)?;
            clear(run)?;
            create(run)?;
            (plan, pack, run.clone())
        }
        None => {
            let (plan, pack) = Plan::new(arguments)?;
            let dir = prepare(arguments, arguments.casebook.as_deref().unwrap_or(&plan.casebook))?;
            replays::keep_plan(&plan, &dir)?;
            (plan, pack, dir)
        }
    };
    let comparer = Comparer::new(atlas);
    let (answers, replays) = match &plan.runner {
        Runner::Builtin => (Answers::Builtin(BuiltinSkill::new(&comparer.reader.atlas, &comparer.reader.texts)), None),
        Runner::Recorded { .. } | Runner::Agent { .. } => {
            let replays = replays::run(&plan, pack, &comparer.reader, arguments, &dir)?;
            (Answers::Stored(replays.store.clone(), plan.repeats), Some(replays))
        }
    };
    let paths = plan.paths();
    let mut listing = Listing::new(&dir, paths.len(), arguments.rows)?;
    let mut chunks = paths.chunks(CHUNK);
    let mut pending = Vec::new();
    loop {
        let chunk = chunks.next().unwrap_or_default();
        // One chunk is listed while the next one is replayed.
        let (replayed, listed) = rayon::join(
            || chunk.par_iter().map(|path| replay(&comparer, &answers, path, &dir)).collect::<Vec<_>>(),
            || listing.add_all(std::mem::take(&mut pending)),
        );
        listed?;
        if replayed.is_empty() {
            break;
        }
        pending = replayed;
    }
    let skill = plan.skill_name();
    let Listed { tally, totals, shown, page } = listing.finish(&skill, replays.is_some().then_some(plan.repeats))?;
    let mut json = run_json(&tally, &skill);
    if let Some(replays) = &replays {
        json["replays"] = totals.json(plan.repeats);
        json["runner_version"] = serde_json::json!(replays.version);
        json["plan"] = serde_json::to_value(&plan.runner).expect("a plan is written as JSON");
        json["skill_pack"] = serde_json::to_value(&plan.skill).expect("a plan is written as JSON");
    }
    // Written last: a folder without it is a run that did not finish.
    output::write_atomically(&dir.join("run.json"), &format!("{json:#}\n"))?;
    match arguments.format {
        Format::Json => {
            json["run"] = serde_json::json!(dir.display().to_string());
            json["report"] = serde_json::json!(page.display().to_string());
            output::print_json(&json)?;
        }
        Format::Text => {
            let mut text = summary(&shown, &tally, &dir, &page);
            if let Some(replays) = &replays {
                text.push_str(&format!("\n{}", totals.text(plan.repeats)));
                if replays.from_cache > 0 {
                    text.push_str(&format!("  from the cache: {} (--fresh runs them again)\n", replays.from_cache));
                }
                if let Some(line) = replays::end_line(replays.end, totals.missing, &dir) {
                    text.push_str(&format!("\n{line}\n"));
                }
            }
            output::print(&text)?;
        }
    }
    if let Some(gate) = &arguments.gate
        && gate::verdict(&stored::open(&dir)?, gate)? == Outcome::Findings
    {
        return Ok(Outcome::Findings);
    }
    let is_clean = tally.unusable == 0 && totals.failed == 0 && totals.missing == 0;
    Ok(if is_clean { Outcome::Clean } else { Outcome::Findings })
}

/// Takes the results in the casebook's order and writes what lists them.
struct Listing<'a> {
    dir: &'a Path,
    lines: std::io::BufWriter<std::fs::File>,
    report: HtmlReport,
    tally: Tally,
    totals: Totals,
    shown: Vec<Row>,
    most: usize,
    progress: ProgressBar,
}

/// What a run comes to.
struct Listed {
    tally: Tally,
    totals: Totals,
    shown: Vec<Row>,
    page: PathBuf,
}

impl<'a> Listing<'a> {
    fn new(dir: &'a Path, cases: usize, most: usize) -> Result<Self, Failure> {
        let path = dir.join("rows.jsonl");
        let file = std::fs::File::create(&path).map_err(|error| Failure::io("create", &path, &error))?;
        Ok(Self {
            dir,
            lines: std::io::BufWriter::new(file),
            report: HtmlReport::new(dir),
            tally: Tally::default(),
            totals: Totals::default(),
            shown: Vec::new(),
            most,
            progress: output::progress_bar(cases, "cases"),
        })
    }

    fn add_all(&mut self, results: Vec<Result<OfCase, Failure>>) -> Result<(), Failure> {
        let count = results.len();
        for result in results {
            let (replayed, records) = result?;
            for record in &records {
                self.totals.add(record);
            }
            let added = self.add_case(replayed);
            added.map_err(|error| Failure::io("write", self.dir, &error))?;
        }
        self.progress.inc(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Adds the repeats of one case. The first stands for the case in the headline and the report.
    fn add_case(&mut self, replayed: Vec<Replayed>) -> std::io::Result<()> {
        let mut matched = Vec::new();
        let mut id = String::new();
        for (index, one) in replayed.into_iter().enumerate() {
            let is_first = index == 0;
            match one {
                Replayed::Done(row, section) => {
                    row.incident_id.as_str().clone_into(&mut id);
                    if row.level != MatchLevel::HumanConclusionUnclear && row.leak.is_none() {
                        matched.push(row.level == MatchLevel::Matched);
                    }
                    writeln!(self.lines, "{}", row_json(&row))?;
                    if is_first {
                        self.tally.add(&row);
                        self.report.add(&row, &section)?;
                        if self.shown.len() < self.most {
                            self.shown.push(*row);
                        }
                    }
                }
                Replayed::Failed { id, repeat, reason } => {
                    let line = serde_json::json!({"incident_id": id, "repeat": repeat, "failed": reason});
                    writeln!(self.lines, "{line}")?;
                    if is_first {
                        self.tally.failed += 1;
                        self.report.fail(&id, &reason)?;
                    }
                }
                Replayed::Missing => {
                    self.totals.missing += 1;
                    if is_first {
                        self.report.skip()?;
                    }
                }
                Replayed::Unusable(reason) => {
                    self.tally.unusable += 1;
                    self.progress.suspend(|| anstream::eprintln!("{reason}"));
                    self.report.skip()?;
                }
            }
        }
        if !matched.is_empty() {
            self.totals.add_repeats(&id, &matched);
        }
        Ok(())
    }

    /// The counts, the first rows and the path of the report.
    /// `repeats` is none for the built-in skill, whose replays take nothing worth telling.
    fn finish(mut self, skill: &str, repeats: Option<u32>) -> Result<Listed, Failure> {
        self.progress.finish_and_clear();
        let facts = repeats.map(|repeats| self.totals.text(repeats)).unwrap_or_default();
        let replays = facts.lines().map(|line| line.trim().to_owned()).collect();
        let facts = Facts { replays, trend: trend(self.dir, skill, &self.tally) };
        let written = self.lines.flush().and_then(|()| self.report.finish(&self.tally, skill, &facts));
        let page = written.map_err(|error| Failure::io("write", self.dir, &error))?;
        Ok(Listed { tally: self.tally, totals: self.totals, shown: self.shown, page })
    }
}

fn replay(comparer: &Comparer, answers: &Answers<'_>, path: &Path, dir: &Path) -> Result<OfCase, Failure> {
    let unusable = |reason| Ok((vec![Replayed::Unusable(reason)], Vec::new()));
    let bytes = match files::read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) => return unusable(format!("{}: can't be read: {error}", path.display())),
    };
    let reading = hindcast_case::read(&bytes);
    let Some(case) = reading.value else {
        let errors = reading.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let lines: Vec<String> = errors.map(|diagnostic| files::one_line(path, &bytes, diagnostic)).collect();
        return unusable(lines.join("\n"));
    };
    let (store, repeats) = match answers {
        Answers::Builtin(skill) => {
            let replayed = compare(comparer, case, 1, path, dir, &[], |question| skill.diagnose(question))?;
            return Ok((vec![replayed], Vec::new()));
        }
        Answers::Stored(store, repeats) => (store, *repeats),
    };
    let (mut replayed, mut records) = (Vec::new(), Vec::new());
    for repeat in 1..=repeats {
        let Some(record) = store.get(&case.incident_id, repeat) else {
            replayed.push(Replayed::Missing);
            continue;
        };
        let id = case.incident_id.to_string();
        replayed.push(match (record.conclusion(), &record.outcome) {
            (Some(conclusion), outcome) => {
                compare(comparer, case.clone(), repeat, path, dir, &notes(&record, outcome), |_| conclusion)?
            }
            (None, hindcast_runner::Outcome::Failed { reason }) => {
                Replayed::Failed { id, repeat, reason: reason.clone() }
            }
            (None, _) => Replayed::Failed { id, repeat, reason: "what was kept of it can't be read".to_owned() },
        });
        records.push(record);
    }
    Ok((replayed, records))
}

/// What a reviewer should know of a replay.
fn notes(record: &Record, outcome: &hindcast_runner::Outcome) -> Vec<String> {
    let hindcast_runner::Outcome::Answered { form, notes, .. } = outcome else { return Vec::new() };
    let mut told: Vec<String> = notes.iter().map(|note| format!("Replay: {note}.")).collect();
    if form != "JSON" {
        told.push(format!("Replay: the answer came as {form}."));
    }
    let suspicious = record.suspicions.iter();
    told.extend(suspicious.map(|one| format!("Replay: {} in {}: {:?}.", one.kind, one.field, one.passage)));
    told
}

/// Compares one replay and writes its case.
fn compare(
    comparer: &Comparer,
    mut case: Case,
    repeat: u32,
    path: &Path,
    dir: &Path,
    notes: &[String],
    conclude: impl FnOnce(&Question) -> SkillConclusion,
) -> Result<Replayed, Failure> {
    let recorded = case.match_level;
    let leaks = LeakCheck::new(&comparer.reader.atlas, &comparer.reader.texts);
    let leak = replay_with(&leaks, &mut case, conclude);
    let verdict = comparer.compare(&case);
    let mut row = Row::new(&comparer.reader, &case, &verdict, recorded, leak);
    row.repeat = repeat;
    let section = match repeat {
        1 => HtmlReport::section(&comparer.reader, &case, &verdict, row.leak.as_ref()),
        _ => String::new(),
    };
    verdict.record(&mut case);
    case.comparison_notes.extend(notes.iter().cloned());
    let folder = match repeat {
        1 => dir.join("cases"),
        _ => dir.join("repeats").join(repeat.to_string()),
    };
    if repeat > 1 {
        std::fs::create_dir_all(&folder).map_err(|error| Failure::io("create", &folder, &error))?;
    }
    let written = folder.join(format!("{}.json", case.incident_id));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&written);
    match file.and_then(|mut file| file.write_all(case.to_json().as_bytes())) {
        Ok(()) => Ok(Replayed::Done(Box::new(row), section)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(Replayed::Unusable(format!(
            "{}: another file of the casebook has the same incident id {}",
            path.display(),
            case.incident_id
        ))),
        Err(error) => Err(Failure::io("write", &written, &error)),
    }
}

/// The folder of the run, made anew.
fn prepare(arguments: &RunArguments, casebook: &Path) -> Result<PathBuf, Failure> {
    let dir = match &arguments.out {
        Some(dir) => dir.clone(),
        None => next_run(&casebook.join(".hindcast").join("runs")),
    };
    if dir.join("cases").exists() || dir.join("plan.json").exists() {
        if !arguments.overwrite {
            return Err(Failure::new(format!("{} already holds a run", dir.display()))
                .help("choose another folder, add --overwrite, or go on with it by --resume"));
        }
        clear(&dir)?;
        remove_dir(&dir.join("replays"))?;
    }
    create(&dir)?;
    Ok(dir)
}

fn create(dir: &Path) -> Result<(), Failure> {
    let cases = dir.join("cases");
    std::fs::create_dir_all(&cases)
        .map_err(|error| Failure::io("create", &cases, &error).help("choose another folder with --out DIR"))
}

/// Removes the cases and what lists them. Without its totals an interrupted run can't be taken for it, and a smaller run would
/// leave pages of the larger one behind.
fn clear(dir: &Path) -> Result<(), Failure> {
    remove_dir(&dir.join("cases"))?;
    remove_dir(&dir.join("repeats"))?;
    clear_listings(dir).map_err(|error| Failure::io("clear", dir, &error))
}

fn remove_dir(dir: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::io("clear", dir, &error)),
        _ => Ok(()),
    }
}

fn clear_listings(dir: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_page = name.starts_with("report") && name.ends_with(".html");
        if is_page || name == "run.json" || name == "rows.jsonl" {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The runs of the casebook up to this one. Only runs in the casebook's own folder stand in a row.
fn trend(dir: &Path, skill: &str, tally: &Tally) -> Vec<Point> {
    let (Some(runs), Some(name)) = (dir.parent(), dir.file_name()) else { return Vec::new() };
    if !runs.ends_with(".hindcast/runs") {
        return Vec::new();
    }
    let mut names: Vec<_> =
        std::fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let earlier = names.iter().take_while(|other| *other != name);
    let mut points: Vec<Point> = earlier
        .filter_map(|name| Some(Point::of(&name.to_string_lossy(), &StoredRun::open(&runs.join(name)).ok()?)))
        .collect();
    points.push(Point {
        run: name.to_string_lossy().into_owned(),
        skill: skill.to_owned(),
        matched: tally.count(MatchLevel::Matched),
        comparable: tally.comparable(),
    });
    points
}

/// The first free name in the folder of runs.
fn next_run(runs: &Path) -> PathBuf {
    let names = (1..).map(|number: u32| runs.join(format!("run-{number:04}")));
    names.into_iter().find(|dir| !dir.exists()).expect("there is always a next number")
}

fn summary(shown: &[Row], tally: &Tally, dir: &Path, page: &Path) -> String {
    let mut text = rows_table(shown, output::width(), output::colours());
    if tally.cases() > shown.len() {
        text.push_str(&format!("\n… and {} more in {}", tally.cases() - shown.len(), dir.join("rows.jsonl").display()));
    }
    let names = ["matched", "partially_matched", "mismatched", "human_conclusion_unclear", "not recorded"];
    let rows: Vec<(&str, [usize; 4])> = names.into_iter().zip(tally.confusion).collect();
    text.push_str(&format!("\n\n{}\n", agreement_line(tally)));
    if tally.unusable > 0 {
        text.push_str(&format!("  files that could not be used: {}\n", tally.unusable));
    }
    // Against nothing there is nothing to compare.
    if tally.has_recorded() {
        text.push_str(&format!("\n{}\n", confusion_table("recorded \\ this run", &rows)));
    }
    text.push_str(&format!("\ncases   {}\nreport  {}\n", dir.join("cases").display(), page.display()));
    text
}
