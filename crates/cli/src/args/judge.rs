//! The arguments of `hindcast judge`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, run::seconds};

#[derive(Debug, Args)]
#[command(
    after_help = "A model is asked for a verdict on each case of a run, on the same rubric, with both conclusions and how the atlas relates them, several times; which side is told first takes turns. It is not told the rubric's verdict. Its opinion stands beside the run, in RUN/judgements.jsonl, and changes nothing; where it differs, the case comes first in hindcast review. hindcast calibrate --reviews tells how far each judge agrees with people.\n\n\
                  Nothing is asked unless you name a judge: texts of tickets and conclusions go to it. Keys are taken from the environment alone (ANTHROPIC_API_KEY, OPENAI_API_KEY).\n\n\
                  Exit codes:\n  0  every case has an opinion\n  1  some have none: refusals, garbage, failures, ties, or it was ended early\n  2  bad usage or input\n\n\
                  Examples:\n  hindcast judge casebook --with anthropic --model MODEL --max-cost 5\n  \
                  hindcast judge casebook/.hindcast/runs/run-0001 --with command --command 'my-judge --brief {prompt_file}'"
)]
pub(crate) struct JudgeArguments {
    /// The run, or a casebook for its last run
    pub(crate) run: PathBuf,
    /// Whom to ask: anthropic, openai, command, claude, codex, gemini, or a .toml file
    #[arg(long = "with", value_name = "RUNNER")]
    pub(crate) judge: String,
    /// Command line of --with command; the brief is its standard input, or {prompt} or {prompt_file} in it
    #[arg(long, value_name = "LINE")]
    pub(crate) command: Option<String>,
    /// Model [default: the runner's own]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Votes on each case
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=25))]
    pub(crate) votes: u32,
    /// Only these incidents
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// So many cases at most, those first where a person's look is worth most
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Ask again where there is an opinion already
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Cases at once
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) jobs: usize,
    /// US dollars at most; cases in flight are finished
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Seconds of one answer at most
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0, value_parser = seconds)]
    pub(crate) timeout: f64,
    /// Further tries when the service is busy
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) retries: u32,
    /// For the order in which the sides are told
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Output on standard output
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}
