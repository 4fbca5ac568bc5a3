//! Reports for machines.

use std::collections::BTreeMap;

use hindcast_atlas::Subject;
use hindcast_case::{Case, MatchLevel, Vocabulary};
use hindcast_text::{Claim, ClaimRole};
use hindcast_verdict::{
    Basis, Calibration, Comparer, Conclusion, Interval, LabelScore, Reader, Stated, TextWindow, Verdict, windows_in,
};
use serde_json::{Map, Value, json};

use crate::model::{Row, Tally, bottleneck};

fn words<T: Vocabulary>(items: &[T]) -> Vec<&'static str> {
    items.iter().map(|item| item.as_str()).collect()
}

fn interval(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |interval| json!([interval.low, interval.high]))
}

/// Counts by match level, under the schema's names.
fn by_level(counts: [usize; 4]) -> Value {
    let pairs = MatchLevel::ALL.iter().zip(counts).map(|(level, count)| (level.as_str().to_owned(), json!(count)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// One line of a run, as a line of `rows.jsonl`.
#[must_use]
pub fn row_json(row: &Row) -> Value {
    json!({
        "incident_id": row.incident_id.as_str(),
        "entry_mode": row.entry_mode.map_or("", Vocabulary::as_str),
        "skill_bottleneck": row.skill_bottleneck,
        "human_bottleneck": row.human_bottleneck,
        "match_level": row.level.as_str(),
        "mismatch_type": words(&row.mismatch),
        "recorded_match_level": row.recorded.map_or("", Vocabulary::as_str),
        "leak_score": row.leak.as_ref().map(|leak| leak.score),
        "repeat": row.repeat,
    })
}

/// The totals of a run, as `run.json`.
#[must_use]
pub fn run_json(tally: &Tally, skill: &str) -> Value {
    let recorded = MatchLevel::ALL.iter().map(|level| level.as_str()).chain(["not_recorded"]);
    let confusion = recorded.zip(tally.confusion).map(|(name, counts)| (name.to_owned(), by_level(counts)));
    let shares = MatchLevel::ALL[..3].iter().map(|level| (level.as_str().to_owned(), interval(tally.interval(*level))));
    let breakdown = &tally.breakdown;
    let group = |counts: &BTreeMap<String, [usize; 4]>| -> Map<String, Value> {
        counts.iter().map(|(name, counts)| (name.clone(), by_level(*counts))).collect()
    };
    let by: Map<String, Value> =
        breakdown.groups.iter().map(|(axis, counts)| (axis.as_str().to_owned(), json!(group(counts)))).collect();
    let mismatches: Map<String, Value> =
        breakdown.mismatches.iter().map(|(kind, count)| (kind.as_str().to_owned(), json!(count))).collect();
    let routes: Vec<Value> = breakdown
        .routes
        .iter()
        .map(|((theirs, skill), count)| json!({"engineers": theirs, "skill": skill, "cases": count}))
        .collect();
    json!({
        "skill": skill,
        "cases": tally.cases(),
        "comparable": tally.comparable(),
        "leaking": tally.leaking,
        "failed": tally.failed,
        "unusable": tally.unusable,
        "match_levels": by_level(tally.levels),
        "wilson95": Value::Object(shares.collect()),
        "confusion": Value::Object(confusion.collect()),
        "by": by,
        "mismatch_types": mismatches,
        "entry_modes": routes,
    })
}

/// A calibration.
#[must_use]
pub fn calibration_json(calibration: &Calibration) -> Value {
    let confusion = MatchLevel::ALL.iter().zip(calibration.confusion);
    let confusion = confusion.map(|(level, counts)| (level.as_str().to_owned(), by_level(counts)));
    let disagreements = calibration.disagreements.iter().map(|other| {
        json!({
            "pair_id": other.pair.pair_id,
            "incident_id": other.pair.incident_id,
            "expected_match_level": other.pair.expected_level.as_str(),
            "match_level": other.level.as_str(),
            "expected_mismatch_type": words(&other.pair.expected_types),
            "mismatch_type": words(&other.types),
            "rule": other.rule,
            "expert_why": other.pair.why,
            "comparison_notes": other.notes,
        })
    });
    json!({
        "pairs": calibration.agreement.pairs,
        "accuracy": calibration.agreement.accuracy,
        "kappa": calibration.agreement.kappa,
        "kappa_ci95": [calibration.agreement.kappa_ci95.low, calibration.agreement.kappa_ci95.high],
        "mismatch_type_f1": calibration.mismatch_type_f1,
        "confusion": Value::Object(confusion.collect()),
        "disagreements": disagreements.collect::<Vec<_>>(),
    })
}

/// A verdict with its steps.
#[must_use]
pub fn verdict_json(reader: &Reader, case: &Case, verdict: &Verdict) -> Value {
    let relation = &verdict.relation;
    let path: Vec<&str> = relation.path.iter().map(|ix| reader.atlas[*ix].id.as_str()).collect();
    json!({
        "incident_id": case.incident_id.as_str(),
        "match_level": verdict.level.as_str(),
        "rule": verdict.rule,
        "why": verdict.why,
        "mismatch_type": words(&verdict.mismatch),
        "dimensions": {
            "side_compatible": verdict.dimensions.side_compatible,
            "path_compatible": verdict.dimensions.path_compatible,
            "scope_contradicts": verdict.dimensions.scope_contradicts,
            "entry_mode_right": verdict.dimensions.entry_mode_right,
            "ruled_out_by_engineers": verdict.dimensions.ruled_out,
        },
        "bottleneck_relation": {
            "kind": relation.kind.as_str(),
            "edges": relation.edges,
            "causal_path": path,
            "shared": relation.shared.map(|ix| reader.atlas[ix].id.as_str()),
            "said_by_engineers": relation.said_by_engineers,
        },
        "human": conclusion_json(reader, &verdict.human),
        "skill": conclusion_json(reader, &verdict.skill),
        "comparison_notes": verdict.notes,
        "improvement_suggestions": verdict.suggestions,
        "window_reviews": verdict.windows.iter().map(|review| json!({
            "label": review.label,
            "start_time": review.start_time.to_string(),
            "end_time": review.end_time.to_string(),
            "human_summary": review.human_summary,
            "skill_summary": review.skill_summary,
            "assessment": review.assessment.map_or("", Vocabulary::as_str),
            "notes": review.notes,
        })).collect::<Vec<_>>(),
    })
}

/// What a human conclusion says, as structured values.
#[must_use]
pub fn extraction_json(comparer: &Comparer, case: &Case, human: &Conclusion) -> Value {
    let reader = &comparer.reader;
    let fields = case.final_human_conclusion.analysis_windows.iter().map(|window| {
        json!({
            "label": window.label,
            "start_time": window.start_time.to_string(),
            "end_time": window.end_time.to_string(),
            "path": window.inferred_path.as_str(),
            "bottleneck": window.inferred_bottleneck,
            "summary": window.summary,
            "certainty": "confirmed",
            "basis": "field analysis_windows",
        })
    });
    let windows: Vec<Value> =
        fields.chain(windows_in(&human.text).iter().map(|window| text_window(reader, human, window))).collect();
    let mut value = conclusion_json(reader, human);
    let fields = value.as_object_mut().expect("a conclusion is an object");
    fields.insert("incident_id".to_owned(), json!(case.incident_id.as_str()));
    fields.insert("status".to_owned(), json!(comparer.human_status(case, human).as_str()));
    fields.insert("windows".to_owned(), json!(windows));
    fields.insert("structured_conclusion".to_owned(), json!(reader.structured(human).to_string()));
    value
}

fn conclusion_json(reader: &Reader, conclusion: &Conclusion) -> Value {
    let chain: Vec<Value> =
        reader.chain(conclusion).into_iter().map(|subject| link_json(reader, conclusion, subject)).collect();
    let claims: Vec<Value> =
        conclusion.claims.claims.iter().map(|claim| claim_json(reader, conclusion, claim)).collect();
    json!({
        "side": stated(conclusion.side, conclusion, |side| side.as_str().to_owned()),
        "scope": stated(conclusion.scope, conclusion, |scope| scope.as_str().to_owned()),
        "path": stated(conclusion.path, conclusion, |path| path.as_str().to_owned()),
        "bottleneck": match conclusion.bottleneck {
            Some(_) => stated(conclusion.bottleneck, conclusion, |subject| reader.subject_name(subject)),
            None => json!({ "value": bottleneck(reader, conclusion) }),
        },
        "chain": chain,
        "claims": claims,
    })
}

/// A window that the text names, with the claim that stands in its sentence.
fn text_window(reader: &Reader, human: &Conclusion, window: &TextWindow<'_>) -> Value {
    let span = window.span;
    let claim = human.claims.claims.iter().find(|claim| claim.span.overlaps(span) && claim.role != ClaimRole::RuledOut);
    let clock = |seconds: i64| format!("{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    json!({
        "label": window.label,
        "start_time": window.times.map(|(start, _)| clock(start)),
        "end_time": window.times.map(|(_, end)| clock(end)),
        "bottleneck": claim.map(|claim| reader.subject_name(claim.subject)),
        "summary": window.text,
        "certainty": claim.map(|claim| claim.certainty.as_str()),
        "basis": "text",
        "span": [span.start, span.end],
    })
}

/// A link of the chain with the words that name it.
fn link_json(reader: &Reader, conclusion: &Conclusion, subject: Subject) -> Value {
    let claim = conclusion.claims.claims.iter().find(|claim| claim.subject == subject);
    json!({
        "mechanism": reader.subject_name(subject),
        "certainty": claim.map(|claim| claim.certainty.as_str()),
        "span": claim.map(|claim| [claim.span.start, claim.span.end]),
    })
}

fn stated<T: Copy>(value: Option<Stated<T>>, conclusion: &Conclusion, name: impl Fn(T) -> String) -> Value {
    let Some(stated) = value else { return Value::Null };
    let (basis, span, text) = match stated.basis {
        Basis::Field(field) => (format!("field {field}"), Value::Null, Value::Null),
        Basis::Atlas => ("atlas".to_owned(), Value::Null, Value::Null),
        Basis::Incident => ("incident".to_owned(), Value::Null, Value::Null),
        Basis::Words(span) => {
            ("text".to_owned(), json!([span.start, span.end]), json!(conclusion.text.get(span.start..span.end)))
        }
    };
    json!({ "value": name(stated.value), "certainty": stated.certainty.as_str(), "basis": basis, "span": span, "text": text })
}

fn claim_json(reader: &Reader, conclusion: &Conclusion, claim: &Claim) -> Value {
    json!({
        "mechanism": reader.subject_name(claim.subject),
        "role": claim.role.as_str(),
        "certainty": claim.certainty.as_str(),
        "span": [claim.span.start, claim.span.end],
        "text": conclusion.text.get(claim.span.start..claim.span.end),
    })
}

/// How well conclusions were read, as fractions of the labels.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of labels are far below 2^52")]
pub fn label_score_json(score: &LabelScore) -> Value {
    let share = |hits: usize| if score.labels == 0 { 0.0 } else { hits as f64 / score.labels as f64 };
    let misses = score.misses.iter().map(|[incident, field, label, found]| {
        json!({ "incident_id": incident, "field": field, "label": label, "extracted": found })
    });
    json!({
        "labels": score.labels,
        "status": share(score.status),
        "side": share(score.side),
        "scope": share(score.scope),
        "path": share(score.path),
        "bottleneck": share(score.bottleneck),
        "bottleneck_within_one_edge": share(score.within_one_edge),
        "misses": misses.collect::<Vec<_>>(),
    })
}
