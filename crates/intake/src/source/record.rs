//! One record of an export: cut out by a sequential reader, read on any thread.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::lean::read_lean;
use super::{csv, github, jira, markdown, pingkai, xml};
use crate::settings::Settings;
use crate::ticket::Ticket;

/// The system that an export comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Jira.
    Jira,
    /// PingKai.
    Pingkai,
    /// GitHub.
    Github,
}

/// A part of an export that holds a ticket, or several in a page.
#[derive(Debug)]
pub struct Record {
    /// Where it stands, as `export.json:17`.
    pub place: String,
    /// The system.
    pub form: Form,
    pub(crate) content: Content,
}

/// What a record is made of.
#[derive(Debug)]
pub(crate) enum Content {
    /// A JSON value, with the names of custom fields that its page gives.
    Json(Vec<u8>, Arc<jira::FieldNames>),
    /// An `<item>` of an RSS export.
    Xml(Vec<u8>),
    /// A rendering of one ticket.
    Markdown(String),
    /// A row of a table, with the head of the table.
    Row(Arc<csv::Columns>, ::csv::ByteRecord),
}

/// Why a record holds no ticket that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Unusable {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Pages inside pages are not looked into further.
const MAX_PAGES: usize = 3;

impl Record {
    /// Bytes that it takes up.
    #[must_use]
    pub fn size(&self) -> u64 {
        let size = match &self.content {
            Content::Json(bytes, _) | Content::Xml(bytes) => bytes.len(),
            Content::Markdown(text) => text.len(),
            Content::Row(_, row) => row.as_slice().len(),
        };
        u64::try_from(size).expect("a size fits 64 bits")
    }

    /// The tickets of the record, each usable or not.
    #[must_use]
    pub fn read(&self, settings: &Settings) -> Vec<Result<Ticket, Unusable>> {
        match &self.content {
            Content::Json(bytes, names) => match self.read_json(bytes) {
                Ok(value) => self.read_value(&value, names, settings, MAX_PAGES),
                Err(error) => vec![Err(Unusable::new(format!("is no valid JSON: {error}")))],
            },
            Content::Xml(item) => vec![xml::read_item(item, settings)],
            Content::Markdown(text) => vec![markdown::read_rendering(text, self.form, settings)],
            Content::Row(head, row) if self.form == Form::Pingkai => vec![pingkai::read_row(head, row, settings)],
            Content::Row(head, row) => vec![csv::read_row(head, row, settings)],
        }
    }

    /// Mappings may name any key, so only Jira's JSON can be read without what it never needs.
    fn read_json(&self, bytes: &[u8]) -> serde_json::Result<Value> {
        if self.form == Form::Jira { read_lean(bytes) } else { serde_json::from_slice(bytes) }
    }

    fn read_value(
        &self,
        value: &Value,
        names: &jira::FieldNames,
        settings: &Settings,
        pages: usize,
    ) -> Vec<Result<Ticket, Unusable>> {
        let list = value.as_array().or_else(|| super::json::PAGES.iter().find_map(|page| value[*page].as_array()));
        if let Some(list) = list.filter(|_| pages > 0) {
            return list.iter().flat_map(|value| self.read_value(value, names, settings, pages - 1)).collect();
        }
        vec![match self.form {
            Form::Jira => jira::read_issue(value, names, settings),
            Form::Pingkai => pingkai::read_ticket(value, settings),
            Form::Github => github::read_thread(value, settings),
        }]
    }
}
