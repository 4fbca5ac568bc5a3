//! `hindcast import`, form by form.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};

use common::{hindcast, output, root};
use serde_json::Value;

const MARKS: [&str; 5] = ["CANARY-RESOLUTION", "CANARY-LABEL", "CANARY-EDIT", "CANARY-FILE", "CANARY-COMMENT"];

fn export(name: &str) -> String {
    root().join("crates/cli/tests/fixtures/import").join(name).display().to_string()
}

/// A casebook in a folder of its own.
struct Casebook(tempfile::TempDir);

impl Casebook {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("casebook")
    }

    /// Runs `import` into it. The casebook's own path is taken out of what is printed.
    fn import(&self, arguments: &[&str]) -> (i32, String, String) {
        let out = self.path().display().to_string();
        let (code, stdout, stderr) = output(&[&["import"], arguments, &["--out", &out]].concat());
        let plain = |text: String| text.replace(&out, "CASEBOOK").replace(&root().display().to_string(), "");
        (code, plain(stdout), plain(stderr))
    }

    fn text(&self, id: &str) -> String {
        std::fs::read_to_string(self.path().join(format!("{id}.json"))).expect("the case")
    }

    fn case(&self, id: &str) -> Value {
        serde_json::from_str(&self.text(id)).expect("JSON")
    }

    fn write(&self, id: &str, case: &Value) {
        let text = serde_json::to_string_pretty(case).expect("JSON");
        std::fs::write(self.path().join(format!("{id}.json")), text).expect("written");
    }

    fn ids(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path())
            .expect("a casebook")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
            .collect();
        names.sort();
        names
    }
}

/// The half of a case that a skill is shown.
fn question(case: &Value) -> String {
    format!("{} {}", case["initial_symptom"], case["canonical_incident"])
}

#[test]
fn every_form_of_an_export_becomes_cases_that_check_accepts() {
    let book = Casebook::new();
    let pingkai = export("pingkai.toml");
    let forms: [(&[&str], &[&str]); 9] = [
        (&["jira", &export("v2-issue.json")], &["GTOC-7101"]),
        (&["jira", &export("v3-search.json")], &["GTOC-7102", "GTOC-7103"]),
        (&["jira", &export("v2-search.json")], &["GTOC-7104"]),
        (&["jira", &export("export.csv")], &["GTOC-7107"]),
        (&["jira", &export("export.xml")], &["GTOC-7108"]),
        (&["jira", &export("GTOC-7109.md")], &["GTOC-7109"]),
        (&["pingkai", &export("pingkai.jsonl"), "--config", &pingkai], &["TICKET-8412"]),
        (&["pingkai", &export("pingkai.csv")], &["TICKET-8413"]),
        (&["github", &export("github-thread.json")], &["TIKV-991"]),
    ];
    let mut told = String::new();
    for (arguments, ids) in forms {
        let (code, out, err) = book.import(arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        for id in ids {
            assert!(book.path().join(format!("{id}.json")).exists(), "{id}");
        }
        told.push_str(&format!("{err}{out}\n"));
    }
    insta::assert_snapshot!("import_forms", told);
    let (code, out, err) = output(&["check", &book.path().display().to_string()]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
}

#[test]
fn what_was_learned_later_is_not_in_the_half_a_skill_sees() {
    let book = Casebook::new();
    book.import(&["jira", &export("v2-issue.json")]);
    let case = book.case("GTOC-7101");
    let question = question(&case);
    for mark in MARKS {
        assert!(!question.contains(mark), "{mark} is shown: {question}");
        assert!(!case["replay_inputs"].to_string().contains(mark), "{mark} is among the inputs");
    }
    assert_eq!(case["canonical_incident"]["title"], "TiKV write latency p99 2 s on one store", "as first written");
    assert!(case["final_human_conclusion"]["owner_final_comment"].as_str().expect("a text").contains("Root cause"));
    insta::assert_snapshot!("import_case", book.text("GTOC-7101"));
}

#[test]
fn secrets_and_people_of_customers_do_not_reach_the_casebook() {
    let book = Casebook::new();
    book.import(&["jira", &export("v2-issue.json")]);
    for file in [book.path().join("GTOC-7101.json"), book.path().join(".hindcast/imported/GTOC-7101.json")] {
        let text = std::fs::read_to_string(file).expect("kept");
        for secret in ["ops@customer.example", "ghp_0123", "138 0013"] {
            assert!(!text.contains(secret), "{secret}");
        }
        assert!(text.contains("10.0.4.17:20160"), "an instance stays useful");
    }
    let hidden = Casebook::new();
    hidden.import(&["jira", &export("v2-issue.json"), "--anonymise"]);
    let text = hidden.text("GTOC-7101");
    assert!(!text.contains("10.0.4.17") && !text.contains("Zhao"), "{text}");
    assert!(text.contains("7460723698814898616"), "a cluster id is no name");
}

#[test]
fn a_cut_off_of_the_users_own_is_obeyed() {
    let book = Casebook::new();
    book.import(&["jira", &export("v2-issue.json"), "--as-of", "2026-01-06T14:42:00+08:00"]);
    let case = book.case("GTOC-7101");
    assert!(!question(&case).contains("Spikes at"), "the reporter wrote that later");
    let notes = case["replay_inputs"]["notes"].as_str().expect("notes");
    assert!(notes.starts_with("Cut-off: 2026-01-06T14:42:00+08:00"), "{notes}");
    let (code, _, err) = book.import(&["jira", &export("v2-issue.json"), "--as-of", "yesterday"]);
    assert!(code == 2 && err.contains("\"yesterday\" is no time") && err.contains("expected"), "{err}");
}

#[test]
fn folders_and_zips_are_read_and_a_bad_ticket_never_stops_the_others() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("export.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).expect("created"));
    let options = zip::write::SimpleFileOptions::default();
    for name in ["v2-issue.json", "v3-search.json", "export.xml", "issues.jsonl", "GTOC-7109.md"] {
        zip.start_file(format!("a/{name}"), options).expect("an entry");
        zip.write_all(&std::fs::read(export(name)).expect("read")).expect("written");
    }
    zip.start_file("../../escaped.json", options).expect("an entry");
    zip.write_all(&std::fs::read(export("v2-search.json")).expect("read")).expect("written");
    zip.start_file("notes.txt", options).expect("an entry");
    zip.write_all(b"nothing of ours").expect("written");
    zip.finish().expect("finished");
    let book = Casebook::new();
    let (code, out, err) = book.import(&["jira", &path.display().to_string()]);
    assert_eq!(code, 1, "{err}");
    for id in ["GTOC-7101", "GTOC-7102", "GTOC-7103", "GTOC-7105", "GTOC-7108", "GTOC-7109"] {
        assert!(book.ids().contains(&id.to_owned()), "{id}: {out}\n{err}");
    }
    assert!(err.contains("line 2: ends inside a record"), "{err}");
    assert!(!dir.path().join("../escaped.json").exists());

    let folder = Casebook::new();
    let fixtures = root().join("crates/cli/tests/fixtures/import");
    let (code, _, err) = folder.import(&["jira", &fixtures.display().to_string()]);
    assert!(code == 1 && folder.ids().len() >= 8, "{err}");
}

#[test]
fn bytes_of_other_encodings_are_read() {
    let text = std::fs::read_to_string(export("pingkai.csv")).expect("read");
    let (bytes, _, _) = encoding_rs::GB18030.encode(&text);
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("gb.csv");
    std::fs::write(&path, &bytes).expect("written");
    let book = Casebook::new();
    let (code, _, err) = book.import(&["pingkai", &path.display().to_string()]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(book.case("TICKET-8413")["canonical_incident"]["title"], "读延迟抖动");
}

#[test]
fn a_dry_run_writes_nothing_and_tells_the_same() {
    let book = Casebook::new();
    let (code, out, _) = book.import(&["jira", &export("v3-search.json"), "--dry-run"]);
    assert_eq!(code, 0);
    assert!(out.contains("2 would be new") && out.contains("nothing was written"), "{out}");
    assert!(!book.path().exists());
}

#[test]
fn since_and_limit_choose_tickets() {
    let book = Casebook::new();
    let fixture = export("v3-search.json");
    let (_, out, _) = book.import(&["jira", &fixture, "--limit", "1"]);
    assert_eq!(book.ids(), ["GTOC-7102"]);
    assert!(out.starts_with("1 tickets read"), "{out}");
    let (code, out, _) = book.import(&["jira", &fixture, "--since", "2026-02-06"]);
    assert!(code == 0 && out.contains("2 older than --since"), "{out}");
}

#[test]
fn an_update_keeps_what_a_person_wrote_and_shows_what_the_ticket_changed() {
    let book = Casebook::new();
    book.import(&["jira", &export("v2-issue.json")]);
    let mut case = book.case("GTOC-7101");
    case["match_level"] = "partially_matched".into();
    case["comparison_notes"] = serde_json::json!(["looked at by a person"]);
    case["canonical_incident"]["time_window"] = "2026-01-06T14:10:00+08:00/2026-01-06T14:30:00+08:00".into();
    book.write("GTOC-7101", &case);

    let mut ticket: Value =
        serde_json::from_slice(&std::fs::read(export("v2-issue.json")).expect("read")).expect("JSON");
    ticket["fields"]["comment"]["comments"][3]["body"] =
        "*Root cause*: the disk of the raft logs hung, IO hang of 40 s.".into();
    ticket["fields"]["comment"]["comments"][1]["body"] = "Spikes at 14:05 ~ 14:35.".into();
    let dir = tempfile::tempdir().expect("a folder");
    let changed = dir.path().join("changed.json").display().to_string();
    std::fs::write(&changed, ticket.to_string()).expect("written");

    let before = book.text("GTOC-7101");
    let (code, out, _) = book.import(&["jira", &changed]);
    assert_eq!(code, 1, "it differs and was left alone: {out}");
    assert!(out.contains("add --update") && book.text("GTOC-7101") == before, "{out}");

    let (code, out, err) = book.import(&["jira", &changed, "--update"]);
    assert_eq!(code, 0, "{err}");
    let after = book.case("GTOC-7101");
    assert_eq!(after["match_level"], "partially_matched");
    assert_eq!(after["comparison_notes"][0], "looked at by a person");
    assert_eq!(after["canonical_incident"]["time_window"], case["canonical_incident"]["time_window"]);
    assert!(after["final_human_conclusion"]["owner_final_comment"].as_str().expect("a text").contains("IO hang"));
    insta::assert_snapshot!("import_update", out);
    let (_, out, _) = book.import(&["jira", &changed, "--update"]);
    assert!(out.contains("1 unchanged") || out.contains("1 kept as they are"), "{out}");
}

#[test]
fn machines_get_a_line_a_ticket() {
    let book = Casebook::new();
    let (code, out, _) = book.import(&["jira", &export("issues.jsonl"), "-o", "json"]);
    assert_eq!(code, 1);
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(rows[0]["incident_id"], "GTOC-7105");
    assert_eq!(rows[0]["state"], "new");
    assert!(rows[1]["message"].as_str().expect("why").contains("line 2"));
    assert_eq!(rows[2]["summary"]["skipped"], 1);
}

#[test]
fn what_cannot_be_used_is_said_with_the_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path.display().to_string()
    };
    let book = Casebook::new();
    for (name, bytes, says) in [
        ("empty.json", &b""[..], "empty"),
        ("garbage.json", b"\x00\x01\xffnot json", "garbage.json"),
        ("other.json", b"{\"hello\": 1}", "no issue key"),
        ("cut.json", b"{\"key\": \"GTOC-1\", \"fields\": {\"summary\": \"x", "ends inside"),
        ("export.zip", b"PK\x03\x04 broken", "zip"),
        ("list.csv", b"a,b\n1,2\n", "list.csv"),
        ("feed.xml", b"<rss><channel><item><key>", "feed.xml"),
    ] {
        let (code, _, err) = book.import(&["jira", &write(name, bytes)]);
        assert!(code == 2 && err.contains(says), "{name}: exit {code}: {err}");
        assert!(!err.contains("panicked"), "{err}");
    }
    let (code, _, err) = book.import(&["jira", &dir.path().join("missing").display().to_string()]);
    assert!(code == 2 && err.contains("missing"), "{err}");
    let settings = write("hindcast.toml", b"[intake]\nzone = \"+0800\"\nzon = 1\n");
    let (code, _, err) = book.import(&["jira", &export("export.csv"), "--config", &settings]);
    assert!(code == 2 && err.contains("zon"), "{err}");
}

#[test]
fn imports_give_the_same_bytes() {
    let (one, other) = (Casebook::new(), Casebook::new());
    let fixtures = root().join("crates/cli/tests/fixtures/import").display().to_string();
    let (first, second) = (one.import(&["jira", &fixtures]), other.import(&["jira", &fixtures]));
    assert_eq!(first, second);
    for id in one.ids() {
        assert_eq!(one.text(&id), other.text(&id));
    }
}

#[test]
fn a_run_leaves_a_leaking_case_out_of_the_headline() {
    let book = Casebook::new();
    book.import(&["jira", &export("v2-issue.json")]);
    let mut case = book.case("GTOC-7101");
    let answer = case["final_human_conclusion"]["owner_final_comment"].clone();
    case["canonical_incident"]["description_text"] = answer;
    book.write("GTOC-7101", &case);
    book.import(&["jira", &export("v3-search.json")]);
    let run = book.0.path().join("run");
    let arguments = ["run", &book.path().display().to_string(), "--out", &run.display().to_string()];
    let shown = hindcast(&arguments).output().expect("the program runs");
    let out = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(out.contains("left out, because the inputs give the conclusion away: 1"), "{out}");
    assert!(out.contains("3 cases, 1 of them comparable"), "{out}");
}

#[test]
fn live_sources_take_their_secrets_from_the_environment_alone() {
    let book = Casebook::new();
    let (code, _, err) = book.import(&["jira", "--url", "http://127.0.0.1:1", "--jql", "project = GTOC"]);
    assert!(code == 2 && err.contains("can't be reached") && err.contains("is the address right"), "{err}");
    let (code, _, err) =
        book.import(&["jira", "--url", "https://me:secret@jira.example.com", "--jql", "project = GTOC"]);
    assert!(code == 2 && !err.contains("secret"), "{err}");
    let (code, _, err) = book.import(&["jira", "--url", "https://127.0.0.1:1"]);
    assert!(code == 2 && err.contains("--jql"), "{err}");
    let (code, _, err) = book.import(&["github", "tikv-18274"]);
    assert!(code == 2 && err.contains("tikv/tikv#18274"), "{err}");
    assert!(!Path::new(&book.path()).join("TIKV-18274.json").exists());
}
