//! Tables for a terminal.

use std::borrow::Cow;

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle,
};
use hindcast_case::{MatchLevel, Vocabulary};
use hindcast_verdict::Calibration;

use crate::model::{Row, Tally};
use crate::sections::Section;

/// Whether colours may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// A terminal that shows them.
    On,
    /// A file, a pipe, or `NO_COLOR`.
    Off,
}

/// The table of a run: one line a case. `width` is the terminal's; none means as wide as needed.
#[must_use]
pub fn rows_table(rows: &[Row], width: Option<u16>, colours: Colours) -> String {
    let mut table = new_table(width);
    match colours {
        Colours::On => table.enforce_styling(),
        Colours::Off => table.force_no_tty(),
    };
    table.set_header([
        "incident",
        "entry mode",
        "skill's bottleneck",
        "engineers' bottleneck",
        "verdict",
        "differs in",
    ]);
    for row in rows {
        let types = row.mismatch.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" ");
        table.add_row([
            Cell::new(&row.incident_id),
            Cell::new(row.entry_mode.map_or("", Vocabulary::as_str)),
            Cell::new(printable(or_dash(&row.skill_bottleneck))),
            Cell::new(printable(or_dash(&row.human_bottleneck))),
            level_cell(row.level, colours),
            Cell::new(if row.leak.is_some() { format!("LEAK {types}") } else { types }),
        ]);
    }
    // Names stay whole where there is room; only the last column wraps.
    if width.is_none_or(|width| width >= WHOLE_NAMES) {
        for column in table.column_iter_mut().take(5) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.to_string()
}

/// The agreement of a run in one line, with its interval.
#[must_use]
pub fn agreement_line(tally: &Tally) -> String {
    let comparable = tally.comparable();
    let share = |level: MatchLevel| match tally.interval(level) {
        Some(interval) => format!(
            "{} of {comparable} ({}; 95 % interval {} to {})",
            tally.count(level),
            percent(tally.count(level), comparable),
            percent_of(interval.low),
            percent_of(interval.high),
        ),
        None => "no comparable case".to_owned(),
    };
    let leaking = match tally.leaking {
        0 => String::new(),
        leaking => format!("\n  left out, because the inputs give the conclusion away: {leaking}"),
    };
    let mut kinds: Vec<_> = tally.breakdown.mismatches.iter().collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), kind.as_str()));
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let differing = if kinds.is_empty() { String::new() } else { format!("\n  differs in: {}", kinds.join(", ")) };
    let failed = match tally.failed {
        0 => String::new(),
        failed => format!("\n  replays that failed, so without a verdict: {failed}"),
    };
    format!(
        "{} cases, {comparable} of them comparable\n  matched            {}\n  partially matched  {}\n  mismatched         {}\n  human conclusion unclear: {}{differing}{leaking}{failed}",
        tally.cases(),
        share(MatchLevel::Matched),
        share(MatchLevel::PartiallyMatched),
        share(MatchLevel::Mismatched),
        tally.count(MatchLevel::HumanConclusionUnclear),
    )
}

/// A confusion matrix of match levels: `rows` are named on the left, the columns are this run's verdicts.
#[must_use]
pub fn confusion_table(corner: &str, rows: &[(&str, [usize; 4])]) -> String {
    let mut table = new_table(None);
    table.set_header(std::iter::once(corner).chain(MatchLevel::ALL.iter().map(|level| level.as_str())));
    for (name, counts) in rows {
        let cells = counts.iter().map(|count| Cell::new(count).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(name)).chain(cells));
    }
    table.to_string()
}

/// One table of a report.
#[must_use]
pub fn section_table(section: &Section) -> String {
    let mut table = new_table(None);
    if section.head.iter().any(|name| !name.is_empty()) {
        table.set_header(&section.head);
    }
    for row in &section.rows {
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let cells = row.iter().enumerate().map(|(column, text)| {
            let cell = Cell::new(printable(text));
            if column > 0 && is_number(text) { cell.set_alignment(CellAlignment::Right) } else { cell }
        });
        table.add_row(cells);
    }
    format!("{}\n{table}\n", section.title)
}

/// A calibration for people.
#[must_use]
pub fn calibration_text(calibration: &Calibration) -> String {
    let rows: Vec<(&str, [usize; 4])> =
        MatchLevel::ALL.iter().map(|level| level.as_str()).zip(calibration.confusion).collect();
    let mut text = format!(
        "{} pairs\n  accuracy          {:.3}\n  Cohen's kappa     {:.3} (95 % interval {:.3} to {:.3})\n  mismatch types    F1 {:.3}\n\n{}\n",
        calibration.agreement.pairs,
        calibration.agreement.accuracy,
        calibration.agreement.kappa,
        calibration.agreement.kappa_ci95.low,
        calibration.agreement.kappa_ci95.high,
        calibration.mismatch_type_f1,
        confusion_table("expert \\ rubric", &rows),
    );
    if calibration.disagreements.is_empty() {
        text.push_str("\nNo disagreements.\n");
    }
    let words = |types: &[hindcast_case::MismatchType]| types.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(", ");
    for other in &calibration.disagreements {
        text.push_str(&format!(
            "\n{}: expert {} [{}], rubric {} [{}] by rule `{}`\n",
            other.pair.pair_id,
            other.pair.expected_level,
            words(&other.pair.expected_types),
            other.level,
            words(&other.types),
            other.rule,
        ));
        if !other.pair.why.is_empty() {
            text.push_str(&format!("  expert: {}\n", other.pair.why));
        }
        for note in &other.notes {
            text.push_str(&format!("  - {note}\n"));
        }
    }
    printable(&text).into_owned()
}

/// A text without control characters, so that a ticket can't move the cursor or colour the terminal; lines stay.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(is_unsafe) {
        // As many bytes as before, so that positions in the text stay what they are.
        Cow::Owned(text.chars().map(|c| if is_unsafe(c) { "?".repeat(c.len_utf8()) } else { c.to_string() }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The width from which all names fit beside a wrapped last column.
const WHOLE_NAMES: u16 = 128;

/// A line under the header and nothing else: dense enough for a hundred cases.
const PLAIN: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

fn new_table(width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(PLAIN).set_content_arrangement(ContentArrangement::Dynamic);
    match width {
        Some(width) => table.set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    table
}

fn level_cell(level: MatchLevel, colours: Colours) -> Cell {
    let cell = Cell::new(level);
    if colours == Colours::Off {
        return cell;
    }
    match level {
        MatchLevel::Matched => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        MatchLevel::PartiallyMatched => cell.fg(Color::Yellow),
        MatchLevel::Mismatched => cell.fg(Color::Red),
        MatchLevel::HumanConclusionUnclear => cell.fg(Color::DarkGrey),
    }
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn percent(part: usize, whole: usize) -> String {
    percent_of(part as f64 / whole as f64)
}

pub(crate) fn percent_of(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
