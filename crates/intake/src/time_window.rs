//! When the incident was: what links, texts and fields say of it, reconciled.

use hindcast_case::TimeWindow;
use jiff::Timestamp;
use jiff::tz::Offset;

use crate::address::{Edge, Site, read_dashboard};
use crate::markup::Document;
use crate::phrase::{Day, stated_windows};
use crate::settings::Settings;
use crate::stamp::{Stamp, offset_text};
use crate::ticket::DoubtKind;

/// A text of the ticket with where it stands and when it was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) place: &'a str,
    pub(crate) at: Option<Stamp>,
    pub(crate) document: &'a Document,
}

/// A window that something in the ticket gives.
#[derive(Debug, Clone)]
struct Candidate {
    start: Timestamp,
    end: Timestamp,
    origin: Origin,
    /// "Clinic link in the description".
    name: String,
}

/// Where a window comes from, the most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Field,
    /// Stated with its zone.
    Stated,
    Clinic,
    Grafana,
    /// Stated without a zone: one was assumed.
    StatedInZone,
    /// Relative to when the link was written.
    Relative,
}

/// The window of an incident, and how it was chosen.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) window: TimeWindow,
    /// How it was chosen; empty without a window.
    pub(crate) explanation: String,
    pub(crate) doubts: Vec<(DoubtKind, String)>,
}

/// Chooses the window of the incident. `field` is the ticket's own field for it.
pub(crate) fn choose(field: &str, texts: &[Written<'_>], created: Option<Stamp>, settings: &Settings) -> Chosen {
    let zone = created.map(Stamp::offset).or(settings.zone);
    let mut chosen = Chosen::default();
    let mut candidates: Vec<Candidate> = Vec::new();
    let field_text = Document::plain(field);
    let of_field = Written { place: "the ticket's field", at: created, document: &field_text };
    stated(&of_field, zone, &mut candidates, &mut chosen.doubts);
    for candidate in &mut candidates {
        candidate.origin = Origin::Field;
    }
    for text in texts {
        linked(text, &mut candidates);
        stated(text, zone, &mut candidates, &mut chosen.doubts);
    }
    let Some(best) = best(&candidates) else {
        chosen.doubts.clear();
        chosen.doubts.push((DoubtKind::NoWindow, "neither a field, a link nor a text says when it was".to_owned()));
        return chosen;
    };
    let offset = zone.unwrap_or(Offset::UTC);
    let moment = |at| Stamp::new(at, offset).moment();
    chosen.window = TimeWindow::Between(moment(best.start), moment(best.end));
    let (with, against): (Vec<&Candidate>, Vec<&Candidate>) =
        candidates.iter().filter(|other| other.name != best.name).partition(|other| overlap(&best, other));
    chosen.explanation = format!("Time window: {}", best.name);
    let names = |list: &[&Candidate]| {
        let mut names: Vec<&str> = list.iter().map(|other| other.name.as_str()).collect();
        names.dedup();
        names.join(", ")
    };
    if !with.is_empty() {
        chosen.explanation.push_str(&format!("; {} overlaps", names(&with)));
    }
    if !against.is_empty() {
        chosen.explanation.push_str(&format!("; {} is another time", names(&against)));
        chosen
            .doubts
            .push((DoubtKind::WindowsDiffer, format!("{} was taken; {} is another time", best.name, names(&against))));
    }
    chosen.explanation.push('.');
    // A doubt about the zone of a window that was not taken is none.
    if best.origin != Origin::StatedInZone {
        chosen.doubts.retain(|(kind, _)| !matches!(kind, DoubtKind::ZoneAssumed | DoubtKind::DateAssumed));
    }
    chosen
}

/// What people state is narrower than what a dashboard shows: it is taken where a dashboard confirms it. Else the most
/// trusted origin counts, and of equals the first.
fn best(candidates: &[Candidate]) -> Option<Candidate> {
    let first = candidates.iter().min_by_key(|candidate| candidate.origin)?;
    let is_stated = |candidate: &&Candidate| matches!(candidate.origin, Origin::Stated | Origin::StatedInZone);
    let confirmed = candidates.iter().filter(is_stated).find(|candidate| overlap(candidate, first));
    let chosen = match first.origin {
        Origin::Field | Origin::Stated => first,
        _ => confirmed.unwrap_or(first),
    };
    // Several spikes of one text are one incident.
    let spikes = candidates.iter().filter(|other| other.origin == chosen.origin && other.name == chosen.name);
    let whole = spikes.fold(chosen.clone(), |mut whole, spike| {
        whole.start = whole.start.min(spike.start);
        whole.end = whole.end.max(spike.end);
        whole
    });
    let is_one_day = whole.end.duration_since(whole.start).as_hours() <= 24;
    Some(if is_stated(&chosen) && is_one_day { whole } else { chosen.clone() })
}

fn overlap(one: &Candidate, other: &Candidate) -> bool {
    one.start <= other.end && other.start <= one.end
}

fn linked(text: &Written<'_>, candidates: &mut Vec<Candidate>) {
    for anchor in &text.document.anchors {
        let Some(dashboard) = read_dashboard(&anchor.target) else { continue };
        let Some((from, to)) = dashboard.range else { continue };
        let is_relative = [&from, &to].iter().any(|end| matches!(end, crate::address::RangeEnd::Relative(_)));
        let anchor_time = match text.at {
            Some(at) => at,
            // Nothing to anchor a relative range at.
            None if is_relative => continue,
            None => Stamp::new(Timestamp::UNIX_EPOCH, Offset::UTC),
        };
        let ends = (from.resolve(anchor_time, Edge::Start), to.resolve(anchor_time, Edge::End));
        let (Some(start), Some(end)) = ends else { continue };
        let origin = match dashboard.site {
            _ if is_relative => Origin::Relative,
            Site::Clinic => Origin::Clinic,
            Site::ClinicGrafana | Site::Grafana => Origin::Grafana,
        };
        let site = match dashboard.site {
            Site::Clinic => "Clinic link",
            Site::ClinicGrafana => "link to Clinic's Grafana",
            Site::Grafana => "Grafana link",
        };
        let how = if is_relative { format!(", relative to {anchor_time}") } else { String::new() };
        if start < end {
            candidates.push(Candidate { start, end, origin, name: format!("{site} in {}{how}", text.place) });
        }
    }
}

fn stated(
    text: &Written<'_>,
    zone: Option<Offset>,
    candidates: &mut Vec<Candidate>,
    doubts: &mut Vec<(DoubtKind, String)>,
) {
    let prose = text.document.prose();
    for window in stated_windows(&prose, text.at) {
        let own_zone = window.zone;
        // Never guessed: without any zone to go by, the window is not used.
        let words = &prose[window.span.start..window.span.end];
        let Some(offset) = own_zone.or(zone) else {
            doubts.push((
                DoubtKind::ZoneAssumed,
                format!("{words:?} in {} has no zone and none is known; it was not used", text.place),
            ));
            continue;
        };
        let at = |civil| offset.to_timestamp(civil).ok();
        let (Some(start), Some(end)) = (at(window.start), at(window.end)) else { continue };
        if own_zone.is_none() {
            let message = format!(
                "{words:?} in {} has no zone; read at {}, the zone of the ticket or of intake.zone",
                text.place,
                offset_text(offset)
            );
            doubts.push((DoubtKind::ZoneAssumed, message));
        }
        if window.day == Day::Assumed {
            let message = format!("{words:?} in {} has no date; taken to be {}", text.place, window.start.date());
            doubts.push((DoubtKind::DateAssumed, message));
        }
        let origin = if own_zone.is_some() { Origin::Stated } else { Origin::StatedInZone };
        candidates.push(Candidate { start, end, origin, name: format!("stated in {}", text.place) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(field: &str, texts: &[&str]) -> (String, Vec<DoubtKind>, String) {
        let created = Stamp::read("2026-01-06T18:00:00+08:00", Offset::UTC).map(|read| read.stamp);
        let documents: Vec<Document> = texts.iter().map(|text| Document::plain(text)).collect();
        let written: Vec<Written<'_>> =
            documents.iter().map(|document| Written { place: "the description", at: created, document }).collect();
        let chosen = choose(field, &written, created, &Settings::default());
        (chosen.window.to_string(), chosen.doubts.into_iter().map(|(kind, _)| kind).collect(), chosen.explanation)
    }

    const CLINIC: &str = "https://clinic.pingcap.com/portal/#/orgs/1/clusters/2?from=1767679200&to=1767682800";

    #[test]
    fn sources_are_reconciled_and_the_choice_is_explained() {
        let hour = "2026-01-06T14:00:00+08:00/2026-01-06T15:00:00+08:00";
        let (window, doubts, explanation) = chosen("", &[CLINIC]);
        assert_eq!((window.as_str(), doubts), (hour, vec![]));
        assert_eq!(explanation, "Time window: Clinic link in the description.");

        let (window, doubts, explanation) = chosen("", &[&format!("14:10~14:25 slow, {CLINIC}")]);
        assert_eq!(window, "2026-01-06T14:10:00+08:00/2026-01-06T14:25:00+08:00", "stated, and confirmed by the link");
        assert_eq!(doubts, [DoubtKind::ZoneAssumed, DoubtKind::DateAssumed]);
        assert!(explanation.contains("Clinic link in the description overlaps"), "{explanation}");

        let (window, doubts, _) = chosen("", &[&format!("03:10~03:25 slow, {CLINIC}")]);
        assert_eq!((window.as_str(), doubts), (hour, vec![DoubtKind::WindowsDiffer]), "the link knows its zone");

        let (window, doubts, _) = chosen("2026-01-05 10:00:00+08:00 ~ 2026-01-05 11:00:00+08:00", &[CLINIC]);
        assert_eq!(window, "2026-01-05T10:00:00+08:00/2026-01-05T11:00:00+08:00", "the field");
        assert_eq!(doubts, [DoubtKind::WindowsDiffer]);

        let (window, ..) = chosen("", &["first 14:10-14:12, again 14:40-14:45 (UTC+8)"]);
        assert_eq!(window, "2026-01-06T14:10:00+08:00/2026-01-06T14:45:00+08:00", "two spikes of one incident");
        assert_eq!(chosen("", &["it is slow"]).1, [DoubtKind::NoWindow]);
    }

    #[test]
    fn relative_links_are_anchored_at_their_text() {
        let (window, doubts, explanation) = chosen("", &["https://grafana.example/d/x/y?from=now-1h&to=now"]);
        assert_eq!((window.as_str(), doubts), ("2026-01-06T17:00:00+08:00/2026-01-06T18:00:00+08:00", vec![]));
        assert!(explanation.contains("relative to 2026-01-06T18:00:00+08:00"), "{explanation}");
    }
}
