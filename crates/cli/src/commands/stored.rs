//! Runs on disk: by path or by name.

use std::path::{Path, PathBuf};

use hindcast_report::StoredRun;

use crate::failure::Failure;

/// The run of a folder: a run itself, or the last one of a casebook.
pub(crate) fn open(place: &Path) -> Result<StoredRun, Failure> {
    StoredRun::open(&last_of(place).unwrap_or_else(|| place.to_owned())).map_err(|error| {
        Failure::new(error.to_string())
            .help("a run is a folder such as casebook/.hindcast/runs/run-0001; hindcast runs ls CASEBOOK lists them")
    })
}

/// The last run of the casebook where the user stands.
pub(crate) fn open_here() -> Result<StoredRun, Failure> {
    let run = [Path::new("."), Path::new("casebook")].into_iter().find_map(last_of);
    let run = run.ok_or_else(|| {
        Failure::new("no run was found here or in ./casebook")
            .help("hindcast run CASEBOOK makes one; then hindcast review CASEBOOK")
    })?;
    open(&run)
}

/// The last finished run of a casebook, by name; none where there is none, or the folder is no casebook.
fn last_of(casebook: &Path) -> Option<PathBuf> {
    let runs = casebook.join(".hindcast").join("runs");
    let names = std::fs::read_dir(&runs).ok()?.flatten().map(|entry| entry.file_name());
    let last = names.filter(|name| runs.join(name).join("run.json").exists()).max()?;
    Some(runs.join(last))
}

/// The folder that a name stands for: a path that is there, or a run beside `beside`.
pub(crate) fn place(name: &Path, beside: &Path) -> PathBuf {
    let sibling = beside.parent().map(|runs| runs.join(name));
    match sibling {
        Some(sibling) if !name.exists() && sibling.exists() => sibling,
        _ => name.to_owned(),
    }
}
