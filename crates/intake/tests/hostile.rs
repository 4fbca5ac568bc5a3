//! Text from strangers: no reader panics, every span fits its text, and what is written can be read again. The fuzz
//! targets in `fuzz/` ask the same for longer.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hindcast_atlas::Atlas;
use hindcast_case::{IncidentId, Source};
use hindcast_intake::{
    Document, Export, Form, Intake, Item, Naming, Revisions, Settings, Stamp, Ticket, read_adf, read_html,
    read_markdown, read_wiki,
};
use hindcast_text::TextReader;
use proptest::prelude::*;

/// What markup, links, windows and secrets are made of: random joins reach further than random characters.
const PIECES: [&str; 62] = [
    "[",
    "]",
    "|",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "&",
    "&amp;",
    "&#x0;",
    "*",
    "_",
    "`",
    "```",
    "~",
    "^",
    "!",
    "-",
    "\\",
    "\n",
    "\r\n",
    "\t",
    " ",
    "||",
    "\u{3000}",
    "\u{200b}",
    "。",
    "，",
    "🙂",
    "é",
    "h1. ",
    "{code}",
    "{code:java}",
    "{noformat}",
    "{quote}",
    "{color:red}",
    "!x.png|width=3!",
    "[a|https://x.example/?a=1&b=2]",
    "http://",
    "https://clinic.pingcap.com/portal/#/orgs/1/clusters/7460723698814898616?from=1767679200&to=99999999999999999999",
    "?from=now-3h&to=now/d",
    "%25%32%35",
    "15:04~15:40",
    "(UTC+8)",
    "3月2日下午3点",
    "昨天",
    "2026-13-45",
    "25:99",
    "root cause",
    "根因",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "password=",
    "mysql://u:p@h/",
    "10.0.0.1:20160",
    "8.8.8.8",
    "a@b.example",
    "+86 138 0013 8000",
    "<table><tr><td",
    "<!--",
    "</b>",
];

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Trees with the shapes of Atlassian's document format, and values where none belong.
fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        text().prop_map(|text| serde_json::json!({"type": "text", "text": text, "marks": [{"type": "link", "attrs": {"href": text}}]})),
        text().prop_map(|url| serde_json::json!({"type": "inlineCard", "attrs": {"url": url}})),
        Just(serde_json::json!({"type": "media", "attrs": {"alt": 7}})),
        Just(serde_json::Value::Null),
        any::<i64>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let kind = proptest::sample::select(
            &[
                "doc",
                "paragraph",
                "heading",
                "bulletList",
                "listItem",
                "codeBlock",
                "table",
                "tableRow",
                "tableCell",
                "panel",
                "expand",
                "new",
            ][..],
        );
        (kind, proptest::collection::vec(inner, 0..6))
            .prop_map(|(kind, content)| serde_json::json!({"type": kind, "attrs": {"level": 9}, "content": content}))
    })
}

fn assert_spans_fit(document: &Document) {
    let blocks = document.blocks.iter().map(|block| block.span);
    for span in blocks.chain(document.anchors.iter().map(|anchor| anchor.span)) {
        assert!(document.text.get(span.start..span.end).is_some(), "{span:?} of {:?}", document.text);
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/import")
}

static EXPORTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut paths: Vec<_> =
        std::fs::read_dir(fixtures()).expect("fixtures").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a fixture")).collect()
});

static READERS: LazyLock<(Atlas, TextReader, Settings)> = LazyLock::new(|| {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    (atlas, texts, Settings::default())
});

fn read_all(bytes: &[u8]) {
    let settings = &READERS.2;
    for form in [Form::Jira, Form::Pingkai, Form::Github] {
        let _ = Export::read_bytes("export", bytes, form, &mut |item| {
            if let Item::Record(record) = item {
                let _ = record.read(settings);
            }
            ControlFlow::Continue(())
        });
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn markup_becomes_text_whose_spans_fit(text in text()) {
        for document in [read_wiki(&text), read_html(&text), read_markdown(&text)] {
            assert_spans_fit(&document);
        }
    }

    #[test]
    fn document_trees_become_text_whose_spans_fit(tree in tree()) {
        assert_spans_fit(&read_adf(&tree));
    }

    /// Real exports, damaged: bytes cut out, doubled, and written over.
    #[test]
    fn damaged_exports_cost_records_and_nothing_more(
        which in 0_usize..100, at in 0.0_f64..1.0, len in 0_usize..40, over in proptest::collection::vec(any::<u8>(), 0..20), doubled: bool,
    ) {
        let mut bytes = EXPORTS[which % EXPORTS.len()].clone();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
        let start = (at * bytes.len() as f64) as usize;
        let end = (start + len).min(bytes.len());
        if doubled {
            let part = bytes[start..end].to_vec();
            bytes.splice(start..start, part.repeat(3));
        } else {
            bytes.splice(start..end, over);
        }
        read_all(&bytes);
    }

    #[test]
    fn any_bytes_are_no_export_or_one(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
    }
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn any_description_becomes_a_case_that_reads_back(text in text()) {
        let (atlas, texts, settings) = &*READERS;
        let mut ticket = Ticket::new(IncidentId::parse("GTOC-1").expect("an id"), Source::JiraGtoc);
        ticket.created = Stamp::read("2026-01-06T18:00:00+08:00", jiff::tz::Offset::UTC).map(|read| read.stamp);
        ticket.description = Revisions::only(Document::plain(&text));
        for naming in [Naming::Kept, Naming::Anonymised] {
            let written = Intake::new(atlas, texts, settings, naming).incident(&ticket, None).case.to_json();
            prop_assert!(!written.contains("ghp_0123456789abcdefghij"), "a token is kept: {written}");
            prop_assert_eq!(hindcast_case::read(written.as_bytes()).value.map(|case| case.to_json()), Some(written));
        }
    }
}
