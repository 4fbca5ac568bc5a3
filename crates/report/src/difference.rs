//! Two runs, case by case.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hindcast_case::{MatchLevel, Vocabulary};
use hindcast_verdict::{Interval, mcnemar_exact, paired_difference95};
use serde_json::{Value, json};

use crate::stored::{StoredRow, StoredRun};

/// What changed from one run to another. Cases are paired by incident id, by their first repeats; only those that are
/// comparable in both count.
#[derive(Debug)]
pub struct Difference<'a> {
    /// Pairs that are comparable in both.
    pub paired: usize,
    /// Of them, matched in the first.
    pub matched_before: usize,
    /// Of them, matched in the second.
    pub matched_after: usize,
    /// Cases whose verdict changed, by id.
    pub flips: Vec<Flip<'a>>,
    /// Cases that only one of the runs can compare: ids by what is missing.
    pub only_before: Vec<&'a str>,
    /// The same for the second.
    pub only_after: Vec<&'a str>,
}

/// A case whose verdict changed.
#[derive(Debug)]
pub struct Flip<'a> {
    /// In the first run.
    pub before: &'a StoredRow,
    /// In the second.
    pub after: &'a StoredRow,
    /// The two verdicts.
    pub levels: (MatchLevel, MatchLevel),
}

impl Flip<'_> {
    /// Whether it came to match: yes, no, or neither.
    #[must_use]
    pub fn gained(&self) -> Option<bool> {
        match (self.levels.0 == MatchLevel::Matched, self.levels.1 == MatchLevel::Matched) {
            (false, true) => Some(true),
            (true, false) => Some(false),
            _ => None,
        }
    }
}

impl<'a> Difference<'a> {
    /// Compares two runs.
    #[must_use]
    pub fn between(before: &'a StoredRun, after: &'a StoredRun) -> Self {
        let rows = |run: &'a StoredRun| -> BTreeMap<&'a str, (&'a StoredRow, MatchLevel)> {
            let comparable = run.cases().filter_map(|row| Some((row.incident_id.as_str(), (row, row.comparable()?))));
            comparable.collect()
        };
        let (first, second) = (rows(before), rows(after));
        let mut difference = Self {
            paired: 0,
            matched_before: 0,
            matched_after: 0,
            flips: Vec::new(),
            only_before: first.keys().filter(|id| !second.contains_key(*id)).copied().collect(),
            only_after: second.keys().filter(|id| !first.contains_key(*id)).copied().collect(),
        };
        for (id, (row, level)) in &first {
            let Some((other, later)) = second.get(id) else { continue };
            difference.paired += 1;
            difference.matched_before += usize::from(*level == MatchLevel::Matched);
            difference.matched_after += usize::from(*later == MatchLevel::Matched);
            if level != later {
                difference.flips.push(Flip { before: row, after: other, levels: (*level, *later) });
            }
        }
        difference
    }

    /// Cases that came to match, and cases that no longer do.
    #[must_use]
    pub fn gained_lost(&self) -> (usize, usize) {
        let count = |wanted| self.flips.iter().filter(|flip| flip.gained() == Some(wanted)).count();
        (count(true), count(false))
    }

    /// How likely a difference like this is by chance (McNemar, exact, two-sided).
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let (gained, lost) = self.gained_lost();
        mcnemar_exact(gained, lost)
    }

    /// The 95 % interval of the difference in agreement; none without pairs.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        let (gained, lost) = self.gained_lost();
        paired_difference95(gained, lost, self.paired)
    }

    /// Gained and lost by the engineers' bottleneck.
    #[must_use]
    pub fn by_mechanism(&self) -> BTreeMap<&'a str, (usize, usize)> {
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for flip in &self.flips {
            if let Some(gained) = flip.gained() {
                let count = counts.entry(flip.after.human_bottleneck.as_str()).or_default();
                *(if gained { &mut count.0 } else { &mut count.1 }) += 1;
            }
        }
        counts
    }

    /// For machines.
    #[must_use]
    pub fn json(&self) -> Value {
        let (gained, lost) = self.gained_lost();
        let flips: Vec<Value> = self
            .flips
            .iter()
            .map(|flip| {
                json!({
                    "incident_id": flip.after.incident_id,
                    "before": side(flip.before, flip.levels.0),
                    "after": side(flip.after, flip.levels.1),
                    "human_bottleneck": flip.after.human_bottleneck,
                })
            })
            .collect();
        let by_mechanism: serde_json::Map<String, Value> = self
            .by_mechanism()
            .into_iter()
            .map(|(name, (gained, lost))| (name.to_owned(), json!({"gained": gained, "lost": lost})))
            .collect();
        json!({
            "paired": self.paired,
            "matched_before": self.matched_before,
            "matched_after": self.matched_after,
            "gained": gained,
            "lost": lost,
            "mcnemar_p": self.p_value(),
            "difference95": self.interval().map(|interval| [interval.low, interval.high]),
            "flips": flips,
            "by_mechanism": by_mechanism,
            "only_before": self.only_before,
            "only_after": self.only_after,
        })
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let (gained, lost) = self.gained_lost();
        let mut line = |told: String| writeln!(text, "{told}").expect("writing to a string does not fail");
        if self.paired == 0 {
            line("no case is comparable in both runs".to_owned());
        } else {
            line(format!(
                "matched: {} of {} before, {} after ({gained} gained, {lost} lost)",
                self.matched_before, self.paired, self.matched_after
            ));
            if let Some(interval) = self.interval() {
                line(format!(
                    "difference in agreement: {:+.1} points (95 % interval {:+.1} to {:+.1}); by chance with p = {:.3} (McNemar, exact)",
                    percent(gained, self.paired) - percent(lost, self.paired),
                    100.0 * interval.low,
                    100.0 * interval.high,
                    self.p_value(),
                ));
            }
        }
        for (title, wanted) in [("gained", Some(true)), ("lost", Some(false)), ("changed otherwise", None)] {
            let flips: Vec<&Flip<'_>> = self.flips.iter().filter(|flip| flip.gained() == wanted).collect();
            if flips.is_empty() {
                continue;
            }
            line(format!("\n{title}: {}", flips.len()));
            for flip in flips {
                line(format!(
                    "  {:<14} {} -> {}: {} -> {} (engineers: {})",
                    flip.after.incident_id,
                    flip.levels.0,
                    flip.levels.1,
                    or_dash(&flip.before.skill_bottleneck),
                    or_dash(&flip.after.skill_bottleneck),
                    or_dash(&flip.after.human_bottleneck),
                ));
                let (was, is) = (flip.before.mismatch_type.join(" "), flip.after.mismatch_type.join(" "));
                if was != is {
                    line(format!("  {:<14} differs in: {} -> {}", "", or_dash(&was), or_dash(&is)));
                }
            }
        }
        let by_mechanism = self.by_mechanism();
        if !by_mechanism.is_empty() {
            line("\nby the engineers' bottleneck".to_owned());
            for (name, (gained, lost)) in by_mechanism {
                line(format!("  {:<32} +{gained} -{lost}", or_dash(name)));
            }
        }
        for (ids, what) in [(&self.only_before, "first"), (&self.only_after, "second")] {
            if !ids.is_empty() {
                line(format!("\ncomparable only in the {what} run, so not counted: {}", shown(ids)));
            }
        }
        text
    }
}

fn side(row: &StoredRow, level: MatchLevel) -> Value {
    json!({
        "match_level": level.as_str(),
        "skill_bottleneck": row.skill_bottleneck,
        "entry_mode": row.entry_mode,
        "mismatch_type": row.mismatch_type,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of as f64
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

/// A list as a person reads it: the first ten.
fn shown(ids: &[&str]) -> String {
    let more = ids.len().saturating_sub(10);
    let listed = ids.iter().take(10).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}
