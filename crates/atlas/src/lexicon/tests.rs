use super::*;
use proptest::prelude::*;

fn lexicon() -> &'static (Atlas, Lexicon) {
    static SHARED: std::sync::OnceLock<(Atlas, Lexicon)> = std::sync::OnceLock::new();
    SHARED.get_or_init(|| {
        let atlas = Atlas::embedded();
        let lexicon = Lexicon::new(&atlas);
        (atlas, lexicon)
    })
}

/// Mentions as "words=subject".
fn mentions(text: &str) -> Vec<String> {
    let (atlas, lexicon) = lexicon();
    let scan = lexicon.scan(text);
    let name = |subject: Subject| match subject {
        Subject::Mechanism(ix) => atlas[ix].id.clone(),
        Subject::Family(ix) => format!("({})", atlas.family_name(ix)),
    };
    scan.mentions.iter().map(|m| format!("{}={}", &text[m.span.start..m.span.end], name(m.subject))).collect()
}

#[test]
fn aliases_are_found_whatever_their_spelling() {
    for text in ["IO 抖动", "IO抖动", "ＩＯ 抖动", "io-抖动", "I/O 抖动"] {
        assert_eq!(mentions(text), [format!("{text}=disk_io_jitter")]);
    }
    assert_eq!(mentions("Apply-waits rose"), ["Apply-waits=apply_wait_high"]);
    assert_eq!(mentions("write stalls"), ["write stalls=rocksdb_write_stall"]);
    assert_eq!(mentions("pages were being swapped"), ["swapped=host_memory_pressure"]);
}

#[test]
fn words_inside_words_and_identifiers_are_no_mentions() {
    for text in [
        "iojitter2",
        "raft.apply-wait-x",
        "store-pool-size = 4",
        "my_io_jitter_fn",
        "swapfile",
        "config.swap.on",
        "max-sub-compactions",
    ] {
        assert_eq!(mentions(text), [] as [String; 0], "{text}");
    }
}

#[test]
fn metric_names_and_ids_are_mentions() {
    for suffix in ["", "_bucket", "_count"] {
        let metric = format!("tikv_raftstore_apply_wait_time_duration_secs{suffix}");
        assert_eq!(mentions(&metric), [format!("{metric}=apply_wait_high")]);
    }
    assert_eq!(mentions("see disk_io_jitter"), ["disk_io_jitter=disk_io_jitter"]);
    assert_eq!(mentions("cgroup_cpu_throttling"), ["cgroup_cpu_throttling=host_cpu_saturation"]);
}

#[test]
fn phrases_bind_a_state_to_the_nearest_part() {
    assert_eq!(
        mentions("The EBS volume under that TiKV degraded"),
        ["EBS volume under that TiKV degraded=disk_io_jitter"]
    );
    assert_eq!(mentions("disk of that store hangs"), ["disk of that store hangs=disk_io_hang"]);
    assert_eq!(mentions("gRPC 线程被打满"), ["gRPC 线程被打满=grpc_cpu_saturation"]);
    assert_eq!(mentions("gRPC CPU 成为瓶颈"), ["gRPC CPU 成为瓶颈=grpc_cpu_saturation"]);
    assert_eq!(mentions("磁盘正常,网络延迟高"), ["磁盘=(disk)", "网络延迟高=network_latency_high"]);
    assert_eq!(
        mentions("disk and network are slow"),
        ["disk and network are slow=disk_io_jitter", "network are slow=network_latency_high"]
    );
    assert_eq!(mentions("different I/O volume of raft-engine"), [] as [String; 0]);
}

#[test]
fn the_longest_name_wins() {
    assert_eq!(mentions("磁盘带宽打满"), ["磁盘带宽打满=disk_bandwidth_saturation"]);
    assert_eq!(mentions("带宽打满"), ["带宽打满=network_bandwidth_saturation"]);
    assert_eq!(mentions("PD leader 丢失"), ["PD leader 丢失=pd_unhealthy"]);
}

#[test]
fn every_alias_is_a_mention_of_its_mechanism_alone() {
    let (atlas, lexicon) = lexicon();
    for (ix, mechanism) in atlas.mechanisms() {
        for alias in mechanism.aliases_en.iter().chain(&mechanism.aliases_zh) {
            let subjects: Vec<Subject> = lexicon.scan(alias).mentions.iter().map(|mention| mention.subject).collect();
            assert_eq!(subjects, [Subject::Mechanism(ix)], "{alias}");
        }
    }
}

#[test]
fn an_owner_refines_what_it_owns() {
    assert_eq!(mentions("CPU 打满"), ["CPU 打满=host_cpu_saturation"]);
    assert_eq!(mentions("TiDB CPU 打满"), ["TiDB CPU=tidb_resource_bottleneck"]);
    assert_eq!(mentions("gRPC 线程的 CPU 打满"), ["gRPC 线程的 CPU 打满=grpc_cpu_saturation"]);
    assert_eq!(mentions("tidb-server hit OOM"), ["tidb-server hit OOM=tidb_resource_bottleneck"]);
}

#[test]
fn a_long_hostile_line_is_scanned_quickly() {
    let (_, lexicon) = lexicon();
    for unit in ["disk slow ", "[[[[", "磁盘慢", "io-", "a.b-c_", "snapshot apply hold "] {
        let text = unit.repeat(1_000_000 / unit.len());
        let started = std::time::Instant::now();
        let _ = lexicon.scan(&text);
        // Quadratic time would take minutes; the bound only has to tell the two apart.
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{unit:?} took {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn any_text_is_scanned_without_a_panic_and_spans_are_in_order(text in "(\\PC|磁盘|IO|slow|[ ,.。_/-]){0,60}") {
        let (_, lexicon) = lexicon();
        let scan = lexicon.scan(&text);
        for mention in &scan.mentions {
            prop_assert!(text.get(mention.span.start..mention.span.end).is_some());
            prop_assert!(mention.clause < scan.clauses.len());
        }
        prop_assert!(scan.mentions.windows(2).all(|pair| pair[0].span.start <= pair[1].span.start));
    }
}
