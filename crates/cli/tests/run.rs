//! `hindcast run`, as the README's first command.

mod common;

use std::path::Path;

use common::{hindcast, json, output, root};

fn run_into(dir: &Path) -> (i32, String, String) {
    output(&["run", "casebooks/public", "--out", &dir.display().to_string()])
}

fn tree(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(dir).expect("inside").display().to_string();
                files.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_public_casebook_runs_end_to_end() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (code, out, err) = run_into(dir.path());
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!("run_public", out.replace(&dir.path().display().to_string(), "DIR"));
    let (code, out, _) = output(&["check", &dir.path().join("cases").display().to_string()]);
    assert_eq!((code, out.as_str()), (0, ""), "every written case is canonical");
}

#[test]
fn two_runs_give_the_same_bytes() {
    let (a, b) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    run_into(a.path());
    run_into(b.path());
    let (first, second) = (tree(a.path()), tree(b.path()));
    let names = |tree: &[(String, Vec<u8>)]| tree.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&first), names(&second));
    assert_eq!(first.len(), 18 + 4);
    for (one, other) in first.iter().zip(&second) {
        assert!(one == other, "{} differs", one.0);
    }
}

#[test]
fn a_run_never_overwrites_another_unless_told() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().display().to_string();
    run_into(dir.path());
    let (code, _, err) = run_into(dir.path());
    assert!(code == 2 && err.contains("already holds a run") && err.contains("--overwrite"), "{err}");
    let stale = dir.path().join("report-2.html");
    std::fs::write(&stale, "a page of a larger run").expect("written");
    let (code, _, err) = output(&["run", "casebooks/public", "--out", &out, "--overwrite"]);
    assert_eq!(code, 0, "{err}");
    assert!(!stale.exists(), "a page of the run that was replaced is left");
}

#[test]
fn unusable_files_are_reported_and_the_rest_is_compared() {
    let book = tempfile::tempdir().expect("a temporary folder");
    for name in ["TIKV-18274.json", "TIKV-16016.json"] {
        std::fs::copy(root().join("casebooks/public").join(name), book.path().join(name)).expect("copied");
    }
    std::fs::copy(book.path().join("TIKV-16016.json"), book.path().join("copy.json")).expect("copied");
    std::fs::write(book.path().join("broken.json"), "{").expect("written");
    let (code, out, err) = output(&["run", &book.path().display().to_string(), "-o", "json"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("broken.json:1:") && err.contains("same incident id"), "{err}");
    let totals: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&totals["cases"], &totals["unusable"]), (&2.into(), &2.into()));
    assert!(totals["run"].as_str().expect("a path").ends_with(".hindcast/runs/run-0001"));
    let lines =
        std::fs::read_to_string(Path::new(totals["run"].as_str().expect("a path")).join("rows.jsonl")).expect("rows");
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn what_the_casebook_records_is_the_row_of_the_confusion_matrix() {
    let book = tempfile::tempdir().expect("a temporary folder");
    let text = std::fs::read_to_string(root().join("casebooks/public/TIKV-16016.json")).expect("readable");
    let reviewed = text.replace("\"match_level\": \"\"", "\"match_level\": \"mismatched\"");
    std::fs::write(book.path().join("TIKV-16016.json"), reviewed).expect("written");
    let totals = json(&["run", &book.path().display().to_string(), "-o", "json"]);
    assert_eq!(totals["confusion"]["mismatched"]["matched"], 1);
}

#[test]
fn the_skill_is_shown_nothing_of_the_human_half() {
    let book = tempfile::tempdir().expect("a temporary folder");
    let text = std::fs::read_to_string(root().join("casebooks/public/TIKV-17930.json")).expect("readable");
    let run = |text: &str, name: &str| {
        let dir = book.path().join(name);
        std::fs::create_dir(&dir).expect("created");
        std::fs::write(dir.join("TIKV-17930.json"), text).expect("written");
        let totals = json(&["run", &dir.display().to_string(), "-o", "json"]);
        let cases = Path::new(totals["run"].as_str().expect("a path")).join("cases/TIKV-17930.json");
        let case: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(cases).expect("a case")).expect("JSON");
        (case["skill_conclusion"].clone(), case["replay_inputs"].clone())
    };
    let (conclusion, inputs) = run(&text, "a");
    let mut other: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    other["final_human_conclusion"]["owner_final_comment"] = "根因是网络丢包 CANARY-1".into();
    other["canonical_incident"]["assignee_or_l3"] = "CANARY-2".into();
    let (changed, _) = run(&other.to_string(), "b");
    assert_eq!(conclusion, changed);
    let excluded = inputs["excluded_fields"].as_array().expect("a list");
    assert!(excluded.iter().any(|field| field == "final_human_conclusion.owner_final_comment: it is the answer"));
    let used = inputs["used_fields"].as_array().expect("a list");
    assert_eq!(used.len(), 3, "{used:?}");
}

#[test]
fn a_hostile_ticket_is_escaped_on_the_page() {
    let book = tempfile::tempdir().expect("a temporary folder");
    let mut case: serde_json::Value = serde_json::from_str(
        &std::fs::read_to_string(root().join("casebooks/public/TIKV-18274.json")).expect("readable"),
    )
    .expect("JSON");
    let attack = "<script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"";
    for pointer in [
        "/initial_symptom",
        "/canonical_incident/title",
        "/canonical_incident/description_text",
        "/final_human_conclusion/owner_final_comment",
    ] {
        let field = case.pointer_mut(pointer).expect("a field");
        *field = format!("{} {attack}", field.as_str().expect("text")).into();
    }
    std::fs::write(book.path().join("TIKV-18274.json"), case.to_string()).expect("written");
    let totals = json(&["run", &book.path().display().to_string(), "-o", "json"]);
    let page = std::fs::read_to_string(totals["report"].as_str().expect("a path")).expect("a page");
    assert!(!page.contains("<script") && !page.contains("<img"), "markup of the ticket reached the page");
    assert!(page.contains("&lt;script&gt;"));
}

#[test]
fn bad_usage_is_exit_code_two() {
    for arguments in
        [&["run"][..], &["run", "no-such-folder"], &["frobnicate"], &["run", "casebooks/public", "--overwrite"]]
    {
        let code = hindcast(arguments).output().expect("runs").status.code();
        assert_eq!(code, Some(2), "{arguments:?}");
    }
}

#[test]
fn the_totals_break_the_verdicts_down() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let totals = json(&["run", "casebooks/public", "--out", &dir.path().display().to_string(), "-o", "json"]);
    let comparable = totals["comparable"].as_u64().expect("a count");
    for axis in ["mechanism", "entry_mode", "source", "language", "certainty"] {
        let groups = totals["by"][axis].as_object().expect(axis);
        let counts = groups.values().flat_map(|levels| levels.as_object().expect("levels").values());
        let sum: u64 = counts.map(|count| count.as_u64().expect("a count")).sum();
        assert_eq!(sum, comparable, "{axis}: every comparable case is in one group");
    }
    let routes = totals["entry_modes"].as_array().expect("routes").iter();
    assert_eq!(routes.map(|route| route["cases"].as_u64().expect("a count")).sum::<u64>(), comparable);
    assert!(totals["mismatch_types"]["wrong_bottleneck"].as_u64() > Some(0));
    let page = std::fs::read_to_string(dir.path().join("report.html")).expect("the report");
    assert!(
        page.contains("By the engineers' bottleneck") || page.contains("By the engineers&#39; bottleneck"),
        "the page has it too"
    );
}
