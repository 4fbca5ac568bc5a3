//! Completions and the manual page, from the same arguments that are parsed.

use std::path::Path;

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

pub(crate) fn man_page(dir: Option<&Path>) -> Result<Outcome, Failure> {
    if let Some(dir) = dir {
        let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Arguments::command(), dir));
        written.map_err(|error| Failure::io("write manual pages to", dir, &error))?;
        return Ok(Outcome::Clean);
    }
    let mut out = Vec::new();
    let mut command = Arguments::command();
    command.build();
    let written = clap_mangen::Man::new(command).render(&mut out);
    written.map_err(|error| Failure::new(format!("can't render the manual page: {error}")))?;
    output::print(&String::from_utf8_lossy(&out))?;
    Ok(Outcome::Clean)
}
