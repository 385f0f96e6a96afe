//! Values with their places, independent of the language of the text. A text that overrides others becomes a table that is
//! put over theirs.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::source::DocumentError;
use crate::source::{Checked, Part, Place, Source};

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Located {
    /// The value.
    pub value: Value,
    /// The place where it was written.
    pub place: Place,
}

/// A value as written.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text, which may be a quantity with its unit.
    Text(String),
    /// A number of things.
    Whole(i128),
    /// A number without unit.
    Number(f64),
    /// A quantity in its base unit, which only languages with units of their own hand over.
    Quantity(f64),
    /// A truth.
    Flag(bool),
    /// Values in order.
    List(Vec<Located>),
    /// Values by key.
    Table(Table),
}

/// Values by key.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Each key's place and value.
    pub(crate) entries: BTreeMap<String, (Place, Located)>,
}

/// A key whose value may be a table or, for short, one entry of it, and the key of that entry.
pub type Shorthand = (&'static str, &'static str);

impl Source {
    /// Reads the TOML text of a part.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse(&self, part: &Part) -> Checked<Located> {
        let table =
            DeTable::parse(&part.text).map_err(|error| DocumentError::of_toml(&error, part.start).shown_in(self))?;
        let place = moved(table.span(), part.start);
        Ok(Located { value: Value::Table(Table::of_toml(table.into_inner(), part.start)), place })
    }
}

/// `KEY=VALUE` as TOML: a value that is not valid TOML is a string, so that quotes need not survive a shell.
#[must_use]
pub fn override_as_toml(setting: &str) -> String {
    match setting.split_once('=') {
        Some((key, value)) if DeValue::parse(value.trim()).is_err() => {
            format!("{} = {}", key.trim(), toml::Value::from(value.trim()))
        }
        Some((key, value)) => format!("{} = {}", key.trim(), value.trim()),
        None => setting.to_owned(),
    }
}

impl Located {
    /// A value that was written at a place.
    pub fn new(value: impl Into<Value>, place: Place) -> Self {
        Self { value: value.into(), place }
    }

    /// Puts `top`, if both are tables, over this one: tables are merged key by key, all else is replaced.
    pub fn overlay(&mut self, top: Self, shorthands: &[Shorthand]) {
        if let (Value::Table(below), Value::Table(above)) = (&mut self.value, top.value) {
            below.overlay(above, shorthands);
        }
    }

    fn of_toml(value: Spanned<DeValue>, start: usize) -> Self {
        let place = moved(value.span(), start);
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::Whole(number),
                Err(_) => Value::Number(f64::INFINITY),
            },
            DeValue::Float(number) => Value::Number(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(time) => Value::Text(time.to_string()),
            DeValue::Array(items) => Value::List(items.into_iter().map(|item| Self::of_toml(item, start)).collect()),
            DeValue::Table(table) => Value::Table(Table::of_toml(table, start)),
        };
        Self { value, place }
    }
}

impl Table {
    fn of_toml(table: DeTable, start: usize) -> Self {
        let entry = |(key, value): (Spanned<_>, _)| {
            let place = moved(key.span(), start);
            (String::from(key.into_inner()), (place, Located::of_toml(value, start)))
        };
        Self { entries: table.into_iter().map(entry).collect() }
    }

    /// Sets a key, such as `network.flow.preset`, unless it has a value already. Tables on the way to it, and the key, are said
    /// to be where the value is.
    pub fn set(&mut self, path: &str, value: Located) {
        let place = value.place.clone();
        let Some((key, rest)) = path.split_once('.') else {
            self.entries.entry(path.to_owned()).or_insert((place, value));
            return;
        };
        let below = || (place.clone(), Located::new(Self::default(), place.clone()));
        let (_, below) = self.entries.entry(key.to_owned()).or_insert_with(below);
        if let Value::Table(below) = &mut below.value {
            below.set(rest, value);
        }
    }

    /// The value of a key, such as `network.flow.preset`.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<&Located> {
        let Some((key, rest)) = path.split_once('.') else { return self.entries.get(path).map(|(_, value)| value) };
        match &self.entries.get(key)?.1.value {
            Value::Table(below) => below.value(rest),
            _ => None,
        }
    }

    /// Replaces the value of a key, such as `network.flow.preset`, if it has one.
    pub fn replace(&mut self, path: &str, value: Value) {
        match path.split_once('.') {
            Some((key, rest)) => {
                if let Some((_, Located { value: Value::Table(below), .. })) = self.entries.get_mut(key) {
                    below.replace(rest, value);
                }
            }
            None => {
                if let Some((_, located)) = self.entries.get_mut(path) {
                    located.value = value;
                }
            }
        }
    }

    /// Takes the value of a key out.
    pub fn remove(&mut self, key: &str) -> Option<Located> {
        self.entries.remove(key).map(|(_, value)| value)
    }

    /// The keys, each with its value.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Located)> {
        self.entries.iter().map(|(key, (_, value))| (key.as_str(), value))
    }

    /// The keys, each with its place and value.
    pub fn into_entries(self) -> impl Iterator<Item = (Spanned<String>, Located)> {
        self.entries.into_iter().map(|(key, (place, value))| (Spanned::new(place, key), value))
    }

    fn overlay(&mut self, top: Self, shorthands: &[Shorthand]) {
        for (key, (place, above)) in top.entries {
            if let (Some((_, below)), Value::Table(_)) = (self.entries.get_mut(&key), &above.value) {
                below.expand(&key, shorthands);
                if matches!(below.value, Value::Table(_)) {
                    below.overlay(above, shorthands);
                    continue;
                }
            }
            self.entries.insert(key, (place, above));
        }
    }
}

impl Located {
    /// Replaces a shorthand, the value of `key`, by the equivalent table.
    fn expand(&mut self, key: &str, shorthands: &[Shorthand]) {
        let shorthand = shorthands.iter().find(|(short, _)| *short == key);
        if let (Some((_, entry)), Value::Text(_)) = (shorthand, &self.value) {
            let mut table = Table::default();
            table.set(entry, self.clone());
            self.value = Value::Table(table);
        }
    }
}

impl<const N: usize> From<[(&str, Located); N]> for Value {
    fn from(entries: [(&str, Located); N]) -> Self {
        let mut table = Table::default();
        for (key, value) in entries {
            table.set(key, value);
        }
        Self::Table(table)
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<Located>> for Value {
    fn from(items: Vec<Located>) -> Self {
        Self::List(items)
    }
}

fn moved(place: Place, start: usize) -> Place {
    place.start + start..place.end + start
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use titr_common::units::{Bytes, Quantity};

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Mpi {
        size: Quantity<Bytes>,
        collectives: Collectives,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Collectives {
        library: String,
        bcast: Option<Spanned<String>>,
    }

    fn document(text: &str, overrides: &[&str]) -> Located {
        let overrides = overrides.iter().map(|setting| override_as_toml(setting));
        let source = Source::new("file", text.to_owned(), overrides);
        let mut document = source.parse(&source.file).unwrap();
        for part in &source.overrides {
            document.overlay(source.parse(part).unwrap(), &[("collectives", "library")]);
        }
        document
    }

    #[test]
    fn an_override_replaces_values_and_extends_tables() {
        let text = "size = \"1 kB\"\ncollectives = \"mpich\"";
        let read: Mpi = document(text, &["size=2 kB", "collectives.bcast=binomial"]).read().unwrap();
        assert_eq!(read.size, Quantity(Bytes(2000)));
        assert_eq!(read.collectives.library, "mpich");
        // After the file, a byte, the first override and a byte.
        let start = text.len() + 1 + "size = \"2 kB\"".len() + 1 + "collectives.bcast = ".len();
        let bcast = read.collectives.bcast.unwrap();
        assert_eq!((bcast.get_ref().as_str(), bcast.span()), ("binomial", start..start + "\"binomial\"".len()));
    }

    #[test]
    fn a_key_keeps_its_first_value_and_a_quantity_its_base_unit() {
        let mut table = Table::default();
        for (key, value) in [
            ("collectives.library", Value::from("simgrid")),
            ("collectives.library", Value::from("mpich")),
            ("size", Value::Quantity(1024.0)),
        ] {
            table.set(key, Located::new(value, 3..5));
        }
        let read: Mpi = Located::new(table, 0..0).read().unwrap();
        let collectives = Collectives { library: "simgrid".into(), bcast: None };
        assert_eq!(read, Mpi { size: Quantity(Bytes(1024)), collectives });
    }
}
