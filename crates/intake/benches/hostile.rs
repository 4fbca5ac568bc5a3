//! Times the readers on input that is made to be slow, at half a megabyte and at a whole one.
//!
//! Linear readers take twice as long for twice as much; a quadratic one takes four times. Run with
//! `cargo bench -p hindcast-intake`.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hindcast_atlas::Atlas;
use hindcast_case::{IncidentId, Source};
use hindcast_intake::{Document, Export, Form, Intake, Item, Naming, Revisions, Settings, Ticket};
use hindcast_intake::{read_html, read_markdown, read_wiki};
use hindcast_text::TextReader;

/// Patterns that invite looking back and forth.
const PATTERNS: [&str; 22] = [
    "[",
    "]",
    "[[",
    "[a|",
    "{{",
    "}}",
    "{code}",
    "{code:",
    "{color:",
    "!",
    "*a ",
    "_",
    "|",
    "http://)",
    "http://",
    "https://a/b?c=[",
    "<a ",
    "<p>",
    "\\",
    "15:04~",
    "a@",
    "\u{6839}\u{56e0}",
];

fn best(mut run: impl FnMut()) -> Duration {
    (0..3)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .expect("three runs")
}

/// Something that reads a text.
type Reader<'a> = &'a dyn Fn(&str);

fn main() {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    let settings = Settings::default();
    let intake = Intake::new(&atlas, &texts, &settings, Naming::Kept);
    let incident = |text: &str| {
        let mut ticket = Ticket::new(IncidentId::parse("GTOC-1").expect("an id"), Source::JiraGtoc);
        ticket.description = Revisions::only(Document::plain(text));
        black_box(intake.incident(&ticket, None));
    };
    let export = |text: &str| {
        let mut sink = |item: Item| {
            if let Item::Record(record) = item {
                black_box(record.read(&settings));
            }
            ControlFlow::Continue(())
        };
        let _ = Export::read_bytes("bench", text.as_bytes(), Form::Jira, &mut sink);
    };
    let readers: [(&str, Reader); 5] = [
        ("wiki", &|text| drop(black_box(read_wiki(text)))),
        ("html", &|text| drop(black_box(read_html(text)))),
        ("markdown", &|text| drop(black_box(read_markdown(text)))),
        ("incident", &incident),
        ("export", &export),
    ];
    // The first use builds tables.
    incident("warm up 15:04~15:40 a@b.cc http://a/d/b 10.0.0.1");
    let mut worst = 0.0_f64;
    for (name, read) in readers {
        for pattern in PATTERNS {
            let whole = pattern.repeat(1_000_000 / pattern.len());
            let half = &whole[..whole.floor_char_boundary(whole.len() / 2)];
            let (short, long) = (best(|| read(half)), best(|| read(&whole)));
            let ratio = long.as_secs_f64() / short.as_secs_f64();
            // What takes no time at all has no ratio.
            if long > Duration::from_millis(20) {
                worst = worst.max(ratio);
                println!(
                    "{name:<9} {pattern:<16?} 1 MB {:>7.1} ms, {ratio:.1} times half of it",
                    long.as_secs_f64() * 1000.0
                );
            }
        }
    }
    println!("worst ratio {worst:.1} (2 is linear, 4 quadratic); patterns under 20 ms are not listed");
}
