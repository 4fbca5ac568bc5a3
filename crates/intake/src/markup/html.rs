//! HTML as Jira renders it: the XML export and `renderedFields`.

use hindcast_case::Span;
use html5gum::{Token, Tokenizer};

use super::draft::Draft;
use super::{BlockKind, Document, Origin};

/// Reads rendered HTML. Scripts and styles say nothing.
#[must_use]
pub fn read_html(html: &str) -> Document {
    let mut page = Page::default();
    for Ok(token) in Tokenizer::new(html) {
        match token {
            Token::StartTag(tag) => {
                let attribute = |name: &[u8]| {
                    let value = tag.attributes.iter().find(|(key, _)| key.as_slice() == name);
                    value.map(|(_, value)| String::from_utf8_lossy(&value.value).into_owned()).unwrap_or_default()
                };
                page.start(&tag.name, attribute);
            }
            Token::EndTag(tag) => page.end(&tag.name),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text.value)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.draft.finish()
}

#[derive(Default)]
struct Page {
    draft: Draft,
    list_depth: u8,
    is_quote: bool,
    preformatted: usize,
    silent: usize,
    row_cells: Option<usize>,
    link: Option<(String, String)>,
}

impl Page {
    fn start(&mut self, tag: &[u8], attribute: impl Fn(&[u8]) -> String) {
        match tag {
            b"script" | b"style" => self.silent += 1,
            b"p" | b"div" if self.row_cells.is_none() && self.preformatted == 0 => self.close(),
            [b'h', level @ b'1'..=b'6'] => self.open(BlockKind::Heading(level - b'0')),
            b"ul" | b"ol" => {
                self.close();
                self.list_depth = self.list_depth.saturating_add(1);
            }
            b"li" => self.open(BlockKind::Item(self.list_depth.max(1))),
            b"blockquote" => {
                self.close();
                self.is_quote = true;
            }
            b"pre" => {
                self.open(BlockKind::Code);
                self.preformatted += 1;
            }
            b"tr" => {
                self.open(BlockKind::Row);
                self.row_cells = Some(0);
            }
            b"td" | b"th" => {
                let cells = self.row_cells.get_or_insert(0);
                *cells += 1;
                if *cells > 1 {
                    self.draft.space();
                    self.say("| ");
                }
            }
            b"br" => self.say("\n"),
            b"img" => {
                let source = attribute(b"src");
                let named = source.split(['?', '#']).next().and_then(|path| path.rsplit('/').next());
                let alternative = attribute(b"alt");
                let name = if alternative.is_empty() { named.unwrap_or_default() } else { &alternative };
                // Jira renders its smileys and file icons as pictures.
                if !name.is_empty() && !source.contains("/images/icons/") {
                    self.ensure_open();
                    self.draft.media(name);
                }
            }
            b"a" => {
                let target = attribute(b"href");
                if target.starts_with("http") {
                    self.link = Some((target, String::new()));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: &[u8]) {
        match tag {
            b"script" | b"style" => self.silent = self.silent.saturating_sub(1),
            b"p" | b"div" if self.row_cells.is_none() && self.preformatted == 0 => self.close(),
            b"p" | b"div" => self.space(),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"li" => self.close(),
            b"ul" | b"ol" => {
                self.close();
                self.list_depth = self.list_depth.saturating_sub(1);
            }
            b"blockquote" => {
                self.close();
                self.is_quote = false;
            }
            b"pre" => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.close();
            }
            b"tr" => {
                self.row_cells = None;
                self.close();
            }
            b"a" => {
                if let Some((target, label)) = self.link.take() {
                    self.ensure_open();
                    self.draft.link(&label, &target, Origin::Bytes(Span::default()));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.silent > 0 {
            return;
        }
        if self.preformatted > 0 {
            return self.say(text);
        }
        let mut words = text.split_ascii_whitespace();
        let Some(first) = words.next() else { return self.space() };
        if text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.space();
        }
        self.say(first);
        for word in words {
            self.say(" ");
            self.say(word);
        }
        if text.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.space();
        }
    }

    fn space(&mut self) {
        match &mut self.link {
            Some((_, label)) => label.push(' '),
            None if self.draft.is_open() => self.draft.space(),
            None => {}
        }
    }

    fn say(&mut self, text: &str) {
        match &mut self.link {
            Some((_, label)) => label.push_str(text),
            None => {
                self.ensure_open();
                self.draft.text_with_addresses(text, 0);
            }
        }
    }

    fn ensure_open(&mut self) {
        if !self.draft.is_open() {
            self.draft.open(if self.is_quote { BlockKind::Quote } else { BlockKind::Paragraph });
        }
    }

    fn open(&mut self, kind: BlockKind) {
        self.close();
        self.draft.open(kind);
    }

    fn close(&mut self) {
        if self.draft.is_open() {
            self.draft.close(Origin::Bytes(Span::default()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendered_pages_become_lines() {
        let html = "<h3><a name=\"Symptom\"></a>Symptom</h3>\n\n<p>P99 rose,<br/>\nsee <a href=\"https://g.example/d/x?a=1&amp;b=2\" \
                    class=\"external-link\">the panel</a> &amp; more</p>\n<ul>\n\t<li>one\n\t<ul>\n\t\t<li>deeper</li>\n\t</ul>\n\t</li>\n</ul>\n\
                    <div class=\"code panel\"><div class=\"codeContent\">\n<pre class=\"code-sql\">select *\nfrom t</pre>\n</div></div>\n\
                    <table><tbody><tr><th>host</th><td><p>io</p></td></tr></tbody></table>\
                    <script>alert(1)</script><p><img src=\"https://j.example/secure/attachment/1/1_disk.png\"/></p>";
        let document = read_html(html);
        assert_eq!(
            document.text,
            "Symptom\nP99 rose,\nsee the panel (https://g.example/d/x?a=1&b=2) & more\n- one\n  - deeper\nselect *\nfrom t\n\
             host | io\n[1_disk.png]"
        );
        assert_eq!(document.anchors[0].target, "https://g.example/d/x?a=1&b=2");
    }
}
