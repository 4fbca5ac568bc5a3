//! Agents that are services: a conversation over HTTP in which the model lists and reads the skill's files.

use std::time::{Duration, Instant};

use hindcast_http::{Client, Credentials, HttpError, Retry};
use hindcast_transcript::Format;
use serde_json::{Value, json};

use crate::command::{Failed, Tried};
use crate::confine::Confinement;
use crate::descriptor::{Protocol, Service};
use crate::pack::SkillPack;

/// Tokens of one answer at most, where the service must be told.
const MAX_TOKENS: u32 = 8192;

/// The largest part of a file that is given at once.
const MAX_READ: usize = 200_000;

/// A service, ready to be asked.
#[derive(Debug)]
pub(crate) struct Api {
    service: Service,
    base_url: String,
    client: Client,
}

impl Api {
    /// The key and the address come from the environment.
    pub(crate) fn new(
        service: &Service,
        environment: &dyn Fn(&str) -> Option<String>,
        retry: Retry,
    ) -> Result<Self, String> {
        let base_url = environment(&service.base_url_variable).unwrap_or_else(|| service.base_url.clone());
        let base_url = base_url.trim_end_matches('/').to_owned();
        let key = environment(&service.key_variable);
        let is_local =
            ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|local| base_url.starts_with(local));
        if key.is_none() && !is_local {
            return Err(format!(
                "{} is not set: the key of the service is taken from the environment",
                service.key_variable
            ));
        }
        if !base_url.starts_with("https://") && !is_local {
            return Err(format!("{base_url} is not encrypted; a key is sent over https only"));
        }
        let credentials = key.map(|key| match service.protocol {
            Protocol::Anthropic => Credentials::header("x-api-key", key),
            Protocol::Openai => Credentials::bearer(&key),
        });
        let client = Client::new(credentials, retry, "check the key in the environment");
        Ok(Self { service: service.clone(), base_url, client })
    }

    /// One conversation, to the model's last word.
    pub(crate) fn converse(
        &self,
        model: &str,
        prompt: &str,
        pack: Option<&SkillPack>,
        turns: u32,
        time: Duration,
    ) -> Tried {
        let began = Instant::now();
        let (mut conversation, format) = match self.service.protocol {
            Protocol::Anthropic => (Conversation::anthropic(model, prompt), Format::AnthropicMessages),
            Protocol::Openai => (Conversation::openai(model, prompt), Format::OpenaiChat),
        };
        let mut failure = None;
        for turn in 0..=turns {
            if turn == turns {
                failure = Some(Failed::for_good(format!("the model gave no answer within {turns} turns")));
                break;
            }
            if began.elapsed() >= time {
                failure = Some(Failed::for_good(format!("the model gave no answer within {} s", time.as_secs())));
                break;
            }
            let answer = match self.service.protocol {
                Protocol::Anthropic => self.ask_anthropic(&conversation, pack.is_some()),
                Protocol::Openai => self.ask_openai(&conversation, pack.is_some()),
            };
            let message = match answer {
                Ok(message) => message,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            };
            if !conversation.take(&message, self.service.protocol, pack) {
                break;
            }
        }
        let transcript = conversation.document().to_string().into_bytes();
        let given = format!("{prompt}\n{}", String::from_utf8_lossy(&transcript));
        let confinement = Confinement::NotNeeded;
        Tried { transcript, format: Some(format), stderr: Vec::new(), failure, confinement, given }
    }

    fn ask_anthropic(&self, conversation: &Conversation, has_skill: bool) -> Result<Value, Failed> {
        let mut body = json!({
            "model": conversation.model,
            "max_tokens": self.service.max_tokens.unwrap_or(MAX_TOKENS),
            "messages": conversation.plain_messages(),
        });
        if has_skill {
            body["tools"] = tools()
                .into_iter()
                .map(|(name, about, schema)| json!({"name": name, "description": about, "input_schema": schema}))
                .collect();
        }
        let address = format!("{}/v1/messages", self.base_url);
        let answer = self
            .client
            .post(&address, &[("anthropic-version", "2023-06-01")], &body)
            .map_err(|error| failed(&error))?;
        if answer["content"].is_array() {
            Ok(answer)
        } else {
            Err(Failed { reason: "the service's answer holds no content".to_owned(), is_transient: true })
        }
    }

    fn ask_openai(&self, conversation: &Conversation, has_skill: bool) -> Result<Value, Failed> {
        let mut body = json!({"model": conversation.model, "messages": conversation.plain_messages()});
        // Not every service that speaks like OpenAI's knows the name of its limit.
        if let Some(most) = self.service.max_tokens {
            body["max_completion_tokens"] = json!(most);
        }
        if has_skill {
            let function = |(name, about, schema)| json!({"type": "function", "function": {"name": name, "description": about, "parameters": schema}});
            body["tools"] = tools().into_iter().map(function).collect();
        }
        let address = format!("{}/chat/completions", self.base_url);
        let answer = self.client.post(&address, &[], &body).map_err(|error| failed(&error))?;
        if answer["choices"][0]["message"].is_object() {
            Ok(answer)
        } else {
            Err(Failed { reason: "the service's answer holds no message".to_owned(), is_transient: true })
        }
    }
}

fn failed(error: &HttpError) -> Failed {
    let is_transient = match error.status() {
        Some(status) => status == 429 || status >= 500,
        None => !matches!(error, HttpError::Unreachable { .. }),
    };
    Failed { reason: error.to_string(), is_transient }
}

fn tools() -> [(&'static str, &'static str, Value); 2] {
    [
        ("list_files", "Lists the files of the skill.", json!({"type": "object", "properties": {}})),
        (
            "read_file",
            "Reads a file of the skill.",
            json!({"type": "object", "properties": {"path": {"type": "string", "description": "As list_files gives it, for example references/io-jitter.md"}}, "required": ["path"]}),
        ),
    ]
}

/// What a tool gives back, and whether it is an error.
fn call_tool(name: &str, arguments: &Value, pack: Option<&SkillPack>) -> (String, bool) {
    let files: Vec<&str> = pack.into_iter().flat_map(|pack| &pack.files).map(|file| file.path.as_str()).collect();
    match name {
        "list_files" => (files.join("\n"), false),
        "read_file" => {
            let path = arguments["path"].as_str().unwrap_or_default().trim_start_matches("./");
            let name = pack.map_or("", |pack| pack.name.as_str());
            let inside = path.strip_prefix(name).map_or(path, |rest| rest.trim_start_matches('/'));
            match pack.and_then(|pack| pack.file(path).or_else(|| pack.file(inside))) {
                Some(file) => {
                    let text = String::from_utf8_lossy(&file.bytes);
                    (text[..text.floor_char_boundary(MAX_READ)].to_owned(), false)
                }
                None => (format!("{path:?} is not in the skill; its files are:\n{}", files.join("\n")), true),
            }
        }
        other => (format!("there is no tool {other:?}"), true),
    }
}

struct Conversation {
    model: String,
    /// Messages as the service wants them, with the usage of each answer beside them.
    messages: Vec<Value>,
    /// What the service says of the last answer's end.
    reason: Value,
    usage: [u64; 3],
}

impl Conversation {
    fn anthropic(model: &str, prompt: &str) -> Self {
        let messages = vec![json!({"role": "user", "content": [{"type": "text", "text": prompt}]})];
        Self { model: model.to_owned(), messages, reason: Value::Null, usage: [0; 3] }
    }

    fn openai(model: &str, prompt: &str) -> Self {
        let messages = vec![json!({"role": "user", "content": prompt})];
        Self { model: model.to_owned(), messages, reason: Value::Null, usage: [0; 3] }
    }

    /// The messages without what only the transcript needs.
    fn plain_messages(&self) -> Vec<Value> {
        let plain = self.messages.iter().map(|message| json!({"role": message["role"], "content": message["content"], "tool_calls": message["tool_calls"], "tool_call_id": message["tool_call_id"]}));
        plain
            .map(|mut message| {
                if let Some(fields) = message.as_object_mut() {
                    fields.retain(|key, value| key == "role" || !value.is_null());
                }
                message
            })
            .collect()
    }

    /// Takes an answer, and calls the tools that it asks for. False when it is the last word.
    fn take(&mut self, answer: &Value, protocol: Protocol, pack: Option<&SkillPack>) -> bool {
        match protocol {
            Protocol::Anthropic => {
                let results: Vec<Value> = answer["content"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|block| block["type"] == "tool_use")
                    .map(|call| {
                        let (text, is_error) =
                            call_tool(call["name"].as_str().unwrap_or_default(), &call["input"], pack);
                        json!({"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": is_error})
                    })
                    .collect();
                let mut message = json!({"role": "assistant", "content": answer["content"]});
                for key in ["id", "usage", "stop_reason", "model"] {
                    message[key] = answer[key].clone();
                }
                self.messages.push(message);
                if results.is_empty() {
                    return false;
                }
                self.messages.push(json!({"role": "user", "content": results}));
                true
            }
            Protocol::Openai => {
                let choice = &answer["choices"][0];
                self.reason = choice["finish_reason"].clone();
                let usage = &answer["usage"];
                let counts = [
                    &usage["prompt_tokens"],
                    &usage["prompt_tokens_details"]["cached_tokens"],
                    &usage["completion_tokens"],
                ];
                for (sum, count) in self.usage.iter_mut().zip(counts) {
                    *sum += count.as_u64().unwrap_or_default();
                }
                let message = choice["message"].clone();
                let calls: Vec<Value> = message["tool_calls"].as_array().cloned().unwrap_or_default();
                self.messages.push(message);
                for call in &calls {
                    let function = &call["function"];
                    let arguments = function["arguments"]
                        .as_str()
                        .and_then(|text| serde_json::from_str(text).ok())
                        .unwrap_or_default();
                    let (text, _) = call_tool(function["name"].as_str().unwrap_or_default(), &arguments, pack);
                    self.messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": text}));
                }
                !calls.is_empty()
            }
        }
    }

    /// The conversation as a transcript.
    fn document(&self) -> Value {
        let mut document = json!({"model": self.model, "messages": self.messages});
        if self.usage != [0; 3] {
            let [input, cached, output] = self.usage;
            document["usage"] = json!({"prompt_tokens": input, "prompt_tokens_details": {"cached_tokens": cached}, "completion_tokens": output});
        }
        if !self.reason.is_null() {
            document["finish_reason"] = self.reason.clone();
        }
        document
    }
}
