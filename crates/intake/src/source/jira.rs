//! Issues of Jira's REST API, v2 and v3.

use std::collections::HashMap;

use hindcast_case::{IncidentId, Source};
use serde_json::Value;

use super::record::Unusable;
use super::{person_of, read_time, text_of};
use crate::markup::{Document, read_adf, read_html, read_wiki};
use crate::settings::{Field, Settings};
use crate::ticket::{
    AccountKind, Attachment, Change, Comment, DoubtKind, History, Person, RemoteLink, Revision, Revisions, Ticket,
};

/// Names of fields by id, as `expand=names` gives them.
pub(crate) type FieldNames = HashMap<String, String>;

/// Reads one issue. `names` are those of the page that it came in; its own count first.
pub(crate) fn read_issue(issue: &Value, names: &FieldNames, settings: &Settings) -> Result<Ticket, Unusable> {
    let key = issue["key"].as_str().unwrap_or_default();
    let Some(id) = IncidentId::parse(key) else {
        return Err(Unusable::new(format!("{key:?} is no issue key; expected one like GTOC-1234")));
    };
    let fields = &issue["fields"];
    if !fields.is_object() {
        return Err(Unusable::new(format!("{id} has no fields")));
    }
    let mut ticket = Ticket::new(id, Source::JiraGtoc);
    if let Some(site) = issue["self"].as_str().and_then(|address| address.split_once("/rest/api/")) {
        ticket.address = format!("{}/browse/{key}", site.0);
    }
    ticket.created = read_time(&mut ticket, settings, "created", &text_of(&fields["created"]));
    ticket.updated = read_time(&mut ticket, settings, "updated", &text_of(&fields["updated"]));
    ticket.resolved = read_time(&mut ticket, settings, "resolutiondate", &text_of(&fields["resolutiondate"]));
    ticket.status = text_of(&fields["status"]);
    ticket.resolution = text_of(&fields["resolution"]);
    ticket.reporter = account(&fields["reporter"]).or_else(|| account(&fields["creator"]));
    ticket.assignee = account(&fields["assignee"]);
    for list in ["labels", "components"] {
        ticket.labels.extend(fields[list].as_array().into_iter().flatten().map(text_of));
    }
    ticket.title = Revisions::only(Document::plain(&text_of(&fields["summary"])));
    ticket.description = Revisions::only(rich_text(&fields["description"], &issue["renderedFields"]["description"]));
    read_custom_fields(&mut ticket, issue, names, settings);
    read_comments(&mut ticket, &fields["comment"], settings);
    read_links(&mut ticket, fields);
    for file in fields["attachment"].as_array().into_iter().flatten() {
        let at = read_time(&mut ticket, settings, "an attachment", &text_of(&file["created"]));
        ticket.attachments.push(Attachment { name: text_of(&file["filename"]), at });
    }
    read_changelog(&mut ticket, &issue["changelog"], settings);
    ticket.sort();
    Ok(ticket)
}

/// Wiki markup, a document tree, or else what Jira rendered of it.
fn rich_text(value: &Value, rendered: &Value) -> Document {
    match value {
        Value::String(text) => read_wiki(text),
        Value::Object(_) => read_adf(value),
        _ => rendered.as_str().map(read_html).unwrap_or_default(),
    }
}

fn account(value: &Value) -> Option<Person> {
    let mut person = person_of(value)?;
    person.kind = match value["accountType"].as_str() {
        Some("app") => AccountKind::Bot,
        Some("customer") => AccountKind::Customer,
        _ => AccountKind::Person,
    };
    Some(person)
}

fn read_custom_fields(ticket: &mut Ticket, issue: &Value, names: &FieldNames, settings: &Settings) {
    for (id, value) in issue["fields"].as_object().into_iter().flatten() {
        if value.is_null() {
            continue;
        }
        let own = issue["names"][id].as_str();
        let name = own.or_else(|| names.get(id).map(String::as_str)).unwrap_or_default();
        match settings.fields.holds(id, name) {
            Some(Field::L2Assignee) => ticket.l2 = account(value),
            Some(Field::L3Assignee) => ticket.l3 = account(value),
            Some(Field::ClusterId) => ticket.cluster_id = text_of(value),
            Some(Field::TimeWindow) => ticket.window = text_of(value),
            Some(Field::Conclusion) => {
                ticket.conclusion = match value {
                    Value::Object(tree) if tree.contains_key("content") => read_adf(value),
                    _ => read_wiki(&text_of(value)),
                };
            }
            None => {}
        }
    }
}

fn read_comments(ticket: &mut Ticket, list: &Value, settings: &Settings) {
    // A comment field is a page of its own, or in some exports a bare list.
    let comments = list["comments"].as_array().or_else(|| list.as_array());
    for comment in comments.into_iter().flatten() {
        add_comment(ticket, comment, settings);
    }
    let total = list["total"].as_u64().and_then(|total| usize::try_from(total).ok()).unwrap_or_default();
    if total > ticket.comments.len() {
        let message = format!("{} of {total} comments are in the export", ticket.comments.len());
        ticket.doubt(DoubtKind::CommentsMissing, message);
    }
}

fn add_comment(ticket: &mut Ticket, comment: &Value, settings: &Settings) {
    let created = read_time(ticket, settings, "a comment", &text_of(&comment["created"]));
    let updated = read_time(ticket, settings, "a comment's edit", &text_of(&comment["updated"]));
    ticket.comments.push(Comment {
        author: account(&comment["author"]).unwrap_or_default(),
        created,
        edited: updated.filter(|updated| created.is_some_and(|created| *updated > created)),
        body: rich_text(&comment["body"], &comment["renderedBody"]),
    });
}

/// Links to other issues and pages.
fn read_links(ticket: &mut Ticket, fields: &Value) {
    for link in fields["issuelinks"].as_array().into_iter().flatten() {
        let other = if link["outwardIssue"].is_object() { &link["outwardIssue"] } else { &link["inwardIssue"] };
        let title = text_of(&other["fields"]["summary"]);
        ticket.links.push(RemoteLink { title, target: text_of(&other["key"]) });
    }
}

fn read_changelog(ticket: &mut Ticket, changelog: &Value, settings: &Settings) {
    let pages = changelog["histories"].as_array().or_else(|| changelog["values"].as_array());
    let Some(histories) = pages else { return };
    let total = changelog["total"].as_u64().and_then(|total| usize::try_from(total).ok());
    ticket.history = match total {
        Some(total) if total > histories.len() => {
            let message = format!("{} of {total} changes are in the export", histories.len());
            ticket.doubt(DoubtKind::HistoryMissing, message);
            History::Cut
        }
        _ => History::Whole,
    };
    let mut titles = Vec::new();
    let mut descriptions = Vec::new();
    for history in histories {
        let Some(at) = read_time(ticket, settings, "a change", &text_of(&history["created"])) else { continue };
        let by = account(&history["author"]);
        for item in history["items"].as_array().into_iter().flatten() {
            let text = |key: &str| item[key].as_str().unwrap_or_default();
            match text("field").to_lowercase().as_str() {
                "summary" => titles.push(Edit { at, by: by.clone(), from: text("fromString"), to: text("toString") }),
                "description" => {
                    descriptions.push(Edit { at, by: by.clone(), from: text("fromString"), to: text("toString") });
                }
                field => ticket.changes.push(Change {
                    at,
                    by: by.clone(),
                    field: field.to_owned(),
                    from: text("fromString").to_owned(),
                    to: text("toString").to_owned(),
                    to_account: text("to").to_owned(),
                }),
            }
        }
    }
    ticket.title = undo(&ticket.title, titles, Document::plain);
    ticket.description = undo(&ticket.description, descriptions, read_wiki);
}

/// One edit of a text.
struct Edit<'a> {
    at: crate::stamp::Stamp,
    by: Option<Person>,
    from: &'a str,
    to: &'a str,
}

/// The revisions of a text: the oldest edit knows what stood first. The newest text is the field's own, which has markup
/// that a changelog may lack.
fn undo(now: &Revisions<Document>, mut edits: Vec<Edit<'_>>, read: impl Fn(&str) -> Document) -> Revisions<Document> {
    edits.sort_by_key(|edit| edit.at);
    let Some(oldest) = edits.first() else { return now.clone() };
    let first = read(oldest.from);
    let last = edits.len() - 1;
    let later = edits.into_iter().enumerate().map(|(index, edit)| {
        let value = if index == last { now.latest().clone() } else { read(edit.to) };
        Revision { at: edit.at, by: edit.by, value }
    });
    Revisions { first, later: later.collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_changelog_undoes_edits() {
        let issue = json!({
            "key": "GTOC-1", "self": "https://j.example/rest/api/2/issue/1",
            "names": {"customfield_7": "L2 Assignee", "customfield_8": "Cluster ID"},
            "fields": {
                "summary": "P99 rose because of EBS", "description": "h3. Root cause\nEBS jitter", "created": "2024-12-04T09:14:28.000+0800",
                "reporter": {"displayName": "Ann", "accountId": "a"}, "assignee": {"displayName": "Bo", "accountId": "b"},
                "customfield_7": {"displayName": "Lee", "accountId": "l"}, "customfield_8": 7460723698814898616_u64,
                "comment": {"total": 3, "comments": [
                    {"author": {"displayName": "Bo"}, "created": "2024-12-04T11:00:00.000+0800", "updated": "2024-12-04T12:00:00.000+0800", "body": "later"},
                    {"author": {"displayName": "Bot", "accountType": "app"}, "created": "2024-12-04T10:00:00.000+0800", "updated": "2024-12-04T10:00:00.000+0800", "body": "first"}]},
            },
            "changelog": {"total": 2, "histories": [
                {"created": "2024-12-05T09:00:00.000+0800", "author": {"displayName": "Bo"}, "items": [
                    {"field": "description", "fromString": "P99 rose, looking", "toString": "h3. Root cause\nEBS jitter"},
                    {"field": "summary", "fromString": "P99 rose", "toString": "P99 rose because of EBS"}]},
                {"created": "2024-12-04T10:00:00.000+0800", "author": {"displayName": "Bo"}, "items": [
                    {"field": "description", "fromString": "P99 rose", "toString": "P99 rose, looking"},
                    {"field": "assignee", "fromString": null, "toString": "Bo", "to": "b"}]}]},
        });
        let ticket = read_issue(&issue, &FieldNames::new(), &Settings::default()).expect("an issue");
        assert_eq!(ticket.description.first.text, "P99 rose");
        let noon = ticket.comments[0].created.expect("a time");
        assert_eq!(ticket.description.before(noon).text, "P99 rose", "an edit at the very moment is not before it");
        assert_eq!(ticket.description.latest().text, "Root cause\nEBS jitter");
        assert_eq!(ticket.title.first.text, "P99 rose");
        assert_eq!((ticket.changes.len(), ticket.history), (1, History::Whole));
        assert_eq!(ticket.comments[0].body.text, "first", "comments are in the order of time");
        assert_eq!((ticket.comments[0].edited, ticket.comments[1].edited.is_some()), (None, true));
        assert_eq!(ticket.l2.as_ref().map(|person| person.name.as_str()), Some("Lee"));
        assert_eq!(ticket.cluster_id, "7460723698814898616");
        assert_eq!(ticket.address, "https://j.example/browse/GTOC-1");
        assert_eq!(ticket.doubts.len(), 1, "{:?}", ticket.doubts);
    }

    #[test]
    fn odd_values_do_not_lose_the_ticket() {
        let issue = json!({"key": "gtoc-2", "fields": {
            "summary": 5, "description": [1], "created": "soon", "reporter": "Ann", "labels": null, "components": {"x": 1},
            "comment": [{"author": null, "body": {"type": "doc", "content": []}}, 7], "attachment": "none", "issuelinks": [{}]},
            "changelog": {"histories": [{"created": 5, "items": 7}, {}]}});
        let ticket = read_issue(&issue, &FieldNames::new(), &Settings::default()).expect("an issue");
        assert_eq!(ticket.key.as_str(), "GTOC-2");
        assert!(ticket.doubts.iter().any(|doubt| doubt.message.contains("created is no time")), "{:?}", ticket.doubts);
        assert!(read_issue(&json!({"key": "nope"}), &FieldNames::new(), &Settings::default()).is_err());
        assert!(read_issue(&json!([]), &FieldNames::new(), &Settings::default()).is_err());
    }
}
