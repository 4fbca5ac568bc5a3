//! The verdicts of a run by what the cases have in common.

use std::collections::BTreeMap;

use hindcast_case::{Case, MatchLevel, MismatchType, SkillConclusion, TimeWindow, Vocabulary};

/// What cases are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// The engineers' bottleneck.
    Mechanism,
    /// The entry mode of the engineers' bottleneck.
    EntryMode,
    /// Where the ticket comes from.
    Source,
    /// The language of what the skill was shown.
    Language,
    /// The month of the incident.
    Month,
    /// How sure the skill says that it is: what of that is right tells whether to trust it.
    Certainty,
}

impl Axis {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Mechanism, Self::EntryMode, Self::Source, Self::Language, Self::Month, Self::Certainty];

    /// Its name in `run.json`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mechanism => "mechanism",
            Self::EntryMode => "entry_mode",
            Self::Source => "source",
            Self::Language => "language",
            Self::Month => "month",
            Self::Certainty => "certainty",
        }
    }

    /// What a person reads.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Mechanism => "the engineers' bottleneck",
            Self::EntryMode => "the entry mode of the engineers' bottleneck",
            Self::Source => "source",
            Self::Language => "language of the ticket",
            Self::Month => "month of the incident",
            Self::Certainty => "how sure the skill says that it is",
        }
    }
}

/// In which groups a case is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    /// Its value on each axis; empty where it has none.
    pub values: BTreeMap<Axis, String>,
}

impl Groups {
    /// The groups of a case; `mechanism` and `entry_mode` are the engineers'.
    #[must_use]
    pub fn of(case: &Case, mechanism: &str, entry_mode: &str) -> Self {
        let values = [
            (Axis::Mechanism, mechanism.to_owned()),
            (Axis::EntryMode, entry_mode.to_owned()),
            (Axis::Source, case.source.map_or(String::new(), |source| source.as_str().to_owned())),
            (Axis::Language, language(&case.initial_symptom).to_owned()),
            (Axis::Month, month(&case.canonical_incident.time_window)),
            (Axis::Certainty, certainty(&case.skill_conclusion).to_owned()),
        ];
        Self { values: values.into() }
    }
}

/// What a skill's conclusion says of its own certainty.
fn certainty(skill: &SkillConclusion) -> &'static str {
    match (skill.earliest_proven_bottleneck.trim(), skill.uncertainty_statement.trim()) {
        ("", _) => "names no bottleneck",
        (_, "") => "names one without a doubt",
        _ => "names one with doubts",
    }
}

/// A language by its letters: a ticket with a tenth of Chinese characters is read as Chinese.
fn language(text: &str) -> &'static str {
    let is_chinese = |c: &char| ('\u{4e00}'..='\u{9fff}').contains(c);
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let chinese = text.chars().filter(is_chinese).count();
    match (letters, chinese) {
        (0, _) => "",
        (_, 0) => "en",
        (letters, chinese) if chinese * 10 >= letters => "zh",
        _ => "en",
    }
}

/// `2026-01`, in the zone that the window is written in.
fn month(window: &TimeWindow) -> String {
    match window {
        TimeWindow::Between(start, _) => start.to_string().chars().take(7).collect(),
        TimeWindow::Empty | TimeWindow::Text(_) => String::new(),
    }
}

/// Counts by group. Groups are few: mechanisms of an atlas, months.
#[derive(Debug, Clone, Default)]
pub struct Breakdown {
    /// Verdicts by axis and group, in the order of [`MatchLevel::ALL`].
    pub groups: BTreeMap<Axis, BTreeMap<String, [usize; 4]>>,
    /// How often each kind of mismatch occurs.
    pub mismatches: BTreeMap<MismatchType, usize>,
    /// The skill's entry mode against the engineers': `(theirs, the skill's)`.
    pub routes: BTreeMap<(String, String), usize>,
}

/// Groups of one axis at most; strangers' words become "others" beyond.
const MAX_GROUPS: usize = 500;

impl Breakdown {
    pub(crate) fn add(&mut self, groups: &Groups, level: MatchLevel, mismatches: &[MismatchType], route: &str) {
        let index = MatchLevel::ALL.iter().position(|other| *other == level).expect("ALL has every level");
        for (axis, value) in groups.values.iter().filter(|(_, value)| !value.is_empty()) {
            let counts = self.groups.entry(*axis).or_default();
            let is_full = counts.len() >= MAX_GROUPS && !counts.contains_key(value);
            let value = if is_full { "others".to_owned() } else { value.clone() };
            counts.entry(value).or_default()[index] += 1;
        }
        for kind in mismatches {
            *self.mismatches.entry(*kind).or_default() += 1;
        }
        if let Some(theirs) = groups.values.get(&Axis::EntryMode).filter(|theirs| !theirs.is_empty()) {
            *self.routes.entry((theirs.clone(), route.to_owned())).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_their_letters() {
        for (text, expected) in [
            ("写入延迟升高 p99 append log", "zh"),
            ("latency of store 3", "en"),
            ("slow 慢 but mostly English words in here", "en"),
            ("12:00", ""),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
        assert_eq!(month(&TimeWindow::parse("2026-01-06T14:00:00+08:00/2026-01-06T15:00:00+08:00")), "2026-01");
    }
}
