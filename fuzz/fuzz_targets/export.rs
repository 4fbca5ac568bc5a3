//! Any bytes as an export: JSON, CSV, XML, Markdown, of every source.
#![no_main]

use std::ops::ControlFlow;

use hindcast_intake::{Export, Form, Item, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let settings = Settings::default();
    for form in [Form::Jira, Form::Pingkai, Form::Github] {
        let _ = Export::read_bytes("fuzz", bytes, form, &mut |item| {
            if let Item::Record(record) = item {
                let _ = record.read(&settings);
            }
            ControlFlow::Continue(())
        });
    }
});
