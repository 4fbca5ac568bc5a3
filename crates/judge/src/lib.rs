//! A second opinion: a model is asked for a verdict on the rubric that we use, several times, and its votes are counted.
//!
//! ```text
//! judged Case ──brief──▶ model ──▶ answer ──read_vote──▶ Vote … ──tally──▶ Opinion
//! ```
//!
//! Invariants:
//! - A judge is not told what the rubric's verdict is.
//! - Texts of tickets and agents stand in the brief as JSON strings and are called data. An answer counts only with the brief's
//!   mark, which no ticket can know: what a ticket tells a model to say, or an echo of a ticket, is no vote by itself.
//! - An opinion changes no verdict; it is kept beside the run.
//!
//! Start reading at [`Judge::opinion`].

mod brief;
mod judge;
mod vote;

pub use brief::{First, brief};
pub use judge::{Judge, Judged};
pub use vote::{read_vote, tally};
