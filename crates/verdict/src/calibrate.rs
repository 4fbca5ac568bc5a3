//! How far the comparison agrees with experts: their verdicts against the rubric's, pair by pair.

use hindcast_case::{Case, MatchLevel, MismatchType, SkillConclusion, Vocabulary, read_skill_conclusion};
use serde::Deserialize;

use crate::compare::{Comparer, Verdict};
use crate::statistics::{Interval, kappa, kappa_interval};

/// A skill's conclusion on a known case with the verdict that an expert gives it.
#[derive(Debug, Clone)]
pub struct Pair {
    /// Name of the pair.
    pub pair_id: String,
    /// The case.
    pub incident_id: String,
    /// The conclusion.
    pub skill_conclusion: SkillConclusion,
    /// The expert's verdict.
    pub expected_level: MatchLevel,
    /// The expert's mismatch types.
    pub expected_types: Vec<MismatchType>,
    /// The expert's reason.
    pub why: String,
}

/// Why a line of a pairs file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    /// Not the JSON that was expected.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A word outside a vocabulary.
    #[error("{word:?} is not a {what}; expected one of: {expected}")]
    Word {
        /// The word.
        word: String,
        /// The vocabulary.
        what: &'static str,
        /// Its words.
        expected: String,
    },
    /// The conclusion can't be read.
    #[error("skill_conclusion: {0}")]
    Conclusion(String),
}

#[derive(Deserialize)]
struct PairLine {
    pair_id: String,
    incident_id: String,
    skill_conclusion: Box<serde_json::value::RawValue>,
    expected_match_level: String,
    #[serde(default)]
    expected_mismatch_type: Vec<String>,
    #[serde(default)]
    why: String,
}

/// Reads one line of a pairs file.
///
/// # Errors
/// When it is not JSON of the expected shape, or a word is outside its vocabulary.
pub fn read_pair(line: &str) -> Result<Pair, PairError> {
    let line: PairLine = serde_json::from_str(line)?;
    let reading = read_skill_conclusion(line.skill_conclusion.get().as_bytes());
    let errors = || {
        let errors = reading.diagnostics.iter().filter(|d| d.severity == hindcast_case::Severity::Error);
        errors.map(|d| format!("{}: {}", d.field, d.message)).collect::<Vec<_>>().join("; ")
    };
    let types: Result<Vec<MismatchType>, PairError> =
        line.expected_mismatch_type.iter().map(|word| vocabulary(word)).collect();
    Ok(Pair {
        pair_id: line.pair_id,
        incident_id: line.incident_id,
        skill_conclusion: reading.value.clone().ok_or_else(|| PairError::Conclusion(errors()))?,
        expected_level: vocabulary(&line.expected_match_level)?,
        expected_types: types?,
        why: line.why,
    })
}

pub(crate) fn vocabulary<T: Vocabulary>(word: &str) -> Result<T, PairError> {
    T::recognise(word).ok_or_else(|| PairError::Word {
        word: word.to_owned(),
        what: T::WHAT,
        expected: T::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", "),
    })
}

/// How far two who give verdicts agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Verdicts compared.
    pub pairs: usize,
    /// Share of them that are the same.
    pub accuracy: f64,
    /// Cohen's kappa.
    pub kappa: f64,
    /// Its 95 % bootstrap interval.
    pub kappa_ci95: Interval,
}

/// The agreement of two who gave these verdicts, pair by pair. None without pairs.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of pairs are far below 2^52")]
pub fn agreement(pairs: &[(MatchLevel, MatchLevel)]) -> Option<Agreement> {
    let ratings: Vec<(usize, usize)> = pairs.iter().map(|(one, other)| (index(*one), index(*other))).collect();
    let levels = MatchLevel::ALL.len();
    let same = ratings.iter().filter(|(one, other)| one == other).count();
    (!ratings.is_empty()).then(|| Agreement {
        pairs: ratings.len(),
        accuracy: same as f64 / ratings.len() as f64,
        kappa: kappa(&ratings, levels),
        kappa_ci95: kappa_interval(&ratings, levels),
    })
}

/// The agreement of the comparison with experts.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// Of the verdicts.
    pub agreement: Agreement,
    /// Micro-averaged F1 of the mismatch types.
    pub mismatch_type_f1: f64,
    /// `confusion[expert][rubric]`, in the order of [`MatchLevel::ALL`].
    pub confusion: [[usize; 4]; 4],
    /// Every pair on which they differ.
    pub disagreements: Vec<Disagreement>,
}

/// A pair on which the comparison and the expert differ, in verdict or mismatch types.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// The pair.
    pub pair: Pair,
    /// The comparison's verdict.
    pub level: MatchLevel,
    /// Its mismatch types.
    pub types: Vec<MismatchType>,
    /// Its rule.
    pub rule: String,
    /// Its notes.
    pub notes: Vec<String>,
}

/// Compares each pair's conclusion with its case, and the verdict with the expert's. None without pairs.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of pairs are far below 2^52")]
pub fn calibrate(comparer: &Comparer, pairs: Vec<(Pair, Case)>) -> Option<Calibration> {
    let mut ratings = Vec::with_capacity(pairs.len());
    let mut confusion = [[0; 4]; 4];
    let (mut shared, mut named) = (0, 0);
    let mut disagreements = Vec::new();
    for (pair, mut case) in pairs {
        case.skill_conclusion = pair.skill_conclusion.clone();
        let verdict = comparer.compare(&case);
        ratings.push((pair.expected_level, verdict.level));
        confusion[index(pair.expected_level)][index(verdict.level)] += 1;
        shared += verdict.mismatch.iter().filter(|kind| pair.expected_types.contains(kind)).count();
        named += verdict.mismatch.len() + pair.expected_types.len();
        let mut expected = pair.expected_types.clone();
        expected.sort();
        if pair.expected_level != verdict.level || expected != verdict.mismatch {
            let Verdict { level, mismatch: types, rule, notes, .. } = verdict;
            disagreements.push(Disagreement { pair, level, types, rule, notes });
        }
    }
    Some(Calibration {
        agreement: agreement(&ratings)?,
        mismatch_type_f1: if named == 0 { 1.0 } else { 2.0 * shared as f64 / named as f64 },
        confusion,
        disagreements,
    })
}

fn index(level: MatchLevel) -> usize {
    MatchLevel::ALL.iter().position(|other| *other == level).expect("ALL has every level")
}
