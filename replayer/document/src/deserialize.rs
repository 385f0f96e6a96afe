//! Deserialisation of values with serde. A mistake is reported at the innermost value or key that contains it.

use std::collections::btree_map::IntoIter;

use serde::de::value::{F64Deserializer, MapAccessDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_spanned::de::{SpannedDeserializer, is_spanned};

use crate::source::DocumentError;
use crate::source::{Checked, Place, Source};
use crate::value::{Located, Table, Value};

impl Source {
    /// The file, without overrides, as the schema `T` describes it.
    ///
    /// # Errors
    /// If the file is not TOML, or not as the schema asks.
    pub fn read<T: DeserializeOwned>(&self) -> Checked<T> {
        self.parse(&self.file)?.read().map_err(|error| error.shown_in(self))
    }
}

impl Located {
    /// Reads the value as the schema `T` describes it.
    ///
    /// # Errors
    /// If the value is not as the schema asks.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, DocumentError> {
        T::deserialize(self)
    }
}

/// The entries of a table that are still to be read.
struct Entries {
    rest: IntoIter<String, (Place, Located)>,
    /// The value of the key that was read last.
    value: Option<Located>,
}

impl Entries {
    fn of(table: Table) -> Self {
        Self { rest: table.entries.into_iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = DocumentError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DocumentError> {
        let Some((key, (place, value))) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Located::new(key, place)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DocumentError> {
        let value = self.value.take().ok_or_else(|| DocumentError::custom("a value is read before its key"))?;
        let place = value.place.clone();
        seed.deserialize(value).map_err(|error| error.or_at(place))
    }
}

impl<'de> Deserializer<'de> for Located {
    type Error = DocumentError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        let read = match self.value {
            Value::Text(text) => visitor.visit_string(text),
            Value::Whole(number) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => visitor.visit_i64(number),
                (_, Ok(number)) => visitor.visit_u64(number),
                _ => visitor.visit_i128(number),
            },
            Value::Number(number) => visitor.visit_f64(number),
            Value::Quantity(number) => {
                let in_base_unit: F64Deserializer<DocumentError> = number.into_deserializer();
                visitor.visit_newtype_struct(in_base_unit)
            }
            Value::Flag(flag) => visitor.visit_bool(flag),
            Value::List(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter())),
            Value::Table(table) => visitor.visit_map(Entries::of(table)),
        };
        read.map_err(|error: DocumentError| error.or_at(self.place))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        let read = match self.value {
            Value::Text(text) => visitor.visit_enum(text.into_deserializer()),
            Value::Table(table) => match table.entries.len() {
                0 => Err(DocumentError::custom("wanted exactly 1 element, found 0 elements")),
                1 => visitor.visit_enum(MapAccessDeserializer::new(Entries::of(table))),
                _ => {
                    let names: Vec<&str> = table.entries.keys().map(String::as_str).collect();
                    Err(DocumentError::custom(format!("there are {}, and only one is possible", names.join(" and "))))
                }
            },
            _ => Err(DocumentError::custom("wanted string or table")),
        };
        read.map_err(|error: DocumentError| error.or_at(self.place))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        if is_spanned(name) {
            let place = self.place.clone();
            return visitor.visit_map(SpannedDeserializer::new(self, place));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

impl IntoDeserializer<'_, DocumentError> for Located {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
