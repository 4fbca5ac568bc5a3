//! An import over an existing case: what a person wrote stays, what the ticket changed comes in.

use hindcast_case::Case;
use serde_json::Value;

/// The parts of a case that an import fills. All else is a skill's or a reviewer's.
const IMPORTED: [&str; 4] = ["initial_symptom", "canonical_incident", "replay_inputs", "final_human_conclusion"];

/// What became of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// The field, as `canonical_incident.title`.
    pub field: String,
    /// What happened.
    pub outcome: FieldOutcome,
    /// The value in the casebook.
    pub old: String,
    /// The value of the ticket.
    pub new: String,
}

/// What happened to a field that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldOutcome {
    /// The ticket's value was taken.
    Taken,
    /// A person had changed it, and the ticket did not: it stays.
    Kept,
    /// Both changed it: the person's stays, and someone should look.
    Conflict,
}

/// Merges a fresh import into an existing case. `base` is what the last import had written, which tells a person's edits
/// from the ticket's; without it, only what is empty is filled.
#[must_use]
pub fn merge(base: Option<&Case>, current: &Case, fresh: &Case) -> (Case, Vec<FieldChange>) {
    let tree = |case: &Case| serde_json::from_str::<Value>(&case.to_json()).expect("a case writes valid JSON");
    let base = base.map(tree);
    let mut merged = tree(current);
    let fresh_tree = tree(fresh);
    let mut changes = Vec::new();
    for part in IMPORTED {
        let base = base.as_ref().map(|base| &base[part]);
        merge_value(part, base, &mut merged[part], &fresh_tree[part], &mut changes);
    }
    if changes.iter().all(|change| change.outcome != FieldOutcome::Taken) {
        return (current.clone(), changes);
    }
    let merged = hindcast_case::read(merged.to_string().as_bytes()).value;
    (merged.expect("two cases merge into a case"), changes)
}

fn merge_value(field: &str, base: Option<&Value>, current: &mut Value, fresh: &Value, changes: &mut Vec<FieldChange>) {
    if let (Value::Object(fields), Value::Object(fresh)) = (&mut *current, fresh) {
        for (key, value) in fields.iter_mut() {
            let Some(fresh) = fresh.get(key) else { continue };
            merge_value(&format!("{field}.{key}"), base.map(|base| &base[key]), value, fresh, changes);
        }
        return;
    }
    if current == fresh {
        return;
    }
    let outcome = match base {
        Some(base) if base == current => FieldOutcome::Taken,
        Some(base) if base == fresh => FieldOutcome::Kept,
        Some(_) => FieldOutcome::Conflict,
        None if is_empty(current) => FieldOutcome::Taken,
        None => FieldOutcome::Kept,
    };
    changes.push(FieldChange { field: field.to_owned(), outcome, old: shown(current), new: shown(fresh) });
    if outcome == FieldOutcome::Taken {
        fresh.clone_into(current);
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null => true,
        _ => false,
    }
}

/// A value for a diff: texts as they are, lists an item a line.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use hindcast_case::{IncidentId, MatchLevel};

    use super::*;

    fn case(title: &str, comment: &str) -> Case {
        let mut case = Case { incident_id: IncidentId::parse("GTOC-1").expect("an id"), ..Case::default() };
        title.clone_into(&mut case.canonical_incident.title);
        comment.clone_into(&mut case.final_human_conclusion.owner_final_comment);
        case
    }

    #[test]
    fn what_a_person_wrote_stays() {
        let base = case("slow", "EBS");
        let mut current = case("slow", "EBS jitter, as Bo found");
        current.match_level = Some(MatchLevel::Matched);
        let fresh = case("P99 rose", "EBS");
        let (merged, changes) = merge(Some(&base), &current, &fresh);
        assert_eq!(merged.canonical_incident.title, "P99 rose");
        assert_eq!(merged.final_human_conclusion.owner_final_comment, "EBS jitter, as Bo found");
        assert_eq!(merged.match_level, Some(MatchLevel::Matched));
        let outcomes: Vec<(&str, FieldOutcome)> = changes.iter().map(|c| (c.field.as_str(), c.outcome)).collect();
        let comment = "final_human_conclusion.owner_final_comment";
        assert_eq!(outcomes, [("canonical_incident.title", FieldOutcome::Taken), (comment, FieldOutcome::Kept)]);

        let (merged, changes) = merge(Some(&base), &current, &case("slow", "network"));
        assert_eq!(merged.final_human_conclusion.owner_final_comment, "EBS jitter, as Bo found");
        assert_eq!(changes[0].outcome, FieldOutcome::Conflict);

        let (merged, _) = merge(None, &case("slow", ""), &case("P99 rose", "EBS"));
        assert_eq!(
            (merged.canonical_incident.title.as_str(), merged.final_human_conclusion.owner_final_comment.as_str()),
            ("slow", "EBS")
        );
    }
}
