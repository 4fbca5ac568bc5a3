//! A document in the making: what all markup readers write to.

use hindcast_case::Span;

use super::{Anchor, Block, BlockKind, Document, Origin};
use crate::address::addresses_in;

/// A document in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    document: Document,
    open: Option<(BlockKind, usize)>,
}

impl Draft {
    /// Begins a block; one that is open and has said nothing is replaced.
    pub(super) fn open(&mut self, kind: BlockKind) {
        let indent = match kind {
            BlockKind::Item(depth) => usize::from(depth.clamp(1, 8)) - 1,
            _ => 0,
        };
        if !self.document.text.is_empty() && !self.document.text.ends_with('\n') {
            self.document.text.push('\n');
        }
        self.document.text.push_str(&"  ".repeat(indent));
        if matches!(kind, BlockKind::Item(_)) {
            self.document.text.push_str("- ");
        }
        self.open = Some((kind, self.document.text.len()));
    }

    /// Whether a block is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the open block has said nothing yet.
    pub(super) fn says_nothing(&self) -> bool {
        self.open.is_none_or(|(_, start)| self.document.text[start..].trim().is_empty())
    }

    /// Adds a space, unless a line begins here or one stands there already.
    pub(super) fn space(&mut self) {
        let text = &self.document.text;
        if !text.is_empty() && !text.ends_with([' ', '\n']) {
            self.document.text.push(' ');
        }
    }

    /// Ends the open block. One that said nothing leaves an empty line between paragraphs, and no trace elsewhere.
    pub(super) fn close(&mut self, origin: Origin) {
        let Some((kind, start)) = self.open.take() else { return };
        if kind != BlockKind::Code || self.document.text[start..].trim().is_empty() {
            let kept = start.max(self.document.text.trim_end().len());
            self.cut(kept);
        }
        while self.document.text.len() > start && self.document.text.ends_with('\n') {
            self.document.text.pop();
        }
        if self.document.text.len() == start {
            let line = self.document.text.rfind('\n').map_or(0, |at| at + 1);
            self.document.text.truncate(line);
            // One empty line at most, none at the start.
            if kind == BlockKind::Paragraph && line > 0 && !self.document.text.ends_with("\n\n") {
                self.document.text.push('\n');
            }
            return;
        }
        let span = Span::new(start, self.document.text.len());
        self.document.blocks.push(Block { kind, span, origin });
    }

    /// Adds text as it is; characters that show nothing are left out.
    pub(super) fn text(&mut self, text: &str) {
        let is_plain = |b: u8| b >= b' ' && b != 0x7f && b < 0x80 || b == b'\n' || b == b'\t';
        if text.bytes().all(is_plain) {
            self.document.text.push_str(text);
            return;
        }
        let mut rest = text;
        while let Some(at) = rest.find(is_odd) {
            self.document.text.push_str(&rest[..at]);
            let odd = rest[at..].chars().next().expect("one was found there");
            if odd == '\u{a0}' {
                self.document.text.push(' ');
            }
            rest = &rest[at + odd.len_utf8()..];
        }
        self.document.text.push_str(rest);
    }

    /// Adds text in which addresses become links; `source` is where it begins in the source.
    pub(super) fn text_with_addresses(&mut self, text: &str, source: usize) {
        let mut at = 0;
        for span in addresses_in(text) {
            self.text(&text[at..span.start]);
            let origin = Origin::Bytes(Span::new(source + span.start, source + span.end));
            self.link("", &text[span.start..span.end], origin);
            at = span.end;
        }
        self.text(&text[at..]);
    }

    /// Adds a link. A label that says no more than the target is left out.
    pub(super) fn link(&mut self, label: &str, target: &str, origin: Origin) {
        let target = target.trim().replace("&amp;", "&");
        let label = label.trim();
        let start = self.document.text.len();
        let says_more = !label.is_empty() && label.replace("&amp;", "&") != target;
        if says_more {
            self.text(label);
            self.text(&format!(" ({target})"));
        } else {
            self.text(&target);
        }
        let shown = if says_more { label.to_owned() } else { target.clone() };
        let span = Span::new(start, self.document.text.len());
        self.document.anchors.push(Anchor { target, label: shown, span, origin });
    }

    /// Adds a picture or file by name.
    pub(super) fn media(&mut self, name: &str) {
        self.text(&format!("[{name}]"));
        self.document.media.push(name.to_owned());
    }

    /// The document. An open block is closed.
    pub(super) fn finish(mut self) -> Document {
        self.close(Origin::Bytes(Span::default()));
        self.cut(self.document.text.trim_end().len());
        self.document
    }

    /// Cuts the text off, and with it what of blocks and links lay behind.
    fn cut(&mut self, len: usize) {
        let Document { text, blocks, anchors, .. } = &mut self.document;
        text.truncate(len);
        let spans = anchors.iter_mut().rev().map(|anchor| &mut anchor.span);
        for span in spans.take_while(|span| span.end > len) {
            *span = Span::new(span.start.min(len), len);
        }
        for block in blocks.iter_mut().rev().take_while(|block| block.span.end > len) {
            block.span = Span::new(block.span.start.min(len), len);
        }
    }
}

/// Characters that show nothing, or break lines where none should be: control characters, zero-width characters,
/// direction marks, carriage returns; and the space that is no space.
fn is_odd(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
        || c.is_control() && c != '\n' && c != '\t'
}
