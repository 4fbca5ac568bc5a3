//! What people decide on verdicts, and what models say of them.
//!
//! A decision goes into the case file in the user's schema; who decided, when and why stands beside it, in
//! `CASEBOOK/.hindcast/reviews.jsonl`, one line a decision. A model's [`Opinion`] stands beside the run, and changes nothing.
//!
//! Invariants:
//! - No decision is lost: a case that changed since the reviewer saw it is a conflict, and nothing is written.
//! - A case file is whole or untouched, and canonical.
//! - Whatever was decided can be undone: the log holds what the case was before.
//!
//! Start reading at [`ReviewBook::decide`], then [`Queue`].

mod book;
mod decision;
mod opinion;
mod queue;

pub use book::{Entry, ReviewBook, ReviewError, Signature, conclusion_mark};
pub use decision::{Decision, Review, WindowEdit};
pub use opinion::{Opinion, OpinionError, OpinionLog, Vote, opinions_of, opinions_path, read_opinions};
pub use queue::{Order, Queue, Reason, Waiting};
