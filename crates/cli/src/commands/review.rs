//! `hindcast review`: the verdicts of a run, and what people decide on them.

use std::path::PathBuf;

use hindcast_atlas::Atlas;
use hindcast_case::{Case, IncidentId, Vocabulary};
use hindcast_report::{StoredRun, printable};
use hindcast_review::{Decision, Order, Queue, ReviewBook, Signature, opinions_of, read_opinions};
use hindcast_server::{Desk, Server};
use hindcast_verdict::Comparer;
use serde_json::json;

use crate::args::{Format, ReviewArguments};
use crate::commands::{files, stored};
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(arguments: &ReviewArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    let run = arguments.run.as_deref().map_or_else(stored::open_here, stored::open)?;
    let book = ReviewBook::new(&casebook_of(&run)?);
    let decisions = decisions(arguments)?;
    if decisions.is_empty() && arguments.undo.is_empty() {
        return if arguments.list { list(&run, &book, arguments.format) } else { serve(arguments, run, atlas) };
    }
    // A decision is about the present by nature; it stands beside the case, not in it.
    let by = Signature { reviewer: reviewer(arguments)?, time: jiff::Timestamp::now() };
    for (id, decision) in decisions {
        let judged = judged(&run, &id)?;
        let seen = book.version(&id).map_err(|error| Failure::new(error.to_string()))?;
        book.decide(&judged, &seen, &decision.into(), &by).map_err(|error| Failure::new(error.to_string()))?;
        anstream::eprintln!("{id}: kept in {}", book.path(&id).display());
    }
    for id in &arguments.undo {
        let id = incident(id)?;
        book.undo(&id, &by).map_err(|error| Failure::new(error.to_string()))?;
        anstream::eprintln!("{id}: the last decision is taken back");
    }
    Ok(Outcome::Clean)
}

/// Serves the pages until the user interrupts the program.
fn serve(arguments: &ReviewArguments, run: StoredRun, atlas: Atlas) -> Result<Outcome, Failure> {
    let casebook = casebook_of(&run)?;
    let opinions = read_opinions(&run.dir).map_err(|error| Failure::new(error.to_string()))?;
    let desk = Desk::new(run, &casebook, opinions, Comparer::new(atlas), reviewer(arguments)?);
    let failed = |error: std::io::Error| {
        Failure::new(format!("the page can't be served: {error}")).help("another port: --port PORT; no page: --list")
    };
    let server = Server::bind(desk, arguments.port).map_err(failed)?;
    let address = server.address().map_err(failed)?;
    output::print(&format!("Review at {address}\nInterrupt with Ctrl-C; what was decided is kept.\n"))?;
    if !arguments.no_open && open::that_detached(&address).is_err() {
        anstream::eprintln!("No browser could be opened; open the address yourself.");
    }
    server.run().map_err(failed)?;
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
        decisions.push((incident(id)?, Decision::other(level, mismatch, reason.clone())));
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
    run.casebook()
        .filter(|dir| dir.is_dir())
        .ok_or_else(|| Failure::new(format!("the casebook of {} is not where it was", run.dir.display())))
}

fn judged(run: &StoredRun, id: &IncidentId) -> Result<Case, Failure> {
    files::read_case(&run.case(id))
}

/// Lists what waits, where a look is worth most first.
fn list(run: &StoredRun, book: &ReviewBook, format: Format) -> Result<Outcome, Failure> {
    let standing = book.standing().map_err(|error| Failure::new(error.to_string()))?;
    let queue = open_queue(run)?;
    let waiting = queue.ordered(&standing, Order::Worth);
    if format == Format::Json {
        let list: Vec<_> = waiting
            .iter()
            .map(|one| {
                json!({
                    "incident_id": one.row.incident_id,
                    "match_level": one.level.as_str(),
                    "weight": one.weight(),
                    "reasons": one.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    "reviewer": one.decided.map(|entry| &entry.reviewer),
                    "decision": one.decided.map(|entry| &entry.decision),
                })
            })
            .collect();
        output::print_json(&json!(list))?;
        return Ok(Outcome::Clean);
    }
    let open = waiting.iter().filter(|one| !one.is_decided()).count();
    let mut text = String::new();
    for one in &waiting {
        let reasons: Vec<String> = one.reasons.iter().map(ToString::to_string).collect();
        let by = one.decided.map(|entry| format!(" [{} by {}]", entry.decision, entry.reviewer)).unwrap_or_default();
        text.push_str(&format!("{:<14} {:<24} {}{by}\n", one.row.incident_id, one.level.as_str(), reasons.join("; ")));
    }
    text.push_str(&format!("\n{open} of {} wait for a decision\n", waiting.len()));
    output::print(&printable(&text))?;
    Ok(Outcome::Clean)
}

/// The verdicts of a run, with what the run before and the judges say of them.
fn open_queue(run: &StoredRun) -> Result<Queue, Failure> {
    let opinions = read_opinions(&run.dir).map_err(|error| Failure::new(error.to_string()))?;
    let before = run.previous();
    Ok(Queue::new(run, before.as_ref(), &opinions_of(opinions), |id| judged(run, id).ok()))
}
