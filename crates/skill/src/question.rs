//! What a skill is asked.

use hindcast_case::{Link, TimeWindow};

/// The part of an incident that a diagnosis may see: what was known when the ticket was handed to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// What was known then.
    pub initial_symptom: String,
    /// The ticket's summary line.
    pub title: String,
    /// The ticket's description.
    pub description_text: String,
    /// Cluster id.
    pub cluster_id: String,
    /// Addresses of Clinic.
    pub clinic_links: Vec<Link>,
    /// Addresses of Grafana.
    pub grafana_links: Vec<Link>,
    /// The time that the incident covers.
    pub time_window: TimeWindow,
}

impl Question {
    /// The words of the question, each text once.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        let mut texts: Vec<&str> = Vec::new();
        for text in [&self.title, &self.initial_symptom, &self.description_text] {
            if !text.trim().is_empty() && !texts.contains(&text.as_str()) {
                texts.push(text);
            }
        }
        texts.join("\n")
    }
}
