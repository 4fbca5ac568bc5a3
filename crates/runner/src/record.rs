//! What is kept of a replay.

use hindcast_case::{IncidentId, SkillConclusion, read_skill_conclusion};
use hindcast_transcript::{Checkpoint, Transcript};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guard::Suspicion;

/// One replay, finished: it answered, or it failed for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The incident.
    pub incident_id: String,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// What came of it.
    pub outcome: Outcome,
    /// Tries that it took.
    pub attempts: u32,
    /// The agent, as it calls itself.
    pub agent: String,
    /// The agent's version, as it tells.
    pub agent_version: String,
    /// The model, as the agent tells.
    pub model: String,
    /// Rounds with the model.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: usize,
    /// Tokens read, without those from a cache.
    pub input_tokens: u64,
    /// Tokens read from a cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; none where neither the agent nor the descriptor tells.
    pub cost: Option<f64>,
    /// Wall-clock time of the last try.
    pub seconds: f64,
    /// Whether the agent was kept from reading the casebook.
    pub confinement: String,
    /// Passages of the inputs that look like instructions.
    pub suspicions: Vec<Suspicion>,
    /// Parts of the transcript that could not be read.
    pub skipped: Option<String>,
    /// Whether the result comes from the cache.
    #[serde(default)]
    pub from_cache: bool,
}

/// What came of a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A conclusion.
    Answered {
        /// As the schema wants it.
        conclusion: Value,
        /// In which form the answer came.
        form: String,
        /// What was mended, claimed without being done, taken from elsewhere.
        notes: Vec<String>,
    },
    /// No conclusion; this is no wrong diagnosis.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Record {
    /// The conclusion, where there is one.
    #[must_use]
    pub fn conclusion(&self) -> Option<SkillConclusion> {
        match &self.outcome {
            Outcome::Answered { conclusion, .. } => read_skill_conclusion(conclusion.to_string().as_bytes()).value,
            Outcome::Failed { .. } => None,
        }
    }

    /// Why it failed, where it did.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Answered { .. } => None,
            Outcome::Failed { reason } => Some(reason),
        }
    }

    pub(crate) fn new(id: &IncidentId, repeat: u32, transcript: &Transcript) -> Self {
        let usage = transcript.usage;
        Self {
            incident_id: id.to_string(),
            repeat,
            outcome: Outcome::Failed { reason: String::new() },
            attempts: 1,
            agent: transcript.agent.clone(),
            agent_version: transcript.agent_version.clone(),
            model: transcript.model.clone(),
            turns: transcript.turns,
            tool_calls: transcript.tool_calls.len(),
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            cost: usage.cost,
            seconds: 0.0,
            confinement: String::new(),
            suspicions: Vec::new(),
            skipped: transcript.skipped.summary(),
            from_cache: false,
        }
    }
}

impl Outcome {
    pub(crate) fn of(checkpoint: Result<Checkpoint, String>) -> Self {
        match checkpoint {
            Ok(Checkpoint { conclusion, form, notes }) => {
                let conclusion = serde_json::from_str(&conclusion.to_json()).expect("a conclusion is written as JSON");
                Self::Answered { conclusion, form: form.as_str().to_owned(), notes }
            }
            Err(reason) => Self::Failed { reason },
        }
    }
}
