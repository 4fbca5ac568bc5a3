//! The ticket as it stood when it was handed to diagnosis.

use crate::conclusion::Said;
use crate::markup::Document;
use crate::people::{Cast, Role};
use crate::speech::Speech;
use crate::stamp::Stamp;
use crate::ticket::{DoubtKind, History, Revision, Ticket};

/// The moment from which on nothing is shown to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutOff {
    /// The moment; none where the ticket has no times, and then everything that is dated or judged is left out.
    pub at: Option<Stamp>,
    /// Why this one.
    pub reason: String,
}

/// A part of the ticket that is shown or not, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// The ticket as of the cut-off.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The title as it stood.
    pub(crate) title: &'a Document,
    /// The description as it stood.
    pub(crate) description: &'a Document,
    /// Comments whose links and times may be shown: all that were written before.
    pub(crate) known: Vec<&'a Said<'a>>,
    /// Comments whose text is shown: the reporter's and the customer's among them.
    pub(crate) told: Vec<&'a Said<'a>>,
    /// What is shown.
    pub(crate) used: Vec<Part>,
    /// What is not.
    pub(crate) excluded: Vec<Part>,
    /// What could not be known.
    pub(crate) doubts: Vec<(DoubtKind, String)>,
}

/// Finds the cut-off: as told, else the first diagnosis, else the assignment to the owner, else the resolution.
pub(crate) fn cut_off(
    ticket: &Ticket,
    said: &[Said<'_>],
    cast: &Cast<'_>,
    given: Option<Stamp>,
    read: impl Fn(&Document) -> Speech,
) -> CutOff {
    if let Some(at) = given {
        return CutOff { at: Some(at), reason: "as given".to_owned() };
    }
    let diagnosis =
        said.iter().find(|one| one.role.diagnoses() && one.comment.created.is_some() && one.speech.diagnoses());
    let diagnosis = diagnosis.and_then(|one| {
        Some((one.comment.created?, format!("the first diagnosis: comment {} by {}", one.number, one.role.as_str())))
    });
    // Who diagnoses may write it into the description instead.
    let by_engineer = |revision: &&Revision<Document>| {
        revision.by.as_ref().is_some_and(|by| cast.role(by).diagnoses()) && read(&revision.value).diagnoses()
    };
    let edit_of = |later: &[Revision<Document>], what: &str| {
        let edit = later.iter().find(by_engineer)?;
        let role = edit.by.as_ref().map_or(Role::Other, |by| cast.role(by));
        Some((edit.at, format!("the first diagnosis: {} wrote it into the {what}", role.as_str())))
    };
    let edits = [edit_of(&ticket.description.later, "description"), edit_of(&ticket.title.later, "title")];
    if let Some((at, reason)) = edits.into_iter().flatten().chain(diagnosis).min_by_key(|(at, _)| *at) {
        return CutOff { at: Some(at), reason };
    }
    let to_owner = |name: &str, account: &str| {
        let owner = ticket.assignee.as_ref().is_some_and(|owner| owner.name == name || owner.account == account);
        owner || ticket.assignee.is_none()
    };
    let assigned = ticket
        .changes
        .iter()
        .find(|change| change.field == "assignee" && !change.to.is_empty() && to_owner(&change.to, &change.to_account));
    let fallbacks = [
        (assigned.map(|change| change.at), "no diagnosis was found; the assignment to the owner"),
        (ticket.resolved, "no diagnosis or assignment was found; the resolution"),
        (ticket.updated, "no diagnosis, assignment or resolution was found; the last change"),
    ];
    for (at, reason) in fallbacks {
        if let Some(at) = at {
            return CutOff { at: Some(at), reason: reason.to_owned() };
        }
    }
    let reason = match ticket.created {
        Some(_) => "the ticket has no time but that of its creation; only what it was opened with is shown",
        None => "the ticket has no times; only what it was opened with is shown",
    };
    CutOff { at: None, reason: reason.to_owned() }
}

/// The ticket as of a cut-off.
pub(crate) fn view<'a>(ticket: &'a Ticket, said: &'a [Said<'a>], cut_off: &CutOff) -> View<'a> {
    let mut view = View {
        title: cut_off.at.map_or(&ticket.title.first, |at| ticket.title.before(at)),
        description: cut_off.at.map_or(&ticket.description.first, |at| ticket.description.before(at)),
        known: Vec::new(),
        told: Vec::new(),
        used: Vec::new(),
        excluded: Vec::new(),
        doubts: Vec::new(),
    };
    view.note_texts(ticket, cut_off);
    for one in said {
        view.place_comment(one, cut_off);
    }
    view.note_fields(ticket);
    view
}

impl<'a> View<'a> {
    fn use_part(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.used.push(Part { name: name.into(), reason: reason.into() });
    }

    fn exclude(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.excluded.push(Part { name: name.into(), reason: reason.into() });
    }

    fn note_texts(&mut self, ticket: &Ticket, cut_off: &CutOff) {
        for (name, text) in [("ticket.title", &ticket.title), ("ticket.description", &ticket.description)] {
            if text.latest().is_empty() && text.first.is_empty() {
                continue;
            }
            let undone = text.later.iter().filter(|revision| cut_off.at.is_none_or(|at| revision.at >= at)).count();
            let kept = text.later.len() - undone;
            let reason = match (ticket.history, kept) {
                (History::None, _) => "as exported; earlier wordings are not known".to_owned(),
                (_, 0) => "as first written".to_owned(),
                (_, 1) => "with the one edit before the cut-off".to_owned(),
                (_, kept) => format!("with the {kept} edits before the cut-off"),
            };
            self.use_part(name, reason);
            for revision in &text.later[kept..] {
                self.exclude(format!("{name}@{}", revision.at), "edited after the cut-off; undone");
            }
        }
        if ticket.history == History::None && ticket.updated.is_some_and(|updated| Some(updated) != ticket.created) {
            let message =
                "the export has no changelog: title and description may have been edited since they were written";
            self.doubts.push((DoubtKind::HistoryMissing, message.to_owned()));
        }
    }

    fn place_comment(&mut self, one: &'a Said<'a>, cut_off: &CutOff) {
        let name = format!("ticket.comments[{}]", one.number);
        let at = cut_off.at;
        let is_before = |time: Option<Stamp>| matches!((time, at), (Some(time), Some(at)) if time < at);
        if one.comment.created.is_none() {
            return self.exclude(name, "it has no time");
        }
        if !is_before(one.comment.created) {
            return self.exclude(name, format!("by {}, after the cut-off", one.role.as_str()));
        }
        if one.comment.edited.is_some() && !is_before(one.comment.edited) {
            return self.exclude(name, "edited after the cut-off; the earlier text is not known");
        }
        if one.role == Role::Bot {
            return self.exclude(name, "by a bot");
        }
        self.known.push(one);
        if matches!(one.role, Role::Reporter | Role::Customer) {
            self.told.push(one);
            self.use_part(name, format!("by {}, before the cut-off", one.role.as_str()));
        } else {
            self.exclude(name, format!("by {}; only its links and times are shown", one.role.as_str()));
        }
    }

    fn note_fields(&mut self, ticket: &Ticket) {
        let fields = [
            ("ticket.status", ticket.status.is_empty(), "it is known only at the end"),
            ("ticket.resolution", ticket.resolution.is_empty(), "it is known only at the end"),
            ("ticket.labels", ticket.labels.is_empty(), "engineers tag what they found"),
            ("ticket.assignee", ticket.assignee.is_none(), "whom it was given to tells what it was taken for"),
            ("ticket.conclusion", ticket.conclusion.is_empty(), "it is the answer"),
            ("ticket.links", ticket.links.is_empty(), "titles of linked tickets name causes"),
            ("ticket.attachments", ticket.attachments.is_empty(), "names of files name causes"),
        ];
        for (name, is_empty, reason) in fields {
            if !is_empty {
                self.exclude(name, reason);
            }
        }
    }
}
