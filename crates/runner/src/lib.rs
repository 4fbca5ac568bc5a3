//! Skills run by agents: a question in, a record of the replay out.
//!
//! ```text
//! Question ──prompt──▶ agent (program, service, recording) ──▶ transcript ──checkpoint──▶ Record
//!              in a folder of its own, confined, limited        guarded
//! ```
//!
//! Invariants:
//! - An agent is given the skill, the incident as of the cut-off, and nothing else; its environment is an allow-list.
//! - A program's processes are gone when its replay is over.
//! - A record on disk is whole: its transcript is there.
//! - Keys come from the environment and are never shown.
//!
//! Start reading at [`Replayer::replay`]. A new agent is a TOML file in `presets/` and a line in `descriptor.rs`; a user's own
//! needs only the file.

mod api;
mod command;
mod confine;
mod descriptor;
mod guard;
mod oracle;
mod pack;
mod patience;
mod process;
mod prompt;
mod record;
mod recorded;
mod replayer;
mod schedule;
mod settings;
mod source;
mod spec;
mod store;

pub use confine::Confinement;
pub use descriptor::{AnswerPlace, Descriptor, DescriptorError, Price, Program, Protocol, Service};
pub use guard::{Suspicion, stolen_words, suspicions, with_canaries};
pub use oracle::{Oracle, Told};
pub use pack::{GitState, PackError, PackFile, SkillPack};
pub use process::end_leftovers;
pub use prompt::{incident_json, prompt, schema_prompt};
pub use record::{Outcome, Record};
pub use replayer::{Finished, Job, Replayer, Surroundings};
pub use schedule::{End, schedule};
pub use settings::{RunnerError, Settings};
pub use spec::{Flaw, check_pack};
pub use store::{Cache, ReplayStore};
