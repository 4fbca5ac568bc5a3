//! One execution of one skill on one case: what it may see, and what it then said.
//!
//! Invariant: a skill gets a [`hindcast_skill::Question`], which holds no part of the engineers' conclusion; [`question`] is the only
//! way from a case to a question.

mod casebook;
mod inputs;
mod leak;

pub use casebook::{Casebook, CasebookError};
pub use inputs::question;
pub use leak::{LEAKING, Leak, LeakCheck, Signal, SignalKind};

use hindcast_case::{Case, SkillConclusion};
use hindcast_skill::{BuiltinSkill, Question};

/// Replays a case through the built-in skill, as [`replay_with`].
pub fn replay_builtin(skill: &BuiltinSkill<'_>, leaks: &LeakCheck<'_>, case: &mut Case) -> Leak {
    replay_with(leaks, case, |question| skill.diagnose(question))
}

/// Replays a case: fills `replay_inputs` and `skill_conclusion` with what the skill concludes from the question. Gives what
/// the leak check found in what the skill was shown.
pub fn replay_with(
    leaks: &LeakCheck<'_>,
    case: &mut Case,
    conclude: impl FnOnce(&Question) -> SkillConclusion,
) -> Leak {
    let (question, mut inputs) = question(case);
    let leak = leaks.check(&question, &case.final_human_conclusion);
    if let Some(summary) = leak.summary().filter(|_| leak.is_leaking()) {
        inputs.notes.push_str(&format!(" Leak suspected: {summary}."));
    }
    case.skill_conclusion = conclude(&question);
    case.replay_inputs = inputs;
    leak
}
