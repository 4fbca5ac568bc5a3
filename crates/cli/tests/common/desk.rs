//! A run on a reviewer's desk, served.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::browser::Browser;
use crate::common::{output, root};

/// A casebook with a run of recorded answers, and the review of it.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    server: Option<Child>,
    pub(crate) address: String,
}

/// What the skill says of each incident; the engineers say `disk_io_jitter`, `apply_wait_high`, `disk_io_hang`.
pub(crate) const ANSWERS: [(&str, &str); 3] =
    [("TIKV-18274", "grpc_cpu_saturation"), ("TIKV-16016", "disk_io_jitter"), ("TIKV-17363", "disk_io_hang")];

impl Bench {
    /// Three public cases, as `change` makes them.
    pub(crate) fn new(change: impl Fn(&mut Value)) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let bench = Self { dir, server: None, address: String::new() };
        std::fs::create_dir(bench.casebook()).expect("made");
        std::fs::create_dir(bench.answers()).expect("made");
        for (id, bottleneck) in ANSWERS {
            let text = std::fs::read_to_string(root().join(format!("casebooks/public/{id}.json"))).expect("a case");
            let mut case: Value = serde_json::from_str(&text).expect("JSON");
            change(&mut case);
            std::fs::write(bench.case(id), format!("{case:#}\n")).expect("written");
            std::fs::write(bench.answers().join(format!("{id}.md")), answer(bottleneck)).expect("written");
        }
        bench
    }

    pub(crate) fn casebook(&self) -> PathBuf {
        self.dir.path().join("casebook")
    }

    pub(crate) fn answers(&self) -> PathBuf {
        self.dir.path().join("answers")
    }

    pub(crate) fn case(&self, id: &str) -> PathBuf {
        self.casebook().join(format!("{id}.json"))
    }

    pub(crate) fn run(&self) {
        let (casebook, answers) = (self.casebook().display().to_string(), self.answers().display().to_string());
        let (code, out, err) =
            output(&["run", &casebook, "--runner", "recorded", "--transcripts", &answers, "--rows", "3"]);
        assert_eq!(code, 0, "{out}\n{err}");
    }

    /// Runs the casebook and serves the review of the run.
    pub(crate) fn serve(mut self) -> Self {
        if !self.casebook().join(".hindcast/runs").exists() {
            self.run();
        }
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("hindcast"));
        let mut server = command
            .args(["review", &self.casebook().display().to_string(), "--no-open", "--reviewer", "chen"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut first = String::new();
        BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
        self.address = first.trim().strip_prefix("Review at ").expect("an address").to_owned();
        self.server = Some(server);
        self
    }

    pub(crate) fn at(&self, place: &str) -> String {
        format!("{}{place}", self.address.split_once("/#").expect("a token").0)
    }

    /// A browser that has entered.
    pub(crate) fn browser(&self, width: u32, height: u32) -> Browser {
        let browser = Browser::start(width, height);
        browser.open(&self.address);
        browser.until("location.pathname === '/queue' && document.querySelector('a.case')");
        browser
    }

    pub(crate) fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.casebook().join(".hindcast/reviews.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    pub(crate) fn stored(&self, id: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.case(id)).expect("a case")).expect("JSON")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

pub(crate) fn answer(bottleneck: &str) -> String {
    format!(
        r#"{{"entry_mode": "io_jitter", "is_tikv_side": "yes", "scope": "single_instance", "path": "write", "earliest_proven_bottleneck": "{bottleneck}"}}"#
    )
}

pub(crate) fn words(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
