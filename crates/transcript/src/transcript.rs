//! One shape for what any agent did and said.

use std::collections::BTreeMap;

use serde_json::Value;

/// What an agent did and said in one replay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    /// How it was written.
    pub format: Format,
    /// The agent, as it calls itself.
    pub agent: String,
    /// The agent's version.
    pub agent_version: String,
    /// The model.
    pub model: String,
    /// The agent's own id of the session.
    pub session: String,
    /// What was said, in order.
    pub messages: Vec<Message>,
    /// What was done, in the order in which it was begun.
    pub tool_calls: Vec<ToolCall>,
    /// The answer.
    pub final_text: String,
    /// What it took.
    pub usage: Usage,
    /// Rounds with the model.
    pub turns: u32,
    /// How it ended.
    pub ended: Ended,
    /// What the agent says of an error.
    pub error: String,
    /// What could not be read.
    pub skipped: Skipped,
}

/// Formats of transcripts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Claude Code's `--output-format stream-json`.
    ClaudeStream,
    /// Claude Code's session log.
    ClaudeSession,
    /// Codex' `exec --json`.
    CodexExec,
    /// Codex' session log.
    CodexSession,
    /// OpenAI's Chat Completions.
    OpenaiChat,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    AnthropicMessages,
    /// Gemini CLI's `--output-format stream-json`.
    GeminiStream,
    /// The Agent Trajectory Interchange Format.
    Atif,
    /// Text or Markdown: all of it is the answer.
    #[default]
    Plain,
}

/// One step of a transcript.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step<'a> {
    /// Something was said.
    Said(&'a Message),
    /// Something was done.
    Done(&'a ToolCall),
}

impl Transcript {
    /// What was said and done, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<Step<'_>> {
        let mut steps = Vec::with_capacity(self.messages.len() + self.tool_calls.len());
        let mut calls = self.tool_calls.iter();
        let mut begun = 0;
        for message in &self.messages {
            let due = message.after_calls.saturating_sub(begun);
            steps.extend(calls.by_ref().take(due).map(Step::Done));
            begun += due;
            steps.push(Step::Said(message));
        }
        steps.extend(calls.map(Step::Done));
        steps
    }
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::ClaudeStream,
        Self::ClaudeSession,
        Self::CodexExec,
        Self::CodexSession,
        Self::OpenaiChat,
        Self::OpenaiResponses,
        Self::AnthropicMessages,
        Self::GeminiStream,
        Self::Atif,
        Self::Plain,
    ];

    /// Its name on the command line and in descriptors.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeStream => "claude-stream",
            Self::ClaudeSession => "claude-session",
            Self::CodexExec => "codex-exec",
            Self::CodexSession => "codex-session",
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GeminiStream => "gemini-stream",
            Self::Atif => "atif",
            Self::Plain => "plain",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions.
    System,
    /// Whoever asks.
    User,
    /// The agent.
    Agent,
    /// The agent, to itself.
    Reasoning,
}

impl Role {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Reasoning => "reasoning",
        }
    }
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// By whom.
    pub role: Role,
    /// What.
    pub text: String,
    /// When, as the agent writes times.
    pub time: Option<jiff::Timestamp>,
    /// The agent's id of the message: parts with the same id belong together.
    pub id: String,
    /// Whether a sub-agent said it: it is no part of the answer.
    pub is_aside: bool,
    /// Calls that were begun before it: its place among them.
    pub after_calls: usize,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The agent's id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
    /// What came back; none if nothing did.
    pub result: Option<String>,
    /// Whether what came back is an error.
    pub is_error: bool,
    /// When it was begun.
    pub started: Option<jiff::Timestamp>,
    /// When it ended.
    pub ended: Option<jiff::Timestamp>,
}

/// What a replay took. Nothing is assumed where the agent doesn't say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens read, without those from a cache.
    pub input_tokens: u64,
    /// Tokens read from a cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars.
    pub cost: Option<f64>,
}

impl Usage {
    /// Counts of an agent whose count of what was read holds what came from a cache.
    pub(crate) fn with_cached(input: u64, cached: u64, output: u64) -> Self {
        let input_tokens = input.saturating_sub(cached);
        Self { input_tokens, cached_tokens: cached, output_tokens: output, cost: None }
    }

    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.cost = match (self.cost, other.cost) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
    }

    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.cached_tokens + self.output_tokens
    }
}

/// How a transcript ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ended {
    /// The agent was done.
    Finished,
    /// It was not allowed more rounds.
    TurnLimit,
    /// With an error.
    Error,
    /// It says nothing of an end.
    #[default]
    Unknown,
}

impl Ended {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TurnLimit => "turn limit",
            Self::Error => "error",
            Self::Unknown => "not said",
        }
    }
}

/// What of a transcript could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines that are no JSON.
    pub broken_lines: usize,
    /// Kinds of events that are not known, and how many of each.
    pub kinds: BTreeMap<String, usize>,
}

impl Skipped {
    /// In one line; nothing where nothing was skipped.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        if self.broken_lines > 0 {
            parts.push(format!("{} lines that are no JSON", self.broken_lines));
        }
        parts.extend(self.kinds.iter().map(|(kind, count)| format!("{count} of {kind:?}")));
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Kinds that are counted apart; more are counted together.
const MAX_KINDS: usize = 50;

/// A transcript in the making: what all formats write to.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) transcript: Transcript,
    /// The answer that the agent itself marks as such.
    pub(crate) answer: Option<String>,
    /// Totals that the agent gives; they replace what was added up.
    pub(crate) total_usage: Option<Usage>,
    pub(crate) cost: Option<f64>,
}

impl Draft {
    pub(crate) fn say(&mut self, role: Role, id: &str, text: &str, time: Option<jiff::Timestamp>, is_aside: bool) {
        if text.trim().is_empty() {
            return;
        }
        let after_calls = self.transcript.tool_calls.len();
        let (id, text) = (id.to_owned(), text.to_owned());
        self.transcript.messages.push(Message { role, text, time, id, is_aside, after_calls });
    }

    /// Adds to what the last message of that role says: streams give a text in pieces.
    pub(crate) fn say_more(&mut self, role: Role, text: &str) {
        let calls = self.transcript.tool_calls.len();
        match self.transcript.messages.last_mut() {
            Some(last) if last.role == role && last.after_calls == calls => last.text.push_str(text),
            _ => self.say(role, "", text, None, false),
        }
    }

    pub(crate) fn call(&mut self, id: &str, name: &str, arguments: Value, time: Option<jiff::Timestamp>) {
        self.transcript.tool_calls.push(ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments,
            result: None,
            is_error: false,
            started: time,
            ended: None,
        });
    }

    pub(crate) fn result(&mut self, id: &str, text: String, is_error: bool, time: Option<jiff::Timestamp>) {
        // The call stands near the end as a rule.
        let call = self.transcript.tool_calls.iter_mut().rev().find(|call| call.id == id);
        if let Some(call) = call {
            call.result = Some(text);
            call.is_error = is_error;
            call.ended = time;
        }
    }

    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.transcript.tool_calls.iter().rev().any(|call| call.id == id)
    }

    pub(crate) fn skip(&mut self, kind: &str) {
        let kinds = &mut self.transcript.skipped.kinds;
        let kind: String = if kinds.len() < MAX_KINDS { kind.chars().take(60).collect() } else { "others".to_owned() };
        *kinds.entry(kind).or_default() += 1;
    }

    pub(crate) fn fail(&mut self, ended: Ended, message: &str) {
        self.transcript.ended = ended;
        if !message.trim().is_empty() {
            message.trim().clone_into(&mut self.transcript.error);
        }
    }

    /// The transcript. The answer is what the agent marks as such, else the agent's last message with all its parts.
    pub(crate) fn finish(mut self) -> Transcript {
        let messages = &self.transcript.messages;
        let spoken = || messages.iter().rev().filter(|one| one.role == Role::Agent && !one.is_aside);
        let last = spoken().next();
        let parts = spoken().take_while(|one| {
            last.is_some_and(|last| !last.id.is_empty() && one.id == last.id)
                || last.is_some_and(|last| std::ptr::eq(*one, last))
        });
        let mut parts: Vec<&str> = parts.map(|one| one.text.as_str()).collect();
        parts.reverse();
        self.transcript.final_text =
            self.answer.take().filter(|answer| !answer.trim().is_empty()).unwrap_or_else(|| parts.join("\n"));
        if let Some(total) = self.total_usage {
            self.transcript.usage = Usage { cost: self.transcript.usage.cost, ..total };
        }
        if self.cost.is_some() {
            self.transcript.usage.cost = self.cost;
        }
        self.transcript
    }
}
