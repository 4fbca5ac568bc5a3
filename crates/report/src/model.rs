//! What every report of a run is made of.

use crate::breakdown::{Breakdown, Groups};
use hindcast_case::{Case, EntryMode, IncidentId, MatchLevel, MismatchType, Vocabulary};
use hindcast_replay::Leak;
use hindcast_verdict::{Conclusion, Interval, Reader, Verdict, wilson95};

/// One line of a run's table.
#[derive(Debug, Clone)]
pub struct Row {
    /// The case.
    pub incident_id: IncidentId,
    /// The route that the skill took.
    pub entry_mode: Option<EntryMode>,
    /// The skill's bottleneck; empty when it names none.
    pub skill_bottleneck: String,
    /// The engineers' bottleneck; empty when they name none.
    pub human_bottleneck: String,
    /// The verdict.
    pub level: MatchLevel,
    /// In what they differ.
    pub mismatch: Vec<MismatchType>,
    /// The verdict that the casebook records, from an earlier run or a person.
    pub recorded: Option<MatchLevel>,
    /// What gave the conclusion away to the skill, where something did.
    pub leak: Option<Leak>,
    /// Which repeat of the case, from 1.
    pub repeat: u32,
    /// In which groups the case is.
    pub groups: Groups,
}

impl Row {
    /// The line of a verdict; `recorded` is what the casebook says.
    #[must_use]
    pub fn new(reader: &Reader, case: &Case, verdict: &Verdict, recorded: Option<MatchLevel>, leak: Leak) -> Self {
        Self {
            incident_id: case.incident_id.clone(),
            entry_mode: case.skill_conclusion.entry_mode,
            skill_bottleneck: bottleneck(reader, &verdict.skill),
            human_bottleneck: bottleneck(reader, &verdict.human),
            level: verdict.level,
            mismatch: verdict.mismatch.clone(),
            recorded,
            leak: leak.is_leaking().then_some(leak),
            repeat: 1,
            groups: Groups::of(case, &bottleneck(reader, &verdict.human), entry_mode(reader, &verdict.human)),
        }
    }
}

/// The entry mode of a conclusion's bottleneck.
fn entry_mode(reader: &Reader, conclusion: &Conclusion) -> &'static str {
    let mechanism = conclusion.bottleneck.map(|stated| &reader.atlas[reader.representative(stated.value)]);
    mechanism.map_or("", |mechanism| mechanism.entry_mode.as_str())
}

/// The bottleneck of a conclusion as an id, or the words that the atlas doesn't know.
#[must_use]
pub fn bottleneck(reader: &Reader, conclusion: &Conclusion) -> String {
    match (conclusion.bottleneck, &conclusion.unknown_bottleneck) {
        (Some(stated), _) => reader.subject_name(stated.value),
        (None, Some(words)) => words.clone(),
        (None, None) => String::new(),
    }
}

/// The counts of a run.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Cases by verdict, in the order of [`MatchLevel::ALL`].
    pub levels: [usize; 4],
    /// `confusion[recorded][this run]`; the fifth row is "not recorded".
    pub confusion: [[usize; 4]; 5],
    /// Cases that gave the conclusion away to the skill; they are in none of the other counts.
    pub leaking: usize,
    /// Cases whose replay failed: no conclusion, so no verdict.
    pub failed: usize,
    /// Files that could not be used.
    pub unusable: usize,
    /// The comparable cases by what they have in common.
    pub breakdown: Breakdown,
}

impl Tally {
    /// Counts one case.
    pub fn add(&mut self, row: &Row) {
        if row.leak.is_some() {
            self.leaking += 1;
            return;
        }
        let level = index(row.level);
        self.levels[level] += 1;
        if row.level != MatchLevel::HumanConclusionUnclear {
            let route = row.entry_mode.map_or("", Vocabulary::as_str);
            self.breakdown.add(&row.groups, row.level, &row.mismatch, route);
        }
        self.confusion[row.recorded.map_or(4, index)][level] += 1;
    }

    /// Whether the casebook records a verdict of any case.
    #[must_use]
    pub fn has_recorded(&self) -> bool {
        self.confusion[..4].iter().flatten().any(|count| *count > 0)
    }

    /// Cases compared.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.levels.iter().sum::<usize>() + self.leaking
    }

    /// Cases with this verdict.
    #[must_use]
    pub fn count(&self, level: MatchLevel) -> usize {
        self.levels[index(level)]
    }

    /// Cases in which the engineers named a cause: those that agreement is a share of.
    #[must_use]
    pub fn comparable(&self) -> usize {
        self.levels.iter().sum::<usize>() - self.count(MatchLevel::HumanConclusionUnclear)
    }

    /// The 95 % interval of the share of comparable cases that have this verdict; none without comparable cases.
    #[must_use]
    pub fn interval(&self, level: MatchLevel) -> Option<Interval> {
        wilson95(self.count(level), self.comparable())
    }
}

fn index(level: MatchLevel) -> usize {
    MatchLevel::ALL.iter().position(|other| *other == level).expect("ALL has every level")
}
