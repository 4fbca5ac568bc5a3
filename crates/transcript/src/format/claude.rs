//! Claude Code: the stream of `-p --output-format stream-json --verbose`, and the log that it keeps of a session.

use serde_json::Value;

use super::{anthropic, str_of, text_of, time_of};
use crate::transcript::{Draft, Ended};

pub(super) fn event(draft: &mut Draft, event: &Value) {
    "claude-code".clone_into(&mut draft.transcript.agent);
    if let Some(version) = event["version"].as_str().or_else(|| event["claude_code_version"].as_str()) {
        version.clone_into(&mut draft.transcript.agent_version);
    }
    let session = event["session_id"].as_str().or_else(|| event["sessionId"].as_str());
    if let Some(session) = session.filter(|_| draft.transcript.session.is_empty()) {
        session.clone_into(&mut draft.transcript.session);
    }
    match event["type"].as_str() {
        Some("system") => {
            if let Some(model) = event["model"].as_str() {
                model.clone_into(&mut draft.transcript.model);
            }
        }
        Some("assistant" | "user") => {
            let is_aside =
                event["isSidechain"].as_bool().unwrap_or_default() || event["parent_tool_use_id"].is_string();
            anthropic::message(draft, &event["message"], time_of(&event["timestamp"]), is_aside);
        }
        Some("result") => result(draft, event),
        // Kept by Claude Code for itself; nothing of the work.
        Some(
            "summary"
            | "file-history-snapshot"
            | "queue-operation"
            | "ai-title"
            | "rate_limit_event"
            | "stream_event"
            | "progress"
            | "last-prompt"
            | "pr-link"
            | "attachment"
            | "permission-mode",
        ) => {}
        other => draft.skip(other.unwrap_or("an event without a type")),
    }
}

fn result(draft: &mut Draft, event: &Value) {
    let text = text_of(&event["result"]);
    match str_of(event, "subtype") {
        "error_max_turns" => draft.fail(Ended::TurnLimit, &text),
        subtype if event["is_error"] == true || subtype.starts_with("error") => {
            let errors = text_of(&event["errors"]);
            let said = [text, errors].into_iter().find(|said| !said.is_empty()).unwrap_or_else(|| subtype.to_owned());
            draft.fail(Ended::Error, &said);
        }
        _ => {
            draft.transcript.ended = Ended::Finished;
            draft.answer = Some(text);
        }
    }
    if let Some(turns) = event["num_turns"].as_u64() {
        draft.transcript.turns = u32::try_from(turns).unwrap_or(u32::MAX);
    }
    if event["usage"].is_object() {
        draft.total_usage = Some(anthropic::usage(&event["usage"]));
    }
    draft.cost = event["total_cost_usd"].as_f64();
}
