//! The review's pages: who can reach them, what they show of hostile texts and large runs, how they are read.

#![cfg(unix)]

#[path = "common/browser.rs"]
mod browser;
mod common;
#[path = "common/desk.rs"]
mod desk;

use std::io::{Read as _, Write as _};

use common::output;
use desk::{ANSWERS, Bench, answer};
use serde_json::{Value, json};

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
    for place in ["transcript", "transcript/part"] {
        browser.open(&bench.at(&format!("/case/TIKV-18274/{place}?from={}", u64::MAX)));
        assert_eq!(browser.value("document.querySelectorAll('.steps > li').length"), 0, "beyond the end of {place}");
    }
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
