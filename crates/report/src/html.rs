//! The report of a run as self-contained HTML pages: no script, no address outside, readable offline.

use std::io;
use std::path::{Path, PathBuf};

use hindcast_case::{Case, MatchLevel, Span, Vocabulary};
use hindcast_replay::Leak;
use hindcast_verdict::{Conclusion, Reader, Verdict, word};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::breakdown::Axis;
use crate::map::{MapWords, causal_map};
use crate::model::{Row, Tally, bottleneck};
use crate::terminal::percent_of;
use crate::trend::{Point, trend_section};

/// Cases on one page: a browser shows them without delay.
pub const PAGE_CASES: usize = 200;

/// Bytes of a page after which the next one begins, however few cases it holds.
const PAGE_BYTES: usize = 1_500_000;

/// Bytes of an incident's symptom, of a conclusion and of a line that a page shows. Three hundred cases of long tickets stay below
/// two megabytes so; case files and the review hold the whole.
const SYMPTOM: usize = 400;
const CONCLUSION: usize = 1_000;
const LINE: usize = 240;
/// Of a suggestion more: it holds a query.
const SUGGESTION: usize = 700;

/// Lines of a list that a page shows.
const LINES: usize = 8;

/// Writes the pages of a run: `report.html`, then `report-2.html` and so on. Three pages at most are held in memory: the first until
/// the end, since the totals stand on it, the one that is being filled, and the one before it, which must know whether it is the last.
#[derive(Debug)]
pub struct HtmlReport {
    dir: PathBuf,
    filling: Page,
    /// The last full page, but for the first.
    held: Option<Page>,
    first: Option<Page>,
    /// Full pages.
    pages: usize,
}

/// What stands on a page.
#[derive(Debug, Default)]
struct Page {
    cases: usize,
    rows: String,
    sections: String,
}

/// What the page tells beside verdicts.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// What the replays took, a line each.
    pub replays: Vec<String>,
    /// The runs of the casebook up to this one, in order.
    pub trend: Vec<Point>,
}

impl HtmlReport {
    /// A report in this folder.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), filling: Page::default(), held: None, first: None, pages: 0 }
    }

    /// The section of one case; made where the case is compared, so that it can be made in parallel.
    #[must_use]
    pub fn section(reader: &Reader, case: &Case, verdict: &Verdict, leak: Option<&Leak>) -> String {
        case_section(reader, case, verdict, leak).into_string()
    }

    /// Adds a case with its section.
    ///
    /// # Errors
    /// When a page can't be written.
    pub fn add(&mut self, row: &Row, section: &str) -> io::Result<()> {
        self.filling.rows.push_str(&table_row(row).into_string());
        self.filling.sections.push_str(section);
        self.step()
    }

    /// Adds a case whose replay failed: it has no verdict.
    ///
    /// # Errors
    /// When a page can't be written.
    pub fn fail(&mut self, incident_id: &str, reason: &str) -> io::Result<()> {
        let row = html! { tr { td { (incident_id) } td colspan="5" { "replay failed: " (reason) } } };
        self.filling.rows.push_str(&row.into_string());
        self.step()
    }

    /// Counts a file that could not be used: it keeps its place on the pages.
    ///
    /// # Errors
    /// When a page can't be written.
    pub fn skip(&mut self) -> io::Result<()> {
        self.step()
    }

    fn step(&mut self) -> io::Result<()> {
        let page = &mut self.filling;
        page.cases += 1;
        let is_full = page.cases >= PAGE_CASES || page.rows.len() + page.sections.len() >= PAGE_BYTES;
        if is_full { self.turn_page() } else { Ok(()) }
    }

    fn turn_page(&mut self) -> io::Result<()> {
        let full = std::mem::take(&mut self.filling);
        if self.pages == 0 {
            self.first = Some(full);
        } else if let Some(before) = self.held.replace(full) {
            self.write(self.pages, Links { last: None }, None, &before)?;
        }
        self.pages += 1;
        Ok(())
    }

    /// Writes what is left, and the first page with the totals and the `facts` beside them; gives the first page's path.
    ///
    /// # Errors
    /// When a page can't be written.
    pub fn finish(mut self, tally: &Tally, skill: &str, facts: &Facts) -> io::Result<PathBuf> {
        if self.filling.cases > 0 || self.pages == 0 {
            self.turn_page()?;
        }
        let links = Links { last: Some(self.pages) };
        if let Some(last) = self.held.take() {
            self.write(self.pages, links, None, &last)?;
        }
        let first = self.first.take().unwrap_or_default();
        self.write(1, links, Some((tally, skill, facts)), &first)?;
        Ok(self.dir.join(page_name(1)))
    }

    fn write(
        &self,
        number: usize,
        links: Links,
        totals: Option<(&Tally, &str, &Facts)>,
        page: &Page,
    ) -> io::Result<()> {
        let Page { rows, sections, .. } = page;
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                    title { "hindcast run" }
                    style { (PreEscaped(include_str!("report.css"))) }
                }
                body {
                    header {
                        h1 { "hindcast run" }
                        @if let Some((tally, skill, facts)) = totals { (totals_section(tally, skill, facts)) }
                        (page_links("pages", number, links))
                    }
                    main {
                        table.rows {
                            thead { tr {
                                th { "incident" } th { "entry mode" } th { "skill's bottleneck" } th { "engineers' bottleneck" }
                                th { "verdict" } th { "differs in" }
                            } }
                            tbody { (PreEscaped(rows)) }
                        }
                        (PreEscaped(sections))
                    }
                    footer { (page_links("pages, again", number, links)) }
                }
            }
        };
        std::fs::write(self.dir.join(page_name(number)), markup.into_string())
    }
}

fn page_name(page: usize) -> String {
    if page == 1 { "report.html".to_owned() } else { format!("report-{page}.html") }
}

/// What a page knows of the others.
#[derive(Clone, Copy)]
struct Links {
    /// The number of the last page; none while it isn't known, but that there is a next one.
    last: Option<usize>,
}

fn page_links(name: &str, page: usize, links: Links) -> Markup {
    html! {
        @if links.last != Some(1) {
            nav aria-label=(name) {
                @if page > 1 { a href=(page_name(page - 1)) { "previous" } " " }
                "page " (page) @if let Some(last) = links.last { " of " (last) }
                @if links.last != Some(page) { " " a href=(page_name(page + 1)) { "next" } }
                @if page > 1 { " " a href=(page_name(1)) { "totals" } }
            }
        }
    }
}

fn totals_section(tally: &Tally, skill: &str, facts: &Facts) -> Markup {
    let comparable = tally.comparable();
    html! {
        p { "Skill: " strong { (skill) } ". " (tally.cases()) " cases, " (comparable) " of them comparable"
            @if tally.leaking > 0 { ", " (tally.leaking) " left out because what the skill saw gives the conclusion away" }
            @if tally.failed > 0 { ", " (tally.failed) " whose replay failed and has no verdict" }
            @if tally.unusable > 0 { ", " (tally.unusable) " files that could not be used" } "." }
        @for fact in &facts.replays { p { (fact) } }
        table.totals {
            thead { tr { th { "verdict" } th { "cases" } th { "95 % Wilson interval" } } }
            tbody {
                @for level in MatchLevel::ALL {
                    tr {
                        td { (badge(*level)) }
                        td.number { (tally.count(*level)) }
                        td { @match tally.interval(*level) {
                            Some(interval) if *level != MatchLevel::HumanConclusionUnclear => {
                                (percent_of(interval.low)) " to " (percent_of(interval.high))
                            }
                            _ => "not part of agreement",
                        } }
                    }
                }
            }
        }
        @if tally.has_recorded() {
            h2 { "Confusion of match levels" }
            p { "Rows: the verdict that the casebook records, from a review or an earlier run. Columns: this run." }
            table.confusion {
                thead { tr { th { "recorded" } @for level in MatchLevel::ALL { th { (level) } } } }
                tbody {
                    @for (name, counts) in MatchLevel::ALL.iter().map(|l| l.as_str()).chain(["not recorded"]).zip(tally.confusion) {
                        tr { th { (name) } @for count in counts { td.number { (count) } } }
                    }
                }
            }
        }
        (breakdown_section(tally))
        (trend_section(&facts.trend))
    }
}

/// The verdicts by what cases have in common, folded.
fn breakdown_section(tally: &Tally) -> Markup {
    let breakdown = &tally.breakdown;
    html! {
        @for axis in Axis::ALL {
            @if let Some(groups) = breakdown.groups.get(&axis) {
                details {
                    summary { "By " (axis.title()) " (" (groups.len()) ")" }
                    table.confusion {
                        thead { tr { th {} @for level in &MatchLevel::ALL[..3] { th { (level) } } } }
                        tbody { @for (name, counts) in groups {
                            tr { th { (name) } @for count in &counts[..3] { td.number { (count) } } }
                        } }
                    }
                }
            }
        }
        @if !breakdown.mismatches.is_empty() {
            details {
                summary { "By kind of mismatch (" (breakdown.mismatches.len()) ")" }
                table.confusion { tbody { @for (kind, count) in &breakdown.mismatches {
                    tr { th { (kind) } td.number { (count) } }
                } } }
            }
        }
        @if !breakdown.routes.is_empty() {
            details {
                summary { "Entry modes: the engineers' against the skill's" }
                table.confusion {
                    thead { tr { th { "engineers" } th { "skill" } th { "cases" } } }
                    tbody { @for ((theirs, skill), count) in &breakdown.routes {
                        tr { td { (theirs) } td { (skill) } td.number { (count) } }
                    } }
                }
            }
        }
    }
}

fn badge(level: MatchLevel) -> Markup {
    html! { span.badge.(level.as_str()) { (level) } }
}

fn table_row(row: &Row) -> Markup {
    html! {
        tr {
            td { a href={ "#" (row.incident_id) } { (row.incident_id) } }
            td { (row.entry_mode.map_or("", Vocabulary::as_str)) }
            td { code { (row.skill_bottleneck) } }
            td { code { (row.human_bottleneck) } }
            td { (badge(row.level)) @if row.leak.is_some() { " " span.badge.leak { "leak" } } }
            td { (row.mismatch.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")) }
        }
    }
}

fn case_section(reader: &Reader, case: &Case, verdict: &Verdict, leak: Option<&Leak>) -> Markup {
    let skill = &case.skill_conclusion;
    html! {
        section id=(case.incident_id) {
            h2 { (case.incident_id) " " (case.canonical_incident.title) }
            p { (badge(verdict.level)) " by rule " code { (verdict.rule) } ": " (verdict.why) }
            @if let Some(leak) = leak {
                p { span.badge.leak { "leak" } " What the skill saw gives the conclusion away, so the case is in no total (score "
                    (format!("{:.2}", leak.score)) "):" }
                ul { @for signal in &leak.signals { li { code { (signal.field) } " " (signal.kind.as_str()) ": " q { (signal.passage) } } } }
            }
            @if !case.initial_symptom.is_empty() { p.symptom { (cut(&case.initial_symptom, SYMPTOM)) } }
            (causal_map(reader, verdict, &MapWords::default()))
            div.sides {
                div.side {
                    h3 { "Engineers" }
                    (fields(reader, &verdict.human))
                    blockquote { (claims_marked(reader, &verdict.human, CONCLUSION)) }
                }
                div.side {
                    h3 { "Skill" }
                    (fields(reader, &verdict.skill))
                    blockquote { (claims_marked(reader, &verdict.skill, CONCLUSION)) }
                    (list("Key evidence", &skill.key_evidence, LINE))
                    @if !skill.missing_evidence.is_empty() {
                        details { summary { "Missing evidence (" (skill.missing_evidence.len()) ")" } (items(&skill.missing_evidence, LINE)) }
                    }
                    @if !skill.uncertainty_statement.is_empty() { p.uncertain { (cut(&skill.uncertainty_statement, LINE)) } }
                }
            }
            (list("Why", &verdict.notes, LINE))
            (list("What to change in the skill", &verdict.suggestions, SUGGESTION))
            @if !verdict.windows.is_empty() {
                h3 { "Windows" }
                table {
                    thead { tr { th { "window" } th { "engineers" } th { "skill" } th { "assessment" } th { "notes" } } }
                    tbody {
                        @for review in &verdict.windows {
                            tr {
                                td { (review.label) br; small { (review.start_time) " – " (review.end_time) } }
                                td { (cut(&review.human_summary, LINE)) }
                                td { (cut(&review.skill_summary, LINE)) }
                                td { (review.assessment.map_or("", Vocabulary::as_str)) }
                                td { (cut(&review.notes.join(" "), LINE)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn fields(reader: &Reader, conclusion: &Conclusion) -> Markup {
    let bottleneck = bottleneck(reader, conclusion);
    html! {
        dl {
            dt { "bottleneck" } dd { code { @if bottleneck.is_empty() { "none named" } @else { (bottleneck) } } }
            dt { "side" } dd { (word(conclusion.side)) }
            dt { "scope" } dd { (word(conclusion.scope)) }
            dt { "path" } dd { (word(conclusion.path)) }
        }
    }
}

/// The first `most` bytes of a conclusion's text, with the spans that became claims marked: by class their role, by title role and
/// mechanism.
#[must_use]
pub fn claims_marked(reader: &Reader, conclusion: &Conclusion, most: usize) -> Markup {
    let text = &conclusion.text[..conclusion.text.floor_char_boundary(most)];
    let mut at = 0;
    let mut pieces = Vec::new();
    for claim in &conclusion.claims.claims {
        let Span { start, end } = claim.span;
        // Phrases can overlap; the first one is marked.
        if start < at || end <= start || text.get(start..end).is_none() {
            continue;
        }
        let title = format!("{}: {}", claim.role.as_str(), reader.subject_name(claim.subject));
        pieces.push(html! { (text[at..start]) mark.(claim.role.as_str()) title=(title) { (text[start..end]) } });
        at = end;
    }
    html! { @for piece in pieces { (piece) } (text[at..]) @if text.len() < conclusion.text.len() { "…" } }
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> Markup {
    let end = text.floor_char_boundary(most);
    html! { (text[..end]) @if end < text.len() { "…" } }
}

fn list(title: &str, lines: &[String], most: usize) -> Markup {
    html! { @if !lines.is_empty() { h3 { (title) } (items(lines, most)) } }
}

fn items(lines: &[String], most: usize) -> Markup {
    html! {
        ul { @for line in lines.iter().take(LINES) { li { (cut(line, most)) } } }
        @if lines.len() > LINES { p.symptom { "… and " (lines.len() - LINES) " more in the case file" } }
    }
}
