//! Deciding in a real browser, as a reviewer does.

#![cfg(unix)]

#[path = "common/browser.rs"]
mod browser;
mod common;
#[path = "common/desk.rs"]
mod desk;

use std::path::Path;

use common::{hindcast, output};
use desk::{Bench, words};
use serde_json::json;

#[test]
fn a_reviewer_goes_through_the_queue_by_keys_alone() {
    let bench = Bench::new(|_| ()).serve();
    let browser = bench.browser(1440, 900);
    assert_eq!(browser.place(), "/queue", "the token left the address");
    let original = std::fs::read_to_string(bench.case("TIKV-16016")).expect("a case");
    browser.press("j\u{e007}");
    browser.until("document.querySelector('#decision')");
    assert_eq!(browser.place(), "/case/TIKV-16016");

    browser.press("a");
    browser.until("location.search.includes('done=TIKV-16016')");
    assert_eq!(bench.log()[0]["decision"], "accept");
    assert_eq!(bench.stored("TIKV-16016")["match_level"], "mismatched");
    assert!(browser.text().contains("1 of 3 decided"), "{}", browser.text());

    browser.press("z");
    browser.until("location.pathname === '/case/TIKV-16016'");
    assert_eq!(std::fs::read_to_string(bench.case("TIKV-16016")).expect("a case"), original);

    browser.press("s");
    browser.until("location.pathname === '/case/TIKV-17363'");
    browser.press("j");
    browser.until("location.pathname === '/case/TIKV-18274'");
    browser.press("k");
    browser.until("location.pathname === '/case/TIKV-17363'");
    browser.press("q");
    browser.until("location.pathname === '/queue'");
    browser.press("/disk");
    assert_eq!(browser.value("document.activeElement.value"), "disk", "letters are text in a field");
    browser.press("\u{e00c}?");
    browser.until("document.querySelector('dialog[open]')");
    browser.press("s");
    assert_eq!(browser.place(), "/queue", "keys wait while their list is open");
    browser.click("dialog form button:not([type])");
    browser.press("j\u{e007}");
    browser.until("document.querySelector('#decision')");
    browser.press("?");
    browser.until("document.querySelector('dialog[open]')");
    browser.click("#keys-switch");
    browser.click("dialog form button:not([type])");
    browser.press("a");
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(!browser.place().contains("done"), "keys are off");
    browser.script("document.querySelector('[data-opens=keys]').click()");
    browser.click("#keys-switch");
    browser.click("dialog form button:not([type])");
    browser.press("a");
    browser.until("location.search.includes('done=TIKV-16016')");
}

#[test]
fn another_verdict_needs_a_reason_and_goes_into_the_case() {
    let bench = Bench::new(|case| {
        if case["incident_id"] == "TIKV-18274" {
            let window = |label: &str, start: &str, end: &str| {
                json!({"label": label, "start_time": start, "end_time": end, "summary": "the volume degraded",
                    "inferred_path": "write", "inferred_bottleneck": "disk_io_jitter", "evidence": []})
            };
            case["final_human_conclusion"]["analysis_windows"] = json!([
                window("window-1", "2026-01-08T10:00:00+08:00", "2026-01-08T10:30:00+08:00"),
                window("window-2", "2026-01-08T11:00:00+08:00", "2026-01-08T11:30:00+08:00"),
            ]);
        }
    })
    .serve();
    let browser = bench.browser(1440, 900);
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#timeline canvas')");
    assert!(browser.value("document.querySelector('#timeline canvas').width > 600") == json!(true));
    let drag = "const over = document.querySelector('.u-over'), at = over.getBoundingClientRect();\
        const send = (kind, x) => over.dispatchEvent(new MouseEvent(kind, {bubbles: true, clientX: at.left + x, clientY: at.top + 40}));\
        send('mousemove', at.width * 0.1); return document.querySelector('.told').textContent";
    assert!(browser.script(drag).as_str().is_some_and(|told| told.contains("engineers window-1 the volume degraded")));

    browser.press("o");
    browser.until("document.activeElement.name === 'level'");
    browser.press("2");
    browser.until("document.activeElement.name === 'reason'");
    browser.press_with('\u{e009}', '\u{e007}');
    browser.until("document.querySelector('[role=alert]')");
    assert!(browser.text().contains("Say which verdict is right, and why."));
    assert_eq!(browser.value("document.querySelector('[name=level]:checked').value"), "partially_matched");
    assert!(bench.log().is_empty());

    browser.script(
        "document.querySelector('[name=assessment-1]').value = 'unclear';\
         document.querySelector('[name=notes-1]').value = 'No metrics of that hour.';\
         for (const box of document.querySelectorAll('[name=mismatch]')) box.checked = box.value === 'symptom_named_as_cause';\
         document.querySelector('[name=reason]').focus()",
    );
    browser.press("next to it, 差一步");
    browser.press_with('\u{e009}', '\u{e007}');
    browser.until("location.search.includes('done=TIKV-18274')");
    let case = bench.stored("TIKV-18274");
    assert_eq!(case["match_level"], "partially_matched");
    assert_eq!(words(&case["mismatch_type"]), ["symptom_named_as_cause"]);
    assert!(words(&case["comparison_notes"]).contains(&"Review: partially_matched instead: next to it, 差一步"));
    assert_eq!(case["window_reviews"][1]["assessment"], "unclear");
    assert_eq!(words(&case["window_reviews"][1]["notes"]), ["No metrics of that hour."]);
    assert_eq!(bench.log()[0]["windows"], json!(["window-2"]));
    let (code, out, _) = output(&["check", &bench.case("TIKV-18274").display().to_string()]);
    assert_eq!(code, 0, "the file is canonical: {out}");

    browser.press("u");
    browser.until("document.activeElement.name === 'reason'");
    browser.press("two owners");
    browser.press_with('\u{e009}', '\u{e007}');
    browser.until("document.querySelector('[role=status]')?.innerText.includes('TIKV-16016')");
    let case = bench.stored("TIKV-16016");
    assert_eq!(case["match_level"], "human_conclusion_unclear");
    assert_eq!(case["final_human_conclusion"]["status"], "human_conclusion_unclear");
}

#[test]
fn two_who_decide_at_once_see_the_conflict_and_lose_nothing() {
    let bench = Bench::new(|_| ()).serve();
    let browser = bench.browser(1440, 900);
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#decision')");
    let first = browser.new_tab();
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#decision')");
    browser.press("a");
    browser.until("location.search.includes('done')");
    let before = std::fs::read_to_string(bench.case("TIKV-18274")).expect("a case");

    browser.switch(first);
    browser.press("o");
    browser.until("document.activeElement.name === 'level'");
    browser.press("1my reason");
    browser.press_with('\u{e009}', '\u{e007}');
    browser.until("document.querySelector('[role=alert]')");
    let told = browser.value("document.querySelector('[role=alert]').innerText");
    let told = told.as_str().expect("a text");
    assert!(
        told.contains("was changed since you looked at it") && told.contains("accepted") && told.contains("chen"),
        "{told}"
    );
    assert_eq!(std::fs::read_to_string(bench.case("TIKV-18274")).expect("a case"), before, "nothing was written");
    assert_eq!(browser.value("document.querySelector('[name=reason]').value"), "my reason", "what was typed is kept");

    browser.click("#decision button[value=other]");
    browser.until("location.search.includes('done')");
    assert_eq!(bench.stored("TIKV-18274")["match_level"], "matched");
    assert_eq!(bench.log().len(), 2);
}

#[test]
fn what_can_not_be_written_is_told_and_what_was_typed_stays() {
    let bench = Bench::new(|_| ()).serve();
    let browser = bench.browser(1440, 900);
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#decision')");
    // A folder stands where the lock would be.
    std::fs::create_dir(bench.casebook().join(".hindcast/reviews.lock")).expect("made");
    browser.press("o");
    browser.until("document.activeElement.name === 'level'");
    browser.press("1my reason");
    browser.press_with('\u{e009}', '\u{e007}');
    browser.until("document.querySelector('[role=alert]')");
    assert!(browser.text().contains("This could not be kept") && browser.text().contains("reviews.lock"));
    assert_eq!(browser.value("document.querySelector('[name=reason]').value"), "my reason");
    std::fs::remove_dir(bench.casebook().join(".hindcast/reviews.lock")).expect("removed");
    browser.click("#decision button[value=other]");
    browser.until("location.search.includes('done')");
    assert_eq!(bench.stored("TIKV-18274")["match_level"], "matched");
}

#[test]
fn a_case_that_was_edited_since_the_run_says_so() {
    let bench = Bench::new(|_| ()).serve();
    let browser = bench.browser(1440, 900);
    let told = || {
        browser.open(&bench.at("/case/TIKV-18274"));
        browser.until("document.querySelector('#decision')");
        browser.text().contains("was changed in the casebook since this run")
    };
    assert!(!told());
    browser.press("u");
    browser.until("document.activeElement.name === 'reason'");
    browser.press("two owners");
    browser.press_with('\u{e009}', '\u{e007}');
    browser.until("location.search.includes('done')");
    assert!(!told(), "a decision is no edit of the incident");
    let mut case = bench.stored("TIKV-18274");
    case["final_human_conclusion"]["owner_final_comment"] = json!("It was the network after all.");
    std::fs::write(bench.case("TIKV-18274"), case.to_string()).expect("written");
    assert!(told());
    assert!(browser.text().contains("EBS volume"), "what is shown is what the run judged");
}

#[test]
fn what_is_meant_by_no_run_is_the_last_one_of_the_casebook() {
    let bench = Bench::new(|_| ());
    bench.run();
    bench.run();
    let runs = bench.casebook().join(".hindcast/runs");
    let list = |place: &Path| output(&["review", &place.display().to_string(), "--list"]);
    let (code, out, err) = list(&bench.casebook());
    assert!(code == 0 && out.contains("3 of 3 wait for a decision"), "{err}");
    assert_eq!(list(&runs.join("run-0002")).1, out);
    let (code, _, err) = list(&bench.answers());
    assert!(code == 2 && err.contains("hindcast runs ls"), "{err}");
    let stands_in = |place: &Path, arguments: &[&str]| {
        let run = hindcast(arguments).current_dir(place).output().expect("the program runs");
        (
            run.status.code(),
            String::from_utf8_lossy(&run.stdout).into_owned(),
            String::from_utf8_lossy(&run.stderr).into_owned(),
        )
    };
    assert_eq!(stands_in(bench.dir.path(), &["review", "--list"]).1, out, "./casebook");
    assert_eq!(stands_in(&bench.casebook(), &["review", "--list"]).1, out, "the casebook itself");
    let (code, _, err) = stands_in(&bench.answers(), &["review", "--list"]);
    assert!(code == Some(2) && err.contains("no run was found here"), "{err}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let (code, _, err) = stands_in(bench.dir.path(), &["review", "--no-open", "--port", &port, "--reviewer", "chen"]);
    assert!(code == Some(2) && err.contains("another port"), "{err}");
}
