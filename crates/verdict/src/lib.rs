//! Two conclusions in, one verdict out, with every step that led to it.
//!
//! Invariants:
//! - A verdict depends on the two conclusions, the atlas and the rubric, and on nothing else: no clock, no network.
//! - Windows are compared beside the verdict and never change it.
//! - Reading a text never fails and takes time linear in its length.
//!
//! Start reading at [`compare`], then [`Reader::human`], then [`Claims`]; the rules themselves are data: `rubric.toml`.

mod bottleneck;
mod claims;
mod conclusion;
mod place;
mod words;

pub use claims::{Claim, ClaimRole, Claims, Strength};
pub use conclusion::{Basis, Conclusion, Reader, Stated, word};
