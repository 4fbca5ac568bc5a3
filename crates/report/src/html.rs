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

/// Writes the pages of a run: `report.html`, then `report-2.html` and so on. Only one page is held in memory, and the
/// first until the end, since the totals stand on it.
#[derive(Debug)]
pub struct HtmlReport {
    dir: PathBuf,
    /// Cases of the whole run, known before they are read.
    expected: usize,
    seen: usize,
    rows: String,
    sections: String,
    first: Option<(String, String)>,
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
    /// A report in this folder of a run over `expected` cases.
    #[must_use]
    pub fn new(dir: &Path, expected: usize) -> Self {
        Self { dir: dir.to_owned(), expected, seen: 0, rows: String::new(), sections: String::new(), first: None }
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
        self.rows.push_str(&table_row(row).into_string());
        self.sections.push_str(section);
        self.step()
    }

    /// Adds a case whose replay failed: it has no verdict.
    ///
    /// # Errors
    /// When a page can't be written.
    pub fn fail(&mut self, incident_id: &str, reason: &str) -> io::Result<()> {
        let row = html! { tr { td { (incident_id) } td colspan="5" { "replay failed: " (reason) } } };
        self.rows.push_str(&row.into_string());
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
        self.seen += 1;
        if self.seen.is_multiple_of(PAGE_CASES) { self.turn_page() } else { Ok(()) }
    }

    fn turn_page(&mut self) -> io::Result<()> {
        let page = self.seen.div_ceil(PAGE_CASES);
        let content = (std::mem::take(&mut self.rows), std::mem::take(&mut self.sections));
        if page == 1 {
            self.first = Some(content);
            return Ok(());
        }
        self.write(page, None, &content.0, &content.1)
    }

    /// Writes what is left, and the first page with the totals and the `facts` beside them; gives the first page's path.
    ///
    /// # Errors
    /// When a page can't be written.
    pub fn finish(mut self, tally: &Tally, skill: &str, facts: &Facts) -> io::Result<PathBuf> {
        if !self.seen.is_multiple_of(PAGE_CASES) || self.seen == 0 {
            self.turn_page()?;
        }
        let (rows, sections) = self.first.take().unwrap_or_default();
        self.write(1, Some((tally, skill, facts)), &rows, &sections)?;
        Ok(self.dir.join(page_name(1)))
    }

    fn write(&self, page: usize, totals: Option<(&Tally, &str, &Facts)>, rows: &str, sections: &str) -> io::Result<()> {
        let pages = self.expected.max(1).div_ceil(PAGE_CASES);
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
                        (page_links(page, pages))
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
                    footer { (page_links(page, pages)) }
                }
            }
        };
        std::fs::write(self.dir.join(page_name(page)), markup.into_string())
    }
}

fn page_name(page: usize) -> String {
    if page == 1 { "report.html".to_owned() } else { format!("report-{page}.html") }
}

fn page_links(page: usize, pages: usize) -> Markup {
    html! {
        @if pages > 1 {
            nav {
                @if page > 1 { a href=(page_name(page - 1)) { "previous" } " " }
                "page " (page) " of " (pages)
                @if page < pages { " " a href=(page_name(page + 1)) { "next" } }
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
            @if !case.initial_symptom.is_empty() { p.symptom { (case.initial_symptom) } }
            (causal_map(reader, verdict, &MapWords::default()))
            div.sides {
                div.side {
                    h3 { "Engineers" }
                    (fields(reader, &verdict.human))
                    blockquote { (claims_marked(reader, &verdict.human)) }
                }
                div.side {
                    h3 { "Skill" }
                    (fields(reader, &verdict.skill))
                    blockquote { (claims_marked(reader, &verdict.skill)) }
                    (list("Key evidence", &skill.key_evidence))
                    @if !skill.missing_evidence.is_empty() {
                        details { summary { "Missing evidence (" (skill.missing_evidence.len()) ")" } (items(&skill.missing_evidence)) }
                    }
                    @if !skill.uncertainty_statement.is_empty() { p.uncertain { (skill.uncertainty_statement) } }
                }
            }
            (list("Why", &verdict.notes))
            (list("What to change in the skill", &verdict.suggestions))
            @if !verdict.windows.is_empty() {
                h3 { "Windows" }
                table {
                    thead { tr { th { "window" } th { "engineers" } th { "skill" } th { "assessment" } th { "notes" } } }
                    tbody {
                        @for review in &verdict.windows {
                            tr {
                                td { (review.label) br; small { (review.start_time) " – " (review.end_time) } }
                                td { (review.human_summary) }
                                td { (review.skill_summary) }
                                td { (review.assessment.map_or("", Vocabulary::as_str)) }
                                td { (review.notes.join(" ")) }
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

/// The text of a conclusion with the spans that became claims marked, each with its role and, as `data-subject`, its mechanism.
#[must_use]
pub fn claims_marked(reader: &Reader, conclusion: &Conclusion) -> Markup {
    let text = conclusion.text.as_str();
    let mut at = 0;
    let mut pieces = Vec::new();
    for claim in &conclusion.claims.claims {
        let Span { start, end } = claim.span;
        // Phrases can overlap; the first one is marked.
        if start < at || end <= start || text.get(start..end).is_none() {
            continue;
        }
        let subject = reader.subject_name(claim.subject);
        let title = format!("{}: {subject}", claim.role.as_str());
        pieces.push(html! {
            (text[at..start])
            mark.(claim.role.as_str()) title=(title) data-subject=(subject) { (text[start..end]) }
        });
        at = end;
    }
    html! { @for piece in pieces { (piece) } (text[at..]) }
}

fn list(title: &str, lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { h3 { (title) } (items(lines)) } }
}

fn items(lines: &[String]) -> Markup {
    html! { ul { @for line in lines { li { (line) } } } }
}
