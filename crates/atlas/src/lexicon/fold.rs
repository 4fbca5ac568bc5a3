//! Text as the lexicon compares it, with the way back to the text that a person reads.

use hindcast_case::{Span, fold_char};

use super::inflect;

/// Folded text: case, width, hyphens, white space and English inflection do not count.
#[derive(Debug, Clone, Default)]
pub struct Folded {
    text: String,
    /// For every byte of `text`, where in the original it comes from.
    origin: Vec<Span>,
}

impl Folded {
    /// Folds `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), origin: Vec::with_capacity(text.len()) };
        let mut gap: Option<usize> = None;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let c = fold_char(c);
            if matches!(c, '\u{200b}' | '\u{feff}' | '\u{ad}') {
                continue;
            }
            if matches!(c, '-' | '=') && chars.next_if(|(_, next)| *next == '>').is_some() {
                folded.push('→', Span::new(at, at + 2));
                gap = None;
                continue;
            }
            if c.is_whitespace() || matches!(c, '-' | '_' | '‐' | '–') {
                gap.get_or_insert(at);
                continue;
            }
            if let Some(start) = gap.take() {
                folded.space(c, Span::new(start, at));
            }
            if c == '/' && folded.is_io(&text[at..]) {
                continue;
            }
            let width = text[at..].chars().next().map_or(1, char::len_utf8);
            folded.push(c, Span::new(at, at + width));
            if c.is_ascii_alphabetic() {
                let start = folded.text.len() - 1;
                while let Some((next, n)) = chars.next_if(|(_, n)| fold_char(*n).is_ascii_alphabetic()) {
                    folded.push(fold_char(n), Span::new(next, next + n.len_utf8()));
                }
                folded.inflect(start);
            }
        }
        folded
    }

    /// The folded text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where a non-empty range of the folded text comes from.
    #[must_use]
    pub fn original(&self, start: usize, end: usize) -> Span {
        Span::new(self.origin[start].start, self.origin[end - 1].end)
    }

    fn push(&mut self, c: char, span: Span) {
        self.text.push(c);
        self.origin.extend(std::iter::repeat_n(span, c.len_utf8()));
    }

    /// White space counts only between two ASCII words: "IO 抖动" and "IO抖动" are one.
    fn space(&mut self, next: char, span: Span) {
        let after_ascii = self.text.as_bytes().last().is_some_and(u8::is_ascii_alphanumeric);
        if after_ascii && next.is_ascii_alphanumeric() {
            self.push(' ', span);
        }
    }

    /// Replaces the word that starts at `start` by its base, which stands for the whole word.
    fn inflect(&mut self, start: usize) {
        let end = self.origin[self.origin.len() - 1].end;
        let (kept, tail) = inflect::base(&self.text.as_bytes()[start..]);
        let rest = self.origin.get(start + kept).copied();
        self.text.truncate(start + kept);
        self.origin.truncate(start + kept);
        for c in tail.chars() {
            self.push(c, rest.unwrap_or(Span::new(end, end)));
        }
        if let Some(last) = self.origin.last_mut() {
            last.end = end;
        }
    }

    /// Whether a slash that comes next belongs to "I/O".
    fn is_io(&self, rest: &str) -> bool {
        let bytes = self.text.as_bytes();
        let lone_i = bytes.last() == Some(&b'i') && !bytes.iter().rev().nth(1).is_some_and(u8::is_ascii_alphanumeric);
        let mut after = rest.chars().skip(1).map(fold_char);
        lone_i && after.next() == Some('o') && after.next().is_none_or(|c| !c.is_ascii_alphabetic() || c == 's')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_folds_alike() {
        for text in ["IO 抖动", "io抖动", "ＩＯ　抖动", "I/O 抖动", "IO-抖动"] {
            assert_eq!(Folded::new(text).as_str(), "io抖动", "{text}");
        }
        assert_eq!(Folded::new("Apply-Wait  Spikes").as_str(), "apply wait spik");
        assert_eq!(Folded::new("level-0 files, I/Os").as_str(), "level 0 fil,ios");
    }

    #[test]
    fn every_folded_range_leads_back_to_the_text() {
        let text = "The disk HANGS，IO 抖动";
        let folded = Folded::new(text);
        let at = folded.as_str().find("hang").expect("folded");
        let span = folded.original(at, at + 4);
        assert_eq!(&text[span.start..span.end], "HANGS");
        let at = folded.as_str().find("io抖动").expect("folded");
        let span = folded.original(at, folded.as_str().len());
        assert_eq!(&text[span.start..span.end], "IO 抖动");
    }
}
