//! The replays of a run through an agent: those that are missing are run, each is kept as soon as it is done.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hindcast_case::Case;
use hindcast_replay::question;
use hindcast_runner::{
    Cache, End, Job, ReplayStore, Replayer, SkillPack, Surroundings, end_leftovers, schedule, with_canaries,
};
use hindcast_verdict::Reader;

use super::plan::{Plan, Runner};
use crate::args::RunArguments;
use crate::commands::files;
use crate::commands::interrupt::on_interrupt;
use crate::failure::Failure;
use crate::output;

/// What the replays of a run came to.
pub(super) struct Replays {
    pub(super) store: ReplayStore,
    pub(super) end: End,
    pub(super) from_cache: usize,
    pub(super) version: Option<String>,
}

/// Runs what is missing.
pub(super) fn run(
    plan: &Plan,
    pack: Option<SkillPack>,
    reader: &Reader,
    arguments: &RunArguments,
    dir: &Path,
) -> Result<Replays, Failure> {
    let store = ReplayStore::new(dir.join("replays"));
    // A run that was killed leaves its agents behind.
    end_leftovers(&token(dir));
    let stop = on_interrupt()?;
    let replayer = replayer(plan, pack, reader, arguments, dir, stop)?;
    let version = replayer.version().map(str::to_owned);
    let paths = plan.paths();
    let repeats = usize::try_from(plan.repeats).expect("a small number");
    let count = paths.len() * repeats;
    let progress = output::progress_bar(count, "replays");
    let (from_cache, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |index: usize| -> io::Result<Option<f64>> {
        // All cases once before any twice: an early end still tells something of each.
        let (path, repeat) = (&paths[index % paths.len()], index / paths.len() + 1);
        let repeat = u32::try_from(repeat).expect("a small number");
        let case = files::read_bytes(path).ok().and_then(|bytes| hindcast_case::read(&bytes).value);
        let cost = match case {
            // Files that can't be used are reported where the cases are compared.
            None => 0.0,
            Some(case) => match replay(&replayer, &store, &case, repeat, arguments.failed)? {
                None => return Ok(None),
                Some(Done { cost, is_cached, failure }) => {
                    from_cache.fetch_add(usize::from(is_cached), Ordering::Relaxed);
                    if let Some(reason) = failure {
                        failed.fetch_add(1, Ordering::Relaxed);
                        progress.suspend(|| {
                            let line = format!("{} {repeat}: failed: {reason}", case.incident_id);
                            anstream::eprintln!("{}", hindcast_report::printable(&line).replace('\n', " "));
                        });
                    }
                    cost
                }
            },
        };
        progress.inc(1);
        Ok(Some(cost))
    };
    let end = schedule(count, arguments.jobs, arguments.max_cost, stop, work);
    progress.finish_and_clear();
    let end = end.map_err(|error| Failure::io("keep a replay in", dir, &error))?;
    Ok(Replays { store, end, from_cache: from_cache.into_inner(), version })
}

/// By what the processes of a run are known: the same whenever it is gone on with.
fn token(dir: &Path) -> String {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    dir.display().to_string()
}

struct Done {
    cost: f64,
    is_cached: bool,
    failure: Option<String>,
}

fn replay(
    replayer: &Replayer<'_>,
    store: &ReplayStore,
    case: &Case,
    repeat: u32,
    again: bool,
) -> io::Result<Option<Done>> {
    if let Some(record) = store.get(&case.incident_id, repeat)
        && !(again && record.failure().is_some())
    {
        return Ok(Some(Done { cost: 0.0, is_cached: false, failure: None }));
    }
    let (marked, canaries) = with_canaries(case);
    let (question, _) = question(&marked);
    let engineers = &case.final_human_conclusion.owner_final_comment;
    let job = Job { id: &case.incident_id, repeat, question: &question, canaries: &canaries, engineers };
    let Some(finished) = replayer.replay(&job)? else { return Ok(None) };
    store.put(&finished.record, &finished.transcript, &finished.stderr)?;
    let record = finished.record;
    let cost = if record.from_cache { 0.0 } else { record.cost.unwrap_or_default() };
    Ok(Some(Done { cost, is_cached: record.from_cache, failure: record.failure().map(str::to_owned) }))
}

fn replayer<'a>(
    plan: &Plan,
    pack: Option<SkillPack>,
    reader: &'a Reader,
    arguments: &RunArguments,
    dir: &Path,
    stop: &'a AtomicBool,
) -> Result<Replayer<'a>, Failure> {
    let cache = plan.casebook.join(".hindcast").join("cache");
    let around = Surroundings {
        atlas: &reader.atlas,
        texts: &reader.texts,
        pack,
        hidden: vec![plan.casebook.clone(), dir.to_owned()],
        cache: (!arguments.fresh).then(|| Cache::new(cache)),
        token: token(dir),
        stop,
    };
    let replayer = match &plan.runner {
        Runner::Builtin => unreachable!("the built-in skill is no agent"),
        Runner::Recorded { dir } => Replayer::recorded(dir, plan.settings(), around),
        Runner::Agent { descriptor, .. } => {
            let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
            Replayer::agent(descriptor.as_ref().clone(), plan.settings(), &environment, around)
        }
    };
    replayer.map_err(|error| Failure::new(error.to_string()))
}

/// What an early end means, and how to go on.
pub(super) fn end_line(end: End, missing: usize, dir: &Path) -> Option<String> {
    let why = match end {
        End::Done if missing == 0 => return None,
        End::Done => "the run is not whole",
        End::Budget => "the budget is used up",
        End::Stopped => "the run was stopped",
    };
    Some(format!("{why}: {missing} replays are missing; go on with: hindcast run --resume {}", dir.display()))
}

/// Writes the plan, unless it is there.
pub(super) fn keep_plan(plan: &Plan, dir: &Path) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(plan).expect("a plan is written as JSON");
    output::write_atomically(&dir.join("plan.json"), &format!("{text}\n"))
}
