//! Jira's XML export: an RSS channel of items whose texts are rendered HTML.

use std::io::{self, Read};

use hindcast_case::{IncidentId, Source};
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::json::Cut;
use super::read_time;
use super::record::Unusable;
use crate::markup::{Document, read_html};
use crate::settings::{Field, Settings};
use crate::ticket::{Attachment, Comment, Person, Revisions, Ticket};

/// The largest item that is read.
const MAX_ITEM: usize = 64 * 1024 * 1024;

/// How much is read at once.
const STEP: usize = 256 * 1024;

/// Cuts the items out of a channel of any size. Texts in it are escaped, so the tags stand for themselves.
pub(crate) struct XmlItems<R> {
    input: R,
    buffer: Vec<u8>,
    ended: bool,
    line: usize,
    found: usize,
}

impl<R: Read> XmlItems<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), ended: false, line: 1, found: 0 }
    }

    /// Where a tag stands in the buffer, from `from` on.
    fn find(&mut self, tag: &[u8], mut from: usize) -> io::Result<Option<usize>> {
        loop {
            if let Some(at) = memmem::find(self.buffer.get(from..).unwrap_or_default(), tag) {
                return Ok(Some(from + at));
            }
            // The tag may be cut in two.
            from = from.max((self.buffer.len() + 1).saturating_sub(tag.len()));
            if self.ended || self.buffer.len() > MAX_ITEM {
                return Ok(None);
            }
            let before = self.buffer.len();
            self.buffer.resize(before + STEP, 0);
            let read = self.input.read(&mut self.buffer[before..]);
            self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
            self.ended = read? == 0;
        }
    }

    fn pass(&mut self, to: usize) {
        self.line += memchr::memchr_iter(b'\n', &self.buffer[..to]).count();
        self.buffer.drain(..to);
    }
}

impl<R: Read> Iterator for XmlItems<R> {
    type Item = Result<Cut, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = loop {
            match self.find(b"<item>", 0) {
                Ok(Some(start)) => break start,
                Ok(None) if self.ended => {
                    let found_none = self.found == 0 && !self.buffer.is_empty();
                    self.buffer.clear();
                    self.found += 1;
                    let message = "holds no <item>; expected the XML export of a Jira search or issue";
                    return found_none.then(|| Err(message.to_owned()));
                }
                Ok(None) => self.pass(MAX_ITEM),
                Err(error) => return self.fail(&error),
            }
        };
        self.pass(start);
        self.found += 1;
        let line = self.line;
        match self.find(b"</item>", 0) {
            Ok(Some(end)) => {
                let end = end + b"</item>".len();
                let bytes = self.buffer[..end].to_vec();
                self.pass(end);
                Some(Ok(Cut { bytes, line }))
            }
            Ok(None) => {
                let is_cut = self.ended;
                self.pass(self.buffer.len());
                let reason = if is_cut { "ends inside an item" } else { "an item is too large and was left out" };
                Some(Err(format!("line {line}: {reason}")))
            }
            Err(error) => self.fail(&error),
        }
    }
}

impl<R: Read> XmlItems<R> {
    fn fail(&mut self, error: &io::Error) -> Option<Result<Cut, String>> {
        self.ended = true;
        self.buffer.clear();
        Some(Err(format!("can't be read: {error}")))
    }
}

/// Elements below this depth are not looked into.
const MAX_DEPTH: usize = 64;

/// An element with its attributes and text; small, because an item is cut out before.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    fn text(&self, name: &str) -> &str {
        self.child(name).map(|child| child.text.trim()).unwrap_or_default()
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    fn person(&self) -> Option<Person> {
        let account = [self.attribute("accountid"), self.attribute("username")].into_iter().find(|id| !id.is_empty());
        let name = self.text.trim();
        // Jira writes "Unassigned" with the account -1.
        let is_someone = !name.is_empty() && account != Some("-1");
        is_someone.then(|| Person { account: account.unwrap_or_default().to_owned(), ..Person::named(name) })
    }
}

/// Reads the bytes from `<item>` to `</item>`.
pub(crate) fn read_item(item: &[u8], settings: &Settings) -> Result<Ticket, Unusable> {
    let item = parse(item)?;
    let key = item.text("key");
    let Some(id) = IncidentId::parse(key) else {
        return Err(Unusable::new(format!("{key:?} is no issue key; expected one like GTOC-1234")));
    };
    let mut ticket = Ticket::new(id, Source::JiraGtoc);
    item.text("link").clone_into(&mut ticket.address);
    ticket.created = read_time(&mut ticket, settings, "created", item.text("created"));
    ticket.updated = read_time(&mut ticket, settings, "updated", item.text("updated"));
    ticket.resolved = read_time(&mut ticket, settings, "resolved", item.text("resolved"));
    item.text("status").clone_into(&mut ticket.status);
    item.text("resolution").clone_into(&mut ticket.resolution);
    ticket.reporter = item.child("reporter").and_then(Element::person);
    ticket.assignee = item.child("assignee").and_then(Element::person);
    let summary = match item.text("summary") {
        // The title repeats the key in brackets.
        "" => item.text("title").split_once("] ").map_or("", |(_, title)| title),
        summary => summary,
    };
    ticket.title = Revisions::only(Document::plain(summary));
    ticket.description = Revisions::only(read_html(item.text("description")));
    ticket.labels =
        item.child("labels").into_iter().flat_map(|labels| labels.all("label")).map(|l| l.text.clone()).collect();
    ticket.labels.extend(item.all("component").map(|component| component.text.clone()));
    for comment in item.child("comments").into_iter().flat_map(|comments| comments.all("comment")) {
        let created = read_time(&mut ticket, settings, "a comment", comment.attribute("created"));
        let account = comment.attribute("author").to_owned();
        // Comments name accounts; the people of the ticket have names too.
        let known = [&ticket.assignee, &ticket.reporter].into_iter().flatten().find(|person| person.account == account);
        let author = known.cloned().unwrap_or_else(|| Person { name: account.clone(), account, ..Person::default() });
        ticket.comments.push(Comment { author, created, edited: None, body: read_html(&comment.text) });
    }
    for file in item.child("attachments").into_iter().flat_map(|files| files.all("attachment")) {
        let at = read_time(&mut ticket, settings, "an attachment", file.attribute("created"));
        ticket.attachments.push(Attachment { name: file.attribute("name").to_owned(), at });
    }
    for field in item.child("customfields").into_iter().flat_map(|fields| fields.all("customfield")) {
        read_custom_field(&mut ticket, field, settings);
    }
    ticket.sort();
    Ok(ticket)
}

fn read_custom_field(ticket: &mut Ticket, field: &Element, settings: &Settings) {
    let values = field.child("customfieldvalues");
    let Some(value) = values.and_then(|values| values.children.first()) else { return };
    let text = value.text.trim();
    match settings.fields.holds(field.attribute("id"), field.text("customfieldname")) {
        Some(Field::L2Assignee) => ticket.l2 = Some(Person::named(text)),
        Some(Field::L3Assignee) => ticket.l3 = Some(Person::named(text)),
        Some(Field::ClusterId) => text.clone_into(&mut ticket.cluster_id),
        Some(Field::TimeWindow) => text.clone_into(&mut ticket.window),
        Some(Field::Conclusion) => ticket.conclusion = read_html(text),
        None => {}
    }
}

fn parse(bytes: &[u8]) -> Result<Element, Unusable> {
    let text = String::from_utf8_lossy(bytes);
    let broken = |error: &dyn std::fmt::Display| Unusable::new(format!("is no valid XML: {error}"));
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_end_names = true;
    // The last one is open; the first collects what stands outside.
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().map_err(|error| broken(&error))? {
            Event::Start(tag) => {
                if open.len() > MAX_DEPTH {
                    return Err(Unusable::new(format!("elements lie more than {MAX_DEPTH} deep")));
                }
                open.push(element(&tag));
            }
            Event::Empty(tag) => open.last_mut().expect("never empty").children.push(element(&tag)),
            Event::End(_) => {
                let closed = open.pop().expect("the reader checks ends");
                open.last_mut().ok_or_else(|| broken(&"an end without a start"))?.children.push(closed);
            }
            Event::Text(text) => open.last_mut().expect("never empty").text.push_str(&text),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let known = quick_xml::escape::resolve_predefined_entity(name).map(str::to_owned);
                let number = || reference.resolve_char_ref().ok().flatten().map(String::from);
                // An entity that is not known stays as it was written; none is ever fetched.
                let shown = known.or_else(number).unwrap_or_else(|| format!("&{name};"));
                open.last_mut().expect("never empty").text.push_str(&shown);
            }
            Event::CData(data) => open.last_mut().expect("never empty").text.push_str(&data),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if open.len() > 1 {
        return Err(broken(&"an element is not closed"));
    }
    let outside = open.pop().expect("the first one");
    outside.children.into_iter().next().ok_or_else(|| broken(&"there is no element"))
}

fn element(tag: &BytesStart<'_>) -> Element {
    let attributes = tag.attributes().flatten().map(|attribute| {
        let key = attribute.key.as_ref().to_owned();
        let raw = attribute.value.into_owned();
        let value = quick_xml::escape::unescape(&raw).map(std::borrow::Cow::into_owned);
        (key, value.unwrap_or(raw))
    });
    let name = tag.name().as_ref().to_owned();
    Element { name, attributes: attributes.collect(), ..Element::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_a_ticket() {
        let item = r#"<item><title>[GTOC-1] P99 rose</title><link>https://j.example/browse/GTOC-1</link>
            <description>&lt;p&gt;slow &amp;amp; slower, &lt;a href=&quot;https://g.example/d/x?a=1&amp;amp;b=2&quot;&gt;panel&lt;/a&gt;&lt;/p&gt;</description>
            <key id="10">GTOC-1</key><summary>P99 rose</summary><status id="6">Closed</status><resolution id="1">Done</resolution>
            <assignee username="bo">Bo</assignee><reporter username="ann">Ann</reporter>
            <labels><label>io</label></labels><component>tikv</component>
            <created>Wed, 4 Dec 2024 09:14:28 +0800</created>
            <comments><comment id="1" author="bo" created="Wed, 4 Dec 2024 10:00:00 +0800">&lt;p&gt;EBS jitter&lt;/p&gt;</comment></comments>
            <attachments><attachment id="1" name="disk.png" created="Wed, 4 Dec 2024 10:05:00 +0800"/></attachments>
            <customfields><customfield id="customfield_1"><customfieldname>L2 Assignee</customfieldname>
            <customfieldvalues><customfieldvalue><![CDATA[Lee]]></customfieldvalue></customfieldvalues></customfield></customfields></item>"#;
        let ticket = read_item(item.as_bytes(), &Settings::default()).expect("a ticket");
        assert_eq!(ticket.description.first.text, "slow & slower, panel (https://g.example/d/x?a=1&b=2)");
        assert_eq!(ticket.comments[0].author, Person { account: "bo".to_owned(), ..Person::named("Bo") });
        assert_eq!(ticket.comments[0].created.map(|at| at.to_string()).as_deref(), Some("2024-12-04T10:00:00+08:00"));
        assert_eq!(ticket.attachments[0].name, "disk.png");
        assert_eq!(ticket.labels, ["io", "tikv"]);
        assert_eq!(ticket.l2, Some(Person::named("Lee")));
        assert!(ticket.doubts.is_empty(), "{:?}", ticket.doubts);
    }

    #[test]
    fn broken_items_say_so() {
        for item in ["", "<item>", "<item></itm>", "<item><key>&x;</key></item>", "<item/>"] {
            assert!(read_item(item.as_bytes(), &Settings::default()).is_err(), "{item}");
        }
    }
}
