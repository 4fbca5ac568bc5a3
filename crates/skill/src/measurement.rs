//! Measurements that a ticket reports in words: "apply wait rises to 5 s".

use hindcast_atlas::{Atlas, MechanismIx, Stage, Subject};
use hindcast_case::Span;
use hindcast_text::{ClaimRole, Reading};

/// A stage with a duration that the text gives for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The slow stage.
    pub mechanism: MechanismIx,
    /// The duration, in seconds.
    pub seconds: f64,
    /// The words, from the stage to the value.
    pub span: Span,
}

/// A stage that takes this long is slow by any baseline: TiKV's own alert rules fire at one second for append log, apply
/// log and async write (tikv.rules.yml).
const SLOW_SECONDS: f64 = 1.0;

/// A stage that takes at most this long is healthy: append log's reference value (docs/domain.md §3).
const FAST_SECONDS: f64 = 0.05;

/// How far behind the stage its value may stand, in bytes: "duration rises from 2 ms to".
const REACH: usize = 40;

impl Measurement {
    /// The measurement as evidence: what it shows, and the words that say so.
    #[must_use]
    pub(crate) fn cite(&self, atlas: &Atlas, text: &str) -> String {
        let words = text.get(self.span.start..self.span.end).unwrap_or_default();
        let judged = if self.is_slow() { "slow" } else { "not slow" };
        format!("{}: \"{words}\" ({judged}, as the ticket reports it)", atlas[self.mechanism].id)
    }

    pub(crate) fn is_fast(&self) -> bool {
        self.seconds <= FAST_SECONDS
    }

    fn is_slow(&self) -> bool {
        self.seconds >= SLOW_SECONDS
    }
}

/// Durations that the text gives for stages of the read and write path.
pub(crate) fn measurements(atlas: &Atlas, text: &str, reading: &Reading) -> Vec<Measurement> {
    let mentions = &reading.scan.mentions;
    let mut found: Vec<Measurement> = Vec::new();
    for (at, mention) in mentions.iter().enumerate() {
        let Subject::Mechanism(mechanism) = mention.subject else { continue };
        let denied = reading.claims.claims.iter().any(|c| c.span == mention.span && c.role == ClaimRole::RuledOut);
        let clause_end = reading.scan.clauses[mention.clause].span.end;
        let next = mentions.get(at + 1).map_or(usize::MAX, |next| next.span.start);
        let end = clause_end.min(next).min(mention.span.end.saturating_add(REACH));
        let end = (mention.span.end..=end.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let tail = end.and_then(|end| text.get(mention.span.end..end)).unwrap_or_default();
        if denied || !is_stage(atlas[mechanism].stage) {
            continue;
        }
        if let Some((seconds, length)) = last_duration(tail) {
            let span = Span::new(mention.span.start, mention.span.end + length);
            found.push(Measurement { mechanism, seconds, span });
        }
    }
    found.dedup_by_key(|measurement| (measurement.mechanism, measurement.span));
    found
}

/// The slow stage with no other slow stage upstream of it.
pub(crate) fn earliest(atlas: &Atlas, measured: &[Measurement]) -> Option<MechanismIx> {
    let slow: Vec<MechanismIx> = measured.iter().filter(|m| m.is_slow()).map(|m| m.mechanism).collect();
    let upstream = |ix: MechanismIx| slow.iter().any(|other| atlas.distance(*other, ix).is_some_and(|edges| edges > 0));
    slow.iter().copied().find(|ix| !upstream(*ix))
}

/// Stages whose duration the metrics measure.
fn is_stage(stage: Stage) -> bool {
    matches!(
        stage,
        Stage::AppendLog
            | Stage::CommitLog
            | Stage::ApplyWait
            | Stage::ApplyLog
            | Stage::ProposeWait
            | Stage::KvWrite
            | Stage::RaftProcess
            | Stage::SchedulerLatch
            | Stage::SchedulerThrottle
            | Stage::ReadPoolQueue
            | Stage::GetSnapshot
            | Stage::CopHandle
            | Stage::Tso
    )
}

/// Units, longest first, in seconds.
const UNITS: [(&str, f64); 12] = [
    ("milliseconds", 0.001),
    ("seconds", 1.0),
    ("minutes", 60.0),
    ("second", 1.0),
    ("minute", 60.0),
    ("毫秒", 0.001),
    ("分钟", 60.0),
    ("min", 60.0),
    ("ms", 0.001),
    ("us", 0.000_001),
    ("秒", 1.0),
    ("s", 1.0),
];

/// The last duration in a text, in seconds, and where it ends: "from 2 ms to 5 s" is five seconds.
fn last_duration(text: &str) -> Option<(f64, usize)> {
    let mut last = None;
    let mut at = 0;
    while let Some(offset) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + offset;
        let length = text[start..].bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let rest = &text[start + length..];
        let gap = rest.len() - rest.trim_start().len();
        let unit = UNITS.iter().find(|(unit, _)| {
            let body = rest.trim_start();
            body.starts_with(unit) && !body[unit.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
        });
        at = start + length;
        if let (Some((unit, scale)), Ok(number)) = (unit, text[start..at].trim_end_matches('.').parse::<f64>()) {
            at += gap + unit.len();
            last = Some((number * scale, at));
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_units() {
        assert_eq!(last_duration(" rises from 2 ms to 5 s"), Some((5.0, 23)));
        assert_eq!(last_duration(" 28.1 s with"), Some((28.1, 7)));
        assert_eq!(last_duration("高达3秒"), Some((3.0, "高达3秒".len())));
        assert_eq!(last_duration(" at 13:47 on store 5"), None);
    }
}
