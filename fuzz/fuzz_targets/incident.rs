//! Any text as a description: addresses, windows, redaction, the view as of the cut-off.
#![no_main]

use std::sync::LazyLock;

use hindcast_atlas::Atlas;
use hindcast_case::{IncidentId, Source};
use hindcast_intake::{Document, Intake, Naming, Revisions, Settings, Stamp, Ticket};
use hindcast_text::TextReader;
use libfuzzer_sys::fuzz_target;

static ATLAS: LazyLock<(Atlas, TextReader, Settings)> = LazyLock::new(|| {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    (atlas, texts, Settings::default())
});

fuzz_target!(|text: &str| {
    let (atlas, texts, settings) = &*ATLAS;
    let mut ticket = Ticket::new(IncidentId::parse("GTOC-1").expect("an id"), Source::JiraGtoc);
    ticket.created = Stamp::read("2026-01-06T18:00:00+08:00", jiff::tz::Offset::UTC).map(|read| read.stamp);
    ticket.description = Revisions::only(Document::plain(text));
    for naming in [Naming::Kept, Naming::Anonymised] {
        let incident = Intake::new(atlas, texts, settings, naming).incident(&ticket, None);
        let written = incident.case.to_json();
        assert_eq!(hindcast_case::read(written.as_bytes()).value.map(|case| case.to_json()), Some(written));
    }
});
