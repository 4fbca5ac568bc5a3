//! JSON that is carried along untouched: fields that the schema doesn't know.

use jsonc_parser::ast::{ObjectPropName, Value};

/// A JSON value that keeps the order of its keys and the digits of its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its digits stood in the text.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order of the text, duplicate keys included.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A string value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An object with these members in this order.
    pub fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

impl From<&Value<'_>> for Json {
    fn from(value: &Value<'_>) -> Self {
        match value {
            Value::NullKeyword(_) => Self::Null,
            Value::BooleanLit(lit) => Self::Bool(lit.value),
            Value::NumberLit(lit) => Self::Number(lit.value.to_owned()),
            Value::StringLit(lit) => Self::Text(lit.value.to_string()),
            Value::Array(array) => Self::Array(array.elements.iter().map(Self::from).collect()),
            Value::Object(object) => Self::Object(
                object.properties.iter().map(|p| (prop_name(&p.name).to_owned(), Self::from(&p.value))).collect(),
            ),
        }
    }
}

/// The key of an object's member.
pub(crate) fn prop_name<'a>(name: &'a ObjectPropName<'_>) -> &'a str {
    match name {
        ObjectPropName::String(lit) => &lit.value,
        ObjectPropName::Word(lit) => lit.value,
    }
}
