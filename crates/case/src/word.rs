//! Words of a vocabulary that the schema leaves open.

use jsonc_parser::ast::Value;

use crate::diagnostic::Code;
use crate::fold::is_placeholder;
use crate::json::Json;
use crate::near::nearest;
use crate::reader::Reader;
use crate::record::Field;
use crate::schema;
use crate::vocabulary::{Vocabulary, split_words};
use crate::writer::Writer;

/// A word of `T` where the meaning is certain, else the text as it stood. The user's schema doesn't close these
/// fields, so an unknown word is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Worded<T> {
    /// Not known yet.
    #[default]
    Empty,
    /// A word of the vocabulary.
    Known(T),
    /// Something else.
    Text(String),
}

impl<T: Vocabulary> Worded<T> {
    /// The word of the vocabulary, if it is one.
    #[must_use]
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(word) => Some(*word),
            Self::Empty | Self::Text(_) => None,
        }
    }

    /// The value as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Known(word) => word.as_str(),
            Self::Text(text) => text,
        }
    }
}

impl<T> From<Option<T>> for Worded<T> {
    fn from(word: Option<T>) -> Self {
        word.map_or(Self::Empty, Self::Known)
    }
}

impl<T: Vocabulary> Field for Worded<T> {
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(value)?;
        if let Some(word) = T::recognise(&text) {
            if word.as_str() != text {
                reader.normalised(&text, word.as_str());
            }
            return Some(Self::Known(word));
        }
        if is_placeholder(&text) {
            reader.emptied(&text);
            return None;
        }
        let help = match nearest(&text, T::ALL.iter().map(|word| word.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known words: {}", T::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", ")),
        };
        reader
            .warning(Code::UnknownWord, format!("{text:?} is not a known {}; kept as it stands", T::WHAT))
            .help(&help);
        Some(Self::Text(text))
    }

    fn write(&self, writer: &mut Writer) {
        writer.text(self.as_str());
    }

    fn schema() -> Json {
        let words = T::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", ");
        let Json::Object(mut members) = schema::string() else { unreachable!("a string's schema is an object") };
        members.push(("$comment".to_owned(), Json::Text(format!("known words: {words}"))));
        Json::Object(members)
    }

    fn split(text: &str) -> Vec<&str> {
        split_words(text)
    }
}
