//! Markdown, as GitHub and renderings of tickets carry it.

use hindcast_case::Span;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::draft::Draft;
use super::{BlockKind, Document, Origin, html};

/// GitHub's own limit is 64 KiB; what is much longer is a log, not a text.
const MAX_TEXT: usize = 512 * 1024;

/// Reads GitHub's Markdown. HTML in it is read as such.
#[must_use]
pub fn read_markdown(text: &str) -> Document {
    if text.len() > MAX_TEXT {
        return Document::plain(text);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader::default();
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let span = Span::new(range.start, range.end);
        match event {
            Event::Start(tag) => reader.start(tag),
            Event::End(tag) => reader.end(tag, span),
            Event::Text(text) => reader.say(&text, span),
            Event::Code(code) => reader.say(&code, span),
            Event::SoftBreak | Event::HardBreak => reader.say("\n", span),
            // A tag alone shows nothing; what a block of HTML says is kept.
            Event::Html(block) => reader.say(&html::read_html(&block).text, span),
            Event::InlineHtml(tag) if tag.starts_with("<br") => reader.say("\n", span),
            _ => {}
        }
    }
    reader.draft.finish()
}

#[derive(Default)]
struct Reader {
    draft: Draft,
    list_depth: u8,
    quote_depth: u8,
    cells: usize,
    in_code: bool,
    in_row: bool,
    link: Option<(String, String)>,
    caption: Option<String>,
}

impl Reader {
    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.open(BlockKind::Heading(level as u8)),
            Tag::CodeBlock(_) => {
                self.open(BlockKind::Code);
                self.in_code = true;
            }
            Tag::List(_) => self.list_depth = self.list_depth.saturating_add(1),
            Tag::Item => self.open(BlockKind::Item(self.list_depth.max(1))),
            Tag::BlockQuote(_) => self.quote_depth = self.quote_depth.saturating_add(1),
            Tag::TableHead | Tag::TableRow => {
                self.open(BlockKind::Row);
                self.in_row = true;
                self.cells = 0;
            }
            Tag::TableCell => {
                self.cells += 1;
                if self.cells > 1 {
                    self.draft.text(" | ");
                }
            }
            Tag::Link { dest_url, .. } => self.link = Some((dest_url.into_string(), String::new())),
            Tag::Image { dest_url, .. } => {
                let name = dest_url.split(['?', '#']).next().and_then(|path| path.rsplit('/').next());
                self.ensure_open();
                self.draft.media(name.unwrap_or_default());
                self.caption = Some(String::new());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, span: Span) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::HtmlBlock => self.close(span),
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.close(span);
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                self.in_row = false;
                self.close(span);
            }
            TagEnd::List(_) => {
                self.close(span);
                self.list_depth = self.list_depth.saturating_sub(1);
            }
            TagEnd::BlockQuote(_) => self.quote_depth = self.quote_depth.saturating_sub(1),
            TagEnd::Image => {
                // What GitHub calls a picture that nobody named says nothing.
                let caption = self.caption.take().filter(|caption| !matches!(caption.trim(), "" | "image" | "Image"));
                if let Some(caption) = caption {
                    self.draft.text(&format!(" {caption}"));
                }
            }
            TagEnd::Link => {
                if let Some((target, label)) = self.link.take() {
                    self.ensure_open();
                    if target.contains("://") {
                        self.draft.link(&label, &target, Origin::Bytes(span));
                    } else {
                        self.draft.text(&label);
                    }
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str, span: Span) {
        if let Some(caption) = &mut self.caption {
            caption.push_str(text);
            return;
        }
        if let Some((_, label)) = &mut self.link {
            label.push_str(text);
            return;
        }
        self.ensure_open();
        if self.in_code {
            self.draft.text(text);
        } else {
            self.draft.text_with_addresses(text, span.start);
        }
    }

    fn open(&mut self, kind: BlockKind) {
        self.close(Span::default());
        self.draft.open(kind);
    }

    fn ensure_open(&mut self) {
        if !self.draft.is_open() {
            self.draft.open(if self.quote_depth > 0 { BlockKind::Quote } else { BlockKind::Paragraph });
        }
    }

    fn close(&mut self, span: Span) {
        if self.draft.is_open() {
            self.draft.close(Origin::Bytes(span));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_lines() {
        let markdown = "## Bug Report\r\n\r\n<!-- Thanks for filing -->\r\nP99 **rose**, see [the panel](https://g.example/d/x?a=1&b=2)\r\n\
                        and https://g.example/d/y.\r\n\r\n> he said\r\n\r\n- one\r\n  - deeper\r\n\r\n```\r\nlog *line*\r\n```\r\n\r\n| host | io |\r\n| --- | --- |\r\n| kv | 1 |\r\n\r\n\
                        ![image](https://user-images.example/1/disk.png)";
        let document = read_markdown(markdown);
        assert_eq!(
            document.text,
            "Bug Report\n\nP99 rose, see the panel (https://g.example/d/x?a=1&b=2)\nand https://g.example/d/y.\nhe said\n\
             - one\n  - deeper\nlog *line*\nhost | io\nkv | 1\n[disk.png]"
        );
        assert_eq!(document.anchors.len(), 2);
        assert_eq!(document.blocks.iter().filter(|block| block.kind == BlockKind::Quote).count(), 1);
    }
}
