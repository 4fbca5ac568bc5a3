//! The arguments of every command.

mod import;
mod judge;
mod run;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::gate::Gate;
pub(crate) use import::{ImportCommand, ImportOptions};
pub(crate) use judge::JudgeArguments;
pub(crate) use run::RunArguments;

/// Replay closed TiKV incidents through a diagnosis skill and compare its conclusions with the engineers'.
#[derive(Debug, Parser)]
#[command(
    name = "hindcast",
    version,
    max_term_width = 100,
    after_help = "Exit codes:\n  0  done, nothing found\n  1  a finding, or a gate that failed\n  2  bad usage or input\n\nExamples:\n  hindcast run casebooks/public\n  hindcast check casebooks/ --fix\n  hindcast compare casebooks/public/TIKV-18274.json"
)]
pub(crate) struct Arguments {
    /// Use the atlas files of this folder instead of the built-in ones
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) atlas: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make cases of closed tickets
    #[command(subcommand)]
    Import(ImportCommand),
    /// Replay a casebook through a skill and compare
    Run(RunArguments),
    /// Compare two runs: which cases flipped, and why
    #[command(
        after_help = "Cases are paired by incident id; only those that are comparable in both runs count. A run is a folder, or the name of a run beside the first.\n\nExample:\n  hindcast diff casebook/.hindcast/runs/run-0001 run-0002"
    )]
    Diff {
        /// The run before, or a casebook for its last run
        before: PathBuf,
        /// The run after
        after: PathBuf,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Say what to change in the skill, by how many cases it would move
    #[command(
        after_help = "Examples:\n  hindcast suggest casebook\n  hindcast suggest casebook/.hindcast/runs/run-0001 --least 3 --patch > skill.patch"
    )]
    Suggest {
        /// The run, or a casebook for its last run
        run: PathBuf,
        /// The skill that a patch is made for [default: that of the run]
        #[arg(long, value_name = "DIR")]
        skill: Option<PathBuf>,
        /// Only what so many cases ask for
        #[arg(long, value_name = "N", default_value_t = 1)]
        least: usize,
        /// Write a patch against the skill; the same as -o patch
        #[arg(long, conflicts_with = "format")]
        patch: bool,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: SuggestFormat,
    },
    /// Decide on the verdicts of a run
    Review(ReviewArguments),
    /// Ask a model for a second opinion on the verdicts of a run
    Judge(JudgeArguments),
    /// Hold a run against rules
    #[command(
        after_help = "Rules are joined by \" and \":\n  FIGURE >= | <= | > | < | == NUMBER   (80% is 0.8)\n  no-flip-from:RUN                     no case that matched there may have stopped to match\n\nFigures: agreement, partial, cases, comparable, matched, partially_matched, mismatched, leaking, failed, missing, unusable, flaky, cost.\n\nExit codes:\n  0  every rule holds\n  1  a rule is broken; each is named\n  2  a rule or a run can't be read\n\nExample:\n  hindcast gate casebook/.hindcast/runs/run-0002 'agreement>=0.8 and no-flip-from:run-0001'"
    )]
    Gate {
        /// The run, or a casebook for its last run
        run: PathBuf,
        /// The rules
        #[arg(value_parser = Gate::read)]
        rules: Gate,
    },
    /// Write a run for other tools
    #[command(after_help = "Example:\n  hindcast report casebook/.hindcast/runs/run-0001 -o junit > hindcast.xml")]
    Report {
        /// The run, or a casebook for its last run
        run: PathBuf,
        /// The form
        #[arg(short = 'o', long, value_enum)]
        format: ReportFormat,
    },
    /// List, show and remove runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Check case files, like a compiler
    Check(CheckArguments),
    /// Explain a code that `check` prints
    #[command(after_help = "Example:\n  hindcast explain case/unknown-entry-mode")]
    Explain {
        /// The code, as case/unknown-entry-mode
        code: String,
    },
    /// Print the JSON Schema of a case file
    #[command(after_help = "Example:\n  hindcast schema > schema/case.schema.json")]
    Schema,
    /// Look into the atlas of mechanisms
    #[command(subcommand)]
    Atlas(AtlasCommand),
    /// Look at skills
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Look at what an agent wrote
    #[command(subcommand)]
    Transcript(TranscriptCommand),
    /// Compare one case's conclusions, step by step
    Compare(CompareArguments),
    /// Measure how far the comparison agrees with experts' verdicts
    Calibrate(CalibrateArguments),
    /// Read a human conclusion as structured values
    Extract(ExtractArguments),
    /// Print shell completions
    #[command(after_help = "Example:\n  hindcast completions bash > /etc/bash_completion.d/hindcast")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:\n  hindcast man | man -l -\n  hindcast man --dir /usr/local/share/man/man1")]
    Man {
        /// Write a page for every command into this folder instead
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
#[command(
    after_help = "Opens a local page in the browser: a queue, those verdicts first where a look is worth most, and each case on one screen. Only this machine can reach it, by the address that is printed. --list prints the queue instead; the decisions below are made without a page.\n\n\
                  A decision is written to the case file of the casebook; who decided, when and why stands beside it, in CASEBOOK/.hindcast/reviews.jsonl. A case that somebody changed meanwhile is left alone.\n\n\
                  Examples:\n  hindcast review casebook\n  hindcast review casebook/.hindcast/runs/run-0001 --list\n  \
                  hindcast review casebook/.hindcast/runs/run-0001 --accept GTOC-1234,GTOC-1235\n  \
                  hindcast review casebook/.hindcast/runs/run-0001 --override GTOC-1236 --level partially_matched --mismatch symptom_named_as_cause --reason 'next to the cause'"
)]
pub(crate) struct ReviewArguments {
    /// The run, or a casebook for its last run [default: the casebook in this folder, or in ./casebook]
    pub(crate) run: Option<PathBuf>,
    /// Print the queue and end
    #[arg(long)]
    pub(crate) list: bool,
    /// The port of the page [default: any free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the address of the page and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// The verdict on these incidents is right
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) accept: Vec<String>,
    /// The verdict on these incidents is another one
    #[arg(long, value_name = "ID", value_delimiter = ',', requires = "level")]
    pub(crate) r#override: Vec<String>,
    /// The right verdict, for --override
    #[arg(long, value_name = "LEVEL", requires = "override")]
    pub(crate) level: Option<String>,
    /// In what the conclusions differ, for --override
    #[arg(long, value_name = "TYPE", value_delimiter = ',', requires = "override")]
    pub(crate) mismatch: Vec<String>,
    /// The human conclusion of these incidents is unclear
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) unclear: Vec<String>,
    /// Why; it becomes a note of the case
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Take the last decision on these incidents back
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) undo: Vec<String>,
    /// Who decides [default: git's user.name]
    #[arg(long, value_name = "NAME", env = "HINDCAST_REVIEWER")]
    pub(crate) reviewer: Option<String>,
    /// Form of the queue, with --list
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

/// Forms of suggestions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SuggestFormat {
    /// For people
    Text,
    /// For machines
    Json,
    /// A patch against the skill
    Patch,
}

/// Forms of a run for other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A table, a row a replay
    Csv,
    /// JUnit XML, a test a case
    Junit,
    /// A comment for a pull request
    Markdown,
    /// The totals
    Json,
    /// A line a replay
    Jsonl,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the runs of a casebook
    #[command(after_help = "Example:\n  hindcast runs ls casebook")]
    Ls {
        /// The casebook
        casebook: PathBuf,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Show a run
    #[command(after_help = "Example:\n  hindcast runs show casebook/.hindcast/runs/run-0001")]
    Show {
        /// The run, or a casebook for its last run
        run: PathBuf,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Pack a run into a zip
    #[command(after_help = "Example:\n  hindcast runs export casebook/.hindcast/runs/run-0001 run-0001.zip")]
    Export {
        /// The run, or a casebook for its last run
        run: PathBuf,
        /// The zip that is written
        file: PathBuf,
    },
    /// Remove runs
    #[command(after_help = "Example:\n  hindcast runs rm casebook/.hindcast/runs/run-0001")]
    Rm {
        /// The runs
        #[arg(required = true)]
        runs: Vec<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// Check a skill against the Agent Skills specification
    #[command(
        after_help = "Exit codes:\n  0  it keeps to the specification\n  1  it has flaws\n  2  it is no skill\n\nExample:\n  hindcast skill check skills/tikv-slow-diagnosis"
    )]
    Check {
        /// Folder with a SKILL.md
        dir: PathBuf,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TranscriptCommand {
    /// Show what was said and done
    #[command(after_help = "Example:\n  hindcast transcript show session.jsonl")]
    Show {
        /// A transcript of any format
        file: PathBuf,
        /// Its format [default: detected]
        #[arg(long, value_name = "FORMAT")]
        from: Option<String>,
    },
    /// Convert into the Agent Trajectory Interchange Format
    #[command(after_help = "Example:\n  hindcast transcript convert session.jsonl > trajectory.json")]
    Convert {
        /// A transcript of any format
        file: PathBuf,
        /// Its format [default: detected]
        #[arg(long, value_name = "FORMAT")]
        from: Option<String>,
    },
    /// Tell what a replay would take from it: references read, the answer and its repairs, the conclusion
    #[command(
        after_help = "Exit codes:\n  0  it has an answer\n  1  it has none\n  2  it can't be read\n\nExample:\n  hindcast transcript check session.jsonl"
    )]
    Check {
        /// A transcript of any format
        file: PathBuf,
        /// Its format [default: detected]
        #[arg(long, value_name = "FORMAT")]
        from: Option<String>,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
}

/// For people or for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For machines
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people
    Text,
    /// For machines
    Json,
    /// For code review tools: SARIF 2.1.0
    Sarif,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hindcast check casebooks/public\n  hindcast check old/*.json --fix\n  hindcast check casebooks/ --strict -o sarif > findings.sarif"
)]
pub(crate) struct CheckArguments {
    /// Case files, or folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Rewrite files in canonical form; what is left is reported
    #[arg(long)]
    pub(crate) fix: bool,
    /// Accept only the sources of the user's specification: jira_gtoc and pingkai
    #[arg(long)]
    pub(crate) strict: bool,
    /// Output on standard output
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AtlasCommand {
    /// Export the checks of every mechanism, for the references of a skill
    #[command(
        after_help = "Examples:\n  hindcast atlas export\n  hindcast atlas export --pack skills/tikv-slow-diagnosis\n  hindcast atlas export --pack skills/tikv-slow-diagnosis --check"
    )]
    Export {
        /// Write them into the references of this skill, between the lines that mark their place
        #[arg(long, value_name = "DIR")]
        pack: Option<PathBuf>,
        /// Write nothing; exit code 1 when they are not current
        #[arg(long, requires = "pack")]
        check: bool,
    },
    /// List every mechanism
    List {
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Show one mechanism: causes, effects, evidence, words
    #[command(after_help = "Example:\n  hindcast atlas show disk_io_jitter")]
    Show {
        /// Its id
        id: String,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Find the mechanisms that a text mentions, and what it claims of them
    #[command(name = "match", after_help = "Example:\n  hindcast atlas match \"排除了磁盘,最后确认是 gRPC 打满\"")]
    Match {
        /// The text
        text: String,
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Check the atlas itself
    Check {
        /// Output on standard output
        #[arg(short = 'o', long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Print the graph of causes
    #[command(after_help = "Example:\n  hindcast atlas graph -o dot | dot -Tsvg > atlas.svg")]
    Graph {
        /// Notation
        #[arg(short = 'o', long, value_enum, default_value = "mermaid")]
        format: GraphFormat,
    },
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hindcast compare .hindcast/runs/run-0001/cases/GTOC-1234.json\n  hindcast compare --skill-conclusion answer.json GTOC-1234.json -o json"
)]
pub(crate) struct CompareArguments {
    /// The case file
    pub(crate) case: PathBuf,
    /// Compare this conclusion instead of the case's own
    #[arg(long, value_name = "FILE")]
    pub(crate) skill_conclusion: Option<PathBuf>,
    /// Output on standard output
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hindcast calibrate --casebook casebooks/public --pairs pairs.jsonl")]
pub(crate) struct CalibrateArguments {
    /// Folder of case files
    #[arg(long, value_name = "DIR", required_unless_present = "reviews")]
    pub(crate) casebook: Option<PathBuf>,
    /// Measure against the reviews of this casebook, and tell which rules are overridden most
    #[arg(long, value_name = "CASEBOOK", conflicts_with_all = ["pairs", "casebook"])]
    pub(crate) reviews: Option<PathBuf>,
    /// Pairs, one JSON object a line: pair_id, incident_id, skill_conclusion, expected_match_level, expected_mismatch_type
    #[arg(long, value_name = "FILE", required_unless_present = "reviews")]
    pub(crate) pairs: Option<PathBuf>,
    /// Output on standard output
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hindcast extract casebooks/public/TIKV-18274.json\n  hindcast extract --labels labels.jsonl --casebook casebooks/public -o json"
)]
pub(crate) struct ExtractArguments {
    /// The case file
    #[arg(required_unless_present = "labels", conflicts_with = "labels")]
    pub(crate) case: Option<PathBuf>,
    /// Write the result into the file's structured_conclusion
    #[arg(long, requires = "case")]
    pub(crate) write: bool,
    /// Score the extraction: labels, one JSON object a line: incident_id, status, side, scope, path, bottleneck
    #[arg(long, value_name = "FILE", requires = "casebook")]
    pub(crate) labels: Option<PathBuf>,
    /// Folder of the labelled cases
    #[arg(long, value_name = "DIR", requires = "labels")]
    pub(crate) casebook: Option<PathBuf>,
    /// Output on standard output
    #[arg(short = 'o', long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}
