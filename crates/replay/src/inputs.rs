//! What a replay may see of a case.

use hindcast_case::{Case, ReplayInputs};
use hindcast_skill::Question;

/// Fields that are withheld, with the reason.
const WITHHELD: [(&str, &str); 14] = [
    ("canonical_incident.l2_assignee", "whom it was given to tells what it was taken for"),
    ("canonical_incident.assignee_or_l3", "whom it was given to tells what it was taken for"),
    ("skill_conclusion", "a replay starts anew"),
    ("final_human_conclusion.status", "it is the answer"),
    ("final_human_conclusion.owner_final_comment", "it is the answer"),
    ("final_human_conclusion.structured_conclusion", "it is the answer"),
    ("final_human_conclusion.evidence_references", "they were gathered for the answer"),
    ("final_human_conclusion.analysis_windows", "they are part of the answer"),
    ("match_level", "it judges an earlier answer"),
    ("mismatch_type", "it judges an earlier answer"),
    ("comparison_notes", "they judge an earlier answer"),
    ("improvement_suggestions", "they judge an earlier answer"),
    ("window_reviews", "they judge an earlier answer"),
    ("replay_inputs", "it tells what was withheld"),
];

/// What an import says of the ticket behind the case stands under names that begin so.
const OF_TICKET: &str = "ticket.";

/// Where the notes of a replay begin; what stands before them is the import's.
const SHOWN: &str = "Shown:";

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
    let recorded = &case.replay_inputs;
    let of_ticket = |list: &[String]| -> Vec<String> {
        list.iter().filter(|entry| entry.starts_with(OF_TICKET)).cloned().collect()
    };
    let mut notes = match recorded.notes.split(SHOWN).next().map(str::trim) {
        Some(imported) if imported.starts_with("Cut-off:") => format!("{imported} "),
        _ => String::new(),
    };
    notes.push_str(SHOWN);
    notes
        .push_str(" the symptom and the incident as reported. Withheld: who handled it, and everything learned later.");
    if !absent.is_empty() {
        notes.push_str(&format!(" Allowed but empty in this case: {}.", absent.join(", ")));
    }
    let inputs = ReplayInputs {
        used_fields: fields(false).chain(of_ticket(&recorded.used_fields)).collect(),
        excluded_fields: WITHHELD
            .iter()
            .map(|(name, reason)| format!("{name}: {reason}"))
            .chain(of_ticket(&recorded.excluded_fields))
            .collect(),
        notes,
        ..ReplayInputs::default()
    };
    (question, inputs)
}
