//! `hindcast extract`: a human conclusion as structured values.

use std::collections::BTreeSet;
use std::path::Path;

use hindcast_atlas::Atlas;
use hindcast_case::StructuredConclusion;
use hindcast_report::{extraction_json, extraction_text, label_score_json};
use hindcast_verdict::{Comparer, read_label, score_labels};

use crate::args::{ExtractArguments, Format};
use crate::commands::files;
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(arguments: &ExtractArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    let comparer = Comparer::new(atlas);
    match (&arguments.case, &arguments.labels, &arguments.casebook) {
        (Some(case), ..) => extract(&comparer, case, arguments),
        (None, Some(labels), Some(casebook)) => score(&comparer, labels, casebook, arguments.format),
        _ => Err(Failure::new("give a case file, or --labels FILE with --casebook DIR")),
    }
}

fn extract(comparer: &Comparer, path: &Path, arguments: &ExtractArguments) -> Result<Outcome, Failure> {
    let mut case = files::read_case(path)?;
    let human = comparer.reader.human(&case);
    match arguments.format {
        Format::Text => output::print(&extraction_text(comparer, &case, &human))?,
        Format::Json => output::print_json(&extraction_json(comparer, &case, &human))?,
    }
    if arguments.write {
        let old = case.final_human_conclusion.structured_conclusion.trim();
        if !old.is_empty() && StructuredConclusion::parse(old).is_none() {
            return Err(Failure::new(format!(
                "structured_conclusion of {} holds prose; it was not replaced",
                path.display()
            ))
            .help("move its text to owner_final_comment first"));
        }
        case.final_human_conclusion.structured_conclusion = comparer.reader.structured(&human).to_string();
        output::write_atomically(path, &case.to_json())?;
        anstream::eprintln!("wrote structured_conclusion to {}", path.display());
    }
    Ok(Outcome::Clean)
}

fn score(comparer: &Comparer, labels: &Path, casebook: &Path, format: Format) -> Result<Outcome, Failure> {
    let labels = files::read_lines(labels, read_label)?;
    let wanted: BTreeSet<&str> = labels.iter().map(|label| label.incident_id.as_str()).collect();
    let cases = files::cases_of(casebook, |id| wanted.contains(id))?;
    let mut with_cases = Vec::new();
    for label in &labels {
        match cases.get(&label.incident_id) {
            Some(case) => with_cases.push((label.clone(), case.clone())),
            None => anstream::eprintln!("label {}: no usable case in the casebook; left out", label.incident_id),
        }
    }
    if with_cases.is_empty() {
        return Err(Failure::new("no label has a case in the casebook"));
    }
    let left_out = labels.len() - with_cases.len();
    let value = label_score_json(&score_labels(comparer, &with_cases));
    match format {
        Format::Json => output::print_json(&value)?,
        Format::Text => {
            let mut text = format!("{} labels\n", value["labels"]);
            for key in ["status", "side", "scope", "path", "bottleneck", "bottleneck_within_one_edge"] {
                text.push_str(&format!("  {key:<28} {:.3}\n", value[key].as_f64().unwrap_or_default()));
            }
            for miss in value["misses"].as_array().into_iter().flatten() {
                let part = |key: &str| miss[key].as_str().unwrap_or_default().to_owned();
                text.push_str(&format!(
                    "  {} {}: label {:?}, extracted {:?}\n",
                    part("incident_id"),
                    part("field"),
                    part("label"),
                    part("extracted")
                ));
            }
            output::print(&text)?;
        }
    }
    Ok(if left_out == 0 { Outcome::Clean } else { Outcome::Findings })
}
