//! Jira's wiki markup, as REST v2 and the CSV export carry it.
//!
//! Every position is looked at a bounded number of times, so the time is linear in the text, whatever it holds.

use hindcast_case::Span;
use memchr::{memchr, memchr3, memmem};

use super::draft::Draft;
use super::{BlockKind, Document, Origin};
use crate::address::addresses_in;

/// Macros whose braces show nothing; other braces are text.
const MACROS: [&str; 9] = ["color", "quote", "panel", "expand", "anchor", "section", "column", "toc", "status"];

/// Parameters of a macro and names of files beyond this length are text.
const MAX_PARAMETERS: usize = 256;

/// Reads wiki markup.
#[must_use]
pub fn read_wiki(text: &str) -> Document {
    let mut wiki = Wiki { text, draft: Draft::default(), quoted: false, last_code_end: None };
    let mut at = 0;
    let mut end = 0;
    while at < text.len() {
        if at >= end {
            end = line_end(text, at);
        }
        at = match raw_macro(&text[at..end]) {
            Some((before, name)) => wiki.raw_block(at, at + before, name),
            None => {
                wiki.line(at, end);
                end + 1
            }
        };
    }
    wiki.draft.finish()
}

fn line_end(text: &str, from: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}

/// Where a line opens `{code}` or `{noformat}`, and which.
fn raw_macro(line: &str) -> Option<(usize, &'static str)> {
    let mut from = 0;
    while let Some(found) = memchr(b'{', &line.as_bytes()[from..]) {
        let brace = from + found;
        let inside = &line[brace + 1..];
        let name = ["code", "noformat"]
            .into_iter()
            .find(|name| inside.strip_prefix(name).is_some_and(|rest| rest.starts_with(['}', ':'])));
        let nearby = &inside[..inside.floor_char_boundary(MAX_PARAMETERS)];
        if let Some(name) = name.filter(|_| nearby.contains('}')) {
            return Some((brace, name));
        }
        from = brace + 1;
    }
    None
}

struct Wiki<'a> {
    text: &'a str,
    draft: Draft,
    quoted: bool,
    /// Where `}}` stands last in the line at work, so that no opening brace looks for one in vain.
    last_code_end: Option<usize>,
}

impl Wiki<'_> {
    /// Reads from the start of a line over a raw macro that opens at `brace`; returns where to go on.
    fn raw_block(&mut self, line: usize, brace: usize, name: &str) -> usize {
        if !self.text[line..brace].trim().is_empty() {
            self.line(line, brace);
        }
        let opened = brace + memchr(b'}', &self.text.as_bytes()[brace..]).map_or(0, |at| at + 1);
        let closing = format!("{{{name}}}");
        let found = memmem::find(&self.text.as_bytes()[opened..], closing.as_bytes());
        let closed = found.map_or(self.text.len(), |at| opened + at);
        self.draft.open(BlockKind::Code);
        self.draft.text(self.text[opened..closed].trim_start_matches(['\r', '\n']));
        let after = (closed + closing.len()).min(self.text.len());
        self.draft.close(Origin::Bytes(Span::new(brace, after)));
        // What is left of the line may be nothing at all.
        let rest = self.text[after..].trim_start_matches([' ', '\t', '\r']);
        if rest.starts_with('\n') { self.text.len() - rest.len() + 1 } else { after }
    }

    fn line(&mut self, start: usize, end: usize) {
        let line = self.text[start..end].trim_end();
        let body = line.trim_start();
        let at = start + (line.len() - body.len());
        let origin = Origin::Bytes(Span::new(start, end));
        let kind = self.kind(body);
        if body.starts_with("||") || body.starts_with('|') && body.len() > 1 && body.ends_with('|') {
            self.draft.open(BlockKind::Row);
            self.row(body, at);
            self.draft.close(origin);
            return;
        }
        let (kind, marker) = match kind {
            Some(found) => found,
            // A rule shows nothing.
            None if body.len() >= 4 && body.bytes().all(|b| b == b'-') => return,
            None if self.quoted => (BlockKind::Quote, 0),
            None => (BlockKind::Paragraph, 0),
        };
        self.draft.open(kind);
        self.inline(&body[marker..], at + marker);
        self.draft.close(origin);
    }

    /// The block that a line begins, and the length of its marker.
    fn kind(&self, body: &str) -> Option<(BlockKind, usize)> {
        let bytes = body.as_bytes();
        if let [b'h', level @ b'1'..=b'6', b'.', ..] = bytes {
            return Some((BlockKind::Heading(level - b'0'), 3 + blanks(&body[3..])));
        }
        if body.starts_with("bq. ") {
            return Some((BlockKind::Quote, 4));
        }
        let bullets = bytes.iter().take_while(|b| matches!(b, b'*' | b'#' | b'-')).count();
        let is_item = (1..=8).contains(&bullets) && bytes.get(bullets) == Some(&b' ');
        is_item.then(|| (BlockKind::Item(u8::try_from(bullets).unwrap_or(8)), bullets + blanks(&body[bullets..])))
    }

    /// Cells, split at bars that stand neither in a link nor in a macro.
    fn row(&mut self, body: &str, at: usize) {
        let mut cell = 0;
        let mut cells = 0;
        let mut from = 0;
        let bytes = body.as_bytes();
        loop {
            let found = memchr3(b'|', b'[', b'{', &bytes[from..]).map_or(body.len(), |found| from + found);
            if matches!(bytes.get(found), Some(b'[' | b'{')) {
                let close = if bytes[found] == b'[' { b']' } else { b'}' };
                // A bracket of this cell's, or else plain text.
                let cut = memchr3(close, b'[', b'{', &bytes[found + 1..]).map(|at| found + 1 + at);
                from = cut.filter(|at| bytes[*at] == close).map_or(found + 1, |at| at + 1);
                continue;
            }
            let content = body[cell..found].trim();
            if !content.is_empty() {
                if cells > 0 {
                    self.draft.text(" | ");
                }
                let lead = body[cell..found].len() - body[cell..found].trim_start().len();
                self.inline(content, at + cell + lead);
                cells += 1;
            }
            if found >= body.len() {
                return;
            }
            from = found + 1;
            cell = from;
        }
    }

    /// Text of one line with its links and emphasis; `at` is where it begins in the source.
    fn inline(&mut self, line: &str, at: usize) {
        let bytes = line.as_bytes();
        let dropped = emphasis(line);
        let mut next_dropped = 0;
        let addresses = addresses_in(line);
        let mut next_address = 0;
        let pairs = Pairs::new(line);
        self.last_code_end = memmem::rfind(bytes, b"}}");
        let mut shown = 0;
        let mut from = 0;
        while from < line.len() {
            while addresses.get(next_address).is_some_and(|span| span.start < from) {
                next_address += 1;
            }
            while dropped.get(next_dropped).is_some_and(|at| *at < from) {
                next_dropped += 1;
            }
            if let Some(address) = addresses.get(next_address).filter(|span| span.start == from) {
                self.draft.text(&line[shown..from]);
                let origin = Origin::Bytes(Span::new(at + address.start, at + address.end));
                self.draft.link("", &line[address.start..address.end], origin);
                (shown, from) = (address.end, address.end);
                continue;
            }
            let taken = match bytes[from] {
                b'[' => self.bracket(line, from, shown, &pairs, at),
                b'{' => self.brace(line, from, shown),
                b'!' => self.picture(line, from, shown),
                b'\\' => self.escape(line, from, shown),
                _ if dropped.get(next_dropped) == Some(&from) => {
                    self.draft.text(&line[shown..from]);
                    Some(from + 1)
                }
                _ => None,
            };
            match taken {
                Some(next) => (shown, from) = (next, next),
                None => from += 1,
            }
        }
        self.draft.text(&line[shown..]);
    }

    /// `[label|target]`, `[target]`, `[~user]`, `[^file]`; text where it is none of these.
    fn bracket(&mut self, line: &str, open: usize, shown: usize, pairs: &Pairs, at: usize) -> Option<usize> {
        let close = pairs.close_of(open)?;
        let first = open + 1 + memchr3(b'[', b']', b'|', &line.as_bytes()[open + 1..])?;
        let head = &line[open + 1..first];
        let is_address = |text: &str| text.starts_with("http://") || text.starts_with("https://");
        let (label, target) = match line.as_bytes()[first] {
            b'|' if is_address(head.trim()) && !is_address(line[first + 1..close].trim_start()) => ("", head),
            b'|' => (head, &line[first + 1..close]),
            b']' => ("", head),
            // Brackets inside an address: Grafana's Explore.
            _ if is_address(head) => ("", &line[open + 1..close]),
            _ => return None,
        };
        let target = without_view(target.trim());
        let origin = Origin::Bytes(Span::new(at + open, at + close + 1));
        let show = |draft: &mut Draft| draft.text(&line[shown..open]);
        if is_address(target) || target.starts_with("mailto:") {
            show(&mut self.draft);
            self.draft.link(label, target, origin);
        } else if let Some(user) = target.strip_prefix('~').filter(|user| !user.is_empty() && label.is_empty()) {
            show(&mut self.draft);
            self.draft.text(&format!("@{user}"));
        } else if let Some(file) = target.strip_prefix('^').filter(|file| !file.is_empty()) {
            show(&mut self.draft);
            self.draft.media(file);
        } else {
            return None;
        }
        Some(close + 1)
    }

    /// `{{code}}`, and macros that show nothing.
    fn brace(&mut self, line: &str, open: usize, shown: usize) -> Option<usize> {
        let rest = &line[open + 1..];
        if let Some(code) = rest.strip_prefix('{') {
            if self.last_code_end < Some(open) {
                return None;
            }
            let close = code.find("}}")?;
            self.draft.text(&line[shown..open]);
            self.draft.text(&code[..close]);
            return Some(open + 2 + close + 2);
        }
        let name = MACROS.iter().find(|name| rest.starts_with(**name))?;
        let tail = &rest[name.len()..rest.floor_char_boundary(name.len() + MAX_PARAMETERS)];
        if !tail.starts_with(['}', ':']) {
            return None;
        }
        let close = open + 1 + name.len() + memchr(b'}', tail.as_bytes())?;
        self.draft.text(&line[shown..open]);
        if *name == "quote" {
            self.quoted = !self.quoted;
            let starts = self.quoted && self.draft.says_nothing();
            if starts && self.draft.is_open() {
                self.draft.open(BlockKind::Quote);
            }
        }
        Some(close + 1)
    }

    /// `!picture.png|thumbnail!`.
    fn picture(&mut self, line: &str, open: usize, shown: usize) -> Option<usize> {
        let rest = &line[open + 1..line.floor_char_boundary(open + 1 + MAX_PARAMETERS)];
        let close = memchr(b'!', rest.as_bytes())?;
        let name = rest[..close].split('|').next()?;
        let is_file = !name.starts_with(char::is_whitespace)
            && name.rsplit_once('.').is_some_and(|(stem, end)| {
                !stem.is_empty() && (2..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric())
            });
        if !is_file {
            return None;
        }
        self.draft.text(&line[shown..open]);
        self.draft.media(name);
        Some(open + 1 + close + 1)
    }

    /// `\[`: the character itself; `\\`: a new line.
    fn escape(&mut self, line: &str, at: usize, shown: usize) -> Option<usize> {
        let next = *line.as_bytes().get(at + 1)?;
        if !matches!(
            next,
            b'\\' | b'[' | b']' | b'{' | b'}' | b'*' | b'_' | b'-' | b'!' | b'|' | b'#' | b'+' | b'~' | b'^'
        ) {
            return None;
        }
        self.draft.text(&line[shown..at]);
        let shows = if next == b'\\' { "\n" } else { &line[at + 1..at + 2] };
        self.draft.text(shows);
        Some(at + 2)
    }
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// A target without what only says how to show it.
fn without_view(target: &str) -> &str {
    let Some((address, view)) = target.rsplit_once('|') else { return target };
    let known = matches!(view, "smart-link" | "smart-card" | "smart-embed" | "block") || view.starts_with("width=");
    if known { address } else { target }
}

/// Which bracket closes which, for one line.
struct Pairs(Vec<(usize, usize)>);

impl Pairs {
    fn new(line: &str) -> Self {
        let mut open = Vec::new();
        let mut pairs = Vec::new();
        if memchr(b'[', line.as_bytes()).is_some() {
            for (at, byte) in line.bytes().enumerate() {
                match byte {
                    b'[' => open.push(at),
                    b']' => pairs.extend(open.pop().map(|start| (start, at))),
                    _ => {}
                }
            }
        }
        pairs.sort_unstable();
        Self(pairs)
    }

    fn close_of(&self, open: usize) -> Option<usize> {
        self.0.binary_search_by_key(&open, |(start, _)| *start).ok().map(|at| self.0[at].1)
    }
}

/// Positions of asterisks, underscores and plus signs that make words bold, italic or underlined, in order.
fn emphasis(line: &str) -> Vec<usize> {
    let bytes = line.as_bytes();
    let is_word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'*' | b'/'))
    };
    let is_blank = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_none_or(u8::is_ascii_whitespace);
    let mut dropped = Vec::new();
    for marker in [b'*', b'_', b'+'] {
        let mut opened = None;
        for at in memchr::memchr_iter(marker, bytes) {
            let (before, after) = (at.checked_sub(1), Some(at + 1));
            match opened {
                Some(open) if !is_blank(before) && !is_word(after) && at > open + 1 => {
                    dropped.extend([open, at]);
                    opened = None;
                }
                _ if !is_word(before) && !is_blank(after) => opened = Some(at),
                _ => {}
            }
        }
    }
    dropped.sort_unstable();
    dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_disappears_and_words_stay() {
        for (markup, text) in [
            ("h3. Symptom", "Symptom"),
            ("*bold* and _it_ and +ins+", "bold and it and ins"),
            ("tikv_grpc_msg_duration_seconds and a*b*c", "tikv_grpc_msg_duration_seconds and a*b*c"),
            ("{{tikv_scheduler}} stays", "tikv_scheduler stays"),
            ("{color:red}P99{color} rose", "P99 rose"),
            ("{region_id: 5} stays", "{region_id: 5} stays"),
            ("[a dashboard|https://g.example/d/x?a=1&amp;b=2]", "a dashboard (https://g.example/d/x?a=1&b=2)"),
            ("[https://g.example/d/x|https://g.example/d/x|smart-link]", "https://g.example/d/x"),
            ("[x|https://g.example/d/x?q=a|b]", "x (https://g.example/d/x?q=a|b)"),
            ("[https://g.example/explore?left=[1,2]]", "https://g.example/explore?left=[1,2]"),
            ("[~accountid:5b10] look at [2024/12/03] [INFO]", "@accountid:5b10 look at [2024/12/03] [INFO]"),
            ("see !disk.png|thumbnail! and [^tikv.log]", "see [disk.png] and [tikv.log]"),
            ("wow! really!", "wow! really!"),
            ("\\[kept\\]", "[kept]"),
            ("* one\n** two\n# three", "- one\n  - two\n- three"),
            ("||host||io||\n|kv-1|[p99|https://g.example/d/x]|", "host | io\nkv-1 | p99 (https://g.example/d/x)"),
            ("{code:sql}\nselect *\nfrom t\n{code}\nafter", "select *\nfrom t\nafter"),
            ("log: {noformat}a *b* c{noformat} end", "log:\na *b* c\nend"),
            ("a\r\n\r\n\r\nb", "a\n\nb"),
            ("bq. said", "said"),
            ("a\u{200b}b\u{a0}c", "ab c"),
            ("----", ""),
        ] {
            let shown = read_wiki(markup);
            assert_eq!(shown.text, text, "{markup}");
        }
    }

    #[test]
    fn blocks_and_links_know_where_they_stood() {
        let markup = "h2. A\n{quote}he said{quote}\n{code}x{code}\nsee [d|https://g.example/d/x]";
        let document = read_wiki(markup);
        let kinds: Vec<BlockKind> = document.blocks.iter().map(|block| block.kind).collect();
        assert_eq!(kinds, [BlockKind::Heading(2), BlockKind::Quote, BlockKind::Code, BlockKind::Paragraph]);
        let anchor = &document.anchors[0];
        let Origin::Bytes(span) = &anchor.origin else { panic!("a span of the markup") };
        assert_eq!(&markup[span.start..span.end], "[d|https://g.example/d/x]");
        assert_eq!(document.prose(), "A\nsee d (https://g.example/d/x)");
    }
}
