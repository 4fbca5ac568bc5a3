//! What agents are run with, and why they can't be.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// What replays are run with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The model; empty is the agent's own choice.
    pub model: String,
    /// Rounds with the model at most.
    pub turns: u32,
    /// Wall-clock time of a replay at most.
    pub time: Duration,
    /// Bytes of output at most.
    pub output: usize,
    /// Further tries after a failure that may pass.
    pub retries: u32,
    /// The wait before the first of them; each further one is twice as long.
    pub first_wait: Duration,
    /// For the spread of waits.
    pub seed: u64,
}

/// Why a runner can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A folder can't be read or made.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The folder of transcripts holds none.
    #[error("{0} holds no transcripts; expected files named after incidents, as GTOC-1234.jsonl")]
    NoTranscripts(PathBuf),
    /// The service can't be asked.
    #[error("{0}")]
    Service(String),
    /// The program is not there.
    #[error("{0} can't be found; is it installed and on the PATH?")]
    NotFound(String),
    /// The runner needs a model.
    #[error("the runner {0} needs --model")]
    NoModel(String),
}
