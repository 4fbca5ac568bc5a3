//! Which comment is the engineers' final conclusion.

use hindcast_atlas::Atlas;
use hindcast_case::HumanStatus;

use crate::people::Role;
use crate::speech::{Speech, is_same_story};
use crate::ticket::{Comment, Doubt, DoubtKind, Person};

/// A comment with what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Said<'a> {
    /// Its number in the ticket, from 1.
    pub(crate) number: usize,
    /// The comment.
    pub(crate) comment: &'a Comment,
    /// Who wrote it.
    pub(crate) role: Role,
    /// What it says about the cause.
    pub(crate) speech: Speech,
}

impl Said<'_> {
    /// "comment 4 of 2024-12-04T10:00:00+08:00 by the owner".
    pub(crate) fn name(&self) -> String {
        let time = self.comment.created.map(|at| format!(" of {at}")).unwrap_or_default();
        format!("comment {}{time} by {}", self.number, self.role.as_str())
    }
}

/// The engineers' conclusion.
#[derive(Debug, Default)]
pub(crate) struct Concluded<'a> {
    /// Whether there is one.
    pub(crate) status: Option<HumanStatus>,
    /// The text.
    pub(crate) text: String,
    /// The comments that it is made of; empty when a field of the ticket holds it.
    pub(crate) from: Vec<&'a Said<'a>>,
    /// What is not sure about it.
    pub(crate) doubts: Vec<Doubt>,
}

/// Finds the final conclusion among the comments. `field` is the ticket's own field for it.
pub(crate) fn conclude<'a>(atlas: &Atlas, said: &'a [Said<'a>], field: &str, field_speech: &Speech) -> Concluded<'a> {
    let mut doubts = Vec::new();
    let speakers = speakers(said, !field.is_empty(), &mut doubts);
    let mut standing: Vec<&Said<'_>> = Vec::new();
    let mut taken_back: Vec<usize> = Vec::new();
    for one in &speakers {
        for other in weigh(atlas, &mut standing, one) {
            taken_back.push(other.number);
            let message = format!("{} was taken back by {}", other.name(), one.name());
            doubts.push(Doubt { kind: DoubtKind::ConclusionTakenBack, message });
        }
    }
    if standing.is_empty() {
        // A finding that nobody calls the cause is better than nothing.
        let stands = |one: &&&Said<'_>| one.speech.is_finding() && !taken_back.contains(&one.number);
        standing.extend(speakers.iter().rev().find(stands));
    }
    if !field.is_empty() {
        return of_field(atlas, field, field_speech, standing, doubts);
    }
    if let [one] = standing[..] {
        let text = one.comment.body.text.clone();
        return Concluded { status: Some(HumanStatus::Clear), text, from: standing, doubts };
    }
    let (kind, message, text) = if standing.is_empty() {
        let last = speakers.last().map(|one| one.comment.body.text.clone()).unwrap_or_default();
        let message = match speakers.last() {
            Some(one) => format!("nobody names a cause; {} is kept for the reviewer", one.name()),
            None => "no owner of the ticket wrote anything".to_owned(),
        };
        (DoubtKind::NoConclusion, message, last)
    } else {
        let names: Vec<String> = standing.iter().map(|one| one.name()).collect();
        (DoubtKind::TwoConclusions, format!("{} differ", names.join(" and ")), quoted(&standing))
    };
    doubts.push(Doubt { kind, message });
    Concluded { status: Some(HumanStatus::Unclear), text, from: standing, doubts }
}

/// Whose comments count: the owners'; where none of them spoke of a cause, other engineers'; at last the reporter's.
fn speakers<'a>(said: &'a [Said<'a>], has_field: bool, doubts: &mut Vec<Doubt>) -> Vec<&'a Said<'a>> {
    let of = |roles: &[Role]| -> Vec<&Said<'_>> { said.iter().filter(|one| roles.contains(&one.role)).collect() };
    let speaks = |one: &&Said<'_>| one.speech.is_conclusion() || one.speech.is_finding();
    let owners = of(&[Role::Owner]);
    if owners.iter().any(speaks) || has_field {
        return owners;
    }
    for roles in [&[Role::L2, Role::L1, Role::Other][..], &[Role::Reporter, Role::Customer]] {
        let others = of(roles);
        // Only who calls something the cause: others mention mechanisms while they ask.
        if let Some(last) = others.iter().rev().find(|one| one.speech.is_conclusion()) {
            let who = if owners.is_empty() { "no owner wrote anything" } else { "the owner names no cause" };
            let message = format!("{who}; the conclusion is taken from {}", last.name());
            doubts.push(Doubt { kind: DoubtKind::OwnerNotFound, message });
            return others;
        }
    }
    owners
}

/// Lets a comment join, replace or take back what stands; gives what it took back.
fn weigh<'a>(atlas: &Atlas, standing: &mut Vec<&'a Said<'a>>, one: &'a Said<'a>) -> Vec<&'a Said<'a>> {
    let denies = |other: &Said<'_>| {
        let subject = other.speech.subject;
        let named = subject.is_some_and(|subject| one.speech.denied.contains(&subject));
        named || one.speech.retracts && is_by(&one.comment.author, other)
    };
    let taken_back: Vec<&Said<'_>> = standing.iter().copied().filter(|other| denies(other)).collect();
    standing.retain(|other| !denies(other));
    if !one.speech.is_conclusion() {
        return taken_back;
    }
    let agrees = |other: &Said<'_>| match (one.speech.subject, other.speech.subject) {
        (Some(mine), Some(theirs)) => is_same_story(atlas, mine, theirs),
        // Where the words are not known, nothing says that they differ.
        _ => true,
    };
    // A later word replaces one's own earlier, and that of another whom it does not contradict; a word about nothing
    // known does not replace one about something.
    let replaces = |other: &Said<'_>| {
        (is_by(&one.comment.author, other) || agrees(other))
            && (one.speech.subject.is_some() || other.speech.subject.is_none())
    };
    let adds_nothing = standing.iter().any(|other| agrees(other) && !replaces(other));
    standing.retain(|other| !replaces(other));
    if !adds_nothing {
        standing.push(one);
    }
    taken_back
}

fn is_by(author: &Person, other: &Said<'_>) -> bool {
    author.is(&other.comment.author) || author.is_hidden() && other.comment.author.is_hidden()
}

/// The ticket's own field counts, unless an owner's comment contradicts it.
fn of_field<'a>(
    atlas: &Atlas,
    field: &str,
    speech: &Speech,
    standing: Vec<&'a Said<'a>>,
    mut doubts: Vec<Doubt>,
) -> Concluded<'a> {
    let differs = |one: &&&Said<'_>| match (one.speech.subject, speech.subject) {
        (Some(said), Some(written)) => !is_same_story(atlas, said, written),
        _ => false,
    };
    let Some(other) = standing.iter().find(differs) else {
        // The comment tells the story, the field its name.
        let story = standing.last().map(|one| one.comment.body.text.as_str()).filter(|text| !text.contains(field));
        let text = [Some(field), story].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        return Concluded { status: Some(HumanStatus::Clear), text, from: standing, doubts };
    };
    let message = format!("the ticket's field for the conclusion and {} differ", other.name());
    doubts.push(Doubt { kind: DoubtKind::TwoConclusions, message });
    let text = format!("Field of the ticket:\n{field}\n\n{}", quoted(&standing));
    Concluded { status: Some(HumanStatus::Unclear), text, from: standing, doubts }
}

fn quoted(standing: &[&Said<'_>]) -> String {
    let quote = |one: &&Said<'_>| {
        let time = one.comment.created.map(|at| format!(", {at}")).unwrap_or_default();
        let name = if one.comment.author.name.is_empty() { one.role.as_str() } else { &one.comment.author.name };
        format!("{name}{time}:\n{}", one.comment.body.text)
    };
    standing.iter().map(quote).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use hindcast_text::TextReader;

    use super::*;
    use crate::markup::Document;

    /// Concludes from lines like `owner Ann: text`.
    fn concluded(lines: &[&str], field: &str) -> (Option<HumanStatus>, String, Vec<DoubtKind>) {
        let atlas = Atlas::embedded();
        let texts = TextReader::new(&atlas);
        let comments: Vec<(Role, Comment)> = lines
            .iter()
            .map(|line| {
                let (head, text) = line.split_once(": ").expect("a line of the test");
                let (role, name) = head.split_once(' ').expect("a line of the test");
                let role = match role {
                    "owner" => Role::Owner,
                    "l2" => Role::L2,
                    "bot" => Role::Bot,
                    _ => Role::Reporter,
                };
                let body = Document::plain(text);
                (role, Comment { author: Person::named(name), created: None, edited: None, body })
            })
            .collect();
        let said: Vec<Said<'_>> = comments
            .iter()
            .enumerate()
            .map(|(at, (role, comment))| Said {
                number: at + 1,
                comment,
                role: *role,
                speech: Speech::read(&atlas, &texts, &comment.body),
            })
            .collect();
        let speech = Speech::read(&atlas, &texts, &Document::plain(field));
        let found = conclude(&atlas, &said, field, &speech);
        (found.status, found.text, found.doubts.into_iter().map(|doubt| doubt.kind).collect())
    }

    const CLEAR: Option<HumanStatus> = Some(HumanStatus::Clear);
    const UNCLEAR: Option<HumanStatus> = Some(HumanStatus::Unclear);

    #[test]
    fn the_conclusion_is_not_the_last_comment() {
        let lines = [
            "owner Bo: I suspect the network",
            "owner Bo: Root cause: EBS jitter on that node",
            "owner Bo: Thanks, closing",
        ];
        assert_eq!(concluded(&lines, ""), (CLEAR, "Root cause: EBS jitter on that node".to_owned(), vec![]));
    }

    #[test]
    fn a_later_retraction_wins() {
        let lines = ["owner Bo: 根因是云盘抖动", "owner Bo: 之前的判断不对,根因是 gRPC 线程池打满"];
        let (status, text, doubts) = concluded(&lines, "");
        assert_eq!((status, doubts), (CLEAR, vec![DoubtKind::ConclusionTakenBack]));
        assert!(text.contains("gRPC"), "{text}");
        let lines =
            ["owner Bo: Root cause: EBS jitter", "owner Bo: I was wrong, it is not EBS jitter. Still investigating."];
        let (status, _, doubts) = concluded(&lines, "");
        assert_eq!((status, doubts), (UNCLEAR, vec![DoubtKind::ConclusionTakenBack, DoubtKind::NoConclusion]));
    }

    #[test]
    fn two_owners_who_differ_leave_it_unclear() {
        let lines = [
            "owner Ann: Root cause: EBS jitter on that node",
            "owner Bo: The root cause is a network partition between the zones",
        ];
        let (status, text, doubts) = concluded(&lines, "");
        assert_eq!((status, doubts), (UNCLEAR, vec![DoubtKind::TwoConclusions]));
        assert!(
            text.contains("Ann") && text.contains("EBS") && text.contains("Bo") && text.contains("partition"),
            "{text}"
        );
        let lines = ["owner Ann: Root cause: EBS jitter", "owner Bo: 根因是云盘抖动"];
        assert_eq!(concluded(&lines, "").0, CLEAR, "the same in two languages");
        let lines = [
            "owner Ann: Root cause: EBS jitter",
            "owner Bo: EBS jitter is ruled out. The root cause is a network partition",
        ];
        assert_eq!(concluded(&lines, "").0, CLEAR, "the second knows of the first");
    }

    #[test]
    fn others_count_only_where_no_owner_spoke() {
        let lines = ["l2 Lee: Root cause: network partition", "owner Bo: Root cause: EBS jitter"];
        assert!(concluded(&lines, "").1.contains("EBS"));
        let lines = ["l2 Lee: Root cause: network partition", "owner Bo: thanks"];
        let (status, text, doubts) = concluded(&lines, "");
        assert_eq!((status, doubts), (CLEAR, vec![DoubtKind::OwnerNotFound]));
        assert!(text.contains("partition"));
        let lines = ["bot lark: Root cause: network partition", "reporter Ann: any news?"];
        assert_eq!(concluded(&lines, "").0, UNCLEAR);
        assert_eq!(concluded(&[], ""), (UNCLEAR, String::new(), vec![DoubtKind::NoConclusion]));
    }

    #[test]
    fn a_field_for_the_conclusion_counts() {
        assert_eq!(concluded(&["owner Bo: thanks"], "云盘抖动").1, "云盘抖动");
        let (status, _, doubts) =
            concluded(&["owner Bo: the root cause is a network partition"], "root cause: EBS jitter");
        assert_eq!((status, doubts), (UNCLEAR, vec![DoubtKind::TwoConclusions]));
    }
}
