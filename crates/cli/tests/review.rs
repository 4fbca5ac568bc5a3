//! The review in a real browser, as a reviewer uses it.

#![cfg(unix)]

#[path = "common/browser.rs"]
mod browser;
mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use browser::Browser;
use common::{hindcast, output, root};
use serde_json::{Value, json};

/// A casebook with a run of recorded answers, and the review of it.
struct Bench {
    dir: tempfile::TempDir,
    server: Option<Child>,
    address: String,
}

/// What the skill says of each incident; the engineers say `disk_io_jitter`, `apply_wait_high`, `disk_io_hang`.
const ANSWERS: [(&str, &str); 3] =
    [("TIKV-18274", "grpc_cpu_saturation"), ("TIKV-16016", "disk_io_jitter"), ("TIKV-17363", "disk_io_hang")];

impl Bench {
    /// Three public cases, as `change` makes them.
    fn new(change: impl Fn(&mut Value)) -> Self {
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

    fn casebook(&self) -> PathBuf {
        self.dir.path().join("casebook")
    }

    fn answers(&self) -> PathBuf {
        self.dir.path().join("answers")
    }

    fn case(&self, id: &str) -> PathBuf {
        self.casebook().join(format!("{id}.json"))
    }

    fn run(&self) {
        let (casebook, answers) = (self.casebook().display().to_string(), self.answers().display().to_string());
        let (code, out, err) =
            output(&["run", &casebook, "--runner", "recorded", "--transcripts", &answers, "--rows", "3"]);
        assert_eq!(code, 0, "{out}\n{err}");
    }

    /// Runs the casebook and serves the review of the run.
    fn serve(mut self) -> Self {
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

    fn at(&self, place: &str) -> String {
        format!("{}{place}", self.address.split_once("/#").expect("a token").0)
    }

    /// A browser that has entered.
    fn browser(&self, width: u32, height: u32) -> Browser {
        let browser = Browser::start(width, height);
        browser.open(&self.address);
        browser.until("location.pathname === '/queue' && document.querySelector('a.case')");
        browser
    }

    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.casebook().join(".hindcast/reviews.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn stored(&self, id: &str) -> Value {
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

fn answer(bottleneck: &str) -> String {
    format!(
        r#"{{"entry_mode": "io_jitter", "is_tikv_side": "yes", "scope": "single_instance", "path": "write", "earliest_proven_bottleneck": "{bottleneck}"}}"#
    )
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

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
fn a_claim_lights_up_wherever_its_mechanism_stands() {
    let bench = Bench::new(|_| ()).serve();
    let browser = bench.browser(1440, 900);
    browser.open(&bench.at("/case/TIKV-17363"));
    browser.until("document.querySelector('[data-claim=disk_io_hang]')");
    let lit = || browser.value("[...document.querySelectorAll('.linked')].map(e => e.localName).sort().join()");
    assert_eq!(lit(), "");
    browser.click("[data-claim=disk_io_hang]");
    let on = lit();
    let on: Vec<&str> = on.as_str().expect("a text").split(',').collect();
    assert!(on.contains(&"mark") && on.contains(&"rect"), "in the text and on the map: {on:?}");
    assert_eq!(on.iter().filter(|name| **name == "code").count(), 2, "as both sides' bottleneck: {on:?}");
    browser.click("[data-claim=disk_io_hang]");
    assert_eq!(lit(), "");
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
fn the_pages_speak_chinese_and_keep_to_it() {
    let bench = Bench::new(|_| ()).serve();
    let browser = bench.browser(1440, 900);
    browser.click("button[name=language]");
    browser.until("document.documentElement.lang === 'zh'");
    let text = browser.text();
    assert!(text.contains("队列") && text.contains("不一致") && text.contains("瓶颈错误"), "{text}");
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#decision')");
    assert!(browser.text().contains("Skill 所见的事件") && browser.text().contains("接受"), "{}", browser.text());
    browser.click("button[name=theme]");
    browser.until("document.documentElement.dataset.theme === 'dark'");
    assert_eq!(browser.place(), "/case/TIKV-18274", "it comes back to the same page");
    assert_eq!(browser.value("getComputedStyle(document.body).backgroundColor"), "rgb(13, 17, 23)");
    browser.press("a");
    browser.until("location.search.includes('done')");
    assert!(browser.text().contains("撤销"), "{}", browser.text());
}

/// Markup, scripts, the ends of what a text could stand in, and a word that is wider than any window.
const PAYLOAD: &str = r#"</script></title></textarea><img src=x onerror="window.stolen=1"><svg onload=window.stolen=1>"'><script>window.stolen=1</script>{{7*7}} wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"#;

/// Puts the payload behind every text of a case that is no word of a vocabulary.
fn poison(value: &mut Value, field: &str) {
    const WORDS: [&str; 16] = [
        "incident_id",
        "source",
        "status",
        "start_time",
        "end_time",
        "inferred_path",
        "time_window",
        "assessment",
        "entry_mode",
        "activated_subcapabilities",
        "reference_files_consulted",
        "is_tikv_side",
        "scope",
        "path",
        "match_level",
        "mismatch_type",
    ];
    match value {
        Value::String(text) if !WORDS.contains(&field) => text.push_str(PAYLOAD),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, field)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| poison(value, name)),
        _ => {}
    }
}

#[test]
fn no_text_of_a_ticket_or_an_agent_becomes_markup() {
    let bench = Bench::new(|case| {
        poison(case, "");
        case["canonical_incident"]["clinic_links"] = json!(["javascript:window.stolen=1"]);
        case["canonical_incident"]["l2_assignee"] = json!(PAYLOAD);
        case["final_human_conclusion"]["analysis_windows"] = json!([{"label": format!("window-1{PAYLOAD}"),
            "start_time": "2026-01-08T10:00:00+08:00", "end_time": "2026-01-08T10:30:00+08:00", "summary": PAYLOAD,
            "inferred_path": "write", "inferred_bottleneck": "disk_io_jitter", "evidence": [PAYLOAD]}]);
    });
    for (id, _) in ANSWERS {
        let said = json!({
            "earliest_proven_bottleneck": format!("odd {PAYLOAD}"), "provisional_conclusion": PAYLOAD, "key_evidence": [PAYLOAD],
            "missing_evidence": [PAYLOAD], "uncertainty_statement": PAYLOAD, "entry_mode": "io_jitter"
        });
        let lines = [
            json!({"type": "system", "subtype": "init", "session_id": PAYLOAD, "model": PAYLOAD, "claude_code_version": PAYLOAD}),
            json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": PAYLOAD, "content": [
                {"type": "text", "text": PAYLOAD},
                {"type": "tool_use", "id": "t1", "name": PAYLOAD, "input": {"file_path": PAYLOAD}}]}}),
            json!({"type": "user", "message": {"role": "user", "content": [
                {"tool_use_id": "t1", "type": "tool_result", "content": PAYLOAD, "is_error": true}]}}),
            json!({"type": "result", "subtype": "success", "result": said.to_string(), "session_id": "s"}),
        ];
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        std::fs::remove_file(bench.answers().join(format!("{id}.md"))).expect("removed");
        std::fs::write(bench.answers().join(format!("{id}.jsonl")), text.join("\n")).expect("written");
    }
    bench.run();
    let script = bench.dir.path().join("judge");
    let why = bench.dir.path().join("why.json");
    std::fs::write(&why, json!(PAYLOAD).to_string()).expect("written");
    let judge = r#"printf '{"case": "%s", "match_level": "human_conclusion_unclear", "why": %s}' "$(sed -n 's/^# Case //p')" "$(cat "$1")""#;
    std::fs::write(&script, judge).expect("written");
    let command = format!("bash {} {}", script.display(), why.display());
    let casebook = bench.casebook().display().to_string();
    let (code, out, err) = output(&["judge", &casebook, "--with", "command", "--command", &command, "--votes", "1"]);
    assert_eq!(code, 0, "{out}\n{err}");
    let bench = bench.serve();
    let browser = bench.browser(1440, 900);
    let innocent = |what: &str| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!(browser.value("window.stolen ?? 0"), 0, "a script of a text ran on {what}");
        let alien = "[...document.querySelectorAll('main img, main script, main iframe, main object, [onload], [onerror], a[href^=\"javascript\"]')].length";
        assert_eq!(browser.value(alien), 0, "markup of a text stands on {what}");
        assert!(browser.text().contains("{{7*7}}"), "the text itself is shown on {what}");
        let wide = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wide, 0, "a text makes {what} wider than the window");
    };
    innocent("the queue");
    for (id, _) in ANSWERS {
        browser.open(&bench.at(&format!("/case/{id}")));
        browser.until("document.querySelector('#decision')");
        browser.script("for (const fold of document.querySelectorAll('details')) fold.open = true");
        browser.until("document.querySelector('#transcript .steps')");
        browser.script("const over = document.querySelector('.u-over'); const at = over.getBoundingClientRect(); over.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: at.left + at.width / 2, clientY: at.top + 5}))");
        innocent(id);
    }
    browser.open(&bench.at("/case/TIKV-18274/transcript"));
    innocent("the transcript");
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#decision')");
    browser.press("u");
    browser.until("document.activeElement.name === 'reason'");
    browser.script(&format!("document.querySelector('[name=reason]').value = {}", json!(PAYLOAD)));
    browser.press_with('\u{e009}', '\u{e007}');
    browser.until("location.search.includes('done')");
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('.history li')");
    innocent("the history");
    browser.open(&bench.at(&format!("/queue?q={}", "%3Cscript%3Ewindow.stolen=1%3C/script%3E%7B%7B7*7%7D%7D")));
    assert_eq!(browser.value("window.stolen ?? 0"), 0);
}

#[test]
fn a_transcript_of_five_thousand_lines_comes_in_parts() {
    let bench = Bench::new(|_| ());
    let mut lines = vec![json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m"})];
    for n in 0..2_500 {
        let id = format!("t{n}");
        lines.push(json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("echo {n}")}}]}}));
        let result = if n == 7 { "line\n".repeat(5_000) } else { format!("output {n}") };
        lines.push(json!({"type": "user", "message": {"role": "user", "content": [
            {"tool_use_id": id, "type": "tool_result", "content": result}]}}));
    }
    lines.push(json!({"type": "result", "subtype": "success", "result": answer("disk_io_jitter"), "session_id": "s"}));
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    std::fs::remove_file(bench.answers().join("TIKV-18274.md")).expect("removed");
    std::fs::write(bench.answers().join("TIKV-18274.jsonl"), text.join("\n")).expect("written");
    let bench = bench.serve();
    let browser = bench.browser(1440, 900);
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#decision')");
    browser.press("t");
    browser.until("document.querySelectorAll('.steps > li').length === 100");
    assert!(browser.text().contains("whole text"), "a long result is cut");
    browser.click("#transcript button[data-part]");
    browser.until("document.querySelectorAll('.steps > li').length === 200");
    assert!(
        browser.value("document.body.textContent").as_str().is_some_and(|text| text.contains("echo 199")),
        "the second part goes on where the first ended"
    );
    browser.open(&bench.at("/case/TIKV-18274/transcript?from=2400"));
    assert!(browser.value("document.body.textContent").as_str().is_some_and(|text| text.contains("echo 2499")));
    browser.open(&bench.at("/case/TIKV-18274/transcript/7"));
    assert_eq!(browser.text().matches("line").count(), 5_000, "the whole of a step");
}

#[test]
fn a_thousand_cases_are_filtered_and_searched() {
    let bench = Bench::new(|_| ());
    let template = std::fs::read_to_string(bench.case("TIKV-18274")).expect("a case");
    for n in 0..1_000 {
        let id = format!("GTOC-{n}");
        let mut case: Value = serde_json::from_str(&template).expect("JSON");
        case["incident_id"] = json!(id);
        case["source"] = json!("jira_gtoc");
        case["canonical_incident"]["title"] = json!(format!("磁盘抖动 number{n}"));
        std::fs::write(bench.case(&id), format!("{case:#}\n")).expect("written");
        std::fs::write(
            bench.answers().join(format!("{id}.md")),
            answer(if n % 4 == 0 { "disk_io_jitter" } else { "grpc_cpu_saturation" }),
        )
        .expect("written");
    }
    let bench = bench.serve();
    let browser = bench.browser(1440, 900);
    assert!(browser.text().contains("1003 of 1003"), "{}", browser.text());
    assert_eq!(browser.value("document.querySelectorAll('a.case').length"), 100);
    browser.click("a[rel=next]");
    browser.until("location.search.includes('page=2')");
    browser.press("/抖动 NUMBER77");
    browser.press("\u{e007}");
    browser.until("location.search.includes('q=')");
    assert!(browser.text().contains("11 of 1003"), "number77 and number770 to number779: {}", browser.text());
    browser.open(&bench.at("/queue?q=number77&level=matched&order=incident"));
    let shown = browser.value("[...document.querySelectorAll('a.case')].map(a => a.innerText).join()");
    assert_eq!(shown, "GTOC-772,GTOC-776");
    browser.press("j\u{e007}");
    browser.until("document.querySelector('#decision')");
    assert!(browser.text().contains("1 of 2"), "next and previous stay within the filter");
    browser.press("a");
    browser.until("location.pathname === '/case/GTOC-776'");
    browser.open(&bench.at("/queue?q=number77&level=matched&state=decided"));
    assert_eq!(browser.value("[...document.querySelectorAll('a.case')].map(a => a.innerText).join()"), "GTOC-772");
}

#[test]
fn pages_can_be_read_at_twice_the_size_and_without_a_mouse() {
    let bench = Bench::new(|_| ()).serve();
    // 720 CSS pixels are what 1440 leave at 200 %.
    let browser = bench.browser(720, 600);
    for place in ["/queue", "/case/TIKV-18274", "/case/TIKV-18274/transcript"] {
        browser.open(&bench.at(place));
        browser.until("document.querySelector('main')");
        let wide = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wide, 0, "{place} is wider than the window");
        let nameless = browser.value(
            "[...document.querySelectorAll('button, input:not([type=hidden]), select, textarea, a[href], summary, progress')]\
             .filter(e => !(e.innerText?.trim() || e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML).join()",
        );
        assert_eq!(nameless, "", "controls without a name on {place}");
        assert_eq!(
            browser.value("document.querySelectorAll('main, h1').length"),
            2,
            "one main part and one heading on {place}"
        );
    }
    browser.open(&bench.at("/case/TIKV-18274"));
    browser.until("document.querySelector('#decision')");
    browser.press("\u{e004}");
    browser.until("document.activeElement !== document.body");
    assert_eq!(browser.value("document.activeElement.className"), "skip", "the first stop leads to the content");
    browser.press("\u{e007}");
    browser.until("location.hash === '#content'");
}

/// A request as any program of the machine could send it: status and body.
fn request(bench: &Bench, head: &str, body: &str) -> (u16, String) {
    let host = bench.at("").trim_start_matches("http://").to_owned();
    let mut stream = std::net::TcpStream::connect(&host).expect("connected");
    let head = head.replace("{host}", &host);
    write!(stream, "{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer)
}

#[test]
fn nobody_enters_without_the_token_and_no_other_site_decides() {
    let bench = Bench::new(|_| ()).serve();
    let token = bench.address.split_once('#').expect("a token").1;
    let get = |place: &str, host: &str, more: &str| {
        request(&bench, &format!("GET {place} HTTP/1.1\r\nHost: {host}{more}"), "")
    };
    let (status, body) = get("/queue", "{host}", "");
    assert!(status == 303 && !body.contains("TIKV-18274"), "{body}");
    let (status, body) = get("/", "{host}", "");
    assert!(status == 200 && !body.contains(token) && body.contains("default-src 'none'"), "{body}");
    assert_eq!(get("/", "evil.example", "").0, 421, "a name that points here");
    let post = |place: &str, more: &str, body: &str| {
        request(
            &bench,
            &format!(
                "POST {place} HTTP/1.1\r\nHost: {{host}}\r\nContent-Type: application/x-www-form-urlencoded{more}"
            ),
            body,
        )
    };
    assert_eq!(post("/session", "", "guess").0, 403);
    assert_eq!(post("/session", "\r\nOrigin: https://evil.example", token).0, 403);
    let (status, answer) = post("/session", "", token);
    assert_eq!(status, 200);
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("\r\nCookie: {}", cookie.split(';').next().expect("a pair"));
    let (status, page) = get("/case/TIKV-18274", "{host}", &cookie);
    assert_eq!(status, 200);
    let mark = page.split("name=\"mark\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a mark");
    let seen = page.split("name=\"seen\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a version");
    let accept = |mark: &str, more: &str| {
        post("/case/TIKV-18274/decide", &format!("{cookie}{more}"), &format!("mark={mark}&seen={seen}&decision=accept"))
            .0
    };
    assert_eq!(accept("guess", ""), 403);
    assert_eq!(accept(mark, "\r\nOrigin: https://evil.example"), 403);
    assert_eq!(accept(mark, "\r\nSec-Fetch-Site: cross-site"), 403);
    assert!(bench.log().is_empty());
    assert_eq!(accept(mark, ""), 303);
    assert_eq!(bench.log().len(), 1);
    for place in
        ["/case/..%2f..%2fetc%2fpasswd", "/case/GTOC-9999", "/case/%00", "/case/TIKV-18274/transcript/99999999"]
    {
        assert_eq!(get(place, "{host}", &cookie).0, 404, "{place}");
    }
    let (_, away) = post("/preferences", &cookie, &format!("mark={mark}&language=zh&back=//evil.example"));
    assert!(away.contains("location: /queue"), "{away}");
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
