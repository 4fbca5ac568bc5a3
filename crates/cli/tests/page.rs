//! The report in a real browser.

mod common;

use std::process::Command;

use common::output;

/// The browser that scripts/test installs.
fn chromium() -> &'static str {
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
        .expect("Chromium is missing; scripts/test installs it (apt-get install chromium)")
}

#[test]
fn the_report_opens_in_a_browser_with_every_case_and_no_request_outside() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (code, _, err) = output(&["run", "casebooks/public", "--out", &dir.path().display().to_string()]);
    assert_eq!(code, 0, "{err}");
    let profile = tempfile::tempdir().expect("a temporary folder");
    let page = format!("file://{}", dir.path().join("report.html").display());
    let dump = Command::new(chromium())
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(&page)
        .output()
        .expect("Chromium starts");
    let dom = String::from_utf8_lossy(&dump.stdout);
    assert_eq!(dom.matches("<section id=").count(), 18, "every case has its section");
    assert_eq!(dom.matches("<svg").count(), 18, "every case has its drawing");
    assert!(dom.contains("mark class=\"cause\" title=\"cause: disk_io_jitter\""), "claims are marked");
    let html = std::fs::read_to_string(dir.path().join("report.html")).expect("the page");
    assert!(!html.contains("src=") && !html.contains("<link") && !html.contains("url("), "the page asks for nothing");
}
