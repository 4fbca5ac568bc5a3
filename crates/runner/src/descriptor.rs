//! Agents as data: one TOML file tells how an agent is started and how it answers.

use std::path::Path;

use hindcast_transcript::Format;
use serde::{Deserialize, Serialize};

/// How an agent is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// Its name.
    pub name: String,
    /// What it is, for a person.
    #[serde(default)]
    pub about: String,
    /// A program of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// A service that speaks HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// The model, where the user names none.
    #[serde(default)]
    pub model: String,
    /// Replays begun a minute at most; none is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<u32>,
    /// US dollars a million tokens; where the agent itself tells no cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// A program. In its arguments, in `stdin` and in `set` these are filled in: `{prompt}`, `{prompt_file}`, `{incident}`,
/// `{folder}`, `{skill}`, `{skill_name}`, `{answer}`, `{model}`, `{turns}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The command line.
    pub command: Vec<String>,
    /// Added to it where a model is named.
    #[serde(default)]
    pub model_arguments: Vec<String>,
    /// What standard input holds.
    #[serde(default)]
    pub stdin: String,
    /// A command line that prints the version.
    #[serde(default)]
    pub version: Vec<String>,
    /// Where in the folder of a replay the skill is put.
    #[serde(default = "skill_folder")]
    pub skill_folder: String,
    /// Variables of the environment that it may see, besides `PATH`, `HOME`, `LANG`, `LC_ALL`, `TERM`, `TMPDIR`, `USER`.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Variables that are set for it.
    #[serde(default)]
    pub set: std::collections::BTreeMap<String, String>,
    /// Where the answer is.
    #[serde(default)]
    pub answer: AnswerPlace,
    /// The format of its transcript, or `auto`.
    #[serde(default = "auto")]
    pub format: String,
    /// Words in what it says of an error after which the same may succeed later.
    #[serde(default = "transient")]
    pub transient: Vec<String>,
}

/// Where a program leaves its transcript or answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerPlace {
    /// On standard output.
    #[default]
    Stdout,
    /// In the file `{answer}`.
    File,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// What it speaks.
    pub protocol: Protocol,
    /// Its address, without the path of the call.
    pub base_url: String,
    /// The variable of the environment that overrides the address.
    pub base_url_variable: String,
    /// The variable of the environment that holds the key.
    pub key_variable: String,
    /// Tokens of one answer at most; none is the service's own limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

/// What services speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, and what speaks like them.
    Openai,
}

/// US dollars a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Read.
    pub input: f64,
    /// Read from a cache.
    pub cached: f64,
    /// Written.
    pub output: f64,
}

fn skill_folder() -> String {
    "{skill_name}".to_owned()
}

fn auto() -> String {
    "auto".to_owned()
}

fn transient() -> Vec<String> {
    ["overloaded", "rate limit", "rate_limit", "too many requests", " 429", " 503", " 529", "quota exceeded"]
        .map(str::to_owned)
        .to_vec()
}

/// The agents that hindcast knows.
const PRESETS: [(&str, &str); 5] = [
    ("claude", include_str!("presets/claude.toml")),
    ("codex", include_str!("presets/codex.toml")),
    ("gemini", include_str!("presets/gemini.toml")),
    ("anthropic", include_str!("presets/anthropic.toml")),
    ("openai", include_str!("presets/openai.toml")),
];

/// Why there is no such agent.
#[derive(Debug, thiserror::Error)]
pub enum DescriptorError {
    /// Nothing has that name.
    #[error(
        "{0:?} is no runner: expected builtin, recorded, command, claude, codex, gemini, anthropic, openai or the path of a .toml file"
    )]
    Unknown(String),
    /// The file can't be read.
    #[error("{0} can't be read: {1}")]
    Io(String, std::io::Error),
    /// The file is no descriptor.
    #[error("{0}: {1}")]
    Toml(String, toml::de::Error),
    /// The descriptor makes no sense.
    #[error("{0}: {1}")]
    Wrong(String, String),
}

impl Descriptor {
    /// A preset by its name, or a descriptor by its path.
    ///
    /// # Errors
    /// When there is none, or it can't be used.
    pub fn find(name: &str) -> Result<Self, DescriptorError> {
        if let Some((_, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) {
            return Self::read(name, text);
        }
        if Path::new(name).extension().is_none_or(|extension| extension != "toml") {
            return Err(DescriptorError::Unknown(name.to_owned()));
        }
        let text = std::fs::read_to_string(name).map_err(|error| DescriptorError::Io(name.to_owned(), error))?;
        Self::read(name, &text)
    }

    /// Names of the presets, with what they are.
    #[must_use]
    pub fn presets() -> Vec<Self> {
        PRESETS.iter().map(|(name, text)| Self::read(name, text).expect("the tests read every preset")).collect()
    }

    /// Reads a descriptor; `place` is for messages.
    ///
    /// # Errors
    /// When it can't be read or used.
    pub fn read(place: &str, text: &str) -> Result<Self, DescriptorError> {
        let read: Self = toml::from_str(text).map_err(|error| DescriptorError::Toml(place.to_owned(), error))?;
        let wrong = |message: &str| Err(DescriptorError::Wrong(place.to_owned(), message.to_owned()));
        match (&read.program, &read.service) {
            (None, None) => return wrong("has neither [program] nor [service]"),
            (Some(_), Some(_)) => return wrong("has both [program] and [service]; expected one"),
            (Some(program), None) => {
                if program.command.is_empty() {
                    return wrong("program.command is empty");
                }
                if let Some(message) = unknown_format(&program.format) {
                    return wrong(&message);
                }
            }
            (None, Some(_)) => {}
        }
        Ok(read)
    }

    /// Reads the transcripts of a program as another format.
    ///
    /// # Errors
    /// When there is no such format, or the descriptor is of a service.
    pub fn with_format(mut self, format: &str) -> Result<Self, DescriptorError> {
        let wrong = |message: String| DescriptorError::Wrong(self.name.clone(), message);
        let Some(program) = &mut self.program else {
            return Err(wrong("a service has one format of transcripts".to_owned()));
        };
        if let Some(message) = unknown_format(format) {
            return Err(wrong(message));
        }
        format.clone_into(&mut program.format);
        Ok(self)
    }

    /// A program of the user's own: its command line, as a shell would split it.
    ///
    /// # Errors
    /// When the line has no words, or a quote is not closed.
    pub fn command(line: &str) -> Result<Self, DescriptorError> {
        let wrong = |message: &str| DescriptorError::Wrong("--command".to_owned(), message.to_owned());
        let command: Vec<String> = shlex::split(line).ok_or_else(|| wrong("a quote is not closed"))?;
        if command.is_empty() {
            return Err(wrong("is empty"));
        }
        // A replay runs in a folder of its own: the path of the program must not depend on the folder.
        let mut command = command;
        if command[0].contains('/') && !command[0].contains('{') {
            let whole = std::path::absolute(&command[0]).map_err(|error| wrong(&error.to_string()))?;
            command[0] = whole.display().to_string();
        }
        let is_told = |what: &str| command.iter().any(|word| word.contains(what));
        let stdin = if is_told("{prompt}") || is_told("{prompt_file}") { String::new() } else { "{prompt}".to_owned() };
        let answer = if is_told("{answer}") { AnswerPlace::File } else { AnswerPlace::Stdout };
        Ok(Self {
            name: "command".to_owned(),
            about: line.to_owned(),
            program: Some(Program {
                command,
                model_arguments: Vec::new(),
                stdin,
                version: Vec::new(),
                skill_folder: skill_folder(),
                environment: Vec::new(),
                set: std::collections::BTreeMap::new(),
                answer,
                format: auto(),
                transient: transient(),
            }),
            service: None,
            model: String::new(),
            per_minute: None,
            price: None,
        })
    }
}

/// What is wrong with the name of a format, if anything.
fn unknown_format(name: &str) -> Option<String> {
    let is_known = name == "auto" || Format::named(name).is_some();
    let known = || Format::ALL.map(Format::as_str).join(", ");
    (!is_known).then(|| format!("{name:?} is no format of transcripts; expected auto, {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_read() {
        let names: Vec<String> = Descriptor::presets().into_iter().map(|preset| preset.name).collect();
        assert_eq!(names, ["claude", "codex", "gemini", "anthropic", "openai"]);
        assert!(Descriptor::find("clade").expect_err("unknown").to_string().contains("claude"));
        let wrong =
            Descriptor::read("x.toml", "name = \"x\"\n[program]\ncomand = []\n").expect_err("misspelt").to_string();
        assert!(wrong.contains("comand") && wrong.contains("line 3"), "{wrong}");
    }
}
