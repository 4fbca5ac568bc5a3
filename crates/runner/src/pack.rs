//! Skill packs: a folder with `SKILL.md` and what it refers to.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// The largest file of a pack.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The largest pack.
const MAX_PACK: u64 = 64 * 1024 * 1024;

/// Files of a pack at most.
const MAX_FILES: usize = 5_000;

/// A skill, whole in memory: what is staged is what was hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPack {
    /// The name of its folder.
    pub name: String,
    /// Its files by their path inside the pack, with `/` between folders, sorted.
    pub files: Vec<PackFile>,
    /// SHA-256 over paths and contents: the pack's version.
    pub hash: String,
    /// Where it stands in git; none outside a repository.
    pub git: Option<GitState>,
}

/// A file of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackFile {
    /// Its path inside the pack.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it can be run.
    pub is_executable: bool,
}

/// A pack in git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitState {
    /// The commit.
    pub commit: String,
    /// Whether files of the pack differ from the commit.
    pub is_dirty: bool,
}

/// Why a pack can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A file or folder can't be read.
    #[error("{path} can't be read: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no `SKILL.md`.
    #[error("{0} holds no SKILL.md; a skill is a folder with a SKILL.md")]
    NoSkill(PathBuf),
    /// It is too large.
    #[error("{0} is larger than a skill can be (64 MiB, 5,000 files, 4 MiB a file)")]
    TooLarge(PathBuf),
    /// git says no.
    #[error("git can't give {reference} of {path}: {message}")]
    Git {
        /// What was asked for.
        reference: String,
        /// The pack.
        path: PathBuf,
        /// What git says.
        message: String,
    },
}

impl SkillPack {
    /// Reads a pack from its folder. Hidden files and links that lead out of it are no part of it.
    ///
    /// # Errors
    /// When it can't be read, has no `SKILL.md` or is too large.
    pub fn open(dir: &Path) -> Result<Self, PackError> {
        let mut files = Vec::new();
        collect(dir, "", &mut files)?;
        let git = git_state(dir);
        Self::of(dir, files, git)
    }

    /// Reads a pack as it was at a commit, a branch or a tag.
    ///
    /// # Errors
    /// When git doesn't know the reference, or as [`SkillPack::open`].
    pub fn at(dir: &Path, reference: &str) -> Result<Self, PackError> {
        let failed = |message: String| PackError::Git {
            reference: reference.to_owned(),
            path: dir.to_owned(),
            message: message.trim().to_owned(),
        };
        if reference.starts_with('-') {
            return Err(failed("a reference does not begin with a dash".to_owned()));
        }
        let git = |arguments: &[&str]| git(dir, arguments).map_err(&failed);
        let commit = String::from_utf8_lossy(&git(&["rev-parse", "--verify", &format!("{reference}^{{commit}}")])?)
            .trim()
            .to_owned();
        let listing = git(&["ls-tree", "-r", "-z", "--long", &commit, "--", "."])?;
        let mut files = Vec::new();
        for entry in listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let entry = String::from_utf8_lossy(entry);
            // MODE TYPE OBJECT SIZE\tPATH
            let Some((about, path)) = entry.split_once('\t') else { continue };
            let about: Vec<&str> = about.split_whitespace().collect();
            let [mode, "blob", object, size] = about[..] else { continue };
            if is_hidden(path) || mode == "120000" {
                continue;
            }
            if size.parse::<u64>().is_ok_and(|size| size > MAX_FILE) || files.len() >= MAX_FILES {
                return Err(PackError::TooLarge(dir.to_owned()));
            }
            let bytes = git(&["cat-file", "blob", object])?;
            files.push(PackFile { path: path.to_owned(), bytes, is_executable: mode == "100755" });
        }
        Self::of(dir, files, Some(GitState { commit, is_dirty: false }))
    }

    fn of(dir: &Path, mut files: Vec<PackFile>, git: Option<GitState>) -> Result<Self, PackError> {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        if !files.iter().any(|file| file.path == "SKILL.md") {
            return Err(PackError::NoSkill(dir.to_owned()));
        }
        let mut hash = Sha256::new();
        for file in &files {
            hash.update(u64::try_from(file.path.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(&file.path);
            hash.update(u64::try_from(file.bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(&file.bytes);
        }
        let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let name = whole.file_name().map_or_else(|| "skill".to_owned(), |name| name.to_string_lossy().into_owned());
        Ok(Self { name, files, hash: hex(&hash.finalize()), git })
    }

    /// A file of the pack by its path inside.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&PackFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Writes the pack below a folder, read-only.
    ///
    /// # Errors
    /// When a file can't be written.
    pub fn write_to(&self, dir: &Path) -> io::Result<()> {
        for file in &self.files {
            let path = dir.join(&file.path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&path, &file.bytes)?;
            set_mode(&path, if file.is_executable { 0o555 } else { 0o444 })?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

fn collect(dir: &Path, inside: &str, files: &mut Vec<PackFile>) -> Result<(), PackError> {
    let failed = |source| PackError::Io { path: dir.to_owned(), source };
    let mut total: u64 = files.iter().map(|file| u64::try_from(file.bytes.len()).unwrap_or(u64::MAX)).sum();
    let mut entries: Vec<_> = std::fs::read_dir(dir).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type().map_err(failed)?;
        if is_hidden(&name) || kind.is_symlink() {
            continue;
        }
        let path = if inside.is_empty() { name } else { format!("{inside}/{name}") };
        if kind.is_dir() {
            collect(&entry.path(), &path, files)?;
            continue;
        }
        let metadata = entry.metadata().map_err(failed)?;
        total += metadata.len();
        if metadata.len() > MAX_FILE || total > MAX_PACK || files.len() >= MAX_FILES {
            return Err(PackError::TooLarge(entry.path()));
        }
        let bytes = std::fs::read(entry.path()).map_err(|source| PackError::Io { path: entry.path(), source })?;
        files.push(PackFile { path, bytes, is_executable: is_executable(&metadata) });
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}

fn is_hidden(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.any(|part| !matches!(part, Component::Normal(name) if !name.to_string_lossy().starts_with('.')))
}

fn git(dir: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git").arg("-C").arg(dir).args(arguments).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn git_state(dir: &Path) -> Option<GitState> {
    let commit = git(dir, &["rev-parse", "--verify", "HEAD"]).ok()?;
    let status = git(dir, &["status", "--porcelain", "--", "."]).ok()?;
    Some(GitState { commit: String::from_utf8_lossy(&commit).trim().to_owned(), is_dirty: !status.is_empty() })
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
