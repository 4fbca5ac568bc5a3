//! Pages: what a reader sees.

mod queue;
mod sheet;
mod transcript;

use hindcast_case::MatchLevel;
use maud::{DOCTYPE, Markup, html};

use crate::desk::Desk;
use crate::words::{Language, Words};

pub(crate) use queue::queue_page;
pub(crate) use sheet::{Around, Draft, Notice, SheetPage};
pub(crate) use transcript::{step_text, transcript_page, transcript_part};

/// What every page is made with.
pub(crate) struct View<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) language: Language,
    pub(crate) words: &'static Words,
    /// `light`, `dark`, or what the system wants.
    pub(crate) theme: &'static str,
    /// What forms carry.
    pub(crate) mark: &'a str,
    /// Where the page is, with its query: where a change of language comes back to.
    pub(crate) here: String,
    /// Decided verdicts, and all.
    pub(crate) progress: (usize, usize),
}

/// The page around a content.
fn framed(view: &View<'_>, title: &str, content: &Markup) -> Markup {
    let words = view.words;
    let (decided, all) = view.progress;
    let dark = if view.theme == "dark" { "light" } else { "dark" };
    let other = match view.language {
        Language::English => Language::Chinese,
        Language::Chinese => Language::English,
    };
    html! {
        (DOCTYPE)
        html lang=(view.language.as_str()) data-theme=(view.theme) {
            (head(title))
            body {
                a.skip href="#content" { (words.skip_to) }
                header {
                    nav aria-label=(words.overview) {
                        a.home href="/queue" data-key="q" { "hindcast" } " "
                        span.run { (view.desk.run().name()) } " "
                        span.soft { (view.desk.run().skill()) }
                    }
                    div.progress {
                        progress max=(all) value=(decided) aria-label=(words.decided) {}
                        span { (decided) " " (words.of) " " (all) " " (words.decided) }
                    }
                    form.tools method="post" action="/preferences" {
                        input type="hidden" name="mark" value=(view.mark);
                        input type="hidden" name="back" value=(view.here);
                        span.soft { (words.reviewer) ": " (view.desk.reviewer()) }
                        button name="language" value=(other.as_str()) lang=(other.as_str()) { (words.language) }
                        button name="theme" value=(dark) { @if dark == "dark" { (words.dark) } @else { (words.light) } }
                        button type="button" data-key="?" data-opens="keys" { (words.help) " " kbd { "?" } }
                    }
                }
                main #content tabindex="-1" { (content) }
                (keys(words))
            }
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            title { (title) " · hindcast" }
            link rel="icon" href="data:,";
            link rel="stylesheet" href="/assets/uplot.css";
            link rel="stylesheet" href="/assets/review.css";
            script src="/assets/uplot.js" defer {}
            script src="/assets/review.js" defer {}
        }
    }
}

fn keys(words: &Words) -> Markup {
    let rows = [
        ("a", words.key_accept),
        ("o", words.key_other),
        ("u", words.key_unclear),
        ("s", words.key_skip),
        ("z", words.key_undo),
        ("j k", words.key_moves),
        ("t", words.key_transcript),
        ("q", words.key_queue),
        ("/", words.key_search),
        ("Esc", words.key_clear),
        ("Ctrl+Enter", words.save),
        ("?", words.key_help),
    ];
    html! {
        dialog #keys aria-label=(words.help) {
            dl { @for (key, what) in rows { dt { kbd { (key) } } dd { (what) } } }
            // Single keys get in the way of speech input and some screen readers.
            form method="dialog" {
                button type="button" #keys-switch data-on=(words.keys_on) data-off=(words.keys_off) { (words.keys_off) } " "
                button { "OK" }
            }
        }
    }
}

/// The page that has no session yet: its script trades the token behind `#` for one.
pub(crate) fn door(language: Language) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(language.as_str()) {
            (head("hindcast"))
            body { main #content { p #door { (language.words().open_browser) } } }
        }
    }
}

/// A page that says why something can't be done.
pub(crate) fn problem_page(view: &View<'_>, told: &str) -> Markup {
    let content =
        html! { h1 { (view.words.problem) } p role="alert" { (told) } p { a href="/queue" { (view.words.queue) } } };
    framed(view, view.words.problem, &content)
}

fn badge(language: Language, level: MatchLevel) -> Markup {
    html! { span.badge.(hindcast_case::Vocabulary::as_str(level)) { (language.level(level)) } }
}
