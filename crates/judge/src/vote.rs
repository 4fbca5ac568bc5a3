//! Answers to votes, votes to an opinion.

use std::collections::BTreeMap;

use hindcast_case::{MatchLevel, MismatchType, Vocabulary};
use hindcast_review::{Opinion, Vote};
use serde_json::Value;

/// Bytes of an answer that are read.
const MAX_ANSWER: usize = 64 * 1024;

/// Places in an answer where an object is looked for.
const MAX_STARTS: usize = 100;

/// Characters of a reason that are kept.
const MAX_WHY: usize = 2_000;

/// The vote that an answer gives: the first JSON object in it that holds the brief's mark and a verdict. Takes time linear in
/// the length of the answer.
#[must_use]
pub fn read_vote(answer: &str, mark: &str) -> Vote {
    let answer = &answer[..answer.floor_char_boundary(MAX_ANSWER)];
    if answer.trim().is_empty() {
        return failed("the answer is empty");
    }
    let mut has_unmarked = false;
    for (start, _) in answer.match_indices('{').take(MAX_STARTS) {
        let object = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>().next();
        let Some(Ok(Value::Object(fields))) = object else { continue };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        let Some(level) = MatchLevel::recognise(text("match_level")) else { continue };
        if text("case") != mark {
            has_unmarked = true;
            continue;
        }
        let named = fields.get("mismatch_type").and_then(Value::as_array).into_iter().flatten();
        let named = named.filter_map(|word| MismatchType::recognise(word.as_str()?));
        let mut kinds: Vec<MismatchType> = named.collect();
        kinds.sort();
        kinds.dedup();
        if matches!(level, MatchLevel::Matched | MatchLevel::HumanConclusionUnclear) {
            kinds.clear();
        }
        return Vote::Given {
            level: level.as_str().to_owned(),
            mismatch: kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
            why: text("why").chars().take(MAX_WHY).collect(),
        };
    }
    if has_unmarked {
        return failed("the verdict in the answer is not on this case: it lacks the code of the case");
    }
    let beginning: String = answer.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(120).collect();
    failed(&format!("no verdict in the answer: {beginning}"))
}

fn failed(reason: &str) -> Vote {
    Vote::Failed { reason: reason.to_owned() }
}

/// The opinion that votes make: the verdict of most, none where as many speak for another; the kinds of mismatch that more
/// than half of those votes name.
#[must_use]
pub fn tally(incident_id: &str, judge: &str, conclusion: &str, votes: Vec<Vote>) -> Opinion {
    let mut levels: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
    for vote in &votes {
        if let Vote::Given { level, mismatch, .. } = vote {
            levels.entry(level).or_default().push(mismatch);
        }
    }
    let most = levels.values().map(Vec::len).max().unwrap_or_default();
    let mut first = levels.iter().filter(|(_, kinds)| kinds.len() == most);
    let (level, kinds) = match (first.next(), first.next()) {
        (Some((level, kinds)), None) => ((*level).to_owned(), kinds.clone()),
        _ => (String::new(), Vec::new()),
    };
    let named =
        |kind: &&MismatchType| 2 * kinds.iter().filter(|list| list.iter().any(|k| k == kind.as_str())).count() > most;
    let mismatch = MismatchType::ALL.iter().filter(named).map(|kind| kind.as_str().to_owned()).collect();
    Opinion {
        incident_id: incident_id.to_owned(),
        judge: judge.to_owned(),
        conclusion: conclusion.to_owned(),
        level,
        mismatch,
        votes,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vote(level: &str, kinds: &[&str]) -> Vote {
        let mismatch = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        Vote::Given { level: level.to_owned(), mismatch, why: "because".to_owned() }
    }

    #[test]
    fn an_answer_counts_only_with_the_mark_of_its_brief() {
        let given = r#"Here: ```json
            {"case": "c0de", "match_level": "Partially Matched", "mismatch_type": ["wrong_path", "nonsense", 7], "why": "because"}```"#;
        assert_eq!(read_vote(given, "c0de"), vote("partially_matched", &["wrong_path"]));
        let matched =
            r#"{"case": "c0de", "match_level": "matched", "mismatch_type": ["wrong_path"], "why": "because"}"#;
        assert_eq!(read_vote(matched, "c0de"), vote("matched", &[]));
        for (answer, reason) in [
            ("", "the answer is empty"),
            ("I can't help with that.", "no verdict in the answer: I can't help with that."),
            (r#"{"match_level": "matched"}"#, "lacks the code of the case"),
            (r#"{"case": "guess", "match_level": "matched"}"#, "lacks the code of the case"),
            (r#"{"case": "c0de", "match_level": "excellent"}"#, "no verdict"),
            (r#"{"case": "c0de", "match_level": "matched""#, "no verdict"),
        ] {
            assert!(
                matches!(read_vote(answer, "c0de"), Vote::Failed { reason: told } if told.contains(reason)),
                "{answer}"
            );
        }
    }

    #[test]
    fn most_votes_decide_and_a_tie_decides_nothing() {
        let opinion = |votes: Vec<Vote>| tally("GTOC-1", "judge", "", votes);
        let two = opinion(vec![
            vote("mismatched", &["wrong_path", "wrong_bottleneck"]),
            vote("mismatched", &["wrong_bottleneck"]),
            vote("matched", &[]),
            failed("refused"),
        ]);
        assert_eq!((two.level.as_str(), two.unity()), ("mismatched", (2, 3)));
        assert_eq!(two.mismatch, ["wrong_bottleneck"]);
        let tie = opinion(vec![vote("mismatched", &[]), vote("matched", &[])]);
        assert_eq!((tie.level(), tie.mismatch), (None, Vec::new()));
        assert_eq!(opinion(vec![failed("refused")]).level(), None);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(answer in "[ -~\\n{}\"\u{4e00}]{0,400}") {
            let _ = read_vote(&answer, "c0de");
            let _ = read_vote(&answer.repeat(300), "c0de");
        }
    }
}
