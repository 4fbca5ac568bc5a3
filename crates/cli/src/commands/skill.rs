//! `hindcast skill`: packs, checked against the Agent Skills specification.

use std::path::Path;

use hindcast_runner::{SkillPack, check_pack};
use serde_json::json;

use crate::args::Format;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Checks a pack.
pub(crate) fn check(dir: &Path, format: Format) -> Result<Outcome, Failure> {
    let pack = SkillPack::open(dir).map_err(|error| Failure::new(error.to_string()))?;
    let flaws = check_pack(&pack);
    match format {
        Format::Json => {
            let list: Vec<_> = flaws
                .iter()
                .map(|flaw| json!({"file": flaw.path, "line": flaw.line, "severity": severity(flaw.is_error), "message": flaw.message}))
                .collect();
            let git = pack.git.as_ref().map(|git| json!({"commit": git.commit, "dirty": git.is_dirty}));
            output::print_json(
                &json!({"name": pack.name, "hash": pack.hash, "files": pack.files.len(), "git": git, "flaws": list}),
            )?;
        }
        Format::Text => {
            let mut text = String::new();
            for flaw in &flaws {
                let path = dir.join(&flaw.path);
                text.push_str(&format!(
                    "{}:{}: {}: {}\n",
                    path.display(),
                    flaw.line,
                    severity(flaw.is_error),
                    flaw.message
                ));
            }
            if flaws.is_empty() {
                text.push_str(&format!(
                    "{} keeps to the specification: {} files, version {}\n",
                    pack.name,
                    pack.files.len(),
                    &pack.hash[..12]
                ));
            }
            output::print(&hindcast_report::printable(&text))?;
        }
    }
    Ok(if flaws.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

fn severity(is_error: bool) -> &'static str {
    if is_error { "error" } else { "warning" }
}
