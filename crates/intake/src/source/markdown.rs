//! Markdown renderings of tickets, as knowledge bases keep them, often redacted.
//!
//! ```text
//! # GTOC-7289: title
//! ## Source
//! - Status: Resolved
//! ## Symptom / Description Excerpt
//! …
//! ## Recent Comments Excerpt
//! ### 2024-12-04T09:14:41.000+0800 [REDACTED_USER]
//! …
//! ```

use hindcast_case::{IncidentId, Source};

use super::record::{Form, Unusable};
use super::{read_time, shortened};
use crate::markup::{Document, read_markdown, read_wiki};
use crate::settings::{Field, Settings, fold};
use crate::stamp::Stamp;
use crate::ticket::{Comment, DoubtKind, Person, Revisions, Ticket};

/// Whether a line opens a rendering: `# GTOC-7289: title`.
pub(crate) fn opens(line: &str) -> bool {
    heading(line).is_some_and(|(level, text)| level == 1 && key_and_title(text).is_some())
}

/// The renderings of a text that holds several, each with the line that it begins on.
pub(crate) fn split_renderings(text: &str) -> Vec<(usize, &str)> {
    let mut starts = Vec::new();
    let mut at = 0;
    let mut in_code = false;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if !in_code && opens(line) {
            starts.push((index + 1, at));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]);
    starts.iter().zip(ends).map(|((line, start), end)| (*line, &text[*start..end])).collect()
}

/// Reads the rendering of one ticket.
pub(crate) fn read_rendering(text: &str, form: Form, settings: &Settings) -> Result<Ticket, Unusable> {
    let mut sections = sections(text).into_iter();
    let first = sections.next().ok_or_else(|| Unusable::new("holds no heading"))?;
    let Some((id, title)) = key_and_title(first.title) else {
        let found = shortened(first.title, 60);
        return Err(Unusable::new(format!("the first heading is {found:?}; expected one like \"# GTOC-1234: title\"")));
    };
    let source = if form == Form::Pingkai { Source::Pingkai } else { id.source() };
    let mut ticket = Ticket::new(id, source);
    ticket.title = Revisions::only(Document::plain(title));
    read_list(&mut ticket, first.body, settings);
    let mut descriptions = Vec::new();
    let mut in_comments = false;
    for section in sections {
        let name = fold(section.title);
        let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match section.level {
            2 => {
                in_comments = is(&["comment", "评论", "回复"]);
                if in_comments {
                } else if is(&["source", "metadata", "fields", "来源", "信息"]) {
                    read_list(&mut ticket, section.body, settings);
                } else if is(&["conclusion", "rootcause", "结论", "根因"]) {
                    ticket.conclusion = body(section.body);
                } else if is(&["symptom", "description", "描述", "现象"]) {
                    descriptions.push(section.body);
                }
            }
            _ if in_comments => read_comment(&mut ticket, &section, settings),
            _ => {}
        }
    }
    ticket.description = Revisions::only(body(&descriptions.join("\n\n")));
    if ticket.comments.iter().any(|comment| comment.author.is_hidden()) {
        ticket.doubt(DoubtKind::OwnerNotFound, "the rendering hides who wrote the comments");
    }
    ticket.sort();
    Ok(ticket)
}

/// A heading with what stands below it.
struct Section<'a> {
    level: usize,
    title: &'a str,
    body: &'a str,
}

/// Sections by headings of levels 1 to 3; headings in code are text.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut body_start = 0;
    let mut at = 0;
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if let Some((level, title)) = heading(line).filter(|(level, _)| !in_code && *level <= 3) {
            // Deeper in comments only lines that begin with a time are comments; all else is text of one.
            if level < 3 || starts_comment(title) || sections.len() < 2 {
                if let Some(last) = sections.last_mut() {
                    last.body = &text[body_start..at];
                }
                sections.push(Section { level, title, body: "" });
                body_start = at + line.len();
            }
        }
        at += line.len();
    }
    if let Some(last) = sections.last_mut() {
        last.body = &text[body_start..];
    }
    sections
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let title = line[level..].strip_prefix(' ')?.trim();
    (1..=6).contains(&level).then_some((level, title))
}

fn key_and_title(heading: &str) -> Option<(IncidentId, &str)> {
    let end = heading.find([':', '：', ' ']).unwrap_or(heading.len());
    let id = IncidentId::parse(heading[..end].trim_matches(['[', ']']))?;
    Some((id, heading[end..].trim_start_matches([':', '：', ' ']).trim()))
}

fn starts_comment(title: &str) -> bool {
    let first = title.split_whitespace().next().unwrap_or_default();
    Stamp::read(first, jiff::tz::Offset::UTC).is_some()
}

/// `- Status: Resolved` lines.
fn read_list(ticket: &mut Ticket, text: &str, settings: &Settings) {
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['-', '*', ' ']).replace(['*', '`'], "");
        let Some((name, value)) = line.split_once([':', '：']) else { continue };
        let value = value.trim();
        if value.is_empty() {
            continue;
        }
        match fold(name).as_str() {
            "status" | "状态" => value.clone_into(&mut ticket.status),
            "resolution" => value.clone_into(&mut ticket.resolution),
            "created" | "createdat" | "创建时间" => ticket.created = read_time(ticket, settings, "Created", value),
            "updated" | "updatedat" | "更新时间" => ticket.updated = read_time(ticket, settings, "Updated", value),
            "resolved" | "resolvedat" | "解决时间" => {
                ticket.resolved = read_time(ticket, settings, "Resolved", value);
            }
            "reporter" | "创建人" | "提交人" => ticket.reporter = Some(Person::named(value)),
            "assignee" | "处理人" => ticket.assignee = Some(Person::named(value)),
            "labels" | "components" | "标签" => {
                ticket.labels.extend(value.split([',', '，']).map(|label| label.trim().to_owned()));
            }
            "url" | "link" | "address" | "jira" => value.trim_matches(['<', '>']).clone_into(&mut ticket.address),
            _ => match settings.fields.holds(name.trim(), name.trim()) {
                Some(Field::L2Assignee) => ticket.l2 = Some(Person::named(value)),
                Some(Field::L3Assignee) => ticket.l3 = Some(Person::named(value)),
                Some(Field::ClusterId) => value.clone_into(&mut ticket.cluster_id),
                Some(Field::TimeWindow) => value.clone_into(&mut ticket.window),
                Some(Field::Conclusion) => ticket.conclusion = Document::plain(value),
                None => {}
            },
        }
    }
}

/// `### 2024-12-04T09:14:41.000+0800 [REDACTED_USER]`.
fn read_comment(ticket: &mut Ticket, section: &Section<'_>, settings: &Settings) {
    let (time, author) = section.title.split_once(char::is_whitespace).unwrap_or((section.title, ""));
    let created = read_time(ticket, settings, "a comment", time);
    let author = Person::named(author.trim().trim_matches(['[', ']', '-', '—', ' ']));
    ticket.comments.push(Comment { author, created, edited: None, body: body(section.body) });
}

/// Renderings carry the source's own markup through.
fn body(text: &str) -> Document {
    let is_wiki = ["{code", "{noformat", "{color", "{quote", "|http", "\nh1. ", "\nh2. ", "\nh3. ", "\nh4. "];
    if is_wiki.iter().any(|mark| text.contains(mark)) { read_wiki(text) } else { read_markdown(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendering_is_a_ticket() {
        let text = "# GTOC-7289: 写入延迟升高\n\n## Source\n\n- Status: Resolved\n- Created: 2024-12-04T09:14:28.000+0800\n- Assignee: Bo\n\
                    - Cluster ID: 7460723698814898616\n\n## Symptom / Description Excerpt\n\nP99 rose, see [panel|https://g.example/d/x]\n\n\
                    ## Recent Comments Excerpt\n\n### 2024-12-04T09:14:41.000+0800 [REDACTED_USER]\n\nnotified on-call by lark\n\n\
                    ### 2024-12-04T10:14:41.000+0800 Bo\n\n根因是云盘抖动\n\n### not a comment\n\nof the same\n";
        let ticket = read_rendering(text, Form::Jira, &Settings::default()).expect("a ticket");
        assert_eq!((ticket.key.as_str(), ticket.title.first.text.as_str()), ("GTOC-7289", "写入延迟升高"));
        assert_eq!(ticket.description.first.text, "P99 rose, see panel (https://g.example/d/x)");
        assert_eq!(ticket.comments.len(), 2);
        assert!(ticket.comments[0].author.is_hidden());
        assert_eq!(ticket.comments[1].author, Person::named("Bo"));
        assert_eq!(ticket.comments[1].body.text, "根因是云盘抖动\nnot a comment\nof the same");
        assert_eq!((ticket.cluster_id.as_str(), ticket.status.as_str()), ("7460723698814898616", "Resolved"));
        assert!(read_rendering("# A title\n", Form::Jira, &Settings::default()).is_err());
        assert!(read_rendering("text", Form::Jira, &Settings::default()).is_err());
    }
}
