//! The casebook that an import writes to.

use std::path::{Path, PathBuf};

use hindcast_case::Case;
use hindcast_intake::{FieldChange, FieldOutcome, merge};

use crate::args::ImportOptions;
use crate::commands::files;
use crate::failure::Failure;
use crate::output;

/// A casebook, open for writing.
pub(super) struct Shelf {
    dir: PathBuf,
    /// What the last import wrote of each case: it tells what a person changed since.
    imported: PathBuf,
    dry_run: bool,
    update: bool,
}

/// What became of a case.
pub(super) enum Put {
    /// It was not there before.
    New,
    /// It was there, and is the same.
    Same,
    /// It was there, and some fields differ. Only with `--update` some were taken over.
    Differs(Vec<FieldChange>),
    /// It was there, and can't be read.
    Unusable(String),
}

impl Shelf {
    pub(super) fn open(options: &ImportOptions) -> Result<Self, Failure> {
        let dir = options.out.clone();
        let imported = dir.join(".hindcast").join("imported");
        if !options.dry_run {
            std::fs::create_dir_all(&imported).map_err(|error| {
                Failure::io("create", &imported, &error).help("choose another folder with --out CASEBOOK")
            })?;
        }
        Ok(Self { dir, imported, dry_run: options.dry_run, update: options.update })
    }

    /// Writes a case, or brings it together with the one that is there.
    pub(super) fn put(&self, fresh: &Case) -> Result<Put, Failure> {
        let name = format!("{}.json", fresh.incident_id);
        let (path, base) = (self.dir.join(&name), self.imported.join(&name));
        if !path.exists() {
            self.write(&path, fresh)?;
            self.write(&base, fresh)?;
            return Ok(Put::New);
        }
        let current = match read(&path) {
            Ok(current) => current,
            Err(message) => return Ok(Put::Unusable(message)),
        };
        let (merged, changes) = merge(read(&base).ok().as_ref(), &current, fresh);
        if changes.is_empty() {
            return Ok(Put::Same);
        }
        if self.update {
            if changes.iter().any(|change| change.outcome == FieldOutcome::Taken) {
                self.write(&path, &merged)?;
            }
            self.write(&base, fresh)?;
        }
        Ok(Put::Differs(changes))
    }

    fn write(&self, path: &Path, case: &Case) -> Result<(), Failure> {
        if self.dry_run { Ok(()) } else { output::write_atomically(path, &case.to_json()) }
    }
}

fn read(path: &Path) -> Result<Case, String> {
    let bytes = files::read_bytes(path).map_err(|error| format!("{} can't be read: {error}", path.display()))?;
    let reading = hindcast_case::read(&bytes);
    reading.value.ok_or_else(|| format!("{} is no case that can be read; see hindcast check", path.display()))
}
