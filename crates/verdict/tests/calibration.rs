//! The bar that the comparison must hold on the development pairs and labels.

mod common;

use common::{comparer, public_cases};
use hindcast_case::Case;
use hindcast_verdict::{calibrate, read_label, read_pair, score_labels};

fn case(id: &str) -> Case {
    public_cases().into_iter().find(|case| case.incident_id.as_str() == id).expect("a public case")
}

#[test]
fn the_comparison_agrees_with_experts() {
    let pairs = include_str!("../../../casebooks/public-pairs.jsonl").lines();
    let pairs = pairs.map(|line| read_pair(line).expect("a pair")).map(|pair| (pair.clone(), case(&pair.incident_id)));
    let calibration = calibrate(comparer(), pairs.collect()).expect("pairs");
    assert_eq!(calibration.agreement.pairs, 55);
    assert!(calibration.agreement.accuracy >= 0.95, "accuracy {}", calibration.agreement.accuracy);
    assert!(calibration.agreement.kappa >= 0.90, "kappa {}", calibration.agreement.kappa);
    assert!(calibration.mismatch_type_f1 >= 0.90, "mismatch types {}", calibration.mismatch_type_f1);
}

#[test]
fn human_conclusions_are_read_as_experts_label_them() {
    let labels = include_str!("../../../casebooks/public-labels.jsonl").lines();
    let labels: Vec<_> = labels
        .map(|line| read_label(line).expect("a label"))
        .map(|label| (label.clone(), case(&label.incident_id)))
        .collect();
    let score = score_labels(comparer(), &labels);
    assert_eq!(score.labels, 18);
    assert!(score.side >= 17 && score.within_one_edge >= 17 && score.bottleneck >= 14, "{score:#?}");
}

#[test]
fn a_malformed_pair_says_what_was_expected() {
    let error =
        read_pair(r#"{"pair_id": "a", "incident_id": "b", "skill_conclusion": {}, "expected_match_level": "maybe"}"#)
            .expect_err("refused");
    assert!(error.to_string().contains("expected one of: matched, partially_matched"), "{error}");
    assert!(read_pair("{").is_err());
}
