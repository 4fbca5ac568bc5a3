//! The queue.

use hindcast_case::{EntryMode, MatchLevel, MismatchType, Vocabulary};
use hindcast_review::{Order, Reason, Waiting};
use maud::{Markup, html};

use super::{View, badge, framed};
use crate::filter::{Filter, State, Why};

/// Verdicts on one page.
const PAGE: usize = 100;

/// The verdicts that a filter takes.
pub(crate) fn queue_page(view: &View<'_>, filter: &Filter, waiting: &[Waiting<'_>]) -> Markup {
    let words = view.words;
    let pages = waiting.len().div_ceil(PAGE).max(1);
    let page = filter.page.min(pages);
    let shown = &waiting[(page - 1) * PAGE..waiting.len().min(page * PAGE)];
    let open = waiting.iter().filter(|one| !one.is_decided()).count();
    let content = html! {
        h1 { (words.queue) }
        (filters(view, filter))
        p role="status" {
            (waiting.len()) " " (words.of) " " (view.progress.1) ", " (open) " " (words.wait)
            @let failed = view.desk.failed();
            @if failed > 0 { ". " (failed) " " (words.failed_replays) }
            @if open == 0 && !waiting.is_empty() { ". " (words.decided_all) }
        }
        @if shown.is_empty() { p { (words.none_found) } } @else {
            table.rows {
                thead { tr {
                    th scope="col" { (words.incident) } th scope="col" { (words.level) } th scope="col" { (words.why) }
                    th scope="col" { (words.engineers) } th scope="col" { (words.skill) } th scope="col" { (words.differs_in) }
                } }
                tbody { @for one in shown { (row(view, filter, one)) } }
            }
        }
        @if pages > 1 {
            nav.pages aria-label="pages" {
                @if page > 1 { a rel="prev" href={ "/queue" (filter.query(&[("page", &(page - 1).to_string())])) } { (words.previous) } " " }
                (page) " " (words.of) " " (pages)
                @if page < pages { " " a rel="next" href={ "/queue" (filter.query(&[("page", &(page + 1).to_string())])) } { (words.next) } }
            }
        }
    };
    framed(view, words.queue, &content)
}

fn row(view: &View<'_>, filter: &Filter, one: &Waiting<'_>) -> Markup {
    let row = one.row;
    let kinds = row.mismatch_type.iter().filter_map(|word| MismatchType::recognise(word));
    html! {
        tr.done[one.is_decided()] {
            td { a.case href={ "/case/" (row.incident_id) (filter.query(&[])) } { (row.incident_id) } }
            td { (badge(view.language, one.level)) @if row.leak_score.is_some() { " " span.badge.leak { (view.words.leak) } } }
            td {
                @if let Some(entry) = one.decided.filter(|_| one.is_decided()) {
                    (view.language.decision(&entry.decision)) " "
                    @if let Some(level) = MatchLevel::recognise(&entry.level).filter(|level| *level != one.level) {
                        (badge(view.language, level)) " "
                    }
                    "· " (entry.reviewer)
                } @else {
                    // That nobody decided is worth a line only where nothing else is to be told.
                    @let told = one.reasons.iter().filter(|reason| one.reasons.len() == 1 || **reason != Reason::Open);
                    ul.plain { @for reason in told { li { (view.language.reason(reason)) } } }
                }
            }
            td { code { (row.human_bottleneck) } }
            td { code { (row.skill_bottleneck) } }
            td { (kinds.map(|kind| view.language.mismatch(kind)).collect::<Vec<_>>().join(", ")) }
        }
    }
}

fn filters(view: &View<'_>, filter: &Filter) -> Markup {
    let (words, language) = (view.words, view.language);
    let levels = MatchLevel::ALL.iter().map(|level| (level.as_str(), language.level(*level)));
    let modes = EntryMode::ALL.iter().map(|mode| (mode.as_str(), mode.as_str()));
    let kinds = MismatchType::ALL.iter().map(|kind| (kind.as_str(), language.mismatch(*kind)));
    let whys = Why::ALL.iter().map(|why| {
        let told = match why {
            Why::Judge => words.why_judge,
            Why::Reviewer => words.why_reviewer,
            Why::Leak => words.why_leak,
            Why::Changed => words.why_changed,
            Why::Unsure => words.why_unsure,
        };
        (why.as_str(), told)
    });
    let states = [(State::Open.as_str(), words.open), (State::Decided.as_str(), words.decided)];
    html! {
        search {
            form.filters method="get" action="/queue" {
                label { (words.search)
                    input type="search" name="q" value=(filter.text) placeholder=(words.search_hint) data-key="/" maxlength="200";
                }
                (choice("level", words.level, words.all, levels, filter.level.map(Vocabulary::as_str)))
                (choice("state", words.state, words.all, states.into_iter(), Some(filter.state.as_str())))
                (choice("why", words.why, words.all_reasons, whys, filter.why.map(Why::as_str)))
                (choice("mismatch", words.differs_in, words.all, kinds, filter.mismatch.map(Vocabulary::as_str)))
                (choice("mode", words.entry_mode, words.all, modes, filter.mode.map(Vocabulary::as_str)))
                label { (words.order)
                    select name="order" {
                        option value="" { (words.by_worth) }
                        option value="incident" selected[filter.order == Order::Incident] { (words.by_incident) }
                    }
                }
                button { (words.filter) }
                @if !filter.is_empty() { " " a href="/queue" { (words.clear) } }
            }
        }
    }
}

fn choice<'a>(
    name: &str,
    label: &str,
    all: &str,
    options: impl Iterator<Item = (&'a str, &'a str)>,
    chosen: Option<&str>,
) -> Markup {
    html! {
        label { (label)
            select name=(name) {
                option value="" { (all) }
                @for (value, told) in options { option value=(value) selected[chosen == Some(value)] { (told) } }
            }
        }
    }
}
