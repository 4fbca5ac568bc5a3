//! `hindcast compare`: one verdict, explained.

use hindcast_atlas::Atlas;
use hindcast_report::{verdict_json, verdict_text};
use hindcast_verdict::Comparer;

use crate::args::{CompareArguments, Format};
use crate::commands::files;
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn run(arguments: &CompareArguments, atlas: Atlas) -> Result<Outcome, Failure> {
    let mut case = files::read_case(&arguments.case)?;
    if let Some(path) = &arguments.skill_conclusion {
        let bytes = files::read_bytes(path).map_err(|error| Failure::io("read", path, &error))?;
        case.skill_conclusion = files::usable(path, &bytes, hindcast_case::read_skill_conclusion(&bytes))?;
    }
    if case.skill_conclusion == hindcast_case::SkillConclusion::default() {
        return Err(Failure::new(format!("{} holds no skill conclusion to compare", arguments.case.display()))
            .help("give one with --skill-conclusion FILE, or replay the casebook: hindcast run"));
    }
    let comparer = Comparer::new(atlas);
    let verdict = comparer.compare(&case);
    match arguments.format {
        Format::Text => output::print(&verdict_text(&comparer.reader, &case, &verdict))?,
        Format::Json => output::print_json(&verdict_json(&comparer.reader, &case, &verdict))?,
    }
    Ok(Outcome::Clean)
}
