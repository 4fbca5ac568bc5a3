//! Addresses of dashboards and diagnosis pages.

use jsonc_parser::ast::Value;

use crate::json::Json;
use crate::reader::Reader;
use crate::record::Field;
use crate::schema;
use crate::writer::Writer;

/// An address as the ticket carries it; never opened by this crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link(pub String);

impl Field for Link {
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(value).map(Self)
    }

    fn write(&self, writer: &mut Writer) {
        writer.text(&self.0);
    }

    fn schema() -> Json {
        schema::string()
    }

    fn split(text: &str) -> Vec<&str> {
        // A comma can be part of an address, but not one with a space behind it.
        text.split_whitespace()
            .map(|part| part.trim_matches([',', ';', '，', '；', '、']))
            .filter(|part| !part.is_empty())
            .collect()
    }
}
