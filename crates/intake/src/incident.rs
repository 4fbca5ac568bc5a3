//! From a ticket to a case: the human half, and what a skill may see.

use std::sync::LazyLock;

use hindcast_atlas::{Atlas, Subject};
use hindcast_case::{AnalysisWindow, Case, Link, Worded};
use hindcast_text::{TextReader, bottleneck};
use regex::Regex;

use crate::address::{Site, read_dashboard};
use crate::as_of::{CutOff, View, cut_off, view};
use crate::conclusion::{Concluded, Said, conclude};
use crate::markup::Document;
use crate::people::Cast;
use crate::phrase::stated_windows;
use crate::redact::{Names, Naming, Redactor};
use crate::settings::Settings;
use crate::speech::Speech;
use crate::stamp::Stamp;
use crate::ticket::{Doubt, DoubtKind, Person, Ticket};
use crate::time_window::{Written, choose};

/// Cluster ids have 15 to 20 digits; in a text only one that is called so counts.
static CLUSTER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?i)(?:cluster[ _-]?id|集群\s*(?:id|编号)?|clusters?)\s*(?:is|是|为)?\s*[:：=/]?\s*(\d{15,20})\b";
    Regex::new(&hindcast_text::ascii_boundaries(pattern)).expect("the tests compile the pattern")
});

/// Makes cases of tickets.
#[derive(Debug)]
pub struct Intake<'a> {
    atlas: &'a Atlas,
    texts: &'a TextReader,
    settings: &'a Settings,
    names: Names,
    naming: Naming,
}

/// A ticket as a case.
#[derive(Debug, Clone)]
pub struct Incident {
    /// The case: the human half, and `replay_inputs`. The skill's half is empty.
    pub case: Case,
    /// From when on nothing is shown to a skill.
    pub cut_off: CutOff,
    /// What was not sure.
    pub doubts: Vec<Doubt>,
}

impl<'a> Intake<'a> {
    /// An intake that knows the words of an atlas.
    #[must_use]
    pub fn new(atlas: &'a Atlas, texts: &'a TextReader, settings: &'a Settings, naming: Naming) -> Self {
        Self { atlas, texts, settings, names: Names::new(&settings.names), naming }
    }

    /// Makes the case of a ticket; `as_of` is the cut-off, where the user gives one.
    #[must_use]
    pub fn incident(&self, ticket: &Ticket, as_of: Option<Stamp>) -> Incident {
        let cast = Cast::new(ticket, self.settings);
        let read = |document: &Document| Speech::read(self.atlas, self.texts, document);
        let said: Vec<Said<'_>> = ticket
            .comments
            .iter()
            .enumerate()
            .map(|(index, comment)| {
                let role = cast.author_role(comment);
                let speech = if role == crate::Role::Bot { Speech::default() } else { read(&comment.body) };
                Said { number: index + 1, comment, role, speech }
            })
            .collect();
        let field = &ticket.conclusion.text;
        let concluded = conclude(self.atlas, &said, field, &read(&ticket.conclusion));
        let cut_off = cut_off(ticket, &said, &cast, as_of, read);
        let view = view(ticket, &said, &cut_off);
        let mut doubts = ticket.doubts.clone();
        let mut doubt = |kind, message: String| doubts.push(Doubt { kind, message });
        let mut case = Case { incident_id: ticket.key.clone(), source: Some(ticket.source), ..Case::default() };
        let incident = &mut case.canonical_incident;
        view.title.text.clone_into(&mut incident.title);
        view.description.text.clone_into(&mut incident.description_text);
        let texts = written(ticket, &view);
        (incident.clinic_links, incident.grafana_links) = links(&texts);
        let window = choose(&ticket.window, &texts, ticket.created, self.settings);
        incident.time_window = window.window;
        let cluster = cluster(&ticket.cluster_id, &texts, &mut doubt);
        incident.cluster_id = cluster;
        let name = |person: &Option<Person>| person.as_ref().map(|person| person.name.clone()).unwrap_or_default();
        incident.l2_assignee = name(&ticket.l2);
        incident.assignee_or_l3 = name(if ticket.l3.is_some() { &ticket.l3 } else { &ticket.assignee });
        case.initial_symptom = symptom(ticket, &view);
        let mut notes = vec![format!("Cut-off: {}.", told(&cut_off)), window.explanation];
        notes.retain(|note| !note.is_empty());
        case.replay_inputs.notes = notes.join(" ");
        let line = |part: &crate::as_of::Part| format!("{}: {}", part.name, part.reason);
        case.replay_inputs.used_fields = view.used.iter().map(line).collect();
        case.replay_inputs.excluded_fields = view.excluded.iter().map(line).collect();
        let human = &mut case.final_human_conclusion;
        human.status = concluded.status;
        human.owner_final_comment.clone_from(&concluded.text);
        human.evidence_references = references(ticket, &concluded);
        human.analysis_windows = self.windows(&concluded, ticket);
        for (kind, message) in window.doubts.into_iter().chain(view.doubts) {
            doubt(kind, message);
        }
        doubts.extend(concluded.doubts);
        let mut redactor = Redactor::new(&self.names, self.naming);
        redactor.case(&mut case);
        let incident = &mut case.canonical_incident;
        // People who had to fill a field in wrote "-".
        for text in [
            &mut incident.title,
            &mut incident.description_text,
            &mut incident.l2_assignee,
            &mut incident.assignee_or_l3,
            &mut case.initial_symptom,
            &mut case.final_human_conclusion.owner_final_comment,
        ] {
            if hindcast_case::is_placeholder(text) {
                text.clear();
            }
        }
        for doubt in &mut doubts {
            doubt.message = redactor.text(&doubt.message);
        }
        Incident { case, cut_off, doubts }
    }

    /// Windows that the conclusion tells apart, each with what it says of it.
    fn windows(&self, concluded: &Concluded<'_>, ticket: &Ticket) -> Vec<AnalysisWindow> {
        let Some(said) = concluded.from.last().filter(|_| concluded.from.len() == 1) else { return Vec::new() };
        let prose = said.comment.body.prose();
        let stated = stated_windows(&prose, said.comment.created);
        let zone = ticket.created.map(Stamp::offset).or(self.settings.zone);
        let mut windows: Vec<AnalysisWindow> = Vec::new();
        for (index, window) in stated.iter().enumerate() {
            // What follows a window up to the next one, or up to where its line ends, is said of it.
            let line_start = prose[..window.span.start].rfind(['\n', '。', ';', '；']).map_or(0, |at| at + 1);
            let line_start = prose.ceil_char_boundary(line_start);
            let from = index.checked_sub(1).map_or(line_start, |before| line_start.max(stated[before].span.end));
            let until = stated.get(index + 1).map_or(prose.len(), |next| next.span.start);
            let end =
                prose[window.span.end..until].find(['\n', '。', ';', '；']).map_or(until, |at| window.span.end + at);
            let summary = prose[from..end]
                .trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | '-' | '*'))
                .to_owned();
            let moment = |civil| match window.zone.or(zone) {
                Some(offset) => Stamp::local(civil, offset).map(Stamp::moment).unwrap_or_default(),
                None => hindcast_case::Moment::Local(civil),
            };
            let claims = self.texts.claims(self.atlas, &summary);
            let chosen = bottleneck(self.atlas, &claims, None).map(|claim| claim.subject);
            let mechanism = match chosen {
                Some(Subject::Mechanism(ix)) => Some(&self.atlas[ix]),
                _ => None,
            };
            windows.push(AnalysisWindow {
                label: format!("window-{}", index + 1),
                start_time: moment(window.start),
                end_time: moment(window.end),
                inferred_path: mechanism.map(|found| Worded::Known(found.path)).unwrap_or_default(),
                inferred_bottleneck: mechanism.map(|found| found.id.clone()).unwrap_or_default(),
                summary,
                ..AnalysisWindow::default()
            });
        }
        // One window is the incident's own.
        if windows.len() < 2 { Vec::new() } else { windows }
    }
}

fn told(cut_off: &CutOff) -> String {
    match cut_off.at {
        Some(at) => format!("{at}, {}", cut_off.reason),
        None => cut_off.reason.clone(),
    }
}

/// The texts of the view, with their times, in the order of the ticket.
fn written<'a>(ticket: &Ticket, view: &View<'a>) -> Vec<Written<'a>> {
    let opened = ticket.created;
    let mut texts = vec![
        Written { place: "the title", at: opened, document: view.title },
        Written { place: "the description", at: opened, document: view.description },
    ];
    let comments = view.known.iter().map(|said| Written {
        place: "a comment",
        at: said.comment.created,
        document: &said.comment.body,
    });
    texts.extend(comments);
    texts
}

fn links(texts: &[Written<'_>]) -> (Vec<Link>, Vec<Link>) {
    let (mut clinic, mut grafana) = (Vec::new(), Vec::new());
    for anchor in texts.iter().flat_map(|text| &text.document.anchors) {
        let list = match read_dashboard(&anchor.target).map(|dashboard| dashboard.site) {
            Some(Site::Clinic) => &mut clinic,
            Some(Site::ClinicGrafana | Site::Grafana) => &mut grafana,
            None => continue,
        };
        let link = Link(anchor.target.clone());
        if !list.contains(&link) {
            list.push(link);
        }
    }
    (clinic, grafana)
}

fn cluster(field: &str, texts: &[Written<'_>], doubt: &mut impl FnMut(DoubtKind, String)) -> String {
    let mut found: Vec<String> = Vec::new();
    let mut add = |id: &str| {
        if !id.is_empty() && !found.iter().any(|known| known == id) {
            found.push(id.to_owned());
        }
    };
    add(field.trim());
    for text in texts {
        for anchor in &text.document.anchors {
            add(&read_dashboard(&anchor.target).and_then(|dashboard| dashboard.cluster_id).unwrap_or_default());
        }
        for named in CLUSTER.captures_iter(&text.document.text) {
            add(&named[1]);
        }
    }
    if found.len() > 1 {
        doubt(DoubtKind::ClustersDiffer, format!("{} was taken; {} is named too", found[0], found[1..].join(", ")));
    }
    found.into_iter().next().unwrap_or_default()
}

/// Title, description as first written, and what the reporter added before the cut-off.
fn symptom(ticket: &Ticket, view: &View<'_>) -> String {
    let mut parts = vec![ticket.title.first.text.clone(), ticket.description.first.text.clone()];
    for said in &view.told {
        parts.push(said.comment.body.text.clone());
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}

/// What the conclusion points to: its links, the pictures in it, and the ticket itself.
fn references(ticket: &Ticket, concluded: &Concluded<'_>) -> Vec<String> {
    let mut references: Vec<String> = Vec::new();
    let documents = concluded.from.iter().map(|said| &said.comment.body).chain([&ticket.conclusion]);
    let of = documents.flat_map(|document| {
        document.anchors.iter().map(|anchor| anchor.target.clone()).chain(document.media.iter().cloned())
    });
    for reference in of.chain([ticket.address.clone()]) {
        if !reference.is_empty() && !references.contains(&reference) {
            references.push(reference);
        }
    }
    references
}
