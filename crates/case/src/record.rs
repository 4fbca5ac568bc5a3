//! How one object of the schema is declared once and read, written and described from that declaration.

use jsonc_parser::ast::Value;

use crate::json::Json;
use crate::reader::Reader;
use crate::writer::Writer;

/// A value of the schema: how it is read (leniently), written (canonically) and described (JSON Schema).
pub(crate) trait Field: Sized {
    /// The value that `value` means; none when it is empty or can't be used. What was changed or can't be used
    /// is reported to `reader`.
    fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Self>;

    /// Appends the canonical form.
    fn write(&self, writer: &mut Writer);

    /// Its JSON Schema.
    fn schema() -> Json;

    /// How many items a string holds where a list of this type belongs; the default is "one".
    fn split(text: &str) -> Vec<&str> {
        vec![text]
    }
}

/// Fields that the schema doesn't know, each with the known field that it followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extras(pub(crate) Vec<Extra>);

/// One unknown field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extra {
    /// Index of the schema's field before it; none at the start of the object.
    pub(crate) after: Option<usize>,
    pub(crate) key: String,
    pub(crate) value: Json,
}

impl Extras {
    pub(crate) fn after(&self, field: Option<usize>) -> impl Iterator<Item = &Extra> {
        self.0.iter().filter(move |extra| extra.after == field)
    }
}

/// Declares an object of the schema. Field order is the schema's order; doc comments become descriptions.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $($(#[doc = $field_doc:literal])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
            /// Fields that the schema doesn't know: kept in place and written back.
            pub extras: $crate::record::Extras,
        }

        impl $crate::record::Field for $name {
            fn read(value: &jsonc_parser::ast::Value<'_>, reader: &mut $crate::reader::Reader) -> Option<Self> {
                let mut record = Self::default();
                let mut values = reader.object(value, &[$(stringify!($field)),*], &mut record.extras)?.into_iter();
                $(record.$field = reader.field(stringify!($field), values.next().flatten());)*
                Some(record)
            }

            fn write(&self, writer: &mut $crate::writer::Writer) {
                writer.object(&self.extras, |object| {
                    $(object.field(stringify!($field), &self.$field);)*
                });
            }

            fn schema() -> $crate::json::Json {
                $crate::schema::object(
                    &[$($doc),*],
                    vec![$((stringify!($field), &[$($field_doc),*], <$type as $crate::record::Field>::schema()),)*],
                )
            }
        }
    };
}

pub(crate) use record;
