//! One HTTP client for all live services: JSON in and out, patience with servers that are busy.
//!
//! Invariants: certificates are verified against the machine's store; credentials are never shown; an answer's size, a
//! request's time and a server's wait are bounded.

use std::fmt;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use jiff::Timestamp;
use serde_json::Value;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// The largest answer that is read.
const MAX_BODY: u64 = 256 * 1024 * 1024;

/// No server may make an import wait longer than this at once.
const MAX_WAIT: Duration = Duration::from_mins(5);

/// How patient a client is.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// How often a request is tried.
    pub attempts: u32,
    /// The first wait after a failure; each further one is twice as long. `Retry-After` of the server counts instead.
    pub first_wait: Duration,
    /// How long one request may take.
    pub timeout: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 6, first_wait: Duration::from_secs(1), timeout: Duration::from_mins(2) }
    }
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The server wants other credentials.
    #[error("{address} answers {status}: the credentials are missing, wrong or not enough; {hint}")]
    Unauthorised {
        /// What was asked.
        address: String,
        /// 401 or 403.
        status: u16,
        /// Where credentials come from.
        hint: &'static str,
    },
    /// The server says no.
    #[error("{address} answers {status}{detail}")]
    Status {
        /// What was asked.
        address: String,
        /// The status.
        status: u16,
        /// What the server says of it.
        detail: String,
    },
    /// No answer came, or not whole.
    #[error("{address} can't be read: {reason}")]
    Transport {
        /// What was asked.
        address: String,
        /// Why.
        reason: String,
    },
    /// There is no such server.
    #[error("{address} can't be reached: {reason}; is the address right?")]
    Unreachable {
        /// What was asked.
        address: String,
        /// Why.
        reason: String,
    },
    /// The answer is no JSON.
    #[error("{address} answers with something that is no JSON: {reason}")]
    NotJson {
        /// What was asked.
        address: String,
        /// Why.
        reason: String,
    },
}

impl HttpError {
    /// The status, where the server gave one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Unauthorised { status, .. } | Self::Status { status, .. } => Some(*status),
            Self::Transport { .. } | Self::Unreachable { .. } | Self::NotJson { .. } => None,
        }
    }

    /// Whether it may pass when the same is asked again.
    fn is_passing(&self) -> bool {
        match self {
            Self::Unauthorised { .. } | Self::Unreachable { .. } => false,
            Self::Status { status, .. } => *status == 429 || *status >= 500,
            Self::Transport { .. } | Self::NotJson { .. } => true,
        }
    }
}

/// A header that lets a user in. It is never shown.
#[derive(Clone)]
pub struct Credentials {
    name: &'static str,
    value: String,
}

impl Credentials {
    /// A bearer token.
    #[must_use]
    pub fn bearer(token: &str) -> Self {
        Self::header("Authorization", format!("Bearer {}", token.trim()))
    }

    /// A key in a header of the service's own.
    #[must_use]
    pub fn header(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: value.into() }
    }

    /// A user and a token.
    #[must_use]
    pub fn basic(user: &str, token: &str) -> Self {
        Self::header("Authorization", format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{}", token.trim()))))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

/// A client of one server.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    credentials: Option<Credentials>,
    retry: Retry,
    /// Where credentials come from, for messages.
    hint: &'static str,
}

impl Client {
    /// A client. `hint` tells where credentials come from when they are refused.
    #[must_use]
    pub fn new(credentials: Option<Credentials>, retry: Retry, hint: &'static str) -> Self {
        // Companies sign their own certificates: the machine's store decides whom to trust.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(retry.timeout))
            .tls_config(tls)
            .user_agent(concat!("hindcast/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), credentials, retry, hint }
    }

    /// Asks for JSON; a busy server is asked again.
    ///
    /// # Errors
    /// When no answer came, or the server says no, also after the tries that [`Retry`] allows.
    pub fn get(&self, address: &str, query: &[(&str, &str)]) -> Result<Value, HttpError> {
        self.patiently(|| self.try_once(address, query))
    }

    /// Sends JSON and gives what comes back; a busy server is asked again.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub fn post(&self, address: &str, headers: &[(&str, &str)], body: &Value) -> Result<Value, HttpError> {
        self.patiently(|| self.post_once(address, headers, body))
    }

    fn patiently(
        &self,
        mut ask: impl FnMut() -> Result<Value, (HttpError, Option<Duration>)>,
    ) -> Result<Value, HttpError> {
        let mut wait = self.retry.first_wait;
        let mut attempt = 1;
        loop {
            let (error, told) = match ask() {
                Ok(value) => return Ok(value),
                Err(failed) => failed,
            };
            // GitHub answers 403 to too many requests, and says how long to wait.
            let is_passing = error.is_passing() || told.is_some();
            if !is_passing || attempt >= self.retry.attempts {
                return Err(error);
            }
            std::thread::sleep(told.unwrap_or(wait).min(MAX_WAIT));
            wait *= 2;
            attempt += 1;
        }
    }

    /// One request. On failure also how long the server asks to wait.
    fn try_once(&self, address: &str, query: &[(&str, &str)]) -> Result<Value, (HttpError, Option<Duration>)> {
        let mut request = self.agent.get(address).header("Accept", "application/json");
        if let Some(Credentials { name, value }) = &self.credentials {
            request = request.header(*name, value);
        }
        for (key, value) in query {
            request = request.query(key, value);
        }
        read(address, request.call(), self.hint)
    }

    fn post_once(
        &self,
        address: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, (HttpError, Option<Duration>)> {
        let mut request = self.agent.post(address).header("Accept", "application/json");
        if let Some(Credentials { name, value }) = &self.credentials {
            request = request.header(*name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        read(address, request.send_json(body), self.hint)
    }
}

/// The JSON of an answer. On failure also how long the server asks to wait.
fn read(
    address: &str,
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    hint: &'static str,
) -> Result<Value, (HttpError, Option<Duration>)> {
    let address = address.to_owned();
    let lost = |error: ureq::Error| {
        let (address, reason) = (address.clone(), error.to_string());
        let error = match error {
            ureq::Error::HostNotFound | ureq::Error::BadUri(_) => HttpError::Unreachable { address, reason },
            ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => {
                HttpError::Unreachable { address, reason }
            }
            _ => HttpError::Transport { address, reason },
        };
        (error, None)
    };
    let mut response = answer.map_err(lost)?;
    let status = response.status().as_u16();
    let told = response.headers().get("retry-after").and_then(|value| value.to_str().ok()).and_then(retry_after);
    let body = response.body_mut().with_config().limit(MAX_BODY).read_to_vec().map_err(lost)?;
    match status {
        200..=299 => serde_json::from_slice(&body).map_err(|error| {
            let reason = error.to_string();
            (HttpError::NotJson { address: address.clone(), reason }, None)
        }),
        401 | 403 => Err((HttpError::Unauthorised { address, status, hint }, told)),
        _ => Err((HttpError::Status { address, status, detail: detail(&body) }, told)),
    }
}

/// `Retry-After`: seconds, or a date.
fn retry_after(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    // A wait is about the present by nature; nothing of it reaches a result.
    Duration::try_from(at.duration_since(Timestamp::now())).ok()
}

/// What services say of an error: `errorMessages` (Jira), `message` (GitHub), `error.message` (models).
fn detail(body: &[u8]) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let messages = value["errorMessages"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let said: Vec<&str> = messages.chain(value["message"].as_str()).chain(value["error"]["message"].as_str()).collect();
    if said.is_empty() { String::new() } else { format!(": {}", shortened(&said.join("; "))) }
}

/// As much of a message as a person reads.
fn shortened(text: &str) -> String {
    let most = text.floor_char_boundary(300);
    if most == text.len() { text.to_owned() } else { format!("{}…", &text[..most]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded_and_never_shown() {
        // The example of RFC 7617.
        assert_eq!(Credentials::basic("Aladdin", "open sesame").value, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(!format!("{:?}", Credentials::bearer("s3cret")).contains("s3cret"));
        assert_eq!(retry_after("7"), Some(Duration::from_secs(7)));
    }
}
