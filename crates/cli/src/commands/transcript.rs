//! `hindcast transcript`: what an agent wrote, shown, converted, checked.

use std::path::Path;

use hindcast_atlas::Atlas;
use hindcast_case::Vocabulary;
use hindcast_text::TextReader;
use hindcast_transcript::{
    Format as TranscriptFormat, MAX_BYTES, Step, Transcript, checkpoint, observed_references, read, read_as, to_atif,
};
use serde_json::json;

use crate::args::{Format, TranscriptCommand};
use crate::failure::{Failure, Outcome};
use crate::output;

/// How much of a message or a result is shown.
const SHOWN: usize = 400;

pub(crate) fn run(command: &TranscriptCommand, atlas: &Atlas) -> Result<Outcome, Failure> {
    match command {
        TranscriptCommand::Show { file, from } => {
            output::print(&hindcast_report::printable(&shown(&open(file, from.as_deref())?)))?;
            Ok(Outcome::Clean)
        }
        TranscriptCommand::Convert { file, from } => {
            output::print_json(&to_atif(&open(file, from.as_deref())?))?;
            Ok(Outcome::Clean)
        }
        TranscriptCommand::Check { file, from, format } => check(&open(file, from.as_deref())?, atlas, *format),
    }
}

fn open(path: &Path, from: Option<&str>) -> Result<Transcript, Failure> {
    let format = match from {
        None => None,
        Some(name) => Some(TranscriptFormat::named(name).ok_or_else(|| {
            let known = TranscriptFormat::ALL.map(TranscriptFormat::as_str);
            Failure::new(format!("{name:?} is no format of transcripts"))
                .help(format!("expected one of {}", known.join(", ")))
        })?),
    };
    let size = std::fs::metadata(path).map_err(|error| Failure::io("read", path, &error))?.len();
    if size > u64::try_from(MAX_BYTES).expect("the limit fits 64 bits") {
        return Err(Failure::new(format!("{} is larger than {} MiB", path.display(), MAX_BYTES / 1024 / 1024)));
    }
    let bytes = std::fs::read(path).map_err(|error| Failure::io("read", path, &error))?;
    Ok(match format {
        Some(format) => read_as(&bytes, format),
        None => read(&bytes),
    })
}

/// What the checkpoint finds. Exit code 1 when there is no answer.
fn check(transcript: &Transcript, atlas: &Atlas, format: Format) -> Result<Outcome, Failure> {
    let texts = TextReader::new(atlas);
    let found = checkpoint(atlas, &texts, transcript);
    let references: Vec<&str> = observed_references(transcript).into_iter().map(Vocabulary::as_str).collect();
    match (format, &found) {
        (Format::Json, found) => {
            let conclusion = found
                .as_ref()
                .ok()
                .map(|found| serde_json::from_str::<serde_json::Value>(&found.conclusion.to_json()).expect("JSON"));
            output::print_json(&json!({
                "format": transcript.format.as_str(),
                "ended": transcript.ended.as_str(),
                "answer": found.as_ref().map_or("none", |found| found.form.as_str()),
                "failure": found.as_ref().err(),
                "observed_references": references,
                "notes": found.as_ref().map(|found| found.notes.clone()).unwrap_or_default(),
                "skipped": transcript.skipped.summary(),
                "skill_conclusion": conclusion,
            }))?;
        }
        (Format::Text, Ok(found)) => {
            let mut text = heading(transcript);
            text.push_str(&format!("answer      {}\nread        {}\n", found.form.as_str(), references.join(", ")));
            for note in &found.notes {
                text.push_str(&format!("note        {note}\n"));
            }
            text.push_str(&format!("\n{}", found.conclusion.to_json()));
            output::print(&hindcast_report::printable(&text))?;
        }
        (Format::Text, Err(reason)) => {
            output::print(&format!("{}no answer   {}\n", heading(transcript), hindcast_report::printable(reason)))?;
        }
    }
    Ok(if found.is_ok() { Outcome::Clean } else { Outcome::Findings })
}

fn heading(transcript: &Transcript) -> String {
    let usage = transcript.usage;
    let mut text = format!("format      {}\n", transcript.format.as_str());
    let agent = [&transcript.agent, &transcript.agent_version, &transcript.model].map(String::as_str);
    let agent = agent.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let cost = usage.cost.map(|cost| format!("; {cost:.3} USD")).unwrap_or_default();
    for (label, told) in [
        ("agent", agent),
        (
            "ended",
            format!(
                "{} after {} turns, {} tool calls",
                transcript.ended.as_str(),
                transcript.turns,
                transcript.tool_calls.len()
            ),
        ),
        (
            "tokens",
            format!("{} in, {} cached, {} out{cost}", usage.input_tokens, usage.cached_tokens, usage.output_tokens),
        ),
        ("error", transcript.error.clone()),
        ("skipped", transcript.skipped.summary().unwrap_or_default()),
    ] {
        if !told.is_empty() {
            text.push_str(&format!("{label:<11} {told}\n"));
        }
    }
    text
}

fn shown(transcript: &Transcript) -> String {
    let mut text = heading(transcript);
    let mut calls = 0;
    for step in transcript.steps() {
        match step {
            Step::Said(message) => {
                let aside = if message.is_aside { " (sub-agent)" } else { "" };
                text.push_str(&format!("\n── {}{aside}\n{}\n", message.role.as_str(), short(&message.text)));
            }
            Step::Done(call) => {
                calls += 1;
                let mark = if call.is_error { "failed " } else { "" };
                let arguments = short(&call.arguments.to_string());
                text.push_str(&format!("\n── call {calls} {mark}{}\n{arguments}\n", call.name));
                if let Some(result) = &call.result {
                    text.push_str(&format!("   → {}\n", short(result)));
                }
            }
        }
    }
    text.push_str(&format!("\n══ answer\n{}\n", transcript.final_text));
    text
}

fn short(text: &str) -> String {
    let text = text.trim();
    let end = text.floor_char_boundary(SHOWN);
    if end == text.len() { text.to_owned() } else { format!("{} … ({} more bytes)", &text[..end], text.len() - end) }
}
