//! The other commands, as a user runs them.

mod common;

use common::{json, output, root};

#[test]
fn compare_explains_a_verdict_step_by_step() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let answer = dir.path().join("answer.json");
    let pairs = std::fs::read_to_string(root().join("casebooks/public-pairs.jsonl")).expect("readable");
    let pair: serde_json::Value = serde_json::from_str(pairs.lines().nth(1).expect("a pair")).expect("JSON");
    std::fs::write(&answer, pair["skill_conclusion"].to_string()).expect("written");
    let answer = answer.display().to_string();
    let case = "casebooks/public/TIKV-18274.json";
    let (code, out, err) = output(&["compare", "--skill-conclusion", &answer, case]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!("compare", out);
    let verdict = json(&["compare", "--skill-conclusion", &answer, case, "-o", "json"]);
    assert_eq!(verdict["match_level"], "partially_matched");
    assert_eq!(
        verdict["bottleneck_relation"]["causal_path"],
        serde_json::json!(["disk_io_jitter", "wal_sync_slow", "append_log_slow"])
    );
    let (code, _, err) = output(&["compare", case]);
    assert!(code == 2 && err.contains("no skill conclusion") && err.contains("--skill-conclusion"), "{err}");
}

#[test]
fn calibrate_reports_agreement_with_experts() {
    let arguments =
        ["calibrate", "--casebook", "casebooks/public", "--pairs", "casebooks/public-pairs.jsonl", "-o", "json"];
    let calibration = json(&arguments);
    let keys: Vec<&String> = calibration.as_object().expect("an object").keys().collect();
    for key in ["pairs", "accuracy", "kappa", "kappa_ci95", "mismatch_type_f1", "confusion", "disagreements"] {
        assert!(keys.iter().any(|known| *known == key), "{key} is missing");
    }
    assert_eq!(calibration["pairs"], 55);
    assert!(calibration["accuracy"].as_f64().expect("a number") >= 0.95);
    assert_eq!(json(&arguments), calibration, "the bootstrap is seeded");
}

#[test]
fn a_bad_line_of_pairs_is_named() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let pairs = dir.path().join("pairs.jsonl");
    std::fs::write(&pairs, "\n{\"pair_id\": 1}\n").expect("written");
    let (code, _, err) =
        output(&["calibrate", "--casebook", "casebooks/public", "--pairs", &pairs.display().to_string()]);
    assert!(code == 2 && err.contains("pairs.jsonl:2:"), "{err}");
}

#[test]
fn extract_reads_scores_and_writes() {
    let (code, out, _) = output(&["extract", "casebooks/public/TIKV-16661.json"]);
    assert_eq!(code, 0);
    insta::assert_snapshot!("extract", out);
    let score =
        json(&["extract", "--labels", "casebooks/public-labels.jsonl", "--casebook", "casebooks/public", "-o", "json"]);
    for key in ["status", "side", "scope", "path", "bottleneck", "bottleneck_within_one_edge"] {
        let share = score[key].as_f64().expect("a fraction");
        assert!((0.9..=1.0).contains(&share), "{key} {share}");
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let copy = dir.path().join("TIKV-18274.json");
    std::fs::copy(root().join("casebooks/public/TIKV-18274.json"), &copy).expect("copied");
    let name = copy.display().to_string();
    let (code, _, err) = output(&["extract", "--write", &name]);
    assert!(code == 0 && err.contains("wrote structured_conclusion"), "{err}");
    let written = std::fs::read_to_string(&copy).expect("readable");
    assert!(written.contains("\"structured_conclusion\": \"side=yes; scope=single_instance; path=write; bottleneck=disk_io_jitter; certainty=confirmed\""), "{written}");
    assert_eq!(output(&["check", &name]).0, 0);
    std::fs::write(&copy, written.replace("side=yes; ", "It was the disk. ")).expect("written");
    let (code, _, err) = output(&["extract", "--write", &name]);
    assert!(code == 2 && err.contains("holds prose"), "{err}");
}

#[test]
fn the_atlas_can_be_listed_shown_matched_checked_and_drawn() {
    assert_eq!(json(&["atlas", "list", "-o", "json"]).as_array().map(Vec::len), Some(80));
    let (_, shown, _) = output(&["atlas", "show", "wal_sync_slow"]);
    insta::assert_snapshot!("atlas_show", shown);
    let (code, _, err) = output(&["atlas", "show", "wal_sync_slo"]);
    assert!(code == 2 && err.contains("did you mean `wal_sync_slow`?"), "{err}");
    let (_, matched, _) = output(&["atlas", "match", "排除了磁盘,最后确认是 gRPC 打满,导致 apply wait 升高"]);
    insta::assert_snapshot!("atlas_match", matched);
    let (code, out, err) = output(&["atlas", "check"]);
    assert!(code == 0 && out.is_empty() && err.contains("80 mechanisms"), "{out}{err}");
    let (_, mermaid, _) = output(&["atlas", "graph"]);
    assert!(mermaid.starts_with("flowchart LR\n") && mermaid.contains("  disk_io_jitter --> wal_sync_slow\n"));
    let (_, dot, _) = output(&["atlas", "graph", "-o", "dot"]);
    assert!(
        dot.starts_with("digraph atlas {\n")
            && dot.ends_with("}\n")
            && dot.contains("  disk_io_jitter -> wal_sync_slow;\n")
    );
}

#[test]
fn another_atlas_replaces_the_built_in_one() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (code, _, err) = output(&["atlas", "list", "--atlas", &dir.path().display().to_string()]);
    assert!(code == 2 && err.contains("holds no mechanism"), "{err}");
    for entry in std::fs::read_dir(root().join("atlas")).expect("the atlas") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, dir.path().join(path.file_name().expect("a name"))).expect("copied");
    }
    let dir_name = dir.path().display().to_string();
    assert_eq!(output(&["atlas", "check", "--atlas", &dir_name]).0, 0);
    let io = dir.path().join("io_jitter.toml");
    let text = std::fs::read_to_string(&io).expect("readable");
    std::fs::write(&io, text.replace("'wal_sync_slow'", "'wal_sink_slow'")).expect("written");
    let (code, out, _) = output(&["atlas", "check", "--atlas", &dir_name]);
    assert!(code == 1 && out.contains("unknown mechanism `wal_sync_slow`; did you mean `wal_sink_slow`?"), "{out}");
    assert_eq!(output(&["atlas", "list", "--atlas", &dir_name]).0, 2);
    std::fs::write(&io, text.replacen("upstream_causes = []", "upstream_causes = ['append_log_slow']", 1))
        .expect("written");
    let (code, out, _) = output(&["atlas", "check", "--atlas", &dir_name]);
    assert!(code == 1 && out.contains("cycle") && out.contains("append_log_slow"), "{out}");
}

#[test]
fn completions_and_the_manual_are_generated() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, out, _) = output(&["completions", shell]);
        assert!(code == 0 && out.contains("calibrate"), "{shell}");
    }
    let (code, out, _) = output(&["man"]);
    assert!(code == 0 && out.contains(".TH hindcast 1"), "{out}");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (code, _, err) = output(&["man", "--dir", &dir.path().display().to_string()]);
    assert!(code == 0 && dir.path().join("hindcast-atlas-show.1").exists(), "{err}");
}
