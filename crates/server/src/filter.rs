//! Which verdicts of the queue are shown, as the address says it.

use hindcast_case::{EntryMode, MatchLevel, MismatchType, Vocabulary};
use hindcast_review::{Order, Reason, Waiting};

/// What a reader looks for. Words of the address that mean nothing are passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Words that the case must hold, all of them.
    pub(crate) text: String,
    pub(crate) level: Option<MatchLevel>,
    pub(crate) state: State,
    pub(crate) mode: Option<EntryMode>,
    pub(crate) mismatch: Option<MismatchType>,
    pub(crate) why: Option<Why>,
    pub(crate) order: Order,
    /// From 1.
    pub(crate) page: usize,
}

/// Whether a decision stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    All,
    Open,
    Decided,
}

/// Kinds of reasons for a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Judge,
    Reviewer,
    Leak,
    Changed,
    Unsure,
}

impl State {
    pub(crate) const ALL: [Self; 3] = [Self::All, Self::Open, Self::Decided];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Open => "open",
            Self::Decided => "decided",
        }
    }
}

impl Why {
    pub(crate) const ALL: [Self; 5] = [Self::Judge, Self::Reviewer, Self::Leak, Self::Changed, Self::Unsure];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Reviewer => "reviewer",
            Self::Leak => "leak",
            Self::Changed => "changed",
            Self::Unsure => "unsure",
        }
    }

    fn is(self, reason: &Reason) -> bool {
        match self {
            Self::Judge => matches!(reason, Reason::Judge { .. }),
            Self::Reviewer => matches!(reason, Reason::Reviewer(_)),
            Self::Leak => matches!(reason, Reason::Leak),
            Self::Changed => matches!(reason, Reason::Changed(_)),
            Self::Unsure => matches!(reason, Reason::Flaky | Reason::NoBottleneck | Reason::Doubts),
        }
    }
}

impl Filter {
    /// The filter of a query string.
    pub(crate) fn parse(query: &str) -> Self {
        let mut filter = Self { page: 1, ..Self::default() };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "q" => filter.text = value.trim().chars().take(200).collect(),
                "level" => filter.level = MatchLevel::recognise(&value),
                "state" => filter.state = State::ALL.into_iter().find(|s| s.as_str() == value).unwrap_or_default(),
                "mode" => filter.mode = EntryMode::recognise(&value),
                "mismatch" => filter.mismatch = MismatchType::recognise(&value),
                "why" => filter.why = Why::ALL.into_iter().find(|why| why.as_str() == value),
                "order" if value == "incident" => filter.order = Order::Incident,
                "page" => filter.page = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
        filter
    }

    /// The query string of it, with `more` behind; begins with `?` where there is anything.
    pub(crate) fn query(&self, more: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let order = if self.order == Order::Incident { "incident" } else { "" };
        for (name, value) in [
            ("q", self.text.as_str()),
            ("level", self.level.map_or("", Vocabulary::as_str)),
            ("state", self.state.as_str()),
            ("mode", self.mode.map_or("", Vocabulary::as_str)),
            ("mismatch", self.mismatch.map_or("", Vocabulary::as_str)),
            ("why", self.why.map_or("", Why::as_str)),
            ("order", order),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        for (name, value) in more {
            query.append_pair(name, value);
        }
        let query = query.finish();
        if query.is_empty() { query } else { format!("?{query}") }
    }

    /// Whether it leaves anything out.
    pub(crate) fn is_empty(&self) -> bool {
        Self { page: 1, order: Order::default(), ..self.clone() } == Self::parse("")
    }

    /// The words that the case must hold, in lower case.
    pub(crate) fn terms(&self) -> Vec<String> {
        self.text.split_whitespace().map(str::to_lowercase).collect()
    }

    /// Whether a verdict is looked for, but for the words of its case.
    pub(crate) fn takes(&self, one: &Waiting<'_>) -> bool {
        let fits = |wanted: Option<&'static str>, has: &str| wanted.is_none_or(|wanted| wanted == has);
        let mismatch =
            self.mismatch.is_none_or(|kind| one.row.mismatch_type.iter().any(|other| other == kind.as_str()));
        let why = self.why.is_none_or(|why| one.reasons.iter().any(|reason| why.is(reason)));
        let state = match self.state {
            State::All => true,
            State::Open => !one.is_decided(),
            State::Decided => one.is_decided(),
        };
        state
            && mismatch
            && why
            && self.level.is_none_or(|level| level == one.level)
            && fits(self.mode.map(Vocabulary::as_str), &one.row.entry_mode)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_means_what_it_says_and_nothing_else() {
        let query = "q=disk+%E6%8A%96%E5%8A%A8&level=mismatched&state=open&why=leak&order=incident&page=3&evil=%3Cb%3E";
        let filter = Filter::parse(query);
        assert_eq!(filter.terms(), ["disk", "抖动"]);
        assert_eq!((filter.level, filter.state, filter.page), (Some(MatchLevel::Mismatched), State::Open, 3));
        let again = Filter::parse(filter.query(&[("page", "3")]).trim_start_matches('?'));
        assert_eq!(again, filter);
        assert!(!filter.query(&[]).contains("evil"));
        assert!(Filter::parse("page=-1&level=nonsense&mode=").is_empty());
    }

    proptest! {
        #[test]
        fn what_any_address_says_is_said_again(query in "(q|level|state|why|mode|order|page)?=?[ -~\u{4e00}]{0,60}") {
            let filter = Filter::parse(&query);
            let again = Filter::parse(filter.query(&[("page", &filter.page.to_string())]).trim_start_matches('?'));
            prop_assert_eq!(again, filter);
        }
    }
}
