//! Two conclusions in, one verdict out, with every step that led to it.
//!
//! Invariants:
//! - A verdict depends on the two conclusions, the incident's text, the atlas and the rubric, and on nothing else: no
//!   clock, no network.
//! - Windows are compared beside the verdict and never change it.
//! - Reading a text never fails and takes time linear in its length.
//!
//! ```
//! use hindcast_atlas::Atlas;
//! use hindcast_case::{Case, MatchLevel};
//! use hindcast_verdict::Comparer;
//!
//! let mut case = Case::default();
//! case.final_human_conclusion.owner_final_comment = "根因是云盘抖动,写入变慢。".to_owned();
//! case.skill_conclusion.provisional_conclusion = "Append log was slow because of EBS jitter.".to_owned();
//! let verdict = Comparer::new(Atlas::embedded()).compare(&case);
//! assert_eq!(verdict.level, MatchLevel::Matched);
//! assert_eq!(verdict.rule, "same-bottleneck");
//! ```
//!
//! Start reading at [`Comparer::compare`], then [`Reader::human`], then `hindcast-text`; the rules are data: `rubric.toml`.

mod calibrate;
mod compare;
mod conclusion;
mod notes;
mod relation;
mod rubric;
mod score;
mod statistics;
mod suggest;
mod windows;

pub use calibrate::{Agreement, Calibration, Disagreement, Pair, PairError, agreement, calibrate, read_pair};
pub use compare::{Comparer, Dimensions, Verdict};
pub use conclusion::{Basis, Conclusion, Reader, Stated, word};
pub use relation::BottleneckRelation;
pub use rubric::{RelationKind, rubric_text};
pub use score::{Label, LabelScore, read_label, score_labels};
pub use statistics::{Interval, mcnemar_exact, paired_difference95, wilson95};
pub use windows::{TextWindow, windows_in};
