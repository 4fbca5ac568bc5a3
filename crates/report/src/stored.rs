//! A run as it lies on disk, read again.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use hindcast_case::{IncidentId, MatchLevel, Vocabulary};
use serde::Deserialize;
use serde_json::Value;

/// A run that is finished.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// Its folder.
    pub dir: PathBuf,
    /// What `run.json` holds.
    pub totals: Value,
    /// Its rows, in the casebook's order.
    pub rows: Vec<StoredRow>,
}

/// One replay of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredRow {
    /// The incident.
    pub incident_id: String,
    /// Which repeat, from 1.
    #[serde(default = "first")]
    pub repeat: u32,
    /// The route that the skill took.
    #[serde(default)]
    pub entry_mode: String,
    /// The skill's bottleneck.
    #[serde(default)]
    pub skill_bottleneck: String,
    /// The engineers' bottleneck.
    #[serde(default)]
    pub human_bottleneck: String,
    /// The verdict; none for a replay that failed.
    #[serde(default)]
    match_level: String,
    /// In what they differ.
    #[serde(default)]
    pub mismatch_type: Vec<String>,
    /// How far the inputs gave the conclusion away; none where they didn't.
    #[serde(default)]
    pub leak_score: Option<f64>,
    /// Why the replay failed.
    #[serde(default)]
    pub failed: Option<String>,
}

fn first() -> u32 {
    1
}

/// Why a run can't be read.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// A file is missing or can't be read.
    #[error("{path} can't be read: {source}; expected the folder of a run that finished")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what a run writes.
    #[error("{path}:{line}: {message}")]
    Broken {
        /// Which.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        message: String,
    },
}

impl StoredRun {
    /// Reads a run from its folder.
    ///
    /// # Errors
    /// When it is no run, or not finished.
    pub fn open(dir: &Path) -> Result<Self, StoredError> {
        let path = dir.join("run.json");
        let broken =
            |path: &Path, line: usize, message: String| StoredError::Broken { path: path.to_owned(), line, message };
        let bytes = std::fs::read(&path).map_err(|source| StoredError::Io { path: path.clone(), source })?;
        let totals = serde_json::from_slice(&bytes).map_err(|error| broken(&path, error.line(), error.to_string()))?;
        let path = dir.join("rows.jsonl");
        let file = std::fs::File::open(&path).map_err(|source| StoredError::Io { path: path.clone(), source })?;
        let mut rows = Vec::new();
        for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
            let line = line.map_err(|source| StoredError::Io { path: path.clone(), source })?;
            rows.push(serde_json::from_slice(&line).map_err(|error| broken(&path, index + 1, error.to_string()))?);
        }
        Ok(Self { dir: dir.to_owned(), totals, rows })
    }

    /// Its name: that of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        let folder = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The run before, in the same folder.
    #[must_use]
    pub fn previous(&self) -> Option<Self> {
        let dir = self.dir.canonicalize().ok()?;
        let (parent, name) = (dir.parent()?, dir.file_name()?);
        let mut names: Vec<_> = std::fs::read_dir(parent).ok()?.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        let earlier: Vec<_> = names.into_iter().take_while(|other| other != name).collect();
        earlier.into_iter().rev().find_map(|name| Self::open(&parent.join(name)).ok())
    }

    /// The casebook that it was made of; none when its plan is gone.
    #[must_use]
    pub fn casebook(&self) -> Option<PathBuf> {
        let plan: Value = serde_json::from_slice(&std::fs::read(self.dir.join("plan.json")).ok()?).ok()?;
        plan["casebook"].as_str().map(PathBuf::from)
    }

    /// Where its judged case of an incident is.
    #[must_use]
    pub fn case(&self, id: &IncidentId) -> PathBuf {
        self.dir.join("cases").join(format!("{id}.json"))
    }

    /// The rows that stand for their cases: those of the first repeat.
    pub fn cases(&self) -> impl Iterator<Item = &StoredRow> {
        self.rows.iter().filter(|row| row.repeat == 1)
    }

    /// The name of the skill.
    #[must_use]
    pub fn skill(&self) -> &str {
        self.totals["skill"].as_str().unwrap_or_default()
    }

    /// What it cost in US dollars, where that is known.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        self.totals["replays"]["cost_usd"].as_f64()
    }
}

impl StoredRow {
    /// The verdict; none for a replay that failed.
    #[must_use]
    pub fn level(&self) -> Option<MatchLevel> {
        MatchLevel::recognise(&self.match_level)
    }

    /// The verdict, where it counts: the engineers named a cause, and nothing gave it away.
    #[must_use]
    pub fn comparable(&self) -> Option<MatchLevel> {
        let level = self.level()?;
        (level != MatchLevel::HumanConclusionUnclear && self.leak_score.is_none()).then_some(level)
    }
}
