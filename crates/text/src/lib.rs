//! What people and agents write, in English and Chinese, taken apart: claims about mechanisms, and places (scope, side,
//! path).
//!
//! Invariants:
//! - Reading never fails and takes time linear in the text; what is not understood asserts nothing.
//! - Nothing here knows a case or a verdict: the same reading serves the engineers' words, a skill's and a ticket's.
//!
//! Start reading at [`TextReader::read`], then [`Claims`]; the words themselves stand in `claims/cue.rs` and `place.rs`.

mod bottleneck;
mod claims;
mod discourse;
mod place;
mod words;

pub use bottleneck::bottleneck;
pub use claims::{Claim, ClaimRole, Claims, Strength};
pub use discourse::{Move, ascii_boundaries, is_log_line, sentences};
pub use place::Places;

use claims::ClaimReader;
use hindcast_atlas::{Atlas, Lexicon, Mention, Scan};
use place::PlaceReader;

/// Reads texts; built once from an atlas.
#[derive(Debug)]
pub struct TextReader {
    lexicon: Lexicon,
    claims: ClaimReader,
    places: PlaceReader,
}

/// A text, taken apart.
#[derive(Debug, Default)]
pub struct Reading {
    /// What it asserts about mechanisms.
    pub claims: Claims,
    /// Where it says the problem is.
    pub places: Places,
    /// Its clauses and mentions.
    pub scan: Scan,
}

impl TextReader {
    /// A reader that knows the words of this atlas.
    #[must_use]
    pub fn new(atlas: &Atlas) -> Self {
        Self { lexicon: Lexicon::new(atlas), claims: ClaimReader::new(), places: PlaceReader::new() }
    }

    /// Takes a text apart.
    #[must_use]
    pub fn read(&self, atlas: &Atlas, text: &str) -> Reading {
        let scan = self.lexicon.scan(text);
        let claims = self.claims.read(atlas, text, &scan);
        let places = self.places.read(text, &scan.folded);
        Reading { claims, places, scan }
    }

    /// What a text asserts about mechanisms. A text that mentions none costs only the look for mentions.
    #[must_use]
    pub fn claims(&self, atlas: &Atlas, text: &str) -> Claims {
        let scan = self.lexicon.scan(text);
        if scan.mentions.is_empty() {
            return Claims::default();
        }
        self.claims.read(atlas, text, &scan)
    }

    /// The mentions of a text.
    #[must_use]
    pub fn mentions(&self, text: &str) -> Vec<Mention> {
        self.lexicon.scan(text).mentions
    }

    /// Mentions and places of a text, without working out its claims.
    #[must_use]
    pub fn glance(&self, text: &str) -> Reading {
        let scan = self.lexicon.scan(text);
        let places = self.places.read(text, &scan.folded);
        Reading { claims: Claims::default(), places, scan }
    }
}
