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

/// The folder of the run that is meant: a run itself, the last one of a casebook, or of the casebook where the user stands.
pub(crate) fn last(place: Option<&Path>) -> Result<PathBuf, Failure> {
    let here = [PathBuf::from("."), PathBuf::from("casebook")];
    let places = place.map_or(here.to_vec(), |place| vec![place.to_owned()]);
    for place in &places {
        let runs = place.join(".hindcast").join("runs");
        let finished = |name: &std::ffi::OsString| runs.join(name).join("run.json").exists();
        let names = std::fs::read_dir(&runs).into_iter().flatten().flatten().map(|entry| entry.file_name());
        if let Some(name) = names.filter(finished).max() {
            return Ok(runs.join(name));
        }
    }
    // What is no casebook with runs is a run, or the error says what was expected.
    place.map(Path::to_owned).ok_or_else(|| {
        Failure::new("no run was found here or in ./casebook")
            .help("hindcast run CASEBOOK makes one; then hindcast review CASEBOOK")
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
