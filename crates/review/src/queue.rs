//! The verdicts of a run in the order in which a person's look is worth most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use hindcast_case::{Case, IncidentId, MatchLevel, Vocabulary};
use hindcast_report::{StoredRow, StoredRun};

use crate::book::{Entry, conclusion_mark};
use crate::opinion::Opinion;

/// The verdicts of a run with all that makes a look worth it, but for the decisions: those change while it is open.
#[derive(Debug)]
pub struct Queue {
    verdicts: Vec<Verdict>,
}

/// One of them.
#[derive(Debug)]
struct Verdict {
    row: StoredRow,
    level: MatchLevel,
    mark: String,
    reasons: Vec<Reason>,
}

/// A verdict that waits for a person, or was decided.
#[derive(Debug, Clone)]
pub struct Waiting<'a> {
    /// The verdict.
    pub row: &'a StoredRow,
    /// Its level.
    pub level: MatchLevel,
    /// Why a look is worth it, the strongest first; for what is decided, that it is.
    pub reasons: Vec<Reason>,
    /// The decision that stands on the incident, on this or another conclusion.
    pub decided: Option<&'a Entry>,
}

/// What makes a look at a verdict worth it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A model's second opinion is another one.
    Judge {
        /// Which judge.
        judge: String,
        /// What it says.
        level: MatchLevel,
    },
    /// A reviewer said otherwise on an earlier conclusion.
    Reviewer(MatchLevel),
    /// What the skill saw may give the conclusion away.
    Leak,
    /// The verdict was another one in the run before.
    Changed(MatchLevel),
    /// Its repeats got other verdicts.
    Flaky,
    /// The skill names no bottleneck.
    NoBottleneck,
    /// The skill says that it has doubts.
    Doubts,
    /// Nobody decided yet.
    Open,
    /// Somebody did.
    Decided,
}

/// What verdicts are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Where a look is worth most.
    #[default]
    Worth,
    /// By incident.
    Incident,
}

impl Reason {
    /// How much it counts: a stronger one outweighs all weaker ones together.
    #[must_use]
    pub fn weight(&self) -> u32 {
        match self {
            Self::Judge { .. } => 400,
            Self::Reviewer(_) => 200,
            Self::Leak => 100,
            Self::Changed(_) => 60,
            Self::Flaky => 25,
            Self::NoBottleneck | Self::Doubts => 10,
            Self::Open => 1,
            Self::Decided => 0,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judge { judge, level } => write!(f, "{judge} says {level}"),
            Self::Reviewer(level) => write!(f, "a reviewer said {level}"),
            Self::Leak => f.write_str("the inputs may give the conclusion away"),
            Self::Changed(before) => write!(f, "it was {before} in the run before"),
            Self::Flaky => f.write_str("its repeats differ"),
            Self::NoBottleneck => f.write_str("the skill names no bottleneck"),
            Self::Doubts => f.write_str("the skill has doubts"),
            Self::Open => f.write_str("not decided"),
            Self::Decided => f.write_str("decided"),
        }
    }
}

impl Waiting<'_> {
    /// How much a look is worth; nothing for what is decided.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.reasons.iter().map(Reason::weight).sum()
    }

    /// Whether a decision on this verdict stands.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.weight() == 0
    }
}

impl Queue {
    /// The queue of a run. `before` is the run before it, `case` gives the run's judged case of an incident, `opinions` what
    /// models say. Replays that failed have no verdict and are left out.
    #[must_use]
    pub fn new(
        run: &StoredRun,
        before: Option<&StoredRun>,
        opinions: &BTreeMap<String, Vec<Opinion>>,
        case: impl Fn(&IncidentId) -> Option<Case>,
    ) -> Self {
        let earlier: HashMap<&str, MatchLevel> = before
            .into_iter()
            .flat_map(StoredRun::cases)
            .filter_map(|row| Some((row.incident_id.as_str(), row.level()?)))
            .collect();
        let mut repeats: HashMap<&str, Vec<MatchLevel>> = HashMap::new();
        for row in run.rows.iter().filter(|row| row.repeat > 1) {
            repeats.entry(&row.incident_id).or_default().extend(row.level());
        }
        let verdicts = run.cases().filter_map(|row| {
            let level = row.level()?;
            let judged = IncidentId::parse(&row.incident_id).and_then(|id| case(&id));
            let mark = judged.as_ref().map(conclusion_mark).unwrap_or_default();
            let mut reasons = Vec::new();
            for opinion in opinions.get(&row.incident_id).into_iter().flatten() {
                if let Some(other) = opinion.level().filter(|other| *other != level && opinion.conclusion == mark) {
                    reasons.push(Reason::Judge { judge: opinion.judge.clone(), level: other });
                }
            }
            if row.leak_score.is_some() {
                reasons.push(Reason::Leak);
            }
            if let Some(before) = earlier.get(row.incident_id.as_str()).filter(|before| **before != level) {
                reasons.push(Reason::Changed(*before));
            }
            if repeats.get(row.incident_id.as_str()).is_some_and(|levels| levels.iter().any(|other| *other != level)) {
                reasons.push(Reason::Flaky);
            }
            if let Some(case) = judged {
                let skill = &case.skill_conclusion;
                if skill.earliest_proven_bottleneck.is_empty() {
                    reasons.push(Reason::NoBottleneck);
                } else if !skill.uncertainty_statement.is_empty() {
                    reasons.push(Reason::Doubts);
                }
            }
            Some(Verdict { row: row.clone(), level, mark, reasons })
        });
        Self { verdicts: verdicts.collect() }
    }

    /// The verdicts in an order, with the decisions that stand.
    #[must_use]
    pub fn ordered<'a>(&'a self, standing: &'a BTreeMap<String, Entry>, order: Order) -> Vec<Waiting<'a>> {
        let mut waiting: Vec<Waiting<'a>> = self.verdicts.iter().map(|verdict| wait(verdict, standing)).collect();
        match order {
            Order::Worth => waiting.sort_by_key(|one| (Reverse(one.weight()), one.row.incident_id.as_str())),
            Order::Incident => waiting.sort_by_key(|one| one.row.incident_id.as_str()),
        }
        waiting
    }
}

fn wait<'a>(verdict: &'a Verdict, standing: &'a BTreeMap<String, Entry>) -> Waiting<'a> {
    let decided = standing.get(&verdict.row.incident_id);
    let level = verdict.level;
    let said = decided.and_then(|entry| MatchLevel::recognise(&entry.level));
    // Either this very judgement was decided on, or what a reviewer said of another conclusion still holds.
    let same = decided.is_some_and(|entry| entry.conclusion == verdict.mark && entry.judged == level.as_str());
    let mut reasons = Vec::new();
    if same || said == Some(level) {
        reasons.push(Reason::Decided);
    } else {
        reasons.extend(verdict.reasons.iter().cloned());
        reasons.push(Reason::Open);
        if let Some(said) = said {
            reasons.push(Reason::Reviewer(said));
        }
        reasons.sort_by_key(|reason: &Reason| Reverse(reason.weight()));
    }
    Waiting { row: &verdict.row, level, reasons, decided }
}
