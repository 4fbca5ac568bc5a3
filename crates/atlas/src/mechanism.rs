//! One mechanism of the atlas as its TOML file describes it.

use hindcast_case::{EntryMode, Path, Reference, Scope, TikvSide, Vocabulary};
use serde::{Deserialize, Deserializer};

/// A mechanism's place in one loaded atlas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MechanismIx(pub(crate) u16);

impl MechanismIx {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A family's place in one loaded atlas: a component that stands for all mechanisms that are its fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FamilyIx(pub(crate) u16);

impl FamilyIx {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A way in which TiKV gets slow, with its causes, its evidence and its names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanism {
    /// Stable id, snake case.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// English words for it.
    pub aliases_en: Vec<String>,
    /// Chinese words for it, as engineers mix them with English.
    pub aliases_zh: Vec<String>,
    /// Combinations of word classes that mean it, as `<disk> <slow>`.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// Metrics whose name is a mention of it.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// The route on which it is found; set from the file that it stands in.
    #[serde(skip, default = "generic")]
    pub entry_mode: EntryMode,
    /// Other routes on which it is legitimately found.
    #[serde(default, deserialize_with = "words")]
    pub also_entry_modes: Vec<EntryMode>,
    /// The path that it slows.
    #[serde(deserialize_with = "word")]
    pub path: Path,
    /// The stage of the read or write path that it sits in.
    pub stage: Stage,
    /// The component at fault.
    pub side: Component,
    /// Whether it counts as TiKV's side; `depends` is [`TikvSide::Partly`].
    #[serde(deserialize_with = "word")]
    pub is_tikv_side: TikvSide,
    /// Whether it may stand as the reported bottleneck.
    pub role: Role,
    /// A load or a decision from outside that sets off a bottleneck, rather than the part that is slow.
    #[serde(default)]
    pub is_trigger: bool,
    /// How much of the system it usually affects, most usual first.
    #[serde(deserialize_with = "words")]
    pub scope: Vec<Scope>,
    /// Ids of the mechanisms that can directly cause it.
    pub upstream_causes: Vec<String>,
    /// Ids of mechanisms that it can make worse in turn; not part of the graph of causes.
    pub feeds_back_to: Vec<String>,
    /// Ids of finer mechanisms that this one includes.
    pub covers: Vec<String>,
    /// The reference file of the skill that treats it.
    #[serde(deserialize_with = "word")]
    pub reference: Reference,
    /// Fragments of log lines that go with it.
    pub log_patterns: Vec<String>,
    /// Observations that exclude it.
    pub refuted_by: Vec<String>,
    /// Where the knowledge comes from.
    pub sources: Vec<String>,
    /// A remark.
    #[serde(default)]
    pub note: String,
    /// Measurements that show it.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
}

/// A measurement that shows a mechanism.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// What is measured.
    pub metric: String,
    /// The query, for Prometheus and its kin; empty where the evidence is a field of a log or a plan.
    #[serde(default)]
    pub promql: String,
    /// What its curve looks like when the mechanism is at work.
    pub shape: String,
    /// A rule of thumb for the value, with its unit; baseline and peers count more.
    #[serde(default)]
    pub threshold: String,
    /// Where query and threshold come from.
    pub source: String,
    /// First TiKV release branch that registers the metric; empty for other components.
    #[serde(default)]
    pub since: String,
    /// A remark on versions.
    #[serde(default)]
    pub since_note: String,
}

/// The stage of the read or write path that a mechanism sits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the stages of docs/domain.md")]
pub enum Stage {
    Client,
    Workload,
    TidbSql,
    Tso,
    TidbKvclient,
    Network,
    Grpc,
    LockWait,
    ReadPoolQueue,
    GetSnapshot,
    CopHandle,
    EngineRead,
    SchedulerAdmission,
    SchedulerLatch,
    SchedulerProcess,
    SchedulerThrottle,
    ProposeWait,
    RaftProcess,
    AppendLog,
    CommitLog,
    ApplyWait,
    ApplyLog,
    KvWrite,
    Engine,
    FlushCompaction,
    Gc,
    Background,
    RaftControl,
    PdSchedule,
    SnapshotGen,
    SnapshotSend,
    SnapshotApply,
    Memory,
    Cpu,
    Disk,
    Host,
}

/// The component at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Component {
    /// TiKV itself.
    Tikv,
    /// TiDB.
    Tidb,
    /// PD.
    Pd,
    /// The application, its statements and its load.
    Client,
    /// Disk, host, network.
    Infra,
}

impl Component {
    /// The word of the atlas files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tikv => "tikv",
            Self::Tidb => "tidb",
            Self::Pd => "pd",
            Self::Client => "client",
            Self::Infra => "infra",
        }
    }
}

/// Whether a mechanism may stand as the reported bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It may.
    Root,
    /// Only when nothing upstream of it is proven.
    Intermediate,
    /// Not while any cause of it has evidence.
    Symptom,
}

impl Role {
    /// The word of the atlas files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Intermediate => "intermediate",
            Self::Symptom => "symptom",
        }
    }
}

fn generic() -> EntryMode {
    EntryMode::GenericTikvSlow
}

fn word<'de, D: Deserializer<'de>, T: Vocabulary>(deserializer: D) -> Result<T, D::Error> {
    parse(&String::deserialize(deserializer)?)
}

fn words<'de, D: Deserializer<'de>, T: Vocabulary>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Vec::<String>::deserialize(deserializer)?.iter().map(|text| parse(text)).collect()
}

fn parse<T: Vocabulary, E: serde::de::Error>(text: &str) -> Result<T, E> {
    T::recognise(text).ok_or_else(|| {
        let expected = T::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", ");
        E::custom(format!("{text:?} is not a {}; expected one of {expected}", T::WHAT))
    })
}
