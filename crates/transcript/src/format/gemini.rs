//! Gemini CLI's `--output-format stream-json`.

use serde_json::Value;

use super::{count_of, str_of, text_of, time_of};
use crate::transcript::{Draft, Ended, Role, Usage};

pub(super) fn event(draft: &mut Draft, event: &Value) {
    "gemini-cli".clone_into(&mut draft.transcript.agent);
    let time = time_of(&event["timestamp"]);
    match str_of(event, "type") {
        "init" => {
            str_of(event, "session_id").clone_into(&mut draft.transcript.session);
            str_of(event, "model").clone_into(&mut draft.transcript.model);
        }
        "message" => {
            let role = if str_of(event, "role") == "user" { Role::User } else { Role::Agent };
            let text = text_of(&event["content"]);
            if event["delta"] == true {
                draft.say_more(role, &text);
            } else {
                draft.say(role, "", &text, time, false);
            }
        }
        "tool_use" => {
            draft.call(str_of(event, "tool_id"), str_of(event, "tool_name"), event["parameters"].clone(), time);
        }
        "tool_result" => {
            let is_error = str_of(event, "status") == "error";
            let said =
                if is_error && event["output"].is_null() { &event["error"]["message"] } else { &event["output"] };
            draft.result(str_of(event, "tool_id"), text_of(said), is_error, time);
        }
        "error" => draft.fail(Ended::Error, str_of(event, "message")),
        "result" => {
            let error = text_of(&event["error"]["message"]);
            match str_of(event, "status") {
                "success" | "" => draft.transcript.ended = Ended::Finished,
                _ if str_of(&event["error"], "type").contains("Turn") => draft.fail(Ended::TurnLimit, &error),
                _ => draft.fail(Ended::Error, &error),
            }
            let stats = &event["stats"];
            let cached = count_of(stats, &["cached"]);
            draft.total_usage = Some(Usage::with_cached(
                count_of(stats, &["input_tokens"]),
                cached,
                count_of(stats, &["output_tokens"]),
            ));
        }
        other => draft.skip(other),
    }
}
