//! Running the program as a user does.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The program, run in the repository, with no colours.
pub(crate) fn hindcast(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("hindcast"));
    command.current_dir(root()).env("NO_COLOR", "1").args(arguments);
    command
}

/// Exit code, standard output and standard error of a run.
pub(crate) fn output(arguments: &[&str]) -> (i32, String, String) {
    let output = hindcast(arguments).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

/// A copy of a fixture in a folder of its own.
pub(crate) fn fixture(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(name);
    std::fs::copy(root().join("crates/cli/tests/fixtures").join(name), &path).expect("copied");
    (dir, path)
}

/// JSON on standard output.
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    let (code, out, err) = output(arguments);
    assert!(code < 2, "{err}");
    serde_json::from_str(&out).expect("JSON on standard output")
}
