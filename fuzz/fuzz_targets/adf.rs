#![no_main]

use hindcast_intake::read_adf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &[u8]| {
    if let Ok(tree) = serde_json::from_slice::<serde_json::Value>(json) {
        let document = read_adf(&tree);
        for block in document.blocks {
            assert!(document.text.get(block.span.start..block.span.end).is_some());
        }
    }
});
