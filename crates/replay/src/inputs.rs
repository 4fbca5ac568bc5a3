//! What a replay may see of a case.

use hindcast_case::{Case, ReplayInputs};
use hindcast_skill::Question;

/// Fields that are withheld, with what they would give away.
const WITHHELD: [&str; 14] = [
    "canonical_incident.l2_assignee",
    "canonical_incident.assignee_or_l3",
    "skill_conclusion",
    "final_human_conclusion.status",
    "final_human_conclusion.owner_final_comment",
    "final_human_conclusion.structured_conclusion",
    "final_human_conclusion.evidence_references",
    "final_human_conclusion.analysis_windows",
    "match_level",
    "mismatch_type",
    "comparison_notes",
    "improvement_suggestions",
    "window_reviews",
    "replay_inputs",
];

/// The question that a case asks, and the record of what is in it and what is not.
#[must_use]
pub fn question(case: &Case) -> (Question, ReplayInputs) {
    let incident = &case.canonical_incident;
    let question = Question {
        initial_symptom: case.initial_symptom.clone(),
        title: incident.title.clone(),
        description_text: incident.description_text.clone(),
        cluster_id: incident.cluster_id.clone(),
        clinic_links: incident.clinic_links.clone(),
        grafana_links: incident.grafana_links.clone(),
        time_window: incident.time_window.clone(),
    };
    let shown = [
        ("initial_symptom", question.initial_symptom.is_empty()),
        ("canonical_incident.title", question.title.is_empty()),
        ("canonical_incident.description_text", question.description_text.is_empty()),
        ("canonical_incident.cluster_id", question.cluster_id.is_empty()),
        ("canonical_incident.clinic_links", question.clinic_links.is_empty()),
        ("canonical_incident.grafana_links", question.grafana_links.is_empty()),
        ("canonical_incident.time_window", question.time_window == hindcast_case::TimeWindow::Empty),
    ];
    let fields =
        |empty: bool| shown.iter().filter(move |(_, is_empty)| *is_empty == empty).map(|(name, _)| (*name).to_owned());
    let absent: Vec<String> = fields(true).collect();
    let mut notes =
        "Shown: the symptom and the incident as reported. Withheld: who handled it, and everything learned later."
            .to_owned();
    if !absent.is_empty() {
        notes.push_str(&format!(" Allowed but empty in this case: {}.", absent.join(", ")));
    }
    let inputs = ReplayInputs {
        used_fields: fields(false).collect(),
        excluded_fields: WITHHELD.iter().map(|name| (*name).to_owned()).collect(),
        notes,
        ..ReplayInputs::default()
    };
    (question, inputs)
}
