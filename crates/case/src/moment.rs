//! Moments as tickets write them.

use std::fmt;

use jiff::civil::{DateTime, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use jsonc_parser::ast::Value;

use crate::fold::fold_char;
use crate::json::Json;
use crate::reader::Reader;
use crate::record::Field;
use crate::schema;
use crate::writer::Writer;

/// A moment of an incident. A zone is never guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Moment {
    /// Not known yet.
    #[default]
    Empty,
    /// A moment with its offset from UTC.
    Zoned(DateTime, Offset),
    /// A wall clock time whose zone is not known.
    Local(DateTime),
    /// Words that could not be read as a time.
    Text(String),
}

impl Moment {
    /// Reads RFC 3339, Jira's `+0800`, TiKV's log time, a local date and time, a Chinese date, RFC 2822, and Unix
    /// time in s, ms, µs or ns. Anything else is [`Moment::Text`].
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        read_epoch(text)
            .or_else(|| read_civil(text))
            .or_else(|| read_rfc2822(text))
            .unwrap_or_else(|| Self::Text(text.to_owned()))
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Seconds on a clock, to order moments of one case; a local time counts as if it were UTC.
    #[must_use]
    pub fn seconds(&self) -> Option<i64> {
        let (at, offset) = match self {
            Self::Zoned(at, offset) => (at, *offset),
            Self::Local(at) => (at, Offset::UTC),
            Self::Empty | Self::Text(_) => return None,
        };
        offset.to_timestamp(*at).ok().map(Timestamp::as_second)
    }

    /// The same date (and zone, where it has one) at another time of day.
    #[must_use]
    pub(crate) fn at_time(&self, time: Time) -> Option<Self> {
        match self {
            Self::Zoned(at, offset) => Some(Self::Zoned(at.date().to_datetime(time), *offset)),
            Self::Local(at) => Some(Self::Local(at.date().to_datetime(time))),
            Self::Empty | Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Local(at) => write!(f, "{at}"),
            Self::Text(text) => f.write_str(text),
            Self::Zoned(at, offset) => {
                let seconds = offset.seconds();
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                write!(f, "{at}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

/// Unix time: the number of digits tells the unit, as all moments of interest lie between 2001 and 2286.
fn read_epoch(text: &str) -> Option<Moment> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: i64 = text.parse().ok()?;
    let timestamp = match text.len() {
        10 => Timestamp::from_second(number),
        13 => Timestamp::from_millisecond(number),
        16 => Timestamp::from_microsecond(number),
        19 => Timestamp::from_nanosecond(i128::from(number)),
        _ => return None,
    };
    Some(Moment::Zoned(Offset::UTC.to_datetime(timestamp.ok()?), Offset::UTC))
}

fn read_rfc2822(text: &str) -> Option<Moment> {
    // A wrong weekday costs nothing: the date tells.
    let parser = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    let zoned = parser.parse_zoned_datetime(text).ok()?;
    Some(Moment::Zoned(zoned.datetime(), zoned.offset()))
}

/// Year, month, day, hour, minute, optional second and zone, however they are punctuated.
fn read_civil(text: &str) -> Option<Moment> {
    let folded: String = text.chars().map(fold_char).collect();
    let mut scan = Scan { rest: folded.trim() };
    let year = scan.number(4, 4)?;
    scan.any(&["-", "/", ".", "年"])?;
    let month = scan.number(1, 2)?;
    scan.any(&["-", "/", ".", "月"])?;
    let day = scan.number(1, 2)?;
    scan.any(&["日", "号"]);
    scan.any(&["t", ",", "，"]);
    scan.spaces();
    let time = scan.time()?;
    let offset = scan.offset()?;
    let date =
        jiff::civil::Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let at = date.to_datetime(time);
    Some(offset.map_or(Moment::Local(at), |offset| Moment::Zoned(at, offset)))
}

/// A time of day with an optional zone: the second half of "2026-04-22 03:25 ~ 04:00 +08:00".
pub(crate) fn read_time_of_day(text: &str) -> Option<(Time, Option<Offset>)> {
    let folded: String = text.chars().map(fold_char).collect();
    let mut scan = Scan { rest: folded.trim() };
    let time = scan.time()?;
    Some((time, scan.offset()?))
}

struct Scan<'a> {
    rest: &'a str,
}

impl Scan<'_> {
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if digits < least {
            return None;
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok()
    }

    fn any(&mut self, choices: &[&str]) -> Option<()> {
        let rest = choices.iter().find_map(|choice| self.rest.strip_prefix(choice))?;
        self.rest = rest;
        Some(())
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn time(&mut self) -> Option<Time> {
        let afternoon = self.any(&["下午", "晚上"]).is_some();
        if !afternoon {
            self.any(&["上午", "凌晨", "早上"]);
        }
        let mut hour = self.number(1, 2)?;
        if afternoon && hour < 12 {
            hour += 12;
        }
        self.any(&[":", "点", "时"])?;
        let minute = self.number(2, 2).unwrap_or(0);
        self.any(&["分"]);
        let mut second = 0;
        let mut nanos = 0;
        if self.any(&[":"]).is_some() {
            second = self.number(2, 2)?;
            if self.any(&[".", ","]).is_some() {
                let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count().min(9);
                let fraction = self.number(1, 9)?;
                nanos = fraction * 10_u32.pow(u32::try_from(9 - digits).ok()?);
            }
        } else if let Some(number) = self.number(1, 2) {
            second = number;
            self.any(&["秒"]);
        }
        Time::new(
            i8::try_from(hour).ok()?,
            i8::try_from(minute).ok()?,
            i8::try_from(second).ok()?,
            i32::try_from(nanos).ok()?,
        )
        .ok()
    }

    /// The zone up to the end of the text: none, `Z`, `+08:00`, `+0800`, `(UTC+8)`. A name such as CST is ambiguous
    /// and not a zone.
    #[expect(clippy::option_option, reason = "outer: readable at all; inner: a zone is given")]
    fn offset(&mut self) -> Option<Option<Offset>> {
        let zone = self.rest.trim().trim_matches(['(', ')']).trim();
        if zone.is_empty() {
            return Some(None);
        }
        if matches!(zone, "z" | "utc" | "gmt") {
            return Some(Some(Offset::UTC));
        }
        let zone = zone.strip_prefix("utc").or_else(|| zone.strip_prefix("gmt")).unwrap_or(zone);
        let sign = if zone.starts_with('-') { -1 } else { 1 };
        let mut scan = Scan { rest: zone.strip_prefix(['+', '-'])? };
        let hours = scan.number(1, 2)?;
        scan.any(&[":"]);
        let minutes = scan.number(2, 2).unwrap_or(0);
        if !scan.rest.is_empty() || minutes > 59 {
            return None;
        }
        let seconds = i64::from(hours) * 3600 + i64::from(minutes) * 60;
        Offset::try_from(SignedDuration::from_secs(sign * seconds)).ok().map(Some)
    }
}

impl Field for Moment {
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self> {
        let is_text = |moment: &Self| matches!(moment, Self::Text(_));
        reader.readable(value, Self::parse, is_text, "a time", "2024-05-11T13:47:50+08:00")
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
    fn times_are_read_in_every_form_that_tickets_use() {
        for (text, expected) in [
            ("2024-05-11T13:47:50+00:00", "2024-05-11T13:47:50+00:00"),
            ("2024-05-11T13:47:50Z", "2024-05-11T13:47:50+00:00"),
            ("2024-12-04T09:14:28.000+0800", "2024-12-04T09:14:28+08:00"),
            ("2024/12/03 21:21:13.215 +08:00", "2024-12-03T21:21:13.215+08:00"),
            ("2026-04-22 03:25", "2026-04-22T03:25:00"),
            ("2026-04-22 15:04 (UTC+8)", "2026-04-22T15:04:00+08:00"),
            ("2024年3月2日下午3点", "2024-03-02T15:00:00"),
            ("2024年3月2日 15:04:05", "2024-03-02T15:04:05"),
            ("1767679200", "2026-01-06T06:00:00+00:00"),
            ("1767679200000", "2026-01-06T06:00:00+00:00"),
            ("Wed, 22 Apr 2026 03:25:00 +0800", "2026-04-22T03:25:00+08:00"),
        ] {
            let moment = Moment::parse(text);
            assert_eq!(moment.to_string(), expected, "{text}");
            assert!(!matches!(moment, Moment::Text(_)), "{text}");
            assert_eq!(Moment::parse(expected), moment, "{text} is stable");
        }
    }

    #[test]
    fn what_is_not_a_time_stays_as_it_stood() {
        for text in ["昨天", "2024-13-40 99:99", "2026-04-22 15:04 CST", "12", "~", "2024-05-11"] {
            assert_eq!(Moment::parse(text), Moment::Text(text.to_owned()));
        }
    }
}
