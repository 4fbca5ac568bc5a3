//! Canonical JSON: the schema's order, two-space indent, unknown fields where they stood.

use std::fmt::Write as _;

use crate::json::Json;
use crate::record::{Extras, Field};

/// Builds canonical JSON text.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    out: String,
    depth: usize,
}

impl Writer {
    /// The text of one value, with a newline at the end.
    pub(crate) fn document(value: &impl Field) -> String {
        let mut writer = Self { out: String::with_capacity(4096), depth: 0 };
        value.write(&mut writer);
        writer.out.push('\n');
        writer.out
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.out.push('"');
        // Runs without special characters are copied whole.
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= b' ' && byte != b'"' && byte != b'\\' && byte != 0x7f {
                continue;
            }
            self.out.push_str(&text[plain..at]);
            plain = at + 1;
            match byte {
                b'"' => self.out.push_str("\\\""),
                b'\\' => self.out.push_str("\\\\"),
                b'\n' => self.out.push_str("\\n"),
                b'\r' => self.out.push_str("\\r"),
                b'\t' => self.out.push_str("\\t"),
                _ => write!(self.out, "\\u{byte:04x}").expect("writing to a string does not fail"),
            }
        }
        self.out.push_str(&text[plain..]);
        self.out.push('"');
    }

    pub(crate) fn list<T: Field>(&mut self, items: &[T]) {
        self.bracketed('[', ']', items, |writer, item| item.write(writer));
    }

    /// An object of known fields; `write_fields` calls [`ObjectWriter::field`] in the schema's order.
    pub(crate) fn object(&mut self, extras: &Extras, write_fields: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.out.push('{');
        self.depth += 1;
        let mut object = ObjectWriter { writer: self, extras, next: 0, empty: true };
        object.extras_after(None);
        write_fields(&mut object);
        self.depth -= 1;
        self.line();
        self.out.push('}');
    }

    pub(crate) fn json(&mut self, value: &Json) {
        match value {
            Json::Null => self.out.push_str("null"),
            Json::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Json::Number(digits) => self.out.push_str(digits),
            Json::Text(text) => self.text(text),
            Json::Array(items) => self.bracketed('[', ']', items, Self::json),
            Json::Object(members) => self.bracketed('{', '}', members, |writer, (key, value)| {
                writer.text(key);
                writer.out.push_str(": ");
                writer.json(value);
            }),
        }
    }

    fn bracketed<T>(&mut self, open: char, close: char, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.out.push(open);
        if !items.is_empty() {
            self.depth += 1;
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    self.out.push(',');
                }
                self.line();
                write(self, item);
            }
            self.depth -= 1;
            self.line();
        }
        self.out.push(close);
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }
}

/// Writes the members of one object and puts unknown fields back behind the field that they followed.
pub(crate) struct ObjectWriter<'a> {
    writer: &'a mut Writer,
    extras: &'a Extras,
    next: usize,
    empty: bool,
}

impl ObjectWriter<'_> {
    pub(crate) fn field(&mut self, name: &str, value: &impl Field) {
        self.key(name);
        value.write(self.writer);
        self.extras_after(Some(self.next));
        self.next += 1;
    }

    fn extras_after(&mut self, field: Option<usize>) {
        let extras = self.extras;
        for extra in extras.after(field) {
            self.key(&extra.key);
            self.writer.json(&extra.value);
        }
    }

    fn key(&mut self, name: &str) {
        if !self.empty {
            self.writer.out.push(',');
        }
        self.empty = false;
        self.writer.line();
        self.writer.text(name);
        self.writer.out.push_str(": ");
    }
}

impl Json {
    /// The value as canonical text: two-space indent, newline at the end.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut writer = Writer::default();
        writer.json(self);
        writer.out.push('\n');
        writer.out
    }
}
