//! The bilingual lexicon: where a text mentions which mechanism.

mod boundary;
mod clause;
mod finder;
mod fold;
mod inflect;
mod phrase;

use std::collections::HashMap;

use hindcast_case::Span;

use crate::atlas::Atlas;
use crate::mechanism::{FamilyIx, MechanismIx};

pub use clause::{Break, Clause};
pub use finder::Finder;
pub use fold::Folded;

pub(crate) use phrase::items as phrase_items;
use phrase::{ClassIx, Phrases, WordHit};

/// What a mention speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// A mechanism.
    Mechanism(MechanismIx),
    /// A component, without saying what is wrong with it: "the disk".
    Family(FamilyIx),
}

/// How a mention is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The mechanism's id.
    Id,
    /// One of its aliases.
    Alias,
    /// The name of a metric that stands for it.
    Metric,
    /// A combination of words.
    Phrase,
    /// A component alone.
    Family,
}

/// One mention in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// From the first to the last of its words.
    pub span: Span,
    /// Its words; several when the phrase has others in between.
    pub words: Vec<Span>,
    /// The clause that it stands in: an index into [`Scan::clauses`].
    pub clause: usize,
    /// What it speaks of.
    pub subject: Subject,
    /// How it is worded.
    pub form: Form,
}

/// A text, taken apart.
#[derive(Debug, Default)]
pub struct Scan {
    /// Its clauses, in order.
    pub clauses: Vec<Clause>,
    /// Its mentions, in order.
    pub mentions: Vec<Mention>,
    /// The text as it was compared.
    pub folded: Folded,
}

/// What a pattern of the automaton stands for.
#[derive(Debug, Clone, Default)]
struct Entry {
    names: Option<(MechanismIx, Form)>,
    classes: Vec<ClassIx>,
}

/// Finds mentions of mechanisms.
#[derive(Debug)]
pub struct Lexicon {
    words: Finder<Entry>,
    phrases: Phrases,
}

/// Suffixes under which Prometheus exposes a histogram or counter.
const METRIC_SUFFIXES: [&str; 4] = ["", "_bucket", "_sum", "_count"];

impl Lexicon {
    /// The lexicon of an atlas.
    #[must_use]
    pub fn new(atlas: &Atlas) -> Self {
        let phrases = Phrases::new(atlas);
        let mut classes: HashMap<String, Vec<ClassIx>> = HashMap::new();
        for (class, words) in phrases.classes(atlas) {
            for word in words {
                classes.entry(Folded::new(word).as_str().to_owned()).or_default().push(class);
            }
        }
        let class_words = Finder::new(classes.clone());
        let mut entries: HashMap<String, Entry> = HashMap::new();
        let mut name = |word: &str, ix, form| {
            let entry = entries.entry(Folded::new(word).as_str().to_owned()).or_default();
            entry.names.get_or_insert((ix, form));
        };
        for (ix, mechanism) in atlas.mechanisms() {
            name(&mechanism.id, ix, Form::Id);
            for alias in mechanism.aliases_en.iter().chain(&mechanism.aliases_zh).chain(&mechanism.covers) {
                // What a phrase of the mechanism says as well is left to the phrase, which a nearer part can refine:
                // "CPU 打满" is the host's, "TiDB CPU 打满" is not.
                if !phrases.spell(ix, alias, &class_words) {
                    name(alias, ix, Form::Alias);
                }
            }
            for metric in &mechanism.metrics {
                for suffix in METRIC_SUFFIXES {
                    name(&format!("{metric}{suffix}"), ix, Form::Metric);
                }
            }
        }
        for (word, classes) in classes {
            entries.entry(word).or_default().classes = classes;
        }
        Self { words: Finder::new(entries), phrases }
    }

    /// Finds the clauses and mentions of a text, in time linear in its length.
    #[must_use]
    pub fn scan(&self, text: &str) -> Scan {
        let folded = Folded::new(text);
        let clauses = clause::clauses(text);
        let mut mentions = Vec::new();
        let mut words: Vec<WordHit<'_>> = Vec::new();
        let mut clause = 0;
        for (span, entry) in self.words.find(text, &folded) {
            while clause + 1 < clauses.len() && clauses[clause + 1].span.start <= span.start {
                self.phrases.match_clause(text, clause, &mut words, &mut mentions);
                clause += 1;
            }
            if let Some((ix, form)) = entry.names {
                let subject = Subject::Mechanism(ix);
                mentions.push(Mention { span, words: vec![span], clause, subject, form });
            }
            if !entry.classes.is_empty() {
                let name = entry.names.map(|(ix, _)| ix);
                words.push(WordHit { span, classes: &entry.classes, name });
            }
        }
        self.phrases.match_clause(text, clause, &mut words, &mut mentions);
        mentions.sort_by_key(|mention| (mention.span.start, mention.span.end));
        Scan { clauses, mentions, folded }
    }
}

#[cfg(test)]
mod tests;
