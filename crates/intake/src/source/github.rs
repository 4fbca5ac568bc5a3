//! Issues of GitHub: REST with comments and timeline beside them, and what `gh issue view --json` prints.

use hindcast_case::{IncidentId, Source};
use serde_json::Value;

use super::record::Unusable;
use super::{person_of, read_time, text_of};
use crate::markup::{Document, read_markdown};
use crate::settings::Settings;
use crate::stamp::Stamp;
use crate::ticket::{AccountKind, Change, Comment, History, Person, RemoteLink, Revision, Revisions, Ticket};

/// Reads an issue. Comments stand under `comments`, events under `timeline` or `events`.
pub(crate) fn read_thread(issue: &Value, settings: &Settings) -> Result<Ticket, Unusable> {
    let either = |snake: &str, camel: &str| -> String {
        let value = if issue[snake].is_null() { &issue[camel] } else { &issue[snake] };
        text_of(value)
    };
    let address = either("html_url", "url");
    let number = text_of(&issue["number"]);
    let Some(id) = incident_id(&address, &text_of(&issue["repository_url"]), &number) else {
        return Err(Unusable::new(format!(
            "is no GitHub issue: expected `number` and `html_url` (or `url`), found {number:?} and {address:?}"
        )));
    };
    let mut ticket = Ticket::new(id, Source::Github);
    ticket.address = address;
    ticket.created = read_time(&mut ticket, settings, "created_at", &either("created_at", "createdAt"));
    ticket.updated = read_time(&mut ticket, settings, "updated_at", &either("updated_at", "updatedAt"));
    ticket.resolved = read_time(&mut ticket, settings, "closed_at", &either("closed_at", "closedAt"));
    ticket.status = text_of(&issue["state"]);
    ticket.resolution = either("state_reason", "stateReason");
    ticket.reporter = author(issue);
    let assignees = issue["assignees"].as_array();
    ticket.assignee = person_of(&issue["assignee"]).or_else(|| assignees?.first().and_then(person_of));
    ticket.labels = issue["labels"].as_array().into_iter().flatten().map(text_of).collect();
    ticket.title = Revisions::only(Document::plain(&text_of(&issue["title"])));
    ticket.description = Revisions::only(read_markdown(issue["body"].as_str().unwrap_or_default()));
    let timeline = ["timeline", "events", "timelineItems"].iter().find_map(|key| issue[*key].as_array());
    for comment in issue["comments"].as_array().into_iter().flatten() {
        add_comment(&mut ticket, comment, settings);
    }
    if let Some(events) = timeline {
        ticket.history = History::Whole;
        read_timeline(&mut ticket, events, settings);
    }
    ticket.sort();
    Ok(ticket)
}

/// `tikv/tikv#18274` is `TIKV-18274`.
fn incident_id(address: &str, repository: &str, number: &str) -> Option<IncidentId> {
    let of_address = address.split_once("github.com/").map(|(_, path)| path.split('/').nth(1).unwrap_or_default());
    let repository = of_address.filter(|name| !name.is_empty()).or_else(|| repository.rsplit('/').next())?;
    let prefix: String = repository.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
    IncidentId::parse(&format!("{prefix}-{number}"))
}

fn author(value: &Value) -> Option<Person> {
    let who = ["user", "author", "actor"].iter().find_map(|key| value[*key].as_object().map(|_| &value[*key]))?;
    let mut person = person_of(who)?;
    let association = value["author_association"].as_str().or_else(|| value["authorAssociation"].as_str());
    let is_bot = who["type"] == "Bot"
        || who["is_bot"] == true
        || person.name.ends_with("[bot]")
        || person.name.ends_with("-bot");
    person.kind = match association {
        _ if is_bot => AccountKind::Bot,
        Some("OWNER" | "MEMBER" | "COLLABORATOR") => AccountKind::Member,
        _ => AccountKind::Person,
    };
    Some(person)
}

fn add_comment(ticket: &mut Ticket, comment: &Value, settings: &Settings) {
    let time = |snake: &str, camel: &str| {
        let value = if comment[snake].is_null() { &comment[camel] } else { &comment[snake] };
        text_of(value)
    };
    let created = read_time(ticket, settings, "a comment", &time("created_at", "createdAt"));
    let updated = read_time(ticket, settings, "a comment's edit", &time("updated_at", "updatedAt"));
    ticket.comments.push(Comment {
        author: author(comment).unwrap_or_default(),
        created,
        edited: updated.filter(|updated| created.is_some_and(|created| *updated > created)),
        body: read_markdown(comment["body"].as_str().unwrap_or_default()),
    });
}

fn read_timeline(ticket: &mut Ticket, events: &[Value], settings: &Settings) {
    let has_comments = !ticket.comments.is_empty();
    let mut titles: Vec<(Stamp, Option<Person>, &Value)> = Vec::new();
    for event in events {
        let name = event["event"].as_str().unwrap_or_default();
        if name == "commented" {
            // The timeline repeats the comments.
            if !has_comments {
                add_comment(ticket, event, settings);
            }
            continue;
        }
        if name == "cross-referenced" {
            let other = &event["source"]["issue"];
            ticket.links.push(RemoteLink { title: text_of(&other["title"]), target: text_of(&other["html_url"]) });
            continue;
        }
        let Some(at) = read_time(ticket, settings, "an event", &text_of(&event["created_at"])) else { continue };
        let by = person_of(&event["actor"]);
        let change = |field: &str, from: String, to: String| Change {
            at,
            by: by.clone(),
            field: field.to_owned(),
            from,
            to_account: to.clone(),
            to,
        };
        match name {
            "renamed" => titles.push((at, by, &event["rename"])),
            "assigned" => ticket.changes.push(change("assignee", String::new(), text_of(&event["assignee"]))),
            "labeled" => ticket.changes.push(change("labels", String::new(), text_of(&event["label"]))),
            "unlabeled" => ticket.changes.push(change("labels", text_of(&event["label"]), String::new())),
            "closed" | "reopened" => ticket.changes.push(change("status", String::new(), name.to_owned())),
            _ => {}
        }
    }
    titles.sort_by_key(|(at, _, _)| *at);
    if let Some((_, _, oldest)) = titles.first() {
        let first = Document::plain(&text_of(&oldest["from"]));
        let later = titles.iter().map(|(at, by, rename)| Revision {
            at: *at,
            by: by.clone(),
            value: Document::plain(&text_of(&rename["to"])),
        });
        ticket.title = Revisions { first, later: later.collect() };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_thread_is_a_ticket() {
        let issue = json!({
            "number": 18274, "html_url": "https://github.com/tikv/tikv/issues/18274", "title": "EBS degraded", "state": "closed",
            "user": {"login": "ann", "type": "User"}, "author_association": "NONE", "created_at": "2025-02-21T08:00:00Z",
            "closed_at": "2025-02-25T08:00:00Z", "body": "## Bug\r\nslow", "assignees": [{"login": "bo"}], "labels": [{"name": "type/bug"}],
            "comments": [{"user": {"login": "bo"}, "author_association": "MEMBER", "created_at": "2025-02-22T08:00:00Z",
                "updated_at": "2025-02-22T08:00:00Z", "body": "The disk"}],
            "timeline": [
                {"event": "commented", "created_at": "2025-02-22T08:00:00Z", "body": "The disk", "actor": {"login": "bo"}},
                {"event": "renamed", "created_at": "2025-02-23T08:00:00Z", "actor": {"login": "bo"}, "rename": {"from": "P99 rose", "to": "EBS degraded"}},
                {"event": "assigned", "created_at": "2025-02-21T09:00:00Z", "assignee": {"login": "bo"}, "actor": {"login": "x"}}],
        });
        let ticket = read_thread(&issue, &Settings::default()).expect("a thread");
        assert_eq!((ticket.key.as_str(), ticket.title.first.text.as_str()), ("TIKV-18274", "P99 rose"));
        assert_eq!(ticket.title.latest().text, "EBS degraded");
        assert_eq!((ticket.comments.len(), ticket.comments[0].author.kind), (1, AccountKind::Member));
        assert_eq!(ticket.changes[0].to, "bo");

        let printed = json!({"number": 7, "url": "https://github.com/pingcap/tidb-map/issues/7", "title": "t", "body": "b",
            "author": {"login": "ann"}, "createdAt": "2025-02-21T08:00:00Z",
            "comments": [{"author": {"login": "bo"}, "authorAssociation": "OWNER", "body": "c", "createdAt": "2025-02-22T08:00:00Z"}]});
        let ticket = read_thread(&printed, &Settings::default()).expect("a thread");
        assert_eq!((ticket.key.as_str(), ticket.comments.len()), ("TIDBMAP-7", 1));
        assert!(read_thread(&json!({"number": 1}), &Settings::default()).is_err());
    }
}
