//! The user's case schema, field by field, in the order of `docs/case-schema.md`.

use crate::id::IncidentId;
use crate::link::Link;
use crate::moment::Moment;
use crate::record::record;
use crate::vocabulary::{
    Assessment, EntryMode, HumanStatus, MatchLevel, MismatchType, Path, Reference, Scope, Source, SubCapability,
    TikvSide,
};
use crate::window::TimeWindow;
use crate::word::Worded;
use crate::writer::Writer;

record! {
    /// One incident with the engineers' conclusion, a skill's conclusion and the verdict on the two.
    /// An empty string or list means "not known yet".
    pub struct Case {
        /// The ticket's key, as GTOC-1234 or TICKET-8412; public incidents have ids like TIKV-18274.
        pub incident_id: IncidentId,
        /// The ticket system.
        pub source: Option<Source>,
        /// What was known when the ticket was handed to diagnosis.
        pub initial_symptom: String,
        /// The incident as the ticket records it.
        pub canonical_incident: CanonicalIncident,
        /// What a replay was shown and what was kept from it.
        pub replay_inputs: ReplayInputs,
        /// What the skill concluded.
        pub skill_conclusion: SkillConclusion,
        /// What the engineers concluded.
        pub final_human_conclusion: FinalHumanConclusion,
        /// The verdict of the case.
        pub match_level: Option<MatchLevel>,
        /// In what the two conclusions differ; empty when they match.
        pub mismatch_type: Vec<MismatchType>,
        /// Why the verdict is what it is, one sentence a finding.
        pub comparison_notes: Vec<String>,
        /// Which file of the skill to change, and how.
        pub improvement_suggestions: Vec<String>,
        /// The windows of both sides, one by one; they never replace the verdict.
        pub window_reviews: Vec<WindowReview>,
    }
}

record! {
    /// The incident as the ticket records it.
    pub struct CanonicalIncident {
        /// Summary line.
        pub title: String,
        /// Description as clean text.
        pub description_text: String,
        /// Cluster id, up to 20 digits, kept as text.
        pub cluster_id: String,
        /// Addresses of Clinic.
        pub clinic_links: Vec<Link>,
        /// Addresses of Grafana.
        pub grafana_links: Vec<Link>,
        /// The time that the incident covers, as `start/end`.
        pub time_window: TimeWindow,
        /// Who handled it at level 2.
        pub l2_assignee: String,
        /// Who owned it.
        pub assignee_or_l3: String,
    }
}

record! {
    /// What a replay was shown and what was kept from it.
    pub struct ReplayInputs {
        /// Fields that the skill saw.
        pub used_fields: Vec<String>,
        /// Fields that the skill did not see.
        pub excluded_fields: Vec<String>,
        /// How the choice was made.
        pub notes: String,
    }
}

record! {
    /// What a skill concluded, with the replay's checkpoints.
    pub struct SkillConclusion {
        /// The route that the diagnosis started on.
        pub entry_mode: Option<EntryMode>,
        /// The parts of the skill that it used.
        pub activated_subcapabilities: Vec<Worded<SubCapability>>,
        /// The reference files that it read.
        pub reference_files_consulted: Vec<Reference>,
        /// Whether the slowness is on TiKV's side.
        pub is_tikv_side: Worded<TikvSide>,
        /// How much of the system is affected.
        pub scope: Worded<Scope>,
        /// The path that is slow.
        pub path: Worded<Path>,
        /// The most upstream mechanism that the evidence proves: an id of the atlas, or words.
        pub earliest_proven_bottleneck: String,
        /// What proves it.
        pub key_evidence: Vec<String>,
        /// What would be needed to go further.
        pub missing_evidence: Vec<String>,
        /// How sure the skill is, and of what it is not.
        pub uncertainty_statement: String,
        /// The conclusion in prose.
        pub provisional_conclusion: String,
    }
}

record! {
    /// What the engineers concluded.
    pub struct FinalHumanConclusion {
        /// Whether they reached a conclusion.
        pub status: Option<HumanStatus>,
        /// The owner's concluding comment.
        pub owner_final_comment: String,
        /// The conclusion as one line of `key=value` parts (see docs/structured-conclusion.md), or words.
        pub structured_conclusion: String,
        /// Addresses, logs and panels that they relied on.
        pub evidence_references: Vec<String>,
        /// Separate windows of the incident, where it has several.
        pub analysis_windows: Vec<AnalysisWindow>,
    }
}

record! {
    /// One window of an incident as the engineers saw it.
    pub struct AnalysisWindow {
        /// Its name, as window-1.
        pub label: String,
        /// First moment.
        pub start_time: Moment,
        /// Last moment.
        pub end_time: Moment,
        /// What happened in it.
        pub summary: String,
        /// The path that was slow.
        pub inferred_path: Worded<Path>,
        /// The bottleneck: an id of the atlas, or words.
        pub inferred_bottleneck: String,
        /// What proves it.
        pub evidence: Vec<String>,
    }
}

record! {
    /// One window, compared: evidence for evolving the skill.
    pub struct WindowReview {
        /// Its name, as window-1.
        pub label: String,
        /// First moment.
        pub start_time: Moment,
        /// Last moment.
        pub end_time: Moment,
        /// What the engineers say of it.
        pub human_summary: String,
        /// What the skill says of it.
        pub skill_summary: String,
        /// How the two relate.
        pub assessment: Option<Assessment>,
        /// Remarks.
        pub notes: Vec<String>,
    }
}

impl Case {
    /// The case as canonical JSON: the schema's order, two-space indent, a newline at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        Writer::document(self)
    }
}

impl SkillConclusion {
    /// The conclusion as canonical JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        Writer::document(self)
    }
}
