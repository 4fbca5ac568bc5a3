//! Loading: TOML files to one atlas.

use std::collections::{BTreeMap, HashMap};
use std::ops::Index;
use std::path::{Path, PathBuf};

use hindcast_case::{EntryMode, Vocabulary, nearest};
use serde::Deserialize;

use crate::graph::Graph;
use crate::mechanism::{FamilyIx, Mechanism, MechanismIx};

/// All mechanisms, the graph of their causes, and the word classes of the lexicon.
#[derive(Debug)]
pub struct Atlas {
    mechanisms: Vec<Mechanism>,
    by_id: HashMap<String, MechanismIx>,
    by_covered: HashMap<String, MechanismIx>,
    pub(crate) graph: Graph,
    pub(crate) classes: Classes,
    families: Vec<(String, Vec<MechanismIx>)>,
}

/// What an id means in an atlas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolved {
    /// A mechanism.
    Exact(MechanismIx),
    /// A finer one that this mechanism includes.
    Covered(MechanismIx),
}

impl Resolved {
    /// The mechanism, be it the named one or the one that includes it.
    #[must_use]
    pub fn mechanism(self) -> MechanismIx {
        match self {
            Self::Exact(ix) | Self::Covered(ix) => ix,
        }
    }
}

/// Why an atlas could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or folder could not be read.
    #[error("can't read {path}: {source}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what an atlas file should be; the message has line and column.
    #[error("{path}: {source}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: Box<toml::de::Error>,
    },
    /// Two mechanisms have one id.
    #[error("{path}: mechanism `{id}` is defined twice")]
    DuplicateId {
        /// The second file.
        path: PathBuf,
        /// The id.
        id: String,
    },
    /// A list of ids names a mechanism that doesn't exist.
    #[error("mechanism `{id}`: {field} names the unknown mechanism `{named}`{}", hint.as_ref().map(|h| format!("; did you mean `{h}`?")).unwrap_or_default())]
    UnknownId {
        /// The mechanism or family that names it.
        id: String,
        /// The field.
        field: &'static str,
        /// What was named.
        named: String,
        /// The nearest id.
        hint: Option<String>,
    },
    /// The causes form a cycle.
    #[error("the causes form a cycle: {}; move one edge to `feeds_back_to`", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// The folder has no mechanism.
    #[error("{0} holds no mechanism; expected files such as io_jitter.toml")]
    Empty(PathBuf),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MechanismFile {
    entry_mode: String,
    mechanism: Vec<Mechanism>,
}

/// The word classes of `lexicon.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Classes {
    /// Parts that are named together with the part that owns them.
    #[serde(default)]
    pub(crate) owned: Vec<String>,
    pub(crate) part: BTreeMap<String, Vec<String>>,
    pub(crate) state: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) other: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) family: BTreeMap<String, Family>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    pub(crate) parts: Vec<String>,
    pub(crate) members: Vec<String>,
}

const LEXICON_FILE: &str = "lexicon.toml";

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../atlas/", $name)))),*]
    };
}

/// The repository's atlas, one file an entry mode.
const EMBEDDED: &[(&str, &str)] = embedded![
    "flow_control.toml",
    "generic_tikv_slow.toml",
    "io_jitter.toml",
    "leader_drop.toml",
    "lexicon.toml",
    "network_issues.toml",
    "not_tikv_slow_diagnosis.toml",
    "snapshot_backlog.toml",
];

impl Atlas {
    /// The atlas that ships with the program.
    ///
    /// # Panics
    /// Never in a build whose tests passed: they load it.
    #[must_use]
    pub fn embedded() -> Self {
        let files = EMBEDDED.iter().map(|(name, text)| (PathBuf::from(format!("atlas/{name}")), (*text).to_owned()));
        Self::from_files(files, Path::new("atlas")).expect("the tests load the embedded atlas")
    }

    /// Loads `DIR/*.toml`; a folder without `lexicon.toml` uses the word classes that ship with the program.
    ///
    /// # Errors
    /// When a file can't be read or parsed, an id is unknown or double, or the causes form a cycle.
    pub fn load(dir: &Path) -> Result<Self, LoadError> {
        let read_error = |path: &Path| {
            let path = path.to_owned();
            move |source| LoadError::Read { path, source }
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(read_error(dir))? {
            let path = entry.map_err(read_error(dir))?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read_to_string(&path).map_err(read_error(&path))?;
                files.push((path, text));
            }
        }
        if !files.iter().any(|(path, _)| path.ends_with(LEXICON_FILE)) {
            let shipped = EMBEDDED.iter().filter(|(name, _)| *name == LEXICON_FILE);
            files.extend(shipped.map(|(name, text)| (dir.join(name), (*text).to_owned())));
        }
        files.sort();
        Self::from_files(files.into_iter(), dir)
    }

    fn from_files(files: impl Iterator<Item = (PathBuf, String)>, dir: &Path) -> Result<Self, LoadError> {
        let mut mechanisms: Vec<Mechanism> = Vec::new();
        let mut classes = Classes::default();
        for (path, text) in files {
            let toml_error = |path: &Path| {
                let path = path.to_owned();
                move |source: toml::de::Error| LoadError::Toml { path, source: Box::new(source) }
            };
            if path.ends_with(LEXICON_FILE) {
                classes = toml::from_str(&text).map_err(toml_error(&path))?;
                continue;
            }
            let file: MechanismFile = toml::from_str(&text).map_err(toml_error(&path))?;
            let mode = EntryMode::recognise(&file.entry_mode).ok_or_else(|| LoadError::UnknownId {
                id: path.display().to_string(),
                field: "entry_mode",
                named: file.entry_mode.clone(),
                hint: nearest(&file.entry_mode, EntryMode::ALL.iter().map(|m| m.as_str())).map(str::to_owned),
            })?;
            for mut mechanism in file.mechanism {
                if mechanisms.iter().any(|other| other.id == mechanism.id) {
                    return Err(LoadError::DuplicateId { path, id: mechanism.id });
                }
                mechanism.entry_mode = mode;
                mechanisms.push(mechanism);
            }
        }
        if mechanisms.is_empty() {
            return Err(LoadError::Empty(dir.to_owned()));
        }
        mechanisms.sort_by(|a, b| a.id.cmp(&b.id));
        Self::assemble(mechanisms, classes)
    }

    fn assemble(mechanisms: Vec<Mechanism>, classes: Classes) -> Result<Self, LoadError> {
        let ix =
            |position: usize| MechanismIx(u16::try_from(position).expect("an atlas has fewer than 65,536 mechanisms"));
        let by_id: HashMap<String, MechanismIx> =
            mechanisms.iter().enumerate().map(|(at, m)| (m.id.clone(), ix(at))).collect();
        let resolve = |owner: &str, field: &'static str, named: &String| {
            by_id.get(named).copied().ok_or_else(|| LoadError::UnknownId {
                id: owner.to_owned(),
                field,
                named: named.clone(),
                hint: nearest(named, by_id.keys().map(String::as_str)).map(str::to_owned),
            })
        };
        let resolve_all = |owner: &str, field, names: &[String]| {
            names.iter().map(|named| resolve(owner, field, named)).collect::<Result<Vec<_>, _>>()
        };
        let mut causes = Vec::new();
        let mut feedback = Vec::new();
        let mut by_covered = HashMap::new();
        for (at, mechanism) in mechanisms.iter().enumerate() {
            causes.push(resolve_all(&mechanism.id, "upstream_causes", &mechanism.upstream_causes)?);
            feedback.push(resolve_all(&mechanism.id, "feeds_back_to", &mechanism.feeds_back_to)?);
            by_covered.extend(mechanism.covers.iter().map(|covered| (covered.clone(), ix(at))));
        }
        let mut families = Vec::new();
        for (name, family) in &classes.family {
            families.push((name.clone(), resolve_all(name, "members", &family.members)?));
        }
        let graph = Graph::new(causes, feedback)
            .map_err(|cycle| LoadError::Cycle(cycle.iter().map(|ix| mechanisms[ix.index()].id.clone()).collect()))?;
        Ok(Self { mechanisms, by_id, by_covered, graph, classes, families })
    }

    /// Every mechanism, by id.
    pub fn mechanisms(&self) -> impl Iterator<Item = (MechanismIx, &Mechanism)> {
        let positions = (0..=u16::MAX).map(MechanismIx);
        positions.zip(&self.mechanisms)
    }

    /// The mechanism with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<MechanismIx> {
        self.by_id.get(id).copied()
    }

    /// What this id means, finer mechanisms included.
    #[must_use]
    pub fn resolve(&self, id: &str) -> Option<Resolved> {
        let exact = self.find(id).map(Resolved::Exact);
        exact.or_else(|| self.by_covered.get(id).copied().map(Resolved::Covered))
    }

    /// The id nearest to a misspelt one.
    #[must_use]
    pub fn nearest_id(&self, id: &str) -> Option<&str> {
        nearest(id, self.mechanisms.iter().map(|m| m.id.as_str()))
    }

    /// The name of a family, as "disk".
    #[must_use]
    pub fn family_name(&self, family: FamilyIx) -> &str {
        &self.families[family.index()].0
    }

    /// The mechanisms that are a component's fault, the most usual first.
    #[must_use]
    pub fn family_members(&self, family: FamilyIx) -> &[MechanismIx] {
        &self.families[family.index()].1
    }

    /// The family called `name`.
    #[must_use]
    pub fn find_family(&self, name: &str) -> Option<FamilyIx> {
        let position = self.families.iter().position(|(family, _)| family == name)?;
        u16::try_from(position).ok().map(FamilyIx)
    }
}

impl Index<MechanismIx> for Atlas {
    type Output = Mechanism;

    fn index(&self, ix: MechanismIx) -> &Mechanism {
        &self.mechanisms[ix.index()]
    }
}
