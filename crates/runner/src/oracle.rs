//! One question to an agent, one text back: no skill, no tools, no incident.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use hindcast_transcript::{Ended, read, read_as};

use crate::command::{Tried, Work, try_program};
use crate::confine::Fence;
use crate::descriptor::Descriptor;
use crate::patience::{Attempted, Patience};
use crate::process::Limits;
use crate::settings::{RunnerError, Settings};
use crate::source::Source;

/// An agent that is asked questions, from any number of threads.
#[derive(Debug)]
pub struct Oracle<'a> {
    name: String,
    source: Source,
    settings: Settings,
    fence: Fence,
    /// Where folders of programs are made.
    root: tempfile::TempDir,
    patience: Patience,
    stop: &'a AtomicBool,
}

/// What an agent said.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The text; or why there is none: a refusal, a failure.
    pub answer: Result<String, String>,
    /// US dollars; none where neither the agent nor the descriptor tells.
    pub cost: Option<f64>,
}

impl<'a> Oracle<'a> {
    /// An agent as its descriptor says. `environment` gives keys and addresses of services, `stop` is set when the user wants to stop.
    ///
    /// # Errors
    /// When the agent needs something that is missing.
    pub fn new(
        descriptor: Descriptor,
        mut settings: Settings,
        environment: &dyn Fn(&str) -> Option<String>,
        stop: &'a AtomicBool,
    ) -> Result<Self, RunnerError> {
        // Two command lines are two agents.
        let program = descriptor.program.as_ref().and_then(|program| Path::new(program.command.first()?).file_name());
        let name = match program {
            Some(program) if descriptor.name == "command" => format!("command {}", program.display()),
            _ => descriptor.name.clone(),
        };
        let per_minute = descriptor.per_minute;
        let source = Source::agent(descriptor, &mut settings, environment)?;
        let patience = Patience::new(&source, &settings, per_minute);
        let root = tempfile::Builder::new().prefix("hindcast-").tempdir();
        let root = root.map_err(|error| RunnerError::Io("a temporary folder can't be made".to_owned(), error))?;
        Ok(Self { name, source, settings, fence: Fence::around(&[]), root, patience, stop })
    }

    /// The runner and its model.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.name, self.settings.model).trim().to_owned()
    }

    /// Asks; `mark` names the question among the processes of this machine. None when the user stopped it.
    ///
    /// # Errors
    /// When this machine fails: a folder can't be made, a process not started.
    pub fn ask(&self, text: &str, mark: &str) -> io::Result<Option<Told>> {
        let attempted = self.patience.ask(self.settings.seed, self.stop, || self.try_once(text, mark))?;
        let Some(Attempted { tried, .. }) = attempted else { return Ok(None) };
        let transcript = match tried.format {
            Some(format) => read_as(&tried.transcript, format),
            None => read(&tried.transcript),
        };
        let answer = match tried.failure {
            Some(failure) if transcript.error.is_empty() => Err(failure.reason),
            Some(failure) => Err(format!("{}: {}", failure.reason, transcript.error)),
            None if transcript.ended == Ended::Error && !transcript.error.is_empty() => Err(transcript.error.clone()),
            None => Ok(transcript.final_text.clone()),
        };
        let cost = transcript.usage.cost.or_else(|| self.source.cost(&transcript.usage));
        Ok(Some(Told { answer, cost }))
    }

    fn try_once(&self, text: &str, mark: &str) -> io::Result<Tried> {
        let Settings { model, turns, time, output, .. } = &self.settings;
        match &self.source {
            Source::Service(_, api) => Ok(api.converse(model, text, None, *turns, *time)),
            Source::Program(descriptor) => try_program(&Work {
                program: descriptor.program.as_ref().expect("a program's descriptor"),
                model,
                turns: *turns,
                limits: Limits { time: *time, output: *output },
                pack: None,
                incident: "{}",
                prompt: &|_| text.to_owned(),
                root: Path::new(self.root.path()),
                fence: &self.fence,
                mark: &format!("{}:{mark};", self.root.path().display()),
                stop: self.stop,
            }),
            Source::Recorded(_) => unreachable!("an oracle is made of a descriptor"),
        }
    }
}
