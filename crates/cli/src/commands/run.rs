//! `hindcast run`: a casebook through the built-in skill, compared, reported.

use std::io::Write;
use std::path::{Path, PathBuf};

use hindcast_atlas::Atlas;
use hindcast_case::Severity;
use hindcast_replay::{Casebook, replay_builtin};
use hindcast_report::{HtmlReport, Row, Tally, agreement_line, confusion_table, row_json, rows_table, run_json};
use hindcast_skill::BuiltinSkill;
use hindcast_verdict::Comparer;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use crate::args::{Format, RunArguments};
use crate::commands::files;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Cases in work at once: enough to keep the cores busy, few enough to hold in memory.
const CHUNK: usize = 128;

/// What came of one file.
enum Replayed {
    /// Compared and written.
    Done(Box<Row>, String),
    /// Not usable; the reason, one line each.
    Unusable(String),
}

pub(crate) fn run(arguments: &RunArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    let casebook = Casebook::open(&arguments.casebook).map_err(|error| Failure::new(error.to_string()))?;
    let dir = prepare(arguments)?;
    let comparer = Comparer::new(atlas);
    let skill = BuiltinSkill::new(&comparer.reader.atlas, &comparer.reader.texts);
    let mut lines = std::io::BufWriter::new(create(&dir.join("rows.jsonl"))?);
    let mut report = HtmlReport::new(&dir, casebook.len());
    let mut tally = Tally::default();
    let mut shown: Vec<Row> = Vec::new();
    let progress = progress_bar(casebook.len());
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| Failure::io("write", &path, &error)
    };
    for chunk in casebook.chunks(CHUNK) {
        let replayed: Vec<Result<Replayed, Failure>> =
            chunk.par_iter().map(|path| replay(&comparer, &skill, path, &dir)).collect();
        for result in replayed {
            match result? {
                Replayed::Done(row, section) => {
                    tally.add(&row);
                    writeln!(lines, "{}", row_json(&row)).map_err(failed(&dir))?;
                    report.add(&row, &section).map_err(failed(&dir))?;
                    if shown.len() < arguments.rows {
                        shown.push(*row);
                    }
                }
                Replayed::Unusable(reason) => {
                    tally.unusable += 1;
                    report.skip().map_err(failed(&dir))?;
                    progress.suspend(|| anstream::eprintln!("{reason}"));
                }
            }
        }
        progress.inc(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
    }
    progress.finish_and_clear();
    lines.flush().map_err(failed(&dir))?;
    let page = report.finish(&tally, "built-in").map_err(failed(&dir))?;
    let totals = run_json(&tally, "built-in");
    // Written last: a folder without it is a run that did not finish.
    output::write_atomically(&dir.join("run.json"), &format!("{totals:#}\n"))?;
    match arguments.format {
        Format::Json => {
            let mut totals = totals;
            totals["run"] = serde_json::json!(dir.display().to_string());
            totals["report"] = serde_json::json!(page.display().to_string());
            output::print_json(&totals)?;
        }
        Format::Text => output::print(&summary(&shown, &tally, &dir, &page))?,
    }
    Ok(if tally.unusable == 0 { Outcome::Clean } else { Outcome::Findings })
}

fn replay(comparer: &Comparer, skill: &BuiltinSkill<'_>, path: &Path, dir: &Path) -> Result<Replayed, Failure> {
    let bytes = files::read_bytes(path).map_err(|error| Failure::io("read", path, &error))?;
    let reading = hindcast_case::read(&bytes);
    let Some(mut case) = reading.value else {
        let errors = reading.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let lines: Vec<String> = errors.map(|diagnostic| files::one_line(path, &bytes, diagnostic)).collect();
        return Ok(Replayed::Unusable(lines.join("\n")));
    };
    let recorded = case.match_level;
    replay_builtin(skill, &mut case);
    let verdict = comparer.compare(&case);
    let row = Row::new(&comparer.reader, &case, &verdict, recorded);
    let section = HtmlReport::section(&comparer.reader, &case, &verdict);
    verdict.record(&mut case);
    let written = dir.join("cases").join(format!("{}.json", case.incident_id));
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
fn prepare(arguments: &RunArguments) -> Result<PathBuf, Failure> {
    let dir = match &arguments.out {
        Some(dir) => dir.clone(),
        None => next_run(&arguments.casebook.join(".hindcast").join("runs")),
    };
    let cases = dir.join("cases");
    if cases.exists() {
        if !arguments.overwrite {
            return Err(Failure::new(format!("{} already holds a run", dir.display()))
                .help("choose another folder, or add --overwrite"));
        }
        std::fs::remove_dir_all(&cases).map_err(|error| Failure::io("clear", &cases, &error))?;
        // Without its totals an interrupted run can't be taken for the one that it replaces.
        match std::fs::remove_file(dir.join("run.json")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::io("clear", &dir, &error));
            }
            _ => {}
        }
    }
    std::fs::create_dir_all(&cases).map_err(|error| Failure::io("create", &cases, &error))?;
    Ok(dir)
}

/// The first free name in the folder of runs.
fn next_run(runs: &Path) -> PathBuf {
    let names = (1..).map(|number: u32| runs.join(format!("run-{number:04}")));
    names.into_iter().find(|dir| !dir.exists()).expect("there is always a next number")
}

fn create(path: &Path) -> Result<std::fs::File, Failure> {
    std::fs::File::create(path).map_err(|error| Failure::io("create", path, &error))
}

fn progress_bar(cases: usize) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(cases).unwrap_or(u64::MAX));
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left").expect("the template is valid");
    bar.with_style(style)
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
    text.push_str(&format!("\n{}\n", confusion_table("recorded \\ this run", &rows)));
    text.push_str(&format!("\ncases   {}\nreport  {}\n", dir.join("cases").display(), page.display()));
    text
}
