//! What a run is made of: written before its first replay, so that it can be gone on with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hindcast_replay::Casebook;
use hindcast_runner::{Descriptor, Settings, SkillPack};
use serde::{Deserialize, Serialize};

use crate::args::RunArguments;
use crate::failure::Failure;

/// The plan of a run, as `plan.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) casebook: PathBuf,
    /// File names of the cases, sorted.
    pub(super) cases: Vec<String>,
    pub(super) repeats: u32,
    pub(super) runner: Runner,
    /// The skill; none is the agent alone, or the built-in skill.
    pub(super) skill: Option<Skill>,
}

/// How a skill is executed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Runner {
    Builtin,
    Recorded {
        dir: PathBuf,
    },
    Agent {
        descriptor: Box<Descriptor>,
        model: String,
        turns: u32,
        seconds: f64,
        output: usize,
        retries: u32,
        seed: u64,
    },
}

/// The skill that is executed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Skill {
    pub(super) dir: PathBuf,
    /// The commit that was asked for.
    pub(super) reference: Option<String>,
    pub(super) name: String,
    pub(super) hash: String,
    pub(super) commit: Option<String>,
    pub(super) is_dirty: bool,
}

impl Plan {
    /// The plan that the arguments ask for, and the skill that it needs.
    pub(super) fn new(arguments: &RunArguments) -> Result<(Self, Option<SkillPack>), Failure> {
        let Some(dir) = &arguments.casebook else {
            return Err(
                Failure::new("no casebook is named").help("hindcast run CASEBOOK, or hindcast run --resume RUN")
            );
        };
        let casebook = Casebook::open(dir).map_err(|error| Failure::new(error.to_string()))?;
        let cases = selection(&casebook, arguments)?;
        let runner = runner(arguments)?;
        let skill = match &runner {
            Runner::Agent { .. } => skill(arguments)?,
            _ if arguments.skill.is_some() => {
                return Err(Failure::new("--skill needs a runner that executes it")
                    .help("add --runner claude, codex, gemini, anthropic, openai or command"));
            }
            _ => None,
        };
        let (skill, pack) = skill.unzip();
        let casebook = absolute(dir);
        Ok((Self { casebook, cases, repeats: arguments.repeats, runner, skill }, pack))
    }

    /// The plan of a run that was begun, and its skill as it was.
    pub(super) fn resume(run: &Path) -> Result<(Self, Option<SkillPack>), Failure> {
        let path = run.join("plan.json");
        let text = std::fs::read_to_string(&path).map_err(|error| {
            Failure::io("read", &path, &error).help("--resume takes the folder of a run, as hindcast run prints it")
        })?;
        let plan: Self =
            serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        let pack = match &plan.skill {
            None => None,
            Some(skill) => {
                let pack = open_pack(&skill.dir, skill.reference.as_deref())?;
                if pack.hash != skill.hash {
                    return Err(Failure::new(format!(
                        "the skill in {} has changed since the run was begun",
                        skill.dir.display()
                    ))
                    .help("begin a new run, or bring the skill back (git stash, or --skill-ref)"));
                }
                Some(pack)
            }
        };
        Ok((plan, pack))
    }

    /// The name of the skill in reports.
    pub(super) fn skill_name(&self) -> String {
        match (&self.runner, &self.skill) {
            (Runner::Builtin, _) => "built-in".to_owned(),
            (Runner::Recorded { .. }, _) => "recorded".to_owned(),
            (Runner::Agent { descriptor, .. }, None) => format!("none ({} alone)", descriptor.name),
            (Runner::Agent { descriptor, .. }, Some(skill)) => {
                format!("{} {} with {}", skill.name, &skill.hash[..12], descriptor.name)
            }
        }
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.cases.iter().map(|name| self.casebook.join(name)).collect()
    }

    /// Settings of the replays; none where there is nothing to set.
    pub(super) fn settings(&self) -> Settings {
        let (model, turns, seconds, output, retries, seed) = match &self.runner {
            Runner::Agent { model, turns, seconds, output, retries, seed, .. } => {
                (model.clone(), *turns, *seconds, *output, *retries, *seed)
            }
            _ => (String::new(), 0, 0.0, 0, 0, 0),
        };
        let time = Duration::from_secs_f64(seconds);
        Settings { model, turns, time, output, retries, first_wait: Duration::from_secs(2), seed }
    }
}

/// The file names of the cases that are wanted.
fn selection(casebook: &Casebook, arguments: &RunArguments) -> Result<Vec<String>, Failure> {
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = casebook.paths().filter_map(name).collect();
    if !arguments.only.is_empty() {
        let stem = |name: &str| name.trim_end_matches(".json").to_uppercase();
        for wanted in &arguments.only {
            if !names.iter().any(|name| stem(name) == wanted.to_uppercase()) {
                let stems: Vec<String> = names.iter().map(|name| stem(name)).collect();
                let near = hindcast_case::nearest(&wanted.to_uppercase(), stems.iter().map(String::as_str));
                let near = near.map(|near| format!("did you mean {near}?")).unwrap_or_default();
                return Err(Failure::new(format!("{wanted} is not in {}", casebook.dir().display())).help(near));
            }
        }
        names.retain(|name| arguments.only.iter().any(|wanted| stem(name) == wanted.to_uppercase()));
    }
    if let Some(count) = arguments.sample {
        fastrand::Rng::with_seed(arguments.seed).shuffle(&mut names);
        names.truncate(count);
        names.sort_unstable();
    }
    Ok(names)
}

fn runner(arguments: &RunArguments) -> Result<Runner, Failure> {
    let missing = |what: &str, name: &str| Failure::new(format!("--runner {name} needs {what}"));
    let descriptor = match arguments.runner.as_str() {
        "builtin" if arguments.command.is_some() => {
            return Err(missing("--runner command to use --command; it", "builtin"));
        }
        "builtin" => return Ok(Runner::Builtin),
        "recorded" => {
            let dir = arguments.transcripts.as_deref().ok_or_else(|| missing("--transcripts DIR", "recorded"))?;
            return Ok(Runner::Recorded { dir: absolute(dir) });
        }
        "command" => {
            let line =
                arguments.command.as_deref().ok_or_else(|| missing("--command 'PROGRAM ARGUMENTS'", "command"))?;
            Descriptor::command(line)
        }
        name => Descriptor::find(name),
    };
    let mut descriptor = descriptor.map_err(|error| Failure::new(error.to_string()))?;
    if let Some(format) = &arguments.transcript_format {
        descriptor = descriptor.with_format(format).map_err(|error| Failure::new(error.to_string()))?;
    }
    if arguments.per_minute.is_some() {
        descriptor.per_minute = arguments.per_minute;
    }
    Ok(Runner::Agent {
        descriptor: Box::new(descriptor),
        model: arguments.model.clone().unwrap_or_default(),
        turns: arguments.max_turns,
        seconds: arguments.timeout,
        output: arguments.max_output.saturating_mul(1024 * 1024),
        retries: arguments.retries,
        seed: arguments.seed,
    })
}

fn skill(arguments: &RunArguments) -> Result<Option<(Skill, SkillPack)>, Failure> {
    let Some(dir) = &arguments.skill else {
        return Err(Failure::new(format!("--runner {} needs --skill", arguments.runner))
            .help("--skill DIR, or --skill none for the agent without a skill"));
    };
    if dir == Path::new("none") {
        return Ok(None);
    }
    let pack = open_pack(dir, arguments.skill_ref.as_deref())?;
    let skill = Skill {
        dir: absolute(dir),
        reference: arguments.skill_ref.clone(),
        name: pack.name.clone(),
        hash: pack.hash.clone(),
        commit: pack.git.as_ref().map(|git| git.commit.clone()),
        is_dirty: pack.git.as_ref().is_some_and(|git| git.is_dirty),
    };
    Ok(Some((skill, pack)))
}

fn open_pack(dir: &Path, reference: Option<&str>) -> Result<SkillPack, Failure> {
    let pack = match reference {
        Some(reference) => SkillPack::at(dir, reference),
        None => SkillPack::open(dir),
    };
    pack.map_err(|error| Failure::new(error.to_string()))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
