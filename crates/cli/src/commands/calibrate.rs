//! `hindcast calibrate`: the comparison against experts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hindcast_atlas::Atlas;
use hindcast_case::{MatchLevel, Vocabulary};
use hindcast_report::{calibration_json, calibration_text};
use hindcast_review::ReviewBook;
use hindcast_verdict::{Comparer, Pair, calibrate, read_pair};

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
    let Some(calibration) = calibrate(&comparer, pairs) else {
        return Err(Failure::new(format!("{} has no reviews", casebook.display()))
            .help("hindcast review RUN --accept ID, or --override ID"));
    };
    let mut rules: Vec<(String, (usize, usize))> = rules.into_iter().collect();
    rules.sort_by_key(|(name, (_, overridden))| (std::cmp::Reverse(*overridden), name.clone()));
    match format {
        Format::Json => {
            let mut value = calibration_json(&calibration);
            let list = rules.iter();
            value["rules"] = list
                .map(|(name, (fired, overridden))| serde_json::json!({"rule": name, "fired": fired, "overridden": overridden}))
                .collect();
            output::print_json(&value)?;
        }
        Format::Text => {
            let mut text = calibration_text(&calibration);
            text.push_str("\nrules, by how often reviewers overrode them\n");
            for (name, (fired, overridden)) in &rules {
                text.push_str(&format!("  {name:<32} {overridden} of {fired}\n"));
            }
            output::print(&text)?;
        }
    }
    Ok(Outcome::Clean)
}
