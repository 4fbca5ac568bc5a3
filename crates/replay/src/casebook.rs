//! A casebook: a folder of case files, one an incident.

use std::path::{Path, PathBuf};

/// The case files of a folder, by name.
#[derive(Debug, Clone)]
pub struct Casebook {
    dir: PathBuf,
    /// Only the names: a casebook can have a hundred thousand.
    names: Vec<Box<str>>,
}

/// Why a casebook can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum CasebookError {
    /// The folder can't be listed.
    #[error("can't list {path}: {source}")]
    List {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It holds no case.
    #[error("{0} holds no case files; a casebook is a folder of <incident_id>.json files")]
    Empty(PathBuf),
}

impl Casebook {
    /// Opens a folder: its `*.json` files, sorted by name. Subfolders and hidden files are not part of it.
    ///
    /// # Errors
    /// When the folder can't be listed or holds no case file.
    pub fn open(dir: &Path) -> Result<Self, CasebookError> {
        let error = |source| CasebookError::List { path: dir.to_owned(), source };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(error)? {
            let name = entry.map_err(error)?.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.ends_with(".json") && !name.starts_with('.') {
                names.push(name.into());
            }
        }
        if names.is_empty() {
            return Err(CasebookError::Empty(dir.to_owned()));
        }
        names.sort_unstable();
        Ok(Self { dir: dir.to_owned(), names })
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// How many cases it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether it has none; an open casebook never has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The case files, by name.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.names.iter().map(|name| self.dir.join(&**name))
    }

    /// Groups of case files of at most `size`, by name: what is worked on at once.
    pub fn chunks(&self, size: usize) -> impl Iterator<Item = Vec<PathBuf>> {
        self.names.chunks(size).map(|names| names.iter().map(|name| self.dir.join(&**name)).collect())
    }
}
