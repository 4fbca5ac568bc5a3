//! `hindcast judge`: a model's second opinion on the verdicts of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use hindcast_atlas::Atlas;
use hindcast_case::{IncidentId, MatchLevel, Vocabulary};
use hindcast_judge::Judge;
use hindcast_report::{StoredRun, printable};
use hindcast_review::{Opinion, OpinionLog, Order, Queue, Vote, conclusion_mark};
use hindcast_runner::{Descriptor, End, Oracle, Settings, schedule};
use hindcast_verdict::{Comparer, agreement};
use serde_json::json;

use crate::args::{Format, JudgeArguments};
use crate::commands::interrupt::on_interrupt;
use crate::commands::{files, stored};
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(arguments: &JudgeArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    let run = stored::open(&arguments.run)?;
    let comparer = Comparer::new(atlas);
    let judge = Judge { oracle: oracle(arguments)?, comparer: &comparer, votes: arguments.votes, seed: arguments.seed };
    let failed = |error: hindcast_review::OpinionError| Failure::new(error.to_string());
    let log = OpinionLog::open(&run.dir).map_err(failed)?;
    let known = hindcast_review::opinions_of(hindcast_review::read_opinions(&run.dir).map_err(failed)?);
    let wanted = wanted(arguments, &run, &known)?;
    let progress = output::progress_bar(wanted.len(), "cases");
    let fresh = Mutex::new(BTreeSet::new());
    let spent = Mutex::new(None);
    let work = |index: usize| -> std::io::Result<Option<f64>> {
        let id = &wanted[index];
        let Ok(case) = files::read_case(&run.case(id)) else {
            let told = format!("{id}: its case in the run can't be read; hindcast check {}", run.case(id).display());
            progress.suspend(|| anstream::eprintln!("{told}"));
            progress.inc(1);
            return Ok(Some(0.0));
        };
        let mine = known.get(id.as_str()).into_iter().flatten().find(|opinion| opinion.judge == judge.name());
        let holds = |opinion: &&Opinion| opinion.level().is_some() && opinion.conclusion == conclusion_mark(&case);
        if !arguments.fresh && mine.filter(holds).is_some() {
            progress.inc(1);
            return Ok(Some(0.0));
        }
        let Some(judged) = judge.opinion(&case)? else { return Ok(None) };
        log.add(&judged.opinion)?;
        fresh.lock().expect("no holder panics").insert(id.to_string());
        if let Some(cost) = judged.cost {
            *spent.lock().expect("no holder panics").get_or_insert(0.0) += cost;
        }
        progress.inc(1);
        Ok(Some(judged.cost.unwrap_or_default()))
    };
    let end = schedule(wanted.len(), arguments.jobs, arguments.max_cost, on_interrupt()?, work);
    progress.finish_and_clear();
    let end = end.map_err(|error| Failure::new(format!("the opinions can't be kept: {error}")))?;
    let opinions = log.tidy(&run.dir).map_err(failed)?;
    let found = Found {
        judge: judge.name(),
        opinions: of_judge(&opinions, &judge.name(), &wanted),
        asked: wanted.len(),
        fresh: fresh.into_inner().expect("no holder panics").len(),
        cost: spent.into_inner().expect("no holder panics"),
        end,
    };
    found.print(&run, arguments.format)?;
    let is_whole = found.opinions.iter().filter(|opinion| opinion.level().is_some()).count() == found.asked;
    Ok(if is_whole { Outcome::Clean } else { Outcome::Findings })
}

fn oracle(arguments: &JudgeArguments) -> Result<Oracle<'static>, Failure> {
    let descriptor = match (arguments.judge.as_str(), &arguments.command) {
        ("command", Some(line)) => Descriptor::command(line),
        ("command", None) => {
            return Err(Failure::new("--with command needs --command").help("--command 'PROGRAM ARGUMENTS'"));
        }
        (name, _) => Descriptor::find(name),
    };
    let settings = Settings {
        model: arguments.model.clone().unwrap_or_default(),
        turns: 1,
        time: Duration::from_secs_f64(arguments.timeout),
        output: 16 * 1024 * 1024,
        retries: arguments.retries,
        first_wait: Duration::from_secs(1),
        seed: arguments.seed,
    };
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let oracle = descriptor.map_err(|error| Failure::new(error.to_string())).and_then(|descriptor| {
        Oracle::new(descriptor, settings, &environment, on_interrupt()?)
            .map_err(|error| Failure::new(error.to_string()))
    });
    oracle.map_err(|failure| failure.help("hindcast judge --help tells whom to ask, and how"))
}

/// The cases to ask about, those first where a look is worth most. What the inputs give away is in no figure, and not asked.
fn wanted(
    arguments: &JudgeArguments,
    run: &StoredRun,
    known: &BTreeMap<String, Vec<Opinion>>,
) -> Result<Vec<IncidentId>, Failure> {
    let queue = Queue::new(run, run.previous().as_ref(), known, |id| files::read_case(&run.case(id)).ok());
    let standing = BTreeMap::new();
    let waiting = queue.ordered(&standing, Order::Worth);
    let asked = |id: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == id);
    for only in &arguments.only {
        if !waiting.iter().any(|one| one.row.incident_id == *only) {
            return Err(Failure::new(format!("the run has no verdict on {only}")));
        }
    }
    let ids = waiting.iter().filter(|one| one.row.leak_score.is_none() && asked(&one.row.incident_id));
    let ids = ids.filter_map(|one| IncidentId::parse(&one.row.incident_id));
    Ok(ids.take(arguments.limit.unwrap_or(usize::MAX)).collect())
}

fn of_judge(opinions: &BTreeMap<String, Vec<Opinion>>, judge: &str, wanted: &[IncidentId]) -> Vec<Opinion> {
    let wanted: BTreeSet<&str> = wanted.iter().map(IncidentId::as_str).collect();
    let of_it =
        opinions.values().flatten().filter(|one| one.judge == judge && wanted.contains(one.incident_id.as_str()));
    of_it.cloned().collect()
}

/// What a judge says of a run.
struct Found {
    judge: String,
    opinions: Vec<Opinion>,
    asked: usize,
    /// Opinions that are new.
    fresh: usize,
    cost: Option<f64>,
    end: End,
}

impl Found {
    fn print(&self, run: &StoredRun, format: Format) -> Result<(), Failure> {
        let rubric: BTreeMap<&str, MatchLevel> =
            run.cases().filter_map(|row| Some((row.incident_id.as_str(), row.level()?))).collect();
        let both =
            self.opinions.iter().filter_map(|one| Some((one, *rubric.get(one.incident_id.as_str())?, one.level()?)));
        let both: Vec<(&Opinion, MatchLevel, MatchLevel)> = both.collect();
        let levels: Vec<(MatchLevel, MatchLevel)> = both.iter().map(|(_, rubric, judge)| (*rubric, *judge)).collect();
        let against = agreement(&levels);
        let differing = || both.iter().filter(|(_, rubric, judge)| rubric != judge);
        let without: Vec<&Opinion> = self.opinions.iter().filter(|one| one.level().is_none()).collect();
        if format == Format::Json {
            return output::print_json(&json!({
                "judge": self.judge,
                "asked": self.asked,
                "new": self.fresh,
                "with_verdict": both.len(),
                "cost_usd": self.cost,
                "accuracy": against.map(|one| one.accuracy),
                "kappa": against.map(|one| one.kappa),
                "kappa_ci95": against.map(|one| [one.kappa_ci95.low, one.kappa_ci95.high]),
                "differing": differing().map(|(opinion, rubric, judge)| json!({
                    "incident_id": opinion.incident_id, "rubric": rubric.as_str(), "judge": judge.as_str(), "why": opinion.why(),
                })).collect::<Vec<_>>(),
                "without_verdict": without.iter().map(|one| json!({
                    "incident_id": one.incident_id, "reason": no_verdict(one),
                })).collect::<Vec<_>>(),
                "judgements": hindcast_review::opinions_path(&run.dir).display().to_string(),
            }));
        }
        let mut text = format!(
            "{}: {} of {} cases have a verdict of it, {} of them new",
            self.judge,
            both.len(),
            self.asked,
            self.fresh
        );
        if let Some(cost) = self.cost {
            text.push_str(&format!("; {cost:.2} USD"));
        }
        text.push('\n');
        if let Some(against) = against {
            text.push_str(&format!(
                "against the rubric: the same in {:.0} %, Cohen's kappa {:.3} (95 % interval {:.3} to {:.3})\n",
                100.0 * against.accuracy,
                against.kappa,
                against.kappa_ci95.low,
                against.kappa_ci95.high
            ));
        }
        if differing().next().is_some() {
            text.push_str("\ndiffering: they come first in hindcast review\n");
        }
        for (opinion, rubric, judge) in differing() {
            let (same, given) = opinion.unity();
            text.push_str(&format!(
                "  {:<14} {rubric} -> {judge} ({same} of {given} votes): {}\n",
                opinion.incident_id,
                opinion.why()
            ));
        }
        if !without.is_empty() {
            text.push_str("\nwithout a verdict\n");
        }
        for opinion in without {
            text.push_str(&format!("  {:<14} {}\n", opinion.incident_id, no_verdict(opinion)));
        }
        if let Some(ended) = match self.end {
            End::Done => None,
            End::Budget => Some("the budget is used up"),
            End::Stopped => Some("it was stopped"),
        } {
            text.push_str(&format!("\n{ended}; the same command goes on\n"));
        }
        text.push_str(&format!("\njudgements  {}\n", hindcast_review::opinions_path(&run.dir).display()));
        output::print(&printable(&text))
    }
}

/// Why an opinion holds no verdict.
fn no_verdict(opinion: &Opinion) -> String {
    let reasons = opinion.votes.iter().filter_map(|vote| match vote {
        Vote::Failed { reason } => Some(reason.as_str()),
        Vote::Given { .. } => None,
    });
    let reasons: BTreeSet<&str> = reasons.collect();
    if reasons.is_empty() {
        "its votes are tied".to_owned()
    } else {
        reasons.into_iter().collect::<Vec<_>>().join("; ")
    }
}
