//! Scope, side and path as a text says them.

use std::collections::HashMap;

use hindcast_atlas::{Finder, Folded};
use hindcast_case::{Path, Scope, Span, TikvSide};

/// What a word says about where the problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Scope(Scope),
    Side(TikvSide),
    Path(Path),
    /// "每个 TiKV 有 …", "集群有 …": describes the cluster, not the problem.
    Nothing,
}

const PLACES: &[(Place, &[&str])] = &[
    (
        Place::Scope(Scope::SingleInstance),
        &[
            "one tikv",
            "single tikv",
            "a single tikv",
            "that tikv",
            "this tikv",
            "the tikv",
            "a tikv",
            "one store",
            "a store",
            "that store",
            "this store",
            "the store",
            "single store",
            "single instance",
            "one instance",
            "that instance",
            "one node",
            "that node",
            "single node",
            "the node",
            "this node",
            "a node",
            "one of the tikv",
            "one of the stores",
            "target store",
            "the receiving store",
            "the source store",
            "on store",
            "store 1",
            "单个 tikv",
            "单台 tikv",
            "单实例",
            "单个实例",
            "一个 tikv",
            "一台 tikv",
            "某个 tikv",
            "某台 tikv",
            "该 tikv",
            "这台 tikv",
            "这个 tikv",
            "那台 tikv",
            "单节点",
            "单个节点",
            "一个节点",
            "某个节点",
            "该节点",
            "这个节点",
            "另一个 tikv",
            "该 store",
            "某个 store",
            "单个 store",
            "一个 store",
            "单 tikv",
            "其中一个 tikv",
            "其中一台",
        ],
    ),
    (
        Place::Scope(Scope::SingleHost),
        &[
            "that host",
            "this host",
            "the host",
            "one host",
            "single host",
            "same host",
            "one machine",
            "same machine",
            "that machine",
            "the machine",
            "一台机器",
            "该机器",
            "这台机器",
            "单台物理机",
            "该主机",
            "同一台机器",
            "同一台",
            "某台机器",
            "单机",
            "一台物理机",
            "该宿主机",
        ],
    ),
    (
        Place::Scope(Scope::FewInstances),
        &[
            "some nodes",
            "some stores",
            "some tikv",
            "several tikv",
            "several stores",
            "several nodes",
            "several instances",
            "a few tikv",
            "a few stores",
            "those stores",
            "slow stores",
            "these stores",
            "two tikv",
            "two stores",
            "three stores",
            "multiple tikv",
            "multiple stores",
            "some of the stores",
            "some instances",
            "source stores",
            "多个 tikv",
            "几个 tikv",
            "部分 tikv",
            "部分节点",
            "部分实例",
            "部分 store",
            "个别节点",
            "若干节点",
            "若干 tikv",
            "多台 tikv",
            "几台 tikv",
            "两个 tikv",
            "三个 tikv",
            "多个节点",
            "多个实例",
            "多个 store",
        ],
    ),
    (
        Place::Scope(Scope::Az),
        &[
            "one az",
            "the az",
            "whole az",
            "that az",
            "an az",
            "one availability zone",
            "one zone",
            "整个 az",
            "单个机房",
            "某个机房",
            "该机房",
            "一个机房",
            "某个 az",
            "单 az",
        ],
    ),
    (
        Place::Scope(Scope::Cluster),
        &[
            "whole cluster",
            "entire cluster",
            "all tikv",
            "all the tikv",
            "all stores",
            "all nodes",
            "all instances",
            "every tikv",
            "every store",
            "every node",
            "each store",
            "each tikv",
            "cluster wide",
            "across the cluster",
            "across all stores",
            "large cluster",
            "the cluster",
            "all tikvs",
            "所有节点",
            "所有 tikv",
            "全部节点",
            "全部 tikv",
            "整个集群",
            "全集群",
            "所有实例",
            "所有 store",
            "集群整体",
            "各节点",
            "各个 tikv",
            "集群",
            "每个 tikv 都",
            "全局",
        ],
    ),
    (
        Place::Scope(Scope::SingleRegion),
        &[
            "one region",
            "a single region",
            "single region",
            "one hot region",
            "单个 region",
            "某个 region",
            "一个 region",
            "单 region",
            "该 region",
        ],
    ),
    (
        Place::Scope(Scope::SingleTable),
        &["one table", "single table", "a single table", "单表", "单张表", "某张表", "一张表", "该表"],
    ),
    (
        Place::Scope(Scope::TidbInstance),
        &[
            "one tidb",
            "single tidb",
            "the tidb server",
            "that tidb",
            "a tidb server",
            "单个 tidb",
            "某个 tidb",
            "该 tidb",
            "一个 tidb",
        ],
    ),
    (
        Place::Nothing,
        &[
            "单个 tikv 有",
            "单 tikv 有",
            "每个 tikv 有",
            "单台 tikv 有",
            "集群有",
            "集群存在",
            "集群中有",
            "集群里有",
            "集群规模",
            "the cluster has",
            "the cluster have",
            "per tikv",
            "per store",
            "of the cluster",
            "cluster id",
            "集群版本",
            "region merge",
        ],
    ),
    (
        Place::Side(TikvSide::No),
        &[
            "与 tikv 无关",
            "和 tikv 无关",
            "跟 tikv 无关",
            "tikv 无关",
            "not a tikv problem",
            "not a tikv issue",
            "not tikv problem",
            "not on the tikv side",
            "not tikv side",
            "not tikv",
            "tikv is fine",
            "tikv is healthy",
            "tikv itself is healthy",
            "tikv itself is fine",
            "tikv is not involved",
            "tikv was not involved",
            "tikv was fine",
            "tikv is normal",
            "unrelated to tikv",
            "nothing to do with tikv",
            "outside tikv",
            "outside of tikv",
            "tikv is not the cause",
            "tikv is innocent",
            "tikv is only a victim",
            "tikv is the victim",
            "tikv 正常",
            "tikv 都正常",
            "tikv 侧正常",
            "tikv 本身正常",
            "tikv 没有问题",
            "tikv 没问题",
            "非 tikv 问题",
            "不是 tikv 的问题",
            "不是 tikv 问题",
            "不在 tikv",
            "不在 tikv 侧",
            "is a tidb problem",
            "is a tidb issue",
            "a tidb bug",
            "tidb 的问题",
            "tidb 问题",
            "是 tidb 的",
            "tidb 侧问题",
            "tidb 侧的问题",
            "client side problem",
            "client side issue",
            "application side",
            "客户端问题",
            "应用侧问题",
            "业务侧问题",
            "业务侧的问题",
            "应用侧的问题",
            "is a client problem",
        ],
    ),
    (
        Place::Side(TikvSide::Yes),
        &[
            "tikv side problem",
            "tikv side issue",
            "on the tikv side",
            "a tikv problem",
            "a tikv issue",
            "tikv 侧问题",
            "tikv 侧的问题",
            "tikv 的问题",
            "是 tikv 问题",
            "在 tikv 侧",
        ],
    ),
    (Place::Path(Path::ReadWrite), &["reads and writes", "read and write", "read/write", "读写", "读和写"]),
    (
        Place::Path(Path::Write),
        &[
            "write path",
            "writes",
            "write latency",
            "write duration",
            "prewrite",
            "raft disk",
            "raft log",
            "raft volume",
            "raft 盘",
            "写路径",
            "写入",
            "写延迟",
            "写请求",
            "flushed",
            "kv_prewrite",
            "kv_commit",
            "insert",
        ],
    ),
    (
        Place::Path(Path::Read),
        &[
            "read path",
            "reads",
            "read latency",
            "read requests",
            "coprocessor",
            "读路径",
            "读请求",
            "读延迟",
            "查询",
            "读取",
            "kv_get",
            "batch_get",
        ],
    ),
];

/// Reads places; built once.
#[derive(Debug)]
pub(crate) struct PlaceReader {
    words: Finder<Place>,
}

/// What a text says about where the problem is; each with its words.
#[derive(Debug, Clone, Default)]
pub struct Places {
    scopes: Vec<(Scope, Span)>,
    /// Whether it is TiKV's side.
    pub side: Option<(TikvSide, Span)>,
    /// Which path is slow.
    pub path: Option<(Path, Span)>,
}

impl PlaceReader {
    pub(crate) fn new() -> Self {
        let words = PLACES.iter().flat_map(|(place, words)| words.iter().map(move |word| (*place, *word)));
        let folded: HashMap<String, Place> =
            words.map(|(place, word)| (Folded::new(word).as_str().to_owned(), place)).collect();
        Self { words: Finder::new(folded) }
    }

    /// The places of a text.
    pub(crate) fn read(&self, text: &str, folded: &Folded) -> Places {
        let mut places = Places::default();
        let (mut reads, mut writes) = (None, None);
        for (span, place) in self.words.find(text, folded) {
            match place {
                Place::Scope(scope) => places.scopes.push((*scope, span)),
                // A clear "not TiKV" outweighs whatever else is said about sides.
                Place::Side(side) if places.side.is_none_or(|(known, _)| known != TikvSide::No) => {
                    places.side = Some((*side, span))
                }
                Place::Path(Path::Read) => reads = reads.or(Some(span)),
                Place::Path(Path::Write) => writes = writes.or(Some(span)),
                Place::Path(path) => places.path = places.path.or(Some((*path, span))),
                Place::Side(_) | Place::Nothing => {}
            }
        }
        places.scopes.extend(numbered(text));
        places.scopes.sort_by_key(|(_, span)| *span);
        places.path = places.path.or(match (reads, writes) {
            (Some(read), Some(_)) => Some((Path::ReadWrite, read)),
            (Some(read), None) => Some((Path::Read, read)),
            (None, Some(write)) => Some((Path::Write, write)),
            (None, None) => None,
        });
        places
    }
}

impl Places {
    /// The first scope said within this range.
    #[must_use]
    pub fn scope_in(&self, range: Span) -> Option<(Scope, Span)> {
        self.scopes.iter().find(|(_, span)| span.overlaps(range)).copied()
    }

    /// The first scope said anywhere.
    #[must_use]
    pub fn first_scope(&self) -> Option<(Scope, Span)> {
        self.scopes.first().copied()
    }
}

/// "store 8" is one instance, "region 1223936" one region, "20 个 TiKV" the cluster.
fn numbered(text: &str) -> Vec<(Scope, Span)> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (word, scope) in [("store", Scope::SingleInstance), ("region", Scope::SingleRegion)] {
        for (at, _) in lower.match_indices(word) {
            let rest = lower[at + word.len()..].trim_start_matches([' ', '-', '#']);
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let is_word = !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let is_time = rest[digits..].starts_with(':');
            if is_word && (1..=12).contains(&digits) && !is_time {
                let end = text.len() - rest.len() + digits;
                found.push((scope, Span::new(at, end)));
            }
        }
    }
    for (at, _) in lower.match_indices("tikv") {
        let before = lower[..at].trim_end();
        let before = before.strip_suffix(['个', '台']).unwrap_or(before).trim_end();
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let start = before.len() - digits;
        let in_word =
            before[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'));
        // "from 24 to 30 TiKV nodes" counts what is added, not what is slow.
        let is_change =
            [" to", " from", "到", "至", "扩容", "缩容"].iter().any(|word| before[..start].trim_end().ends_with(word));
        if let Ok(count) = before[start..].parse::<u32>()
            && !in_word
            && !is_change
        {
            // More than a handful of instances is the cluster.
            let scope = match count {
                1 => Scope::SingleInstance,
                2..=5 => Scope::FewInstances,
                _ => Scope::Cluster,
            };
            found.push((scope, Span::new(start, at + "tikv".len())));
        }
    }
    found
}
