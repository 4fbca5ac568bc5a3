//! What a model says of a verdict: a second opinion, beside the rubric's and never instead of it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hindcast_case::{MatchLevel, Vocabulary};
use serde::{Deserialize, Serialize};

/// One judge's opinion on one case of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// The incident.
    pub incident_id: String,
    /// The judge: the runner and its model.
    pub judge: String,
    /// By what the conclusion is known that was judged; see [`crate::conclusion_mark`].
    pub conclusion: String,
    /// The verdict of most votes; empty when there is none.
    pub level: String,
    /// In what the conclusions differ, as most votes for that verdict say.
    #[serde(default)]
    pub mismatch: Vec<String>,
    /// Each vote.
    pub votes: Vec<Vote>,
}

/// One answer of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vote {
    /// A verdict.
    Given {
        /// Which.
        level: String,
        /// In what the conclusions differ.
        mismatch: Vec<String>,
        /// Why, in the judge's words.
        why: String,
    },
    /// No verdict: a refusal, garbage, a failure.
    Failed {
        /// Why there is none.
        reason: String,
    },
}

/// Why the opinions of a run can't be read.
#[derive(Debug, thiserror::Error)]
pub enum OpinionError {
    /// The file can't be read.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// A line is no opinion.
    #[error("{0}:{1}: {2}; remove the line, or the file to judge anew")]
    Line(PathBuf, usize, serde_json::Error),
}

impl Opinion {
    /// The verdict; none where no vote gave one, or as many votes spoke for another.
    #[must_use]
    pub fn level(&self) -> Option<MatchLevel> {
        MatchLevel::recognise(&self.level)
    }

    /// The votes that gave a verdict, and how many of them this one.
    #[must_use]
    pub fn unity(&self) -> (usize, usize) {
        let levels = self.votes.iter().filter_map(|vote| match vote {
            Vote::Given { level, .. } => Some(level),
            Vote::Failed { .. } => None,
        });
        let all: Vec<&String> = levels.collect();
        (all.iter().filter(|level| **level == &self.level).count(), all.len())
    }

    /// The judge's words for its verdict, of the first vote for it.
    #[must_use]
    pub fn why(&self) -> &str {
        let told = self.votes.iter().find_map(|vote| match vote {
            Vote::Given { level, why, .. } if *level == self.level => Some(why.as_str()),
            _ => None,
        });
        told.unwrap_or_default()
    }
}

/// The opinions on a run, for one who adds to them.
#[derive(Debug)]
pub struct OpinionLog {
    path: PathBuf,
    file: Mutex<File>,
}

impl OpinionLog {
    /// Opens the opinions of a run. A last line that was not finished, by a program that was killed, is dropped.
    ///
    /// # Errors
    /// When the file can't be read or written, or another program adds to it at the moment.
    pub fn open(run: &Path) -> Result<Self, OpinionError> {
        let path = opinions_path(run);
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
            file.try_lock().map_err(|_| io::Error::other("another judge writes to it at the moment"))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            file.set_len(u64::try_from(whole).unwrap_or(u64::MAX))?;
            Ok(file)
        };
        let file = open().map_err(|error| OpinionError::Io(path.clone(), error))?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Adds an opinion: from then on it is kept, whatever happens to the program.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn add(&self, opinion: &Opinion) -> io::Result<()> {
        let mut line = serde_json::to_string(opinion).expect("an opinion is written as JSON");
        line.push('\n');
        self.file.lock().expect("no holder panics").write_all(line.as_bytes())
    }

    /// Leaves the last opinion of each judge on each incident, in order: the same opinions are then the same bytes.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub fn tidy(self, run: &Path) -> Result<BTreeMap<String, Vec<Opinion>>, OpinionError> {
        let opinions = opinions_of(read_opinions(run)?);
        let lines = opinions.values().flatten().map(|opinion| serde_json::to_string(opinion).expect("JSON") + "\n");
        hindcast_files::write_whole(&self.path, lines.collect::<String>().as_bytes())
            .map_err(|error| OpinionError::Io(self.path.clone(), error))?;
        Ok(opinions)
    }
}

/// Where the opinions on a run are kept.
#[must_use]
pub fn opinions_path(run: &Path) -> PathBuf {
    run.join("judgements.jsonl")
}

/// Every opinion on a run, in the order in which they were given; none where nobody was asked.
///
/// # Errors
/// When the file is there and can't be read.
pub fn read_opinions(run: &Path) -> Result<Vec<Opinion>, OpinionError> {
    let path = opinions_path(run);
    let file = match std::fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(OpinionError::Io(path, error)),
    };
    let mut opinions = Vec::new();
    // As bytes: a line that is no text is told as any other that is no opinion.
    for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.map_err(|error| OpinionError::Io(path.clone(), error))?;
        opinions
            .push(serde_json::from_slice(&line).map_err(|error| OpinionError::Line(path.clone(), index + 1, error))?);
    }
    Ok(opinions)
}

/// The last opinion of each judge on each incident.
#[must_use]
pub fn opinions_of(opinions: Vec<Opinion>) -> BTreeMap<String, Vec<Opinion>> {
    let mut last: BTreeMap<(String, String), Opinion> = BTreeMap::new();
    for opinion in opinions {
        last.insert((opinion.incident_id.clone(), opinion.judge.clone()), opinion);
    }
    let mut by_incident: BTreeMap<String, Vec<Opinion>> = BTreeMap::new();
    for ((incident, _), opinion) in last {
        by_incident.entry(incident).or_default().push(opinion);
    }
    by_incident
}
