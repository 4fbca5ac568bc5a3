//! Dumps the claims of each line of standard input.
use hindcast_verdict::*;
fn main() {
    let reader = Reader::new(hindcast_atlas::Atlas::embedded());
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let mut case = hindcast_case::Case::default();
        case.final_human_conclusion.owner_final_comment = line.clone();
        let c = reader.human(&case);
        println!("{line}\n   => {}", reader.structured(&c));
        for (i, claim) in c.claims.claims.iter().enumerate() {
            println!(
                "     {i} {:?} {:?} {} [{}]",
                claim.role,
                claim.strength,
                reader.subject_name(claim.subject),
                &c.text[claim.span.start..claim.span.end]
            );
        }
        println!("     {:?}", c.claims.edges);
    }
}
