//! Runs on disk: by path or by name.

use std::path::{Path, PathBuf};

use hindcast_report::StoredRun;

use crate::failure::Failure;

/// The folder of a run: a path, or the name of a run of the casebook that the other run belongs to.
pub(crate) fn open(run: &Path) -> Result<StoredRun, Failure> {
    StoredRun::open(run).map_err(|error| {
        Failure::new(error.to_string())
            .help("a run is a folder such as casebook/.hindcast/runs/run-0001; hindcast runs ls CASEBOOK lists them")
    })
}

/// The folder that a name stands for: a path that is there, or a run beside `beside`.
pub(crate) fn place(name: &Path, beside: &Path) -> PathBuf {
    let sibling = beside.parent().map(|runs| runs.join(name));
    match sibling {
        Some(sibling) if !name.exists() && sibling.exists() => sibling,
        _ => name.to_owned(),
    }
}
