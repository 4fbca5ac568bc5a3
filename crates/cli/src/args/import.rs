//! The arguments of `hindcast import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Issues of Jira: exports of any form, or the live API
    #[command(
        after_help = "Reads REST v2 and v3 (issues, lists, search pages, JSON Lines), CSV, XML, Markdown renderings, and zips and folders of them.\n\n\
                      The live API takes its credentials from the environment alone:\n  \
                      HINDCAST_JIRA_TOKEN                        a personal access token (bearer)\n  \
                      HINDCAST_JIRA_USER and HINDCAST_JIRA_TOKEN an account and its API token (basic)\n\n\
                      Exit codes:\n  0  done; doubts are reported\n  1  tickets were skipped\n  2  the input can't be used\n\n\
                      Examples:\n  hindcast import jira export.zip --out casebook\n  hindcast import jira --url https://jira.example.com --jql 'project = GTOC AND status = Resolved'"
    )]
    Jira {
        /// Export files, or folders of them
        #[arg(required_unless_present = "url")]
        paths: Vec<PathBuf>,
        /// Site of the live API, as `https://jira.example.com`
        #[arg(long, value_name = "URL", conflicts_with = "paths", requires = "jql")]
        url: Option<String>,
        /// Which issues of the live API
        #[arg(long, value_name = "JQL", requires = "url")]
        jql: Option<String>,
        #[command(flatten)]
        options: ImportOptions,
    },
    /// Tickets of PingKai: JSON, JSON Lines or CSV through a mapping, or Markdown
    #[command(
        after_help = "Where the parts of a ticket stand is declared in hindcast.toml, a JSON Pointer or column each:\n\n  \
                      [intake.pingkai]\n  key = \"/ticket/no\"\n  title = \"/ticket/subject\"\n  comments = \"/ticket/replies\"\n  comment_body = \"/text\"\n\n\
                      Usual names in English and Chinese are known without it.\n\nExample:\n  hindcast import pingkai tickets.jsonl --out casebook"
    )]
    Pingkai {
        /// Export files, or folders of them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        options: ImportOptions,
    },
    /// Issues of GitHub: JSON files, or OWNER/REPO#N from the live API
    #[command(
        after_help = "A file holds the issue as GitHub's REST API or `gh issue view --json` gives it, with its comments under \"comments\" and its \
                      events under \"timeline\". The live API uses GITHUB_TOKEN of the environment where it is set.\n\n\
                      Examples:\n  hindcast import github thread.json --out casebook\n  hindcast import github tikv/tikv#18274"
    )]
    Github {
        /// JSON files or folders of them, or issues as OWNER/REPO#N
        #[arg(required = true, value_name = "PATH|OWNER/REPO#N")]
        threads: Vec<String>,
        #[command(flatten)]
        options: ImportOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// Folder that the cases are written to
    #[arg(long, value_name = "CASEBOOK", default_value = "casebook")]
    pub(crate) out: PathBuf,
    /// Settings [default: CASEBOOK/hindcast.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Only tickets that changed at or after this time
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Stop after this many tickets
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show a skill the tickets as of this time, instead of before the first diagnosis
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Bring in what changed in tickets that are in the casebook already; what a person wrote stays
    #[arg(long)]
    pub(crate) update: bool,
    /// Replace instances and people by names like `<tikv-1>`
    #[arg(long)]
    pub(crate) anonymise: bool,
    /// Output on standard output; json is one object a line
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}
