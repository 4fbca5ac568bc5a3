//! What a model says of a verdict: a second opinion, beside the rubric's and never instead of it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

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
    for (index, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|error| OpinionError::Io(path.clone(), error))?;
        opinions.push(serde_json::from_str(&line).map_err(|error| OpinionError::Line(path.clone(), index + 1, error))?);
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
