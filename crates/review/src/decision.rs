//! What a person decides, and what that makes of a case.

use hindcast_case::{Assessment, Case, HumanStatus, MatchLevel, MismatchType};

/// What a person decides on a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The verdict is right.
    Accept,
    /// It is another one, for a reason.
    Override {
        /// The right verdict.
        level: MatchLevel,
        /// In what the conclusions differ.
        mismatch: Vec<MismatchType>,
        /// Why.
        reason: String,
    },
    /// The engineers' conclusion is unclear, for a reason.
    HumanUnclear {
        /// Why.
        reason: String,
    },
}

impl Decision {
    /// The decision that another verdict is right. That the human conclusion is unclear is one of its own: it changes the
    /// engineers' half.
    #[must_use]
    pub fn other(level: MatchLevel, mismatch: Vec<MismatchType>, reason: String) -> Self {
        match level {
            MatchLevel::HumanConclusionUnclear => Self::HumanUnclear { reason },
            level => Self::Override { level, mismatch, reason },
        }
    }
}

/// A decision, with what the reviewer wrote into the windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// On the verdict.
    pub decision: Decision,
    /// On windows; those that are not named stay as the run reviewed them.
    pub windows: Vec<WindowEdit>,
}

/// What a reviewer makes of the review of one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowEdit {
    /// Which of `window_reviews`, from 0.
    pub index: usize,
    /// How the two sides relate in it.
    pub assessment: Option<Assessment>,
    /// Remarks, one a line.
    pub notes: Vec<String>,
}

impl From<Decision> for Review {
    fn from(decision: Decision) -> Self {
        Self { decision, windows: Vec::new() }
    }
}

/// What a run found out of a case goes into the casebook's; the incident and the engineers' half stay as they are there.
pub(crate) fn take_over(case: &mut Case, judged: &Case) {
    case.replay_inputs = judged.replay_inputs.clone();
    case.skill_conclusion = judged.skill_conclusion.clone();
    case.match_level = judged.match_level;
    case.mismatch_type.clone_from(&judged.mismatch_type);
    case.comparison_notes.clone_from(&judged.comparison_notes);
    case.improvement_suggestions.clone_from(&judged.improvement_suggestions);
    case.window_reviews.clone_from(&judged.window_reviews);
}

/// What a decision came to, for the log.
pub(crate) struct Applied {
    /// Its name.
    pub(crate) decision: &'static str,
    pub(crate) reason: String,
    /// The windows that it changed.
    pub(crate) windows: Vec<String>,
}

/// Applies a review to a case that holds what the run found.
pub(crate) fn apply(case: &mut Case, review: &Review) -> Applied {
    let mut windows = Vec::new();
    for edit in &review.windows {
        let Some(window) = case.window_reviews.get_mut(edit.index) else { continue };
        if window.assessment != edit.assessment || window.notes != edit.notes {
            window.assessment = edit.assessment;
            window.notes.clone_from(&edit.notes);
            windows.push(window.label.clone());
        }
    }
    let (decision, reason) = decide(case, &review.decision);
    Applied { decision, reason, windows }
}

fn decide(case: &mut Case, decision: &Decision) -> (&'static str, String) {
    let note = |case: &mut Case, what: &str, reason: &str| {
        if !reason.trim().is_empty() {
            case.comparison_notes.push(format!("Review: {what}: {}", reason.trim()));
        }
        reason.trim().to_owned()
    };
    match decision {
        Decision::Accept => ("accept", String::new()),
        Decision::Override { level, mismatch, reason } => {
            case.match_level = Some(*level);
            case.mismatch_type = if *level == MatchLevel::Matched { Vec::new() } else { mismatch.clone() };
            if *level == MatchLevel::Matched {
                case.improvement_suggestions.clear();
            }
            let what = format!("{level} instead");
            ("override", note(case, &what, reason))
        }
        Decision::HumanUnclear { reason } => {
            case.final_human_conclusion.status = Some(HumanStatus::Unclear);
            case.match_level = Some(MatchLevel::HumanConclusionUnclear);
            case.mismatch_type.clear();
            case.improvement_suggestions.clear();
            ("human_unclear", note(case, "the human conclusion is unclear", reason))
        }
    }
}
