//! Agents that are services, played by a local server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hindcast_atlas::Atlas;
use hindcast_case::IncidentId;
use hindcast_runner::{Descriptor, Finished, Job, Outcome, Replayer, Settings, SkillPack, Surroundings};
use hindcast_skill::Question;
use hindcast_text::TextReader;
use serde_json::{Value, json};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

const ANSWER: &str = r#"{"entry_mode": "io_jitter", "earliest_proven_bottleneck": "disk_io_jitter"}"#;

static STOP: AtomicBool = AtomicBool::new(false);

fn skill() -> (tempfile::TempDir, SkillPack) {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(dir.path().join("references")).expect("made");
    let text = "---\nname: s\ndescription: d\n---\n[io](references/io-jitter.md)";
    std::fs::write(dir.path().join("SKILL.md"), text).expect("written");
    std::fs::write(dir.path().join("references/io-jitter.md"), "# Slow disks").expect("written");
    let pack = SkillPack::open(dir.path()).expect("a pack");
    (dir, pack)
}

/// One replay through a preset whose service is at `address`.
fn replay(preset: &str, address: &str, retries: u32) -> Finished {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    let (_dir, pack) = skill();
    let settings = Settings {
        model: "model-1".to_owned(),
        turns: 5,
        time: Duration::from_secs(20),
        output: 1024 * 1024,
        retries,
        first_wait: Duration::from_millis(5),
        seed: 1,
    };
    let around = Surroundings {
        atlas: &atlas,
        texts: &texts,
        pack: Some(pack),
        hidden: Vec::new(),
        cache: None,
        token: "t".to_owned(),
        stop: &STOP,
    };
    let environment = |name: &str| {
        let key = name.ends_with("_KEY").then(|| "s3cret-key".to_owned());
        if name.ends_with("BASE_URL") { Some(address.to_owned()) } else { key }
    };
    let descriptor = Descriptor::find(preset).expect("a preset");
    let replayer = Replayer::agent(descriptor, settings, &environment, around).expect("a replayer");
    let id = IncidentId::parse("GTOC-1").expect("an id");
    let question = Question { title: "writes are slow".to_owned(), ..Question::default() };
    let job = Job { id: &id, repeat: 1, question: &question, canaries: &[], engineers: "" };
    replayer.replay(&job).expect("no error").expect("not stopped")
}

async fn replayed(preset: &'static str, server: &MockServer, retries: u32) -> Finished {
    let address = server.uri();
    tokio::task::spawn_blocking(move || replay(preset, &address, retries)).await.expect("no panic")
}

fn bottleneck(finished: &Finished) -> &str {
    match &finished.record.outcome {
        Outcome::Answered { conclusion, .. } => conclusion["earliest_proven_bottleneck"].as_str().expect("a text"),
        Outcome::Failed { reason } => panic!("{reason}"),
    }
}

fn failure(finished: &Finished) -> &str {
    finished.record.failure().expect("it failed")
}

/// Asks for a file, for one that isn't there, and then answers.
fn anthropic_turn(request: &Request) -> ResponseTemplate {
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    let messages = body["messages"].as_array().expect("messages").len();
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2});
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let content = match messages {
        1 => {
            let path = json!({"path": "references/io-jitter.md"});
            json!([call("a", "list_files", json!({})), call("b", "read_file", path)])
        }
        3 => json!([call("c", "read_file", json!({"path": "../../etc/passwd"}))]),
        _ => json!([{"type": "text", "text": ANSWER}]),
    };
    ResponseTemplate::new(200).set_body_json(json!({
        "id": format!("m{messages}"), "role": "assistant", "model": "model-1", "content": content,
        "stop_reason": if messages < 5 { "tool_use" } else { "end_turn" }, "usage": usage,
    }))
}

fn openai_turn(request: &Request) -> ResponseTemplate {
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    let is_first = body["messages"].as_array().expect("messages").len() == 1;
    let function = json!({"name": "read_file", "arguments": "{\"path\": \"references/io-jitter.md\"}"});
    let call = json!([{"id": "a", "type": "function", "function": function}]);
    let message = match is_first {
        true => json!({"role": "assistant", "content": null, "tool_calls": call}),
        false => json!({"role": "assistant", "content": ANSWER}),
    };
    ResponseTemplate::new(200).set_body_json(json!({
        "choices": [{"message": message, "finish_reason": if is_first { "tool_calls" } else { "stop" }}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_reads_the_skill_and_answers() {
    let server = MockServer::start().await;
    let anthropic = Mock::given(method("POST")).and(path("/v1/messages")).and(header("x-api-key", "s3cret-key"));
    anthropic.respond_with(anthropic_turn).mount(&server).await;
    let openai = Mock::given(method("POST")).and(path("/chat/completions"));
    openai.and(header("authorization", "Bearer s3cret-key")).respond_with(openai_turn).mount(&server).await;
    let anthropic = replayed("anthropic", &server, 0).await;
    let openai = replayed("openai", &server, 0).await;
    for (name, finished) in [("anthropic", &anthropic), ("openai", &openai)] {
        assert_eq!(bottleneck(finished), "disk_io_jitter", "{name}");
        let Outcome::Answered { conclusion, .. } = &finished.record.outcome else { panic!("{name}") };
        assert_eq!(conclusion["reference_files_consulted"], json!(["references/io-jitter.md"]), "{name}");
        let transcript = String::from_utf8_lossy(&finished.transcript);
        assert!(!transcript.contains("s3cret-key") && !transcript.contains("root:"), "{name}: {transcript}");
    }
    let record = &anthropic.record;
    assert_eq!((record.turns, record.input_tokens, record.cached_tokens), (3, 30, 15));
    assert_eq!((openai.record.turns, openai.record.input_tokens, openai.record.output_tokens), (2, 20, 4));
    assert!(String::from_utf8_lossy(&anthropic.transcript).contains("is not in the skill"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_is_waited_for_and_a_refusal_is_not() {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(529).set_body_json(json!({"error": {"message": "overloaded"}}));
    Mock::given(method("POST")).respond_with(busy).up_to_n_times(2).mount(&server).await;
    Mock::given(method("POST")).respond_with(anthropic_turn).mount(&server).await;
    assert_eq!(bottleneck(&replayed("anthropic", &server, 3).await), "disk_io_jitter");

    let server = MockServer::start().await;
    let refused = ResponseTemplate::new(401).set_body_json(json!({"error": {"message": "bad key"}}));
    Mock::given(method("POST")).respond_with(refused).expect(1).mount(&server).await;
    let finished = replayed("anthropic", &server, 3).await;
    assert!(failure(&finished).contains("401") && !failure(&finished).contains("s3cret"), "{}", failure(&finished));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_never_answers_is_stopped() {
    let server = MockServer::start().await;
    let call = json!([{"type": "tool_use", "id": "a", "name": "list_files", "input": {}}]);
    let answer = json!({"role": "assistant", "content": call, "stop_reason": "tool_use"});
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(200).set_body_json(answer)).mount(&server).await;
    let finished = replayed("anthropic", &server, 0).await;
    assert!(failure(&finished).contains("within 5 turns"), "{}", failure(&finished));
}

/// A server that cuts its first answers in the middle.
fn cutting_server(cut: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for (index, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            // The request is read whole: headers, then as many bytes as they promise.
            while let Ok(count) = stream.read(&mut buffer) {
                request.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8_lossy(&request).to_lowercase();
                let Some(end) = text.find("\r\n\r\n") else { continue };
                let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length = length.and_then(|length| length.trim().parse::<usize>().ok());
                let is_whole = length.map_or(text.ends_with("0\r\n\r\n"), |length| request.len() >= end + 4 + length);
                if count == 0 || is_whole {
                    break;
                }
            }
            let content = json!([{"type": "text", "text": ANSWER}]);
            let body = json!({"role": "assistant", "content": content, "stop_reason": "end_turn"}).to_string();
            let sent = if index < cut { &body[..body.len() / 2] } else { &body };
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{sent}");
            let _ = stream.write_all(head.as_bytes());
        }
    });
    address
}

#[test]
fn an_answer_that_is_cut_in_the_middle_is_asked_for_again() {
    assert_eq!(bottleneck(&replay("anthropic", &cutting_server(1), 2)), "disk_io_jitter");
    let finished = replay("anthropic", &cutting_server(99), 1);
    assert!(failure(&finished).contains("can't be read"), "{}", failure(&finished));
}
