//! The Agent Trajectory Interchange Format, versions 1.x.

use serde_json::Value;

use super::{arguments_of, count_of, str_of, text_of, time_of};
use crate::transcript::{Draft, Ended, Role, Usage};

pub(super) fn document(draft: &mut Draft, document: &Value) {
    let agent = &document["agent"];
    str_of(document, "session_id").clone_into(&mut draft.transcript.session);
    str_of(agent, "name").clone_into(&mut draft.transcript.agent);
    str_of(agent, "version").clone_into(&mut draft.transcript.agent_version);
    str_of(agent, "model_name").clone_into(&mut draft.transcript.model);
    for step in document["steps"].as_array().into_iter().flatten() {
        let time = time_of(&step["timestamp"]);
        let role = match str_of(step, "source") {
            "user" => Role::User,
            "system" => Role::System,
            _ => Role::Agent,
        };
        if role == Role::Agent {
            draft.transcript.turns += 1;
        }
        draft.say(Role::Reasoning, "", &text_of(&step["reasoning_content"]), time, false);
        draft.say(role, "", &text_of(&step["message"]), time, step["extra"]["is_aside"] == true);
        for call in step["tool_calls"].as_array().into_iter().flatten() {
            let arguments = arguments_of(&call["arguments"]);
            draft.call(str_of(call, "tool_call_id"), str_of(call, "function_name"), arguments, time);
        }
        for result in step["observation"]["results"].as_array().into_iter().flatten() {
            let is_error = result["extra"]["is_error"].as_bool().unwrap_or_default();
            let at = time_of(&result["extra"]["ended"]).or(time);
            draft.result(str_of(result, "source_call_id"), text_of(&result["content"]), is_error, at);
        }
        let metrics = &step["metrics"];
        let cached = count_of(metrics, &["cached_tokens"]);
        draft.transcript.usage.add(Usage {
            cost: metrics["cost_usd"].as_f64(),
            ..Usage::with_cached(
                count_of(metrics, &["prompt_tokens"]),
                cached,
                count_of(metrics, &["completion_tokens"]),
            )
        });
    }
    let totals = &document["final_metrics"];
    if totals["total_prompt_tokens"].is_u64() {
        let cached = count_of(totals, &["total_cached_tokens"]);
        draft.total_usage = Some(Usage::with_cached(
            count_of(totals, &["total_prompt_tokens"]),
            cached,
            count_of(totals, &["total_completion_tokens"]),
        ));
    }
    draft.cost = totals["total_cost_usd"].as_f64();
    match str_of(&totals["extra"], "ended") {
        "error" => draft.fail(Ended::Error, str_of(&totals["extra"], "error")),
        "turn limit" => draft.fail(Ended::TurnLimit, str_of(&totals["extra"], "error")),
        "not said" => {}
        _ => draft.transcript.ended = Ended::Finished,
    }
}
