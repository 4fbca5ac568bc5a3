//! The command line: arguments in, one library call, output out. No logic of its own.

mod args;
mod commands;
mod failure;
mod output;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Arguments, AtlasCommand, Command, SkillCommand, SuggestFormat};
use crate::failure::{Failure, Outcome};

/// Small allocations from two threads are what a run spends its time on.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match dispatch(&arguments) {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}

fn dispatch(arguments: &Arguments) -> Result<Outcome, Failure> {
    let atlas = || commands::atlas::load(arguments.atlas.as_deref());
    match &arguments.command {
        Command::Import(import) => commands::import::run(import, atlas()?),
        Command::Run(run) => commands::run::run(run, atlas()?),
        Command::Diff { before, after, format } => commands::diff::run(before, after, *format),
        Command::Suggest { run, skill, least, patch, format } => {
            let format = if *patch { SuggestFormat::Patch } else { *format };
            commands::suggest::run(run, skill.as_deref(), *least, format)
        }
        Command::Review(review) => commands::review::run(review, atlas()?),
        Command::Judge(judge) => commands::judge::run(judge, atlas()?),
        Command::Gate { run, rules } => commands::gate::run(run, rules),
        Command::Report { run, format } => commands::runs::report(run, *format),
        Command::Runs(command) => commands::runs::run(command),
        Command::Check(check) => commands::check::run(check),
        Command::Explain { code } => commands::explain::run(code),
        Command::Schema => output::print(&hindcast_case::json_schema()).map(|()| Outcome::Clean),
        Command::Atlas(AtlasCommand::Check { format }) => {
            commands::atlas::check_folder(arguments.atlas.as_deref(), *format)
        }
        Command::Atlas(command) => commands::atlas::run(command, &atlas()?),
        Command::Skill(SkillCommand::Check { dir, format }) => commands::skill::check(dir, *format),
        Command::Transcript(command) => commands::transcript::run(command, &atlas()?),
        Command::Compare(compare) => commands::compare::run(compare, atlas()?),
        Command::Calibrate(calibrate) => commands::calibrate::run(calibrate, atlas()?),
        Command::Extract(extract) => commands::extract::run(extract, atlas()?),
        Command::Completions { shell } => commands::manual::completions(*shell),
        Command::Man { dir } => commands::manual::man_page(dir.as_deref()),
    }
}
