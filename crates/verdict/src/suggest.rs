//! What to change in the skill: which file, which check, from the evidence that separates the two mechanisms.

use hindcast_atlas::{Evidence, Mechanism, MechanismIx};
use hindcast_case::{Case, MatchLevel, MismatchType, Reference, Vocabulary};

use crate::compare::Verdict;
use crate::conclusion::Reader;

/// The suggestions of a verdict; none when there is nothing to mend.
pub(crate) fn suggestions(reader: &Reader, case: &Case, verdict: &Verdict) -> Vec<String> {
    if matches!(verdict.level, MatchLevel::Matched | MatchLevel::HumanConclusionUnclear) {
        return Vec::new();
    }
    let Some(bottleneck) = verdict.human.bottleneck else { return Vec::new() };
    let human = &reader.atlas[reader.representative(bottleneck.value)];
    let named = verdict.skill.bottleneck.map(|stated| reader.representative(stated.value));
    let has = |kind| verdict.mismatch.contains(&kind);
    let mut suggestions = Vec::new();
    if has(MismatchType::WrongBottleneck) {
        suggestions.push(check_before_concluding(reader, human, named));
        suggestions.extend(named.and_then(|ix| refutation(&reader.atlas[ix])));
    }
    if has(MismatchType::WrongEntryMode) {
        let mode = case.skill_conclusion.entry_mode.map_or("", Vocabulary::as_str);
        suggestions.push(format!(
            "{}: route to `{}` rather than `{mode}` when {}.",
            Reference::CrossCutting,
            human.entry_mode,
            sign(human),
        ));
    }
    if has(MismatchType::WrongSide) {
        suggestions.push(format!(
            "{}: before deciding the side, compare the client's KV time with TiKV's gRPC time for the same request type and store.",
            Reference::CrossCutting
        ));
    }
    if has(MismatchType::WrongScope) {
        suggestions.push(format!(
            "{}: group the leading signal by instance, then by host, before stating a scope.",
            Reference::CrossCutting
        ));
    }
    if has(MismatchType::WrongPath) {
        let theirs = verdict.human.path.map_or("", |path| path.value.as_str());
        suggestions.push(format!(
            "{}: name the path from the request types that got slow; here it is `{theirs}`.",
            human.reference
        ));
    }
    if has(MismatchType::ReferenceNotConsulted) {
        suggestions.push(format!("SKILL.md: make reading {} a step of its route, not an option.", human.reference));
    }
    suggestions
}

fn check_before_concluding(reader: &Reader, human: &Mechanism, named: Option<MechanismIx>) -> String {
    let skill = named.map(|ix| &reader.atlas[ix]);
    let Some(evidence) = discriminating(human, skill) else {
        return format!("{}: add a check for `{}` ({}).", human.reference, human.id, human.title);
    };
    let before = skill.map_or_else(
        || "before leaving the bottleneck open".to_owned(),
        |skill| format!("before concluding `{}`", skill.id),
    );
    let threshold =
        if evidence.threshold.is_empty() { String::new() } else { format!(" (threshold: {})", evidence.threshold) };
    let query = if evidence.promql.is_empty() { String::new() } else { format!(" with `{}`", evidence.promql) };
    format!(
        "{}: {before}, check {}{query}: `{}` shows as \"{}\"{threshold}.",
        human.reference, evidence.metric, human.id, evidence.shape
    )
}

/// Evidence of the engineers' mechanism that is no evidence of the skill's.
fn discriminating<'a>(human: &'a Mechanism, skill: Option<&Mechanism>) -> Option<&'a Evidence> {
    let shared = |evidence: &Evidence| {
        skill.is_some_and(|skill| skill.evidence.iter().any(|other| other.metric == evidence.metric))
    };
    human.evidence.iter().find(|evidence| !shared(evidence)).or_else(|| human.evidence.first())
}

fn refutation(skill: &Mechanism) -> Option<String> {
    let refuted = skill.refuted_by.first()?;
    Some(format!("{}: `{}` is refuted by: {refuted}. Ask for it before concluding.", skill.reference, skill.id))
}

/// The sign by which a mechanism is recognised first.
fn sign(mechanism: &Mechanism) -> String {
    let first = mechanism.evidence.first();
    first
        .map_or_else(|| mechanism.title.clone(), |evidence| format!("{} shows \"{}\"", evidence.metric, evidence.shape))
}
