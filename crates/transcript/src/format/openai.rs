//! OpenAI's Chat Completions and Responses, and what speaks like them.

use serde_json::{Value, json};

use super::{arguments_of, count_of, str_of, text_of};
use crate::transcript::{Draft, Ended, Role, Usage};

/// A conversation (`messages`), an answer (`choices`), a list of messages, or one message.
pub(super) fn chat(draft: &mut Draft, document: &Value) {
    if let Some(model) = document["model"].as_str() {
        model.clone_into(&mut draft.transcript.model);
    }
    let messages = document["messages"].as_array().or_else(|| document.as_array());
    for one in messages.into_iter().flatten() {
        message(draft, one);
    }
    for choice in document["choices"].as_array().into_iter().flatten() {
        message(draft, &choice["message"]);
        finish(draft, str_of(choice, "finish_reason"));
    }
    if document["role"].is_string() {
        message(draft, document);
    }
    draft.transcript.usage.add(usage(&document["usage"]));
}

fn message(draft: &mut Draft, message: &Value) {
    let text = text_of(&message["content"]);
    match str_of(message, "role") {
        "assistant" => {
            draft.transcript.turns += 1;
            draft.say(Role::Reasoning, "", str_of(message, "reasoning_content"), None, false);
            draft.say(Role::Agent, "", &text, None, false);
            if let Some(refusal) = message["refusal"].as_str() {
                draft.fail(Ended::Error, refusal);
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                draft.call(str_of(call, "id"), str_of(function, "name"), arguments_of(&function["arguments"]), None);
            }
        }
        "tool" | "function" => draft.result(str_of(message, "tool_call_id"), text, false, None),
        "system" | "developer" => draft.say(Role::System, "", &text, None, false),
        "user" => draft.say(Role::User, "", &text, None, false),
        other => draft.skip(other),
    }
}

fn finish(draft: &mut Draft, reason: &str) {
    match reason {
        "stop" => draft.transcript.ended = Ended::Finished,
        "length" => draft.fail(Ended::Error, "the answer was cut off at the limit of tokens"),
        "content_filter" => draft.fail(Ended::Error, "a filter kept the answer back"),
        _ => {}
    }
}

/// A response, a list of items, or one item.
pub(super) fn responses(draft: &mut Draft, document: &Value) {
    if let Some(model) = document["model"].as_str() {
        model.clone_into(&mut draft.transcript.model);
    }
    let lists = [document["input"].as_array(), document["output"].as_array(), document.as_array()];
    let mut is_list = false;
    for one in lists.into_iter().flatten().flatten() {
        is_list = true;
        item(draft, one, None);
    }
    if !is_list && document["type"].is_string() {
        item(draft, document, None);
    }
    match str_of(document, "status") {
        "completed" if document["output"].is_array() => draft.transcript.ended = Ended::Finished,
        "failed" => draft.fail(Ended::Error, &text_of(&document["error"]["message"])),
        "incomplete" if document["output"].is_array() => {
            draft.fail(Ended::Error, str_of(&document["incomplete_details"], "reason"));
        }
        _ => {}
    }
    draft.transcript.usage.add(usage(&document["usage"]));
}

/// One item of the Responses API.
pub(super) fn item(draft: &mut Draft, item: &Value, time: Option<jiff::Timestamp>) {
    match str_of(item, "type") {
        "message" | "agent_message" | "" => {
            let role = match str_of(item, "role") {
                "user" => Role::User,
                "system" | "developer" => Role::System,
                _ => Role::Agent,
            };
            if role == Role::Agent {
                draft.transcript.turns += 1;
            }
            draft.say(role, str_of(item, "id"), &text_of(&item["content"]), time, false);
        }
        "reasoning" => draft.say(Role::Reasoning, "", &text_of(&item["summary"]), time, false),
        "function_call" | "custom_tool_call" => {
            let arguments = if item["arguments"].is_null() { &item["input"] } else { &item["arguments"] };
            draft.call(str_of(item, "call_id"), str_of(item, "name"), arguments_of(arguments), time);
        }
        "local_shell_call" => {
            draft.call(str_of(item, "call_id"), "local_shell", json!({"command": item["action"]["command"]}), time);
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let output = arguments_of(&item["output"]);
            let is_error = output["metadata"]["exit_code"].as_i64().is_some_and(|code| code != 0);
            draft.result(str_of(item, "call_id"), text_of(&output), is_error, time);
        }
        other => draft.skip(other),
    }
}

fn usage(usage: &Value) -> Usage {
    let details = [&usage["prompt_tokens_details"], &usage["input_tokens_details"]];
    let cached = details.into_iter().map(|details| count_of(details, &["cached_tokens"])).max().unwrap_or_default();
    Usage::with_cached(
        count_of(usage, &["prompt_tokens", "input_tokens"]),
        cached,
        count_of(usage, &["completion_tokens", "output_tokens"]),
    )
}
