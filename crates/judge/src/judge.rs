//! A judge at work.

use std::io;

use hindcast_case::Case;
use hindcast_review::{Opinion, Vote, conclusion_mark};
use hindcast_runner::Oracle;
use hindcast_verdict::Comparer;
use sha2::{Digest, Sha256};

use crate::brief::{First, brief};
use crate::vote::{read_vote, tally};

/// A model that is asked for verdicts.
#[derive(Debug)]
pub struct Judge<'a> {
    /// Whom to ask.
    pub oracle: Oracle<'a>,
    /// What the conclusions are read with.
    pub comparer: &'a Comparer,
    /// How often it is asked about a case.
    pub votes: u32,
    /// For the order in which the sides are told.
    pub seed: u64,
}

/// An opinion with what it took.
#[derive(Debug)]
pub struct Judged {
    /// The opinion.
    pub opinion: Opinion,
    /// US dollars; none where it isn't known.
    pub cost: Option<f64>,
}

impl Judge<'_> {
    /// The judge's name: the runner and its model.
    #[must_use]
    pub fn name(&self) -> String {
        self.oracle.name()
    }

    /// Asks about a judged case. None when the user stopped it.
    ///
    /// # Errors
    /// When this machine fails; what a model says, or doesn't, is no error.
    pub fn opinion(&self, case: &Case) -> io::Result<Option<Judged>> {
        let id = case.incident_id.as_str();
        let conclusion = conclusion_mark(case);
        let mut votes = Vec::new();
        let mut cost = None;
        for turn in 0..self.votes {
            let text = brief(self.comparer, case, self.first(id, turn), &self.mark(case, turn));
            let Some(told) = self.oracle.ask(&text, &format!("{id}:{turn}"))? else { return Ok(None) };
            if let Some(spent) = told.cost {
                *cost.get_or_insert(0.0) += spent;
            }
            votes.push(match told.answer {
                Ok(answer) => read_vote(&answer, &self.mark(case, turn)),
                Err(reason) => Vote::Failed { reason },
            });
        }
        Ok(Some(Judged { opinion: tally(id, &self.name(), &conclusion, votes), cost }))
    }

    /// Which side is told first: by chance in the first vote, then in turn.
    fn first(&self, id: &str, turn: u32) -> First {
        let seed = id.bytes().fold(self.seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let is_odd = fastrand::Rng::with_seed(seed).bool() ^ (turn % 2 == 1);
        if is_odd { First::Skill } else { First::Engineers }
    }

    /// The code of a brief. It depends on the whole case, so that no text in the case can name it.
    fn mark(&self, case: &Case, turn: u32) -> String {
        let digest = Sha256::digest(format!("{}\n{turn}\n{}", self.seed, case.to_json()));
        digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}
