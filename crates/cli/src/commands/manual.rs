//! Completions and the manual page, from the same arguments that are parsed.

use clap::CommandFactory as _;

use crate::args::Arguments;
use crate::failure::{Failure, Outcome};
use crate::output;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Outcome, Failure> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "hindcast", &mut out);
    output::print(&String::from_utf8_lossy(&out))?;
    Ok(Outcome::Clean)
}

pub(crate) fn man_page() -> Result<Outcome, Failure> {
    let mut out = Vec::new();
    let mut command = Arguments::command();
    command.build();
    let written = clap_mangen::Man::new(command).render(&mut out);
    written.map_err(|error| Failure::new(format!("can't render the manual page: {error}")))?;
    output::print(&String::from_utf8_lossy(&out))?;
    Ok(Outcome::Clean)
}
