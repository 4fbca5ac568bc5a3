//! `hindcast check`, `explain` and `schema`.

mod common;

use common::{fixture, json, output, root};

/// Output with the temporary folder's name taken out.
fn without(dir: &std::path::Path, text: &str) -> String {
    text.replace(&dir.display().to_string(), "DIR")
}

#[test]
fn a_broken_case_is_shown_as_a_compiler_shows_it() {
    let (dir, path) = fixture("broken-case.json");
    let (code, out, err) = output(&["check", &path.display().to_string()]);
    assert_eq!(code, 1);
    insta::assert_snapshot!("broken_case", format!("{}{}", without(dir.path(), &out), err));
}

#[test]
fn an_old_case_is_fixed_to_canonical_form_and_stays_fixed() {
    let (dir, path) = fixture("old-case.json");
    let name = path.display().to_string();
    let findings = json(&["check", "-o", "json", &name]);
    let errors = findings.as_array().expect("a list").iter().filter(|finding| finding["severity"] == "error").count();
    assert_eq!(errors, 0, "{findings:#}");
    let (code, out, err) = output(&["check", "--fix", &name]);
    // The unknown field is kept and still reported.
    assert_eq!(code, 1);
    insta::assert_snapshot!(
        "old_case_after_fix",
        format!("{}{}", without(dir.path(), &out), without(dir.path(), &err))
    );
    let fixed = std::fs::read_to_string(&path).expect("readable");
    insta::assert_snapshot!("old_case_fixed", fixed);
    output(&["check", "--fix", &name]);
    assert_eq!(std::fs::read_to_string(&path).expect("readable"), fixed);
}

#[test]
fn the_public_casebook_is_clean_but_not_strictly() {
    let (code, out, err) = output(&["check", "casebooks/public"]);
    assert_eq!((code, out.as_str(), err.trim()), (0, "", "18 file(s) checked: 0 error(s), 0 warning(s), 0 note(s)"));
    let findings = json(&["check", "--strict", "-o", "json", "casebooks/public/TIKV-18274.json"]);
    assert_eq!(findings[0]["code"], "case/source-not-strict");
    assert_eq!((&findings[0]["line"], &findings[0]["column"]), (&3.into(), &13.into()));
}

#[test]
fn findings_are_written_as_sarif() {
    let (_dir, path) = fixture("broken-case.json");
    let log = json(&["check", "-o", "sarif", &path.display().to_string()]);
    assert_eq!(log["version"], "2.1.0");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    let known: Vec<_> = rules.iter().map(|rule| &rule["id"]).collect();
    assert!(!results.is_empty() && results.iter().all(|result| known.contains(&&result["ruleId"])));
    assert!(
        results
            .iter()
            .all(|r| r["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().is_some_and(|l| l > 0))
    );
}

#[test]
fn what_is_no_case_is_refused_without_a_crash() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in [
        ("empty.json", &b""[..]),
        ("binary.json", &[0xff, 0, 0x80, b'{']),
        ("list.json", b"[1]"),
        ("deep.json", &[b'['; 20_000]),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let (code, out, _) = output(&["check", &path.display().to_string()]);
        assert!(code == 1 && out.contains("error"), "{name}: {out}");
    }
    let long = dir.path().join("long.json");
    std::fs::write(&long, format!("{{\"incident_id\": \"TIKV-1\", \"x\": \"{}\"}}", "x".repeat(20_000_000)))
        .expect("written");
    let (code, out, _) = output(&["check", &long.display().to_string()]);
    assert!(code == 1 && out.contains("case/too-large") && out.len() < 1_000, "{} bytes", out.len());
    let (code, _, err) = output(&["check", "no-such-file.json"]);
    assert!(code == 2 && err.contains("can't read no-such-file.json"), "{err}");
}

#[test]
fn a_case_cannot_send_control_characters_to_the_terminal() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("TIKV-1.json");
    let attack = "\\u001b]0;owned\\u0007 \\u009b31m";
    let case = format!(
        "{{\"incident_id\": \"TIKV-1\", \"scope{attack}\": \"{attack}\", \"skill_conclusion\": {{\"earliest_proven_bottleneck\": \"{attack}\", \
         \"scope\": \"{attack}\"}}, \"canonical_incident\": {{\"title\": \"{attack}\"}}, \"final_human_conclusion\": {{\"owner_final_comment\": \
         \"Root cause: disk {attack} jitter\"}}}}"
    );
    std::fs::write(&path, case).expect("written");
    let name = path.display().to_string();
    for arguments in [&["check", &name][..], &["compare", &name], &["extract", &name]] {
        let (_, out, err) = output(arguments);
        let bad = out.chars().chain(err.chars()).find(|c| c.is_control() && *c != '\n');
        assert_eq!(bad, None, "{arguments:?}: {out:?}");
    }
}

#[test]
fn every_code_explains_itself_and_a_misspelt_one_gets_a_hint() {
    let (code, out, _) = output(&["explain", "case/unknown-entry-mode"]);
    assert!(code == 0 && out.starts_with("case/unknown-entry-mode") && out.contains("closed list"), "{out}");
    let (code, _, err) = output(&["explain", "case/unknown-entry-mod"]);
    assert!(code == 2 && err.contains("did you mean `case/unknown-entry-mode`?"), "{err}");
}

#[test]
fn the_schema_is_the_one_in_the_repository() {
    let (_, out, _) = output(&["schema"]);
    assert_eq!(out, std::fs::read_to_string(root().join("schema/case.schema.json")).expect("readable"));
}
