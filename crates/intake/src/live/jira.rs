//! Jira's REST API: the old search of Data Center, the new one of the cloud.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::export::{Item, Sink};
use crate::source::{Content, FieldNames, Form, Record};
use hindcast_http::{Client, Credentials, HttpError, Retry};

/// Issues a page; the cloud gives no more with all fields.
const PAGE: usize = 50;

/// Comments and changes a page.
const PART: usize = 100;

/// Where credentials come from.
const HINT: &str = "set HINDCAST_JIRA_TOKEN, for an account's API token also HINDCAST_JIRA_USER";

/// A search of a live Jira.
#[derive(Debug)]
pub struct LiveJira {
    site: String,
    jql: String,
    client: Client,
    journal: Option<PathBuf>,
}

/// Why a search can't be done, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The address is none of a site.
    #[error("{0:?} is no address of a Jira; expected one like https://jira.example.com")]
    Address(String),
    /// The credentials would be readable on the way.
    #[error("{0} would carry the token unencrypted; use https://")]
    Unencrypted(String),
    /// The server did not answer as it should.
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// Where a search goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// The old search, by number.
    StartAt(usize),
    /// The new one, by token; none for its first page.
    Token(Option<String>),
}

impl LiveJira {
    /// A search at a site. `environment` gives the credentials: `HINDCAST_JIRA_TOKEN` alone is a bearer token, with
    /// `HINDCAST_JIRA_USER` an account's. In the folder `journal` an interrupted search remembers where it stopped.
    ///
    /// # Errors
    /// When the address is none, or would carry the credentials unencrypted.
    pub fn new(
        site: &str,
        jql: &str,
        environment: &dyn Fn(&str) -> Option<String>,
        journal: Option<&Path>,
        retry: Retry,
    ) -> Result<Self, LiveError> {
        let site = site.trim().trim_end_matches('/');
        let host = site.strip_prefix("https://").or_else(|| site.strip_prefix("http://"));
        let Some(host) = host.filter(|host| !host.is_empty() && !host.contains(['@', '?', '#', ' '])) else {
            // What stands before an @ is a password as often as not.
            return Err(LiveError::Address(site.rsplit('@').next().unwrap_or_default().to_owned()));
        };
        let token = environment("HINDCAST_JIRA_TOKEN");
        let is_local = ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| host.starts_with(local));
        if token.is_some() && site.starts_with("http://") && !is_local {
            return Err(LiveError::Unencrypted(site.to_owned()));
        }
        let credentials = token.map(|token| match environment("HINDCAST_JIRA_USER") {
            Some(user) => Credentials::basic(&user, &token),
            None => Credentials::bearer(&token),
        });
        // Pages by number need an order that holds while tickets change.
        let is_ordered = jql.to_lowercase().contains("order by");
        let jql = if is_ordered { jql.to_owned() } else { format!("{jql} ORDER BY key ASC").trim().to_owned() };
        let journal = journal.map(|dir| dir.join(format!("jira-{:016x}.json", fingerprint(&[site, &jql]))));
        Ok(Self { site: site.to_owned(), jql, client: Client::new(credentials, retry, HINT), journal })
    }

    /// Gives every issue of the search to `sink`, whole. After an interruption it goes on where it stopped.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in the end. What came before has been given out.
    pub fn read(&self, sink: &mut Sink<'_>) -> Result<(), LiveError> {
        let names = Arc::new(self.field_names(sink));
        let mut next = match self.resume() {
            Some(next) => next,
            None => self.first_page()?,
        };
        loop {
            let page = match (self.page(&next, PAGE), &next) {
                (Ok(page), _) => page,
                (Err(HttpError::NotJson { .. } | HttpError::Transport { .. }), Next::StartAt(start)) => {
                    // One issue breaks the page: the others are asked for one by one.
                    let Some(after) = self.one_by_one(*start, &names, sink)? else { break };
                    next = Next::StartAt(after);
                    continue;
                }
                // A token that has expired: from the start, what is there already is passed over.
                (Err(HttpError::Status { status: 400, .. }), Next::Token(Some(_))) => {
                    next = Next::Token(None);
                    continue;
                }
                (Err(error), _) => return Err(error.into()),
            };
            let issues = page["issues"].as_array().map(Vec::as_slice).unwrap_or_default();
            for issue in issues {
                if self.give(issue.clone(), &names, &next, sink)?.is_break() {
                    return {
                        self.forget();
                        Ok(())
                    };
                }
            }
            let Some(after) = following(&next, &page, issues.len()) else { break };
            next = after;
            if sink(Item::Checkpoint).is_break() {
                return {
                    self.forget();
                    Ok(())
                };
            }
            self.remember(&next);
        }
        self.forget();
        Ok(())
    }

    /// Names of fields by id; without them custom fields are found by their configured ids only.
    fn field_names(&self, sink: &mut Sink<'_>) -> FieldNames {
        match self.client.get(&format!("{}/rest/api/2/field", self.site), &[]) {
            Ok(fields) => {
                let field =
                    |field: &Value| Some((field["id"].as_str()?.to_owned(), field["name"].as_str()?.to_owned()));
                fields.as_array().into_iter().flatten().filter_map(field).collect()
            }
            Err(error) => {
                let message = format!("names of fields are not known, so only configured ids are: {error}");
                let _ = sink(Item::Remark { place: self.site.clone(), message });
                FieldNames::new()
            }
        }
    }

    /// The cloud has only the new search, Data Center only the old.
    fn first_page(&self) -> Result<Next, LiveError> {
        let probe = self.client.get(
            &self.search_address(&Next::Token(None)),
            &[("jql", &self.jql), ("maxResults", "1"), ("fields", "id")],
        );
        match probe {
            Ok(_) => Ok(Next::Token(None)),
            Err(HttpError::Status { status: 404 | 405 | 410, .. }) => Ok(Next::StartAt(0)),
            Err(error) => Err(error.into()),
        }
    }

    fn search_address(&self, next: &Next) -> String {
        match next {
            Next::StartAt(_) => format!("{}/rest/api/2/search", self.site),
            Next::Token(_) => format!("{}/rest/api/3/search/jql", self.site),
        }
    }

    fn page(&self, next: &Next, size: usize) -> Result<Value, HttpError> {
        let (size, start) = (size.to_string(), start_at(next).to_string());
        let mut query = vec![
            ("jql", self.jql.as_str()),
            ("maxResults", size.as_str()),
            ("fields", "*all"),
            ("expand", "changelog"),
        ];
        match next {
            Next::StartAt(_) => query.push(("startAt", &start)),
            Next::Token(Some(token)) => query.push(("nextPageToken", token)),
            Next::Token(None) => {}
        }
        self.client.get(&self.search_address(next), &query)
    }

    /// The issues of a page that can't be read as a whole; where the next page begins, if there is one.
    fn one_by_one(
        &self,
        start: usize,
        names: &Arc<FieldNames>,
        sink: &mut Sink<'_>,
    ) -> Result<Option<usize>, LiveError> {
        let mut failed = 0;
        for at in start..start + PAGE {
            let next = Next::StartAt(at);
            match self.page(&next, 1) {
                Ok(page) => {
                    let Some(issue) = page["issues"].as_array().and_then(|issues| issues.first()) else {
                        return Ok(None);
                    };
                    if self.give(issue.clone(), names, &next, sink)?.is_break() {
                        return Ok(None);
                    }
                }
                Err(error @ (HttpError::NotJson { .. } | HttpError::Transport { .. })) => {
                    failed += 1;
                    // Not one issue but the server is broken.
                    if failed > 3 {
                        return Err(error.into());
                    }
                    let place = format!("{} issue {} of the search", self.site, at + 1);
                    if sink(Item::Problem { place, message: error.to_string() }).is_break() {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(start + PAGE))
    }

    /// Gives out an issue with all of its comments and changes.
    fn give(
        &self,
        mut issue: Value,
        names: &Arc<FieldNames>,
        next: &Next,
        sink: &mut Sink<'_>,
    ) -> Result<ControlFlow<()>, LiveError> {
        let key = issue["key"].as_str().unwrap_or_default().to_owned();
        let version = if matches!(next, Next::Token(_)) { 3 } else { 2 };
        let place = format!("{}/browse/{key}", self.site);
        let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if is_key {
            let address = format!("{}/rest/api/{version}/issue/{key}", self.site);
            let parts =
                [(&["fields", "comment"][..], "comments", "comment"), (&["changelog"][..], "histories", "changelog")];
            for (path, list, part) in parts {
                let holder = path.iter().fold(&mut issue, |value, key| &mut value[*key]);
                if let Err(error) = self.complete(holder, list, &format!("{address}/{part}")) {
                    // What is missing is told by the ticket itself: it knows how many there should be.
                    let message = format!("not all of its {list} could be read: {error}");
                    if sink(Item::Remark { place: place.clone(), message }).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        let content = Content::Json(issue.to_string().into_bytes(), Arc::clone(names));
        Ok(sink(Item::Record(Record { place, form: Form::Jira, content })))
    }

    /// Fetches what a list that is a first page lacks.
    fn complete(&self, holder: &mut Value, list: &str, address: &str) -> Result<(), HttpError> {
        let total = holder["total"].as_u64().and_then(|total| usize::try_from(total).ok()).unwrap_or_default();
        let have = holder[list].as_array().map_or(0, Vec::len);
        if total <= have {
            return Ok(());
        }
        // The first page of a search holds any of them, oldest or newest: all are asked for.
        let mut all: Vec<Value> = Vec::new();
        loop {
            let start = all.len().to_string();
            let page = self.client.get(address, &[("startAt", &start), ("maxResults", &PART.to_string())])?;
            let values = page[list].as_array().or_else(|| page["values"].as_array());
            let values = values.filter(|values| !values.is_empty());
            let Some(values) = values else { break };
            all.extend(values.iter().cloned());
            let total = page["total"].as_u64().and_then(|total| usize::try_from(total).ok()).unwrap_or(total);
            if all.len() >= total || page["isLast"] == true {
                break;
            }
        }
        if all.len() > have {
            holder[list] = Value::Array(all);
        }
        Ok(())
    }

    fn resume(&self) -> Option<Next> {
        let text = std::fs::read_to_string(self.journal.as_ref()?).ok()?;
        let journal: Value = serde_json::from_str(&text).ok()?;
        let is_ours = journal["site"] == self.site.as_str() && journal["jql"] == self.jql.as_str();
        match (&journal["start_at"], &journal["token"]) {
            _ if !is_ours => None,
            (Value::Number(start), _) => Some(Next::StartAt(usize::try_from(start.as_u64()?).ok()?)),
            (_, Value::String(token)) => Some(Next::Token(Some(token.clone()))),
            _ => None,
        }
    }

    /// A journal that can't be written costs only the way back.
    fn remember(&self, next: &Next) {
        let Some(path) = &self.journal else { return };
        let (start_at, token) = match next {
            Next::StartAt(at) => (Some(at), None),
            Next::Token(token) => (None, token.as_ref()),
        };
        let journal = json!({"site": self.site, "jql": self.jql, "start_at": start_at, "token": token});
        let _ = std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")));
        let fresh = path.with_extension("new");
        if std::fs::write(&fresh, journal.to_string()).is_ok() {
            let _ = std::fs::rename(fresh, path);
        }
    }

    fn forget(&self) {
        if let Some(path) = &self.journal {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn start_at(next: &Next) -> usize {
    match next {
        Next::StartAt(at) => *at,
        Next::Token(_) => 0,
    }
}

/// Where the next page begins; none behind the last.
fn following(next: &Next, page: &Value, issues: usize) -> Option<Next> {
    match next {
        Next::StartAt(at) => {
            let after = at + issues;
            let total = page["total"].as_u64().and_then(|total| usize::try_from(total).ok());
            (issues > 0 && total.is_none_or(|total| after < total)).then_some(Next::StartAt(after))
        }
        Next::Token(old) => {
            let token = page["nextPageToken"].as_str().map(str::to_owned);
            // A server that repeats itself would go on for ever.
            (page["isLast"] != true && token.is_some() && token != *old).then_some(Next::Token(token))
        }
    }
}

fn fingerprint(parts: &[&str]) -> u64 {
    // FNV-1a: the same on every machine and in every version.
    parts
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
