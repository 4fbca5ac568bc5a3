//! What the guards notice where nothing keeps a program from reading.

#![cfg(unix)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hindcast_atlas::Atlas;
use hindcast_case::IncidentId;
use hindcast_runner::{Descriptor, Job, Replayer, Settings, Surroundings};
use hindcast_skill::Question;
use hindcast_text::TextReader;

const ENGINEERS: &str =
    "The disk of the raft logs was saturated by a backup job of another tenant since noon.\nWe moved the job.";

static STOP: AtomicBool = AtomicBool::new(false);

/// Why the replay of `command` failed; none when it answered.
fn failure(command: &str, question: &Question, canaries: &[String]) -> Option<String> {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    let settings = Settings {
        model: String::new(),
        turns: 1,
        time: Duration::from_secs(20),
        output: 1024 * 1024,
        retries: 0,
        first_wait: Duration::from_millis(1),
        seed: 0,
    };
    let around = Surroundings {
        atlas: &atlas,
        texts: &texts,
        pack: None,
        hidden: Vec::new(),
        cache: None,
        token: "guards".to_owned(),
        stop: &STOP,
    };
    let descriptor = Descriptor::command(command).expect("a command");
    let environment = |name: &str| std::env::var(name).ok();
    let replayer = Replayer::agent(descriptor, settings, &environment, around).expect("a replayer");
    let id = IncidentId::parse("GTOC-1").expect("an id");
    let job = Job { id: &id, repeat: 1, question, canaries, engineers: ENGINEERS };
    let finished = replayer.replay(&job).expect("no error").expect("not stopped");
    finished.record.failure().map(str::to_owned)
}

#[test]
fn the_engineers_words_are_noticed_unless_they_were_shown() {
    let dir = tempfile::tempdir().expect("a folder");
    let answer = r#"{"entry_mode": "io_jitter", "earliest_proven_bottleneck": "disk_io_jitter"}"#;
    let transcript = |result: &str| {
        let call = serde_json::json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat x"}});
        let result = serde_json::json!({"type": "tool_result", "tool_use_id": "t", "content": result});
        let said = serde_json::json!({"messages": [
            {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": answer}]},
        ]});
        let path = dir.path().join("transcript.json");
        std::fs::write(&path, said.to_string()).expect("written");
        format!("cat {}", path.display())
    };
    let empty = Question::default();
    let told = failure(&transcript(&format!("note:\n{ENGINEERS}")), &empty, &[]).expect("noticed");
    assert!(told.starts_with("guard:") && told.contains("engineers' own words"), "{told}");
    let told = failure(&transcript("{\"final_human_conclusion\": {}}"), &empty, &[]).expect("noticed");
    assert!(told.contains("final_human_conclusion"), "{told}");
    let shown = Question { description_text: ENGINEERS.to_owned(), ..Question::default() };
    assert_eq!(failure(&transcript(ENGINEERS), &shown, &[]), None, "the ticket said it itself");
    assert_eq!(failure(&transcript("the disk is slow"), &empty, &[]), None);
}

#[test]
fn a_canary_that_reaches_an_agent_fails_the_replay() {
    let leaking = Question { title: "slow canary-0123".to_owned(), ..Question::default() };
    let command = r#"echo '{"entry_mode": "io_jitter"}'"#;
    let told = failure(command, &leaking, &["canary-0123".to_owned()]).expect("noticed");
    assert!(told.contains("a withheld field reached the skill"), "{told}");
    assert_eq!(failure(command, &leaking, &["canary-4567".to_owned()]), None);
}
