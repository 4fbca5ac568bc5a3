//! How a command ends.

use std::path::Path;

/// A command that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to report: exit code 0.
    Clean,
    /// A finding, or a gate that failed: exit code 1.
    Findings,
}

/// A command that could not do its work: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Adds what to do about it.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A file or folder that could not be read or written.
    pub(crate) fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("can't {doing} {}: {error}", path.display()))
    }

    pub(crate) fn print(&self) {
        anstream::eprintln!("\u{1b}[1;31merror:\u{1b}[0m {}", self.message);
        if let Some(help) = &self.help {
            anstream::eprintln!("  \u{1b}[1mhelp:\u{1b}[0m {help}");
        }
    }
}
