//! What agents write, read.
//!
//! ```text
//! bytes ──read──▶ Transcript ──checkpoint──▶ Checkpoint (a SkillConclusion, notes), or why there is none
//! ```
//!
//! Invariants:
//! - One bad line never fails a transcript; what was skipped is counted.
//! - What an agent *did* counts before what it says it did: a reference is consulted when a call read it with success.
//! - Nothing is repaired silently: every mend of an answer is a note.
//!
//! Start reading at [`Transcript`], then [`read`]; a new format is a file in `format/` and an arm in [`read`].

mod answer;
mod atif;
mod checkpoint;
mod format;
mod labels;
mod shell;
mod transcript;

pub use answer::{Answer, AnswerForm, NoAnswer, read_answer};
pub use atif::to_atif;
pub use checkpoint::{Checkpoint, checkpoint, observed_references};
pub use format::{MAX_BYTES, detect, read, read_as};
pub use transcript::{Ended, Format, Message, Role, Skipped, Step, ToolCall, Transcript, Usage};
