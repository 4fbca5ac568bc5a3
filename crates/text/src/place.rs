//! Scope, side and path as a text says them.

use std::collections::{BTreeMap, HashMap};

use hindcast_atlas::{Finder, Folded};
use hindcast_case::{Path, Scope, Span, TikvSide, Vocabulary};
use serde::Deserialize;

/// What a word says about where the problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Scope(Scope),
    Side(TikvSide),
    Path(Path),
    /// "每个 TiKV 有 …", "集群有 …": describes the cluster, not the problem.
    Nothing,
}

/// The words of `places.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceWords {
    scope: BTreeMap<String, Vec<String>>,
    side: BTreeMap<String, Vec<String>>,
    path: BTreeMap<String, Vec<String>>,
    nothing: BTreeMap<String, Vec<String>>,
}

impl PlaceWords {
    fn shipped() -> Self {
        toml::from_str(include_str!("places.toml")).expect("the tests load the shipped places")
    }

    fn entries(&self) -> impl Iterator<Item = (Place, &String)> {
        let scopes = flatten(&self.scope, Place::Scope);
        let sides = flatten(&self.side, Place::Side);
        let paths = flatten(&self.path, Place::Path);
        scopes.chain(sides).chain(paths).chain(self.nothing.values().flatten().map(|word| (Place::Nothing, word)))
    }
}

fn flatten<T: Vocabulary>(
    words: &BTreeMap<String, Vec<String>>,
    place: impl Fn(T) -> Place + Copy,
) -> impl Iterator<Item = (Place, &String)> {
    words.iter().flat_map(move |(name, words)| {
        let value = T::recognise(name).expect("the tests read every word of the shipped places");
        words.iter().map(move |word| (place(value), word))
    })
}

/// Reads places; built once.
#[derive(Debug)]
pub(crate) struct PlaceReader {
    words: Finder<Place>,
}

/// What a text says about where the problem is; each with its words.
#[derive(Debug, Clone, Default)]
pub struct Places {
    scopes: Vec<(Scope, Span)>,
    /// Whether it is TiKV's side.
    pub side: Option<(TikvSide, Span)>,
    /// Which path is slow.
    pub path: Option<(Path, Span)>,
}

impl PlaceReader {
    pub(crate) fn new() -> Self {
        let shipped = PlaceWords::shipped();
        let folded = shipped.entries().map(|(place, word)| (Folded::new(word).as_str().to_owned(), place));
        let folded: HashMap<String, Place> = folded.collect();
        Self { words: Finder::new(folded) }
    }

    /// The places of a text.
    pub(crate) fn read(&self, text: &str, folded: &Folded) -> Places {
        let mut places = Places::default();
        let (mut reads, mut writes) = (None, None);
        for (span, place) in self.words.find(text, folded) {
            match place {
                Place::Scope(scope) => places.scopes.push((*scope, span)),
                // A clear "not TiKV" outweighs whatever else is said about sides.
                Place::Side(side) if places.side.is_none_or(|(known, _)| known != TikvSide::No) => {
                    places.side = Some((*side, span));
                }
                Place::Path(Path::Read) => reads = reads.or(Some(span)),
                Place::Path(Path::Write) => writes = writes.or(Some(span)),
                Place::Path(path) => places.path = places.path.or(Some((*path, span))),
                Place::Side(_) | Place::Nothing => {}
            }
        }
        places.scopes.extend(numbered(text));
        places.scopes.sort_by_key(|(_, span)| *span);
        places.path = places.path.or(match (reads, writes) {
            (Some(read), Some(_)) => Some((Path::ReadWrite, read)),
            (Some(read), None) => Some((Path::Read, read)),
            (None, Some(write)) => Some((Path::Write, write)),
            (None, None) => None,
        });
        places
    }
}

impl Places {
    /// The first scope said within this range.
    #[must_use]
    pub fn scope_in(&self, range: Span) -> Option<(Scope, Span)> {
        self.scopes.iter().find(|(_, span)| span.overlaps(range)).copied()
    }

    /// The first scope said anywhere.
    #[must_use]
    pub fn first_scope(&self) -> Option<(Scope, Span)> {
        self.scopes.first().copied()
    }
}

/// "store 8" is one instance, "region 1223936" one region, "20 个 TiKV" the cluster.
fn numbered(text: &str) -> Vec<(Scope, Span)> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (word, scope) in [("store", Scope::SingleInstance), ("region", Scope::SingleRegion)] {
        for (at, _) in lower.match_indices(word) {
            let rest = lower[at + word.len()..].trim_start_matches([' ', '-', '#']);
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let is_word = !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let is_time = rest[digits..].starts_with(':');
            if is_word && (1..=12).contains(&digits) && !is_time {
                let end = text.len() - rest.len() + digits;
                found.push((scope, Span::new(at, end)));
            }
        }
    }
    for (at, _) in lower.match_indices("tikv") {
        let before = lower[..at].trim_end();
        let before = before.strip_suffix(['个', '台']).unwrap_or(before).trim_end();
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let start = before.len() - digits;
        let in_word =
            before[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'));
        // "from 24 to 30 TiKV nodes", "the cluster has 12 TiKV": counts what is there, not what is slow.
        let is_change = [" to", " from", " has", " have", " with", " of", "到", "至", "扩容", "缩容", "有", "共"]
            .iter()
            .any(|word| before[..start].trim_end().ends_with(word));
        if let Ok(count) = before[start..].parse::<u32>()
            && !in_word
            && !is_change
        {
            // More than a handful of instances is the cluster.
            let scope = match count {
                1 => Scope::SingleInstance,
                2..=5 => Scope::FewInstances,
                _ => Scope::Cluster,
            };
            found.push((scope, Span::new(start, at + "tikv".len())));
        }
    }
    found
}
