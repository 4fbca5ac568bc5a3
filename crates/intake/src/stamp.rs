//! When something happened, as a ticket system records it.

use std::fmt;

use hindcast_case::Moment;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// A moment with the offset from UTC in which it was recorded. Stamps are ordered by time, whatever their offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    at: Timestamp,
    offset: Offset,
}

/// A time that may lack a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadStamp {
    /// The time.
    pub stamp: Stamp,
    /// The text gave no zone: `fallback` was used.
    pub zone_was_assumed: bool,
}

impl Stamp {
    /// The moment `at`, shown at `offset`.
    #[must_use]
    pub fn new(at: Timestamp, offset: Offset) -> Self {
        Self { at, offset }
    }

    /// Reads what a ticket system writes; a time without a zone is taken at `fallback`. None when it is no time.
    #[must_use]
    pub fn read(text: &str, fallback: Offset) -> Option<ReadStamp> {
        let (at, offset, zone_was_assumed) = match Moment::parse(text) {
            Moment::Zoned(at, offset) => (at, offset, false),
            Moment::Local(at) => (at, fallback, true),
            Moment::Text(date) => (read_date(&date)?, fallback, true),
            Moment::Empty => return None,
        };
        Some(ReadStamp { stamp: Self::local(at, offset)?, zone_was_assumed })
    }

    /// The wall clock time `at` in a zone; none where it lies outside all calendars.
    #[must_use]
    pub fn local(at: DateTime, offset: Offset) -> Option<Self> {
        Some(Self { at: offset.to_timestamp(at).ok()?, offset })
    }

    /// The moment in time.
    #[must_use]
    pub fn timestamp(self) -> Timestamp {
        self.at
    }

    /// The offset in which it was recorded.
    #[must_use]
    pub fn offset(self) -> Offset {
        self.offset
    }

    /// The wall clock time where it was recorded.
    #[must_use]
    pub fn civil(self) -> DateTime {
        self.offset.to_datetime(self.at)
    }

    /// As a case file writes it.
    #[must_use]
    pub fn moment(self) -> Moment {
        Moment::Zoned(self.civil(), self.offset)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.moment().fmt(f)
    }
}

/// Forms that only exports write: a date alone, and Jira's CSV dates (`03/Dec/24 3:42 PM`).
fn read_date(text: &str) -> Option<DateTime> {
    if let Ok(date) = text.parse::<jiff::civil::Date>() {
        return Some(date.to_datetime(jiff::civil::Time::midnight()));
    }
    let formats = [
        "%d/%b/%y %I:%M %p",
        "%d/%b/%Y %I:%M %p",
        "%d/%b/%y %H:%M",
        "%d/%b/%Y %H:%M",
        "%d/%b/%y",
        "%m/%d/%Y %H:%M",
        "%b %d, %Y %I:%M %p",
        "%b %d, %Y",
    ];
    formats.iter().find_map(|format| {
        let parsed = jiff::fmt::strtime::parse(format, text.trim()).ok()?;
        let date = parsed.to_date().ok()?;
        Some(date.to_datetime(parsed.to_time().unwrap_or(jiff::civil::Time::midnight())))
    })
}

/// An offset as times are written with it: `+08:00`.
pub(crate) fn offset_text(offset: Offset) -> String {
    let minutes = offset.seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_write_times_in_many_ways() {
        let china = jiff::tz::offset(8);
        for (text, expected, assumed) in [
            ("2024-12-04T09:14:28.000+0800", "2024-12-04T09:14:28+08:00", false),
            ("2016-03-03T13:40:01.000+0000", "2016-03-03T13:40:01+00:00", false),
            ("Wed, 4 Dec 2024 09:14:28 +0800", "2024-12-04T09:14:28+08:00", false),
            ("Mon, 4 Dec 2024 09:14:28 +0800", "2024-12-04T09:14:28+08:00", false),
            ("2024-12-04 09:14:28", "2024-12-04T09:14:28+08:00", true),
            ("04/Dec/24 9:14 AM", "2024-12-04T09:14:00+08:00", true),
            ("04/Dec/24 3:42 PM", "2024-12-04T15:42:00+08:00", true),
            ("2024-12-04", "2024-12-04T00:00:00+08:00", true),
            ("1733274868000", "2024-12-04T01:14:28+00:00", false),
        ] {
            let read = Stamp::read(text, china).expect(text);
            assert_eq!((read.stamp.to_string().as_str(), read.zone_was_assumed), (expected, assumed), "{text}");
        }
        assert_eq!(Stamp::read("yesterday", china), None);
        assert_eq!(Stamp::read("", china), None);
    }
}
