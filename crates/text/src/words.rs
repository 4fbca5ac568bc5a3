//! A text with its mentions and cues, and the questions that roles ask of it.

use hindcast_atlas::{Mention, Scan};
use hindcast_case::Span;

use crate::claims::CueHit;

/// Cues beyond which a clause or sentence is not read further: people don't write such, and the work stays linear.
const MAX_CUES: usize = 64;

/// A text, taken apart.
pub(crate) struct Words<'a> {
    pub(crate) text: &'a str,
    pub(crate) scan: &'a Scan,
    pub(crate) cues: &'a [CueHit],
}

impl Words<'_> {
    /// The sentence of a clause.
    pub(crate) fn sentence(&self, clause: usize) -> usize {
        self.scan.clauses.get(clause).map_or(0, |c| c.sentence)
    }

    /// Cues of one clause, in order.
    pub(crate) fn cues_in_clause(&self, clause: usize) -> &[CueHit] {
        let start = self.cues.partition_point(|hit| hit.clause < clause);
        let end = self.cues.partition_point(|hit| hit.clause <= clause);
        &self.cues[start..end.min(start + MAX_CUES)]
    }

    /// Cues of one sentence, in order.
    pub(crate) fn cues_in_sentence(&self, sentence: usize) -> &[CueHit] {
        let start = self.cues.partition_point(|hit| self.sentence(hit.clause) < sentence);
        let end = self.cues.partition_point(|hit| self.sentence(hit.clause) <= sentence);
        &self.cues[start..end.min(start + MAX_CUES)]
    }

    /// The first clause of a sentence.
    pub(crate) fn first_clause(&self, sentence: usize) -> usize {
        self.scan.clauses.partition_point(|clause| clause.sentence < sentence)
    }

    /// Bytes between a cue and a mention that follows it; none when it doesn't.
    pub(crate) fn distance_ahead(&self, cue: Span, mention: &Mention) -> Option<usize> {
        mention.span.start.checked_sub(cue.end)
    }

    /// Bytes between a mention and a cue that follows it; none when it doesn't.
    pub(crate) fn distance_behind(&self, mention: &Mention, cue: Span) -> Option<usize> {
        cue.start.checked_sub(mention.span.end)
    }

    /// Whether a cue stands between the words of a phrase: "the disk is *not* slow".
    pub(crate) fn is_inside(&self, cue: Span, mention: &Mention) -> bool {
        cue.start >= mention.span.start && cue.end <= mention.span.end
    }

    /// Whether nothing but white space, a conjunction or an article stands in the clause before `at`.
    pub(crate) fn opens_clause(&self, clause: usize, at: usize) -> bool {
        let Some(clause) = self.scan.clauses.get(clause) else { return false };
        let before = self.text.get(clause.span.start..at).unwrap_or_default().trim();
        matches!(
            before.to_ascii_lowercase().as_str(),
            "" | "and" | "so" | "but" | "then" | "所以" | "因此" | "但" | "但是" | "而"
        )
    }
}
