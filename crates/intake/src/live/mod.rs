//! Tickets from live systems.

mod github;
mod http;
mod jira;

pub use github::{GithubIssue, read_github};
pub use http::{HttpError, Retry};
pub use jira::{LiveError, LiveJira};
