//! JSON without what no ticket needs: most of an export of Jira is avatars, empty fields and links to itself.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Keys whose values are passed over without being built.
const NEEDLESS: [&str; 14] = [
    "avatarUrls",
    "iconUrl",
    "statusCategory",
    "updateAuthor",
    "votes",
    "watches",
    "worklog",
    "operations",
    "editmeta",
    "schema",
    "versionedRepresentations",
    "transitions",
    "timetracking",
    "aggregateprogress",
];

/// Reads a JSON value; entries of objects that are null or [`NEEDLESS`] are left out.
pub(crate) fn read_lean(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Lean.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

struct Lean;

impl<'de> DeserializeSeed<'de> for Lean {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Lean {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<std::borrow::Cow<'de, str>>()? {
            if NEEDLESS.contains(&&*key) {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = entries.next_value_seed(Self)?;
            if !value.is_null() {
                map.insert(key.into_owned(), value);
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needless_is_left_out() {
        let text = r#"{"a":null,"avatarUrls":{"x":[1]},"b":[null,{"c":1.5,"d":-2,"e":"\u00e9","f":true}]}"#;
        let value = read_lean(text.as_bytes()).expect("valid");
        assert_eq!(value.to_string(), r#"{"b":[null,{"c":1.5,"d":-2,"e":"é","f":true}]}"#);
        assert!(read_lean(b"{} x").is_err() && read_lean(b"{").is_err());
        assert!(read_lean("[".repeat(1000).as_bytes()).is_err(), "too deep");
    }
}
