//! Why a verdict is what it is: one sentence a finding.

use hindcast_case::{Case, Certainty, MatchLevel, MismatchType, Vocabulary};

use crate::compare::Verdict;
use crate::conclusion::{Basis, Conclusion, Reader, Stated};
use crate::rubric::RelationKind;

/// The notes of a verdict, most important first.
pub(crate) fn notes(reader: &Reader, case: &Case, verdict: &Verdict) -> Vec<String> {
    let mut notes = vec![format!("Rule `{}`: {}", verdict.rule, verdict.why)];
    if verdict.level == MatchLevel::HumanConclusionUnclear {
        return notes;
    }
    notes.push(bottlenecks(reader, verdict));
    if verdict.dimensions.ruled_out {
        notes.push("The engineers ruled out what the skill names.".to_owned());
    }
    let (human, skill) = (&verdict.human, &verdict.skill);
    notes.extend(differing("Side", human.side, skill.side));
    notes.extend(differing("Scope", human.scope, skill.scope));
    notes.extend(differing("Path", human.path, skill.path));
    if verdict.dimensions.entry_mode_right == Some(false) {
        let mode = case.skill_conclusion.entry_mode.map_or("", Vocabulary::as_str);
        let right = human.bottleneck.map(|b| reader.atlas[reader.representative(b.value)].entry_mode);
        notes.push(format!(
            "The skill started on `{mode}`; the bottleneck is found on `{}`.",
            right.map_or("", Vocabulary::as_str)
        ));
    }
    if human.bottleneck.is_some_and(|b| b.certainty == Certainty::Suspected) {
        notes.push("The engineers only suspect their bottleneck.".to_owned());
    }
    notes
}

fn bottlenecks(reader: &Reader, verdict: &Verdict) -> String {
    let human = named(reader, &verdict.human);
    let skill = named(reader, &verdict.skill);
    let path = verdict.relation.path.iter().map(|ix| reader.atlas[*ix].id.as_str()).collect::<Vec<_>>().join(" -> ");
    let by = if verdict.relation.said_by_engineers { ", as they say themselves" } else { "" };
    match verdict.relation.kind {
        RelationKind::Same => format!("Both name {human}."),
        RelationKind::Refines => format!("The engineers name {human}; the skill names {skill}, a finer word for it."),
        RelationKind::Upstream => {
            format!("The engineers name {human}; the skill names {skill}, a cause of it{by}: {path}.")
        }
        RelationKind::Downstream => {
            format!("The engineers name {human}; the skill names {skill}, a consequence of it{by}: {path}.")
        }
        RelationKind::Sibling => {
            let shared = verdict.relation.shared.map(|ix| reader.atlas[ix].id.as_str()).unwrap_or_default();
            format!("The engineers name {human}; the skill names {skill}, which is only related through `{shared}`.")
        }
        RelationKind::Unrelated => {
            format!("The engineers name {human}; the skill names {skill}, which is not connected with it.")
        }
        RelationKind::None => format!("The engineers name {human}; the skill names no bottleneck."),
        RelationKind::Unknown => {
            format!("The engineers name {human}; the skill names {skill}, which the atlas does not know.")
        }
    }
}

/// A bottleneck with the words that name it.
fn named(reader: &Reader, conclusion: &Conclusion) -> String {
    if let Some(unknown) = &conclusion.unknown_bottleneck {
        return format!("{unknown:?}");
    }
    let Some(bottleneck) = conclusion.bottleneck else { return "none".to_owned() };
    let name = reader.subject_name(bottleneck.value);
    match bottleneck.basis {
        Basis::Words(span) => {
            format!("`{name}` (\"{}\")", conclusion.text.get(span.start..span.end).unwrap_or_default())
        }
        _ => format!("`{name}`"),
    }
}

fn differing<T: Vocabulary>(what: &str, human: Option<Stated<T>>, skill: Option<Stated<T>>) -> Option<String> {
    let (human, skill) = (human?, skill?);
    if skill.value.as_str() == "unknown" {
        return None;
    }
    let basis = match human.basis {
        Basis::Atlas => ", the usual value for their bottleneck",
        Basis::Incident => ", from the incident's description",
        Basis::Field(_) | Basis::Words(_) => "",
    };
    (human.value != skill.value).then(|| {
        format!(
            "{what}: the engineers say `{}`{basis}; the skill says `{}`.",
            human.value.as_str(),
            skill.value.as_str()
        )
    })
}

/// Words that claim proof.
const SURE: [&str; 9] = [
    "definitely",
    "certainly",
    "without doubt",
    "100% sure",
    "proven beyond",
    "undoubtedly",
    "毫无疑问",
    "可以肯定",
    "百分之百",
];

/// A wrong conclusion that claims proof, with neither evidence nor a word of uncertainty.
pub(crate) fn overstated(case: &Case, verdict: &Verdict) -> Option<MismatchType> {
    let conclusion = &case.skill_conclusion;
    let prose = conclusion.provisional_conclusion.to_lowercase();
    let claims_proof = SURE.iter().any(|word| prose.contains(word));
    let unsupported = conclusion.key_evidence.is_empty() && conclusion.uncertainty_statement.trim().is_empty();
    let wrong = verdict.level == MatchLevel::Mismatched;
    (wrong && claims_proof && unsupported).then_some(MismatchType::OverstatedCertainty)
}
