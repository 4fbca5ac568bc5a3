//! Marked-up text to clean text that keeps its structure and knows where each part came from.

mod adf;
mod draft;
mod html;
mod markdown;
mod wiki;

use hindcast_case::Span;

pub use adf::read_adf;
pub use html::read_html;
pub use markdown::read_markdown;
pub use wiki::read_wiki;

/// A text without markup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The text, one block a line or more; the target of a link stands behind its label in parentheses.
    pub text: String,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// Its links, in order.
    pub anchors: Vec<Anchor>,
    /// Names of pictures and files that stand in it.
    pub media: Vec<String>,
}

/// One block of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Where it stands in the clean text.
    pub span: Span,
    /// Where it stood in the source.
    pub origin: Origin,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Running text.
    Paragraph,
    /// A heading and its level, from 1.
    Heading(u8),
    /// An item of a list and its depth, from 1.
    Item(u8),
    /// Code, logs, preformatted text.
    Code,
    /// Quoted text.
    Quote,
    /// A row of a table.
    Row,
}

/// A link of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The address.
    pub target: String,
    /// What the link shows; the address itself where it shows nothing else.
    pub label: String,
    /// Where it stands in the clean text.
    pub span: Span,
    /// Where it stood in the source.
    pub origin: Origin,
}

/// A place in the source of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Bytes of a text.
    Bytes(Span),
    /// A node of a JSON tree, as a JSON Pointer.
    Node(String),
}

impl Document {
    /// Text that has no markup; addresses in it are found.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        let mut draft = draft::Draft::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            draft.open(BlockKind::Paragraph);
            draft.text_with_addresses(line, at);
            draft.close(Origin::Bytes(Span::new(at, at + line.len())));
            at += line.len();
        }
        draft.finish()
    }

    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The running text: what people wrote, without code, logs, quotes of others and table rows.
    #[must_use]
    pub fn prose(&self) -> String {
        let spoken = self
            .blocks
            .iter()
            .filter(|block| matches!(block.kind, BlockKind::Paragraph | BlockKind::Heading(_) | BlockKind::Item(_)));
        let mut prose = String::new();
        for block in spoken {
            if !prose.is_empty() {
                prose.push('\n');
            }
            prose.push_str(&self.text[block.span.start..block.span.end]);
        }
        prose
    }
}
