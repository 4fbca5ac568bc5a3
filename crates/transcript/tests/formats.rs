//! One replay, told in every format.

use std::path::Path;

use hindcast_atlas::Atlas;
use hindcast_case::Reference;
use hindcast_text::TextReader;
use hindcast_transcript::{
    AnswerForm, Format, NoAnswer, checkpoint, detect, observed_references, read, read_answer, read_as, to_atif,
};
use proptest::prelude::*;

const FIXTURES: [(&str, Format); 10] = [
    ("claude-stream.jsonl", Format::ClaudeStream),
    ("claude-session.jsonl", Format::ClaudeSession),
    ("codex-exec.jsonl", Format::CodexExec),
    ("codex-session.jsonl", Format::CodexSession),
    ("openai-chat.json", Format::OpenaiChat),
    ("openai-responses.json", Format::OpenaiResponses),
    ("anthropic-messages.json", Format::AnthropicMessages),
    ("gemini-stream.jsonl", Format::GeminiStream),
    ("atif.json", Format::Atif),
    ("plain.md", Format::Plain),
];

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).expect("a fixture")
}

fn readers() -> (Atlas, TextReader) {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    (atlas, texts)
}

#[test]
fn every_format_is_told_apart_and_comes_to_the_same_conclusion() {
    let (atlas, texts) = readers();
    for (name, format) in FIXTURES {
        let bytes = fixture(name);
        assert_eq!(detect(&bytes), format, "{name}");
        let transcript = read(&bytes);
        let found = checkpoint(&atlas, &texts, &transcript).expect(name);
        assert_eq!(found.form, AnswerForm::Json, "{name}");
        let conclusion = &found.conclusion;
        assert_eq!(conclusion.earliest_proven_bottleneck, "disk_io_jitter", "{name}");
        assert_eq!(conclusion.uncertainty_statement, "It is likely a noisy neighbour.", "{name}");
        if format == Format::Plain {
            assert_eq!(conclusion.reference_files_consulted.len(), 3, "what is claimed, where no calls can be seen");
            continue;
        }
        let read = [Reference::IoJitter, Reference::WritePath];
        assert_eq!(conclusion.reference_files_consulted, read, "{name}");
        let note = "the answer claims references/network-issues.md but no call read it";
        assert!(found.notes.iter().any(|told| told == note), "{name}: {:?}", found.notes);
        let usage = transcript.usage;
        assert_eq!((usage.input_tokens, usage.cached_tokens, usage.output_tokens), (40, 400, 80), "{name}");
    }
}

#[test]
fn what_was_skipped_is_counted() {
    let transcript = read(&fixture("claude-stream.jsonl"));
    assert_eq!(transcript.skipped.summary().as_deref(), Some("1 lines that are no JSON, 1 of \"new_kind_of_event\""));
    assert_eq!((transcript.turns, transcript.usage.cost), (4, Some(0.031)));
    assert_eq!(transcript.model, "model-x-1");
}

#[test]
fn atif_that_is_written_reads_back() {
    for (name, format) in FIXTURES {
        let transcript = read_as(&fixture(name), format);
        let written = to_atif(&transcript).to_string();
        let again = read(written.as_bytes());
        assert_eq!(again.format, Format::Atif, "{name}");
        assert_eq!(again.final_text, transcript.final_text, "{name}");
        assert_eq!(again.tool_calls.len(), transcript.tool_calls.len(), "{name}");
        assert_eq!(observed_references(&again), observed_references(&transcript), "{name}");
        assert_eq!((again.usage, again.ended), (transcript.usage, transcript.ended), "{name}");
    }
}

#[test]
fn a_transcript_that_is_cut_off_is_read_as_far_as_it_goes() {
    let (atlas, texts) = readers();
    let bytes = fixture("claude-stream.jsonl");
    let cut = &bytes[..bytes.len() * 4 / 10];
    let transcript = read(cut);
    assert_eq!(transcript.format, Format::ClaudeStream);
    assert!(!transcript.tool_calls.is_empty());
    let failed = read(
        br#"{"type":"system","subtype":"init","session_id":"s"}
{"type":"result","subtype":"error_during_execution","is_error":true,"result":"API Error: 529 overloaded_error"}"#,
    );
    let why = checkpoint(&atlas, &texts, &failed).expect_err("no answer");
    assert!(why.contains("overloaded"), "{why}");
}

#[test]
fn answers_come_in_every_form() {
    let (atlas, texts) = readers();
    let read = |text: &str| read_answer(&atlas, &texts, text).expect(text);
    for (text, form) in [
        (r#"{"entry_mode": "io_jitter", "earliest_proven_bottleneck": "disk_io_jitter"}"#, AnswerForm::Json),
        (
            r#"Draft: {"entry_mode": "flow_control"} Final: {"entry_mode": "io_jitter", "earliest_proven_bottleneck": "disk_io_jitter"} done"#,
            AnswerForm::Json,
        ),
        (
            "{\n  // the route\n  \"entry_mode\": \"io_jitter\",\n  \"earliest_proven_bottleneck\": \"disk_io_jitter\",\n}",
            AnswerForm::RepairedJson,
        ),
        (
            r#"{"skill_conclusion": {"entry_mode": "IO 抖动", "earliest_proven_bottleneck": "disk_io_jitter"}}"#,
            AnswerForm::RepairedJson,
        ),
        (
            r#"```json
{"entry_mode": "io_jitter", "earliest_proven_bottleneck": "disk_io_jitter", "key_evidence": ["disk write latency is 300 m"#,
            AnswerForm::RepairedJson,
        ),
        (r#"{"入口模式": "io_jitter", "bottleneck": "disk_io_jitter"}"#, AnswerForm::RepairedJson),
        ("entry_mode: io_jitter\nearliest_proven_bottleneck: disk_io_jitter\n", AnswerForm::Labelled),
        ("## 入口模式\nIO 抖动\n\n## 最早被证实的瓶颈\ndisk_io_jitter\n", AnswerForm::Labelled),
        ("| 字段 | 值 |\n|---|---|\n| 入口模式 | io_jitter |\n| 瓶颈 | `disk_io_jitter` |\n", AnswerForm::Labelled),
    ] {
        let answer = read(text);
        assert_eq!(answer.form, form, "{text}: {:?}", answer.repairs);
        assert_eq!(
            answer.conclusion.entry_mode.map(hindcast_case::EntryMode::reference),
            Some(Reference::IoJitter),
            "{text}"
        );
        assert_eq!(answer.conclusion.earliest_proven_bottleneck, "disk_io_jitter", "{text}");
        assert_eq!(
            answer.repairs.is_empty(),
            form == AnswerForm::Json,
            "every repair is told: {text} {:?}",
            answer.repairs
        );
    }
    let prose = read("经过排查,根因是 tikv-3 的磁盘 IO 抖动,导致 raft log 写盘慢。排除了网络问题。");
    assert_eq!(
        (prose.form, prose.conclusion.earliest_proven_bottleneck.as_str()),
        (AnswerForm::Prose, "disk_io_jitter")
    );
    let wrong = read(
        r#"{"entry_mode": "quantum", "reference_files_consulted": ["references/tea.md", "io-jitter.md"], "earliest_proven_bottleneck": "disk_io_jitter"}"#,
    );
    assert_eq!(wrong.conclusion.entry_mode, None);
    assert_eq!(wrong.conclusion.reference_files_consulted, [Reference::IoJitter]);
    assert!(wrong.repairs.iter().any(|told| told.contains("quantum")), "{:?}", wrong.repairs);
    assert_eq!(read_answer(&atlas, &texts, "  \n"), Err(NoAnswer::Empty));
    assert_eq!(read_answer(&atlas, &texts, "\u{fffd}x\u{1}\u{fffd}\u{2}abc\u{fffd}"), Err(NoAnswer::Garbage));
    assert_eq!(read_answer(&atlas, &texts, "I'm sorry, but I can't help with that."), Err(NoAnswer::Refusal));
}

#[test]
fn hostile_answers_take_linear_time() {
    let (atlas, texts) = readers();
    for unit in ["{", "{\"entry_mode\":", "| a |", "## ", "\"", "```json\n{"] {
        let text = unit.repeat(200_000 / unit.len());
        let began = std::time::Instant::now();
        let _ = read_answer(&atlas, &texts, &text);
        assert!(began.elapsed().as_secs() < 20, "{unit:?} hangs");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_transcripts_never_panic(which in 0_usize..10, at in 0.0_f64..1.0, len in 0_usize..60, over in ".{0,12}") {
        let (name, format) = FIXTURES[which];
        let mut bytes = fixture(name);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
        let start = (at * bytes.len() as f64) as usize;
        let end = (start + len).min(bytes.len());
        bytes.splice(start..end, over.into_bytes());
        let (one, other) = (read(&bytes), read_as(&bytes, format));
        let _ = observed_references(&one);
        let _ = to_atif(&other);
    }
}
