//! Anthropic's Messages: content blocks, the same that Claude Code writes.

use serde_json::Value;

use super::{count_of, str_of, text_of, time_of};
use crate::transcript::{Draft, Ended, Role, Usage};

/// A conversation (`messages`), a list of messages, or one message.
pub(super) fn document(draft: &mut Draft, document: &Value) {
    if let Some(model) = document["model"].as_str() {
        model.clone_into(&mut draft.transcript.model);
    }
    let messages = document["messages"].as_array().or_else(|| document.as_array());
    match messages {
        Some(messages) => {
            if !document["system"].is_null() {
                draft.say(Role::System, "", &text_of(&document["system"]), None, false);
            }
            for one in messages {
                message(draft, one, None, false);
            }
        }
        None => message(draft, document, None, false),
    }
}

/// One message with its blocks. Parts of one message can come one by one, under the same id.
pub(super) fn message(draft: &mut Draft, message: &Value, time: Option<jiff::Timestamp>, is_aside: bool) {
    let role = match message["role"].as_str() {
        Some("user") => Role::User,
        Some("system") => Role::System,
        _ => Role::Agent,
    };
    let id = str_of(message, "id");
    if role == Role::Agent {
        if let Some(model) = message["model"].as_str().filter(|model| !model.starts_with('<')) {
            model.clone_into(&mut draft.transcript.model);
        }
        match message["stop_reason"].as_str() {
            Some("end_turn" | "stop_sequence") => draft.transcript.ended = Ended::Finished,
            Some("max_tokens") => draft.fail(Ended::Error, "the answer was cut off at the limit of tokens"),
            Some("refusal") => draft.fail(Ended::Error, "the model refused"),
            _ => {}
        }
        let is_new = id.is_empty() || draft.transcript.messages.last().is_none_or(|last| last.id != id);
        if is_new {
            draft.transcript.turns += 1;
            draft.transcript.usage.add(usage(&message["usage"]));
        }
    }
    let content = &message["content"];
    let Some(blocks) = content.as_array() else {
        draft.say(role, id, &text_of(content), time, is_aside);
        return;
    };
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => draft.say(role, id, str_of(block, "text"), time, is_aside),
            Some("thinking") => draft.say(Role::Reasoning, id, str_of(block, "thinking"), time, is_aside),
            Some("redacted_thinking") => {}
            Some("tool_use" | "server_tool_use") => {
                draft.call(str_of(block, "id"), str_of(block, "name"), block["input"].clone(), time);
            }
            Some("tool_result") => {
                let is_error = block["is_error"].as_bool().unwrap_or_default();
                let at = time_of(&block["timestamp"]).or(time);
                draft.result(str_of(block, "tool_use_id"), text_of(&block["content"]), is_error, at);
            }
            other => draft.skip(other.unwrap_or("a block without a type")),
        }
    }
}

/// `input_tokens` are those that came from no cache.
pub(super) fn usage(usage: &Value) -> Usage {
    Usage {
        input_tokens: count_of(usage, &["input_tokens"]) + count_of(usage, &["cache_creation_input_tokens"]),
        cached_tokens: count_of(usage, &["cache_read_input_tokens"]),
        output_tokens: count_of(usage, &["output_tokens"]),
        cost: None,
    }
}
