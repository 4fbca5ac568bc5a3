//! Writing to the terminal and to files.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::Path;

use hindcast_report::Colours;

use crate::failure::Failure;

/// Prints to standard output. A reader that has gone (`| head`) ends the program quietly.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Failure::new(format!("can't write to standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Prints JSON, indented, with a newline.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Colours for standard output: on a terminal, unless `NO_COLOR` or a dumb terminal says no.
pub(crate) fn colours() -> Colours {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => Colours::Off,
        _ => Colours::On,
    }
}

/// The width of the terminal on standard output; none when it is none.
pub(crate) fn width() -> Option<u16> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| width.0.max(60))
}

/// Writes a file so that a reader sees the old or the new content, never a part.
pub(crate) fn write_atomically(path: &Path, text: &str) -> Result<(), Failure> {
    hindcast_files::write_whole(path, text.as_bytes()).map_err(|error| Failure::io("write", path, &error))
}

/// A bar on standard error for `count` of `what`; nothing where that is no terminal.
pub(crate) fn progress_bar(count: usize, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(count).unwrap_or(u64::MAX));
    let style = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {what}, {{eta}} left"));
    bar.with_style(style.expect("the template is valid"))
}
