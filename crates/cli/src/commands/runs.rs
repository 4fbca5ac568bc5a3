//! `hindcast runs` and `hindcast report`: runs that are on disk.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hindcast_case::MatchLevel;
use hindcast_report::{StoredRun, csv, junit, markdown, printable, section_table, sections};
use serde_json::{Value, json};

use crate::args::{Format, ReportFormat, RunsCommand};
use crate::commands::stored;
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(command: &RunsCommand) -> Result<Outcome, Failure> {
    match command {
        RunsCommand::Ls { casebook, format } => list(casebook, *format),
        RunsCommand::Show { run, format } => show(run, *format),
        RunsCommand::Export { run, file } => export(run, file),
        RunsCommand::Rm { runs } => remove(runs),
    }
}

/// A run in another form.
pub(crate) fn report(run: &Path, format: ReportFormat) -> Result<Outcome, Failure> {
    let run = stored::open(run)?;
    match format {
        ReportFormat::Csv => output::print(&csv(&run))?,
        ReportFormat::Junit => output::print(&junit(&run))?,
        ReportFormat::Markdown => output::print(&markdown(&run))?,
        ReportFormat::Json => output::print_json(&run.totals)?,
        ReportFormat::Jsonl => {
            let path = run.dir.join("rows.jsonl");
            output::print(&std::fs::read_to_string(&path).map_err(|error| Failure::io("read", &path, &error))?)?;
        }
    }
    Ok(Outcome::Clean)
}

fn list(casebook: &Path, format: Format) -> Result<Outcome, Failure> {
    let runs = casebook.join(".hindcast").join("runs");
    let mut dirs: Vec<PathBuf> = match std::fs::read_dir(&runs) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Failure::io("list", &runs, &error)),
    };
    dirs.sort();
    let rows: Vec<Value> = dirs.iter().map(|dir| summary(dir)).collect();
    if format == Format::Json {
        output::print_json(&json!(rows))?;
        return Ok(Outcome::Clean);
    }
    let mut text = String::new();
    for row in &rows {
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let told = match row["comparable"].as_u64() {
            None => "not finished; go on with hindcast run --resume".to_owned(),
            Some(comparable) => {
                format!("{} of {comparable} matched, {} failed  {}", row["matched"], row["failed"], word("skill"))
            }
        };
        text.push_str(&format!("{:<12} {told}\n", word("name")));
    }
    if rows.is_empty() {
        text.push_str(&format!("{} has no runs; hindcast run {0} makes one\n", casebook.display()));
    }
    output::print(&printable(&text))?;
    Ok(Outcome::Clean)
}

fn summary(dir: &Path) -> Value {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match StoredRun::open(dir) {
        Err(_) => json!({"name": name, "run": dir.display().to_string(), "finished": false}),
        Ok(run) => {
            let count = |level: MatchLevel| run.cases().filter(|row| row.comparable() == Some(level)).count();
            let comparable = run.cases().filter(|row| row.comparable().is_some()).count();
            let failed = run.cases().filter(|row| row.failed.is_some()).count();
            json!({
                "name": name, "run": dir.display().to_string(), "finished": true, "skill": run.skill(), "comparable": comparable,
                "matched": count(MatchLevel::Matched), "partially_matched": count(MatchLevel::PartiallyMatched),
                "mismatched": count(MatchLevel::Mismatched), "failed": failed, "cost_usd": run.cost(),
            })
        }
    }
}

fn show(run: &Path, format: Format) -> Result<Outcome, Failure> {
    let run = stored::open(run)?;
    if format == Format::Json {
        output::print_json(&run.totals)?;
        return Ok(Outcome::Clean);
    }
    let mut text = format!("{}\nskill   {}\n", run.dir.display(), run.skill());
    let pack = &run.totals["skill_pack"];
    if pack.is_object() {
        let dirty = if pack["is_dirty"] == true { ", with changes" } else { "" };
        text.push_str(&format!(
            "pack    {} at {}{dirty}\n",
            pack["hash"].as_str().unwrap_or_default(),
            pack["commit"].as_str().unwrap_or("no commit")
        ));
    }
    for section in sections(&run) {
        text.push_str(&format!("\n{}", section_table(&section)));
    }
    text.push_str("\nThe cases\n");
    for row in run.cases() {
        let told = match (&row.failed, row.level()) {
            (Some(reason), _) => format!("failed: {reason}"),
            (None, Some(level)) => format!("{level} {}", row.mismatch_type.join(" ")),
            (None, None) => String::new(),
        };
        text.push_str(&format!("{:<14} {}\n", row.incident_id, told.trim_end()));
    }
    output::print(&printable(&text))?;
    Ok(Outcome::Clean)
}

/// Packs a run into a zip: the report opens from it on any machine.
fn export(run: &Path, file: &Path) -> Result<Outcome, Failure> {
    let run = stored::open(run)?;
    let failed = |error: std::io::Error| Failure::io("write", file, &error);
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let target = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    let mut zip = zip::ZipWriter::new(target);
    let name = run.dir.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned());
    // The time of a file is not part of a run: two exports are the same bytes.
    let options = zip::write::SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    for path in files_below(&run.dir).map_err(|error| Failure::io("read", &run.dir, &error))? {
        let inside = path.strip_prefix(&run.dir).expect("a file of the run").to_string_lossy().replace('\\', "/");
        let bytes = std::fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
        zip.start_file(format!("{name}/{inside}"), options).map_err(|error| failed(error.into()))?;
        zip.write_all(&bytes).map_err(failed)?;
    }
    let target = zip.finish().map_err(|error| failed(error.into()))?;
    target.persist(file).map_err(|error| failed(error.error))?;
    Ok(Outcome::Clean)
}

/// The files of a folder and its folders, by name. Links are not followed.
fn files_below(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut files, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Removes runs, and nothing that is none.
fn remove(runs: &[PathBuf]) -> Result<Outcome, Failure> {
    for run in runs {
        let is_run = run.join("plan.json").is_file() || run.join("run.json").is_file();
        if !is_run {
            return Err(Failure::new(format!("{} is no run, so it is left alone", run.display())));
        }
    }
    for run in runs {
        std::fs::remove_dir_all(run).map_err(|error| Failure::io("remove", run, &error))?;
    }
    Ok(Outcome::Clean)
}
