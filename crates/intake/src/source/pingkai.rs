//! PingKai tickets: JSON and tables through a declared mapping, since there is no public schema.

use csv::ByteRecord;
use hindcast_case::{IncidentId, Source};
use serde_json::Value;

use super::csv::{Columns, cells};
use super::record::Unusable;
use super::{person_of, read_time, text_of};
use crate::markup::{Document, read_adf, read_html, read_markdown};
use crate::settings::{Places, Settings};
use crate::ticket::{Comment, Person, Revisions, Ticket};

/// Reads one JSON ticket.
pub(crate) fn read_ticket(value: &Value, settings: &Settings) -> Result<Ticket, Unusable> {
    let map = &settings.pingkai;
    let text = |places: &Places| places.find(value).map(text_of).unwrap_or_default();
    let person = |places: &Places| places.find(value).and_then(person_of);
    let mut ticket = new_ticket(&text(&map.key))?;
    ticket.created = read_time(&mut ticket, settings, "created", &text(&map.created));
    ticket.updated = read_time(&mut ticket, settings, "updated", &text(&map.updated));
    ticket.resolved = read_time(&mut ticket, settings, "resolved", &text(&map.resolved));
    ticket.status = text(&map.status);
    ticket.reporter = person(&map.reporter);
    ticket.assignee = person(&map.assignee);
    ticket.l2 = person(&map.l2);
    ticket.l3 = person(&map.l3);
    ticket.cluster_id = text(&map.cluster_id);
    ticket.window = text(&map.time_window);
    ticket.conclusion = map.conclusion.find(value).map(rich_text).unwrap_or_default();
    ticket.title = Revisions::only(Document::plain(&text(&map.title)));
    ticket.description = Revisions::only(map.description.find(value).map(rich_text).unwrap_or_default());
    if let Some(labels) = map.labels.find(value) {
        ticket.labels =
            labels.as_array().map_or_else(|| vec![text_of(labels)], |list| list.iter().map(text_of).collect());
    }
    for comment in map.comments.find(value).and_then(Value::as_array).into_iter().flatten() {
        let created = map.comment_created.find(comment).map(text_of).unwrap_or_default();
        let created = read_time(&mut ticket, settings, "a comment", &created);
        let author = map.comment_author.find(comment).and_then(person_of).unwrap_or_default();
        let body = map.comment_body.find(comment).or(comment.is_string().then_some(comment));
        ticket.comments.push(Comment { author, created, edited: None, body: body.map(rich_text).unwrap_or_default() });
    }
    ticket.sort();
    Ok(ticket)
}

/// Reads one row of a table.
pub(crate) fn read_row(head: &Columns, row: &ByteRecord, settings: &Settings) -> Result<Ticket, Unusable> {
    let map = &settings.pingkai;
    let cells = cells(head, row);
    let text = |places: &Places| {
        cells.iter().find(|(column, _)| places.name(column)).map(|(_, cell)| cell.trim()).unwrap_or_default()
    };
    let person = |places: &Places| Some(text(places)).filter(|name| !name.is_empty()).map(Person::named);
    let mut ticket = new_ticket(text(&map.key))?;
    ticket.created = read_time(&mut ticket, settings, "created", text(&map.created));
    ticket.updated = read_time(&mut ticket, settings, "updated", text(&map.updated));
    ticket.resolved = read_time(&mut ticket, settings, "resolved", text(&map.resolved));
    text(&map.status).clone_into(&mut ticket.status);
    ticket.reporter = person(&map.reporter);
    ticket.assignee = person(&map.assignee);
    ticket.l2 = person(&map.l2);
    ticket.l3 = person(&map.l3);
    text(&map.cluster_id).clone_into(&mut ticket.cluster_id);
    text(&map.time_window).clone_into(&mut ticket.window);
    ticket.conclusion = read_text(text(&map.conclusion));
    ticket.title = Revisions::only(Document::plain(text(&map.title)));
    ticket.description = Revisions::only(read_text(text(&map.description)));
    ticket.labels = text(&map.labels)
        .split([',', '，'])
        .map(|label| label.trim().to_owned())
        .filter(|label| !label.is_empty())
        .collect();
    for (_, cell) in cells.iter().filter(|(column, _)| map.comments.name(column)) {
        // As Jira writes them: `date;author;text`; else the text alone.
        let parts: Vec<&str> = cell.splitn(3, ';').collect();
        let (author, created, body) = match parts[..] {
            [date, author, body] if crate::stamp::Stamp::read(date, jiff::tz::Offset::UTC).is_some() => {
                (Person::named(author), read_time(&mut ticket, settings, "a comment", date), body)
            }
            _ => (Person::default(), None, cell.as_str()),
        };
        ticket.comments.push(Comment { author, created, edited: None, body: read_text(body) });
    }
    ticket.sort();
    Ok(ticket)
}

fn new_ticket(key: &str) -> Result<Ticket, Unusable> {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
    let id = IncidentId::parse(&if bare { format!("TICKET-{key}") } else { key.to_owned() });
    id.map(|id| Ticket::new(id, Source::Pingkai)).ok_or_else(|| {
        Unusable::new(format!(
            "{key:?} is no ticket key; expected one like TICKET-8412, or set intake.pingkai.key to where the keys stand"
        ))
    })
}

fn rich_text(value: &Value) -> Document {
    if value["content"].is_array() { read_adf(value) } else { read_text(&text_of(value)) }
}

fn read_text(text: &str) -> Document {
    let is_html = ["<p>", "<p ", "<br", "<div", "</"].iter().any(|tag| text.contains(tag));
    if is_html { read_html(text) } else { read_markdown(text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn chinese_fields_are_known_and_others_can_be_declared() {
        let value = json!({
            "工单号": 8412, "标题": "写入变慢", "描述": "<p>P99 <b>高</b></p>", "创建时间": "2024-12-04 09:14:28", "处理人": "王工",
            "二线": {"name": "李工"}, "根因": "云盘抖动", "评论": [{"作者": "王工", "时间": "2024-12-04 10:00:00", "内容": "根因是云盘抖动"}],
        });
        let settings = Settings { zone: Some(jiff::tz::offset(8)), ..Settings::default() };
        let ticket = read_ticket(&value, &settings).expect("a ticket");
        assert_eq!((ticket.key.as_str(), ticket.title.first.text.as_str()), ("TICKET-8412", "写入变慢"));
        assert_eq!(ticket.description.first.text, "P99 高");
        assert_eq!(ticket.comments[0].created.map(|at| at.to_string()).as_deref(), Some("2024-12-04T10:00:00+08:00"));
        assert_eq!(ticket.l2.map(|person| person.name).as_deref(), Some("李工"));
        assert_eq!(ticket.conclusion.text, "云盘抖动");

        let declared = "[intake.pingkai]\nkey = \"/case/no\"\ntitle = [\"/case/name\"]\ncomments = \"/case/log\"\ncomment_body = \"/say\"\n";
        let settings = Settings::read(declared).expect("settings");
        let value = json!({"case": {"no": "TICKET-7", "name": "slow", "log": [{"say": "a"}, {"say": "b"}]}});
        let ticket = read_ticket(&value, &settings).expect("a ticket");
        assert_eq!((ticket.title.first.text.as_str(), ticket.comments.len()), ("slow", 2));
        assert!(read_ticket(&json!({}), &settings).is_err());
    }
}
