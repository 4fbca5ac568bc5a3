//! `hindcast calibrate`: the comparison against experts.

use std::collections::BTreeSet;

use hindcast_atlas::Atlas;
use hindcast_report::{calibration_json, calibration_text};
use hindcast_verdict::{Comparer, calibrate, read_pair};

use crate::args::{CalibrateArguments, Format};
use crate::commands::files;
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(arguments: &CalibrateArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    let pairs = files::read_lines(&arguments.pairs, read_pair)?;
    let wanted: BTreeSet<&str> = pairs.iter().map(|pair| pair.incident_id.as_str()).collect();
    let cases = files::cases_of(&arguments.casebook, |id| wanted.contains(id))?;
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
