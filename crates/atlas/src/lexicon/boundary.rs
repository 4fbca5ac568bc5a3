//! Whether a hit is a word of its own, or part of another word or identifier.

use hindcast_case::Span;

/// Endings that make an adjective of a word and leave its meaning: "disk-related".
const OPEN_ENDINGS: [&str; 11] =
    ["related", "induced", "bound", "caused", "driven", "side", "level", "wide", "heavy", "limited", "based"];

/// Whether the range of `folded` that comes from `span` of `text` is neither inside a word nor inside an
/// identifier such as a configuration key, a metric or a function.
pub(crate) fn stands_free(text: &str, folded: &str, start: usize, end: usize, span: Span) -> bool {
    let folded = folded.as_bytes();
    let first_ascii = folded[start].is_ascii_alphanumeric();
    let last_ascii = folded[end - 1].is_ascii_alphanumeric();
    let word_byte = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
    if first_ascii && start > 0 && word_byte(folded.get(start - 1)) || last_ascii && word_byte(folded.get(end)) {
        return false;
    }
    let bytes = text.as_bytes();
    let before = || bytes[..span.start].iter().rev().copied();
    let after = || bytes[span.end..].iter().copied();
    let joined = |mut neighbours: Box<dyn Iterator<Item = u8> + '_>| {
        matches!(neighbours.next(), Some(b'_' | b'.' | b'-' | b'/' | b':')) && neighbours.next().is_some_and(is_word)
    };
    if first_ascii && before().next() == Some(b'_') || last_ascii && after().next() == Some(b'_') {
        return false;
    }
    let left = first_ascii && joined(Box::new(before()));
    let right = last_ascii && joined(Box::new(after()));
    match (left, right) {
        (false, false) => true,
        (true, true) => false,
        (true, false) => {
            before().next() == Some(b'/') || before().next() == Some(b'-') && is_qualified(&text[..span.start - 1])
        }
        (false, true) => {
            let rest = &text[span.end..];
            let ending: String = rest[1..].chars().take_while(char::is_ascii_alphanumeric).collect();
            let ends_there = rest[1 + ending.len()..].chars().next().is_none_or(|c| !matches!(c, '-' | '_' | '.'));
            match rest.as_bytes()[0] {
                b'/' => true,
                b'-' => {
                    OPEN_ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
                        || ends_there && is_single_word(text, span)
                }
                // A sentence that ends without a space behind the full stop.
                b'.' | b':' => ending.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()),
                _ => false,
            }
        }
    }
}

/// Words that a hyphen joins to a component without making a key of it: "raft-disk", "cross-network".
const QUALIFIERS: [&str; 14] = [
    "raft", "kv", "data", "cloud", "local", "per", "single", "high", "slow", "heavy", "cross", "inter", "intra", "tikv",
];

/// Whether the word at the end of `before` qualifies what follows, and stands free itself.
fn is_qualified(before: &str) -> bool {
    let last_other = before.char_indices().rfind(|(_, c)| !c.is_ascii_alphanumeric());
    let start = last_other.map_or(0, |(at, c)| at + c.len_utf8());
    let joint = before[..start].chars().next_back();
    QUALIFIERS.contains(&before[start..].to_ascii_lowercase().as_str()) && !matches!(joint, Some('-' | '_' | '.'))
}

/// "grpc-concurrency" may speak of gRPC, "store-pool-size" does not speak of the store pool.
fn is_single_word(text: &str, span: Span) -> bool {
    text[span.start..span.end].chars().all(|c| c.is_ascii_alphanumeric())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}
