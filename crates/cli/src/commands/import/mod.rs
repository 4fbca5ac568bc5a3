//! `hindcast import`: tickets of a source into the cases of a casebook.

mod ledger;
mod shelf;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use hindcast_atlas::Atlas;
use hindcast_case::Case;
use hindcast_intake::{
    Doubt, DoubtKind, Export, Form, Incident, Intake, Item, Naming, Record, Retry, Settings, Sink, Stamp,
};
use hindcast_replay::{Leak, LeakCheck, question};
use hindcast_verdict::Reader;
use rayon::prelude::*;

use crate::args::{Format, ImportCommand, ImportOptions};
use crate::failure::{Failure, Outcome};
use ledger::Ledger;
use shelf::Shelf;

/// Bytes of records in work at once: enough to keep the cores busy, few enough to hold in memory.
const BATCH: u64 = 4 * 1024 * 1024;

/// Items that are read at once.
#[derive(Default)]
struct Batch {
    items: Vec<Item>,
    size: u64,
    /// Who wants to know that everything up to here is kept.
    kept: Option<mpsc::SyncSender<()>>,
}

impl Batch {
    /// Takes an item, and sends the batch off when it is large enough.
    fn take(&mut self, item: Item, sender: &mpsc::SyncSender<Batch>) -> ControlFlow<()> {
        let is_checkpoint = matches!(item, Item::Checkpoint);
        if let Item::Record(record) = &item {
            self.size += record.size();
        }
        self.items.push(item);
        if self.size < BATCH && !is_checkpoint {
            return ControlFlow::Continue(());
        }
        let mut full = std::mem::take(self);
        let (kept, wait) = mpsc::sync_channel(1);
        full.kept = is_checkpoint.then_some(kept);
        let is_sent = sender.send(full).is_ok();
        if is_sent && (!is_checkpoint || wait.recv().is_ok()) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// What came of one ticket of a record.
enum Read {
    /// A case.
    Case(Box<Imported>),
    /// Older than the user wants.
    Older,
    /// No ticket that can be used.
    Skipped { place: String, message: String },
    /// Something worth knowing that costs no ticket.
    Remark { place: String, message: String },
    /// How much of the source this was.
    Bytes(u64),
}

/// A ticket as a case, with what is worth telling of it.
struct Imported {
    incident: Incident,
    leak: Leak,
}

pub(crate) fn run(command: &ImportCommand, atlas: Atlas) -> Result<Outcome, Failure> {
    match command {
        ImportCommand::Jira { paths, url: None, options, .. } => files(paths, Form::Jira, options, atlas),
        ImportCommand::Jira { url: Some(url), jql, options, .. } => {
            let jql = jql.as_deref().unwrap_or_default();
            let jira = hindcast_intake::LiveJira::new(
                url,
                jql,
                &environment,
                journal_dir(options).as_deref(),
                Retry::default(),
            )
            .map_err(|error| Failure::new(error.to_string()))?;
            let failed = Importer::new(options, atlas)?.import(None, |sink| jira.read(sink))?;
            failed.map_err(|error| {
                Failure::new(error.to_string()).help("what was read is kept; run the command again to go on")
            })
        }
        ImportCommand::Pingkai { paths, options } => files(paths, Form::Pingkai, options, atlas),
        ImportCommand::Github { threads, options } => github(threads, options, atlas),
    }
}

fn files(paths: &[PathBuf], form: Form, options: &ImportOptions, atlas: Atlas) -> Result<Outcome, Failure> {
    let export = Export::open(paths, form).map_err(|error| Failure::new(error.to_string()))?;
    let importer = Importer::new(options, atlas)?;
    let outcome = importer.import(Some(export.size), |sink| {
        let _ = export.read(sink);
        Ok::<(), std::convert::Infallible>(())
    })?;
    let Ok(outcome) = outcome;
    Ok(outcome)
}

/// Paths are read, issues fetched; an issue that lies in the way of a path is a path.
fn github(threads: &[String], options: &ImportOptions, atlas: Atlas) -> Result<Outcome, Failure> {
    let is_path = |thread: &&String| Path::new(thread).exists();
    let paths: Vec<PathBuf> = threads.iter().filter(is_path).map(PathBuf::from).collect();
    let mut issues = Vec::new();
    for thread in threads.iter().filter(|thread| !is_path(thread)) {
        let issue = hindcast_intake::GithubIssue::parse(thread);
        issues.push(issue.ok_or_else(|| {
            Failure::new(format!("{thread:?} is neither a file nor an issue"))
                .help("expected a path, or an issue as tikv/tikv#18274")
        })?);
    }
    let export = if paths.is_empty() {
        None
    } else {
        Some(Export::open(&paths, Form::Github).map_err(|error| Failure::new(error.to_string()))?)
    };
    let outcome = Importer::new(options, atlas)?.import(export.as_ref().map(|export| export.size), |sink| {
        if let Some(export) = &export
            && export.read(sink).is_break()
        {
            return Ok(());
        }
        hindcast_intake::read_github(&issues, &environment, Retry::default(), sink)
    })?;
    outcome.map_err(|error| Failure::new(error.to_string()))
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where an interrupted import remembers how far it came.
fn journal_dir(options: &ImportOptions) -> Option<PathBuf> {
    (!options.dry_run).then(|| options.out.join(".hindcast").join("import"))
}

/// Everything that an import needs, made from its options.
struct Importer<'a> {
    options: &'a ImportOptions,
    reader: Reader,
    settings: Settings,
    since: Option<Stamp>,
    as_of: Option<Stamp>,
}

impl<'a> Importer<'a> {
    fn new(options: &'a ImportOptions, atlas: Atlas) -> Result<Self, Failure> {
        let settings = settings(options)?;
        let zone = settings.zone.unwrap_or(jiff::tz::Offset::UTC);
        let time = |name: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => match Stamp::read(text, zone) {
                Some(read) => Ok(Some(read.stamp)),
                None => Err(Failure::new(format!("--{name} {text:?} is no time"))
                    .help("expected one like 2026-01-31 or 2026-01-31T15:04:00+08:00")),
            },
        };
        let (since, as_of) = (time("since", &options.since)?, time("as-of", &options.as_of)?);
        Ok(Self { options, reader: Reader::new(atlas), settings, since, as_of })
    }

    /// Takes what a source gives out: one thread cuts records out, all cores read them, one writes cases in order. The
    /// source's own error is given back after everything before it was kept.
    fn import<E: Send>(
        &self,
        size: Option<u64>,
        source: impl FnOnce(&mut Sink<'_>) -> Result<(), E> + Send,
    ) -> Result<Result<Outcome, E>, Failure> {
        let naming = if self.options.anonymise { Naming::Anonymised } else { Naming::Kept };
        let intake = Intake::new(&self.reader.atlas, &self.reader.texts, &self.settings, naming);
        let shelf = Shelf::open(self.options)?;
        let mut ledger = Ledger::new(self.options, size);
        // One batch waits while another is read: more would only take memory.
        let (sender, batches) = mpsc::sync_channel::<Batch>(1);
        let ended = std::thread::scope(|scope| -> Result<Result<(), E>, Failure> {
            let reading = scope.spawn(move || {
                let mut batch = Batch::default();
                let ended = source(&mut |item| batch.take(item, &sender));
                // Nobody listens any more where the limit was reached.
                let _ = sender.send(batch);
                ended
            });
            let mut pending = Vec::new();
            // Where this loop ends early, the reader finds nobody listening and ends too.
            for batch in batches {
                let (read, listed) = rayon::join(
                    || batch.items.par_iter().map(|item| self.read_item(&intake, item)).collect::<Vec<_>>(),
                    || self.list(std::mem::take(&mut pending), &shelf, &mut ledger),
                );
                listed?;
                pending = read;
                if let Some(kept) = batch.kept {
                    self.list(std::mem::take(&mut pending), &shelf, &mut ledger)?;
                    let _ = kept.send(());
                }
                if ledger.is_full() {
                    break;
                }
            }
            self.list(pending, &shelf, &mut ledger)?;
            Ok(reading.join().expect("a source does not panic"))
        })?;
        let outcome = ledger.finish(ended.is_ok())?;
        Ok(ended.map(|()| outcome))
    }

    /// Keeps what was read, in order.
    fn list(&self, read: Vec<Vec<Read>>, shelf: &Shelf, ledger: &mut Ledger<'_>) -> Result<(), Failure> {
        for one in read.into_iter().flatten() {
            if ledger.is_full() {
                break;
            }
            match one {
                Read::Case(imported) => ledger.add(&imported, shelf.put(&imported.incident.case)?)?,
                Read::Older => ledger.older += 1,
                Read::Skipped { place, message } => ledger.skip(&place, &message)?,
                Read::Remark { place, message } => ledger.remark(&place, &message),
                Read::Bytes(count) => ledger.advance(count),
            }
        }
        ledger.flush();
        Ok(())
    }

    fn read_item(&self, intake: &Intake<'_>, item: &Item) -> Vec<Read> {
        match item {
            Item::Record(record) => self.read(intake, record),
            Item::Problem { place, message } => vec![Read::Skipped { place: place.clone(), message: message.clone() }],
            Item::Remark { place, message } => vec![Read::Remark { place: place.clone(), message: message.clone() }],
            Item::Checkpoint => Vec::new(),
        }
    }

    fn read(&self, intake: &Intake<'_>, record: &Record) -> Vec<Read> {
        let tickets = record.read(&self.settings).into_iter();
        let read = tickets.map(|ticket| match ticket {
            Err(unusable) => Read::Skipped { place: record.place.clone(), message: unusable.message },
            Ok(ticket) => {
                let is_older = |since| ticket.updated.or(ticket.created).is_some_and(|at| at < since);
                if self.since.is_some_and(is_older) {
                    return Read::Older;
                }
                let mut incident = intake.incident(&ticket, self.as_of);
                let leak = self.complete(&mut incident.case);
                if let Some(message) = leak.summary().filter(|_| leak.is_leaking()) {
                    incident.doubts.push(Doubt { kind: DoubtKind::Leak, message });
                }
                Read::Case(Box::new(Imported { incident, leak }))
            }
        });
        read.chain([Read::Bytes(record.size())]).collect()
    }

    /// Adds the structured conclusion, and checks the case for leaks.
    fn complete(&self, case: &mut Case) -> Leak {
        if case.final_human_conclusion.status == Some(hindcast_case::HumanStatus::Clear) {
            let human = self.reader.human(case);
            case.final_human_conclusion.structured_conclusion = self.reader.structured(&human).to_string();
        }
        let check = LeakCheck::new(&self.reader.atlas, &self.reader.texts);
        check.check(&question(case).0, &case.final_human_conclusion)
    }
}

fn settings(options: &ImportOptions) -> Result<Settings, Failure> {
    let path = options.config.clone().unwrap_or_else(|| options.out.join("hindcast.toml"));
    if options.config.is_none() && !path.exists() {
        return Ok(Settings::default());
    }
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::io("read", &path, &error))?;
    Settings::read(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Whether lists for machines are wanted.
fn is_json(options: &ImportOptions) -> bool {
    options.format == Format::Json
}
