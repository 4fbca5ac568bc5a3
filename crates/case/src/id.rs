//! Ids of incidents.

use std::fmt;

use jsonc_parser::ast::Value;

use crate::diagnostic::Code;
use crate::fold::fold_char;
use crate::json::Json;
use crate::reader::Reader;
use crate::record::Field;
use crate::vocabulary::Source;
use crate::writer::Writer;

/// The id of an incident: upper-case letters and digits, a dash, a number, as `GTOC-1234`.
///
/// The shape makes it safe as a file name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IncidentId(String);

impl IncidentId {
    /// Parses an id; case, width and the separator (`gtoc 1234`, `GTOC_1234`, `#`) are mended.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let folded: String = text.trim().chars().map(|c| fold_char(c).to_ascii_uppercase()).collect();
        let digits_at = folded
            .rfind(|c: char| !c.is_ascii_digit())
            .map_or(0, |at| at + folded[at..].chars().next().map_or(0, char::len_utf8));
        let (prefix, number) = folded.split_at(digits_at);
        let prefix = prefix.trim_end_matches([' ', '-', '_', '#', '–', '—']);
        let well_formed = prefix.starts_with(|c: char| c.is_ascii_uppercase())
            && prefix.len() <= 32
            && prefix.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            && (1..=20).contains(&number.len());
        well_formed.then(|| Self(format!("{prefix}-{number}")))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The source that gives such ids, as far as the id tells: `GTOC-…` is Jira, `TICKET-…` is PingKai, all else is
    /// public unless a case says otherwise.
    #[must_use]
    pub fn source(&self) -> Source {
        self.own_source().unwrap_or(Source::Github)
    }

    /// Whether `source` can give such an id. Other projects of the same Jira have keys of their own.
    #[must_use]
    pub fn fits(&self, source: Source) -> bool {
        self.own_source().is_none_or(|own| own == source)
    }

    fn own_source(&self) -> Option<Source> {
        match self.0.split('-').next() {
            Some("GTOC") => Some(Source::JiraGtoc),
            Some("TICKET") => Some(Source::Pingkai),
            _ => None,
        }
    }
}

impl fmt::Display for IncidentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Field for IncidentId {
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(value)?;
        let Some(id) = Self::parse(&text) else {
            reader
                .error(Code::MalformedIncidentId, format!("{text:?} is not an incident id"))
                .help("expected upper-case letters, a dash and a number: GTOC-1234, TICKET-8412, TIKV-18274");
            return None;
        };
        if id.0 != text {
            reader.normalised(&text, &id.0);
        }
        Some(id)
    }

    fn write(&self, writer: &mut Writer) {
        writer.text(&self.0);
    }

    fn schema() -> Json {
        Json::object([("type", Json::text("string")), ("pattern", Json::text("^[A-Z][A-Z0-9]*-[0-9]+$"))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_mended_or_refused() {
        for text in ["GTOC-1234", "gtoc-1234", "gtoc 1234", "GTOC_1234", "ＧＴＯＣ－1234", "GTOC1234"] {
            assert_eq!(IncidentId::parse(text).map(|id| id.to_string()).as_deref(), Some("GTOC-1234"), "{text}");
        }
        for text in ["", "1234", "GTOC-", "../GTOC-1", "GTOC-1/..", "事件-12", "a b-1"] {
            assert_eq!(IncidentId::parse(text), None, "{text}");
        }
    }
}
