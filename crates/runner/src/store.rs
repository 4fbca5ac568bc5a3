//! Replays on disk: each is whole or not there, whenever the program is killed.

use std::io;
use std::path::PathBuf;

use hindcast_case::IncidentId;
use hindcast_files::write_whole;
use sha2::{Digest, Sha256};

use crate::pack::hex;
use crate::record::Record;

/// The replays of a run, in a folder of it.
#[derive(Debug, Clone)]
pub struct ReplayStore {
    dir: PathBuf,
}

impl ReplayStore {
    /// The replays below this folder.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Keeps a replay: the transcript first, so that a record is never without it.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn put(&self, record: &Record, transcript: &[u8], stderr: &[u8]) -> io::Result<()> {
        std::fs::create_dir_all(&self.dir)?;
        let stem = format!("{}.{}", record.incident_id, record.repeat);
        write_whole(&self.dir.join(format!("{stem}.transcript")), transcript)?;
        if !stderr.is_empty() {
            write_whole(&self.dir.join(format!("{stem}.stderr")), stderr)?;
        }
        let mut json = serde_json::to_vec_pretty(record).expect("a record is written as JSON");
        json.push(b'\n');
        write_whole(&self.dir.join(format!("{stem}.json")), &json)
    }

    /// A replay that was kept. One that can't be read counts as not there.
    #[must_use]
    pub fn get(&self, id: &IncidentId, repeat: u32) -> Option<Record> {
        let bytes = std::fs::read(self.dir.join(format!("{id}.{repeat}.json"))).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Where the transcript of a replay is kept.
    #[must_use]
    pub fn transcript(&self, id: &IncidentId, repeat: u32) -> PathBuf {
        self.dir.join(format!("{id}.{repeat}.transcript"))
    }
}

/// Results by content: what the same skill said to the same question before.
#[derive(Debug, Clone)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// The cache below this folder.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The name of what depends on these parts and nothing else.
    pub(crate) fn key(parts: &[&str]) -> String {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(part);
        }
        hex(&hash.finalize())
    }

    pub(crate) fn get(&self, key: &str) -> Option<(Record, Vec<u8>)> {
        let stem = self.stem(key);
        let record = serde_json::from_slice(&std::fs::read(stem.with_extension("json")).ok()?).ok()?;
        Some((record, std::fs::read(stem.with_extension("transcript")).ok()?))
    }

    pub(crate) fn put(&self, key: &str, record: &Record, transcript: &[u8]) -> io::Result<()> {
        let stem = self.stem(key);
        std::fs::create_dir_all(stem.parent().expect("a folder of two letters"))?;
        write_whole(&stem.with_extension("transcript"), transcript)?;
        write_whole(&stem.with_extension("json"), &serde_json::to_vec(record).expect("a record is written as JSON"))
    }

    fn stem(&self, key: &str) -> PathBuf {
        self.dir.join(&key[..2]).join(key)
    }
}
