//! The JSON Schema (draft 2020-12) of a canonical case, built from the same declarations that read and write it.

use crate::case::{Case, SkillConclusion};
use crate::json::Json;
use crate::record::Field;

/// The schema of a case file as canonical text.
///
/// It describes what hindcast writes. Reading accepts more ([`crate::read`]).
#[must_use]
pub fn json_schema() -> String {
    let Json::Object(case) = Case::schema() else { unreachable!("a record's schema is an object") };
    let mut members = vec![
        ("$schema".to_owned(), Json::text("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), Json::text("hindcast case")),
    ];
    members.extend(case);
    Json::Object(members).to_text()
}

/// The schema of a `skill_conclusion` as canonical text: what a skill is asked to answer with.
#[must_use]
pub fn skill_conclusion_schema() -> String {
    SkillConclusion::schema().to_text()
}

/// The schema of a record: all fields are required, since an empty value means "not known yet".
pub(crate) fn object(doc: &[&str], fields: Vec<(&str, &[&str], Json)>) -> Json {
    let required = fields.iter().map(|(name, ..)| Json::text(*name)).collect();
    let properties = fields.into_iter().map(|(name, doc, schema)| (name.to_owned(), described(doc, schema))).collect();
    described(
        doc,
        Json::object([
            ("type", Json::text("object")),
            ("additionalProperties", Json::Bool(false)),
            ("required", Json::Array(required)),
            ("properties", Json::Object(properties)),
        ]),
    )
}

pub(crate) fn string() -> Json {
    Json::object([("type", Json::text("string"))])
}

pub(crate) fn one_of(values: impl Iterator<Item = &'static str>) -> Json {
    Json::object([("enum", Json::Array(values.map(Json::text).collect()))])
}

fn described(doc: &[&str], schema: Json) -> Json {
    let Json::Object(mut members) = schema else { return schema };
    let text = doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        members.retain(|(key, _)| key != "description");
        members.insert(0, ("description".to_owned(), Json::text(text)));
    }
    Json::Object(members)
}

impl<T: Field> Field for Vec<T> {
    fn read(value: &jsonc_parser::ast::Value<'_>, reader: &mut crate::reader::Reader) -> Option<Self> {
        reader.list(value)
    }

    fn write(&self, writer: &mut crate::writer::Writer) {
        writer.list(self);
    }

    fn schema() -> Json {
        Json::object([("type", Json::text("array")), ("items", T::schema())])
    }
}

impl Field for String {
    fn read(value: &jsonc_parser::ast::Value<'_>, reader: &mut crate::reader::Reader) -> Option<Self> {
        reader.prose(value)
    }

    fn write(&self, writer: &mut crate::writer::Writer) {
        writer.text(self);
    }

    fn schema() -> Json {
        string()
    }

    fn split(text: &str) -> Vec<&str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
    }
}
