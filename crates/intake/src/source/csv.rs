//! Jira's CSV export: a column a field, `Comment` and `Attachment` columns repeated.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use csv::ByteRecord;
use encoding_rs::{Encoding, UTF_8};
use hindcast_case::{IncidentId, Source};

use super::read_time;
use super::record::Unusable;
use crate::markup::{Document, read_wiki};
use crate::settings::{Field, Settings, fold};
use crate::ticket::{Attachment, Comment, Person, Revisions, Ticket};

/// The head of a table.
#[derive(Debug)]
pub(crate) struct Columns {
    names: Vec<String>,
    /// Spreadsheets save tables in the encoding of their system: Windows-1252, GB18030. The table's beginning tells
    /// which; where it is ASCII alone, a row has to.
    encoding: Option<&'static Encoding>,
}

impl Columns {
    /// Columns of a table that begins with the bytes `beginning`.
    pub(crate) fn new(head: &ByteRecord, beginning: &[u8]) -> Self {
        let is_utf8 = std::str::from_utf8(beginning).map_or_else(|error| error.error_len().is_none(), |_| true);
        let encoding = (!is_utf8).then(|| guess_encoding(beginning));
        let mut columns = Self { names: Vec::new(), encoding };
        let name = |name: &[u8]| columns.decode(head, name).trim_start_matches('\u{feff}').trim().to_owned();
        columns.names = head.iter().map(name).collect();
        columns
    }

    fn decode(&self, row: &ByteRecord, cell: &[u8]) -> String {
        let is_utf8 = std::str::from_utf8(row.as_slice()).is_ok();
        let encoding = if is_utf8 { UTF_8 } else { self.encoding.unwrap_or_else(|| guess_encoding(row.as_slice())) };
        encoding.decode_without_bom_handling(cell).0.into_owned()
    }
}

fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// Cells of a row, decoded, each with the name of its column.
pub(crate) fn cells<'a>(head: &'a Columns, row: &ByteRecord) -> Vec<(&'a str, String)> {
    head.names
        .iter()
        .zip(row.iter())
        .map(|(name, cell)| (name.as_str(), head.decode(row, cell)))
        .filter(|(_, cell)| !cell.trim().is_empty())
        .collect()
}

/// Reads one row.
pub(crate) fn read_row(head: &Columns, row: &ByteRecord, settings: &Settings) -> Result<Ticket, Unusable> {
    let cells = cells(head, row);
    let find = |names: &[&str]| {
        let cell = cells.iter().find(|(column, _)| names.contains(&fold(column).as_str()));
        cell.map(|(_, cell)| cell.trim()).unwrap_or_default()
    };
    let key = find(&["issuekey", "key"]);
    let Some(id) = IncidentId::parse(key) else {
        return Err(Unusable::new(format!(
            "{key:?} in the column Issue key is no issue key; expected one like GTOC-1234"
        )));
    };
    let mut ticket = Ticket::new(id, Source::JiraGtoc);
    ticket.created = read_time(&mut ticket, settings, "Created", find(&["created"]));
    ticket.updated = read_time(&mut ticket, settings, "Updated", find(&["updated"]));
    ticket.resolved = read_time(&mut ticket, settings, "Resolved", find(&["resolved", "resolutiondate"]));
    find(&["status"]).clone_into(&mut ticket.status);
    find(&["resolution"]).clone_into(&mut ticket.resolution);
    let person = |names: &[&str], ids: &[&str]| {
        let name = find(names);
        (!name.is_empty()).then(|| Person { account: find(ids).to_owned(), ..Person::named(name) })
    };
    ticket.reporter = person(&["reporter"], &["reporterid"]);
    ticket.assignee = person(&["assignee"], &["assigneeid"]);
    ticket.title = Revisions::only(Document::plain(find(&["summary"])));
    ticket.description = Revisions::only(read_wiki(find(&["description"])));
    for (column, cell) in &cells {
        let name = fold(column);
        match name.as_str() {
            "comment" | "comments" => read_comment(&mut ticket, cell, settings),
            "attachment" => read_attachment(&mut ticket, cell, settings),
            "labels" | "components" | "component" if !cell.trim().is_empty() => {
                ticket.labels.push(cell.trim().to_owned());
            }
            _ => {
                let custom = column.trim().strip_prefix("Custom field (").and_then(|name| name.strip_suffix(')'));
                read_custom_field(&mut ticket, custom.unwrap_or(column), cell, settings);
            }
        }
    }
    ticket.sort();
    Ok(ticket)
}

fn read_custom_field(ticket: &mut Ticket, name: &str, cell: &str, settings: &Settings) {
    let cell = cell.trim();
    match settings.fields.holds(name, name) {
        Some(Field::L2Assignee) => ticket.l2 = Some(Person::named(cell)),
        Some(Field::L3Assignee) => ticket.l3 = Some(Person::named(cell)),
        Some(Field::ClusterId) => cell.clone_into(&mut ticket.cluster_id),
        Some(Field::TimeWindow) => cell.clone_into(&mut ticket.window),
        Some(Field::Conclusion) => ticket.conclusion = read_wiki(cell),
        None => {}
    }
}

/// `date;author;text`.
fn read_comment(ticket: &mut Ticket, cell: &str, settings: &Settings) {
    let mut parts = cell.splitn(3, ';');
    let (date, author, body) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let (Some(author), Some(body)) = (author, body) else {
        // No export of Jira's: the text alone.
        let comment = Comment { author: Person::default(), created: None, edited: None, body: read_wiki(cell) };
        return ticket.comments.push(comment);
    };
    let created = read_time(ticket, settings, "a comment", date);
    let body = read_wiki(if created.is_some() { body } else { cell });
    let author = author_of(ticket, author.trim());
    ticket.comments.push(Comment { author, created, edited: None, body });
}

/// Comments name accounts, other columns people; the two meet where an account column is there too.
fn author_of(ticket: &Ticket, account: &str) -> Person {
    let known = [&ticket.assignee, &ticket.reporter].into_iter().flatten().find(|person| person.account == account);
    known.cloned().unwrap_or_else(|| Person {
        name: account.to_owned(),
        account: account.to_owned(),
        ..Person::default()
    })
}

/// `date;author;name;address`.
fn read_attachment(ticket: &mut Ticket, cell: &str, settings: &Settings) {
    let parts: Vec<&str> = cell.split(';').collect();
    let (date, name) = match parts[..] {
        [date, _, name, ..] => (date, name),
        _ => ("", cell),
    };
    let at = read_time(ticket, settings, "an attachment", date);
    ticket.attachments.push(Attachment { name: name.trim().to_owned(), at });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&[u8]]) -> ByteRecord {
        ByteRecord::from(cells.to_vec())
    }

    fn head(names: &[&str]) -> Columns {
        let head = ByteRecord::from(names.to_vec());
        Columns::new(&head, head.as_slice())
    }

    #[test]
    fn a_row_is_a_ticket() {
        let head = head(&[
            "Summary",
            "Issue key",
            "Status",
            "Assignee",
            "Assignee Id",
            "Created",
            "Description",
            "Labels",
            "Labels",
            "Comment",
            "Comment",
            "Attachment",
            "Custom field (L2 Assignee)",
        ]);
        let cells: [&[u8]; 13] = [
            b"P99 rose",
            b"GTOC-1",
            b"Resolved",
            b"Bo",
            b"5b1",
            b"04/Dec/24 9:14 AM",
            b"h3. Symptom\nslow",
            b"io",
            b"",
            b"04/Dec/24 10:00 AM;5b1;EBS; it jitters",
            b"",
            b"04/Dec/24 10:05 AM;5b1;disk.png;https://j.example/1/disk.png",
            b"Lee",
        ];
        let settings = Settings { zone: Some(jiff::tz::offset(8)), ..Settings::default() };
        let ticket = read_row(&head, &row(&cells), &settings).expect("a ticket");
        assert_eq!(ticket.created.map(|at| at.to_string()).as_deref(), Some("2024-12-04T09:14:00+08:00"));
        assert_eq!(ticket.comments.len(), 1);
        assert_eq!(
            (ticket.comments[0].body.text.as_str(), ticket.comments[0].author.name.as_str()),
            ("EBS; it jitters", "Bo")
        );
        assert_eq!(ticket.attachments[0].name, "disk.png");
        assert_eq!(ticket.labels, ["io"]);
        assert_eq!(ticket.l2, Some(Person::named("Lee")));
        assert!(ticket.doubts.iter().any(|doubt| doubt.message.contains("intake.zone")), "{:?}", ticket.doubts);
    }

    #[test]
    fn old_encodings_are_read() {
        let head = head(&["Issue key", "Summary"]);
        let (chinese, _, _) = encoding_rs::GB18030.encode("写入延迟升高，磁盘抖动，请帮忙排查一下原因");
        let ticket = read_row(&head, &row(&[b"GTOC-1", &chinese]), &Settings::default()).expect("a ticket");
        assert_eq!(ticket.title.first.text, "写入延迟升高，磁盘抖动，请帮忙排查一下原因");
        let ticket = read_row(&head, &row(&[b"GTOC-1", b"the caf\xe9 \x96 it\x92s slow"]), &Settings::default())
            .expect("a ticket");
        assert_eq!(ticket.title.first.text, "the café – it’s slow");
    }
}
