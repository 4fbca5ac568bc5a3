//! Addresses in texts, and what those of Clinic and Grafana say of the incident.

use hindcast_case::{Moment, Span};
use jiff::civil::DateTime;
use jiff::{Timestamp, ToSpan};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::stamp::Stamp;

/// Addresses longer than this are cut off by every browser and proxy; what lies behind is not looked at.
const MAX_ADDRESS: usize = 16 * 1024;

/// Where the web addresses of a text stand, in order. Neither markup nor punctuation around them is part of them.
#[must_use]
pub(crate) fn addresses_in(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(&text.as_bytes()[from..], b"://") {
        let slashes = from + found;
        let scheme = ["https", "http"].iter().find(|scheme| text[..slashes].ends_with(**scheme));
        from = slashes + 3;
        if let Some(scheme) = scheme {
            let start = slashes - scheme.len();
            // An address that was cut for its length can end inside the next one's scheme.
            let is_free = spans.last().is_none_or(|last: &Span| last.end <= start);
            let end = from + address_len(&text[from..]);
            if end > from && is_free {
                spans.push(Span::new(start, end));
                from = end;
            }
        }
    }
    spans
}

/// How much of the text, from behind `://`, belongs to an address.
fn address_len(text: &str) -> usize {
    let ends = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\' | '^')
            || matches!(c, '\u{2000}'..='\u{206f}' | '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}' | '\u{feff}')
    };
    let bounded = &text[..text.floor_char_boundary(MAX_ADDRESS)];
    let mut open = [0_i32; 3];
    let end = bounded.find(|c: char| {
        let (kind, step) = match c {
            '(' => (0, 1),
            ')' => (0, -1),
            '[' => (1, 1),
            ']' => (1, -1),
            '{' => (2, 1),
            '}' => (2, -1),
            _ => return ends(c),
        };
        open[kind] += step;
        // What closes more brackets than the address opened belongs to the sentence.
        open[kind] < 0
    });
    bounded[..end.unwrap_or(bounded.len())].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~']).len()
}

/// What an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// PingCAP Clinic: a cluster's page, with a time range in seconds.
    Clinic,
    /// The Grafana inside Clinic.
    ClinicGrafana,
    /// Any other Grafana.
    Grafana,
}

/// What an address of Clinic or Grafana says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dashboard {
    /// What it leads to.
    pub site: Site,
    /// The cluster that it shows.
    pub cluster_id: Option<String>,
    /// The time range that it shows.
    pub range: Option<(RangeEnd, RangeEnd)>,
}

/// One end of a dashboard's time range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RangeEnd {
    /// A moment.
    At(Timestamp),
    /// A moment relative to when the address was written, as `now-3h` or `now/d`.
    Relative(String),
}

/// Reads an address of Clinic or Grafana; none for all others.
#[must_use]
pub(crate) fn read_dashboard(address: &str) -> Option<Dashboard> {
    let rest = address.split_once("://")?.1;
    let rest = &rest[..rest.floor_char_boundary(MAX_ADDRESS)];
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(host_end);
    let host = host.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
    let is_clinic = host.starts_with("clinic.pingcap.com") || host.starts_with("clinic-") && host.contains(".pingcap.");
    let path = rest.split(['?', '#']).next()?;
    let is_grafana = ["/d/", "/d-solo/", "/dashboard/", "/explore", "/goto/"].iter().any(|part| path.contains(part))
        && (host.contains("grafana")
            || path.contains("grafana")
            || path.starts_with("/d")
            || path.starts_with("/explore"));
    let site = match (is_clinic, is_grafana) {
        (true, true) => Site::ClinicGrafana,
        (true, false) => Site::Clinic,
        (false, true) => Site::Grafana,
        (false, false) => return None,
    };
    // Clinic's query stands inside the fragment.
    let parameters: Vec<(String, String)> = rest
        .split(['?', '#'])
        .skip(1)
        .flat_map(|query| query.split('&'))
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (decoded(key), decoded(value)))
        .collect();
    let value = |key: &str| parameters.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let of_path = rest.split_once("/clusters/").map(|(_, tail)| tail);
    let cluster = of_path.or_else(|| value("var-tidb_cluster")).or_else(|| value("var-cluster_id"));
    let cluster_id = cluster.map(digits).filter(|id| (15..=20).contains(&id.len())).map(str::to_owned);
    let range = match (value("from").and_then(range_end), value("to").and_then(range_end)) {
        (Some(from), Some(to)) => Some((from, to)),
        _ => value("left").or_else(|| value("panes")).and_then(explored_range),
    };
    Some(Dashboard { site, cluster_id, range })
}

/// A parameter as it was meant; people paste addresses that were encoded twice.
fn decoded(text: &str) -> String {
    let mut text = text.replace("&amp;", "&");
    for _ in 0..2 {
        if !text.contains('%') {
            break;
        }
        text = percent_decode_str(&text).decode_utf8_lossy().into_owned();
    }
    text
}

fn digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

fn range_end(text: &str) -> Option<RangeEnd> {
    let text = text.trim();
    if text.starts_with("now") {
        return Some(RangeEnd::Relative(text.to_owned()));
    }
    match Moment::parse(text) {
        Moment::Zoned(at, offset) => offset.to_timestamp(at).ok().map(RangeEnd::At),
        // Grafana writes its dates in UTC where it leaves the zone out.
        Moment::Local(at) => jiff::tz::Offset::UTC.to_timestamp(at).ok().map(RangeEnd::At),
        Moment::Empty | Moment::Text(_) => None,
    }
}

/// The range of Grafana's Explore: `left={"range":{"from":…,"to":…}}`, the older `left=["now-1h","now",…]`, and
/// `panes={"id":{"range":…}}`.
fn explored_range(json: &str) -> Option<(RangeEnd, RangeEnd)> {
    let value: Value = serde_json::from_str(json).ok()?;
    let of_pair = |from: &Value, to: &Value| Some((range_end(&as_text(from)?)?, range_end(&as_text(to)?)?));
    if let Some(list) = value.as_array() {
        return of_pair(list.first()?, list.get(1)?);
    }
    let with_range = |pane: &Value| {
        let range = pane.get("range")?;
        of_pair(range.get("from")?, range.get("to")?)
    };
    with_range(&value).or_else(|| value.as_object()?.values().find_map(with_range))
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl RangeEnd {
    /// The moment, for an address that was written at `anchor`. `is_end`: rounding goes to the end of the unit, as
    /// Grafana does for the right end of a range.
    #[must_use]
    pub(crate) fn resolve(&self, anchor: Stamp, end: Edge) -> Option<Timestamp> {
        match self {
            Self::At(at) => Some(*at),
            Self::Relative(text) => relative(text, anchor, end),
        }
    }
}

/// Which end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The left one.
    Start,
    /// The right one.
    End,
}

/// `now`, then any number of `-3h` and `+5m`, then `/d`.
fn relative(text: &str, anchor: Stamp, edge: Edge) -> Option<Timestamp> {
    let mut at = anchor.civil();
    let mut rest = text.strip_prefix("now")?;
    while let Some(sign) = rest.chars().next() {
        if sign == '/' {
            at = rounded(at, rest[1..].chars().next()?, edge)?;
            rest = &rest[2..];
            continue;
        }
        let direction = match sign {
            '-' => -1,
            // A plus sign in a query means a space.
            '+' | ' ' => 1,
            _ => return None,
        };
        let count = digits(&rest[1..]);
        let number = direction * if count.is_empty() { 1 } else { count.parse::<i64>().ok()? };
        let unit = rest[1 + count.len()..].chars().next()?;
        let span = match unit {
            's' => 1.second(),
            'm' => 1.minute(),
            'h' => 1.hour(),
            'd' => 1.day(),
            'w' => 1.week(),
            'M' => 1.month(),
            'y' => 1.year(),
            _ => return None,
        };
        at = at.checked_add(span.checked_mul(number).ok()?).ok()?;
        rest = &rest[1 + count.len() + 1..];
    }
    anchor.offset().to_timestamp(at).ok()
}

fn rounded(at: DateTime, unit: char, edge: Edge) -> Option<DateTime> {
    let floor = match unit {
        'm' => at.date().at(at.hour(), at.minute(), 0, 0),
        'h' => at.date().at(at.hour(), 0, 0, 0),
        'd' => at.date().at(0, 0, 0, 0),
        'w' => {
            at.date().checked_sub(i64::from(at.date().weekday().to_monday_zero_offset()).days()).ok()?.at(0, 0, 0, 0)
        }
        'M' => at.date().first_of_month().at(0, 0, 0, 0),
        _ => return None,
    };
    let step = match unit {
        'm' => 1.minute(),
        'h' => 1.hour(),
        'd' => 1.day(),
        'w' => 1.week(),
        _ => 1.month(),
    };
    match edge {
        Edge::Start => Some(floor),
        Edge::End => floor.checked_add(step).ok()?.checked_sub(1.second()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        addresses_in(text).into_iter().map(|span| &text[span.start..span.end]).collect()
    }

    #[test]
    fn an_address_ends_where_its_sentence_goes_on() {
        for (text, expected) in [
            ("see https://a.example/d/x?from=1&to=2, then", "https://a.example/d/x?from=1&to=2"),
            ("监控 https://a.example/d/x?to=2，看一下", "https://a.example/d/x?to=2"),
            ("监控https://a.example/d/x?to=2。", "https://a.example/d/x?to=2"),
            ("(https://a.example/d/x(1)?to=2)", "https://a.example/d/x(1)?to=2"),
            ("|https://a.example/d/x|next|", "https://a.example/d/x"),
            ("<https://a.example/d/x>", "https://a.example/d/x"),
            ("*https://a.example/d/x*.", "https://a.example/d/x"),
            ("https://g/explore?left={a:[1,2]} end", "https://g/explore?left={a:[1,2]}"),
            (
                "https://clinic.pingcap.com/portal/#/orgs/1/clusters/2?from=1767679200看",
                "https://clinic.pingcap.com/portal/#/orgs/1/clusters/2?from=1767679200",
            ),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        assert!(found("grpc://x, http:// , ://").is_empty());
        let endless = "http://".repeat(3 * MAX_ADDRESS);
        let spans = addresses_in(&endless);
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "addresses don't overlap");
        assert_eq!(found("http://a/1 http://b/2").len(), 2);
    }

    fn window(address: &str) -> (String, String) {
        let anchor = Stamp::read("2026-01-06T15:30:00+08:00", jiff::tz::Offset::UTC).expect("valid").stamp;
        let (from, to) = read_dashboard(address).expect(address).range.expect(address);
        let text = |end: RangeEnd, edge| end.resolve(anchor, edge).expect(address).to_string();
        (text(from, Edge::Start), text(to, Edge::End))
    }

    #[test]
    fn dashboards_say_when_and_which_cluster() {
        let clinic =
            "https://clinic.pingcap.com/portal/#/orgs/123/clusters/7460723698814898616?from=1767679200&to=1767682800";
        let read = read_dashboard(clinic).expect("a link of Clinic");
        assert_eq!((read.site, read.cluster_id.as_deref()), (Site::Clinic, Some("7460723698814898616")));
        assert_eq!(window(clinic), ("2026-01-06T06:00:00Z".into(), "2026-01-06T07:00:00Z".into()));
        let inner = "https://clinic.pingcap.com.cn/grafana/d/abc/tikv?orgId=1&var-tidb_cluster=10000000000000000001&var-instance=All&from=1686617500560&to=1686619338092";
        let read = read_dashboard(inner).expect("a link of Clinic's Grafana");
        assert_eq!((read.site, read.cluster_id.as_deref()), (Site::ClinicGrafana, Some("10000000000000000001")));
        assert_eq!(window(inner), ("2023-06-13T00:51:40.56Z".into(), "2023-06-13T01:22:18.092Z".into()));
        assert_eq!(read_dashboard("https://github.com/tikv/tikv/issues/1"), None);
    }

    #[test]
    fn relative_ranges_are_anchored_at_the_comment() {
        for (query, from, to) in [
            ("d/a/b?from=now-3h&to=now", "2026-01-06T04:30:00Z", "2026-01-06T07:30:00Z"),
            ("d/a/b?from=now-1d/d&to=now-1d/d", "2026-01-04T16:00:00Z", "2026-01-05T15:59:59Z"),
            ("d/a/b?from=now/d&to=now", "2026-01-05T16:00:00Z", "2026-01-06T07:30:00Z"),
            (
                "d-solo/a/b?from=2026-01-06T06:00:00.000Z&to=2026-01-06T07:00:00.000Z",
                "2026-01-06T06:00:00Z",
                "2026-01-06T07:00:00Z",
            ),
            (
                "explore?left=%7B%22range%22:%7B%22from%22:%22now-1h%22,%22to%22:%22now%22%7D%7D",
                "2026-01-06T06:30:00Z",
                "2026-01-06T07:30:00Z",
            ),
            ("explore?left=%5B%22now-1h%22,%22now%22%5D", "2026-01-06T06:30:00Z", "2026-01-06T07:30:00Z"),
            (
                "explore?panes=%7B%22x%22:%7B%22range%22:%7B%22from%22:%221767679200000%22,%22to%22:%221767682800000%22%7D%7D%7D",
                "2026-01-06T06:00:00Z",
                "2026-01-06T07:00:00Z",
            ),
            (
                "explore?left=%257B%2522range%2522:%257B%2522from%2522:%2522now-1h%2522,%2522to%2522:%2522now%2522%257D%257D",
                "2026-01-06T06:30:00Z",
                "2026-01-06T07:30:00Z",
            ),
        ] {
            assert_eq!(
                window(&format!("https://grafana.example/{query}")),
                (from.to_owned(), to.to_owned()),
                "{query}"
            );
        }
    }

    #[test]
    fn broken_ranges_are_none() {
        for query in [
            "from=now-&to=now",
            "from=x&to=y",
            "from=now-99999999999999y&to=now",
            "left={",
            "left=[]",
            "from=now/&to=now",
        ] {
            let read = read_dashboard(&format!("https://grafana.example/d/a/b?{query}")).expect("a Grafana");
            let anchor = Stamp::read("2026-01-06T15:30:00+08:00", jiff::tz::Offset::UTC).expect("valid").stamp;
            let start = read.range.and_then(|(from, _)| from.resolve(anchor, Edge::Start));
            assert_eq!(start, None, "{query}");
        }
    }
}
