//! The closed vocabularies of the schema, with the other words that people write for the same thing.

use std::fmt;

use jsonc_parser::ast::Value;

use crate::diagnostic::Code;
use crate::fold::fold_word;
use crate::json::Json;
use crate::reader::Reader;
use crate::record::Field;
use crate::schema;
use crate::writer::Writer;

/// A closed list of words.
pub trait Vocabulary: Copy + Eq + fmt::Debug + 'static {
    /// What the words are, for messages: "entry mode".
    const WHAT: &'static str;
    /// What is reported for a word outside the list.
    const CODE: Code;
    /// Every word, in the schema's order.
    const ALL: &'static [Self];

    /// The word as the schema spells it.
    fn as_str(self) -> &'static str;

    /// Other words, English and Chinese, that certainly mean the same.
    fn synonyms(self) -> &'static [&'static str];

    /// A word as it is compared.
    fn fold(text: &str) -> String {
        fold_word(text)
    }

    /// The word that `text` certainly means: spelling, case, width, dashes and spaces aside.
    #[must_use]
    fn recognise(text: &str) -> Option<Self> {
        if let Some(exact) = Self::ALL.iter().find(|word| word.as_str() == text) {
            return Some(*exact);
        }
        let folded = Self::fold(text);
        Self::ALL.iter().copied().find(|word| {
            Self::fold(word.as_str()) == folded || word.synonyms().iter().any(|other| Self::fold(other) == folded)
        })
    }
}

macro_rules! vocabulary {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident ($what:literal, $code:ident $(, fold = $fold:path)?) {
            $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal $(| $synonym:literal)*,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[doc = $word_doc])* #[doc = concat!("(`", $word, "`)")] $variant,)*
        }

        impl Vocabulary for $name {
            const WHAT: &'static str = $what;
            const CODE: Code = Code::$code;
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            fn synonyms(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$($synonym),*],)*
                }
            }

            $(fn fold(text: &str) -> String {
                $fold(text)
            })?
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

vocabulary! {
    /// The ticket system that an incident comes from.
    pub enum Source ("source", UnknownSource) {
        /// Jira project GTOC, ids like `GTOC-1234`.
        JiraGtoc = "jira_gtoc" | "jira" | "gtoc" | "gtoc jira",
        /// PingKai tickets, ids like `TICKET-8412`.
        Pingkai = "pingkai" | "ping kai" | "平凯" | "平凯星辰" | "pingkai ticket",
        /// A public incident: hindcast's one extension, ids like `TIKV-18274`.
        Github = "github" | "git hub" | "github issue",
    }
}

vocabulary! {
    /// The route that a diagnosis starts on.
    pub enum EntryMode ("entry mode", UnknownEntryMode) {
        /// The evidence places the time outside TiKV.
        NotTikvSlowDiagnosis = "not_tikv_slow_diagnosis" | "not tikv slow" | "not tikv" | "非 TiKV 慢" | "非 TiKV 慢诊断" | "非 TiKV 问题" | "不是 TiKV 慢",
        /// Slow, with no more specific sign.
        GenericTikvSlow = "generic_tikv_slow" | "generic" | "generic slow" | "tikv slow" | "通用 TiKV 慢" | "TiKV 慢" | "通用慢诊断" | "通用",
        /// A store loses leaders.
        LeaderDrop = "leader_drop" | "leader drops" | "掉 leader" | "leader 掉落" | "leader 掉零" | "leader 掉底" | "leader 下降",
        /// The disk is slow, stuck or full of traffic.
        IoJitter = "io_jitter" | "disk io jitter" | "disk jitter" | "IO 抖动" | "磁盘抖动" | "磁盘 IO 抖动" | "I/O 抖动",
        /// The network between components.
        NetworkIssues = "network_issues" | "network issue" | "network" | "网络问题" | "网络异常" | "网络抖动" | "网络",
        /// Writes are throttled, stalled or refused.
        FlowControl = "flow_control" | "flow controlled" | "流控" | "写入流控" | "限流" | "写入限流",
        /// Region snapshots pile up.
        SnapshotBacklog = "snapshot_backlog" | "snapshots backlog" | "snapshot 积压" | "snapshot 堆积" | "快照积压" | "快照堆积",
    }
}

impl EntryMode {
    /// The reference file whose subject is this mode.
    #[must_use]
    pub fn reference(self) -> Reference {
        match self {
            Self::NotTikvSlowDiagnosis | Self::GenericTikvSlow => Reference::CrossCutting,
            Self::LeaderDrop => Reference::LeaderDrop,
            Self::IoJitter => Reference::IoJitter,
            Self::NetworkIssues => Reference::NetworkIssues,
            Self::FlowControl => Reference::FlowControl,
            Self::SnapshotBacklog => Reference::SnapshotBacklog,
        }
    }
}

vocabulary! {
    /// A reference file of the skill.
    pub enum Reference ("reference file", UnknownReference, fold = fold_file) {
        /// Checks that every diagnosis starts with.
        CrossCutting = "references/cross-cutting.md",
        /// The stages of a read.
        ReadPath = "references/read-path.md",
        /// The stages of a write.
        WritePath = "references/write-path.md",
        /// Lost leaders.
        LeaderDrop = "references/leader-drop.md",
        /// Slow disks.
        IoJitter = "references/io-jitter.md",
        /// The network.
        NetworkIssues = "references/network-issues.md",
        /// Throttled writes.
        FlowControl = "references/flow-control.md",
        /// Region snapshots.
        SnapshotBacklog = "references/snapshot-backlog.md",
    }
}

/// A reference file by its base name: folders, `.md`, an anchor and backslashes do not count.
fn fold_file(text: &str) -> String {
    let path = text.trim().replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = name.split('#').next().unwrap_or_default();
    let folded = fold_word(name);
    folded.strip_suffix(".md").unwrap_or(&folded).to_owned()
}

vocabulary! {
    /// A part of the skill that a replay used.
    pub enum SubCapability ("sub-capability", UnknownWord) {
        /// Checks that every diagnosis starts with.
        CrossCutting = "cross_cutting",
        /// The stages of a read.
        ReadPath = "read_path" | "读路径",
        /// The stages of a write.
        WritePath = "write_path" | "写路径",
        /// Lost leaders.
        LeaderDrop = "leader_drop" | "掉 leader",
        /// Slow disks.
        IoJitter = "io_jitter" | "IO 抖动",
        /// The network.
        NetworkIssues = "network_issues" | "网络问题",
        /// Throttled writes.
        FlowControl = "flow_control" | "流控",
        /// Region snapshots.
        SnapshotBacklog = "snapshot_backlog" | "snapshot 积压",
    }
}

impl From<Reference> for SubCapability {
    fn from(reference: Reference) -> Self {
        match reference {
            Reference::CrossCutting => Self::CrossCutting,
            Reference::ReadPath => Self::ReadPath,
            Reference::WritePath => Self::WritePath,
            Reference::LeaderDrop => Self::LeaderDrop,
            Reference::IoJitter => Self::IoJitter,
            Reference::NetworkIssues => Self::NetworkIssues,
            Reference::FlowControl => Self::FlowControl,
            Reference::SnapshotBacklog => Self::SnapshotBacklog,
        }
    }
}

vocabulary! {
    /// Whether the slowness is on TiKV's side.
    pub enum TikvSide ("side", UnknownWord) {
        /// A TiKV node or a part of it.
        Yes = "yes" | "true" | "y" | "tikv" | "tikv side" | "是" | "TiKV 侧" | "是 TiKV 侧",
        /// Outside TiKV.
        No = "no" | "false" | "n" | "not tikv" | "否" | "不是" | "非 TiKV 侧" | "非 TiKV",
        /// Both, or it depends on how one counts.
        Partly = "partly" | "partial" | "partially" | "depends" | "both" | "部分" | "部分是" | "视情况",
        /// Not said.
        Unknown = "unknown" | "unclear" | "not sure" | "未知" | "不确定" | "不清楚",
    }
}

vocabulary! {
    /// How much of the system is affected.
    pub enum Scope ("scope", UnknownWord) {
        /// One region.
        SingleRegion = "single_region" | "one region" | "region" | "单 region" | "单个 region",
        /// One table or index.
        SingleTable = "single_table" | "one table" | "table" | "单表" | "单张表",
        /// One TiKV.
        SingleInstance = "single_instance" | "one instance" | "single tikv" | "one tikv" | "single store" | "one store" | "single node" | "instance" | "单实例" | "单个实例" | "单节点" | "单 TiKV" | "单个 TiKV" | "单台 TiKV",
        /// Several TiKVs, not all.
        FewInstances = "few_instances" | "several instances" | "some instances" | "multiple instances" | "few stores" | "几个实例" | "多个实例" | "部分实例" | "部分节点" | "多个节点",
        /// All instances of one machine.
        SingleHost = "single_host" | "one host" | "single machine" | "host" | "单机" | "单台机器" | "单个主机" | "单台物理机",
        /// One availability zone.
        Az = "az" | "single az" | "one az" | "availability zone" | "zone" | "单 AZ" | "单机房" | "可用区",
        /// The whole cluster.
        Cluster = "cluster" | "cluster wide" | "whole cluster" | "all instances" | "all stores" | "global" | "集群" | "全集群" | "整个集群" | "所有节点" | "所有实例" | "全局",
        /// TiDB servers.
        TidbInstance = "tidb_instance" | "tidb" | "tidb server" | "single tidb" | "TiDB 节点" | "TiDB 实例" | "单个 TiDB",
        /// Not said.
        Unknown = "unknown" | "unclear" | "未知" | "不确定",
    }
}

vocabulary! {
    /// The path through the system that is slow.
    pub enum Path ("path", UnknownWord) {
        /// Reads.
        Read = "read" | "read path" | "reads" | "读" | "读路径" | "读取",
        /// Writes.
        Write = "write" | "write path" | "writes" | "写" | "写路径" | "写入",
        /// Reads and writes.
        ReadWrite = "read_write" | "read/write" | "read and write" | "both" | "读写" | "读写路径",
        /// Raft itself: elections, messages, heartbeats.
        Raft = "raft",
        /// Region snapshots.
        Snapshot = "snapshot" | "snapshots" | "快照",
        /// Scheduling by PD.
        Scheduling = "scheduling" | "schedule" | "pd scheduling" | "调度",
        /// Flush, compaction, garbage collection, other background work.
        Background = "background" | "background task" | "后台" | "后台任务",
        /// Before TiKV: client, TiDB, PD's timestamps.
        Upstream = "upstream" | "上游" | "tidb" | "client",
    }
}

vocabulary! {
    /// Whether the engineers reached a conclusion.
    pub enum HumanStatus ("status", UnknownStatus) {
        /// They named a cause.
        Clear = "clear" | "明确" | "清晰" | "已明确",
        /// They named none, took it back, or disagreed.
        Unclear = "human_conclusion_unclear" | "unclear" | "not clear" | "不明确" | "不清楚" | "未明确" | "结论不明确" | "人工结论不明确" | "结论不清晰",
    }
}

vocabulary! {
    /// The verdict of a case: how the skill's conclusion relates to the engineers'.
    pub enum MatchLevel ("match level", UnknownMatchLevel) {
        /// The same conclusion.
        Matched = "matched" | "match" | "full match" | "一致" | "匹配" | "完全匹配" | "完全一致",
        /// Right in part: next to the cause, or the route without the cause.
        PartiallyMatched = "partially_matched" | "partial" | "partial match" | "partly matched" | "部分一致" | "部分匹配",
        /// Another conclusion.
        Mismatched = "mismatched" | "mismatch" | "not matched" | "no match" | "不一致" | "不匹配",
        /// Nothing to compare with.
        HumanConclusionUnclear = "human_conclusion_unclear" | "unclear" | "human unclear" | "人工结论不明确" | "人工结论不清晰" | "结论不明确",
    }
}

vocabulary! {
    /// In what a skill's conclusion differs from the engineers'.
    pub enum MismatchType ("mismatch type", UnknownMismatchType) {
        /// It started on the wrong route.
        WrongEntryMode = "wrong_entry_mode",
        /// TiKV against not TiKV.
        WrongSide = "wrong_side",
        /// One instance against the cluster, and the like.
        WrongScope = "wrong_scope",
        /// Reads against writes, and the like.
        WrongPath = "wrong_path",
        /// Another mechanism, or none.
        WrongBottleneck = "wrong_bottleneck",
        /// It named a consequence of the engineers' bottleneck.
        SymptomNamedAsCause = "symptom_named_as_cause",
        /// It named a cause of the engineers' bottleneck that the evidence doesn't prove.
        CauseBeyondEvidence = "cause_beyond_evidence",
        /// It was surer than its evidence allows.
        OverstatedCertainty = "overstated_certainty",
        /// What it was shown refutes its conclusion.
        OverlookedEvidence = "overlooked_evidence",
        /// It took a route without reading that route's reference.
        ReferenceNotConsulted = "reference_not_consulted",
        /// It took a route without the sub-capability of that route.
        SubcapabilityNotActivated = "subcapability_not_activated",
        /// It was shown too little to conclude.
        InsufficientInputs = "insufficient_inputs",
    }
}

vocabulary! {
    /// How a window of the engineers relates to the skill's.
    pub enum Assessment ("assessment", UnknownAssessment) {
        /// Both name the same mechanism for it.
        Agrees = "agrees" | "agree" | "一致",
        /// They name different mechanisms.
        Differs = "differs" | "differ" | "不一致",
        /// The skill's conclusion covers it but doesn't tell the windows apart.
        NotDistinguished = "not_distinguished" | "未区分",
        /// The skill says nothing that fits it.
        Missed = "missed" | "miss" | "遗漏",
        /// Only the skill names it.
        Extra = "extra" | "多出",
        /// One side says too little.
        Unclear = "unclear" | "不明确",
    }
}

/// A word of a closed list; the field is dropped from a list, with an error, when it is none of them.
impl<T: Vocabulary> Field for T {
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self> {
        reader.vocabulary(value)
    }

    fn write(&self, writer: &mut Writer) {
        writer.text(self.as_str());
    }

    fn schema() -> Json {
        schema::one_of(T::ALL.iter().map(|word| word.as_str()))
    }

    fn split(text: &str) -> Vec<&str> {
        split_words(text)
    }
}

/// A word of a closed list, or the empty string for "not known yet".
impl<T: Vocabulary> Field for Option<T> {
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self> {
        Some(reader.vocabulary(value))
    }

    fn write(&self, writer: &mut Writer) {
        writer.text(self.map_or("", T::as_str));
    }

    fn schema() -> Json {
        schema::one_of(std::iter::once("").chain(T::ALL.iter().map(|word| word.as_str())))
    }
}

/// The items of a list that somebody wrote as one string.
pub(crate) fn split_words(text: &str) -> Vec<&str> {
    text.split([',', ';', '、', '，', '；', '\n', '|']).map(str::trim).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_synonym_is_recognised_as_itself() {
        fn check<T: Vocabulary>() {
            for word in T::ALL {
                assert_eq!(T::recognise(word.as_str()), Some(*word));
                for synonym in word.synonyms() {
                    assert_eq!(T::recognise(synonym), Some(*word), "{synonym} is ambiguous");
                }
            }
        }
        check::<Source>();
        check::<EntryMode>();
        check::<Reference>();
        check::<SubCapability>();
        check::<TikvSide>();
        check::<Scope>();
        check::<Path>();
        check::<HumanStatus>();
        check::<MatchLevel>();
        check::<MismatchType>();
        check::<Assessment>();
    }

    #[test]
    fn old_spellings_are_recognised() {
        for text in ["IO 抖动", "ＩＯ抖动", "IO-Jitter", "io jitter", " Io_Jitter "] {
            assert_eq!(EntryMode::recognise(text), Some(EntryMode::IoJitter), "{text}");
        }
        for text in ["references\\io-jitter.md", "io-jitter", "references/IO-Jitter.md", "/x/references/io_jitter.md#a"]
        {
            assert_eq!(Reference::recognise(text), Some(Reference::IoJitter), "{text}");
        }
        assert_eq!(EntryMode::recognise("io_jiter"), None);
    }
}
