//! Cuts the records out of a JSON export of any size: an issue, a list, a page of a search, or one of these a line.
//!
//! Only brackets and strings are looked at; whether a record is valid JSON shows when it is read.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr2;

/// Keys under which pages keep their records: Jira's searches, and what people name lists.
pub(crate) const PAGES: [&str; 5] = ["issues", "tickets", "data", "items", "records"];

/// The largest record that is read.
const MAX_RECORD: usize = 64 * 1024 * 1024;

/// How much is read at once.
const STEP: usize = 256 * 1024;

/// Cuts records from a stream.
pub(crate) struct JsonRecords<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where the next byte to look at stands in the buffer.
    at: usize,
    /// Bytes that were passed in all.
    passed: usize,
    ended: bool,
    /// Lines before `at`.
    line: usize,
    /// The lists and pages that the reader is in, outermost first.
    inside: Vec<Inside>,
    /// The `names` of pages, as raw JSON.
    names: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    List,
    Page,
}

/// A record, cut out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) bytes: Vec<u8>,
    /// The line that it begins on, from 1.
    pub(crate) line: usize,
}

/// Why a stream can't be read on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damage {
    #[error("can't be read: {0}")]
    Io(#[from] io::Error),
    #[error("line {line}: ends inside a record; what stood before was read")]
    Ends { line: usize },
    #[error("line {line}: a record of more than {} MiB was left out", MAX_RECORD / 1024 / 1024)]
    TooLarge { line: usize },
    #[error("line {line}: expected a JSON object, found {found:?}")]
    Unexpected { line: usize, found: char },
}

impl<R: Read> JsonRecords<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            at: 0,
            passed: 0,
            ended: false,
            line: 1,
            inside: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Reads on to the end for the sake of what stands beside the records: the `names` of pages, as JSON.
    pub(crate) fn survey(mut self) -> Vec<Vec<u8>> {
        while let Some(found) = self.advance() {
            if let Ok(range) = found {
                self.pass(range.end);
            }
        }
        self.names
    }

    /// The next record, or what kept it from being cut out.
    fn advance(&mut self) -> Option<Result<Range<usize>, Damage>> {
        loop {
            let before = self.passed;
            match self.step() {
                Ok(Step::Record(range)) => return Some(Ok(range)),
                Ok(Step::Structure) => {}
                Ok(Step::End) => return None,
                Err(damage) => {
                    // Beside the records of a page nothing is that large.
                    let is_lost = matches!(damage, Damage::TooLarge { .. }) && self.buffer.len() - self.at > MAX_RECORD;
                    // What is damaged is passed, or it would be met again forever.
                    let is_stuck = self.passed == before;
                    if is_lost || is_stuck || matches!(damage, Damage::Io(_)) {
                        self.ended = true;
                        self.at = self.buffer.len();
                    }
                    return Some(Err(damage));
                }
            }
        }
    }

    fn step(&mut self) -> Result<Step, Damage> {
        let Some(byte) = self.skip_blanks()? else {
            let line = self.line;
            let is_cut = !self.inside.is_empty();
            self.inside.clear();
            return if is_cut { Err(Damage::Ends { line }) } else { Ok(Step::End) };
        };
        match (byte, self.inside.last()) {
            (b'[', _) => {
                self.inside.push(Inside::List);
                self.pass(self.at + 1);
            }
            (b']', Some(Inside::List)) | (b'}', Some(Inside::Page)) => {
                self.inside.pop();
                self.pass(self.at + 1);
            }
            (b'"', Some(Inside::Page)) => return self.page_entry(),
            (b'{', Some(Inside::List) | None) => {
                let found = self.object();
                if matches!(found, Err(Damage::TooLarge { .. })) {
                    self.discard()?;
                }
                return found;
            }
            (found, _) => {
                let line = self.line;
                self.resync()?;
                return Err(Damage::Unexpected { line, found: char::from(found) });
            }
        }
        Ok(Step::Structure)
    }

    /// An object is a page as soon as one of its keys opens a list of records; else it is a record.
    fn object(&mut self) -> Result<Step, Damage> {
        let start = self.at;
        let mut cursor = start + 1;
        loop {
            let Some(at) = self.find_from(cursor, |byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b','))? else {
                return self.cut_off(start);
            };
            match self.buffer[at] {
                b'}' => return Ok(Step::Record(start..at + 1)),
                b'"' => {}
                // Not an object after all: the record ends where its brackets do.
                _ => {
                    return match self.value_end(start)? {
                        Some(end) => Ok(Step::Record(start..end)),
                        None => self.cut_off(start),
                    };
                }
            }
            let Some(key_end) = self.value_end(at)? else { return self.cut_off(start) };
            let Some(value) = self.find_from(key_end, |byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b':'))?
            else {
                return self.cut_off(start);
            };
            let key = std::str::from_utf8(&self.buffer[at + 1..key_end - 1]).unwrap_or_default();
            if self.buffer[value] == b'[' && PAGES.contains(&key) && self.is_record_list(value)? {
                let names = std::str::from_utf8(&self.buffer[start..at]).ok().and_then(names_before);
                self.names.extend(names);
                self.inside.push(Inside::Page);
                self.pass(value);
                return Ok(Step::Structure);
            }
            let Some(end) = self.value_end(value)? else { return self.cut_off(start) };
            cursor = end;
        }
    }

    /// Whether a list begins with an object, or is empty.
    fn is_record_list(&mut self, list: usize) -> Result<bool, Damage> {
        let first = self.find_from(list + 1, |byte| !byte.is_ascii_whitespace())?;
        Ok(first.is_none_or(|at| matches!(self.buffer[at], b'{' | b']')))
    }

    /// An entry of a page beside its records.
    fn page_entry(&mut self) -> Result<Step, Damage> {
        let start = self.at;
        let Some(key_end) = self.value_end(start)? else { return self.cut_off(start) };
        let blank = |byte: u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b':');
        let Some(value) = self.find_from(key_end, blank)? else { return self.cut_off(start) };
        let key = self.buffer[start + 1..key_end - 1].to_vec();
        if self.buffer[value] == b'['
            && PAGES.iter().any(|page| page.as_bytes() == key)
            && self.is_record_list(value)?
        {
            self.pass(value);
            return Ok(Step::Structure);
        }
        let Some(end) = self.value_end(value)? else { return self.cut_off(start) };
        if key == b"names" {
            self.names.push(self.buffer[value..end].to_vec());
        }
        self.pass(end);
        Ok(Step::Structure)
    }

    /// The input ends inside a record: of line files the next line is tried.
    fn cut_off(&mut self, start: usize) -> Result<Step, Damage> {
        let line = self.line;
        let next = memchr::memmem::find(&self.buffer[start..], b"\n{").map(|at| start + at + 1);
        match next.filter(|_| self.inside.is_empty()) {
            Some(next) => self.pass(next),
            None => {
                self.inside.clear();
                self.pass(self.buffer.len());
            }
        }
        Err(Damage::Ends { line })
    }

    /// Goes on at the next line, or at the next object of a list.
    fn resync(&mut self) -> Result<(), Damage> {
        let wanted: fn(u8) -> bool = if self.inside.is_empty() { |byte| byte == b'\n' } else { |byte| byte == b'{' };
        let next = self.find_from(self.at + 1, wanted)?;
        self.pass(next.unwrap_or(self.buffer.len()));
        Ok(())
    }

    /// Goes over a record that is too large, without keeping it.
    fn discard(&mut self) -> Result<(), Damage> {
        let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
        loop {
            for (offset, byte) in self.buffer[self.at..].iter().enumerate() {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' if in_string => is_escaped = true,
                    b'"' => in_string = !in_string,
                    b'{' | b'[' if !in_string => depth += 1,
                    b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                    _ => continue,
                }
                if depth == 0 && !in_string {
                    self.pass(self.at + offset + 1);
                    return Ok(());
                }
            }
            self.pass(self.buffer.len());
            if !self.fill()? {
                return Ok(());
            }
        }
    }

    fn skip_blanks(&mut self) -> Result<Option<u8>, Damage> {
        // A byte order mark is no content.
        let blank = |byte: u8| !(byte.is_ascii_whitespace() || matches!(byte, b',' | 0xef | 0xbb | 0xbf));
        match self.find_from(self.at, blank)? {
            Some(at) => {
                self.pass(at);
                Ok(Some(self.buffer[self.at]))
            }
            None => Ok(None),
        }
    }

    /// The first byte that is wanted, from a place in the buffer on.
    fn find_from(&mut self, mut from: usize, wanted: impl Fn(u8) -> bool) -> Result<Option<usize>, Damage> {
        loop {
            if let Some(found) = self.buffer.get(from..).unwrap_or_default().iter().position(|byte| wanted(*byte)) {
                return Ok(Some(from + found));
            }
            from = from.max(self.buffer.len());
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Where the value that begins at `start` ends; none when the input ends first.
    fn value_end(&mut self, start: usize) -> Result<Option<usize>, Damage> {
        let mut at = start;
        let mut depth = 0_usize;
        loop {
            while let Some(byte) = self.buffer.get(at) {
                match byte {
                    b'"' => {
                        let Some(end) = self.string_end(at)? else { return Ok(None) };
                        at = end;
                        if depth == 0 {
                            return Ok(Some(at));
                        }
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth <= 1 => {
                        // A number or word at the top ends before the bracket of what holds it.
                        return Ok(Some(if depth == 0 { at } else { at + 1 }));
                    }
                    b'}' | b']' => depth -= 1,
                    b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return Ok(Some(at)),
                    _ => {}
                }
                at += 1;
            }
            if !self.fill()? {
                return Ok((depth == 0).then_some(at));
            }
        }
    }

    /// Where the string that begins at `start` ends.
    fn string_end(&mut self, start: usize) -> Result<Option<usize>, Damage> {
        let mut at = start + 1;
        loop {
            match memchr2(b'"', b'\\', self.buffer.get(at..).unwrap_or_default()) {
                Some(found) if self.buffer[at + found] == b'"' => return Ok(Some(at + found + 1)),
                Some(found) => at += found + 2,
                None => {
                    at = at.max(self.buffer.len());
                    if !self.fill()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> Result<bool, Damage> {
        if self.ended {
            return Ok(false);
        }
        if self.buffer.len() - self.at > MAX_RECORD {
            return Err(Damage::TooLarge { line: self.line });
        }
        let before = self.buffer.len();
        self.buffer.resize(before + STEP, 0);
        let read = loop {
            match self.input.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
        let read = read?;
        self.ended = read == 0;
        Ok(read > 0)
    }

    /// Leaves everything before `to` behind.
    fn pass(&mut self, to: usize) {
        let to = to.min(self.buffer.len());
        self.passed += to - self.at;
        self.line += memchr::memchr_iter(b'\n', &self.buffer[self.at..to]).count();
        self.at = to;
        // Moving what is left is worth it only when there is little of it.
        if self.at >= STEP && self.buffer.len() - self.at < self.at {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
    }
}

enum Step {
    Record(Range<usize>),
    Structure,
    End,
}

impl<R: Read> Iterator for JsonRecords<R> {
    type Item = Result<Cut, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.advance()?;
        Some(found.map(|range| {
            let cut = Cut { bytes: self.buffer[range.clone()].to_vec(), line: self.line };
            self.pass(range.end);
            cut
        }))
    }
}

/// The `names` of a page that stand before its records.
fn names_before(head: &str) -> Option<Vec<u8>> {
    let closed = format!("{}}}", head.trim_end().trim_end_matches(','));
    let value: serde_json::Value = serde_json::from_str(&closed).ok()?;
    value.get("names").map(|names| names.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives out a few bytes at a time, as a network does.
    struct Dribble<'a>(&'a [u8]);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(3).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn cut(text: &str) -> Vec<Result<(String, usize), String>> {
        let shown = |item: Result<Cut, Damage>| match item {
            Ok(cut) => Ok((String::from_utf8(cut.bytes).expect("text"), cut.line)),
            Err(damage) => Err(damage.to_string()),
        };
        JsonRecords::new(Dribble(text.as_bytes())).map(shown).collect()
    }

    fn records(text: &str) -> Vec<String> {
        cut(text).into_iter().map(|item| item.expect("a record").0).collect()
    }

    #[test]
    fn records_are_cut_from_every_arrangement() {
        let (a, b) = (r#"{"key":"A-1","x":"}]\"[{"}"#, r#"{"key":"B-2","y":[{}]}"#);
        for text in [
            format!("[{a},{b}]"),
            format!("{a}\n{b}\n"),
            format!("{a}{b}"),
            format!(r#"{{"startAt":0,"total":2,"issues":[{a},{b}],"names":{{}}}}"#),
            format!(r#"{{"issues":[{a},{b}],"isLast":true}}"#),
            format!(r#"{{"issues":[{a}]}}{}{{"issues":[{b}]}}"#, "\n"),
            format!("\u{feff} [ {a} , {b} ] "),
            format!(r#"{{"data":[{a},{b}]}}"#),
        ] {
            assert_eq!(records(&text), [a, b], "{text}");
        }
        assert_eq!(records(r#"{"key":"A-1","issues":["x"]}"#).len(), 1, "a list of words is no page");
        assert!(records(" \n").is_empty());
        assert_eq!(cut("{}\n\n{}").last(), Some(&Ok(("{}".to_owned(), 3))));
    }

    #[test]
    fn names_are_found_before_and_after_the_records() {
        for text in [r#"{"names":{"a":"b"},"issues":[{}]}"#, r#"{"issues":[{}],"names":{"a":"b"}}"#] {
            let names = JsonRecords::new(text.as_bytes()).survey();
            assert_eq!(names, [br#"{"a":"b"}"#.to_vec()], "{text}");
        }
    }

    #[test]
    fn damage_costs_no_more_than_it_must() {
        let shown = cut("{\"a\":1}\n{\"b\":\n{\"c\":3}\n");
        assert_eq!(shown.first(), Some(&Ok(("{\"a\":1}".to_owned(), 1))));
        assert!(shown.iter().any(|item| item.as_ref().is_ok_and(|(text, _)| text.contains("\"c\":3"))), "{shown:?}");
        let shown = cut("[{\"a\":1},{\"b\":");
        assert_eq!(shown.len(), 2);
        assert!(shown[1].as_ref().is_err_and(|message| message.contains("ends inside")), "{shown:?}");
        let shown = cut("garbage\n{\"a\":1}");
        assert!(shown[0].as_ref().is_err_and(|message| message.contains("found 'g'")), "{shown:?}");
        assert!(shown[1].is_ok());
    }

    #[test]
    fn a_record_that_is_too_large_is_left_out() {
        let huge = format!("{{\"text\":\"{}\"}}", "x".repeat(MAX_RECORD + 3 * STEP));
        let text = format!("[{{\"a\":1}},{huge},{{\"c\":3}}]");
        let found: Vec<Result<Cut, Damage>> = JsonRecords::new(text.as_bytes()).collect();
        assert!(matches!(found[..], [Ok(_), Err(Damage::TooLarge { line: 1 }), Ok(_)]));
    }

    #[test]
    fn a_page_that_ends_in_an_entry_ends_the_stream() {
        for page in
            [r#"{"issues": [{"key": "A-1"}], "tot"#, r#"{"issues": [], "total""#, r#"{"issues": [], "names": {"a"#]
        {
            let found = cut(page);
            assert!(found.len() <= 2, "{page}: {found:?}");
            assert!(found.last().expect("told").as_ref().is_err_and(|told| told.contains("ends inside")), "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(proptest::sample::select(b"{}[]\",:\\ \nabissue".to_vec()), 0..200)) {
            let found = JsonRecords::new(Dribble(&bytes)).count();
            prop_assert!(found <= bytes.len() + 1);
        }

        #[test]
        fn what_is_written_is_cut_out(values in proptest::collection::vec("[a-z\"{}\\[\\]\\\\]{0,12}", 0..5)) {
            let objects: Vec<String> = values.iter().map(|value| serde_json::json!({"k": value}).to_string()).collect();
            prop_assert_eq!(records(&format!("[{}]", objects.join(","))), objects.clone());
            prop_assert_eq!(records(&objects.join("\n")), objects);
        }
    }
}
