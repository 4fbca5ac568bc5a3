//! `hindcast calibrate`: the comparison against experts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hindcast_atlas::Atlas;
use hindcast_case::{IncidentId, MatchLevel, Vocabulary};
use hindcast_report::{StoredRun, calibration_json, calibration_text, printable};
use hindcast_review::{Entry, ReviewBook, conclusion_mark, opinions_of, read_opinions};
use hindcast_verdict::{Comparer, Pair, agreement, calibrate, read_pair};
use serde_json::json;

use crate::args::{CalibrateArguments, Format};
use crate::commands::files;
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(arguments: &CalibrateArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    if let Some(casebook) = &arguments.reviews {
        return reviews(casebook, arguments.format, atlas);
    }
    let (Some(file), Some(casebook)) = (&arguments.pairs, &arguments.casebook) else {
        return Err(Failure::new("--pairs and --casebook are needed").help("or --reviews CASEBOOK"));
    };
    let pairs = files::read_lines(file, read_pair)?;
    let wanted: BTreeSet<&str> = pairs.iter().map(|pair| pair.incident_id.as_str()).collect();
    let cases = files::cases_of(casebook, |id| wanted.contains(id))?;
    let mut with_cases = Vec::new();
    for pair in &pairs {
        match cases.get(&pair.incident_id) {
            Some(case) => with_cases.push((pair.clone(), case.clone())),
            None => anstream::eprintln!(
                "pair {}: no usable case {} in the casebook; left out",
                pair.pair_id,
                pair.incident_id
            ),
        }
    }
    let left_out = pairs.len() - with_cases.len();
    let comparer = Comparer::new(atlas);
    let Some(calibration) = calibrate(&comparer, with_cases) else {
        return Err(Failure::new("no pair has a case in the casebook"));
    };
    match arguments.format {
        Format::Text => output::print(&calibration_text(&calibration))?,
        Format::Json => output::print_json(&calibration_json(&calibration))?,
    }
    Ok(if left_out == 0 { Outcome::Clean } else { Outcome::Findings })
}

/// The comparison against what reviewers decided, and the rules that they overrode.
fn reviews(casebook: &Path, format: Format, atlas: Atlas) -> Result<Outcome, Failure> {
    let standing = ReviewBook::new(casebook).standing().map_err(|error| Failure::new(error.to_string()))?;
    let cases = files::cases_of(casebook, |id| standing.contains_key(id))?;
    let comparer = Comparer::new(atlas);
    let mut rules: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut pairs = Vec::new();
    for (id, entry) in &standing {
        let (Some(case), Some(level)) = (cases.get(id), MatchLevel::recognise(&entry.level)) else { continue };
        let verdict = comparer.compare(case);
        let counts = rules.entry(verdict.rule.clone()).or_default();
        counts.0 += 1;
        counts.1 += usize::from(verdict.level != level);
        let pair = Pair {
            pair_id: id.clone(),
            incident_id: id.clone(),
            skill_conclusion: case.skill_conclusion.clone(),
            expected_level: level,
            expected_types: case.mismatch_type.clone(),
            why: entry.reason.clone(),
        };
        pairs.push((pair, case.clone()));
    }
    let calibration = calibrate(&comparer, pairs);
    let judges = judges(casebook, &standing)?;
    if calibration.is_none() && judges.is_empty() {
        return Err(Failure::new(format!("{} has no reviews", casebook.display()))
            .help("hindcast review CASEBOOK, or hindcast review RUN --accept ID"));
    }
    let mut rules: Vec<(String, (usize, usize))> = rules.into_iter().collect();
    rules.sort_by_key(|(name, (_, overridden))| (std::cmp::Reverse(*overridden), name.clone()));
    match format {
        Format::Json => {
            let mut value = calibration.as_ref().map_or_else(|| json!({"pairs": 0}), calibration_json);
            let list = rules.iter();
            value["rules"] = list
                .map(|(name, (fired, overridden))| json!({"rule": name, "fired": fired, "overridden": overridden}))
                .collect();
            let told = |pairs: &[(MatchLevel, MatchLevel)]| {
                agreement(pairs).map(|one| {
                    json!({"pairs": one.pairs, "accuracy": one.accuracy, "kappa": one.kappa,
                        "kappa_ci95": [one.kappa_ci95.low, one.kappa_ci95.high]})
                })
            };
            let list = judges.iter();
            value["judges"] = list
                .map(|(name, judge)| json!({"judge": name, "people": told(&judge.people), "rubric": told(&judge.rubric)}))
                .collect();
            output::print_json(&value)?;
        }
        Format::Text => {
            let mut text = String::new();
            if let Some(calibration) = &calibration {
                text.push_str(&calibration_text(calibration));
                text.push_str("\nrules, by how often reviewers overrode them\n");
            }
            for (name, (fired, overridden)) in &rules {
                text.push_str(&format!("  {name:<32} {overridden} of {fired}\n"));
            }
            if !judges.is_empty() {
                text.push_str("\njudges\n");
            }
            for (name, judge) in &judges {
                text.push_str(&format!("  {name}\n"));
                for (whom, pairs) in [("people", &judge.people), ("the rubric", &judge.rubric)] {
                    text.push_str(&format!("    against {whom:<11} {}\n", against(pairs)));
                }
            }
            output::print(&printable(&text))?;
        }
    }
    Ok(Outcome::Clean)
}

/// What a judge says, beside what others say of the same conclusions.
#[derive(Default)]
struct Verdicts {
    /// A person's verdict, and the judge's.
    people: Vec<(MatchLevel, MatchLevel)>,
    /// The rubric's, and the judge's.
    rubric: Vec<(MatchLevel, MatchLevel)>,
}

/// The judges of all runs of a casebook. What a judge says of one conclusion counts once, in however many runs it came up.
fn judges(casebook: &Path, standing: &BTreeMap<String, Entry>) -> Result<BTreeMap<String, Verdicts>, Failure> {
    let runs = casebook.join(".hindcast").join("runs");
    let mut names: Vec<_> =
        std::fs::read_dir(&runs).into_iter().flatten().flatten().map(|one| one.file_name()).collect();
    names.sort();
    let mut seen = BTreeSet::new();
    let mut judges: BTreeMap<String, Verdicts> = BTreeMap::new();
    for run in names.iter().filter_map(|name| StoredRun::open(&runs.join(name)).ok()) {
        let opinions = read_opinions(&run.dir).map_err(|error| Failure::new(error.to_string()))?;
        let rows: BTreeMap<&str, MatchLevel> =
            run.cases().filter_map(|row| Some((row.incident_id.as_str(), row.level()?))).collect();
        for opinion in opinions_of(opinions).into_values().flatten() {
            let (Some(level), Some(rubric)) = (opinion.level(), rows.get(opinion.incident_id.as_str())) else {
                continue;
            };
            let case = IncidentId::parse(&opinion.incident_id).and_then(|id| files::read_case(&run.case(&id)).ok());
            let is_current = case.is_some_and(|case| conclusion_mark(&case) == opinion.conclusion);
            if !is_current
                || !seen.insert((opinion.judge.clone(), opinion.incident_id.clone(), opinion.conclusion.clone()))
            {
                continue;
            }
            let judge = judges.entry(opinion.judge).or_default();
            judge.rubric.push((*rubric, level));
            let entry = standing.get(&opinion.incident_id).filter(|entry| entry.conclusion == opinion.conclusion);
            if let Some(person) = entry.and_then(|entry| MatchLevel::recognise(&entry.level)) {
                judge.people.push((person, level));
            }
        }
    }
    Ok(judges)
}

fn against(pairs: &[(MatchLevel, MatchLevel)]) -> String {
    match agreement(pairs) {
        None => "nothing in common".to_owned(),
        Some(one) => format!(
            "{} in common, the same in {:.0} %, kappa {:.3} (95 % interval {:.3} to {:.3})",
            one.pairs,
            100.0 * one.accuracy,
            one.kappa,
            one.kappa_ci95.low,
            one.kappa_ci95.high
        ),
    }
}
