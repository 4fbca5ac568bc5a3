//! Tickets from live systems.

mod github;
mod jira;

pub use github::{GithubIssue, read_github};
pub use hindcast_http::{HttpError, Retry};
pub use jira::{LiveError, LiveJira};
