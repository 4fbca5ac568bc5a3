//! The windows of both sides on one axis.

use hindcast_case::{Case, Moment, TimeWindow};
use hindcast_verdict::windows_in;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde_json::{Value, json};

/// A stretch of time that a side speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) side: Side,
    pub(crate) label: String,
    /// Seconds since 1970 of the clock on the wall, in the zone of the axis.
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) text: String,
}

/// Whose stretch it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Incident,
    Engineers,
    Skill,
}

/// All stretches of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Timeline {
    pub(crate) stretches: Vec<Stretch>,
    /// The zone of the axis, as `+08:00`; empty where the case names none.
    pub(crate) zone: String,
}

impl Timeline {
    pub(crate) fn of(case: &Case) -> Self {
        let windows = &case.final_human_conclusion.analysis_windows;
        let whole = match &case.canonical_incident.time_window {
            TimeWindow::Between(start, end) => Some((start, end)),
            _ => None,
        };
        let moments = whole.into_iter().flat_map(|(start, end)| [start, end]);
        let moments = moments.chain(windows.iter().flat_map(|window| [&window.start_time, &window.end_time]));
        // The first zone that is named counts for all: one axis has one clock.
        let zone = moments.clone().find_map(|moment| match moment {
            Moment::Zoned(_, offset) => Some(*offset),
            _ => None,
        });
        let mut stretches = Vec::new();
        if let Some((start, end)) = whole {
            stretches.extend(stretch(Side::Incident, "", start, end, zone, ""));
        }
        for window in windows {
            let (start, end) = (&window.start_time, &window.end_time);
            stretches.extend(stretch(Side::Engineers, &window.label, start, end, zone, &window.summary));
        }
        let day = stretches.iter().map(|one| one.from.div_euclid(DAY) * DAY).min();
        stretches.extend(of_skill(case, &stretches, day));
        Self { stretches, zone: zone.map(zone_name).unwrap_or_default() }
    }

    /// As the page's script takes it.
    pub(crate) fn json(&self) -> Value {
        let stretches = self.stretches.iter().map(|one| {
            json!({"side": one.side.as_str(), "label": one.label, "from": one.from, "to": one.to, "text": one.text})
        });
        json!({"zone": self.zone, "stretches": stretches.collect::<Vec<_>>()})
    }
}

impl Side {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Incident => "incident",
            Self::Engineers => "engineers",
            Self::Skill => "skill",
        }
    }
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// What the skill says of times: by the label of an engineers' window, or by the time of day, on the incident's first day.
fn of_skill(case: &Case, theirs: &[Stretch], day: Option<i64>) -> Vec<Stretch> {
    let skill = &case.skill_conclusion;
    let texts = std::iter::once(&skill.provisional_conclusion).chain(&skill.key_evidence);
    let mut found: Vec<Stretch> = Vec::new();
    for window in texts.flat_map(|text| windows_in(text)) {
        let label = window.label.clone().unwrap_or_default();
        let same = |one: &&Stretch| one.side == Side::Engineers && !label.is_empty() && one.label == label;
        let times = match (window.times, day, theirs.iter().find(same)) {
            (_, _, Some(one)) => Some((one.from, one.to)),
            (Some((start, end)), Some(day), _) => {
                // What ends before it began goes over midnight.
                let end = if end < start { end + DAY } else { end };
                Some((day + start, day + end))
            }
            _ => None,
        };
        if let Some((from, to)) = times {
            let one = Stretch { side: Side::Skill, label, from, to, text: window.text.trim().to_owned() };
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    found
}

fn stretch(side: Side, label: &str, start: &Moment, end: &Moment, zone: Option<Offset>, text: &str) -> Option<Stretch> {
    let (from, to) = (on_the_wall(start, zone)?, on_the_wall(end, zone)?);
    let (label, text) = (label.to_owned(), text.to_owned());
    Some(Stretch { side, label, from: from.min(to), to: from.max(to), text })
}

/// What a clock in that zone shows, as seconds since 1970.
fn on_the_wall(moment: &Moment, zone: Option<Offset>) -> Option<i64> {
    let seconds = |at: DateTime| Offset::UTC.to_timestamp(at).ok().map(jiff::Timestamp::as_second);
    match moment {
        Moment::Zoned(at, offset) => {
            let shift = zone.map_or(0, |zone| i64::from(zone.seconds() - offset.seconds()));
            Some(seconds(*at)? + shift)
        }
        Moment::Local(at) => seconds(*at),
        Moment::Empty | Moment::Text(_) => None,
    }
}

fn zone_name(zone: Offset) -> String {
    let seconds = zone.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", seconds.abs() / 3600, seconds.abs() / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(json: &str) -> Case {
        hindcast_case::read(json.as_bytes()).value.expect("a case")
    }

    #[test]
    fn both_sides_stand_on_one_clock() {
        let case = case(
            r#"{"incident_id": "GTOC-1",
            "canonical_incident": {"time_window": "2026-01-08T10:00:00+08:00/2026-01-08T12:00:00+08:00"},
            "skill_conclusion": {"provisional_conclusion": "10:05-10:20 the disk was slow. In window-2 the CPU was busy."},
            "final_human_conclusion": {"analysis_windows": [
              {"label": "window-1", "start_time": "2026-01-08T02:00:00Z", "end_time": "2026-01-08T02:30:00Z", "summary": "disk"},
              {"label": "window-2", "start_time": "2026-01-08 11:00:00", "end_time": "2026-01-08 11:30:00", "summary": "cpu"}]}}"#,
        );
        let timeline = Timeline::of(&case);
        assert_eq!(timeline.zone, "+08:00");
        let ten: i64 = "2026-01-08T10:00:00Z".parse::<jiff::Timestamp>().expect("a time").as_second();
        let told: Vec<(&str, &str, i64, i64)> = timeline
            .stretches
            .iter()
            .map(|one| (one.side.as_str(), one.label.as_str(), (one.from - ten) / 60, (one.to - ten) / 60))
            .collect();
        assert_eq!(
            told,
            [
                ("incident", "", 0, 120),
                ("engineers", "window-1", 0, 30),
                ("engineers", "window-2", 60, 90),
                ("skill", "", 5, 20),
                ("skill", "window-2", 60, 90)
            ]
        );
    }

    #[test]
    fn a_case_without_times_has_no_timeline() {
        assert_eq!(Timeline::of(&case(r#"{"incident_id": "GTOC-1"}"#)), Timeline::default());
    }
}
