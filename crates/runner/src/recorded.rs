//! Transcripts that were recorded elsewhere, by incident.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hindcast_case::IncidentId;

/// The largest transcript.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// A folder of transcripts. A file belongs to the incident whose id begins its name, or is the name of its folder:
/// `GTOC-1234.jsonl`, `GTOC-1234.2.jsonl`, `GTOC-1234/session.jsonl`.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    files: BTreeMap<IncidentId, Vec<PathBuf>>,
}

impl Recorded {
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let mut recorded = Self::default();
        recorded.collect(dir, None)?;
        for files in recorded.files.values_mut() {
            files.sort();
        }
        Ok(recorded)
    }

    fn collect(&mut self, dir: &Path, of: Option<&IncidentId>) -> io::Result<()> {
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let id = of.cloned().or_else(|| id_in(&name));
            let kind = entry.file_type()?;
            if kind.is_dir() && of.is_none() {
                if let Some(id) = &id {
                    self.collect(&entry.path(), Some(id))?;
                }
            } else if kind.is_file()
                && let Some(id) = id
            {
                self.files.entry(id).or_default().push(entry.path());
            }
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// The transcript of a repeat, counted from 1.
    pub(crate) fn read(&self, id: &IncidentId, repeat: u32) -> Result<Vec<u8>, String> {
        let files = self.files.get(id).ok_or("no transcript is recorded for it")?;
        let index = usize::try_from(repeat - 1).unwrap_or(usize::MAX);
        let path = files.get(index).ok_or_else(|| format!("only {} transcripts are recorded for it", files.len()))?;
        let size = std::fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?.len();
        if size > MAX_FILE {
            return Err(format!("{} is larger than {} MiB", path.display(), MAX_FILE / 1024 / 1024));
        }
        std::fs::read(path).map_err(|error| format!("{} can't be read: {error}", path.display()))
    }
}

/// The id that begins a name: letters, digits, a dash, digits.
fn id_in(name: &str) -> Option<IncidentId> {
    let dash = name.find(['-', '_', ' '])?;
    let digits = name[dash + 1..].bytes().take_while(u8::is_ascii_digit).count();
    let end = dash + 1 + digits;
    let rest = &name[end..];
    (digits > 0 && !rest.starts_with(|c: char| c.is_alphanumeric())).then(|| IncidentId::parse(&name[..end])).flatten()
}
