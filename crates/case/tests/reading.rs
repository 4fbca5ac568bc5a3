//! Reading: lenient in, canonical out, nothing lost.

use hindcast_case::{Code, MAX_DEPTH, Severity, read};

/// A complete canonical case to damage.
fn canonical() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../casebooks/public/PD-10637.json");
    std::fs::read_to_string(path).expect("the public casebook")
}

fn codes(text: &str) -> Vec<Code> {
    read(text.as_bytes()).diagnostics.iter().map(|d| d.code).collect()
}

fn public_cases() -> Vec<(String, String)> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../casebooks/public");
    let entries = std::fs::read_dir(dir).expect("the public casebook");
    let paths =
        entries.map(|entry| entry.expect("an entry").path()).filter(|p| p.extension().is_some_and(|e| e == "json"));
    paths.map(|path| (path.display().to_string(), std::fs::read_to_string(path).expect("a case"))).collect()
}

#[test]
fn public_cases_are_canonical_and_valid_against_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(&hindcast_case::json_schema()).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is a schema");
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    for (path, text) in public_cases() {
        let reading = read(text.as_bytes());
        assert_eq!(reading.diagnostics, [], "{path}");
        assert_eq!(reading.value.expect("usable").to_json(), text, "{path}");
        let instance = serde_json::from_str(&text).expect("JSON");
        let errors: Vec<String> = validator.iter_errors(&instance).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{path}: {errors:?}");
    }
}

#[test]
fn the_schema_in_the_repository_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/case.schema.json");
    let current = hindcast_case::json_schema();
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == current, "stale; run: hindcast schema > schema/case.schema.json");
}

#[test]
fn the_schema_refuses_what_the_specification_does_not_allow() {
    let schema: serde_json::Value = serde_json::from_str(&hindcast_case::json_schema()).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    for (from, to) in [("\"github\"", "\"gitlab\""), ("\"clear\"", "\"sure\""), ("\"PD-10637\"", "\"pd 10637\"")] {
        let instance = serde_json::from_str(&canonical().replacen(from, to, 1)).expect("JSON");
        assert!(!validator.is_valid(&instance), "{to} must be invalid");
    }
}

#[test]
fn old_spellings_become_canonical_with_a_note_each() {
    let old = canonical()
        .replace("\"entry_mode\": \"\"", "\"Entry-Mode\": \"IO 抖动\"")
        .replace(
            "\"reference_files_consulted\": []",
            "\"reference_files_consulted\": \"references\\\\io-jitter.md, cross-cutting\"",
        )
        .replace("\"is_tikv_side\": \"\"", "\"is_tikv_side\": true")
        .replace("\"scope\": \"\"", "\"scope\": \"Single Instance\"")
        .replace("\"cluster_id\": \"\"", "\"cluster_id\": 74607236988148986167")
        .replace("\"key_evidence\": []", "\"key_evidence\": null")
        .replace("\"uncertainty_statement\": \"\"", "\"uncertainty_statement\": \"N/A\"")
        .replace("\"2026-04-22T03:25:00\",\n        \"end_time\"", "\"2026/04/22 03:25\",\n        \"end_time\"");
    let reading = read(old.as_bytes());
    assert!(reading.diagnostics.iter().all(|d| d.severity == Severity::Note), "{:#?}", reading.diagnostics);
    let noted: Vec<(&str, Code)> = reading.diagnostics.iter().map(|d| (d.field.as_str(), d.code)).collect();
    for expected in [
        ("skill_conclusion.entry_mode", Code::MisspeltField),
        ("skill_conclusion.entry_mode", Code::NormalisedValue),
        ("skill_conclusion.reference_files_consulted", Code::ConvertedType),
        ("skill_conclusion.reference_files_consulted[0]", Code::NormalisedValue),
        ("skill_conclusion.is_tikv_side", Code::ConvertedType),
        ("skill_conclusion.scope", Code::NormalisedValue),
        ("skill_conclusion.key_evidence", Code::EmptyPlaceholder),
        ("skill_conclusion.uncertainty_statement", Code::EmptyPlaceholder),
        ("canonical_incident.cluster_id", Code::ConvertedType),
        ("final_human_conclusion.analysis_windows[0].start_time", Code::NormalisedValue),
    ] {
        assert!(noted.contains(&expected), "{expected:?} is missing from {noted:#?}");
    }
    let fixed = reading.value.expect("usable").to_json();
    assert!(fixed.contains("\"cluster_id\": \"74607236988148986167\""));
    assert!(fixed.contains("\"references/io-jitter.md\",\n      \"references/cross-cutting.md\""));
    assert!(fixed.contains("\"is_tikv_side\": \"yes\""));
    assert_eq!(codes(&fixed), [], "what was fixed stays fixed");
}

#[test]
fn unknown_fields_stay_in_place_with_their_digits() {
    let text = canonical()
        .replace(
            "\"source\": \"github\",",
            "\"source\": \"github\",\n  \"severity\": {\n    \"n\": 12345678901234567890.10\n  },",
        )
        .replace("\"title\":", "\"initial_symtom\": [\n      1e400\n    ],\n    \"title\":");
    let reading = read(text.as_bytes());
    let unknown: Vec<&str> =
        reading.diagnostics.iter().filter(|d| d.code == Code::UnknownField).map(|d| d.message.as_str()).collect();
    assert_eq!(unknown.len(), 2, "{unknown:?}");
    assert_eq!(reading.value.expect("usable").to_json(), text);
}

#[test]
fn near_misses_are_named_with_line_and_column() {
    let text = canonical().replace("\"entry_mode\": \"\"", "\"entry_mode\": \"io_jiter\"");
    let reading = read(text.as_bytes());
    let finding = &reading.diagnostics[0];
    assert_eq!((finding.code, finding.severity), (Code::UnknownEntryMode, Severity::Error));
    assert_eq!(finding.help.as_deref(), Some("did you mean `io_jitter`?"));
    let position = hindcast_case::Position::of(&text, finding.span.start);
    assert_eq!((position.line, position.column), (21, 19));
    assert!(reading.value.is_none());
}

#[test]
fn duplicate_keys_are_dropped_only_when_they_agree() {
    let same = canonical().replace("\"source\": \"github\",", "\"source\": \"github\",\n  \"source\": \"github\",");
    assert_eq!(codes(&same), [Code::DuplicateKey]);
    let differ = canonical().replace("\"source\": \"github\",", "\"source\": \"github\",\n  \"source\": \"pingkai\",");
    assert!(read(differ.as_bytes()).value.is_none());
    assert!(codes(&differ).contains(&Code::DuplicateKey));
    let unknown = canonical().replace("\"source\": \"github\",", "\"source\": \"github\",\n  \"x\": 1,\n  \"x\": 2,");
    assert!(read(unknown.as_bytes()).value.is_none());
}

#[test]
fn marks_and_line_ends_of_other_systems_are_accepted() {
    let text = format!("\u{feff}{}", canonical().replace('\n', "\r\n"));
    let reading = read(text.as_bytes());
    assert_eq!(reading.value.expect("usable").to_json(), canonical());
    assert_eq!(codes(&text), [Code::ByteOrderMark]);
    assert_eq!(codes(&canonical().replace('\n', "\r\n")), [Code::NotCanonical]);
}

#[test]
fn hostile_files_are_refused_with_a_clear_code() {
    let deep = format!("{{\"incident_id\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let wide = format!("{}1{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    let large = format!("\"{}\"", "x".repeat(100_000_000));
    for (text, code) in [
        (deep.as_bytes(), Code::TooDeep),
        (wide.as_bytes(), Code::WrongType),
        (large.as_bytes(), Code::TooLarge),
        (b"", Code::NotJson),
        (b"{", Code::NotJson),
        (b"\xff\xfe{}", Code::NotUtf8),
        (b"{\"incident_id\": \"\\ud800\"}", Code::NotJson),
        (b"null", Code::WrongType),
        (b"[]", Code::WrongType),
        (b"{}", Code::MissingIncidentId),
        (b"{\"incident_id\": \"../../etc/passwd\"}", Code::MalformedIncidentId),
    ] {
        let reading = read(text);
        assert!(reading.value.is_none(), "{code}");
        let errors: Vec<Code> =
            reading.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
        assert_eq!(errors, [code]);
    }
}

#[test]
fn a_long_value_is_quoted_in_part_and_kept_whole() {
    let long = "磁盘".repeat(20_000);
    let text = canonical().replace("\"scope\": \"\"", &format!("\"scope\": \"{long}\""));
    let reading = read(text.as_bytes());
    assert!(reading.diagnostics[0].message.chars().count() < 500);
    assert_eq!(reading.value.expect("usable").skill_conclusion.scope.as_str(), long);
}

#[test]
fn an_id_and_its_source_must_agree() {
    assert!(codes(r#"{"incident_id": "GTOC-1", "source": "pingkai"}"#).contains(&Code::IdSourceMismatch));
    let other_project = codes(r#"{"incident_id": "ONCALL-1", "source": "jira_gtoc"}"#);
    assert!(!other_project.contains(&Code::IdSourceMismatch), "a Jira has more projects than one");
    let inferred = read(br#"{"incident_id": "ticket-8412"}"#);
    assert_eq!(inferred.value.and_then(|case| case.source), Some(hindcast_case::Source::Pingkai));
}

mod properties {
    use super::canonical;
    use hindcast_case::{Certainty, Moment, Path, Scope, StructuredConclusion, TikvSide, TimeWindow, Vocabulary, read};
    use proptest::prelude::*;

    fn word<T: Vocabulary>() -> impl Strategy<Value = Option<T>> {
        proptest::option::of(proptest::sample::select(T::ALL))
    }

    fn ids() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[a-z][a-z0-9_]{0,12}", 0..4)
    }

    prop_compose! {
        fn structured()(
            side in word::<TikvSide>(), scope in word::<Scope>(), path in word::<Path>(),
            bottleneck in "[a-z_]{0,12}", chain in ids(), ruled_out in ids(),
            certainty in proptest::sample::select(vec![None, Some(Certainty::Confirmed), Some(Certainty::Suspected)]),
        ) -> StructuredConclusion {
            StructuredConclusion { side, scope, path, bottleneck, chain, ruled_out, certainty }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_structured_line_reads_back(conclusion in structured()) {
            let line = conclusion.to_string();
            prop_assume!(!line.is_empty());
            prop_assert_eq!(StructuredConclusion::parse(&line), Some(conclusion));
        }

        #[test]
        fn times_settle_after_one_reading(text in "[0-9/:.T +~年月日上下午点Zz()UTC-]{0,40}|\\PC{0,20}") {
            let moment = Moment::parse(&text);
            prop_assert_eq!(Moment::parse(&moment.to_string()), moment);
            let window = TimeWindow::parse(&text);
            prop_assert_eq!(TimeWindow::parse(&window.to_string()), window);
        }

        #[test]
        fn a_damaged_case_is_read_without_a_panic_and_settles(at in 0_usize..2_000, cut in 0_usize..40, junk in "[\\PC\"{}\\[\\],:]{0,12}") {
            let mut text: Vec<char> = canonical().chars().collect();
            let start = at.min(text.len());
            let end = (start + cut).min(text.len());
            text.splice(start..end, junk.chars());
            let text: String = text.into_iter().collect();
            if let Some(case) = read(text.as_bytes()).value {
                let once = case.to_json();
                let again = read(once.as_bytes()).value.expect("canonical text is usable").to_json();
                prop_assert_eq!(once, again);
            }
        }
    }
}
