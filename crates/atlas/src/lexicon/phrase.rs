//! Combinations of word classes: `<disk> <slow>`.

use hindcast_case::Span;

use super::{Finder, Folded, Form, Mention, Subject};
use crate::atlas::Atlas;
use crate::mechanism::{FamilyIx, MechanismIx};

/// A word class: a bit in a [`ClassSet`].
pub(crate) type ClassIx = u8;

/// At most 256 classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ClassSet([u64; 4]);

impl ClassSet {
    fn insert(&mut self, class: ClassIx) {
        self.0[usize::from(class) / 64] |= 1 << (class % 64);
    }

    fn contains(self, class: ClassIx) -> bool {
        self.0[usize::from(class) / 64] & (1 << (class % 64)) != 0
    }

    fn includes(self, other: Self) -> bool {
        self.0.iter().zip(other.0).all(|(mine, theirs)| mine & theirs == theirs)
    }
}

/// Bytes that may lie between two words of a phrase: about eight English words or sixteen Chinese characters.
const MAX_GAP: usize = 48;

/// Words in one clause beyond which phrases are not looked for: no sentence has so many.
const MAX_WORDS: usize = 64;

/// A word of a class in a clause.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordHit<'a> {
    pub(crate) span: Span,
    pub(crate) classes: &'a [ClassIx],
    /// The word is also the name of this mechanism; a phrase that it is part of says more ("TiDB … OOM").
    pub(crate) name: Option<MechanismIx>,
}

#[derive(Debug)]
struct Phrase {
    mechanism: MechanismIx,
    items: Vec<ClassIx>,
    needs: ClassSet,
}

/// All phrases of an atlas.
#[derive(Debug)]
pub(crate) struct Phrases {
    names: Vec<String>,
    parts: ClassSet,
    owned: ClassSet,
    /// Longest first, so that "gRPC CPU saturated" is not read as "CPU saturated".
    phrases: Vec<Phrase>,
    /// For every class, the classes that stand beside it in some phrase.
    partners: Vec<ClassSet>,
    /// The family that a part alone stands for.
    families: Vec<(ClassIx, FamilyIx)>,
}

/// The classes that a phrase names: `<disk> <slow>` names "disk" and "slow".
pub(crate) fn items(phrase: &str) -> impl Iterator<Item = &str> {
    phrase.split('<').skip(1).filter_map(|item| item.split('>').next())
}

impl Phrases {
    pub(crate) fn new(atlas: &Atlas) -> Self {
        let classes = &atlas.classes;
        let names: Vec<String> =
            classes.part.keys().chain(classes.state.keys()).chain(classes.other.keys()).cloned().collect();
        let class = |name: &str| names.iter().position(|n| n == name).and_then(|at| ClassIx::try_from(at).ok());
        let mut parts = ClassSet::default();
        for part in classes.part.keys().filter_map(|name| class(name)) {
            parts.insert(part);
        }
        let mut owned = ClassSet::default();
        for part in classes.owned.iter().filter_map(|name| class(name)) {
            owned.insert(part);
        }
        let mut phrases = Vec::new();
        for (mechanism, data) in atlas.mechanisms() {
            for phrase in &data.phrases {
                // A phrase with an unknown class can't match; `atlas check` reports it.
                let Some(items) = items(phrase).map(class).collect::<Option<Vec<_>>>() else { continue };
                let mut needs = ClassSet::default();
                items.iter().for_each(|item| needs.insert(*item));
                phrases.push(Phrase { mechanism, items, needs });
            }
        }
        let mut partners = vec![ClassSet::default(); names.len()];
        for phrase in &phrases {
            for (item, other) in phrase.items.iter().flat_map(|a| phrase.items.iter().map(move |b| (*a, *b))) {
                if item != other {
                    partners[usize::from(item)].insert(other);
                }
            }
        }
        phrases.sort_by_key(|phrase: &Phrase| std::cmp::Reverse(phrase.items.len()));
        let mut families = Vec::new();
        for (name, family) in &classes.family {
            let ix = atlas.find_family(name).expect("families come from the classes");
            families.extend(family.parts.iter().filter_map(|part| class(part)).map(|part| (part, ix)));
        }
        Self { names, parts, owned, phrases, partners, families }
    }

    /// Whether a phrase with an owned part spells an alias of this mechanism out: the alias consists of the phrase's words
    /// and nothing else.
    pub(crate) fn spell(&self, mechanism: MechanismIx, alias: &str, words: &Finder<Vec<ClassIx>>) -> bool {
        let folded = Folded::new(alias);
        let hits = words.find(alias, &folded);
        let covered: usize = hits.iter().map(|(span, _)| span.end - span.start).sum();
        let letters = alias.bytes().filter(|byte| *byte != b' ').count();
        let spaces = |span: Span| alias[span.start..span.end].bytes().filter(|byte| *byte == b' ').count();
        let inner: usize = hits.iter().map(|(span, _)| spaces(*span)).sum();
        covered - inner == letters
            && self.phrases.iter().any(|phrase| {
                let fits = |item: &ClassIx| hits.iter().any(|(_, classes)| classes.contains(item));
                let owned = phrase.items.iter().any(|item| self.owned.contains(*item));
                owned
                    && phrase.mechanism == mechanism
                    && phrase.items.len() == hits.len()
                    && phrase.items.iter().all(fits)
            })
    }

    /// Every class with its words.
    pub(crate) fn classes<'a>(&'a self, atlas: &'a Atlas) -> impl Iterator<Item = (ClassIx, &'a Vec<String>)> {
        let classes = &atlas.classes;
        self.names.iter().enumerate().filter_map(move |(at, name)| {
            let words =
                classes.part.get(name).or_else(|| classes.state.get(name)).or_else(|| classes.other.get(name))?;
            Some((ClassIx::try_from(at).ok()?, words))
        })
    }

    /// Finds the phrases among the words of one clause, and empties `words`.
    pub(crate) fn match_clause(
        &self,
        text: &str,
        clause: usize,
        words: &mut Vec<WordHit<'_>>,
        mentions: &mut Vec<Mention>,
    ) {
        if words.is_empty() {
            return;
        }
        words.truncate(MAX_WORDS);
        let mut present = ClassSet::default();
        for class in words.iter().flat_map(|word| word.classes) {
            present.insert(*class);
        }
        let mut used = [false; MAX_WORDS];
        let possible: Vec<&Phrase> = self.phrases.iter().filter(|phrase| present.includes(phrase.needs)).collect();
        for length in (1..=3).rev() {
            for anchor in 0..words.len() {
                if used[anchor] || !self.is_part(&words[anchor]) {
                    continue;
                }
                let candidates = possible.iter().filter(|phrase| phrase.items.len() == length);
                let matches =
                    candidates.filter_map(|phrase| Some((self.place(text, phrase, anchor, words, &used)?, *phrase)));
                let Some((place, phrase)) = matches.min_by_key(|(place, _)| hull(place, words).1) else { continue };
                for at in &place {
                    used[*at] |= self.is_part(&words[*at]);
                }
                let (span, _) = hull(&place, words);
                let subject = Subject::Mechanism(phrase.mechanism);
                let mut spans: Vec<Span> = place.iter().map(|at| words[*at].span).collect();
                spans.sort();
                let own_clause = mentions.partition_point(|mention| mention.clause < clause);
                let tail = mentions.split_off(own_clause);
                let renamed = |mention: &Mention| mention.form == Form::Alias && spans.contains(&mention.span);
                mentions.extend(tail.into_iter().filter(|mention| !renamed(mention)));
                mentions.push(Mention { span, words: spans, clause, subject, form: Form::Phrase });
            }
        }
        for (word, _) in words.iter().zip(used).filter(|(word, used)| !used && word.name.is_none()) {
            let family = self.families.iter().find(|(part, _)| word.classes.contains(part));
            if let Some((_, family)) = family {
                let subject = Subject::Family(*family);
                mentions.push(Mention { span: word.span, words: vec![word.span], clause, subject, form: Form::Family });
            }
        }
        words.clear();
    }

    fn is_part(&self, word: &WordHit<'_>) -> bool {
        word.classes.iter().any(|class| self.parts.contains(*class))
    }

    /// The words of `phrase` around its first one at `anchor`, each the nearest of its class.
    fn place(
        &self,
        text: &str,
        phrase: &Phrase,
        anchor: usize,
        words: &[WordHit<'_>],
        used: &[bool],
    ) -> Option<Vec<usize>> {
        let (first, rest) = phrase.items.split_first()?;
        if !words[anchor].classes.contains(first) {
            return None;
        }
        let mut place = vec![anchor];
        for item in rest {
            let fits = |at: &usize| {
                words[*at].classes.contains(item)
                    && !place.contains(at)
                    && !(used[*at] && self.is_part(&words[*at]))
                    && place.iter().any(|other| gap(words[*other].span, words[*at].span) <= MAX_GAP)
                    && !self.has_rival(text, nearest_of(&place, *at, words), *at, *item, words, &place)
            };
            let nearest = (0..words.len()).filter(fits).min_by_key(|at| gap(words[anchor].span, words[*at].span))?;
            place.push(nearest);
        }
        Some(place)
    }

    /// Whether a word between the two would rather go with `item`: in "the disk is fine, the network slow" the
    /// state belongs to the network. Words joined by "and" share a state.
    fn has_rival(
        &self,
        text: &str,
        from: usize,
        to: usize,
        item: ClassIx,
        words: &[WordHit<'_>],
        place: &[usize],
    ) -> bool {
        let between = from.min(to) + 1..from.max(to);
        between.into_iter().any(|at| {
            let word = &words[at];
            let goes_with = word.classes.iter().any(|class| self.partners[usize::from(item)].contains(*class));
            let own = place.contains(&at) || !self.is_part(word);
            goes_with && !own && !is_joined(text, words[from].span, word.span)
        })
    }
}

/// The placed word next to the word at `at`.
fn nearest_of(place: &[usize], at: usize, words: &[WordHit<'_>]) -> usize {
    let nearest = place.iter().copied().min_by_key(|other| gap(words[*other].span, words[at].span));
    nearest.expect("a place starts with its anchor")
}

fn hull(place: &[usize], words: &[WordHit<'_>]) -> (Span, usize) {
    let start = place.iter().map(|at| words[*at].span.start).min().unwrap_or_default();
    let end = place.iter().map(|at| words[*at].span.end).max().unwrap_or_default();
    (Span::new(start, end), end - start)
}

fn gap(a: Span, b: Span) -> usize {
    if a.start <= b.start { b.start.saturating_sub(a.end) } else { a.start.saturating_sub(b.end) }
}

/// Whether the text between two words joins them: "disk and network".
fn is_joined(text: &str, a: Span, b: Span) -> bool {
    let (left, right) = if a.start <= b.start { (a, b) } else { (b, a) };
    let between = text.get(left.end..right.start).unwrap_or_default().trim();
    matches!(
        between,
        "and" | "or" | "/" | "&" | "+" | "和" | "与" | "及" | "以及" | "、" | "或" | "and the" | "or the" | "跟"
    )
}
