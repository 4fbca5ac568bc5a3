//! Runs on disk: compared, held against rules, written for other tools.

#![cfg(unix)]

mod common;

use std::path::PathBuf;

use common::{json, output, root};

/// A casebook whose runs are made by recorded answers: run `name` gives each incident the bottleneck listed.
struct Runs(tempfile::TempDir);

impl Runs {
    fn new() -> Self {
        let runs = Self(tempfile::tempdir().expect("a temporary folder"));
        std::fs::create_dir(runs.casebook()).expect("made");
        for id in ["TIKV-18274", "TIKV-16016", "TIKV-17363"] {
            let name = format!("{id}.json");
            std::fs::copy(root().join("casebooks/public").join(&name), runs.casebook().join(&name)).expect("copied");
        }
        runs
    }

    fn casebook(&self) -> PathBuf {
        self.0.path().join("casebook")
    }

    fn path(&self, name: &str) -> String {
        self.casebook().join(".hindcast/runs").join(name).display().to_string()
    }

    fn run(&self, name: &str, answers: &[(&str, &str)], more: &[&str]) -> (i32, String, String) {
        let folder = self.0.path().join(format!("answers-{name}"));
        std::fs::create_dir_all(&folder).expect("made");
        for (id, bottleneck) in answers {
            let answer = format!(
                r#"{{"entry_mode": "io_jitter", "is_tikv_side": "yes", "scope": "single_instance", "path": "write", "earliest_proven_bottleneck": "{bottleneck}"}}"#
            );
            std::fs::write(folder.join(format!("{id}.md")), answer).expect("written");
        }
        let (casebook, transcripts) = (self.casebook().display().to_string(), folder.display().to_string());
        let out = self.path(name);
        output(
            &[&["run", &casebook, "--runner", "recorded", "--transcripts", &transcripts, "--out", &out][..], more]
                .concat(),
        )
    }

    fn plain(&self, text: &str) -> String {
        text.replace(&self.0.path().display().to_string(), "DIR")
    }
}

const BEFORE: [(&str, &str); 3] =
    [("TIKV-18274", "disk_io_jitter"), ("TIKV-16016", "disk_io_jitter"), ("TIKV-17363", "disk_io_hang")];
const AFTER: [(&str, &str); 3] =
    [("TIKV-18274", "grpc_cpu_saturation"), ("TIKV-16016", "apply_wait_high"), ("TIKV-17363", "disk_io_hang")];

#[test]
fn a_diff_names_what_flipped_and_how_likely_it_is_by_chance() {
    let runs = Runs::new();
    runs.run("before", &BEFORE, &[]);
    runs.run("after", &AFTER, &[]);
    let (code, out, err) = output(&["diff", &runs.path("before"), "after"]);
    assert_eq!(code, 0, "{err}");
    insta::assert_snapshot!("diff", runs.plain(&out));
    let value = json(&["diff", &runs.path("before"), &runs.path("after"), "-o", "json"]);
    assert_eq!(value["paired"], 3);
    let same = json(&["diff", &runs.path("before"), &runs.path("before"), "-o", "json"]);
    assert_eq!((same["flips"].as_array().map(Vec::len), same["mcnemar_p"].as_f64()), (Some(0), Some(1.0)));
    let (code, _, err) = output(&["diff", &runs.path("before"), "nothing"]);
    assert!(code == 2 && err.contains("hindcast runs ls"), "{err}");
}

#[test]
fn a_diff_shows_what_changed_in_the_skill_beside_the_cases_that_read_it() {
    let runs = Runs::new();
    let skill = runs.0.path().join("skills/slow");
    std::fs::create_dir_all(skill.join("references")).expect("made");
    let files = [
        (
            "SKILL.md",
            "---\nname: slow\ndescription: d\n---\n[io](references/io-jitter.md) [w](references/write-path.md)\n",
        ),
        ("references/io-jitter.md", "# Disks\n"),
        ("references/write-path.md", "# Writes\n"),
    ];
    for (name, text) in files {
        std::fs::write(skill.join(name), text).expect("written");
    }
    let git = |arguments: &[&str]| {
        let names = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let git = std::process::Command::new("git").current_dir(&skill).args(names).args(arguments).output();
        assert!(git.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "one"]);
    let run = |name: &str, bottleneck: &str| {
        let answer = format!(
            r#"{{"entry_mode": "io_jitter", "is_tikv_side": "yes", "path": "write", "earliest_proven_bottleneck": "{bottleneck}", "reference_files_consulted": ["references/io-jitter.md"]}}"#
        );
        let file = runs.0.path().join(name);
        std::fs::write(&file, answer).expect("written");
        let (casebook, out) = (runs.casebook().display().to_string(), runs.path(name));
        let (skill, command) = (skill.display().to_string(), format!("cat {}", file.display()));
        let (code, _, err) = output(&[
            "run",
            &casebook,
            "--runner",
            "command",
            "--command",
            &command,
            "--skill",
            &skill,
            "--out",
            &out,
            "--fresh",
        ]);
        assert_eq!(code, 0, "{err}");
    };
    run("one", "disk_io_jitter");
    for name in ["references/io-jitter.md", "references/write-path.md"] {
        let text = std::fs::read_to_string(skill.join(name)).expect("read");
        std::fs::write(skill.join(name), format!("{text}More.\n")).expect("written");
    }
    git(&["commit", "-q", "-a", "-m", "two"]);
    run("two", "apply_wait_high");
    let (code, out, err) = output(&["diff", &runs.path("one"), "two"]);
    assert_eq!(code, 0, "{err}");
    let changed = out.split("the skill changed\n").nth(1).expect("the skill changed");
    insta::assert_snapshot!("diff_skill", changed);
    let value = json(&["diff", &runs.path("one"), &runs.path("two"), "-o", "json"]);
    let first = &value["skill_changes"][0];
    assert_eq!(first["file"], "references/io-jitter.md");
    assert_eq!(first["flipped_cases_that_read_it"].as_array().map(Vec::len), value["flips"].as_array().map(Vec::len));
}

#[test]
fn a_gate_names_every_broken_rule() {
    let runs = Runs::new();
    runs.run("main", &BEFORE, &[]);
    let (code, _, err) = runs.run("branch", &AFTER, &["--gate", "agreement>=90% and failed==0 and no-flip-from:main"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!("gate", runs.plain(&err));
    let (code, _, err) = output(&["gate", &runs.path("main"), "no-flip-from:main and cases==3"]);
    assert!(code == 0 && err.contains("gate kept"), "{err}");
    let (code, _, err) = output(&["gate", &runs.path("main"), "agrement>=0.8"]);
    assert!(code == 2 && err.contains("did you mean agreement"), "{err}");
}

#[test]
fn a_run_is_written_for_other_tools() {
    let runs = Runs::new();
    let (code, _, err) = runs.run("run", &AFTER[..2], &[]);
    assert_eq!(code, 1, "one replay failed: {err}");
    for format in ["csv", "junit", "markdown", "jsonl"] {
        let (code, out, err) = output(&["report", &runs.path("run"), "-o", format]);
        assert_eq!(code, 0, "{err}");
        insta::assert_snapshot!(format!("report_{format}"), out);
    }
    assert_eq!(json(&["report", &runs.path("run"), "-o", "json"])["cases"], 2);
}

#[test]
fn runs_are_listed_and_removed_and_nothing_else_is() {
    let runs = Runs::new();
    runs.run("one", &BEFORE, &[]);
    runs.run("two", &AFTER, &[]);
    let casebook = runs.casebook().display().to_string();
    let (_, out, _) = output(&["runs", "ls", &casebook]);
    insta::assert_snapshot!("runs_ls", out);
    let shown = output(&["runs", "show", &casebook]);
    assert_eq!(shown, output(&["runs", "show", &runs.path("two")]), "a casebook stands for its last run");
    let (code, out, _) = shown;
    assert!(code == 0 && out.contains("TIKV-16016"), "{out}");
    let packed = ["one.zip", "again.zip"].map(|name| runs.0.path().join(name));
    for file in &packed {
        let (code, _, err) = output(&["runs", "export", &runs.path("one"), &file.display().to_string()]);
        assert_eq!(code, 0, "{err}");
    }
    let [one, again] = packed.map(|file| std::fs::read(file).expect("a zip"));
    assert!(one == again, "two exports are the same bytes");
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(one)).expect("a zip");
    assert!(zip.by_name("one/report.html").is_ok() && zip.by_name("one/cases/TIKV-16016.json").is_ok());
    let (code, _, err) = output(&["runs", "rm", &runs.path("one"), &casebook]);
    assert!(code == 2 && err.contains("is no run"), "{err}");
    assert_eq!(json(&["runs", "ls", &casebook, "-o", "json"]).as_array().map(Vec::len), Some(2), "nothing was removed");
    let (code, _, _) = output(&["runs", "rm", &runs.path("one")]);
    assert_eq!(code, 0);
    assert_eq!(json(&["runs", "ls", &casebook, "-o", "json"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn suggestions_are_ranked_and_become_a_patch_that_applies() {
    let runs = Runs::new();
    let wrong = [
        ("TIKV-18274", "grpc_cpu_saturation"),
        ("TIKV-16016", "disk_io_jitter"),
        ("TIKV-17363", "grpc_cpu_saturation"),
    ];
    runs.run("run", &wrong, &[]);
    let (code, out, err) = output(&["suggest", &runs.path("run")]);
    assert_eq!(code, 0, "{err}");
    insta::assert_snapshot!("suggest", out);
    let (code, _, err) = output(&["suggest", &runs.path("run"), "-o", "patch"]);
    assert!(code == 2 && err.contains("--skill"), "{err}");

    let skill = runs.0.path().join("tikv-slow-diagnosis");
    let copied =
        std::process::Command::new("cp").arg("-r").arg(root().join("skills/tikv-slow-diagnosis")).arg(&skill).status();
    assert!(copied.expect("cp runs").success());
    let dir = skill.display().to_string();
    let (code, patch, err) = output(&["suggest", &runs.path("run"), "--skill", &dir, "--patch"]);
    assert!(code == 0 && patch.contains("+## Learned from replays"), "{patch}{err}");
    let file = runs.0.path().join("skill.patch");
    std::fs::write(&file, &patch).expect("written");
    let applied = std::process::Command::new("git")
        .arg("-C")
        .arg(&skill)
        .args(["apply", "-p1"])
        .arg(&file)
        .output()
        .expect("git runs");
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    let (code, out, _) = output(&["skill", "check", &dir]);
    assert_eq!(code, 0, "{out}");
    let (_, again, _) = output(&["suggest", &runs.path("run"), "--skill", &dir, "-o", "patch"]);
    assert_eq!(again, "", "what is there is not added twice");
    let (code, out, _) = output(&["suggest", &runs.path("run"), "--least", "9"]);
    assert!(code == 0 && out.contains("nothing to suggest"), "{out}");
}

#[test]
fn a_review_goes_into_the_casebook_and_calibrates_the_rubric() {
    let runs = Runs::new();
    runs.run("run", &AFTER, &[]);
    let review =
        |arguments: &[&str]| output(&[&["review", &runs.path("run"), "--reviewer", "chen"], arguments].concat());
    let (_, out, _) = review(&["--list"]);
    insta::assert_snapshot!("review_queue", out);
    let (code, _, err) = review(&["--accept", "TIKV-16016,TIKV-17363"]);
    assert_eq!(code, 0, "{err}");
    let wrong = [
        "--override",
        "TIKV-18274",
        "--level",
        "partially_matched",
        "--mismatch",
        "symptom_named_as_cause",
        "--reason",
        "next to it",
    ];
    let (code, _, err) = review(&wrong);
    assert_eq!(code, 0, "{err}");
    let case = json(&["runs", "ls", &runs.casebook().display().to_string(), "-o", "json"]);
    assert_eq!(case.as_array().map(Vec::len), Some(1));
    let text = std::fs::read_to_string(runs.casebook().join("TIKV-18274.json")).expect("read");
    assert!(
        text.contains("\"match_level\": \"partially_matched\"")
            && text.contains("Review: partially_matched instead: next to it"),
        "{text}"
    );
    let (code, out, _) = output(&["check", &runs.casebook().display().to_string()]);
    assert_eq!(code, 0, "{out}");
    let (_, out, _) = review(&["--list"]);
    assert!(out.contains("0 of 3 wait for a decision"), "an override is a decision: {out}");
    let other = [("TIKV-18274", "too_many_regions"), AFTER[1], AFTER[2]];
    runs.run("s-later", &other, &[]);
    let (_, out, _) = output(&["review", &runs.path("s-later"), "--list"]);
    assert!(out.contains("1 of 3 wait for a decision"), "what was accepted holds where the verdict is the same: {out}");
    assert!(out.contains("a reviewer said partially_matched"), "but not for another conclusion: {out}");

    let casebook = runs.casebook().display().to_string();
    let measured = json(&["calibrate", "--reviews", &casebook, "-o", "json"]);
    assert_eq!(
        (measured["pairs"].as_u64(), measured["rules"][0]["overridden"].as_u64()),
        (Some(3), Some(1)),
        "{measured}"
    );
    let (code, out, _) = output(&["calibrate", "--reviews", &casebook]);
    assert!(code == 0 && out.contains("rules, by how often reviewers overrode them"), "{out}");

    let (code, _, err) = review(&["--undo", "TIKV-18274"]);
    assert_eq!(code, 0, "{err}");
    let original = std::fs::read_to_string(root().join("casebooks/public/TIKV-18274.json")).expect("read");
    assert_eq!(std::fs::read_to_string(runs.casebook().join("TIKV-18274.json")).expect("read"), original);
    let (code, _, err) = review(&["--override", "TIKV-18274", "--level", "mached"]);
    assert!(code == 2 && err.contains("did you mean matched"), "{err}");
}

#[test]
fn a_case_whose_repeats_differ_is_named_and_waits_for_a_look() {
    let runs = Runs::new();
    let answers = |id: &str| AFTER.iter().find(|(other, _)| *other == id).copied().expect("an answer");
    let repeats = [
        ("TIKV-18274.1", "disk_io_jitter"),
        ("TIKV-18274.2", "too_many_regions"),
        ("TIKV-16016.1", answers("TIKV-16016").1),
        ("TIKV-16016.2", answers("TIKV-16016").1),
        ("TIKV-17363.1", answers("TIKV-17363").1),
        ("TIKV-17363.2", answers("TIKV-17363").1),
    ];
    let (code, out, err) = runs.run("run", &repeats, &["--repeats", "2"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("flaky: TIKV-18274"), "{out}");
    let totals = json(&["report", &runs.path("run"), "-o", "json"]);
    assert_eq!(totals["replays"]["flaky_cases"], serde_json::json!(["TIKV-18274"]));
    let (_, out, _) = output(&["review", &runs.path("run"), "--list"]);
    assert!(
        out.lines().next().is_some_and(|line| line.starts_with("TIKV-18274") && line.contains("its repeats differ")),
        "{out}"
    );
}

/// A judge that calls everything a match.
const JUDGE: &str = r##"#!/usr/bin/env bash
mark=$(sed -n 's/^# Case //p' | head -1)
echo "{\"case\": \"$mark\", \"match_level\": \"matched\", \"mismatch_type\": [], \"why\": \"the same disk\"}"
"##;

#[test]
fn a_second_opinion_comes_first_in_the_queue_and_is_measured_and_changes_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = Runs::new();
    runs.run("run-0001", &AFTER, &[]);
    let script = runs.0.path().join("judge.sh");
    std::fs::write(&script, JUDGE).expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let (casebook, script) = (runs.casebook().display().to_string(), script.display().to_string());
    let judge = |more: &[&str]| {
        output(&[&["judge", &casebook, "--with", "command", "--command", &script, "--votes", "2"], more].concat())
    };
    let before =
        std::fs::read_to_string(PathBuf::from(runs.path("run-0001")).join("cases/TIKV-18274.json")).expect("read");
    let (code, out, err) = judge(&[]);
    assert_eq!(code, 0, "{out}\n{err}");
    insta::assert_snapshot!("judge", runs.plain(&out));
    let after =
        std::fs::read_to_string(PathBuf::from(runs.path("run-0001")).join("cases/TIKV-18274.json")).expect("read");
    assert_eq!(before, after, "the rubric's verdict stands");
    let file = PathBuf::from(runs.path("run-0001")).join("judgements.jsonl");
    let kept = std::fs::read(&file).expect("read");
    let (_, again, _) = judge(&[]);
    assert!(again.contains("3 of 3 cases have a verdict of it, 0 of them new"), "{again}");
    judge(&["--fresh"]);
    assert_eq!(std::fs::read(&file).expect("read"), kept, "the same answers are the same bytes");

    let (_, out, _) = output(&["review", &casebook, "--list"]);
    let first = out.lines().next().expect("a line");
    assert!(first.starts_with("TIKV-18274") && first.contains("command judge.sh says matched"), "{out}");
    for id in ["TIKV-18274", "TIKV-16016"] {
        output(&["review", &casebook, "--accept", id, "--reviewer", "chen"]);
    }
    let (code, out, _) = output(&["calibrate", "--reviews", &casebook]);
    assert_eq!(code, 0);
    insta::assert_snapshot!("calibrate_judges", out);
    let value = json(&["calibrate", "--reviews", &casebook, "-o", "json"]);
    assert_eq!(
        (&value["judges"][0]["people"]["pairs"], &value["judges"][0]["rubric"]["pairs"]),
        (&2.into(), &3.into())
    );

    // A line that a killed program did not finish is dropped, and what it was about is asked again.
    let cut = &kept[..kept.len() - 40];
    std::fs::write(&file, cut).expect("written");
    let (code, out, _) = judge(&[]);
    assert!(code == 0 && out.contains("1 of them new"), "{out}");
    assert_eq!(std::fs::read(&file).expect("read"), kept);

    // A judge that is busy at first is asked again.
    let busy = runs.0.path().join("busy");
    let tries = format!("test -e {0} || {{ touch {0}; echo overloaded >&2; exit 1; }}; exec {script}", busy.display());
    let tries = format!("bash -c '{tries}'");
    let (code, out, _) =
        output(&["judge", &casebook, "--with", "command", "--command", &tries, "--votes", "1", "--only", "TIKV-16016"]);
    assert!(code == 0 && busy.exists() && out.contains("1 of 1 cases have a verdict"), "{out}");

    for (arguments, told) in [
        (&["--with", "command"][..], "--command"),
        (&["--with", "anthropic", "--model", "m"], "ANTHROPIC_API_KEY"),
        (&["--with", "anthropik"], "anthropic"),
        (&["--with", "command", "--command", "cat", "--only", "TIKV-1"], "no verdict on TIKV-1"),
    ] {
        let (code, _, err) = output(&[&["judge", &casebook], arguments].concat());
        assert!(code == 2 && err.contains(told), "{err}");
    }
    let (code, out, _) =
        output(&["judge", &casebook, "--with", "command", "--command", "echo no", "--only", "TIKV-16016"]);
    assert!(code == 1 && out.contains("no verdict in the answer: no"), "{out}");
}

#[test]
fn the_report_shows_the_trend_over_the_runs_of_a_casebook() {
    let runs = Runs::new();
    runs.run("run-0001", &BEFORE, &[]);
    runs.run("run-0002", &AFTER, &[]);
    let page = |name: &str| {
        std::fs::read_to_string(std::path::Path::new(&runs.path(name)).join("report.html")).expect("a report")
    };
    assert!(!page("run-0001").contains("<svg class=\"trend\""), "one run is no trend");
    assert!(
        page("run-0002").contains("<svg class=\"trend\"")
            && page("run-0002").contains("run-0001: 2 of 3 matched, recorded")
    );
}
