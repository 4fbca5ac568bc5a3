//! The answer of a skill, in whatever form it comes, as a conclusion.

use hindcast_atlas::{Atlas, Subject};
use hindcast_case::{Severity, SkillConclusion, Worded, read_skill_conclusion};
use hindcast_text::{TextReader, bottleneck};
use serde::de::IgnoredAny;

use crate::labels::{LISTS, field_named, read_labelled};

/// A conclusion that was read from an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The conclusion.
    pub conclusion: SkillConclusion,
    /// In which form it came.
    pub form: AnswerForm,
    /// What was mended, one sentence each.
    pub repairs: Vec<String>,
}

/// Forms in which answers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// The JSON that was asked for.
    Json,
    /// JSON that had to be mended.
    RepairedJson,
    /// Parts under labels: YAML, headings, a table.
    Labelled,
    /// Prose.
    Prose,
}

impl AnswerForm {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::RepairedJson => "repaired JSON",
            Self::Labelled => "labelled parts",
            Self::Prose => "prose",
        }
    }
}

/// Why a text is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// Nothing was said.
    Empty,
    /// It says that it won't or can't.
    Refusal,
    /// What is there is no text.
    Garbage,
}

impl NoAnswer {
    /// What a person reads.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "the answer is empty",
            Self::Refusal => "the agent refused to answer",
            Self::Garbage => "the answer is no text",
        }
    }
}

/// Openings of answers that refuse.
const REFUSALS: [&str; 12] = [
    "i can't help",
    "i cannot help",
    "i can’t help",
    "i'm sorry, but i can",
    "i am sorry, but i can",
    "i'm unable to",
    "i am unable to",
    "i can't assist",
    "i cannot assist",
    "抱歉，我无法",
    "很抱歉，我无法",
    "对不起，我无法",
];

/// The longest text that is called a refusal.
const MAX_REFUSAL: usize = 600;

/// Reads an answer: JSON first, mended JSON next, then parts under labels, then prose.
///
/// # Errors
/// When the text is empty or a refusal: the replay failed, it is not a wrong diagnosis.
pub fn read_answer(atlas: &Atlas, texts: &TextReader, text: &str) -> Result<Answer, NoAnswer> {
    let text = text.trim();
    if text.is_empty() {
        return Err(NoAnswer::Empty);
    }
    if is_garbage(text) {
        return Err(NoAnswer::Garbage);
    }
    if let Some(answer) = read_json(text) {
        return Ok(answer);
    }
    if let Some(parts) = read_labelled(text) {
        let mut repairs = vec!["the answer is in labelled parts, not JSON".to_owned()];
        if let Some(conclusion) = conclusion_of(&parts.to_string(), &mut repairs) {
            return Ok(Answer { conclusion, form: AnswerForm::Labelled, repairs });
        }
    }
    let opening = text.to_lowercase();
    if text.len() <= MAX_REFUSAL && REFUSALS.iter().any(|refusal| opening.starts_with(refusal)) {
        return Err(NoAnswer::Refusal);
    }
    Ok(read_prose(atlas, texts, text))
}

/// Whether a tenth of the text are characters that no text has: control characters, and what stands for broken bytes.
fn is_garbage(text: &str) -> bool {
    let is_odd = |c: &char| *c == '\u{fffd}' || c.is_control() && !c.is_whitespace();
    10 * text.chars().filter(is_odd).count() > text.chars().count()
}

/// Braces that are tried: prose and code have many.
const MAX_OBJECTS: usize = 200;

/// The last JSON object with a field of a conclusion.
fn read_json(text: &str) -> Option<Answer> {
    let mut last = None;
    let mut at = 0;
    for _ in 0..MAX_OBJECTS {
        let Some(open) = text[at..].find('{').map(|found| at + found) else { break };
        let end = object_end(&text[open..]).map(|len| open + len);
        let json = &text[open..end.unwrap_or(text.len())];
        let mut repairs = Vec::new();
        let read = match end {
            Some(_) if !names_a_field(json) => None,
            Some(_) if serde_json::from_str::<IgnoredAny>(json).is_ok() => conclusion_of(json, &mut repairs),
            Some(_) => {
                repairs.push("the JSON has comments, trailing commas or the like".to_owned());
                conclusion_of(&relaxed(json), &mut repairs)
            }
            // What stood whole before counts more than what is cut.
            None if last.is_none() && names_a_field(json) => {
                repairs.push("the JSON was cut off; what was there is used".to_owned());
                closed(json).and_then(|json| conclusion_of(&json, &mut repairs))
            }
            None => None,
        };
        match read {
            Some(conclusion) => {
                let form = if repairs.is_empty() { AnswerForm::Json } else { AnswerForm::RepairedJson };
                last = Some(Answer { conclusion, form, repairs });
                at = end.unwrap_or(text.len());
            }
            None => at = open + 1,
        }
    }
    last
}

/// Fields that only a conclusion has; a path or a scope can stand in any object.
const OWN_FIELDS: [&str; 4] = ["entry_mode", "earliest_proven_bottleneck", "key_evidence", "provisional_conclusion"];

/// Whether the text has a key that only a conclusion has.
fn names_a_field(json: &str) -> bool {
    let head = &json[..json.floor_char_boundary(8192)];
    let parts: Vec<&str> = head.split('"').collect();
    let mut keys = parts.windows(2).filter(|pair| pair[1].trim_start().starts_with(':')).map(|pair| pair[0]);
    keys.any(|key| key == "skill_conclusion" || field_named(key).is_some_and(|field| OWN_FIELDS.contains(&field)))
}

/// Where the object that begins the text ends; none if it is cut.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// A cut object, closed: the string, then every bracket. A key without its value is dropped.
fn closed(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => open.push('}'),
            b'[' if !in_string => open.push(']'),
            b'}' | b']' if !in_string => {
                open.pop();
            }
            _ => {}
        }
    }
    if open.len() > 64 {
        return None;
    }
    let mut text = text.trim_end_matches('`').trim_end().to_owned();
    if is_escaped {
        text.pop();
    }
    if in_string {
        text.push('"');
    }
    let brackets: String = open.iter().rev().collect();
    let tries = [
        format!("{text}{brackets}"),
        format!("{}{brackets}", text.trim_end().trim_end_matches([',', ':'])),
        // A key without its value.
        format!("{}{brackets}", text[..text.rfind([',', '{'])? + 1].trim_end_matches(',')),
    ];
    tries.into_iter().find(|json| serde_json::from_str::<serde_json::Value>(json).is_ok())
}

/// JSON without what people and models add to it: comments, and commas before a closing bracket.
fn relaxed(json: &str) -> String {
    let mut strict = String::with_capacity(json.len());
    let mut chars = json.chars().peekable();
    let (mut in_string, mut is_escaped) = (false, false);
    while let Some(c) = chars.next() {
        match c {
            _ if in_string => {
                in_string = is_escaped || c != '"';
                is_escaped = !is_escaped && c == '\\';
                strict.push(c);
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                let mut last = ' ';
                for c in chars.by_ref().skip(1) {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '}' | ']' => {
                let kept = strict.trim_end().len();
                if strict[..kept].ends_with(',') {
                    strict.truncate(kept - 1);
                }
                strict.push(c);
            }
            c => {
                in_string = c == '"';
                strict.push(c);
            }
        }
    }
    strict
}

/// The conclusion that a JSON object holds; what the reader of cases mends is noted.
fn conclusion_of(json: &str, repairs: &mut Vec<String>) -> Option<SkillConclusion> {
    let renamed = renamed(json, repairs);
    let json = renamed.as_deref().unwrap_or(json);
    let mut reading = read_skill_conclusion(json.as_bytes());
    if reading.value.is_none() {
        // What is in no vocabulary stays empty.
        let mut value: serde_json::Value = serde_json::from_str(json).ok()?;
        let errors = reading.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        for diagnostic in errors.collect::<Vec<_>>().into_iter().rev() {
            repairs.push(format!("{}; left out", diagnostic.message));
            remove(&mut value, &diagnostic.field);
        }
        reading = read_skill_conclusion(value.to_string().as_bytes());
    }
    let conclusion = reading.value?;
    for diagnostic in &reading.diagnostics {
        if diagnostic.severity != Severity::Note || diagnostic.code == hindcast_case::Code::NormalisedValue {
            repairs.push(diagnostic.message.clone());
        }
    }
    let is_empty = conclusion == SkillConclusion { extras: conclusion.extras.clone(), ..SkillConclusion::default() };
    (!is_empty).then_some(conclusion)
}

/// Removes what stands at a place such as `skill_conclusion.reference_files_consulted[2]`.
fn remove(value: &mut serde_json::Value, field: &str) {
    let (parent, name) = field.rsplit_once('.').unwrap_or(("", field));
    let mut keys = parent.split('.').filter(|key| !key.is_empty());
    let Some(parent) = keys.try_fold(value, |value, key| value.get_mut(key)) else { return };
    match name.split_once('[') {
        Some((list, index)) => {
            let index = index.trim_end_matches(']').parse::<usize>();
            if let (Some(list), Ok(index)) = (parent.get_mut(list).and_then(|list| list.as_array_mut()), index)
                && index < list.len()
            {
                list.remove(index);
            }
        }
        None => {
            if let Some(object) = parent.as_object_mut() {
                object.remove(name);
            }
        }
    }
}

/// Keys by other names (`bottleneck`, `入口模式`) under the schema's, and texts where lists belong as lists.
fn renamed(json: &str, repairs: &mut Vec<String>) -> Option<String> {
    let mut value: serde_json::Value = serde_json::from_str(json).ok()?;
    let inner = if value["skill_conclusion"].is_object() { &mut value["skill_conclusion"] } else { &mut value };
    let object = inner.as_object_mut()?;
    let keys: Vec<String> = object.keys().cloned().collect();
    let mut is_changed = false;
    for key in keys {
        let Some(field) = field_named(&key).filter(|field| *field != key && !object.contains_key(*field)) else {
            continue;
        };
        if let Some(value) = object.remove(&key) {
            repairs.push(format!("{key:?} was read as {field}"));
            object.insert(field.to_owned(), value);
            is_changed = true;
        }
    }
    for field in LISTS {
        if let Some(text) = object.get(field).and_then(|value| value.as_str()) {
            let list: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            object.insert(field.to_owned(), serde_json::json!(list));
            is_changed = true;
        }
    }
    is_changed.then(|| value.to_string())
}

fn read_prose(atlas: &Atlas, texts: &TextReader, text: &str) -> Answer {
    let reading = texts.read(atlas, text);
    let claim = bottleneck(atlas, &reading.claims, reading.places.side.map(|(side, _)| side));
    let named = claim.map(|claim| match claim.subject {
        Subject::Mechanism(ix) => atlas[ix].id.clone(),
        Subject::Family(_) => text.get(claim.span.start..claim.span.end).unwrap_or_default().to_owned(),
    });
    let conclusion = SkillConclusion {
        is_tikv_side: reading.places.side.map_or(Worded::Empty, |(side, _)| Worded::Known(side)),
        scope: reading.places.first_scope().map_or(Worded::Empty, |(scope, _)| Worded::Known(scope)),
        path: reading.places.path.map_or(Worded::Empty, |(path, _)| Worded::Known(path)),
        earliest_proven_bottleneck: named.unwrap_or_default(),
        provisional_conclusion: text.to_owned(),
        ..SkillConclusion::default()
    };
    let repairs = vec!["the answer is prose; its parts were read from the words".to_owned()];
    Answer { conclusion, form: AnswerForm::Prose, repairs }
}
