//! Finding many words at once.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use hindcast_case::Span;

use super::boundary;
use super::fold::Folded;

/// Finds any of a list of words in folded text, in time linear in the text, and says what each stands for.
#[derive(Debug)]
pub struct Finder<T> {
    automaton: AhoCorasick,
    meanings: Vec<T>,
}

impl<T> Finder<T> {
    /// A finder of these words, each already folded ([`Folded`]): folding twice is not folding once.
    ///
    /// # Panics
    /// When the words are too many for an automaton: millions.
    #[must_use]
    pub fn new(words: HashMap<String, T>) -> Self {
        let mut sorted: Vec<(String, T)> = words.into_iter().filter(|(word, _)| !word.is_empty()).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            // Ten megabytes for a tenth of a run's time.
            .kind(Some(AhoCorasickKind::DFA))
            .build(sorted.iter().map(|(word, _)| word))
            .expect("a few thousand short words fit an automaton");
        Self { automaton, meanings: sorted.into_iter().map(|(_, meaning)| meaning).collect() }
    }

    /// The words that stand free of other words and of each other: the leftmost first, then the longest.
    #[must_use]
    pub fn find(&self, text: &str, folded: &Folded) -> Vec<(Span, &T)> {
        let mut hits: Vec<_> = self
            .automaton
            .find_overlapping_iter(folded.as_str())
            .filter(|hit| {
                let span = folded.original(hit.start(), hit.end());
                boundary::stands_free(text, folded.as_str(), hit.start(), hit.end(), span)
            })
            .collect();
        hits.sort_by_key(|hit| (hit.start(), std::cmp::Reverse(hit.end())));
        let mut end = 0;
        let mut found = Vec::new();
        for hit in hits {
            if hit.start() >= end {
                end = hit.end();
                found.push((folded.original(hit.start(), hit.end()), &self.meanings[hit.pattern().as_usize()]));
            }
        }
        found
    }
}
