//! Issues of GitHub from its REST API.

use std::sync::Arc;

use serde_json::Value;

use crate::export::{Item, Sink};
use crate::source::{Content, FieldNames, Form, Record};
use hindcast_http::{Client, Credentials, HttpError, Retry};

/// Entries a page, the most that GitHub gives.
const PAGE: usize = 100;

/// Pages of comments or events that are read of one issue.
const MAX_PAGES: usize = 200;

/// An issue by repository and number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubIssue {
    owner: String,
    repository: String,
    number: u64,
}

impl GithubIssue {
    /// Reads `tikv/tikv#18274`, or the address of the issue's page.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let path = text.split_once("github.com/").map_or(text, |(_, path)| path).replace("/issues/", "#");
        let (repository, number) = path.split_once('#')?;
        let (owner, repository) = repository.split_once('/')?;
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        let number = number.trim_end_matches('/').parse().ok()?;
        (is_name(owner) && is_name(repository)).then(|| Self {
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            number,
        })
    }
}

/// Gives each issue with its comments and timeline to `sink`. `environment` gives `GITHUB_TOKEN`, which raises GitHub's
/// limits, and `GITHUB_API_URL` of a GitHub Enterprise.
///
/// # Errors
/// When GitHub refuses the credentials. An issue that can't be read is told to the sink, and the others go on.
pub fn read_github(
    issues: &[GithubIssue],
    environment: &dyn Fn(&str) -> Option<String>,
    retry: Retry,
    sink: &mut Sink<'_>,
) -> Result<(), HttpError> {
    let api = environment("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".to_owned());
    let credentials = environment("GITHUB_TOKEN").map(|token| Credentials::bearer(&token));
    let client = Client::new(credentials, retry, "set GITHUB_TOKEN; without it GitHub allows 60 requests an hour");
    for GithubIssue { owner, repository, number } in issues {
        let place = format!("{owner}/{repository}#{number}");
        let address = format!("{}/repos/{owner}/{repository}/issues/{number}", api.trim_end_matches('/'));
        let item = match thread(&client, &address) {
            Ok(issue) => {
                let content = Content::Json(issue.to_string().into_bytes(), Arc::new(FieldNames::new()));
                Item::Record(Record { place, form: Form::Github, content })
            }
            Err(error @ HttpError::Unauthorised { .. }) => return Err(error),
            Err(error) => Item::Problem { place, message: error.to_string() },
        };
        if sink(item).is_break() {
            break;
        }
    }
    Ok(())
}

fn thread(client: &Client, address: &str) -> Result<Value, HttpError> {
    let mut issue = client.get(address, &[])?;
    issue["comments"] = Value::Array(pages(client, &format!("{address}/comments"))?);
    issue["timeline"] = Value::Array(pages(client, &format!("{address}/timeline"))?);
    Ok(issue)
}

fn pages(client: &Client, address: &str) -> Result<Vec<Value>, HttpError> {
    let mut all = Vec::new();
    for page in 1..=MAX_PAGES {
        let entries = client.get(address, &[("per_page", &PAGE.to_string()), ("page", &page.to_string())])?;
        let Value::Array(entries) = entries else { break };
        let count = entries.len();
        all.extend(entries);
        if count < PAGE {
            break;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_are_named_in_two_ways() {
        let issue = GithubIssue { owner: "tikv".to_owned(), repository: "tikv".to_owned(), number: 18274 };
        assert_eq!(GithubIssue::parse("tikv/tikv#18274"), Some(issue.clone()));
        assert_eq!(GithubIssue::parse("https://github.com/tikv/tikv/issues/18274"), Some(issue));
        for text in ["tikv#1", "tikv/tikv", "a/b#x", "a/../c#1", "/b#1", "a b/c#1"] {
            assert_eq!(GithubIssue::parse(text), None, "{text}");
        }
    }
}
