//! The mechanisms that make TiKV slow: as data, as a graph of causes, and as words that engineers use.
//!
//! Invariants:
//! - An [`Atlas`] that loaded has resolvable ids, closed vocabularies and an acyclic graph of causes; what else is
//!   wrong with it is found by [`check`].
//! - Feedback loops are kept apart from the causes: no query of the graph follows them by accident.
//! - [`Lexicon::scan`] takes time linear in the text and never panics.
//!
//! Start reading at [`Mechanism`], then [`Atlas::relation`], then [`Lexicon::scan`].

mod atlas;
mod check;
mod graph;
mod lexicon;
mod mechanism;

pub use atlas::{Atlas, LoadError, Resolved};
pub use check::{AtlasFinding, check};
pub use graph::{CausalPath, Relation, Shared};
pub use lexicon::{Break, Clause, Finder, Folded, Form, Lexicon, Mention, Scan, Subject};
pub use mechanism::{Component, Evidence, FamilyIx, Mechanism, MechanismIx, Role, Stage};
