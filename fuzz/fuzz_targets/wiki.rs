#![no_main]

use hindcast_intake::{Document, read_wiki};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Document { text, blocks, anchors, .. } = read_wiki(text);
    for span in blocks.iter().map(|block| block.span).chain(anchors.iter().map(|anchor| anchor.span)) {
        assert!(text.get(span.start..span.end).is_some());
    }
});
