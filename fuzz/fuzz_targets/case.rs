#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(case) = hindcast_case::read(bytes).value {
        let written = case.to_json();
        assert_eq!(hindcast_case::read(written.as_bytes()).value.map(|case| case.to_json()), Some(written));
    }
});
