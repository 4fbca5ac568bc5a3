//! Who is who in a ticket.

use crate::settings::{People, Settings};
use crate::ticket::{AccountKind, Comment, Person, Ticket};

/// What someone is to a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Has it, or handled it at level 3: this conclusion counts.
    Owner,
    /// Handled it at level 2.
    L2,
    /// Handled it at level 1.
    L1,
    /// Opened it.
    Reporter,
    /// Belongs to the customer.
    Customer,
    /// Is a program.
    Bot,
    /// Wrote in it; more is not known.
    Other,
}

impl Role {
    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "the owner",
            Self::L2 => "level 2",
            Self::L1 => "level 1",
            Self::Reporter => "the reporter",
            Self::Customer => "the customer",
            Self::Bot => "a bot",
            Self::Other => "someone else",
        }
    }

    /// Whether what they say of causes is a diagnosis.
    #[must_use]
    pub fn diagnoses(self) -> bool {
        matches!(self, Self::Owner | Self::L2 | Self::L1 | Self::Other)
    }
}

/// The people of a ticket.
pub(crate) struct Cast<'a> {
    ticket: &'a Ticket,
    people: &'a People,
}

impl<'a> Cast<'a> {
    pub(crate) fn new(ticket: &'a Ticket, settings: &'a Settings) -> Self {
        Self { ticket, people: &settings.people }
    }

    /// The role of whoever wrote a comment.
    pub(crate) fn author_role(&self, comment: &Comment) -> Role {
        if is_notice(&comment.body.text) { Role::Bot } else { self.role(&comment.author) }
    }

    /// The role of a person; who has several has the one that counts most.
    pub(crate) fn role(&self, person: &Person) -> Role {
        let people = self.people;
        let is = |other: &Option<Person>| other.as_ref().is_some_and(|other| other.is(person));
        if person.kind == AccountKind::Bot || People::lists(&people.bots, person) || is_bot_name(&person.name) {
            Role::Bot
        } else if People::lists(&people.owners, person) || is(&self.ticket.l3) || is(&self.ticket.assignee) {
            Role::Owner
        } else if People::lists(&people.l2, person) || is(&self.ticket.l2) {
            Role::L2
        } else if People::lists(&people.l1, person) {
            Role::L1
        } else if is(&self.ticket.reporter) {
            Role::Reporter
        } else if person.kind == AccountKind::Member {
            // Of a public project: its maintainers own what nobody is assigned to.
            Role::Owner
        } else if person.kind == AccountKind::Customer || People::lists(&people.customers, person) {
            Role::Customer
        } else {
            Role::Other
        }
    }
}

fn is_bot_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.clone().any(|word| matches!(word, "bot" | "robot" | "webhook" | "githook" | "jenkins"))
        || name.starts_with("automation for jira")
        || name.contains("机器人")
}

/// What programs write under a person's account: "notified @oncall by lark".
fn is_notice(text: &str) -> bool {
    if text.len() > 400 {
        return false;
    }
    let lower = text.to_lowercase();
    let notifies = ["notified", "notify", "notification sent", "已通知"].iter().any(|word| lower.contains(word));
    notifies
        && ["lark", "feishu", "飞书", "slack", "pagerduty", "dingtalk", "钉钉"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use hindcast_case::{IncidentId, Source};

    use super::*;

    #[test]
    fn people_have_the_role_that_counts_most() {
        let mut ticket = Ticket::new(IncidentId::parse("GTOC-1").expect("an id"), Source::JiraGtoc);
        ticket.reporter = Some(Person::named("Ann"));
        ticket.assignee = Some(Person { account: "b1".to_owned(), ..Person::named("Bo") });
        ticket.l2 = Some(Person::named("Lee"));
        let mut settings = Settings::default();
        settings.people.customers = vec!["Carl".to_owned()];
        let cast = Cast::new(&ticket, &settings);
        for (name, role) in [
            ("Ann", Role::Reporter),
            ("bo", Role::Owner),
            ("b1", Role::Owner),
            ("Lee", Role::L2),
            ("Carl", Role::Customer),
            ("lark-bot", Role::Bot),
            ("Abbott", Role::Other),
        ] {
            assert_eq!(cast.role(&Person::named(name)), role, "{name}");
        }
        let other = Person { account: "b2".to_owned(), ..Person::named("Bo") };
        assert_eq!(cast.role(&other), Role::Other, "another account of the same name");
        assert!(is_notice("notified @oncall by lark") && !is_notice("I notified the customer"));
    }
}
