//! One replay: shown, run, tried again where that can help, guarded, read, recorded.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hindcast_atlas::Atlas;
use hindcast_case::IncidentId;
use hindcast_skill::Question;
use hindcast_text::TextReader;
use hindcast_transcript::{AnswerForm, Ended, Transcript, checkpoint, read, read_as};

use crate::command::{Failed, Tried, Work, try_program};
use crate::confine::{Confinement, Fence};
use crate::descriptor::Descriptor;
use crate::guard::{stolen_words, suspicions};
use crate::pack::SkillPack;
use crate::patience::{Attempted, Patience};
use crate::process::{Limits, end_leftovers};
use crate::prompt::{incident_json, prompt};
use crate::record::{Outcome, Record};
use crate::recorded::Recorded;
use crate::settings::{RunnerError, Settings};
use crate::source::{Source, located};
use crate::store::Cache;

/// What is asked in one replay.
#[derive(Debug)]
pub struct Job<'a> {
    /// The incident.
    pub id: &'a IncidentId,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// What the skill is shown; made of a case with canaries.
    pub question: &'a Question,
    /// Marks that must be in nothing that the skill is given.
    pub canaries: &'a [String],
    /// The engineers' conclusion, which must not be in what comes back.
    pub engineers: &'a str,
}

/// A finished replay with what it left.
#[derive(Debug)]
pub struct Finished {
    /// What is kept of it.
    pub record: Record,
    /// As the agent wrote it.
    pub transcript: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// Runs replays, from any number of threads.
#[derive(Debug)]
pub struct Replayer<'a> {
    source: Source,
    settings: Settings,
    pack: Option<SkillPack>,
    atlas: &'a Atlas,
    texts: &'a TextReader,
    /// What keeps an agent from what it must not see.
    fence: Fence,
    /// Where the folders of replays are made.
    root: tempfile::TempDir,
    cache: Option<Cache>,
    /// Names the run among the processes of the machine.
    token: String,
    patience: Patience,
    stop: &'a AtomicBool,
    version: Option<String>,
    /// Tells one edition of a program from another.
    edition: String,
}

/// What a replayer is made with beside its source.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// For the reading of answers.
    pub atlas: &'a Atlas,
    /// For the reading of answers.
    pub texts: &'a TextReader,
    /// The skill; none is the agent alone.
    pub pack: Option<SkillPack>,
    /// Folders that an agent must not see.
    pub hidden: Vec<PathBuf>,
    /// Where results are looked for and kept by content.
    pub cache: Option<Cache>,
    /// Names the run among the processes of the machine.
    pub token: String,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

impl<'a> Replayer<'a> {
    /// Replays of recorded transcripts.
    ///
    /// # Errors
    /// When the folder can't be read or holds none.
    pub fn recorded(dir: &Path, settings: Settings, around: Surroundings<'a>) -> Result<Self, RunnerError> {
        let recorded = Recorded::open(dir).map_err(|error| RunnerError::Io(dir.display().to_string(), error))?;
        if recorded.len() == 0 {
            return Err(RunnerError::NoTranscripts(dir.to_owned()));
        }
        Self::new(Source::Recorded(recorded), settings, None, around)
    }

    /// Replays through an agent. `environment` gives keys and addresses of services.
    ///
    /// # Errors
    /// When the agent needs something that is missing.
    pub fn agent(
        descriptor: Descriptor,
        mut settings: Settings,
        environment: &dyn Fn(&str) -> Option<String>,
        around: Surroundings<'a>,
    ) -> Result<Self, RunnerError> {
        let per_minute = descriptor.per_minute;
        let source = Source::agent(descriptor, &mut settings, environment)?;
        let edition = match &source {
            Source::Program(Descriptor { program: Some(program), .. }) => edition_of(&program.command, environment),
            _ => String::new(),
        };
        let mut replayer = Self::new(source, settings, per_minute, around)?;
        replayer.edition = edition;
        Ok(replayer)
    }

    fn new(
        source: Source,
        settings: Settings,
        per_minute: Option<u32>,
        around: Surroundings<'a>,
    ) -> Result<Self, RunnerError> {
        let Surroundings { atlas, texts, pack, hidden, cache, token, stop } = around;
        let root = tempfile::Builder::new().prefix("hindcast-").tempdir();
        let root = root.map_err(|error| RunnerError::Io("a temporary folder can't be made".to_owned(), error))?;
        let patience = Patience::new(&source, &settings, per_minute);
        let fence = Fence::around(&hidden);
        let version = version_of(&source);
        Ok(Self {
            source,
            settings,
            pack,
            atlas,
            texts,
            fence,
            root,
            cache,
            token,
            patience,
            stop,
            version,
            edition: String::new(),
        })
    }

    /// The program's version, as it tells; none for what has none.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The skill.
    #[must_use]
    pub fn pack(&self) -> Option<&SkillPack> {
        self.pack.as_ref()
    }

    /// Runs one replay. None when the user stopped it.
    ///
    /// # Errors
    /// When this machine fails: a folder can't be made, a process not started. What an agent does is no error.
    pub fn replay(&self, job: &Job<'_>) -> io::Result<Option<Finished>> {
        let key = self.cache_key(job);
        if let Some((mut record, transcript)) = key.as_ref().and_then(|key| self.cache.as_ref()?.get(key)) {
            record.from_cache = true;
            job.id.as_str().clone_into(&mut record.incident_id);
            return Ok(Some(Finished { record, transcript, stderr: Vec::new() }));
        }
        let seed = self.settings.seed ^ u64::from(job.repeat) ^ fingerprint(job.id.as_str());
        let attempted = self.patience.ask(seed, self.stop, || self.try_once(job))?;
        let Some(Attempted { tried, attempts, time }) = attempted else { return Ok(None) };
        let mut finished = self.finish(job, tried);
        finished.record.attempts = attempts;
        // Reading a recording takes no time worth telling.
        if !matches!(self.source, Source::Recorded(_)) {
            finished.record.seconds = (time.as_secs_f64() * 1000.0).round() / 1000.0;
        }
        if let (Some(key), Some(cache), Outcome::Answered { .. }) = (&key, &self.cache, &finished.record.outcome) {
            cache.put(key, &finished.record, &finished.transcript)?;
        }
        Ok(Some(finished))
    }

    fn cache_key(&self, job: &Job<'_>) -> Option<String> {
        let descriptor = match &self.source {
            Source::Recorded(_) => return None,
            Source::Program(descriptor) | Source::Service(descriptor, _) => descriptor,
        };
        self.cache.as_ref()?;
        let descriptor = serde_json::to_string(descriptor).expect("a descriptor is written as JSON");
        let limits = format!("{} {:?} {}", self.settings.turns, self.settings.time, self.settings.output);
        let repeat = job.repeat.to_string();
        let hash = self.pack.as_ref().map_or("none", |pack| pack.hash.as_str());
        let prompt = prompt(job.question, self.pack.as_ref().map(|_| "skill"));
        Some(Cache::key(&[
            "replay-1",
            hash,
            &descriptor,
            self.version().unwrap_or_default(),
            &self.edition,
            &self.settings.model,
            &limits,
            &prompt,
            &repeat,
        ]))
    }

    fn try_once(&self, job: &Job<'_>) -> io::Result<Tried> {
        match &self.source {
            Source::Recorded(recorded) => {
                let (transcript, failure) = match recorded.read(job.id, job.repeat) {
                    Ok(transcript) => (transcript, None),
                    Err(reason) => (Vec::new(), Some(Failed::for_good(reason))),
                };
                let confinement = Confinement::NotNeeded;
                Ok(Tried { transcript, format: None, stderr: Vec::new(), failure, confinement, given: String::new() })
            }
            Source::Program(descriptor) => {
                let work = Work {
                    program: descriptor.program.as_ref().expect("a program's descriptor"),
                    model: &self.settings.model,
                    turns: self.settings.turns,
                    limits: Limits { time: self.settings.time, output: self.settings.output },
                    pack: self.pack.as_ref(),
                    incident: &incident_json(job.question),
                    prompt: &|skill| prompt(job.question, skill),
                    root: self.root.path(),
                    fence: &self.fence,
                    mark: &format!("{}:{}:{};", self.token, job.id, job.repeat),
                    stop: self.stop,
                };
                try_program(&work)
            }
            Source::Service(_, api) => {
                let skill = self.pack.as_ref().map(|pack| pack.name.as_str());
                let text = prompt(job.question, skill);
                Ok(api.converse(
                    &self.settings.model,
                    &text,
                    self.pack.as_ref(),
                    self.settings.turns,
                    self.settings.time,
                ))
            }
        }
    }

    fn finish(&self, job: &Job<'_>, tried: Tried) -> Finished {
        let Tried { transcript: bytes, format, stderr, failure, confinement, given } = tried;
        let transcript = match format {
            Some(format) => read_as(&bytes, format),
            None => read(&bytes),
        };
        let mut record = Record::new(job.id, job.repeat, &transcript);
        record.outcome = match failure {
            // An agent that was stopped at its limit of turns may end as failed, with an answer.
            Some(failure) if transcript.ended != Ended::TurnLimit || transcript.final_text.is_empty() => {
                Outcome::Failed { reason: reason(&failure, &transcript) }
            }
            _ => Outcome::of(checkpoint(self.atlas, self.texts, &transcript)),
        };
        if is_echo(&record.outcome, &transcript.final_text) {
            record.outcome = Outcome::Failed { reason: "the answer only repeats the question".to_owned() };
        }
        if let Some(trespass) = self.trespass(job, &given, &bytes, &transcript) {
            record.outcome = Outcome::Failed { reason: trespass };
        }
        record.confinement = confinement.as_str().to_owned();
        record.suspicions = suspicions(job.question);
        if record.cost.is_none() {
            record.cost = self.source.cost(&transcript.usage);
        }
        Finished { record, transcript: bytes, stderr }
    }

    /// Whether something that is withheld reached the agent, or came back from it.
    fn trespass(&self, job: &Job<'_>, given: &str, bytes: &[u8], transcript: &Transcript) -> Option<String> {
        let seen = String::from_utf8_lossy(bytes);
        if let Some(canary) =
            job.canaries.iter().find(|canary| given.contains(canary.as_str()) || seen.contains(canary.as_str()))
        {
            return Some(format!("guard: a withheld field reached the skill ({canary})"));
        }
        let known = self
            .pack
            .iter()
            .flat_map(|pack| &pack.files)
            .map(|file| String::from_utf8_lossy(&file.bytes))
            .collect::<Vec<_>>();
        let Question { title, initial_symptom, description_text, .. } = job.question;
        let mut known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
        known.extend([title.as_str(), initial_symptom, description_text]);
        // Texts as they were said, not as the transcript's JSON escapes them.
        let said = transcript.messages.iter().map(|message| message.text.as_str());
        let results = transcript.tool_calls.iter().filter_map(|call| call.result.as_deref());
        let told: Vec<&str> = said.chain(results).chain([transcript.final_text.as_str()]).collect();
        if let Some(field) = ENGINEERS.iter().find(|field| told.iter().any(|text| text.contains(*field))) {
            let is_known = known.iter().any(|text| text.contains(field));
            if !is_known {
                return Some(format!("guard: the transcript holds {field:?}, a field of a case file"));
            }
        }
        let words = told.iter().find_map(|text| stolen_words(job.engineers, &known, text))?;
        Some(format!("guard: the transcript holds the engineers' own words, which the skill was not shown: {words:?}"))
    }
}

/// Fields of a case file that no agent is shown the name of.
const ENGINEERS: [&str; 2] = ["final_human_conclusion", "owner_final_comment"];

/// Whether there is no JSON, and what there is holds the marks of the question: its labels and words are ours.
fn is_echo(outcome: &Outcome, answer: &str) -> bool {
    let without_json = [AnswerForm::Labelled, AnswerForm::Prose].map(AnswerForm::as_str);
    let Outcome::Answered { form, .. } = outcome else { return false };
    without_json.contains(&form.as_str()) && answer.contains("</incident-")
}

/// Programs that run a script.
const INTERPRETERS: [&str; 11] =
    ["python", "python3", "node", "bun", "deno", "bash", "sh", "zsh", "ruby", "perl", "uv"];

/// What tells one edition of a program from another: its file, and that of the script that it runs. An agent that was edited is
/// another agent.
fn edition_of(command: &[String], environment: &dyn Fn(&str) -> Option<String>) -> String {
    let Some((program, arguments)) = command.split_first() else { return String::new() };
    let name = Path::new(program).file_name().map_or("", |name| name.to_str().unwrap_or_default());
    let script = arguments.iter().find(|word| INTERPRETERS.contains(&name) && Path::new(word).is_file());
    let files = located(program, environment).into_iter().chain(script.map(PathBuf::from));
    let told = files.filter_map(|file| {
        let metadata = std::fs::metadata(&file).ok()?;
        Some(format!("{} {} {:?}", file.display(), metadata.len(), metadata.modified().ok()?))
    });
    told.collect::<Vec<_>>().join("\n")
}

/// What the program prints as its version.
fn version_of(source: &Source) -> Option<String> {
    let Source::Program(descriptor) = source else { return None };
    let (program, arguments) = descriptor.program.as_ref()?.version.split_first()?;
    let output =
        std::process::Command::new(program).args(arguments).stdin(std::process::Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

impl Drop for Replayer<'_> {
    fn drop(&mut self) {
        if matches!(self.source, Source::Program(_)) && self.stop.load(Ordering::Relaxed) {
            end_leftovers(&self.token);
        }
    }
}

fn reason(failure: &Failed, transcript: &Transcript) -> String {
    if transcript.error.is_empty() {
        failure.reason.clone()
    } else {
        format!("{}: {}", failure.reason, transcript.error)
    }
}

fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
