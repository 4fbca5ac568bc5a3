//! Atlassian Document Format, as REST v3 carries it: a JSON tree.

use std::fmt::Write as _;

use serde_json::Value;

use super::draft::Draft;
use super::{BlockKind, Document, Origin};

/// Nodes below this depth are not read; serde_json refuses deeper trees anyway.
const MAX_DEPTH: usize = 100;

/// Reads a document tree. What is not known is passed over, but not what stands in it.
#[must_use]
pub fn read_adf(tree: &Value) -> Document {
    let mut reader =
        Reader { draft: Draft::default(), pointer: String::new(), list_depth: 0, kind: BlockKind::Paragraph };
    reader.node(tree, 0);
    reader.draft.finish()
}

struct Reader {
    draft: Draft,
    /// Where in the tree the reader is.
    pointer: String,
    list_depth: u8,
    /// What a paragraph is here: in a list an item, in a quote a quote.
    kind: BlockKind,
}

impl Reader {
    fn node(&mut self, node: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let attribute = |name: &str| &node["attrs"][name];
        let shown = |name: &str| attribute(name).as_str().unwrap_or_default();
        match node["type"].as_str().unwrap_or_default() {
            "paragraph" | "caption" | "taskItem" | "decisionItem" => self.block(node, self.kind, depth),
            "heading" => {
                let level = attribute("level").as_u64().and_then(|level| u8::try_from(level).ok()).unwrap_or(1);
                self.block(node, BlockKind::Heading(level.clamp(1, 6)), depth);
            }
            "codeBlock" => self.block(node, BlockKind::Code, depth),
            "tableRow" => self.row(node, depth),
            "blockquote" => self.within(BlockKind::Quote, node, depth),
            "bulletList" | "orderedList" | "taskList" | "decisionList" => {
                self.list_depth = self.list_depth.saturating_add(1);
                self.within(BlockKind::Item(self.list_depth), node, depth);
                self.list_depth -= 1;
            }
            "expand" | "nestedExpand" => {
                if !shown("title").is_empty() {
                    self.line(shown("title"));
                }
                self.children(node, depth);
            }
            "text" => self.text(node),
            "hardBreak" => self.draft.text("\n"),
            "mention" => self.say(&format!("@{}", shown("text").trim_start_matches('@'))),
            "emoji" => self.say(if shown("text").is_empty() { shown("shortName") } else { shown("text") }),
            "status" => self.say(shown("text")),
            "date" => self.say(&date(attribute("timestamp"))),
            "inlineCard" | "blockCard" | "embedCard" => self.link("", shown("url")),
            "media" | "mediaInline" => self.media(shown("alt")),
            _ => self.children(node, depth),
        }
    }

    fn children(&mut self, node: &Value, depth: usize) {
        for (index, child) in node["content"].as_array().into_iter().flatten().enumerate() {
            let length = self.pointer.len();
            write!(self.pointer, "/content/{index}").expect("a string takes everything");
            self.node(child, depth + 1);
            self.pointer.truncate(length);
        }
    }

    /// The children of a container that makes its paragraphs something else.
    fn within(&mut self, kind: BlockKind, node: &Value, depth: usize) {
        let outer = std::mem::replace(&mut self.kind, kind);
        self.children(node, depth);
        self.kind = outer;
    }

    fn block(&mut self, node: &Value, kind: BlockKind, depth: usize) {
        // A block inside a row is a part of its line.
        if self.draft.is_open() {
            self.children(node, depth);
            self.draft.text(" ");
            return;
        }
        self.draft.open(kind);
        self.children(node, depth);
        self.close();
    }

    fn row(&mut self, node: &Value, depth: usize) {
        self.draft.open(BlockKind::Row);
        for (index, cell) in node["content"].as_array().into_iter().flatten().enumerate() {
            if index > 0 {
                self.draft.text("| ");
            }
            let length = self.pointer.len();
            write!(self.pointer, "/content/{index}").expect("a string takes everything");
            self.children(cell, depth + 1);
            self.pointer.truncate(length);
        }
        self.close();
    }

    fn close(&mut self) {
        self.draft.close(Origin::Node(self.pointer.clone()));
    }

    fn line(&mut self, text: &str) {
        self.draft.open(BlockKind::Paragraph);
        self.draft.text(text);
        self.close();
    }

    fn text(&mut self, node: &Value) {
        let text = node["text"].as_str().unwrap_or_default();
        let marks = node["marks"].as_array().into_iter().flatten();
        let mut targets = marks.filter(|mark| mark["type"] == "link").filter_map(|mark| mark["attrs"]["href"].as_str());
        match targets.next() {
            Some(target) => self.link(text, target),
            None => self.in_block(|reader| {
                // Addresses that nobody made a link are links all the same.
                let mut at = 0;
                for span in crate::address::addresses_in(text) {
                    reader.draft.text(&text[at..span.start]);
                    reader.draft.link("", &text[span.start..span.end], Origin::Node(reader.pointer.clone()));
                    at = span.end;
                }
                reader.draft.text(&text[at..]);
            }),
        }
    }

    fn say(&mut self, text: &str) {
        self.in_block(|reader| reader.draft.text(text));
    }

    fn link(&mut self, label: &str, target: &str) {
        if !target.is_empty() {
            self.in_block(|reader| reader.draft.link(label, target, Origin::Node(reader.pointer.clone())));
        }
    }

    fn media(&mut self, name: &str) {
        if !name.is_empty() {
            self.in_block(|reader| reader.draft.media(name));
        }
    }

    /// Inline content that stands where a block should: in a paragraph of its own.
    fn in_block(&mut self, show: impl FnOnce(&mut Self)) {
        if self.draft.is_open() {
            show(self);
        } else {
            self.draft.open(self.kind);
            show(self);
            self.close();
        }
    }
}

/// A date node: milliseconds since 1970, as text or number.
fn date(timestamp: &Value) -> String {
    let milliseconds = timestamp.as_str().and_then(|text| text.parse().ok()).or_else(|| timestamp.as_i64());
    let at = milliseconds.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at.map(|at| at.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tree_becomes_lines() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let paragraph = |content: Value| json!({"type": "paragraph", "content": [content]});
        let tree = json!({"version": 1, "type": "doc", "content": [
            {"type": "heading", "attrs": {"level": 3}, "content": [text("Symptom")]},
            {"type": "paragraph", "content": [
                text("P99 rose, see "),
                {"type": "text", "text": "the panel", "marks": [{"type": "link", "attrs": {"href": "https://g.example/d/x?a=1&b=2"}}]},
                {"type": "hardBreak"},
                {"type": "mention", "attrs": {"id": "5b", "text": "@Ann"}},
                {"type": "emoji", "attrs": {"shortName": ":smile:", "text": "😄"}},
            ]},
            {"type": "bulletList", "content": [
                {"type": "listItem", "content": [paragraph(text("one")), {"type": "orderedList", "content": [
                    {"type": "listItem", "content": [paragraph(text("deeper"))]}]}]},
            ]},
            {"type": "codeBlock", "attrs": {"language": "sql"}, "content": [text("select *\nfrom t")]},
            {"type": "table", "content": [{"type": "tableRow", "content": [
                {"type": "tableHeader", "content": [paragraph(text("host"))]},
                {"type": "tableCell", "content": [paragraph(text("io"))]}]}]},
            {"type": "panel", "attrs": {"panelType": "info"}, "content": [paragraph(text("note"))]},
            {"type": "mediaSingle", "content": [{"type": "media", "attrs": {"id": "1", "alt": "disk.png"}}]},
            {"type": "blockCard", "attrs": {"url": "https://g.example/d/y"}},
            {"type": "somethingNew", "content": [paragraph(text("kept"))]},
        ]});
        let document = read_adf(&tree);
        assert_eq!(
            document.text,
            "Symptom\nP99 rose, see the panel (https://g.example/d/x?a=1&b=2)\n@Ann😄\n- one\n  - deeper\nselect *\n\
             from t\nhost | io\nnote\n[disk.png]\nhttps://g.example/d/y\nkept"
        );
        assert_eq!(document.media, ["disk.png"]);
        assert_eq!(document.anchors.len(), 2);
        let Origin::Node(pointer) = &document.anchors[0].origin else { panic!("a node") };
        assert_eq!(tree.pointer(pointer).expect("the pointer leads there")["text"], "the panel");
        assert_eq!(document.blocks[0].kind, BlockKind::Heading(3));
    }

    #[test]
    fn a_tree_that_is_none_says_nothing() {
        for tree in [json!(null), json!(5), json!("x"), json!({"type": 7, "content": "x"}), json!({"content": [[[]]]})]
        {
            assert!(read_adf(&tree).is_empty(), "{tree}");
        }
    }
}
