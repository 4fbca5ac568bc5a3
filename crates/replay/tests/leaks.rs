//! A hundred planted leaks of ten kinds are caught, and clean tickets are not accused.

use hindcast_atlas::Atlas;
use hindcast_case::{Case, FinalHumanConclusion};
use hindcast_replay::{Casebook, Leak, LeakCheck, question};
use hindcast_skill::Question;
use hindcast_text::TextReader;

/// An incident as a reporter tells it, and what the engineers found, in both languages.
struct Incident {
    title: &'static str,
    description: &'static str,
    conclusion: &'static str,
    translated: &'static str,
    english: &'static str,
    chinese: &'static str,
    slug: &'static str,
    id: &'static str,
}

const INCIDENTS: [Incident; 10] = [
    Incident {
        title: "P99 write latency rose to 2 s",
        description: "Since 14:05 the P99 of inserts rose from 20 ms to 2 s. QPS fell by half. Nothing was released today. Could you please help to find the root cause?",
        conclusion: "Root cause: EBS jitter on the volume of tikv-3, single fsync calls took more than one second.",
        translated: "根因是 tikv-3 的云盘抖动，单次 fsync 超过一秒。",
        english: "EBS jitter",
        chinese: "云盘抖动",
        slug: "disk-jitter",
        id: "disk_io_jitter",
    },
    Incident {
        title: "业务查询偶发超时",
        description: "今天上午开始点查偶发超时，耗时在 1s 以上，监控看 cop duration 有毛刺。集群版本 v6.5.3，请帮忙排查一下原因。",
        conclusion: "根因是统一读线程池 CPU 打满，大量全表扫描把 unified read pool 占满，点查排队。",
        translated: "The unified read pool CPU is saturated: full table scans fill it and point gets wait, that is the root cause.",
        english: "unified read pool CPU saturated",
        chinese: "统一读线程池 CPU 打满",
        slug: "unified-read-pool-cpu-saturated",
        id: "read_pool_cpu_saturation",
    },
    Incident {
        title: "Writes stall every night",
        description: "During the nightly batch import the insert latency rises above 100 ms for several minutes, on all nodes. Grafana attached. What is the reason?",
        conclusion: "It turned out that level-0 files accumulated during the import because compaction could not keep up, so RocksDB slowed writes down.",
        translated: "最终确认是导入期间 L0 文件堆积，compaction 跟不上，RocksDB 限速。",
        english: "L0 files accumulated",
        chinese: "L0 文件堆积",
        slug: "l0-accumulation",
        id: "l0_accumulation",
    },
    Incident {
        title: "Leaders moved away from one zone",
        description: "At 03:20 the leader count of the three stores in zone b dropped to zero and came back after ten minutes. Queries failed with region unavailable meanwhile.",
        conclusion: "Confirmed that a network partition cut zone b off for ten minutes.",
        translated: "确认是网络分区，b 区断网十分钟。",
        english: "network partition",
        chinese: "网络分区",
        slug: "network-partition",
        id: "network_partition",
    },
    Incident {
        title: "集群 Duration 上升到秒级",
        description: "昨晚扩容之后 .95 duration 上升到秒级，CPU 和磁盘看着都不高，TiKV 日志没有明显报错，麻烦看下。",
        conclusion: "根因是 Region 数量过多，心跳把 raftstore 线程占满。",
        translated: "There are too many regions; their heartbeats keep raftstore busy. This is the root cause.",
        english: "too many regions",
        chinese: "Region 数量过多",
        slug: "too-many-regions",
        id: "too_many_regions",
    },
    Incident {
        title: "Raftstore handles messages slowly",
        description: "One store shows propose wait of several seconds. Its disk latency is below 1 ms. We restarted it and it happened again an hour later.",
        conclusion: "The culprit is host memory pressure: pages of that host were being swapped out.",
        translated: "原因是主机内存不足，该主机在 swap。",
        english: "host memory pressure",
        chinese: "主机内存不足",
        slug: "host-memory-pressure",
        id: "host_memory_pressure",
    },
    Incident {
        title: "One node stops serving",
        description: "QPS on one node fell to zero at 10:12 and stayed there until we killed the process. Other nodes are fine. Logs of that node end at 10:12.",
        conclusion: "The root cause is a disk hang: the kernel log shows I/O of that device blocked for more than 120 s.",
        translated: "根因是磁盘 hang 住，内核日志显示该设备 IO 阻塞超过 120 秒。",
        english: "disk hang",
        chinese: "磁盘 hang 住",
        slug: "disk-hang",
        id: "disk_io_hang",
    },
    Incident {
        title: "PD 切换后写入报错",
        description: "凌晨 2 点左右业务写入大量报错，持续约 5 分钟后自行恢复。报错信息见附件，版本 v5.4.0。",
        conclusion: "定位到 PD leader 切换期间 TSO 不可用，根因是 PD 异常。",
        translated: "Found the cause: PD is unhealthy, its leader changed and no TSO was given out meanwhile.",
        english: "PD is unhealthy",
        chinese: "PD 异常",
        slug: "pd-unhealthy",
        id: "pd_unhealthy",
    },
    Incident {
        title: "Commit log duration rises at noon",
        description: "Every day at noon commit log duration rises to 500 ms for a few minutes while append log stays at 5 ms. Traffic is low at that time.",
        conclusion: "RCA: a hibernate awaken storm, all regions that slept wake up at once and flood raftstore with messages.",
        translated: "结论：hibernate region 集中唤醒，大量消息占满 raftstore。",
        english: "hibernate awaken storm",
        chinese: "hibernate region 集中唤醒",
        slug: "hibernate-awaken-storm",
        id: "hibernate_awaken_storm",
    },
    Incident {
        title: "缩容时延迟上涨",
        description: "正在下线两个 TiKV 节点，期间写入延迟从 10ms 涨到 200ms，想知道是否正常，需要怎么处理？",
        conclusion: "原因是 snapshot 生成积压，下线迁移 region 时 snapshot 生成排队，占满了 IO 带宽。",
        translated: "This is caused by a snapshot generation backlog: while regions move away, generating snapshots queues up.",
        english: "snapshot generation backlog",
        chinese: "snapshot 生成积压",
        slug: "snapshot-generate-backlog",
        id: "snapshot_generate_backlog",
    },
];

/// The kinds of leaks, each with its ways of giving the answer away; `{…}` stand for parts of the incident.
const PLANTS: [(&str, Place, [&str; 5]); 10] = [
    (
        "edited title",
        Place::Title,
        [
            "{title} (root cause: {en})",
            "{title}：{zh}导致",
            "{title} caused by {en}",
            "[{en}] {title}",
            "{title} due to {en}",
        ],
    ),
    (
        "edited description",
        Place::Description,
        [
            "Update: root cause is {en}.",
            "更新：最终确认是{zh}。",
            "Edit: it turned out to be {en}.",
            "补充：已定位到是{zh}引起的。",
            "EDIT: we confirmed {en}.",
        ],
    ),
    (
        "later comment",
        Place::Symptom,
        [
            "Found it: {en} on that node.",
            "查到原因了，是{zh}。",
            "All of this was caused by {en}, closing.",
            "这次是{zh}导致的，先关单了。",
            "The reason turned out to be {en}.",
        ],
    ),
    (
        "label",
        Place::Description,
        ["Labels: tikv, {id}", "labels: {slug}, p1", "标签：{zh}", "Component: {en}", "Labels: {en}"],
    ),
    (
        "link title",
        Place::Description,
        [
            "Postmortem: {en} (https://wiki.example.com/pages/123)",
            "复盘：{zh} (https://wiki.example.com/pages/123)",
            "see https://wiki.example.com/rca-{slug}",
            "RCA of {en} (https://docs.example.com/d/1)",
            "https://wiki.example.com/root-cause/{slug}",
        ],
    ),
    (
        "file name",
        Place::Description,
        ["[{slug}-root-cause.png]", "[{slug}.png]", "see {slug}_2.jpg", "[{zh}根因.pdf]", "[root-cause-{slug}.log]"],
    ),
    (
        "resolution text",
        Place::Description,
        [
            "Resolution: moved the store away, {en} is gone.",
            "解决办法：迁移实例，规避{zh}。",
            "Fixed by getting rid of {en}.",
            "Workaround for {en}: restart.",
            "{zh}已解决。",
        ],
    ),
    (
        "quoted conclusion",
        Place::Symptom,
        [
            "{conclusion}",
            "> {conclusion}",
            "Bo wrote: {conclusion}",
            "\u{201c}{conclusion}\u{201d}",
            "FYI {conclusion}",
        ],
    ),
    (
        "translated conclusion",
        Place::Description,
        ["{translated}", "{translated}", "> {translated}", "转：{translated}", "{translated}"],
    ),
    (
        "tag",
        Place::Title,
        ["{title} #{slug}", "【{zh}】{title}", "[{slug}] {title}", "{title} [{id}]", "{title} #{id}"],
    ),
];

#[derive(Clone, Copy)]
enum Place {
    Title,
    Description,
    Symptom,
}

impl Incident {
    fn question(&self) -> Question {
        Question {
            title: self.title.to_owned(),
            description_text: self.description.to_owned(),
            initial_symptom: format!("{}\n\n{}", self.title, self.description),
            ..Question::default()
        }
    }

    fn conclusion(&self) -> FinalHumanConclusion {
        FinalHumanConclusion { owner_final_comment: self.conclusion.to_owned(), ..FinalHumanConclusion::default() }
    }

    fn planted(&self, place: Place, way: &str) -> Question {
        let parts = [
            ("{title}", self.title),
            ("{en}", self.english),
            ("{zh}", self.chinese),
            ("{slug}", self.slug),
            ("{id}", self.id),
            ("{conclusion}", self.conclusion),
            ("{translated}", self.translated),
        ];
        let text = parts.iter().fold(way.to_owned(), |text, (mark, part)| text.replace(mark, part));
        let mut question = self.question();
        match place {
            Place::Title => question.title = text,
            Place::Description => question.description_text.push_str(&format!("\n\n{text}")),
            Place::Symptom => question.initial_symptom.push_str(&format!("\n\n{text}")),
        }
        question
    }
}

/// Runs a check with one atlas for all.
fn with_check(test: impl FnOnce(&LeakCheck<'_>)) {
    let atlas = Atlas::embedded();
    let texts = TextReader::new(&atlas);
    test(&LeakCheck::new(&atlas, &texts));
}

fn told(leak: &Leak) -> String {
    let signals = leak.signals.iter().map(|signal| format!("{} {:?}", signal.kind.as_str(), signal.passage));
    format!("{:.2} {}", leak.score, signals.collect::<Vec<_>>().join("; "))
}

#[test]
fn planted_leaks_are_caught() {
    with_check(|check| {
        let mut missed = Vec::new();
        let mut planted = 0;
        for (index, incident) in INCIDENTS.iter().enumerate() {
            for (kind, place, ways) in &PLANTS {
                let way = ways[index % ways.len()];
                let leak = check.check(&incident.planted(*place, way), &incident.conclusion());
                planted += 1;
                if !leak.is_leaking() {
                    missed.push(format!("{kind}: {way:?} of {}: {}", incident.id, told(&leak)));
                }
            }
        }
        assert_eq!(planted, 100);
        assert!(missed.len() <= 2, "{} missed:\n{}", missed.len(), missed.join("\n"));
    });
}

#[test]
fn every_way_of_leaking_is_caught_mostly() {
    with_check(|check| {
        let mut missed = Vec::new();
        for incident in &INCIDENTS {
            for (kind, place, way) in
                PLANTS.iter().flat_map(|(kind, place, ways)| ways.iter().map(move |way| (kind, place, way)))
            {
                let leak = check.check(&incident.planted(*place, way), &incident.conclusion());
                if !leak.is_leaking() {
                    missed.push(format!("{kind}: {way:?} of {}: {}", incident.id, told(&leak)));
                }
            }
        }
        assert!(missed.len() <= 10, "{} of 500 missed:\n{}", missed.len(), missed.join("\n"));
    });
}

#[test]
fn clean_tickets_are_not_accused() {
    // What reporters write before anyone knows: guesses, requests, observations, answers to questions.
    let honest = [
        "We suspect the disk but have not checked yet.",
        "怀疑是网络问题，请帮忙确认。",
        "Please help to find the root cause.",
        "根因未知，麻烦看下。",
        "What could this be caused by?",
        "Disk utilisation is 40 %, CPU 60 %, network is normal.",
        "磁盘、网络、内存看着都正常，没有报错。",
        "We restarted the node and it recovered, but it happened again.",
        "[screenshot-1.png] [tikv.log] [grafana-overview.png]",
        "Labels: tikv, p1, customer-a",
        "https://grafana.example.com/d/000000011/tikv-details?from=1767679200000&to=1767682800000",
        "版本 v6.5.3，三副本，9 个 TiKV，NVMe 盘。",
        "Queries with large scans became slow because of the increased latency.",
        "Resolution is not urgent, but we would like to understand it.",
        "上次类似问题是扩容解决的，这次没有变更。",
    ];
    with_check(|check| {
        let mut accused = Vec::new();
        let mut clean = 0;
        for incident in &INCIDENTS {
            for line in [""].iter().chain(&honest) {
                let mut question = incident.question();
                question.description_text.push_str(&format!("\n\n{line}"));
                let leak = check.check(&question, &incident.conclusion());
                clean += 1;
                if leak.is_leaking() {
                    accused.push(format!("{}: {line:?}: {}", incident.id, told(&leak)));
                }
            }
        }
        let casebook = concat!(env!("CARGO_MANIFEST_DIR"), "/../../casebooks/public");
        for path in Casebook::open(casebook.as_ref()).expect("the public casebook").paths() {
            let case: Case = hindcast_case::read(&std::fs::read(&path).expect("a file")).value.expect("a case");
            let leak = check.check(&question(&case).0, &case.final_human_conclusion);
            clean += 1;
            if leak.is_leaking() {
                accused.push(format!("{}: {}", case.incident_id, told(&leak)));
            }
        }
        assert!(clean >= 170);
        assert!(accused.len() * 50 <= clean, "{} of {clean} accused:\n{}", accused.len(), accused.join("\n"));
    });
}

#[test]
fn a_leak_says_where() {
    with_check(|check| {
        let incident = &INCIDENTS[0];
        let question = incident.planted(Place::Description, "Update: root cause is {en}.");
        let leak = check.check(&question, &incident.conclusion());
        let signal = &leak.signals[0];
        assert_eq!(signal.field, "canonical_incident.description_text");
        assert_eq!(&question.description_text[signal.span.start..signal.span.end], "Update: root cause is EBS jitter.");
    });
}
