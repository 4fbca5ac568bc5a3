//! Reading conclusions: which bottleneck a text means, in English, Chinese and both.

mod common;

use common::{case_saying, comparer, id_of};
use hindcast_text::ClaimRole;

#[test]
fn a_conclusion_means_the_bottleneck_that_an_expert_reads_in_it() {
    let table = include_str!("fixtures/conclusions.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('|'));
    let mut wrong = Vec::new();
    for (expected, text) in rows {
        let found = id_of(comparer(), &comparer().reader.human(&case_saying(text)));
        let expected = if expected == "-" { "" } else { expected };
        if found != expected {
            wrong.push(format!("{text}\n    expected {expected:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Claims as "role mechanism", in the order of the text.
fn claims(text: &str) -> Vec<String> {
    let reader = &comparer().reader;
    let claims = reader.claims(text).claims;
    claims.iter().map(|claim| format!("{} {}", claim.role.as_str(), reader.subject_name(claim.subject))).collect()
}

#[test]
fn roles_follow_from_the_words_around_a_mention() {
    let unsaid = "(which fault is not said)";
    for (text, expected) in [
        ("排除了磁盘和网络", vec![format!("ruled_out disk {unsaid}"), format!("ruled_out network {unsaid}")]),
        ("not a disk problem", vec![format!("ruled_out disk {unsaid}")]),
        ("gRPC CPU 不高", vec!["ruled_out grpc_cpu_saturation".to_owned()]),
        ("I don't think it is the disk", vec![format!("ruled_out disk {unsaid}")]),
        ("The cluster has 12 TiKV nodes.", vec![]),
        ("IO is normal", vec![format!("ruled_out disk {unsaid}")]),
        ("The disk was ruled out.", vec![format!("ruled_out disk {unsaid}")]),
        ("it turned out to be IO jitter", vec!["cause disk_io_jitter".to_owned()]),
        (
            "最初怀疑磁盘,后来确认是 gRPC 打满",
            vec![format!("retracted disk {unsaid}"), "cause grpc_cpu_saturation".to_owned()],
        ),
        (
            "Disk jitter, which in turn causes slow append log, hence leader drop",
            vec![
                "cause disk_io_jitter".to_owned(),
                "symptom append_log_slow".to_owned(),
                "symptom leader_drop".to_owned(),
            ],
        ),
        ("可能是网络抖动", vec!["suspected network_latency_high".to_owned()]),
        (
            "Possible causes: io jitter, write stall",
            vec!["suspected disk_io_jitter".to_owned(), "suspected rocksdb_write_stall".to_owned()],
        ),
        (
            "During the scale-out apply wait rose",
            vec!["contributing replica_migration".to_owned(), "cause apply_wait_high".to_owned()],
        ),
        ("建议扩容", vec![]),
        ("Restarting that TiKV fixed it.", vec![]),
    ] {
        assert_eq!(claims(text), expected, "{text}");
    }
}

#[test]
fn the_order_of_cause_and_effect_does_not_depend_on_the_connective() {
    for text in [
        "IO jitter caused the write stall.",
        "The write stall was caused by IO jitter.",
        "Because of IO jitter, write stall occurred.",
        "write stall is due to IO jitter",
        "IO 抖动导致 write stall",
        "write stall 是由 IO 抖动引起的",
        "由于 IO 抖动,出现 write stall",
        "write stall 的根因是 IO 抖动",
        "The root cause of the write stall is IO jitter.",
        "IO jitter -> write stall",
    ] {
        let reader = &comparer().reader;
        let claims = reader.claims(text);
        let named = |at: usize| reader.subject_name(claims.claims[at].subject);
        let edges: Vec<(String, String)> = claims.edges.iter().map(|(a, b)| (named(*a), named(*b))).collect();
        let expected = ("disk_io_jitter".to_owned(), "rocksdb_write_stall".to_owned());
        assert_eq!(edges, [expected], "{text}: {:?}", claims.claims);
    }
}

#[test]
fn scope_and_side_are_read_from_the_text() {
    for (text, scope, side) in [
        ("One TiKV had IO jitter.", "single_instance", "yes"),
        ("所有节点 IO 抖动", "cluster", "yes"),
        ("IO jitter on that host", "single_host", "yes"),
        ("Several stores had IO jitter", "few_instances", "yes"),
        ("PD leader 切换,与 TiKV 无关", "cluster", "no"),
        ("wrong index, TiKV is fine", "single_table", "no"),
    ] {
        let case = case_saying(text);
        let fields = comparer().reader.structured(&comparer().reader.human(&case));
        let words = (fields.scope.map(|s| s.to_string()), fields.side.map(|s| s.to_string()));
        assert_eq!(words, (Some(scope.to_owned()), Some(side.to_owned())), "{text}");
    }
}

#[test]
fn a_structured_line_counts_before_the_prose_and_reads_back() {
    let mut case = case_saying("The disk jittered.");
    let human = &mut case.final_human_conclusion;
    human.structured_conclusion =
        "side=no; scope=cluster; path=upstream; bottleneck=pd_unhealthy; ruled_out=disk_io_jitter".to_owned();
    let conclusion = comparer().reader.human(&case);
    assert_eq!(id_of(comparer(), &conclusion), "pd_unhealthy");
    let roles: Vec<ClaimRole> = conclusion.claims.claims.iter().map(|claim| claim.role).collect();
    assert!(roles.contains(&ClaimRole::RuledOut));
    let line = comparer().reader.structured(&conclusion).to_string();
    assert_eq!(hindcast_case::StructuredConclusion::parse(&line).map(|parsed| parsed.to_string()), Some(line));
}
