//! Closed tickets become cases, and what was learned later stays out of the half that a skill will see.
//!
//! ```text
//! path ──Export──▶ Record ──read──▶ Ticket ──Intake::incident──▶ Incident (a Case, the cut-off, doubts)
//! Jira, GitHub ──┘ (cut out, in order)  (one adapter a form)   (pure; on any thread)
//! ```
//!
//! Invariants:
//! - Only [`Export`] and the live sources do I/O, and only they know a source's form; all else knows [`Ticket`]s.
//! - A record that can't be read costs that record: the others go on, and the loss is told.
//! - Nothing is guessed silently: what had to be assumed is a [`Doubt`] of the ticket.
//! - Input is hostile: sizes are bounded, no parser takes more than linear time, no name from a ticket becomes a path.
//! - Texts are redacted before a case leaves this crate.
//!
//! Start reading at [`Ticket`], then [`Intake::incident`]; a new source is a file in `source/` and an arm in
//! [`Record::read`].

mod address;
mod as_of;
mod conclusion;
mod export;
mod incident;
mod live;
mod markup;
mod merge;
mod people;
mod phrase;
mod redact;
mod settings;
mod source;
mod speech;
mod stamp;
mod ticket;
mod time_window;

pub use as_of::CutOff;
pub use export::{Export, ExportError, Item, Sink};
pub use incident::{Incident, Intake};
pub use live::{GithubIssue, HttpError, LiveError, LiveJira, Retry, read_github};
pub use markup::{Anchor, Block, BlockKind, Document, Origin, read_adf, read_html, read_markdown, read_wiki};
pub use merge::{FieldChange, FieldOutcome, merge};
pub use people::Role;
pub use redact::Naming;
pub use settings::{Field, FieldMap, People, PingkaiMap, Places, Settings, SettingsError};
pub use source::{Form, Record, Unusable};
pub use stamp::{ReadStamp, Stamp};
pub use ticket::{
    AccountKind, Attachment, Change, Comment, Doubt, DoubtKind, History, Person, RemoteLink, Revision, Revisions,
    Ticket,
};
