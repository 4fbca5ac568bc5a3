//! What an import tells: a line a ticket, and at the end what was done, skipped and not sure.

use std::collections::BTreeMap;

use hindcast_case::Vocabulary;
use hindcast_intake::{DoubtKind, FieldChange, FieldOutcome};
use hindcast_report::printable;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use similar::{ChangeTag, TextDiff};

use super::shelf::Put;
use super::{Imported, is_json};
use crate::args::ImportOptions;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Examples that are shown of each kind of doubt, and of what was skipped.
const EXAMPLES: usize = 5;

/// Keeps the counts of an import and tells of it.
pub(super) struct Ledger<'a> {
    options: &'a ImportOptions,
    progress: ProgressBar,
    new: usize,
    updated: usize,
    same: usize,
    kept: usize,
    unclear: usize,
    skipped: Vec<String>,
    skipped_count: usize,
    /// Tickets that changed before the user's time.
    pub(super) older: usize,
    doubts: BTreeMap<DoubtKind, (usize, Vec<String>)>,
    /// Lines that are not shown yet.
    lines: String,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(options: &'a ImportOptions, size: Option<u64>) -> Self {
        let progress = match size {
            Some(size) => {
                let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left");
                ProgressBar::new(size).with_style(style.expect("the template is valid"))
            }
            None => {
                let style = ProgressStyle::with_template("{spinner} {bytes} read");
                ProgressBar::new_spinner().with_style(style.expect("the template is valid"))
            }
        };
        Self {
            options,
            progress,
            new: 0,
            updated: 0,
            same: 0,
            kept: 0,
            unclear: 0,
            skipped: Vec::new(),
            skipped_count: 0,
            older: 0,
            doubts: BTreeMap::new(),
            lines: String::new(),
        }
    }

    /// Whether the user's limit is reached.
    pub(super) fn is_full(&self) -> bool {
        self.options.limit.is_some_and(|limit| self.new + self.updated + self.same + self.kept >= limit)
    }

    pub(super) fn advance(&self, bytes: u64) {
        self.progress.inc(bytes);
    }

    /// A case that was read, and what became of it.
    pub(super) fn add(&mut self, imported: &Imported, put: Put) -> Result<(), Failure> {
        let incident = &imported.incident;
        let id = incident.case.incident_id.to_string();
        let (state, changes) = match put {
            Put::New => {
                self.new += 1;
                ("new", Vec::new())
            }
            Put::Same => {
                self.same += 1;
                ("unchanged", Vec::new())
            }
            Put::Differs(changes) if self.options.update => {
                let taken = changes.iter().any(|change| change.outcome == FieldOutcome::Taken);
                *(if taken { &mut self.updated } else { &mut self.kept }) += 1;
                (if taken { "updated" } else { "kept" }, changes)
            }
            Put::Differs(_) => {
                self.kept += 1;
                self.note_skipped(format!("{id}: is in the casebook and differs; add --update"));
                ("exists", Vec::new())
            }
            Put::Unusable(message) => return self.skip(&id, &message),
        };
        let human = &incident.case.final_human_conclusion;
        let status = human.status.map_or("", Vocabulary::as_str);
        if human.status == Some(hindcast_case::HumanStatus::Unclear) {
            self.unclear += 1;
        }
        for doubt in &incident.doubts {
            let (count, examples) = self.doubts.entry(doubt.kind).or_default();
            *count += 1;
            if examples.len() < EXAMPLES {
                examples.push(format!("{id}: {}", doubt.message));
            }
        }
        let mut kinds: Vec<&str> = incident.doubts.iter().map(|doubt| doubt.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let shown = if status == "clear" { "clear" } else { "unclear" };
        let mut line = format!("{id:<14} {state:<10} {shown:<8}");
        if !kinds.is_empty() {
            line.push_str(&format!(" {}", kinds.join(", ")));
        }
        self.say(&line);
        if is_json(self.options) {
            let changes: Vec<_> = changes.iter().map(change_json).collect();
            let doubts: Vec<_> = incident
                .doubts
                .iter()
                .map(|doubt| json!({"kind": doubt.kind.as_str(), "message": doubt.message}))
                .collect();
            let row = json!({
                "incident_id": id,
                "state": state,
                "status": status,
                "cut_off": incident.cut_off.at.map(|at| at.to_string()),
                "cut_off_reason": incident.cut_off.reason,
                "leak_score": imported.leak.score,
                "doubts": doubts,
                "changes": changes,
            });
            output::print(&format!("{row}\n"))?;
        } else if !changes.is_empty() {
            let diff = diff(&id, &changes);
            self.progress.suspend(|| output::print(&diff))?;
        }
        Ok(())
    }

    /// A record that holds no ticket that can be used.
    pub(super) fn skip(&mut self, place: &str, message: &str) -> Result<(), Failure> {
        let line = format!("{place}: {message}");
        self.say(&format!("skipped: {}", one_line(&line)));
        if is_json(self.options) {
            output::print(&format!("{}\n", json!({"place": place, "state": "skipped", "message": message})))?;
        }
        self.note_skipped(line);
        Ok(())
    }

    /// Something worth knowing that costs no ticket.
    pub(super) fn remark(&mut self, place: &str, message: &str) {
        self.say(&format!("note: {}", one_line(&format!("{place}: {message}"))));
    }

    fn note_skipped(&mut self, line: String) {
        self.skipped_count += 1;
        if self.skipped.len() < EXAMPLES {
            self.skipped.push(line);
        }
    }

    fn say(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Shows the lines that were said since the last time: one by one they would take longer than the import.
    pub(super) fn flush(&mut self) {
        if !self.lines.is_empty() {
            self.progress.suspend(|| anstream::eprint!("{}", self.lines));
            self.lines.clear();
        }
    }

    /// The summary, and how the command ends.
    pub(super) fn finish(mut self, is_whole: bool) -> Result<Outcome, Failure> {
        self.flush();
        self.progress.finish_and_clear();
        let read = self.new + self.updated + self.same + self.kept;
        if read == 0 && self.skipped_count > 0 {
            let list: Vec<String> = self.skipped.iter().map(|line| format!("\n  {}", one_line(line))).collect();
            return Err(Failure::new(format!("no ticket could be read:{}", list.concat()))
                .help("hindcast import --help lists the forms that are read"));
        }
        if is_json(self.options) {
            let doubts: serde_json::Map<_, _> =
                self.doubts.iter().map(|(kind, (count, _))| (kind.as_str().to_owned(), json!(count))).collect();
            output::print(&format!(
                "{}\n",
                json!({"summary": {
                    "tickets": read, "new": self.new, "updated": self.updated, "unchanged": self.same, "kept": self.kept,
                    "skipped": self.skipped_count, "older": self.older, "human_conclusion_unclear": self.unclear,
                    "doubts": doubts, "casebook": self.options.out, "dry_run": self.options.dry_run, "complete": is_whole,
                }})
            ))?;
        } else {
            output::print(&self.summary(read, is_whole))?;
        }
        Ok(if self.skipped_count == 0 { Outcome::Clean } else { Outcome::Findings })
    }

    fn summary(&self, read: usize, is_whole: bool) -> String {
        let would = if self.options.dry_run { "would be " } else { "" };
        let mut text = format!("{read} tickets read: {} {would}new", self.new);
        let states = [
            (self.updated, "updated"),
            (self.same, "unchanged"),
            (self.kept, "kept as they are"),
            (self.older, "older than --since"),
        ];
        for (count, name) in states.into_iter().filter(|(count, _)| *count > 0) {
            text.push_str(&format!(", {count} {name}"));
        }
        text.push_str(&format!("; {} with an unclear human conclusion\n", self.unclear));
        if !is_whole {
            text.push_str("the source ended early: not all tickets were read\n");
        }
        let mut list = |title: String, lines: &[String], count: usize| {
            text.push_str(&format!("\n{title}\n"));
            for line in lines {
                text.push_str(&format!("  {}\n", one_line(line)));
            }
            if count > lines.len() {
                text.push_str(&format!("  … and {} more\n", count - lines.len()));
            }
        };
        if self.skipped_count > 0 {
            list(format!("skipped: {}", self.skipped_count), &self.skipped, self.skipped_count);
        }
        for (kind, (count, examples)) in &self.doubts {
            list(format!("{}: {count}", kind.as_str()), examples, *count);
        }
        if self.options.dry_run {
            text.push_str("\nnothing was written\n");
        } else {
            text.push_str(&format!("\ncases  {}\n", self.options.out.display()));
        }
        text
    }
}

/// A text that comes from a ticket, on one line of the terminal.
fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

fn change_json(change: &FieldChange) -> serde_json::Value {
    json!({"field": change.field, "outcome": outcome_word(change.outcome), "old": change.old, "new": change.new})
}

fn outcome_word(outcome: FieldOutcome) -> &'static str {
    match outcome {
        FieldOutcome::Taken => "taken from the ticket",
        FieldOutcome::Kept => "kept: a person wrote it",
        FieldOutcome::Conflict => "conflict: the ticket and a person changed it; the person's is kept",
    }
}

/// The changes of one case, line by line.
fn diff(id: &str, changes: &[FieldChange]) -> String {
    let mut text = String::new();
    for change in changes {
        text.push_str(&format!("{id} {}: {}\n", change.field, outcome_word(change.outcome)));
        for line in TextDiff::from_lines(&change.old, &change.new).iter_all_changes() {
            let sign = match line.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            text.push_str(&format!("  {sign} {}\n", printable(line.value().trim_end())));
        }
    }
    text
}
