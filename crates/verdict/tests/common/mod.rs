//! What the tests of this crate share.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use hindcast_atlas::{Atlas, Subject};
use hindcast_case::{Case, SkillConclusion};
use hindcast_verdict::{Comparer, Conclusion};

/// A comparer over the shipped atlas, made once.
pub(crate) fn comparer() -> &'static Comparer {
    static SHARED: std::sync::OnceLock<Comparer> = std::sync::OnceLock::new();
    SHARED.get_or_init(|| Comparer::new(Atlas::embedded()))
}

/// A case in which the engineers say this.
pub(crate) fn case_saying(text: &str) -> Case {
    let mut case = Case::default();
    text.clone_into(&mut case.final_human_conclusion.owner_final_comment);
    case
}

/// A skill's conclusion in prose only.
pub(crate) fn skill_saying(text: &str) -> SkillConclusion {
    SkillConclusion { provisional_conclusion: text.to_owned(), ..SkillConclusion::default() }
}

/// The bottleneck's id; empty when none is named.
pub(crate) fn id_of(comparer: &Comparer, conclusion: &Conclusion) -> String {
    let subject: Option<Subject> = conclusion.bottleneck.map(|stated| stated.value);
    subject.map(|s| comparer.reader.atlas[comparer.reader.representative(s)].id.clone()).unwrap_or_default()
}

/// The public casebook.
pub(crate) fn public_cases() -> Vec<Case> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../casebooks/public");
    let mut paths: Vec<_> =
        std::fs::read_dir(dir).expect("the public casebook").map(|e| e.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| hindcast_case::read(&std::fs::read(path).expect("a case")).value.expect("usable")).collect()
}
