//! From text to claims: what it asserts about which mechanism, how firmly, and what it says causes what.

mod cue;
mod role;

use hindcast_atlas::{Atlas, Form, Mention, Scan, Subject};
use hindcast_case::{Certainty, Span};

use crate::words::Words;
use cue::Cue;

/// What a text asserts about a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClaimRole {
    /// It is what went wrong first.
    Cause,
    /// It plays a part: a trigger, a circumstance.
    Contributing,
    /// It is a consequence.
    Symptom,
    /// It is excluded.
    RuledOut,
    /// It is a guess.
    Suspected,
    /// It was a guess, and a later statement replaced it.
    Retracted,
}

impl ClaimRole {
    /// The word shown to people and machines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cause => "cause",
            Self::Contributing => "contributing",
            Self::Symptom => "symptom",
            Self::RuledOut => "ruled_out",
            Self::Suspected => "suspected",
            Self::Retracted => "retracted",
        }
    }
}

/// How strongly the wording makes a mechanism the bottleneck, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// A circumstance: "during the scale-out".
    Circumstance,
    /// An effect of something else.
    Effect,
    /// Stated, with no word about cause or effect.
    Stated,
    /// Said to cause something.
    Cause,
    /// Said to be confirmed.
    Confirmed,
    /// Called the root cause.
    Root,
}

/// One claim, with the words that make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is about.
    pub subject: Subject,
    /// What it asserts.
    pub role: ClaimRole,
    /// How firmly.
    pub certainty: Certainty,
    /// How strongly it points to the bottleneck.
    pub strength: Strength,
    /// The words, in the text that was read.
    pub span: Span,
    /// The clause that they stand in, from zero.
    pub clause: usize,
}

/// Everything that a text asserts.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// The claims, in the order of the text.
    pub claims: Vec<Claim>,
    /// Pairs of indices into `claims`: the first is said to cause the second.
    pub edges: Vec<(usize, usize)>,
    /// The text says that no cause was found.
    pub no_cause_found: bool,
}

/// How many subjects a chain of consequences is followed over: no text tells a longer story.
const MAX_CHAIN: usize = 32;

impl Claims {
    /// Everything that the text says a subject leads to, directly or over others, nearest first.
    #[must_use]
    pub fn consequences(&self, of: Subject) -> Vec<Subject> {
        let mut chain = vec![of];
        let mut at = 0;
        while at < chain.len() && chain.len() < MAX_CHAIN {
            let from = chain[at];
            for (_, effect) in self.edges.iter().filter(|(cause, _)| self.claims[*cause].subject == from) {
                let subject = self.claims[*effect].subject;
                if !chain.contains(&subject) {
                    chain.push(subject);
                }
            }
            at += 1;
        }
        chain.split_off(1)
    }
}

/// Reads claims; built once, used for every text.
#[derive(Debug)]
pub(crate) struct ClaimReader {
    cues: hindcast_atlas::Finder<Cue>,
}

/// A cue where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CueHit {
    pub(crate) cue: Cue,
    pub(crate) span: Span,
    pub(crate) clause: usize,
}

impl ClaimReader {
    pub(crate) fn new() -> Self {
        Self { cues: cue::finder() }
    }

    /// The claims of a scanned text.
    pub(crate) fn read(&self, atlas: &Atlas, text: &str, scan: &Scan) -> Claims {
        // Statements, load and scheduling set off a bottleneck; they are not the part that is slow.
        let is_trigger = |subject: Subject| match subject {
            Subject::Mechanism(ix) => atlas[ix].is_trigger,
            Subject::Family(family) => atlas.family_members(family).iter().all(|ix| atlas[*ix].is_trigger),
        };
        let cues = self.cue_hits(text, scan);
        let words = Words { text, scan, cues: &cues };
        role::assign(&words, &is_trigger)
    }

    /// Cues in order, without those whose words belong to the name of a mechanism ("disk not responding").
    fn cue_hits(&self, text: &str, scan: &Scan) -> Vec<CueHit> {
        let mut clause = 0;
        let hits = self.cues.find(text, &scan.folded).into_iter().map(|(span, cue)| {
            while clause + 1 < scan.clauses.len() && scan.clauses[clause + 1].span.start <= span.start {
                clause += 1;
            }
            CueHit { cue: *cue, span, clause }
        });
        let mut next = 0;
        let mentions = &scan.mentions;
        hits.filter_map(|hit| {
            while next < mentions.len() && mentions[next].span.end <= hit.span.start {
                next += 1;
            }
            let near = mentions[next..].iter().take_while(|m| m.span.start < hit.span.end);
            let mut taken = near.filter(|m| m.form != Form::Family).flat_map(|m| &m.words);
            match taken.find(|word| word.overlaps(hit.span)) {
                None => Some(hit),
                // "not slow follower", "gRPC CPU 不高": the denial stands before the word that the name takes.
                Some(word) if hit.cue == Cue::NormalBehind && hit.span.start < word.start => {
                    Some(CueHit { cue: Cue::Not, span: Span::new(hit.span.start, word.start), ..hit })
                }
                Some(_) => None,
            }
        })
        .collect()
    }
}

/// Whether a mention is only a component's name.
pub(crate) fn is_family(mention: &Mention) -> bool {
    mention.form == Form::Family
}
