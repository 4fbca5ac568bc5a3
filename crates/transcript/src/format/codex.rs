//! Codex: the events of `exec --json`, and the log that it keeps of a session (`rollout-*.jsonl`).

use serde_json::{Value, json};

use super::{arguments_of, count_of, openai, str_of, text_of, time_of};
use crate::transcript::{Draft, Ended, Role, Usage};

pub(super) fn event(draft: &mut Draft, event: &Value) {
    "codex".clone_into(&mut draft.transcript.agent);
    match str_of(event, "type") {
        "thread.started" => str_of(event, "thread_id").clone_into(&mut draft.transcript.session),
        "turn.started" => draft.transcript.turns += 1,
        kind @ ("item.started" | "item.updated" | "item.completed") => {
            item(draft, &event["item"], kind == "item.completed");
        }
        "turn.completed" => {
            draft.transcript.ended = Ended::Finished;
            let usage = &event["usage"];
            let cached = count_of(usage, &["cached_input_tokens"]);
            draft.transcript.usage.add(Usage::with_cached(
                count_of(usage, &["input_tokens"]),
                cached,
                count_of(usage, &["output_tokens"]),
            ));
        }
        "turn.failed" => draft.fail(Ended::Error, &text_of(&event["error"]["message"])),
        // Notices of retries are of this type too; a turn that completes afterwards counts.
        "error" => draft.fail(Ended::Error, str_of(event, "message")),
        other => draft.skip(other),
    }
}

fn item(draft: &mut Draft, item: &Value, is_completed: bool) {
    let id = str_of(item, "id");
    let kind = str_of(item, "type");
    match kind {
        "agent_message" if is_completed => draft.say(Role::Agent, id, str_of(item, "text"), None, false),
        "reasoning" if is_completed => draft.say(Role::Reasoning, id, str_of(item, "text"), None, false),
        "agent_message" | "reasoning" | "todo_list" => {}
        "command_execution" | "mcp_tool_call" | "file_change" | "web_search" => {
            if !draft.has_call(id) {
                let (name, arguments) = match kind {
                    "mcp_tool_call" => (str_of(item, "tool"), arguments_of(&item["arguments"])),
                    "command_execution" => (kind, json!({"command": item["command"]})),
                    "web_search" => (kind, json!({"query": item["query"]})),
                    _ => (kind, item["changes"].clone()),
                };
                draft.call(id, name, arguments, None);
            }
            if is_completed {
                let failed = matches!(str_of(item, "status"), "failed" | "declined");
                let is_error = failed || item["exit_code"].as_i64().is_some_and(|code| code != 0);
                let output = if kind == "command_execution" { &item["aggregated_output"] } else { &item["result"] };
                draft.result(id, text_of(output), is_error, None);
            }
        }
        "error" => draft.skip("error item"),
        other => draft.skip(other),
    }
}

/// A line of a session's log: the items of the Responses API in an envelope.
pub(super) fn session_line(draft: &mut Draft, line: &Value) {
    "codex".clone_into(&mut draft.transcript.agent);
    let time = time_of(&line["timestamp"]);
    let payload = &line["payload"];
    match str_of(line, "type") {
        "session_meta" => {
            str_of(payload, "id").clone_into(&mut draft.transcript.session);
            str_of(payload, "cli_version").clone_into(&mut draft.transcript.agent_version);
        }
        "turn_context" => {
            draft.transcript.turns += 1;
            str_of(payload, "model").clone_into(&mut draft.transcript.model);
        }
        "response_item" => openai::item(draft, payload, time),
        "event_msg" => match str_of(payload, "type") {
            "task_complete" => draft.transcript.ended = Ended::Finished,
            "turn_aborted" => draft.fail(Ended::Error, str_of(payload, "reason")),
            "token_count" => {
                let usage = &payload["info"]["total_token_usage"];
                let cached = count_of(usage, &["cached_input_tokens"]);
                draft.total_usage = Some(Usage::with_cached(
                    count_of(usage, &["input_tokens"]),
                    cached,
                    count_of(usage, &["output_tokens"]),
                ));
            }
            _ => {}
        },
        "compacted" => {}
        other => draft.skip(other),
    }
}
