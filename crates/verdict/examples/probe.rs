//! Prints calibration.
use hindcast_verdict::*;
fn main() {
    let comparer = Comparer::new(hindcast_atlas::Atlas::embedded());
    let case =
        |id: &str| hindcast_case::read(&std::fs::read(format!("casebooks/public/{id}.json")).unwrap()).value.unwrap();
    let labels = std::fs::read_to_string("../shared/labels.jsonl").unwrap();
    let labels: Vec<_> =
        labels.lines().map(|l| read_label(l).unwrap()).map(|l| (l.clone(), case(&l.incident_id))).collect();
    println!("{:#?}", score_labels(&comparer, &labels));
    let pairs = std::fs::read_to_string("../shared/verdict-pairs.jsonl").unwrap();
    let pairs: Vec<_> =
        pairs.lines().map(|l| read_pair(l).unwrap()).map(|p| (p.clone(), case(&p.incident_id))).collect();
    let c = calibrate(&comparer, pairs).unwrap();
    println!("{} acc {} kappa {} {:?} f1 {}", c.pairs, c.accuracy, c.kappa, c.kappa_ci95, c.mismatch_type_f1);
    for d in c.disagreements {
        println!(
            "{} exp {} {:?} got {} {:?} {}\n   {:?}",
            d.pair.pair_id, d.pair.expected_level, d.pair.expected_types, d.level, d.types, d.rule, d.notes
        );
    }
}
