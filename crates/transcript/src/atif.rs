//! Transcripts for other tools: the Agent Trajectory Interchange Format.

use serde_json::{Map, Value, json};

use crate::transcript::{Message, Role, ToolCall, Transcript};

/// The version of the format that is written.
const VERSION: &str = "ATIF-v1.6";

/// The transcript as one document of ATIF: a step for each message, calls and their results with the step before them.
#[must_use]
pub fn to_atif(transcript: &Transcript) -> Value {
    let mut steps: Vec<Value> = Vec::new();
    let mut reasoning = String::new();
    let mut calls = transcript.tool_calls.iter();
    let mut written = 0;
    for message in &transcript.messages {
        let due = message.after_calls.saturating_sub(written);
        written += due;
        add_calls(&mut steps, calls.by_ref().take(due));
        if message.role == Role::Reasoning {
            reasoning.push_str(&message.text);
            continue;
        }
        steps.push(step(message, &std::mem::take(&mut reasoning)));
    }
    add_calls(&mut steps, calls);
    if !reasoning.is_empty() {
        steps.push(json!({"source": "agent", "message": "", "reasoning_content": reasoning}));
    }
    for (index, step) in steps.iter_mut().enumerate() {
        step["step_id"] = json!(index + 1);
    }
    let usage = transcript.usage;
    json!({
        "schema_version": VERSION,
        "session_id": if transcript.session.is_empty() { "unknown" } else { &transcript.session },
        "agent": {
            "name": if transcript.agent.is_empty() { "unknown" } else { &transcript.agent },
            "version": if transcript.agent_version.is_empty() { "unknown" } else { &transcript.agent_version },
            "model_name": transcript.model,
        },
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": usage.input_tokens + usage.cached_tokens,
            "total_completion_tokens": usage.output_tokens,
            "total_cached_tokens": usage.cached_tokens,
            "total_cost_usd": usage.cost,
            "total_steps": transcript.turns,
            "extra": {"ended": transcript.ended.as_str(), "error": transcript.error},
        },
    })
}

fn step(message: &Message, reasoning: &str) -> Value {
    let mut step = Map::new();
    if let Some(time) = message.time {
        step.insert("timestamp".to_owned(), json!(time.to_string()));
    }
    let source = if message.role == Role::Agent { "agent" } else { message.role.as_str() };
    step.insert("source".to_owned(), json!(source));
    step.insert("message".to_owned(), json!(message.text));
    if message.is_aside {
        step.insert("extra".to_owned(), json!({"is_aside": true}));
    }
    if !reasoning.is_empty() {
        step.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    Value::Object(step)
}

/// Calls belong to the agent's step before them; where there is none, a step is made.
fn add_calls<'a>(steps: &mut Vec<Value>, calls: impl Iterator<Item = &'a ToolCall>) {
    let calls: Vec<&ToolCall> = calls.collect();
    if calls.is_empty() {
        return;
    }
    if steps.last().is_none_or(|last| last["source"] != "agent") {
        steps.push(json!({"source": "agent", "message": ""}));
    }
    let step = steps.last_mut().expect("one was pushed");
    step["tool_calls"] = calls
        .iter()
        .map(|call| json!({"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments}))
        .collect();
    let results = calls.iter().filter_map(|call| {
        let content = call.result.as_ref()?;
        let mut extra = json!({"is_error": call.is_error});
        if let Some(ended) = call.ended {
            extra["ended"] = json!(ended.to_string());
        }
        Some(json!({"source_call_id": call.id, "content": content, "extra": extra}))
    });
    step["observation"] = json!({"results": results.collect::<Vec<_>>()});
}
