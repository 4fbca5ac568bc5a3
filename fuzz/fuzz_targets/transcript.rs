//! Any bytes as a transcript of every format, and its answer.
#![no_main]

use std::sync::LazyLock;

use hindcast_atlas::Atlas;
use hindcast_text::TextReader;
use hindcast_transcript::{Format, checkpoint, observed_references, read_as, to_atif};
use libfuzzer_sys::fuzz_target;

static READERS: LazyLock<(Atlas, TextReader)> = LazyLock::new(|| {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    (atlas, texts)
});

fuzz_target!(|bytes: &[u8]| {
    for format in Format::ALL {
        let transcript = read_as(bytes, format);
        let _ = observed_references(&transcript);
        let _ = to_atif(&transcript);
        let _ = checkpoint(&READERS.0, &READERS.1, &transcript);
    }
});
