//! The formats of transcripts, told apart by what stands in them.

mod anthropic;
mod atif;
mod claude;
mod codex;
mod gemini;
mod openai;

use serde_json::Value;

use crate::transcript::{Draft, Ended, Format, Role, Transcript};

/// The largest transcript that is read; of a larger one the beginning is read.
pub const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Lines that are looked at to tell the format.
const PROBED: usize = 40;

/// Reads a transcript of whatever format.
#[must_use]
pub fn read(bytes: &[u8]) -> Transcript {
    read_as(bytes, detect(bytes))
}

/// Reads a transcript of a format that is known.
#[must_use]
pub fn read_as(bytes: &[u8], format: Format) -> Transcript {
    let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
    let mut draft = Draft::default();
    draft.transcript.format = format;
    match format {
        Format::ClaudeStream | Format::ClaudeSession => each_line(bytes, &mut draft, claude::event),
        Format::CodexExec => each_line(bytes, &mut draft, codex::event),
        Format::CodexSession => each_line(bytes, &mut draft, codex::session_line),
        Format::GeminiStream => each_line(bytes, &mut draft, gemini::event),
        Format::Atif => whole(bytes, &mut draft, atif::document),
        Format::OpenaiChat => each_document(bytes, &mut draft, openai::chat),
        Format::OpenaiResponses => each_document(bytes, &mut draft, openai::responses),
        Format::AnthropicMessages => each_document(bytes, &mut draft, anthropic::document),
        Format::Plain => {
            let text = String::from_utf8_lossy(bytes);
            draft.say(Role::Agent, "", &text, None, false);
            draft.transcript.ended = Ended::Finished;
        }
    }
    draft.finish()
}

/// The format that the text is written in; plain where it is none of ours.
#[must_use]
pub fn detect(bytes: &[u8]) -> Format {
    if let Some(format) = serde_json::from_slice::<Value>(bytes).ok().and_then(|document| format_of_document(&document))
    {
        return format;
    }
    let mut seen_chat = false;
    for line in lines(bytes).take(PROBED) {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        if let Some(format) = format_of_line(&value) {
            return format;
        }
        seen_chat |= value["role"].is_string();
    }
    if seen_chat { Format::OpenaiChat } else { Format::Plain }
}

fn format_of_line(value: &Value) -> Option<Format> {
    let kind = value["type"].as_str().unwrap_or_default();
    let is_logged = value.get("parentUuid").is_some() || value.get("isSidechain").is_some();
    Some(match kind {
        _ if is_logged => Format::ClaudeSession,
        "file-history-snapshot" | "queue-operation" | "ai-title" => Format::ClaudeSession,
        "system" if value["subtype"].is_string() => Format::ClaudeStream,
        "assistant" | "user" if value["message"].is_object() => Format::ClaudeStream,
        "result" if value["subtype"].is_string() => Format::ClaudeStream,
        "session_meta" | "response_item" | "event_msg" | "turn_context" => Format::CodexSession,
        _ if kind.starts_with("thread.") || kind.starts_with("turn.") || kind.starts_with("item.") => Format::CodexExec,
        "init" if value["session_id"].is_string() => Format::GeminiStream,
        "message" if value["role"].is_string() && value["content"].is_string() => Format::GeminiStream,
        "tool_use" if value["tool_name"].is_string() => Format::GeminiStream,
        "function_call" | "function_call_output" => Format::OpenaiResponses,
        "message" if value["content"].is_array() => Format::OpenaiResponses,
        _ => return format_of_document(value),
    })
}

fn format_of_document(document: &Value) -> Option<Format> {
    if document["schema_version"].as_str().is_some_and(|version| version.starts_with("ATIF")) {
        return Some(Format::Atif);
    }
    if document["output"].is_array() && (document["object"] == "response" || document["id"].is_string()) {
        return Some(Format::OpenaiResponses);
    }
    if document["choices"].is_array() {
        return Some(Format::OpenaiChat);
    }
    let messages = document["messages"].as_array().or_else(|| document.as_array())?;
    let mut blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let is_anthropic =
        blocks.any(|block| matches!(block["type"].as_str(), Some("tool_use" | "tool_result" | "thinking")));
    if is_anthropic {
        return Some(Format::AnthropicMessages);
    }
    if messages.iter().any(|message| matches!(message["type"].as_str(), Some("function_call" | "function_call_output")))
    {
        return Some(Format::OpenaiResponses);
    }
    messages.iter().any(|message| message["role"].is_string()).then_some(Format::OpenaiChat)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// Gives every line of JSON to `event`; other lines are counted.
fn each_line(bytes: &[u8], draft: &mut Draft, event: fn(&mut Draft, &Value)) {
    for line in lines(bytes) {
        match serde_json::from_slice(line) {
            Ok(value @ Value::Object(_)) => event(draft, &value),
            _ => draft.transcript.skipped.broken_lines += 1,
        }
    }
}

/// One document, or one a line.
fn each_document(bytes: &[u8], draft: &mut Draft, document: fn(&mut Draft, &Value)) {
    match serde_json::from_slice(bytes) {
        Ok(value) => document(draft, &value),
        Err(_) => each_line(bytes, draft, document),
    }
}

fn whole(bytes: &[u8], draft: &mut Draft, document: fn(&mut Draft, &Value)) {
    match serde_json::from_slice(bytes) {
        Ok(value) => document(draft, &value),
        Err(_) => draft.transcript.skipped.broken_lines += 1,
    }
}

/// A text: a string, or a list of blocks that hold texts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block {
                Value::String(text) => text.clone(),
                block => text_of(if block["text"].is_null() { &block["content"] } else { &block["text"] }),
            });
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        Value::Object(object) => {
            match object.get("text").or_else(|| object.get("content")).or_else(|| object.get("output")) {
                Some(text) => text_of(text),
                None => content.to_string(),
            }
        }
        other => other.to_string(),
    }
}

/// Arguments: JSON, or JSON in a string.
fn arguments_of(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        other => other.clone(),
    }
}

fn time_of(value: &Value) -> Option<jiff::Timestamp> {
    value.as_str()?.parse().ok()
}

fn str_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn count_of(value: &Value, keys: &[&str]) -> u64 {
    keys.iter().find_map(|key| value[*key].as_u64()).unwrap_or_default()
}
