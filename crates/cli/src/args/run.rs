//! The arguments of `hindcast run`.

use std::path::PathBuf;

use clap::Args;

use super::Format;
use crate::commands::gate::Gate;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes:\n  0  done\n  1  files could not be used, replays failed or are missing\n  2  bad usage or input\n\n\
                  Keys of services are taken from the environment alone (ANTHROPIC_API_KEY, OPENAI_API_KEY).\n\n\
                  Examples:\n  hindcast run casebooks/public\n  \
                  hindcast run casebook --runner claude --skill skills/tikv-slow-diagnosis --jobs 4 --max-cost 20\n  \
                  hindcast run casebook --runner claude --skill skills/tikv-slow-diagnosis --skill-ref HEAD~1\n  \
                  hindcast run casebook --runner command --command 'my-agent --in {incident} --out {answer}' --skill none\n  \
                  hindcast run casebook --runner recorded --transcripts transcripts/\n  \
                  hindcast run --resume casebook/.hindcast/runs/run-0001"
)]
pub(crate) struct RunArguments {
    /// Folder of case files
    #[arg(required_unless_present_any = ["resume", "schema_prompt"], conflicts_with = "resume")]
    pub(crate) casebook: Option<PathBuf>,
    /// How the skill is executed: builtin, recorded, command, claude, codex, gemini, anthropic, openai, or a .toml file
    #[arg(long, value_name = "RUNNER", default_value = "builtin", conflicts_with = "resume", help_heading = "Runner")]
    pub(crate) runner: String,
    /// The skill's folder; none is the agent without a skill
    #[arg(long, value_name = "DIR", conflicts_with = "resume", help_heading = "Runner")]
    pub(crate) skill: Option<PathBuf>,
    /// The skill as it was at this commit, branch or tag
    #[arg(long, value_name = "GIT_REF", requires = "skill", help_heading = "Runner")]
    pub(crate) skill_ref: Option<String>,
    /// Command line of --runner command; {prompt}, {prompt_file}, {incident}, {skill}, {answer}, {model} and {turns} are filled in
    #[arg(long, value_name = "LINE", help_heading = "Runner")]
    pub(crate) command: Option<String>,
    /// Format of the transcripts of --runner command, as hindcast transcript show tells it [default: detected]
    #[arg(long, value_name = "FORMAT", help_heading = "Runner")]
    pub(crate) transcript_format: Option<String>,
    /// Folder of transcripts of --runner recorded, named after incidents
    #[arg(long, value_name = "DIR", help_heading = "Runner")]
    pub(crate) transcripts: Option<PathBuf>,
    /// Model [default: the agent's own]
    #[arg(long, value_name = "MODEL", conflicts_with = "resume", help_heading = "Runner")]
    pub(crate) model: Option<String>,
    /// Rounds with the model at most
    #[arg(long, value_name = "N", default_value_t = 40, conflicts_with = "resume", help_heading = "Limits")]
    pub(crate) max_turns: u32,
    /// Seconds of one replay at most
    #[arg(long, value_name = "SECONDS", default_value_t = 900.0, value_parser = seconds, conflicts_with = "resume", help_heading = "Limits")]
    pub(crate) timeout: f64,
    /// MiB of output of one replay at most
    #[arg(long, value_name = "MIB", default_value_t = 64, conflicts_with = "resume", help_heading = "Limits")]
    pub(crate) max_output: usize,
    /// Further tries when the service is busy
    #[arg(long, value_name = "N", default_value_t = 4, conflicts_with = "resume", help_heading = "Limits")]
    pub(crate) retries: u32,
    /// US dollars at most; replays in flight are finished
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    pub(crate) max_cost: Option<f64>,
    /// Replays at once
    #[arg(short, long, value_name = "N", default_value_t = 4, help_heading = "Limits")]
    pub(crate) jobs: usize,
    /// Replays begun a minute at most
    #[arg(long, value_name = "N", conflicts_with = "resume", help_heading = "Limits")]
    pub(crate) per_minute: Option<u32>,
    /// How often each case is replayed
    #[arg(short = 'n', long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume", help_heading = "Which replays")]
    pub(crate) repeats: u32,
    /// Only these incidents
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with = "resume", help_heading = "Which replays")]
    pub(crate) only: Vec<String>,
    /// Only so many cases, chosen at random
    #[arg(long, value_name = "N", conflicts_with = "resume", help_heading = "Which replays")]
    pub(crate) sample: Option<usize>,
    /// For the choice of --sample, and the spread of waits
    #[arg(long, value_name = "S", default_value_t = 0, conflicts_with = "resume", help_heading = "Which replays")]
    pub(crate) seed: u64,
    /// Go on with a run: replay what is missing
    #[arg(long, value_name = "RUN", help_heading = "Which replays")]
    pub(crate) resume: Option<PathBuf>,
    /// With --resume: also what failed
    #[arg(long, requires = "resume", help_heading = "Which replays")]
    pub(crate) failed: bool,
    /// Take nothing from the cache
    #[arg(long, help_heading = "Which replays")]
    pub(crate) fresh: bool,
    /// Where the run is written [default: the next CASEBOOK/.hindcast/runs/run-NNNN]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the run that DIR holds
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Cases in the table; the report has them all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rows: usize,
    /// Rules that the run must keep, as hindcast gate takes them; exit code 1 when one is broken
    #[arg(long, value_name = "RULES", value_parser = Gate::read)]
    pub(crate) gate: Option<Gate>,
    /// Print what tells a skill how to answer, with the JSON Schema, and end
    #[arg(long)]
    pub(crate) schema_prompt: bool,
    /// Output on standard output
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        _ => Err("expected a number of seconds above 0".to_owned()),
    }
}
