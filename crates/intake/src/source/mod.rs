//! Tickets as source systems give them out, one file a form.

mod csv;
mod github;
mod jira;
mod json;
mod lean;
mod markdown;
mod pingkai;
mod record;
mod xml;

pub use record::{Form, Record, Unusable};

pub(crate) use csv::Columns;
pub(crate) use jira::FieldNames;
pub(crate) use json::JsonRecords;
pub(crate) use markdown::{opens as opens_rendering, split_renderings};
pub(crate) use record::Content;
pub(crate) use xml::XmlItems;

use jiff::tz::Offset;
use serde_json::Value;

use crate::settings::Settings;
use crate::stamp::{Stamp, offset_text};
use crate::ticket::{DoubtKind, Person, Ticket};

/// Where a ticket's times get their zone from, where they say none: the ticket's own other times, else the settings,
/// else UTC. Each use is noted.
fn read_time(ticket: &mut Ticket, settings: &Settings, what: &str, text: &str) -> Option<Stamp> {
    let own = ticket.created.map(Stamp::offset);
    let zone = own.or(settings.zone).unwrap_or(Offset::UTC);
    let read = Stamp::read(text, zone);
    match read {
        Some(read) if read.zone_was_assumed => {
            let from = match (own, settings.zone) {
                (Some(_), _) => "the ticket's other times",
                (None, Some(_)) => "intake.zone of the settings",
                (None, None) => "nothing better than UTC; set intake.zone",
            };
            let zone = offset_text(zone);
            ticket.doubt(DoubtKind::ZoneAssumed, format!("{what} has no zone; read at {zone}, from {from}"));
        }
        Some(_) => {}
        None if text.trim().is_empty() => {}
        None => ticket.doubt(DoubtKind::Unreadable, format!("{what} is no time: {:?}", shortened(text, 40))),
    }
    read.map(|read| read.stamp)
}

/// A text of any JSON value that stands for one: texts, numbers, and objects with a `value`, `name` or `displayName`.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().map(text_of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => ["value", "displayName", "name", "label", "login", "title"]
            .iter()
            .find_map(|key| fields.get(*key))
            .map(text_of)
            .unwrap_or_default(),
        Value::Null | Value::Bool(_) => String::new(),
    }
}

/// A person as JSON has it: an object of an account, a list of one, or a name.
fn person_of(value: &Value) -> Option<Person> {
    let value = value.as_array().map_or(value, |people| people.first().unwrap_or(&Value::Null));
    let account =
        ["accountId", "key", "login", "name", "emailAddress", "id"].iter().find_map(|key| match &value[*key] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
    let name = text_of(value);
    (!name.is_empty()).then(|| Person { name, account: account.unwrap_or_default(), ..Person::default() })
}

/// The start of a text, for messages.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
