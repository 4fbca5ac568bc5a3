//! Agents that are programs: a clean folder, an allow-list of the environment, limits, confinement.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hindcast_transcript::Format;

use crate::confine::{Confinement, Fence};
use crate::descriptor::{AnswerPlace, Program};
use crate::pack::SkillPack;
use crate::process::{How, Limits, MARK, run};

/// Variables that every program may see: without them nothing runs as it does for the user.
const COMMON: [&str; 8] = ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "SHELL"];

/// The largest answer file.
const MAX_ANSWER: u64 = 64 * 1024 * 1024;

/// What one try of a program gave.
#[derive(Debug)]
pub(crate) struct Tried {
    /// What it wrote; of a failed try as much as there is.
    pub(crate) transcript: Vec<u8>,
    pub(crate) format: Option<Format>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) failure: Option<Failed>,
    pub(crate) confinement: Confinement,
    /// Everything that the program was given, for the canaries.
    pub(crate) given: String,
}

/// Why a try failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) reason: String,
    /// Whether the same may succeed later.
    pub(crate) is_transient: bool,
}

impl Failed {
    pub(crate) fn for_good(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_transient: false }
    }
}

/// What a try needs.
pub(crate) struct Work<'a> {
    pub(crate) program: &'a Program,
    pub(crate) model: &'a str,
    pub(crate) turns: u32,
    pub(crate) limits: Limits,
    pub(crate) pack: Option<&'a SkillPack>,
    pub(crate) incident: &'a str,
    /// The prompt for a skill at a path.
    pub(crate) prompt: &'a (dyn Fn(Option<&str>) -> String + Sync),
    /// Where folders of replays are made.
    pub(crate) root: &'a Path,
    /// What keeps the program from the casebook.
    pub(crate) fence: &'a Fence,
    /// By what its processes are known.
    pub(crate) mark: &'a str,
    /// Set when the user wants to stop.
    pub(crate) stop: &'a std::sync::atomic::AtomicBool,
}

/// Runs a program once.
pub(crate) fn try_program(work: &Work<'_>) -> io::Result<Tried> {
    // The folder that the agent works in, and beside it what is no part of it.
    let outer = tempfile::Builder::new().prefix("replay-").tempdir_in(work.root)?;
    let folder = outer.path().join("work");
    std::fs::create_dir(&folder)?;
    let skill_name = work.pack.map_or("", |pack| pack.name.as_str());
    let skill_path = work.program.skill_folder.replace("{skill_name}", skill_name);
    if let Some(pack) = work.pack {
        pack.write_to(&folder.join(&skill_path))?;
    }
    std::fs::write(folder.join("incident.json"), work.incident)?;
    let prompt = (work.prompt)(work.pack.map(|_| skill_path.as_str()));
    let prompt_file = outer.path().join("prompt.md");
    if is_named(work.program, "{prompt_file}") {
        std::fs::write(&prompt_file, &prompt)?;
    }
    let answer_file = outer.path().join("answer");

    let show = |path: &Path| path.display().to_string();
    let turns = work.turns.to_string();
    let values: [(&str, &str); 9] = [
        ("{prompt_file}", &show(&prompt_file)),
        ("{incident}", &show(&folder.join("incident.json"))),
        ("{folder}", &show(&folder)),
        ("{skill}", &show(&folder.join(&skill_path))),
        ("{skill_name}", skill_name),
        ("{answer}", &show(&answer_file)),
        ("{model}", work.model),
        ("{turns}", &turns),
        // Last: a ticket in the prompt may hold the other names.
        ("{prompt}", &prompt),
    ];
    let fill = |text: &str| fill(text, &values);

    let mut words =
        work.program.command.iter().chain(if work.model.is_empty() { &[][..] } else { &work.program.model_arguments });
    let program = fill(words.next().map_or("", String::as_str));
    let arguments: Vec<String> = words.map(|word| fill(word)).collect();
    let mut environment: BTreeMap<String, String> = BTreeMap::new();
    for name in COMMON.iter().copied().chain(work.program.environment.iter().map(String::as_str)) {
        if let Ok(value) = std::env::var(name) {
            environment.insert(name.to_owned(), value);
        }
    }
    environment.extend(work.program.set.iter().map(|(name, value)| (name.clone(), fill(value))));
    environment.insert(MARK.to_owned(), work.mark.to_owned());

    let stdin_file = outer.path().join("stdin");
    let stdin = fill(&work.program.stdin);
    std::fs::write(&stdin_file, &stdin)?;
    let mut command = Command::new(&program);
    command.args(&arguments).current_dir(&folder).env_clear().envs(&environment);
    command.stdin(Stdio::from(std::fs::File::open(&stdin_file)?));
    let given = format!("{prompt}\n{}\n{stdin}\n{}\n{:?}", work.incident, arguments.join("\n"), environment.values());

    let (ended, confinement) = work.fence.outside(|| run(command, work.limits, work.mark, work.stop));
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            let failure = Some(Failed::for_good(format!(
                "{program} can't be started: {error}; is it installed and on the PATH?"
            )));
            let (transcript, stderr) = (Vec::new(), Vec::new());
            return Ok(Tried { transcript, format: None, stderr, failure, confinement, given });
        }
        Err(error) => return Err(error),
    };
    let transcript = match work.program.answer {
        AnswerPlace::Stdout => ended.stdout,
        AnswerPlace::File => read_answer(&answer_file)?,
    };
    let seconds = |time: Duration| time.as_secs_f64();
    let failure = match ended.how {
        How::Exited(status) if status.success() => None,
        How::Exited(status) => {
            let said = [&ended.stderr[..], &transcript[transcript.len().saturating_sub(4096)..]];
            let said = said.map(|bytes| String::from_utf8_lossy(bytes).to_lowercase());
            let is_transient =
                work.program.transient.iter().any(|word| said.iter().any(|said| said.contains(&word.to_lowercase())));
            let last = last_line(&ended.stderr);
            let reason = if last.is_empty() {
                format!("{program} ended with {status}")
            } else {
                format!("{program} ended with {status}: {last}")
            };
            Some(Failed { reason, is_transient })
        }
        How::TimedOut => Some(Failed::for_good(format!("{program} was killed after {} s", seconds(work.limits.time)))),
        How::Stopped => Some(Failed::for_good("the user stopped it")),
        How::TooMuchOutput => {
            let most = work.limits.output / 1024 / 1024;
            Some(Failed::for_good(format!("{program} was killed: it wrote more than {most} MiB")))
        }
    };
    let format = Format::named(&work.program.format);
    make_removable(&folder);
    Ok(Tried { transcript, format, stderr: ended.stderr, failure, confinement, given })
}

/// Whether a program is told of something.
fn is_named(program: &Program, what: &str) -> bool {
    let words = program.command.iter().chain(&program.model_arguments).chain(program.set.values());
    words.chain([&program.stdin]).any(|word| word.contains(what))
}

/// A file of an agent: no link, and not larger than an answer can be.
fn read_answer(path: &Path) -> io::Result<Vec<u8>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_ANSWER => std::fs::read(path),
        _ => Ok(Vec::new()),
    }
}

/// A text with names in braces filled in, in one pass: what is filled in is not read again.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                filled.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    line.chars().take(300).collect()
}

/// An agent may have taken the right to write from folders; then they could not be removed.
#[cfg(unix)]
fn make_removable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let _ = std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755));
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
}

#[cfg(not(unix))]
fn make_removable(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_not_read_again() {
        let values = [("{model}", "{prompt}"), ("{prompt}", "P {model}")];
        assert_eq!(fill("a {model} {prompt} {other} {", &values), "a {prompt} P {model} {other} {");
    }
}
