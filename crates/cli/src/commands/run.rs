//! `hindcast run`: a casebook through the built-in skill, compared, reported.

use std::io::Write;
use std::path::{Path, PathBuf};

use hindcast_atlas::Atlas;
use hindcast_case::Severity;
use hindcast_replay::{Casebook, LeakCheck, replay_builtin};
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
const CHUNK: usize = 512;

/// The name of the skill in reports.
const SKILL: &str = "built-in";

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
    let mut listing = Listing::new(&dir, &casebook, arguments.rows)?;
    let mut chunks = casebook.chunks(CHUNK);
    let mut pending = Vec::new();
    loop {
        let chunk = chunks.next().unwrap_or_default();
        // One chunk is listed while the next one is replayed.
        let (replayed, listed) = rayon::join(
            || chunk.par_iter().map(|path| replay(&comparer, &skill, path, &dir)).collect::<Vec<_>>(),
            || listing.add_all(std::mem::take(&mut pending)),
        );
        listed?;
        if replayed.is_empty() {
            break;
        }
        pending = replayed;
    }
    let (tally, shown, page) = listing.finish()?;
    let totals = run_json(&tally, SKILL);
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

/// Takes the results in the casebook's order and writes what lists them.
struct Listing<'a> {
    dir: &'a Path,
    lines: std::io::BufWriter<std::fs::File>,
    report: HtmlReport,
    tally: Tally,
    shown: Vec<Row>,
    most: usize,
    progress: ProgressBar,
}

impl<'a> Listing<'a> {
    fn new(dir: &'a Path, casebook: &Casebook, most: usize) -> Result<Self, Failure> {
        let path = dir.join("rows.jsonl");
        let file = std::fs::File::create(&path).map_err(|error| Failure::io("create", &path, &error))?;
        Ok(Self {
            dir,
            lines: std::io::BufWriter::new(file),
            report: HtmlReport::new(dir, casebook.len()),
            tally: Tally::default(),
            shown: Vec::new(),
            most,
            progress: progress_bar(casebook.len()),
        })
    }

    fn add_all(&mut self, results: Vec<Result<Replayed, Failure>>) -> Result<(), Failure> {
        let count = results.len();
        for result in results {
            let added = self.add(result?);
            added.map_err(|error| Failure::io("write", self.dir, &error))?;
        }
        self.progress.inc(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(())
    }

    fn add(&mut self, replayed: Replayed) -> std::io::Result<()> {
        match replayed {
            Replayed::Done(row, section) => {
                self.tally.add(&row);
                writeln!(self.lines, "{}", row_json(&row))?;
                self.report.add(&row, &section)?;
                if self.shown.len() < self.most {
                    self.shown.push(*row);
                }
                Ok(())
            }
            Replayed::Unusable(reason) => {
                self.tally.unusable += 1;
                self.progress.suspend(|| anstream::eprintln!("{reason}"));
                self.report.skip()
            }
        }
    }

    /// The counts, the first rows and the path of the report.
    fn finish(mut self) -> Result<(Tally, Vec<Row>, PathBuf), Failure> {
        self.progress.finish_and_clear();
        let written = self.lines.flush().and_then(|()| self.report.finish(&self.tally, SKILL));
        let page = written.map_err(|error| Failure::io("write", self.dir, &error))?;
        Ok((self.tally, self.shown, page))
    }
}

fn replay(comparer: &Comparer, skill: &BuiltinSkill<'_>, path: &Path, dir: &Path) -> Result<Replayed, Failure> {
    let bytes = match files::read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Replayed::Unusable(format!("{}: can't be read: {error}", path.display()))),
    };
    let reading = hindcast_case::read(&bytes);
    let Some(mut case) = reading.value else {
        let errors = reading.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let lines: Vec<String> = errors.map(|diagnostic| files::one_line(path, &bytes, diagnostic)).collect();
        return Ok(Replayed::Unusable(lines.join("\n")));
    };
    let recorded = case.match_level;
    let leaks = LeakCheck::new(&comparer.reader.atlas, &comparer.reader.texts);
    let leak = replay_builtin(skill, &leaks, &mut case);
    let verdict = comparer.compare(&case);
    let row = Row::new(&comparer.reader, &case, &verdict, recorded, leak);
    let section = HtmlReport::section(&comparer.reader, &case, &verdict, row.leak.as_ref());
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
        clear_listings(&dir).map_err(|error| Failure::io("clear", &dir, &error))?;
    }
    std::fs::create_dir_all(&cases)
        .map_err(|error| Failure::io("create", &cases, &error).help("choose another folder with --out DIR"))?;
    Ok(dir)
}

/// Removes what lists the cases of the run that is replaced. Without its totals an interrupted run can't be taken for it,
/// and a smaller run would leave pages of the larger one behind.
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

/// The first free name in the folder of runs.
fn next_run(runs: &Path) -> PathBuf {
    let names = (1..).map(|number: u32| runs.join(format!("run-{number:04}")));
    names.into_iter().find(|dir| !dir.exists()).expect("there is always a next number")
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
