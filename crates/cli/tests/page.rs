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
fn three_hundred_cases_of_long_tickets_are_below_two_megabytes() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let casebook = dir.path().join("casebook");
    std::fs::create_dir(&casebook).expect("made");
    let public = std::fs::read_dir(common::root().join("casebooks/public")).expect("cases");
    let mut cases: Vec<_> = public.filter_map(|entry| Some(entry.ok()?.path())).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    cases.sort();
    let long =
        "The engineers wrote more of the timeline and of the panels that they looked at. 又看了一遍监控。".repeat(60);
    for (n, path) in cases.iter().cycle().take(300).enumerate() {
        let text = std::fs::read_to_string(path).expect("a case");
        let mut case: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        case["incident_id"] = format!("GTOC-{n}").into();
        case["source"] = "jira_gtoc".into();
        for place in
            ["/initial_symptom", "/canonical_incident/description_text", "/final_human_conclusion/owner_final_comment"]
        {
            let field = case.pointer_mut(place).expect("a field");
            *field = format!("{} {long}", field.as_str().expect("a text")).into();
        }
        std::fs::write(casebook.join(format!("GTOC-{n}.json")), case.to_string()).expect("written");
    }
    let out = dir.path().join("run");
    let (_, _, err) =
        output(&["run", &casebook.display().to_string(), "--out", &out.display().to_string(), "--rows", "1"]);
    let pages = ["report.html", "report-2.html"].map(|name| std::fs::read_to_string(out.join(name)).expect(&err));
    let size: usize = pages.iter().map(String::len).sum();
    assert!(size < 2_000_000, "{size} bytes");
    assert_eq!(pages.iter().map(|page| page.matches("<section id=").count()).sum::<usize>(), 300);
    assert!(pages[0].contains("page 1 of 2") && pages[1].contains("page 2 of 2") && !pages[1].contains(">next<"));
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
