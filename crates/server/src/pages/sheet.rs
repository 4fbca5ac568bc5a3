//! One case on one screen.

use hindcast_case::{Assessment, MatchLevel, MismatchType, TimeWindow, Vocabulary, WindowReview};
use hindcast_report::{bottleneck, causal_map, claims_marked};
use hindcast_review::{Entry, Opinion, Vote, WindowEdit, conclusion_mark};
use hindcast_runner::Record;
use hindcast_verdict::{Conclusion, word};
use maud::{Markup, html};

use super::{View, badge, framed};
use crate::desk::Sheet;
use crate::filter::Filter;
use crate::timeline::Timeline;
use crate::words::Words;

/// Where a case stands in the queue.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// From 1; none when the filter leaves it out.
    pub(crate) position: Option<usize>,
    pub(crate) total: usize,
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
    /// The next one that waits for a decision.
    pub(crate) open: Option<String>,
}

/// What the form holds when the page opens.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Whether the reviewer sent it.
    pub(crate) is_sent: bool,
    pub(crate) level: Option<MatchLevel>,
    pub(crate) mismatch: Vec<MismatchType>,
    pub(crate) reason: String,
    pub(crate) windows: Vec<WindowEdit>,
}

/// What happened before the page opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    Nothing,
    /// A decision on this incident was kept.
    Done(String),
    /// Somebody else changed the case.
    Conflict,
    /// The form was not filled in.
    ReasonNeeded,
    /// The decision could not be kept; why.
    NotKept(String),
}

/// The page of a case.
pub(crate) struct SheetPage<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) filter: &'a Filter,
    pub(crate) sheet: &'a Sheet,
    pub(crate) around: &'a Around,
    pub(crate) draft: &'a Draft,
    pub(crate) notice: &'a Notice,
}

impl SheetPage<'_> {
    pub(crate) fn markup(&self) -> Markup {
        let Self { view, sheet, .. } = *self;
        let words = view.words;
        let content = html! {
            (self.moves())
            (self.told())
            h1 { (sheet.id) " " span.title { (sheet.case.canonical_incident.title) } }
            (verdict_section(view, sheet))
            div.columns {
                (incident_section(view, sheet))
                (side(view, sheet, &sheet.verdict.human, words.engineers, "human"))
                (side(view, sheet, &sheet.verdict.skill, words.skill, "skill"))
            }
            (windows_section(view, sheet, self.draft))
            div.columns {
                (lists(view, sheet))
                (history_section(view, sheet))
            }
            (transcript_section(view, sheet))
            (self.decision_bar())
        };
        framed(view, sheet.id.as_str(), &content)
    }

    /// The address of a case within the filter.
    fn address(&self, id: &str, what: &str) -> String {
        format!("/case/{id}{what}{}", self.filter.query(&[]))
    }

    fn queue(&self) -> String {
        format!("/queue{}", self.filter.query(&[]))
    }

    fn moves(&self) -> Markup {
        let Self { view, sheet, around, .. } = *self;
        let words = view.words;
        html! {
            nav.moves aria-label=(words.queue) {
                a href=(self.queue()) { (words.queue) }
                @if let Some(position) = around.position { span.soft { (position) " " (words.of) " " (around.total) } }
                @if let Some(id) = &around.previous {
                    a rel="prev" data-key="k" href=(self.address(id, "")) { (words.previous) " " kbd { "k" } }
                }
                @if let Some(id) = &around.next {
                    a rel="next" data-key="j" href=(self.address(id, "")) { (words.next) " " kbd { "j" } }
                }
            }
            // The form of the undo key stands apart from the decision's.
            form #undo method="post" action=(self.address(sheet.id.as_str(), "/undo")) {
                input type="hidden" name="mark" value=(view.mark);
            }
        }
    }

    fn told(&self) -> Markup {
        let Self { view, sheet, .. } = *self;
        let words = view.words;
        match self.notice {
            Notice::Nothing => html! {},
            Notice::Done(id) => html! {
                div.notice role="status" {
                    (id) ": " (words.decided) ". "
                    form.inline method="post" action=(self.address(id, "/undo")) {
                        input type="hidden" name="mark" value=(view.mark);
                        button data-key="z" { (words.undo) " " kbd { "z" } }
                    }
                }
            },
            Notice::Conflict => html! {
                div.notice.bad role="alert" {
                    (words.conflict)
                    @if let Some(last) = sheet.history.last() { (entry(view, last)) }
                }
            },
            Notice::ReasonNeeded => html! { div.notice.bad role="alert" { (words.reason_needed) } },
            Notice::NotKept(why) => html! { div.notice.bad role="alert" { (words.not_kept) " " (why) } },
        }
    }

    /// The form, at the bottom of the window wherever the reader is.
    fn decision_bar(&self) -> Markup {
        let Self { view, sheet, around, draft, .. } = *self;
        let (words, language) = (view.words, view.language);
        let is_open = draft.level.is_some() || matches!(self.notice, Notice::ReasonNeeded);
        // Another verdict mostly differs in the same.
        let kinds = if draft.is_sent { &draft.mismatch } else { &sheet.case.mismatch_type };
        let can_undo = sheet.history.last().is_some_and(|last| last.decision != "undo");
        html! {
            form #decision method="post" action=(self.address(sheet.id.as_str(), "/decide")) aria-label=(words.decide) {
                input type="hidden" name="mark" value=(view.mark);
                input type="hidden" name="seen" value=(sheet.version);
                details #other open[is_open] {
                    summary data-key="o" { (words.other) " " kbd { "o" } }
                    fieldset.panel {
                        legend { (words.other_long) }
                        div.choices { @for (at, level) in MatchLevel::ALL.iter().enumerate() {
                            label {
                                input type="radio" name="level" value=(level.as_str()) checked[draft.level == Some(*level)] data-digit=(at + 1)
                                    data-key=[(*level == MatchLevel::HumanConclusionUnclear).then_some("u")];
                                " " (language.level(*level)) " " kbd { (at + 1) }
                            }
                        } }
                        fieldset.kinds {
                            legend { (words.mismatch) }
                            @for kind in MismatchType::ALL {
                                label {
                                    input type="checkbox" name="mismatch" value=(kind.as_str()) checked[kinds.contains(kind)];
                                    " " (language.mismatch(*kind))
                                }
                            }
                        }
                        label.reason { (words.reason) textarea name="reason" rows="2" { (draft.reason) } }
                        button name="decision" value="other" { (words.save) } " "
                        span.soft { (words.shift_enter) }
                    }
                }
                button.accept name="decision" value="accept" data-key="a" { (words.accept) " " (language.level(sheet.level)) " " kbd { "a" } }
                @match &around.open {
                    Some(id) => a.button data-key="s" href=(self.address(id, "")) { (words.skip) " " kbd { "s" } },
                    None => a.button data-key="s" href=(self.queue()) { (words.queue) " " kbd { "s" } },
                }
                @if can_undo { button form="undo" data-key="z" { (words.undo) " " kbd { "z" } } }
            }
        }
    }
}

fn verdict_section(view: &View<'_>, sheet: &Sheet) -> Markup {
    let (words, language) = (view.words, view.language);
    let verdict = &sheet.verdict;
    html! {
        section aria-label=(words.level) {
            p.verdict {
                (words.run_says) " " (badge(language, sheet.level)) " " (words.by_rule) " " code { (verdict.rule) } ": " (verdict.why)
                @if !sheet.case.mismatch_type.is_empty() {
                    " · " (words.differs_in) ": "
                    (sheet.case.mismatch_type.iter().map(|kind| language.mismatch(*kind)).collect::<Vec<_>>().join(", "))
                }
                @if let Some(decided) = sheet.decided() { " · " strong { (words.decided) ": " } (entry(view, decided)) }
                @if verdict.level != sheet.level { " " strong { (words.outdated) " " (badge(language, verdict.level)) } }
            }
            @if !sheet.repeats.is_empty() {
                p { (words.repeats) ": " @for level in &sheet.repeats { (badge(language, *level)) " " } }
            }
            @if sheet.is_outdated { div.notice.bad { (words.outdated_case) } }
            @if sheet.leak.is_leaking() {
                div.notice.bad {
                    (words.leak_told)
                    ul { @for signal in &sheet.leak.signals { li { code { (signal.field) } " " (signal.kind.as_str()) ": " q { (signal.passage) } } } }
                }
            }
            (causal_map(&view.desk.comparer().reader, verdict, &language.map()))
        }
    }
}

/// The incident as of the cut-off, and what was kept from the skill.
fn incident_section(view: &View<'_>, sheet: &Sheet) -> Markup {
    let words = view.words;
    let question = &sheet.question;
    let window = match &question.time_window {
        TimeWindow::Between(start, end) => format!("{start} – {end}"),
        TimeWindow::Text(text) => text.clone(),
        TimeWindow::Empty => String::new(),
    };
    let links = question.clinic_links.iter().chain(&question.grafana_links);
    let links: Vec<&str> = links.map(|link| link.0.as_str()).collect();
    let excluded = excluded(sheet);
    html! {
        section.pane tabindex="0" aria-labelledby="as-seen" {
            h2 #as-seen { (words.as_seen) }
            (text(words.title, &question.title))
            @if question.initial_symptom == question.description_text {
                (text(&format!("{}, {}", words.symptom, words.description), &question.description_text))
            } @else {
                (text(words.symptom, &question.initial_symptom))
                (text(words.description, &question.description_text))
            }
            dl {
                @for (name, value) in [(words.cluster, question.cluster_id.as_str()), (words.time_window, window.as_str())] {
                    @if !value.is_empty() { dt { (name) } dd { (value) } }
                }
                @if !links.is_empty() {
                    dt { (words.links) }
                    // A ticket's address is shown, never followed by itself: it may be anything.
                    dd { @for link in links { code { (link) } br; } }
                }
            }
            details.excluded {
                summary { (words.excluded) " (" (excluded.len()) ")" }
                ul { @for (field, reason, value) in &excluded {
                    li { code { (field) } @if !reason.is_empty() { ": " span.soft { (reason) } } @if !value.is_empty() { del { (value) } } }
                } }
            }
        }
    }
}

/// What was kept from the skill: field, reason, and what the case holds there.
fn excluded(sheet: &Sheet) -> Vec<(String, String, String)> {
    let case = &sheet.case;
    let value_of = |field: &str| match field {
        "canonical_incident.l2_assignee" => case.canonical_incident.l2_assignee.clone(),
        "canonical_incident.assignee_or_l3" => case.canonical_incident.assignee_or_l3.clone(),
        "final_human_conclusion.owner_final_comment" => case.final_human_conclusion.owner_final_comment.clone(),
        "final_human_conclusion.structured_conclusion" => case.final_human_conclusion.structured_conclusion.clone(),
        "final_human_conclusion.evidence_references" => case.final_human_conclusion.evidence_references.join("\n"),
        _ => String::new(),
    };
    let entries = case.replay_inputs.excluded_fields.iter().map(|entry| {
        let (field, reason) = entry.split_once(": ").unwrap_or((entry, ""));
        (field.to_owned(), reason.to_owned(), value_of(field))
    });
    entries.collect()
}

/// A text under its name, where there is one.
fn text(name: &str, text: &str) -> Markup {
    html! { @if !text.trim().is_empty() { h3 { (name) } p.text { (text) } } }
}

/// One side's conclusion, with its claims as buttons that mark the same mechanism on both sides.
fn side(view: &View<'_>, sheet: &Sheet, conclusion: &Conclusion, name: &str, class: &str) -> Markup {
    let words = view.words;
    let reader = &view.desk.comparer().reader;
    let named = bottleneck(reader, conclusion);
    let skill = &sheet.case.skill_conclusion;
    let human = &sheet.case.final_human_conclusion;
    let mut subjects: Vec<String> =
        conclusion.claims.claims.iter().map(|claim| reader.subject_name(claim.subject)).collect();
    subjects.sort();
    subjects.dedup();
    html! {
        section.pane.side.(class) tabindex="0" aria-label=(name) {
            h2 { (name) }
            dl {
                dt { (words.bottleneck) } dd { code data-subject=(named) { @if named.is_empty() { (words.none_named) } @else { (named) } } }
                dt { (words.side) } dd { (word(conclusion.side)) }
                dt { (words.scope) } dd { (word(conclusion.scope)) }
                dt { (words.path) } dd { (word(conclusion.path)) }
                @if class == "skill" { dt { (words.entry_mode) } dd { (skill.entry_mode.map_or("", Vocabulary::as_str)) } }
            }
            blockquote { (claims_marked(reader, conclusion, usize::MAX)) }
            @if !subjects.is_empty() {
                p.claims role="group" aria-label=(words.claims) {
                    @for subject in &subjects { button type="button" aria-pressed="false" data-claim=(subject) { (subject) } " " }
                }
            }
            @if class == "skill" {
                (items(words.key_evidence, &skill.key_evidence))
                (items(words.missing_evidence, &skill.missing_evidence))
                (text(words.uncertainty, &skill.uncertainty_statement))
            } @else {
                (items(words.key_evidence, &human.evidence_references))
            }
        }
    }
}

fn items(name: &str, lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { h3 { (name) } ul { @for line in lines { li.text { (line) } } } } }
}

/// The windows on one axis, and the form of their reviews.
fn windows_section(view: &View<'_>, sheet: &Sheet, draft: &Draft) -> Markup {
    let words = view.words;
    let timeline = Timeline::of(&sheet.case);
    html! {
        section aria-labelledby="windows" {
            h2 #windows { (words.timeline) }
            @if !timeline.stretches.is_empty() {
                div #timeline data-timeline=(timeline.json()) data-engineers=(words.engineers) data-skill=(words.skill)
                    data-incident=(words.incident) data-in=(words.zoom_in) data-out=(words.zoom_out) data-reset=(words.reset) aria-hidden="true" {}
                p.soft { (words.timeline_hint) @if !timeline.zone.is_empty() { " UTC" (timeline.zone) } }
            }
            @if sheet.windows.is_empty() { p.soft { (words.no_windows) } } @else {
                table.windows {
                    thead { tr {
                        th scope="col" { (words.time_window) } th scope="col" { (words.engineers) } th scope="col" { (words.skill) }
                        th scope="col" { (words.assessment) } th scope="col" { (words.new_note) }
                    } }
                    tbody { @for (index, window) in sheet.windows.iter().enumerate() { (window_row(view, draft, index, window)) } }
                }
            }
        }
    }
}

fn window_row(view: &View<'_>, draft: &Draft, index: usize, window: &WindowReview) -> Markup {
    let words = view.words;
    let drafted = draft.windows.iter().find(|edit| edit.index == index);
    let assessment = drafted.map_or(window.assessment, |edit| edit.assessment);
    let notes = drafted.map_or(&window.notes, |edit| &edit.notes);
    html! {
        tr {
            th scope="row" { (window.label) @if !window.start_time.is_empty() { br; small { (window.start_time) " – " (window.end_time) } } }
            td.text { (window.human_summary) }
            td.text { (window.skill_summary) }
            td {
                select form="decision" name={ "assessment-" (index) } aria-label={ (words.assessment) " " (window.label) } {
                    option value="" {}
                    @for one in Assessment::ALL {
                        option value=(one.as_str()) selected[assessment == Some(*one)] { (view.language.assessment(*one)) }
                    }
                }
            }
            td {
                textarea form="decision" name={ "notes-" (index) } rows="2" aria-label={ (words.new_note) " " (window.label) } { (notes.join("\n")) }
            }
        }
    }
}

fn lists(view: &View<'_>, sheet: &Sheet) -> Markup {
    let words = view.words;
    html! {
        section {
            h2 { (words.notes) }
            ul { @for line in &sheet.case.comparison_notes { li.text { (line) } } }
            @if !sheet.case.improvement_suggestions.is_empty() {
                h2 { (words.suggestions) }
                ul { @for line in &sheet.case.improvement_suggestions { li.text { (line) } } }
            }
        }
    }
}

fn history_section(view: &View<'_>, sheet: &Sheet) -> Markup {
    let words = view.words;
    let mark = conclusion_mark(&sheet.case);
    html! {
        section {
            @if !sheet.opinions.is_empty() {
                h2 { (words.judges) }
                p.soft { (words.changes_nothing) }
                @for opinion in &sheet.opinions { (opinion_part(view, opinion)) }
            }
            h2 { (words.history) }
            @if sheet.history.is_empty() { p.soft { (words.not_decided) } }
            ol.history { @for one in &sheet.history {
                li { (entry(view, one)) @if one.conclusion != mark && one.decision != "undo" { " " span.soft { "(" (words.in_other) ")" } } }
            } }
        }
    }
}

fn entry(view: &View<'_>, entry: &Entry) -> Markup {
    html! {
        span.entry {
            (view.language.decision(&entry.decision))
            @if let Some(level) = MatchLevel::recognise(&entry.level) { " " (badge(view.language, level)) }
            " · " (entry.reviewer) " · " time { (entry.time) }
            @if !entry.reason.is_empty() { ": " q { (entry.reason) } }
            @if !entry.windows.is_empty() { " (" (entry.windows.join(", ")) ")" }
        }
    }
}

fn opinion_part(view: &View<'_>, opinion: &Opinion) -> Markup {
    let words = view.words;
    let (same, given) = opinion.unity();
    html! {
        details open {
            summary {
                (opinion.judge) " "
                @match opinion.level() { Some(level) => (badge(view.language, level)), None => (words.none) }
                " " (same) "/" (given) " " (words.votes)
            }
            ul { @for vote in &opinion.votes { @match vote {
                Vote::Given { level, mismatch, why } => li.text { (level) @if !mismatch.is_empty() { " (" (mismatch.join(", ")) ")" } ": " (why) },
                Vote::Failed { reason } => li.text { (words.failed) ": " (reason) },
            } } }
        }
    }
}

/// What a replay took, as far as it is known.
fn took(words: &Words, record: &Record) -> String {
    let agent = [&record.agent, &record.agent_version, &record.model].map(String::as_str);
    let mut parts = vec![agent.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")];
    if record.turns > 0 {
        parts.push(format!("{} {}, {} {}", record.turns, words.turns, record.tool_calls, words.calls));
    }
    let read = record.input_tokens + record.cached_tokens;
    if read + record.output_tokens > 0 {
        parts.push(format!("{read} / {} tokens", record.output_tokens));
    }
    parts.extend(record.cost.map(|cost| format!("{cost:.3} USD")));
    if record.seconds > 0.0 {
        parts.push(format!("{:.1} s", record.seconds));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn transcript_section(view: &View<'_>, sheet: &Sheet) -> Markup {
    let words = view.words;
    let address = format!("/case/{}/transcript", sheet.id);
    html! {
        section aria-labelledby="said" {
            h2 #said { (words.transcript) }
            @if let Some(record) = &sheet.record { p.soft { (took(words, record)) } }
            @if sheet.has_transcript {
                details #transcript data-part={ (address) "/part?from=0" } data-failed=(words.no_transcript) {
                    summary data-key="t" { (words.transcript) " " kbd { "t" } }
                    p { a href=(address) { (words.whole) } }
                }
            } @else { p.soft { (words.no_transcript) } }
        }
    }
}
