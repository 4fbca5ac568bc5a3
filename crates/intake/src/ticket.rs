//! The source-neutral ticket: what all adapters make, and all that the rest of this crate knows of a source.

use hindcast_case::{IncidentId, Source};

use crate::markup::Document;
use crate::stamp::Stamp;

/// A record of a ticket system, with all that it says of when things became known.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Its key.
    pub key: IncidentId,
    /// The system.
    pub source: Source,
    /// Its address there; empty when it has none.
    pub address: String,
    /// When it was opened.
    pub created: Option<Stamp>,
    /// When it was last changed.
    pub updated: Option<Stamp>,
    /// When it was resolved.
    pub resolved: Option<Stamp>,
    /// Its summary line, over time.
    pub title: Revisions<Document>,
    /// Its description, over time.
    pub description: Revisions<Document>,
    /// Its comments, oldest first.
    pub comments: Vec<Comment>,
    /// Changes of its fields, oldest first; titles and descriptions are in their revisions instead.
    pub changes: Vec<Change>,
    /// Whether the changes are all there.
    pub history: History,
    /// Its status now.
    pub status: String,
    /// Its resolution now.
    pub resolution: String,
    /// Its labels and components now.
    pub labels: Vec<String>,
    /// Files attached to it.
    pub attachments: Vec<Attachment>,
    /// Links that are fields of the ticket, with their titles.
    pub links: Vec<RemoteLink>,
    /// Who opened it.
    pub reporter: Option<Person>,
    /// Who has it now.
    pub assignee: Option<Person>,
    /// Who handled it at level 2.
    pub l2: Option<Person>,
    /// Who handled it at level 3.
    pub l3: Option<Person>,
    /// The field that holds the conclusion, in systems that have one.
    pub conclusion: Document,
    /// The field that holds the cluster id.
    pub cluster_id: String,
    /// The field that holds the time of the incident.
    pub window: String,
    /// What an adapter could not read or had to assume.
    pub doubts: Vec<Doubt>,
}

/// A value and how it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revisions<T> {
    /// As it was first written.
    pub first: T,
    /// What replaced it, oldest first.
    pub later: Vec<Revision<T>>,
}

/// One replacement of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision<T> {
    /// When.
    pub at: Stamp,
    /// By whom.
    pub by: Option<Person>,
    /// The new value.
    pub value: T,
}

impl<T> Revisions<T> {
    /// A value that never changed, or whose changes are not known.
    pub fn only(value: T) -> Self {
        Self { first: value, later: Vec::new() }
    }

    /// The value as it stood before `cut_off`.
    pub fn before(&self, cut_off: Stamp) -> &T {
        self.later.iter().rev().find(|revision| revision.at < cut_off).map_or(&self.first, |revision| &revision.value)
    }

    /// The value now.
    pub fn latest(&self) -> &T {
        self.later.last().map_or(&self.first, |revision| &revision.value)
    }
}

/// Someone who wrote or was assigned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Person {
    /// The name that people see.
    pub name: String,
    /// The account, where the source has one; it tells people of the same name apart.
    pub account: String,
    /// What the source says of the account.
    pub kind: AccountKind,
}

/// What a source says of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AccountKind {
    /// A person, or not said.
    #[default]
    Person,
    /// A program.
    Bot,
    /// A person of the customer's.
    Customer,
    /// A person who belongs to the project: a member, a maintainer.
    Member,
}

impl Person {
    /// Someone of whom only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.trim().to_owned(), ..Self::default() }
    }

    /// Whether the two are the same: by account where both have one, else by name.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        if self.account.is_empty() || other.account.is_empty() {
            let same = |a: &str, b: &str| !a.is_empty() && a.to_lowercase() == b.to_lowercase();
            return same(&self.name, &other.name)
                || same(&self.account, &other.name)
                || same(&self.name, &other.account);
        }
        self.account == other.account
    }

    /// Whether the source hides who it is; hidden people can't be told apart.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.account.is_empty() && (self.name.is_empty() || self.name.contains("REDACTED"))
    }
}

/// One comment.
#[derive(Debug, Clone)]
pub struct Comment {
    /// Who wrote it.
    pub author: Person,
    /// When.
    pub created: Option<Stamp>,
    /// When it was last edited; the earlier text is not known.
    pub edited: Option<Stamp>,
    /// What it says.
    pub body: Document,
}

/// One change of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Stamp,
    /// By whom.
    pub by: Option<Person>,
    /// Which field, by its name in the source, in lower case.
    pub field: String,
    /// The value before; empty for none.
    pub from: String,
    /// The value after; empty for none.
    pub to: String,
    /// The account after, where the field holds a person.
    pub to_account: String,
}

/// A file attached to a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// When it was attached.
    pub at: Option<Stamp>,
}

/// A link that is a field of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteLink {
    /// What it shows.
    pub title: String,
    /// Where it leads.
    pub target: String,
}

/// How much of a ticket's history a source gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// All of it.
    Whole,
    /// The changelog is cut: later pages are missing.
    Cut,
    /// None: this form has no changelog.
    None,
}

/// Something that could not be known for sure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What kind of thing.
    pub kind: DoubtKind,
    /// What and why, in a sentence.
    pub message: String,
}

/// Kinds of doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DoubtKind {
    /// Nobody could be found who owned the ticket.
    OwnerNotFound,
    /// Nobody concluded.
    NoConclusion,
    /// Owners concluded differently.
    TwoConclusions,
    /// A conclusion was taken back later.
    ConclusionTakenBack,
    /// No time of the incident could be found.
    NoWindow,
    /// Sources give windows that don't overlap.
    WindowsDiffer,
    /// A time had no zone.
    ZoneAssumed,
    /// A time had no date.
    DateAssumed,
    /// Sources name different clusters.
    ClustersDiffer,
    /// Earlier texts of the ticket are not known.
    HistoryMissing,
    /// Comments are missing in the export.
    CommentsMissing,
    /// A part of the ticket could not be read.
    Unreadable,
    /// What a skill would see gives the conclusion away.
    Leak,
}

impl DoubtKind {
    /// The word for people and machines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OwnerNotFound => "owner not found",
            Self::NoConclusion => "no conclusion",
            Self::TwoConclusions => "two conclusions",
            Self::ConclusionTakenBack => "conclusion taken back",
            Self::NoWindow => "no time window",
            Self::WindowsDiffer => "windows differ",
            Self::ZoneAssumed => "time without a zone",
            Self::DateAssumed => "time without a date",
            Self::ClustersDiffer => "clusters differ",
            Self::HistoryMissing => "no history",
            Self::CommentsMissing => "comments missing",
            Self::Unreadable => "unreadable part",
            Self::Leak => "leak suspected",
        }
    }
}

impl Ticket {
    /// A ticket of which only the key is known.
    #[must_use]
    pub fn new(key: IncidentId, source: Source) -> Self {
        Self {
            key,
            source,
            address: String::new(),
            created: None,
            updated: None,
            resolved: None,
            title: Revisions::default(),
            description: Revisions::default(),
            comments: Vec::new(),
            changes: Vec::new(),
            history: History::None,
            status: String::new(),
            resolution: String::new(),
            labels: Vec::new(),
            attachments: Vec::new(),
            links: Vec::new(),
            reporter: None,
            assignee: None,
            l2: None,
            l3: None,
            conclusion: Document::default(),
            cluster_id: String::new(),
            window: String::new(),
            doubts: Vec::new(),
        }
    }

    /// Notes a doubt, once.
    pub fn doubt(&mut self, kind: DoubtKind, message: impl Into<String>) {
        let doubt = Doubt { kind, message: message.into() };
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Brings comments and changes into the order of time; what has no time stays where it stood.
    pub(crate) fn sort(&mut self) {
        if self.comments.iter().all(|comment| comment.created.is_some()) {
            self.comments.sort_by_key(|comment| comment.created);
        }
        self.changes.sort_by_key(|change| change.at);
        self.title.later.sort_by_key(|revision| revision.at);
        self.description.later.sort_by_key(|revision| revision.at);
    }
}
