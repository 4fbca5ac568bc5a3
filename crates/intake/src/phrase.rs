//! Times of an incident as people write them in running text, in English and Chinese.

use std::ops::Range;
use std::sync::LazyLock;

use hindcast_case::{Span, fold_char};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, ToSpan};
use regex::{Captures, Regex};

use crate::stamp::Stamp;

/// A window that a text states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatedWindow {
    /// The words, in the text.
    pub(crate) span: Span,
    /// Its start on the clock of whoever wrote it.
    pub(crate) start: DateTime,
    /// Its end on that clock.
    pub(crate) end: DateTime,
    /// The zone that the text names.
    pub(crate) zone: Option<Offset>,
    /// Whether the text gives the day.
    pub(crate) day: Day,
}

/// How a text gives the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Day {
    /// As a date with its year.
    Dated,
    /// As a date without a year, or as "yesterday": what is left out was taken from when it was written.
    Relative,
    /// Not at all: the day on which it was written.
    Assumed,
}

/// Texts are read up to here for windows; a description does not state the time after this much.
const MAX_TEXT: usize = 64 * 1024;

/// How far in front of a time its day may stand, in bytes.
const MAX_DAY_DISTANCE: usize = 160;

/// A date: 2024-12-03, 2024年12月3日, 12月3日, 12/3, Dec 3 2024, 3 Dec 2024, yesterday, 昨天.
const DATE: &str = r"(?:(?P<y#>\d{4})\s*[-/.年]\s*(?P<m#>\d{1,2})\s*[-/.月]\s*(?P<d#>\d{1,2})\s*[日号]?|(?P<zm#>\d{1,2})\s*月\s*(?P<zd#>\d{1,2})\s*[日号]|(?P<sm#>\d{1,2})[/-](?P<sd#>\d{1,2})|(?P<en#>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s+(?P<ed#>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<ey#>\d{4}))?|(?P<fd#>\d{1,2})(?:st|nd|rd|th)?\s+(?P<fn#>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?:,?\s+(?P<fy#>\d{4}))?|(?P<rel#>today|yesterday|last night|this morning|今天|今日|今早|今晨|昨天|昨日|昨晚|前天|前日|当天|当日))";

/// A time of day: 15:04, 15:04:05.123, 15点04分, 下午3点半, 3 pm, 3:04 PM.
const TIME: &str = r"(?:(?P<half#>上午|下午|晚上|夜里|凌晨|早上|中午|傍晚)?\s*(?P<h#>\d{1,2})(?:\s*[:点时]\s*(?P<mi#>\d{2}|半)?(?:(?::|分)(?P<s#>\d{2})(?:[.,]\d{1,9})?|分)?秒?(?:\s*(?P<ap#>[ap])\.?m\b\.?)?|\s*(?P<bare#>[ap])\.?m\b\.?))";

/// A zone: UTC+8, (+08:00), Z, Beijing time. Names like CST have several meanings and are none.
const ZONE: &str = r"(?:\s*[(（\[]?\s*(?P<zone#>(?:utc|gmt)\s*(?:[+-]\s*\d{1,2}(?::?\d{2})?)?|[+-]\d{2}:?\d{2}\b|z\b|北京时间|beijing time|cst\b)\s*[)）\]]?)?";

const SEPARATOR: &str = r"\s*(?:~+|～|-+>?|–|—+|→|\bto\b|\btill\b|\buntil\b|\band\b|至|到|和|,\s*ended?(?: at)?)\s*";

/// "15:04 起持续 30 分钟", "at 15:04 for 20 minutes".
const DURATION: &str = r"(?:[^\n。.;；]{0,24}?(?:持续了?|历时|\bfor(?: about)?|\blast(?:ed|ing)?(?: about| for)?)\s*(?P<n>\d{1,3})\s*(?P<unit>分钟|小时|min(?:ute)?s?\b|hours?\b|h\b|m\b))";

static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    let part = |pattern: &str, number: char| pattern.replace('#', &number.to_string());
    let moment = |number| {
        format!(r"(?:{}\s*(?:[,t]|的|at)?\s*)?{}{}", part(DATE, number), part(TIME, number), part(ZONE, number))
    };
    compile(&format!("(?:{}{SEPARATOR}{}|{}{DURATION})", moment('1'), moment('2'), moment('3')))
});

static DAY: LazyLock<Regex> =
    LazyLock::new(|| compile(&DATE.replace('#', "4").replace(r"(?P<sm4>\d{1,2})[/-](?P<sd4>\d{1,2})|", "")));

fn compile(pattern: &str) -> Regex {
    regex::RegexBuilder::new(&hindcast_text::ascii_boundaries(pattern))
        .case_insensitive(true)
        .build()
        .expect("the tests compile the pattern")
}

/// The windows that a text states, in order. `written` is when and in which zone it was written; without it, only windows
/// with a full date are found.
pub(crate) fn stated_windows(text: &str, written: Option<Stamp>) -> Vec<StatedWindow> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    let mut windows: Vec<StatedWindow> = Vec::new();
    let mut at = 0_usize;
    for line in text.split_inclusive('\n') {
        // Most lines tell no time, and looking for a window is dear.
        if may_tell_window(line) {
            let from = text.floor_char_boundary(at.saturating_sub(MAX_DAY_DISTANCE));
            windows_of_line(text, from, at..at + line.len(), written, &mut windows);
        }
        at += line.len();
    }
    // A zone that is named once holds for the whole text.
    let zones: Vec<Offset> = windows.iter().filter_map(|window| window.zone).collect();
    if let Some(zone) = zones.first().filter(|first| zones.iter().all(|zone| zone == *first)) {
        for window in &mut windows {
            window.zone = Some(*zone);
        }
    }
    windows
}

/// The windows of one line. The day of a window can stand before it, from `from` on.
fn windows_of_line(
    text: &str,
    from: usize,
    line: Range<usize>,
    written: Option<Stamp>,
    windows: &mut Vec<StatedWindow>,
) {
    let folded = Folding::new(&text[from..line.end]);
    let line_start = Folding::new(&text[from..line.start]).text.len();
    let today = written.map(|stamp| stamp.civil().date());
    let dates = DAY.captures_iter(&folded.text);
    let days: Vec<(usize, Date)> =
        dates.filter_map(|found| Some((found.get(0)?.end(), read_date(&found, '4', today)?.0))).collect();
    let offset = from;
    let mut from = line_start;
    while let Some(found) = RANGE.captures_at(&folded.text, from) {
        let whole = found.get(0).expect("the whole match");
        from = whole.end().max(from + 1);
        // Not inside a longer number, as of a log line or an id.
        let before = folded.text[..whole.start()].chars().next_back();
        if before.is_some_and(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '_')) {
            continue;
        }
        let start = whole.start() + (whole.as_str().len() - whole.as_str().trim_start().len());
        let span = folded.span(offset, start, start + whole.as_str().trim().len());
        // A day that stood before holds on: "3月2日 第一次 15:04-15:10，第二次 16:00-16:05".
        let stood =
            days.iter().rev().find(|(at, _)| *at <= start && start - at < MAX_DAY_DISTANCE).map(|(_, day)| *day);
        let window = read(&found, span, written, stood.or(windows.last().map(|window| window.start.date())));
        windows.extend(window);
    }
}

/// Whether a line has two clocks, or one and words that can make a window of it.
fn may_tell_window(line: &str) -> bool {
    let bytes = line.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let clocks =
        memchr::memchr_iter(b':', bytes).filter(|at| digit(at.checked_sub(1)) && digit(Some(at + 1))).take(2).count();
    let has_words = || {
        ["：", "点", "时", "持续", "am", "pm", "AM", "PM", ".m", " for", "last"].iter().any(|word| line.contains(word))
    };
    clocks == 2 || (clocks == 1 || bytes.iter().any(u8::is_ascii_digit)) && has_words()
}

fn read(found: &Captures<'_>, span: Span, written: Option<Stamp>, known_day: Option<Date>) -> Option<StatedWindow> {
    let is_range = found.name("h1").is_some();
    let first = if is_range { '1' } else { '3' };
    let today = written.map(|stamp| stamp.civil().date());
    let (date, day) = match read_date(found, first, today) {
        Some(found) => found,
        None if !says_time(found, first) => return None,
        None => (known_day.or(today)?, if known_day.is_some() { Day::Relative } else { Day::Assumed }),
    };
    let mut start = date.to_datetime(read_time(found, first, None)?);
    let mut zone = read_zone(found, first);
    let mut end = if is_range {
        let date = read_date(found, '2', today).map_or(date, |(date, _)| date);
        let start_half = found.name("half1").map(|half| half.as_str());
        zone = read_zone(found, '2').or(zone);
        date.to_datetime(read_time(found, '2', start_half)?)
    } else {
        let count: i64 = found.name("n")?.as_str().parse().ok()?;
        let is_hours = found.name("unit")?.as_str().starts_with(['小', 'h', 'H']);
        start
            .checked_add(if is_hours { SignedDuration::from_hours(count) } else { SignedDuration::from_mins(count) })
            .ok()?
    };
    // "23:50 ~ 00:20" goes over midnight.
    if end < start && found.name("h1").is_some() && read_date(found, '2', today).is_none() {
        end = end.checked_add(1.day()).ok()?;
    }
    // What is told of today can't lie ahead: it was the day before.
    if day == Day::Assumed && written.is_some_and(|stamp| start > stamp.civil()) {
        start = start.checked_sub(1.day()).ok()?;
        end = end.checked_sub(1.day()).ok()?;
    }
    (end >= start && end.duration_since(start) <= SignedDuration::from_hours(24 * 31)).then_some(StatedWindow {
        span,
        start,
        end,
        zone,
        day,
    })
}

/// A bare "3-5" is no time: one end must look like a clock.
fn says_time(found: &Captures<'_>, number: char) -> bool {
    let group = |name: &str| found.name(&format!("{name}{number}"));
    group("mi").is_some()
        || group("half").is_some()
        || group("ap").is_some()
        || group("bare").is_some()
        || group("s").is_some()
}

fn group<'a>(found: &'a Captures<'_>, name: &str, number: char) -> Option<&'a str> {
    found.name(&format!("{name}{number}")).map(|group| group.as_str())
}

fn read_date(found: &Captures<'_>, number: char, today: Option<Date>) -> Option<(Date, Day)> {
    let text = |name| group(found, name, number);
    let value = |name| text(name).and_then(|digits: &str| digits.parse::<i16>().ok());
    let month = |name| {
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        let at = text(name).and_then(|month| months.iter().position(|known| *known == month));
        at.and_then(|at| i16::try_from(at + 1).ok())
    };
    let date =
        |year: i16, month: i16, day: i16| Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok();
    if let Some(year) = value("y") {
        return Some((date(year, value("m")?, value("d")?)?, Day::Dated));
    }
    if let Some(relative) = text("rel") {
        let back = match relative {
            "yesterday" | "last night" | "昨天" | "昨日" | "昨晚" => 1,
            "前天" | "前日" => 2,
            _ => 0,
        };
        return Some((today?.checked_sub(back.days()).ok()?, Day::Relative));
    }
    let (month, day, year) = if let Some(month) = value("zm") {
        (month, value("zd")?, None)
    } else if number != '4'
        && let Some(month) = value("sm")
    {
        (month, value("sd")?, None)
    } else if let Some(month) = month("en") {
        (month, value("ed")?, value("ey"))
    } else {
        (month("fn")?, value("fd")?, value("fy"))
    };
    if let Some(year) = year {
        return Some((date(year, month, day)?, Day::Dated));
    }
    let today = today?;
    let this_year = date(today.year(), month, day)?;
    // Told in January of December: the year before.
    let is_ahead = this_year > today.checked_add(2.days()).ok()?;
    Some((if is_ahead { date(today.year() - 1, month, day)? } else { this_year }, Day::Relative))
}

fn read_time(found: &Captures<'_>, number: char, inherited: Option<&str>) -> Option<Time> {
    let text = |name| group(found, name, number);
    let mut hour: i8 = text("h")?.parse().ok()?;
    let minute = match text("mi") {
        Some("半") => 30,
        Some(digits) => digits.parse().ok()?,
        None => 0,
    };
    let second = text("s").and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let half = text("ap").or_else(|| text("bare")).or_else(|| text("half")).or(inherited);
    let is_late = matches!(half, Some("p" | "下午" | "晚上" | "夜里" | "傍晚" | "中午"));
    if is_late && hour < 12 && !(half == Some("中午") && hour > 9) {
        hour += 12;
    } else if half == Some("a") && hour == 12 {
        hour = 0;
    }
    Time::new(hour, minute, second, 0).ok()
}

fn read_zone(found: &Captures<'_>, number: char) -> Option<Offset> {
    match group(found, "zone", number)? {
        "北京时间" | "beijing time" => Some(jiff::tz::offset(8)),
        // China's, America's or Cuba's.
        "cst" => None,
        zone => crate::settings::read_zone(&zone.replace(' ', "")),
    }
}

/// A text with width and case folded, and the way back.
struct Folding {
    text: String,
    /// Pairs of offsets after characters whose length changed: in the folded text, in the original.
    shifts: Vec<(usize, usize)>,
}

impl Folding {
    fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut shifts = Vec::new();
        for (at, c) in original.char_indices() {
            let folded = fold_char(c);
            text.push(folded);
            if folded.len_utf8() != c.len_utf8() {
                shifts.push((text.len(), at + c.len_utf8()));
            }
        }
        Self { text, shifts }
    }

    fn original(&self, at: usize) -> usize {
        let next = self.shifts.partition_point(|(folded, _)| *folded <= at);
        let (folded, original) = next.checked_sub(1).map_or((0, 0), |index| self.shifts[index]);
        original + (at - folded)
    }

    /// A span of the original, which begins at `offset` of the whole text.
    fn span(&self, offset: usize, start: usize, end: usize) -> Span {
        Span::new(offset + self.original(start), offset + self.original(end))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written() -> Option<Stamp> {
        Stamp::read("2026-03-05T18:00:00+08:00", Offset::UTC).map(|read| read.stamp)
    }

    fn read_one(text: &str) -> Option<(String, Option<Offset>, Day)> {
        let windows = stated_windows(text, written());
        windows.first().map(|window| (format!("{}/{}", window.start, window.end), window.zone, window.day))
    }

    #[test]
    fn windows_are_read_in_both_languages() {
        let china = Some(jiff::tz::offset(8));
        for (text, expected, zone, day) in [
            ("slow from 2026-03-02 15:04 to 15:40", "2026-03-02T15:04:00/2026-03-02T15:40:00", None, Day::Dated),
            (
                "问题时间 2026/03/02 15:04:30 ~ 2026/03/02 15:40:00",
                "2026-03-02T15:04:30/2026-03-02T15:40:00",
                None,
                Day::Dated,
            ),
            ("3月2日下午3点到4点半", "2026-03-02T15:00:00/2026-03-02T16:30:00", None, Day::Relative),
            ("3月2日 15:04～15:40 （UTC+8）慢", "2026-03-02T15:04:00/2026-03-02T15:40:00", china, Day::Relative),
            ("15:04~15:40 (UTC+8)", "2026-03-05T15:04:00/2026-03-05T15:40:00", china, Day::Assumed),
            ("昨天 23:50 至 00:20", "2026-03-04T23:50:00/2026-03-05T00:20:00", None, Day::Relative),
            ("between 15:04 and 15:40 yesterday", "2026-03-05T15:04:00/2026-03-05T15:40:00", None, Day::Assumed),
            (
                "Dec 31, 2025 11:50 PM - Jan 1, 2026 12:10 AM",
                "2025-12-31T23:50:00/2026-01-01T00:10:00",
                None,
                Day::Dated,
            ),
            ("12月30日 15:04-15:40", "2025-12-30T15:04:00/2025-12-30T15:40:00", None, Day::Relative),
            ("20:00-21:00 慢", "2026-03-04T20:00:00/2026-03-04T21:00:00", None, Day::Assumed),
            ("15:04 开始，持续 30 分钟", "2026-03-05T15:04:00/2026-03-05T15:34:00", None, Day::Assumed),
            ("at 15:04 for about 20 minutes", "2026-03-05T15:04:00/2026-03-05T15:24:00", None, Day::Assumed),
            (
                "2026-03-02T15:04:00+08:00 to 2026-03-02T15:40:00+08:00",
                "2026-03-02T15:04:00/2026-03-02T15:40:00",
                china,
                Day::Dated,
            ),
            ("北京时间的 15:04 到 15:40 北京时间", "2026-03-05T15:04:00/2026-03-05T15:40:00", china, Day::Assumed),
            ("2026年3月2日15时04分至15时40分", "2026-03-02T15:04:00/2026-03-02T15:40:00", None, Day::Dated),
        ] {
            assert_eq!(read_one(text), Some((expected.to_owned(), zone, day)), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_no_times_state_no_window() {
        for text in [
            "3-5 nodes",
            "ratio 1:2 to 3:4:5",
            "v6.5.3-20240101",
            "10.0.0.1:20160 - 10.0.0.2:20160",
            "from 10 to 20",
            "25:00-26:00",
            "[2024/12/03 21:21:13.215 +08:00] [INFO]",
            "P99 时延 30 到 40 ms",
            "P99 12:99-13:99",
            "",
        ] {
            assert_eq!(read_one(text), None, "{text}");
        }
        assert_eq!(stated_windows("15:04-15:40", None), []);
    }

    #[test]
    fn several_windows_and_their_words_are_found() {
        let text = "３月２日 第一次 15:04-15:10，第二次 16:00-16:05。";
        let windows = stated_windows(text, written());
        let words: Vec<&str> = windows.iter().map(|window| &text[window.span.start..window.span.end]).collect();
        assert_eq!(words, ["15:04-15:10", "16:00-16:05"]);
        assert_eq!(windows[1].start.to_string(), "2026-03-02T16:00:00");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\d{1,4}|[:~/（）年月日点下午昨天to. -]|am|UTC\\+8|\\PC){0,60}") {
            for window in stated_windows(&text, written()) {
                prop_assert!(window.start <= window.end);
                prop_assert!(text.get(window.span.start..window.span.end).is_some());
            }
        }
    }
}
