//! Reports of verdicts: one model, several writers. Nothing here computes a verdict.
//!
//! Invariants:
//! - Every text that comes from a case is escaped on every surface.
//! - A run is written as it goes: [`Tally`] is a handful of counters, a page holds at most [`PAGE_CASES`] cases.
//!
//! Start reading at [`Row`] and [`Tally`], then [`HtmlReport`].

mod breakdown;
mod difference;
mod formats;
mod html;
mod json;
mod map;
mod model;
mod sections;
mod stored;
mod terminal;
mod text;
mod trend;

pub use breakdown::{Axis, Breakdown, Groups};
pub use difference::{Difference, Flip};
pub use formats::{csv, junit, markdown};
pub use html::{Facts, HtmlReport, PAGE_CASES, claims_marked};
pub use json::{calibration_json, extraction_json, label_score_json, row_json, run_json, verdict_json};
pub use map::{MapWords, causal_map};
pub use model::{Row, Tally, bottleneck};
pub use sections::{Section, sections};
pub use stored::{StoredError, StoredRow, StoredRun};
pub use terminal::{Colours, agreement_line, calibration_text, confusion_table, printable, rows_table, section_table};
pub use text::{extraction_text, verdict_text};
pub use trend::Point;
