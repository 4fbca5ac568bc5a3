//! What the agent said and did.

use hindcast_case::IncidentId;
use hindcast_transcript::{Step, Transcript};
use maud::{Markup, html};

use super::{View, framed};

/// Steps that are shown at once.
const STEPS: usize = 100;

/// Bytes of a step that are shown at once.
const SHOWN: usize = 4_000;

/// The transcript from a step on, as a page.
pub(crate) fn transcript_page(view: &View<'_>, id: &IncidentId, transcript: &Transcript, from: usize) -> Markup {
    let words = view.words;
    let total = transcript.steps().len();
    // An address may say any number.
    let from = from.min(total);
    let address = |from: usize| format!("/case/{id}/transcript?from={from}");
    let content = html! {
        h1 { (id) " " (words.transcript) }
        p { a href={ "/case/" (id) } data-key="q" { (id) } }
        @if !transcript.error.is_empty() { p.notice.bad { (transcript.error) } }
        ol.steps start=(from + 1) { (steps(view, id, transcript, from)) }
        nav.pages aria-label=(words.transcript) {
            @if from > 0 { a rel="prev" data-key="k" href=(address(from.saturating_sub(STEPS))) { (words.previous) } " " }
            @if from + STEPS < total { a rel="next" data-key="j" href=(address(from + STEPS)) { (words.next) } }
        }
    };
    framed(view, &format!("{id} {}", words.transcript), &content)
}

/// A part of it for a page that is open already: steps, and where the next part is.
pub(crate) fn transcript_part(view: &View<'_>, id: &IncidentId, transcript: &Transcript, from: usize) -> Markup {
    let total = transcript.steps().len();
    // An address may say any number.
    let from = from.min(total);
    html! {
        ol.steps start=(from + 1) { (steps(view, id, transcript, from)) }
        @if from + STEPS < total {
            button type="button" data-part={ "/case/" (id) "/transcript/part?from=" (from + STEPS) } {
                (view.words.more) " (" (total - from - STEPS) ")"
            }
        }
    }
}

fn steps(view: &View<'_>, id: &IncidentId, transcript: &Transcript, from: usize) -> Markup {
    let words = view.words;
    let all = transcript.steps();
    let shown = all.iter().enumerate().skip(from).take(STEPS);
    html! {
        @for (index, step) in shown {
            @match step {
                Step::Said(message) => li.said.(message.role.as_str()) {
                    strong { (message.role.as_str()) @if message.is_aside { " (" (words.aside) ")" } }
                    @if let Some(time) = message.time { " " time.soft { (time) } }
                    (cut(view, id, index, &message.text))
                },
                Step::Done(call) => li.done {
                    details open[call.is_error] {
                        summary {
                            (words.call) " " code { (call.name) } " " span.soft { (brief(&call.arguments.to_string())) }
                            @if call.is_error { " " span.badge.mismatched { (words.failed) } }
                        }
                        pre { (format!("{:#}", call.arguments)) }
                        @if let Some(result) = &call.result { (cut(view, id, index, result)) }
                    }
                },
            }
        }
    }
}

/// A text, or its beginning and a way to the rest.
fn cut(view: &View<'_>, id: &IncidentId, index: usize, text: &str) -> Markup {
    let text = text.trim();
    let end = text.floor_char_boundary(SHOWN);
    html! {
        pre { (text[..end]) @if end < text.len() { "…" } }
        @if end < text.len() {
            a target="_blank" rel="noopener" href={ "/case/" (id) "/transcript/" (index) } { (view.words.whole) " (" (text.len()) " B)" }
        }
    }
}

fn brief(text: &str) -> &str {
    &text[..text.floor_char_boundary(120)]
}

/// A step as plain text; none where there is no such step.
pub(crate) fn step_text(transcript: &Transcript, index: usize) -> Option<String> {
    Some(match transcript.steps().get(index)? {
        Step::Said(message) => message.text.clone(),
        Step::Done(call) => {
            format!("{} {:#}\n\n{}", call.name, call.arguments, call.result.as_deref().unwrap_or_default())
        }
    })
}
