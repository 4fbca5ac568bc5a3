//! Verdicts: the rubric's rules one by one, and what must not change them.

mod common;

use common::{case_saying, comparer, id_of, public_cases, skill_saying};
use hindcast_case::{
    Assessment, EntryMode, HumanStatus, MatchLevel, MismatchType, Path, Scope, SkillConclusion, TikvSide, Worded,
};
use hindcast_verdict::{RelationKind, Verdict};
use proptest::prelude::*;

/// A structured conclusion on the write path of one TiKV.
fn skill(bottleneck: &str) -> SkillConclusion {
    SkillConclusion {
        entry_mode: Some(EntryMode::IoJitter),
        is_tikv_side: Worded::Known(TikvSide::Yes),
        scope: Worded::Known(Scope::SingleInstance),
        path: Worded::Known(Path::Write),
        earliest_proven_bottleneck: bottleneck.to_owned(),
        ..SkillConclusion::default()
    }
}

fn verdict(human: &str, skill: SkillConclusion) -> Verdict {
    let mut case = case_saying(human);
    case.initial_symptom = "Writes to one TiKV are slow.".to_owned();
    case.skill_conclusion = skill;
    comparer().compare(&case)
}

const DISK: &str = "Root cause: IO jitter on one TiKV, writes waited for it.";

#[test]
fn each_rule_of_the_rubric_fires() {
    let with = |change: fn(&mut SkillConclusion), bottleneck| {
        let mut skill = skill(bottleneck);
        change(&mut skill);
        skill
    };
    for (human, skill, level, rule) in [
        ("No root cause was found.", skill("disk_io_jitter"), MatchLevel::HumanConclusionUnclear, "human-unclear"),
        (DISK, skill("disk_io_jitter"), MatchLevel::Matched, "same-bottleneck"),
        (DISK, skill("云盘抖动"), MatchLevel::Matched, "same-bottleneck"),
        ("磁盘问题", skill("disk_io_hang"), MatchLevel::Matched, "same-bottleneck"),
        (
            DISK,
            with(|s| s.scope = Worded::Known(Scope::Cluster), "disk_io_jitter"),
            MatchLevel::PartiallyMatched,
            "same-bottleneck-other-scope",
        ),
        (DISK, skill("wal_sync_slow"), MatchLevel::PartiallyMatched, "one-edge"),
        (DISK, skill("append_log_slow"), MatchLevel::PartiallyMatched, "two-edges"),
        (DISK, with(|s| s.path = Worded::Known(Path::Read), "append_log_slow"), MatchLevel::Mismatched, "otherwise"),
        (DISK, skill(""), MatchLevel::PartiallyMatched, "right-route-no-bottleneck"),
        (DISK, with(|s| s.entry_mode = Some(EntryMode::NetworkIssues), ""), MatchLevel::Mismatched, "otherwise"),
        (
            DISK,
            with(|s| s.is_tikv_side = Worded::Known(TikvSide::No), "disk_io_jitter"),
            MatchLevel::Mismatched,
            "otherwise",
        ),
        (DISK, skill("network_packet_loss"), MatchLevel::Mismatched, "otherwise"),
        ("WAL sync slow. The disk was ruled out.", skill("disk_io_jitter"), MatchLevel::Mismatched, "otherwise"),
    ] {
        let verdict = verdict(human, skill.clone());
        assert_eq!((verdict.level, verdict.rule.as_str()), (level, rule), "{human} / {skill:?}: {:#?}", verdict.notes);
        assert!(verdict.notes[0].contains(rule));
    }
}

#[test]
fn a_finer_mechanism_refines_and_an_unknown_one_is_said_to_be_unknown() {
    let finer = verdict("root cause: CPU 打满 on one TiKV", skill("cgroup_cpu_throttling"));
    assert_eq!(finer.relation.kind, RelationKind::Refines);
    let unknown = verdict(DISK, skill("sunspots"));
    assert_eq!((unknown.relation.kind, unknown.level), (RelationKind::Unknown, MatchLevel::Mismatched));
    assert!(unknown.notes.iter().any(|note| note.contains("sunspots")));
}

#[test]
fn what_the_engineers_say_outweighs_the_atlas() {
    // In the atlas a saturated disk delays snapshot generation; here it is the other way round.
    let human = "IO bandwidth was fully taken by generating snapshots on one TiKV.";
    let downstream = verdict(human, skill("disk_bandwidth_saturation"));
    assert_eq!(downstream.relation.kind, RelationKind::Downstream);
    assert!(downstream.relation.said_by_engineers);
    assert!(downstream.mismatch.contains(&MismatchType::SymptomNamedAsCause));
}

#[test]
fn evidence_in_the_ticket_that_excludes_the_conclusion_is_overlooked_evidence() {
    let mut case = case_saying("Root cause: packet loss on one host.");
    case.initial_symptom = "Writes are slow. IO is normal.".to_owned();
    case.skill_conclusion = skill("disk_io_jitter");
    assert!(comparer().compare(&case).mismatch.contains(&MismatchType::OverlookedEvidence));
    case.initial_symptom = "Writes are slow.".to_owned();
    assert!(!comparer().compare(&case).mismatch.contains(&MismatchType::OverlookedEvidence));
}

#[test]
fn suggestions_name_the_file_and_the_evidence_that_tells_the_two_apart() {
    let verdict = verdict(DISK, skill("network_packet_loss"));
    let first = &verdict.suggestions[0];
    assert!(first.starts_with("references/io-jitter.md: before concluding `network_packet_loss`, check "), "{first}");
    assert!(first.contains("node_disk_write_time_seconds_total"), "{first}");
}

#[test]
fn windows_are_reviewed_beside_the_verdict_and_never_change_it() {
    let mut case =
        public_cases().into_iter().find(|case| case.incident_id.as_str() == "PD-10637").expect("a public case");
    case.skill_conclusion = skill("disk_bandwidth_saturation");
    let assessments = |verdict: &Verdict| verdict.windows.iter().map(|w| w.assessment).collect::<Vec<_>>();
    let plain = comparer().compare(&case);
    assert_eq!(assessments(&plain), [Some(Assessment::NotDistinguished); 2]);
    case.skill_conclusion.provisional_conclusion =
        "From 03:26 to 03:29 the raft disk hits its throughput limit. From 03:35 to 03:50 a network partition isolates it. At 05:00 write stall.".to_owned();
    let told_apart = comparer().compare(&case);
    assert_eq!(
        assessments(&told_apart),
        [Some(Assessment::Agrees), Some(Assessment::Differs), Some(Assessment::Extra)]
    );
    assert_eq!((told_apart.level, &told_apart.mismatch), (plain.level, &plain.mismatch));
    case.final_human_conclusion.analysis_windows.clear();
    let without = comparer().compare(&case);
    assert_eq!((without.level, without.mismatch, without.windows.len()), (plain.level, plain.mismatch, 0));
}

#[test]
fn a_conclusion_compared_with_itself_matches() {
    let texts = include_str!("fixtures/conclusions.txt").lines().filter_map(|line| line.split_once('|'));
    let mut compared = 0;
    for (_, text) in texts {
        let mut case = case_saying(text);
        let human = comparer().reader.human(&case);
        if human.bottleneck.is_none_or(|b| b.certainty == hindcast_case::Certainty::Suspected) {
            continue;
        }
        case.skill_conclusion = skill_saying(text);
        assert_eq!(comparer().compare(&case).level, MatchLevel::Matched, "{text}");
        compared += 1;
    }
    assert!(compared > 100);
    for mut case in public_cases() {
        if case.final_human_conclusion.status == Some(HumanStatus::Unclear) {
            continue;
        }
        case.skill_conclusion = skill_saying(&case.final_human_conclusion.owner_final_comment);
        let verdict = comparer().compare(&case);
        assert_eq!(verdict.level, MatchLevel::Matched, "{}: {:?}", case.incident_id, verdict.notes);
    }
}

#[test]
fn all_words_for_one_mechanism_give_one_verdict() {
    let atlas = &comparer().reader.atlas;
    let mut wrong = Vec::new();
    for (_, mechanism) in atlas.mechanisms() {
        let english = mechanism.aliases_en.iter().flat_map(|alias| {
            [format!("The root cause is {alias}."), format!("It turned out to be {alias}, which slowed the cluster.")]
        });
        let chinese = mechanism
            .aliases_zh
            .iter()
            .flat_map(|alias| [format!("根因是{alias}。"), format!("最终确认是 {alias},导致业务受影响。")]);
        for text in english.chain(chinese) {
            let found = id_of(comparer(), &comparer().reader.human(&case_saying(&text)));
            if found != mechanism.id {
                wrong.push(format!("{text} -> {found:?}, not {}", mechanism.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_unrelated_sentence_changes_nothing() {
    let unrelated = [
        "Thanks to everybody who joined the call.",
        "The ticket will be closed on Friday.",
        "感谢各位的配合。",
        "会议纪要已发到群里。",
        "See the attached screenshot for details.",
    ];
    for case in public_cases() {
        let before = comparer().reader.structured(&comparer().reader.human(&case));
        for sentence in unrelated {
            for text in [
                format!("{} {sentence}", case.final_human_conclusion.owner_final_comment),
                format!("{sentence} {}", case.final_human_conclusion.owner_final_comment),
            ] {
                let mut changed = case.clone();
                changed.final_human_conclusion.owner_final_comment = text;
                let after = comparer().reader.structured(&comparer().reader.human(&changed));
                assert_eq!(after, before, "{}: {sentence}", case.incident_id);
            }
        }
    }
}

#[test]
fn denying_the_cause_changes_the_verdict() {
    let atlas = &comparer().reader.atlas;
    let mut wrong = Vec::new();
    for (_, mechanism) in atlas.mechanisms() {
        let texts = mechanism.aliases_en.iter().map(|alias| format!("The root cause is not {alias}."));
        let texts = texts.chain(mechanism.aliases_zh.iter().map(|alias| format!("根因不是{alias}。")));
        for text in texts {
            let verdict = verdict(&text, skill(&mechanism.id));
            if verdict.level != MatchLevel::HumanConclusionUnclear {
                wrong.push(format!("{text} -> {} {:?}", verdict.level, verdict.notes));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn long_hostile_text_is_read_in_linear_time() {
    for unit in ["disk slow because ", "not ", "导致磁盘慢", ", ", "? ", "root cause ", "store 1 ", "tikv ", "12:30 "]
    {
        let text = unit.repeat(400_000 / unit.len());
        let started = std::time::Instant::now();
        let _ = verdict(&text, skill_saying(&text));
        // Quadratic time would take many minutes; the bound only has to tell the two apart.
        assert!(started.elapsed() < std::time::Duration::from_secs(30), "{unit:?} took {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_comparison_panic(
        human in "(\\PC|disk|磁盘|慢|because|导致|not|不是|root cause|[ ,.。:；\\n0-9]){0,40}",
        answer in "(\\PC|apply wait|打满|window-1|03:25|可能|[ ,.。]){0,40}",
    ) {
        let verdict = verdict(&human, SkillConclusion { earliest_proven_bottleneck: answer.clone(), ..skill_saying(&answer) });
        for claim in &verdict.human.claims.claims {
            prop_assert!(claim.span == hindcast_case::Span::default() || verdict.human.text.get(claim.span.start..claim.span.end).is_some());
        }
    }
}
