//! A run for other tools: CSV, JUnit XML, Markdown.

use std::fmt::Write as _;

use hindcast_case::{MatchLevel, Vocabulary};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::sections::{Section, sections};
use crate::stored::{StoredRow, StoredRun};

/// The rows as a table with a head. Cells that a spreadsheet would run as a formula begin with an apostrophe.
#[must_use]
pub fn csv(run: &StoredRun) -> String {
    let head =
        "incident_id,repeat,match_level,entry_mode,skill_bottleneck,human_bottleneck,mismatch_type,leak_score,failed\n";
    let mut text = head.to_owned();
    for row in &run.rows {
        let cells = [
            row.incident_id.clone(),
            row.repeat.to_string(),
            row.level().map_or(String::new(), |level| level.as_str().to_owned()),
            row.entry_mode.clone(),
            row.skill_bottleneck.clone(),
            row.human_bottleneck.clone(),
            row.mismatch_type.join(" "),
            row.leak_score.map_or(String::new(), |score| format!("{score:.2}")),
            row.failed.clone().unwrap_or_default(),
        ];
        text.push_str(&cells.map(|cell| csv_cell(&cell)).join(","));
        text.push('\n');
    }
    text
}

fn csv_cell(text: &str) -> String {
    let guarded = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() };
    if guarded.contains([',', '"', '\n', '\r']) { format!("\"{}\"", guarded.replace('"', "\"\"")) } else { guarded }
}

/// The cases as tests: a mismatch fails, a failed replay is an error, what can't be compared is skipped.
#[must_use]
pub fn junit(run: &StoredRun) -> String {
    let mut suite = TestSuite::new(format!("hindcast {}", run.skill()));
    for row in run.cases() {
        suite.add_test_case(TestCase::new(row.incident_id.clone(), status(row)));
    }
    let mut report = Report::new("hindcast");
    report.add_test_suite(suite);
    let mut xml = report.to_string().unwrap_or_default();
    xml.push('\n');
    xml
}

fn status(row: &StoredRow) -> TestCaseStatus {
    let told = |kind: NonSuccessKind, message: String| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(message);
        status
    };
    let differs = || {
        format!(
            "the skill says {}, the engineers {}: {}",
            or_nothing(&row.skill_bottleneck),
            or_nothing(&row.human_bottleneck),
            row.mismatch_type.join(" ")
        )
    };
    match (&row.failed, row.comparable()) {
        (Some(reason), _) => told(NonSuccessKind::Error, reason.clone()),
        (None, Some(MatchLevel::Matched)) => TestCaseStatus::success(),
        (None, Some(level)) => told(NonSuccessKind::Failure, format!("{level}: {}", differs())),
        (None, None) => {
            let mut status = TestCaseStatus::skipped();
            let why = if row.leak_score.is_some() {
                "the inputs give the conclusion away"
            } else {
                "the human conclusion is unclear"
            };
            status.set_message(why);
            status
        }
    }
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

/// Cases that a comment lists: services cut longer ones.
const LISTED: usize = 150;

/// A comment for a pull request: the headline, what it is made of, and the cases that don't match.
#[must_use]
pub fn markdown(run: &StoredRun) -> String {
    let failed = run.cases().filter(|row| row.failed.is_some()).count();
    let leaking = run.cases().filter(|row| row.leak_score.is_some()).count();
    let mut text = format!("### hindcast: {}\n", cell(run.skill()));
    for (at, section) in sections(run).iter().enumerate() {
        if at == 0 {
            let _ = writeln!(
                text,
                "\n{}\n{failed} replays failed, {leaking} cases leak; both are left out.",
                table(section)
            );
        } else {
            text.push_str(&folded(&section.title, &table(section)));
        }
    }
    let others: Vec<&StoredRow> =
        run.cases().filter(|row| row.comparable().is_some_and(|level| level != MatchLevel::Matched)).collect();
    if !others.is_empty() {
        let rows = others.iter().take(LISTED).map(|row| {
            let level = row.level().map_or("", |level| level.as_str());
            let cells =
                [&row.incident_id, level, &row.skill_bottleneck, &row.human_bottleneck, &row.mismatch_type.join(", ")];
            cells.map(str::to_owned).to_vec()
        });
        let head = ["incident", "verdict", "skill", "engineers", "differs in"].map(str::to_owned).to_vec();
        let listed = Section { title: String::new(), head, rows: rows.collect() };
        let mut listed = table(&listed);
        if others.len() > LISTED {
            let _ = writeln!(listed, "\n… and {} more in rows.jsonl", others.len() - LISTED);
        }
        text.push_str(&folded(&format!("The cases that don't match ({})", others.len()), &listed));
    }
    text
}

fn folded(title: &str, content: &str) -> String {
    format!("\n<details><summary>{}</summary>\n\n{content}\n</details>\n", cell(title))
}

/// A table in Markdown.
fn table(section: &Section) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&section.head);
    text.push_str(&format!("|{}\n", "---|".repeat(section.head.len())));
    for row in &section.rows {
        text.push_str(&line(row));
    }
    text
}

/// A text inside a cell, with nothing that Markdown or HTML would read.
fn cell(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '|' | '\\' | '*' | '`' | '[' | ']' | '#' | '~' => shown.extend(['\\', c]),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '@' => shown.push_str("&#64;"),
            '\n' | '\r' => shown.push(' '),
            c => shown.push(c),
        }
    }
    shown
}
