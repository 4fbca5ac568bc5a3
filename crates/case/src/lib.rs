//! A case file and nothing else: JSON text in, a typed [`Case`] with diagnostics out, and back.
//!
//! Invariants:
//! - Reading is lenient where the meaning is certain and says what it changed; it never panics and never drops
//!   a value silently ([`read`]).
//! - Writing is canonical: the schema's field order, two-space indent, a newline at the end. Writing what was
//!   read from canonical text gives the same bytes ([`Case::to_json`]).
//! - This crate does no I/O and knows no ticket source, mechanism or verdict.
//!
//! ```
//! use hindcast_case::{EntryMode, Severity, read};
//!
//! let old = r#"{"incident_id": "gtoc 4711", "skill_conclusion": {"entry_mode": "IO 抖动"}}"#;
//! let reading = read(old.as_bytes());
//! assert!(reading.diagnostics.iter().all(|finding| finding.severity == Severity::Note));
//! let case = reading.value.expect("everything could be normalised");
//! assert_eq!(case.incident_id.as_str(), "GTOC-4711");
//! assert_eq!(case.skill_conclusion.entry_mode, Some(EntryMode::IoJitter));
//! ```
//!
//! Start reading at [`Case`] (the user's schema, field by field), then [`read`], then [`Code`].

mod case;
mod diagnostic;
mod fold;
mod id;
mod json;
mod link;
mod moment;
mod near;
mod reader;
mod record;
mod schema;
mod structured;
mod vocabulary;
mod window;
mod word;
mod writer;

pub use case::{
    AnalysisWindow, CanonicalIncident, Case, FinalHumanConclusion, ReplayInputs, SkillConclusion, WindowReview,
};
pub use diagnostic::{Code, Diagnostic, Position, Severity, Span};
pub use fold::{fold_char, is_placeholder};
pub use id::IncidentId;
pub use json::Json;
pub use link::Link;
pub use moment::Moment;
pub use near::nearest;
pub use reader::{MAX_BYTES, MAX_DEPTH, Reading, read, read_skill_conclusion};
pub use record::Extras;
pub use schema::{json_schema, skill_conclusion_schema};
pub use structured::{Certainty, StructuredConclusion};
pub use vocabulary::{
    Assessment, EntryMode, HumanStatus, MatchLevel, MismatchType, Path, Reference, Scope, Source, SubCapability,
    TikvSide, Vocabulary,
};
pub use window::TimeWindow;
pub use word::Worded;
