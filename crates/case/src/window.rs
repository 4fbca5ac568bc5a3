//! The time that an incident covers.

use std::fmt;

use jsonc_parser::ast::Value;

use crate::json::Json;
use crate::moment::{Moment, read_time_of_day};
use crate::reader::Reader;
use crate::record::Field;
use crate::schema;
use crate::writer::Writer;

/// A time range, written `start/end` as in ISO 8601.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TimeWindow {
    /// Not known yet.
    #[default]
    Empty,
    /// From the first moment to the second.
    Between(Moment, Moment),
    /// Words that could not be read as a range.
    Text(String),
}

/// What people put between two times. The slash comes last because dates contain it.
const SEPARATORS: [&str; 9] = ["~", "～", " - ", " to ", "至", "到", "—", "-", "/"];

impl TimeWindow {
    /// Reads `start/end` and its hand-written variants; the end may be a time of the same day.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        // Two times and a separator are short; on long text every split would be tried.
        if text.len() > 160 {
            return Self::Text(text.to_owned());
        }
        let mut splits = SEPARATORS.iter().flat_map(|separator| text.match_indices(separator));
        splits
            .find_map(|(at, separator)| between(&text[..at], &text[at + separator.len()..]))
            .unwrap_or_else(|| Self::Text(text.to_owned()))
    }

    /// Start and end in seconds, for ordering within one case.
    #[must_use]
    pub fn seconds(&self) -> Option<(i64, i64)> {
        match self {
            Self::Between(start, end) => Some((start.seconds()?, end.seconds()?)),
            Self::Empty | Self::Text(_) => None,
        }
    }
}

fn between(start: &str, end: &str) -> Option<TimeWindow> {
    let start = Moment::parse(start);
    start.seconds()?;
    let end = match Moment::parse(end) {
        Moment::Text(text) => {
            let (time, offset) = read_time_of_day(&text)?;
            // A zone behind the whole range belongs to both ends.
            let start = match (&start, offset) {
                (Moment::Local(at), Some(offset)) => Moment::Zoned(*at, offset),
                _ => start.clone(),
            };
            return Some(TimeWindow::Between(start.clone(), start.at_time(time)?));
        }
        moment => moment,
    };
    end.seconds()?;
    Some(TimeWindow::Between(start, end))
}

impl fmt::Display for TimeWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Between(start, end) => write!(f, "{start}/{end}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Field for TimeWindow {
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self> {
        let is_text = |window: &Self| matches!(window, Self::Text(_));
        let example = "2024-05-11T13:47:50+08:00/2024-05-11T14:36:22+08:00";
        reader.readable(value, Self::parse, is_text, "a time range", example)
    }

    fn write(&self, writer: &mut Writer) {
        writer.text(&self.to_string());
    }

    fn schema() -> Json {
        schema::string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_in_every_form_that_tickets_use() {
        for (text, expected) in [
            ("2026-04-22T03:25:00/2026-04-22T04:00:00", "2026-04-22T03:25:00/2026-04-22T04:00:00"),
            ("2026/04/22 03:25/2026/04/22 04:00", "2026-04-22T03:25:00/2026-04-22T04:00:00"),
            ("2026-04-22 03:25 ~ 04:00", "2026-04-22T03:25:00/2026-04-22T04:00:00"),
            ("2026-04-22 03:25-04:00 (UTC+8)", "2026-04-22T03:25:00+08:00/2026-04-22T04:00:00+08:00"),
            ("1767679200-1767682800", "2026-01-06T06:00:00+00:00/2026-01-06T07:00:00+00:00"),
            ("2024年3月2日 15:04 至 15:40", "2024-03-02T15:04:00/2024-03-02T15:40:00"),
        ] {
            assert_eq!(TimeWindow::parse(text).to_string(), expected, "{text}");
        }
        assert_eq!(TimeWindow::parse("昨天下午"), TimeWindow::Text("昨天下午".to_owned()));
    }
}
