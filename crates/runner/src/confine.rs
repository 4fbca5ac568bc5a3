//! Keeping a runner's program from reading the casebook, with what Linux offers without root: Landlock.

use std::path::PathBuf;

/// Whether a program was kept from what it must not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// The kernel refuses it.
    Enforced,
    /// The system offers nothing; a read can only be noticed.
    Unavailable,
    /// No program was run here.
    NotNeeded,
}

impl Confinement {
    /// What a person reads.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Unavailable => "unavailable",
            Self::NotNeeded => "not needed",
        }
    }
}

/// What keeps programs from reading below hidden folders. Rules of Landlock only allow; so everything beside the way to a hidden
/// folder is allowed, one entry at a time, as it stands when the fence is made.
#[derive(Debug)]
pub(crate) struct Fence {
    #[cfg(target_os = "linux")]
    rules: Option<landlock::RulesetCreated>,
}

#[cfg(target_os = "linux")]
impl Fence {
    pub(crate) fn around(hidden: &[PathBuf]) -> Self {
        Self { rules: if hidden.is_empty() { None } else { rules(hidden).ok() } }
    }

    /// Runs `work` on a thread that, with all programs it starts, is kept out.
    pub(crate) fn outside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> (T, Confinement) {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let confinement = self.restrict().unwrap_or(Confinement::Unavailable);
                (work(), confinement)
            });
            match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn restrict(&self) -> Option<Confinement> {
        use landlock::RulesetStatus;
        let status = self.rules.as_ref()?.try_clone().ok()?.restrict_self().ok()?;
        Some(match status.ruleset {
            RulesetStatus::NotEnforced => Confinement::Unavailable,
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Confinement::Enforced,
        })
    }
}

/// Elsewhere nothing is offered.
#[cfg(not(target_os = "linux"))]
impl Fence {
    pub(crate) fn around(_: &[PathBuf]) -> Self {
        Self {}
    }

    pub(crate) fn outside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> (T, Confinement) {
        (work(), Confinement::Unavailable)
    }
}

#[cfg(target_os = "linux")]
fn rules(hidden: &[PathBuf]) -> Result<landlock::RulesetCreated, landlock::RulesetError> {
    use landlock::{AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr};
    // Reading alone is kept back: agents write their own files where they like.
    let all = AccessFs::ReadFile | AccessFs::ReadDir;
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?.create()?;
    for path in beside(hidden) {
        let Ok(file) = PathFd::new(&path) else { continue };
        let access = if path.is_dir() { all } else { AccessFs::ReadFile.into() };
        ruleset = ruleset.add_rule(PathBeneath::new(file, access))?;
    }
    Ok(ruleset)
}

/// Every entry beside the ways to the hidden folders: all that may still be opened.
fn beside(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let hidden: Vec<PathBuf> = hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut allowed = Vec::new();
    let mut open = vec![PathBuf::from("/")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if hidden.contains(&path) || entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                // A link is opened where it leads to.
                continue;
            }
            if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                open.push(path);
            } else {
                allowed.push(path);
            }
        }
    }
    allowed.sort();
    allowed
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_hidden_folder_can_not_be_read_and_its_neighbours_can() {
        let dir = tempfile::tempdir().expect("a folder");
        let (secret, open) = (dir.path().join("casebook"), dir.path().join("open"));
        for folder in [&secret, &open] {
            std::fs::create_dir(folder).expect("made");
            std::fs::write(folder.join("file"), "content").expect("written");
        }
        let read = || {
            let cat =
                |folder: &Path| std::process::Command::new("cat").arg(folder.join("file")).output().expect("cat runs");
            (cat(&secret).status.success(), cat(&open).status.success())
        };
        let ((saw_secret, saw_open), confinement) = Fence::around(std::slice::from_ref(&secret)).outside(read);
        assert!(saw_open, "the rest stays readable");
        assert_eq!(saw_secret, confinement == Confinement::Unavailable);
        assert!(std::fs::read(secret.join("file")).is_ok(), "this thread is not confined");
    }
}
