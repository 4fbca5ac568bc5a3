//! What a transcript shows of a replay: what was consulted, where the diagnosis began, what it concluded.

use hindcast_atlas::Atlas;
use hindcast_case::{EntryMode, Reference, SkillConclusion, SubCapability, Vocabulary, Worded};
use hindcast_text::{TextReader, sentences};
use serde_json::Value;

use crate::answer::{Answer, AnswerForm, NoAnswer, read_answer};
use crate::shell::files_shown;
use crate::transcript::{Ended, ToolCall, Transcript};

/// A conclusion as the schema wants it, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The conclusion; its references are those that were read, where the transcript shows calls.
    pub conclusion: SkillConclusion,
    /// In which form the answer came.
    pub form: AnswerForm,
    /// Remarks, one sentence each: what was mended, claimed without being done, taken from elsewhere.
    pub notes: Vec<String>,
}

/// Reads what a replay came to.
///
/// # Errors
/// When there is no answer: the replay failed, with the reason.
pub fn checkpoint(atlas: &Atlas, texts: &TextReader, transcript: &Transcript) -> Result<Checkpoint, String> {
    let answer = match read_answer(atlas, texts, &transcript.final_text) {
        Ok(_) if transcript.ended == Ended::Error => return Err(failure(transcript, "the agent ended with an error")),
        Ok(answer) => answer,
        Err(NoAnswer::Empty) if transcript.ended != Ended::Finished => {
            return Err(failure(transcript, "there is no answer"));
        }
        Err(none) => return Err(failure(transcript, none.as_str())),
    };
    let Answer { mut conclusion, form, repairs } = answer;
    let mut notes: Vec<String> = repairs.into_iter().map(|repair| format!("answer: {repair}")).collect();
    if transcript.ended == Ended::TurnLimit {
        notes.push("the agent was stopped at the limit of turns; what it had said by then is used".to_owned());
    }
    consulted(transcript, &mut conclusion, &mut notes);
    route(atlas, &mut conclusion, transcript, &mut notes);
    if conclusion.uncertainty_statement.trim().is_empty() {
        conclusion.uncertainty_statement = hedges(&transcript.final_text, &conclusion);
    }
    Ok(Checkpoint { conclusion, form, notes })
}

fn failure(transcript: &Transcript, why: &str) -> String {
    match (transcript.error.is_empty(), transcript.ended) {
        (false, _) => format!("{why}: {}", transcript.error),
        (true, Ended::TurnLimit) => format!("{why}: the limit of turns was reached"),
        (true, _) => why.to_owned(),
    }
}

/// References that were read replace those that were claimed, where calls can be seen.
fn consulted(transcript: &Transcript, conclusion: &mut SkillConclusion, notes: &mut Vec<String>) {
    let observed = observed_references(transcript);
    if !transcript.tool_calls.is_empty() {
        let claimed = std::mem::replace(&mut conclusion.reference_files_consulted, observed);
        for claim in claimed {
            if !conclusion.reference_files_consulted.contains(&claim) {
                notes.push(format!("the answer claims {} but no call read it", claim.as_str()));
            }
        }
    }
    let mut activated: Vec<Worded<SubCapability>> =
        conclusion.reference_files_consulted.iter().map(|reference| Worded::Known((*reference).into())).collect();
    for declared in std::mem::take(&mut conclusion.activated_subcapabilities) {
        if !activated.contains(&declared) {
            activated.push(declared);
        }
    }
    conclusion.activated_subcapabilities = activated;
}

/// The entry mode: declared, else that of the first reference of a mode that was read, else that of the bottleneck.
fn route(atlas: &Atlas, conclusion: &mut SkillConclusion, transcript: &Transcript, notes: &mut Vec<String>) {
    if conclusion.entry_mode.is_some() {
        return;
    }
    let of_reference = |reference: &Reference| {
        EntryMode::ALL
            .iter()
            .copied()
            .find(|mode| mode.reference() == *reference && *reference != Reference::CrossCutting)
    };
    let read = observed_references(transcript);
    if let Some((mode, reference)) = read.iter().find_map(|reference| Some((of_reference(reference)?, reference))) {
        conclusion.entry_mode = Some(mode);
        notes.push(format!(
            "entry mode {} is taken from the first reference read, {}",
            mode.as_str(),
            reference.as_str()
        ));
        return;
    }
    if let Some(ix) = atlas.find(&conclusion.earliest_proven_bottleneck) {
        let mechanism = &atlas[ix];
        conclusion.entry_mode = Some(mechanism.entry_mode);
        notes.push(format!(
            "entry mode {} is taken from the bottleneck {}",
            mechanism.entry_mode.as_str(),
            mechanism.id
        ));
    }
}

/// Reference files of the skill that a call read with success, each once, in the order of reading.
#[must_use]
pub fn observed_references(transcript: &Transcript) -> Vec<Reference> {
    // Some formats give no results at all; there a call counts as it stands.
    let has_results = transcript.tool_calls.iter().any(|call| call.result.is_some());
    let mut read = Vec::new();
    for call in transcript.tool_calls.iter().filter(|call| !call.is_error && (call.result.is_some() || !has_results)) {
        for path in files_read(call) {
            for reference in references_of(&path) {
                if !is_missing(call, reference) && !read.contains(&reference) {
                    read.push(reference);
                }
            }
        }
    }
    read
}

/// Tools that read a file.
const READERS: [&str; 13] = [
    "read",
    "readfile",
    "view",
    "viewfile",
    "open",
    "openfile",
    "cat",
    "getfile",
    "readmanyfiles",
    "fileread",
    "readtextfile",
    "strreplacebasededittool",
    "texteditor",
];

/// Tools that run commands.
const SHELLS: [&str; 12] = [
    "bash",
    "shell",
    "sh",
    "runshellcommand",
    "commandexecution",
    "exec",
    "execcommand",
    "localshell",
    "runcommand",
    "terminal",
    "executecommand",
    "bashcommand",
];

/// Arguments that name a file.
const PATHS: [&str; 9] =
    ["file_path", "path", "filepath", "filename", "file", "absolute_path", "target_file", "paths", "relative_path"];

/// Arguments that hold a command.
const COMMANDS: [&str; 5] = ["command", "cmd", "script", "keystrokes", "code"];

fn files_read(call: &ToolCall) -> Vec<String> {
    let name = call.name.rsplit("__").next().unwrap_or_default();
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let arguments = |names: &[&str]| -> Vec<String> {
        let values = names.iter().filter_map(|name| call.arguments.get(*name));
        values.flat_map(texts_of).collect()
    };
    if SHELLS.contains(&name.as_str()) {
        let commands = if call.arguments.is_string() || call.arguments.is_array() {
            vec![joined(&call.arguments)]
        } else {
            COMMANDS.iter().filter_map(|name| call.arguments.get(*name)).map(joined).collect()
        };
        return commands.iter().flat_map(|command| files_shown(command)).collect();
    }
    let is_reader = READERS.contains(&name.as_str());
    let is_view = call.arguments.get("command").is_none_or(|command| command == "view");
    if is_reader && is_view { arguments(&PATHS) } else { Vec::new() }
}

fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// A command as one script: `["bash", "-lc", "cat x"]` is quoted word by word.
fn joined(value: &Value) -> String {
    match value {
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str).map(|word| format!("'{}'", word.replace('\'', "'\\''")));
            words.collect::<Vec<_>>().join(" ")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// The reference files that a path stands for: one, or with a `*` several.
fn references_of(path: &str) -> Vec<Reference> {
    let path = path.replace('\\', "/");
    let path = path.split(['#', '?']).next().unwrap_or_default().trim();
    let all = Reference::ALL.iter().copied();
    match path.split_once('*') {
        Some((before, after)) if !after.contains('*') => {
            let before = before.rsplit_once("references/").map_or(before, |(_, name)| name);
            all.filter(|reference| {
                let name = reference.as_str().trim_start_matches("references/");
                let is_folder = path.contains("references/") && !before.contains('/');
                is_folder
                    && name.starts_with(before)
                    && name.ends_with(after)
                    && name.len() >= before.len() + after.len()
            })
            .collect()
        }
        _ => all
            .filter(|reference| {
                let name = reference.as_str();
                path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            })
            .collect(),
    }
}

/// Whether what came back says that the file is not there.
fn is_missing(call: &ToolCall, reference: Reference) -> bool {
    let Some(result) = &call.result else { return false };
    let name = reference.as_str().trim_start_matches("references/");
    result.lines().any(|line| line.contains(name) && (line.contains("No such file") || line.contains("not found")))
}

/// Words that hedge.
const HEDGES: [&str; 22] = [
    "likely",
    "probably",
    "perhaps",
    "may be",
    "might",
    "possibly",
    "suspect",
    "cannot confirm",
    "can't confirm",
    "not confirmed",
    "uncertain",
    "not enough evidence",
    "insufficient",
    "可能",
    "疑似",
    "怀疑",
    "大概",
    "无法确认",
    "不确定",
    "推测",
    "尚未证实",
    "缺少",
];

/// Most of an uncertainty statement that is made of an answer's own sentences.
const MAX_HEDGES: usize = 5;

/// The sentences of the answer that hedge; those of its lists are not meant.
fn hedges(text: &str, conclusion: &SkillConclusion) -> String {
    let source = if conclusion.provisional_conclusion.is_empty() { text } else { &conclusion.provisional_conclusion };
    let hedged = sentences(source).map(|span| source[span.start..span.end].trim()).filter(|sentence| {
        let folded = sentence.to_lowercase();
        HEDGES.iter().any(|hedge| folded.contains(hedge))
    });
    hedged.take(MAX_HEDGES).collect::<Vec<_>>().join(" ")
}
