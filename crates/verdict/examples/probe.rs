//! Prints extraction against labels.
use hindcast_verdict::*;
fn main() {
    let reader = Reader::new(hindcast_atlas::Atlas::embedded());
    let labels = std::fs::read_to_string("../shared/labels.jsonl").unwrap();
    for line in labels.lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = v["incident_id"].as_str().unwrap();
        let case = hindcast_case::read(&std::fs::read(format!("casebooks/public/{id}.json")).unwrap()).value.unwrap();
        let c = reader.human(&case);
        println!(
            "{id}: {} | label side={} scope={} path={} bn={}",
            reader.structured(&c),
            v["side"],
            v["scope"],
            v["path"],
            v["bottleneck"]
        );
        for claim in &c.claims.claims {
            println!(
                "     {:?} {:?} {} [{}]",
                claim.role,
                claim.strength,
                reader.subject_name(claim.subject),
                &c.text[claim.span.start..claim.span.end]
            );
        }
    }
}
