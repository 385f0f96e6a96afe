//! The short form of a topology, in platforms of one line: `torus:4x4x4`.
//!
//! After the topology's name follow values, separated by commas: with keys (`g=9,a=4`), or in the order of the keys.

use titr_document::{Located, Place, Value};

/// The short form of a topology.
pub(crate) struct ShortForm {
    /// The name of the topology.
    pub(crate) name: &'static str,
    /// A topology in its short form, for messages.
    pub(crate) example: &'static str,
    /// The keys. A value without a key has the key at its own place.
    pub(crate) keys: &'static [ShortKey],
}

/// A key of a short form.
pub(crate) struct ShortKey {
    /// The key of platform files that it sets, whose last part is its long name.
    pub(crate) path: &'static str,
    /// Its short name, which is the symbol in publications if there is one.
    pub(crate) symbol: &'static str,
    kind: ShortValue,
}

/// The kind of a value.
#[derive(Clone, Copy)]
enum ShortValue {
    /// `4`
    Number,
    /// `4x4x4`
    Numbers,
    /// A choice.
    Word,
}

impl ShortKey {
    /// A key with one number.
    pub(crate) const fn number(path: &'static str, symbol: &'static str) -> Self {
        Self { path, symbol, kind: ShortValue::Number }
    }

    /// A key with a list of numbers.
    pub(crate) const fn numbers(path: &'static str, symbol: &'static str) -> Self {
        Self { path, symbol, kind: ShortValue::Numbers }
    }

    /// A key with a choice.
    pub(crate) const fn word(path: &'static str) -> Self {
        Self { path, symbol: "", kind: ShortValue::Word }
    }

    /// The last part of the key in platform files.
    pub(crate) fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// The key with its symbol, for messages.
    pub(crate) fn shown(&self) -> String {
        match self.symbol {
            "" => self.name().to_owned(),
            symbol => format!("{symbol} ({})", self.name()),
        }
    }

    /// The value of a text at a place, or the kind of value that is needed.
    pub(crate) fn value(&self, text: &str, place: &Place) -> Result<Value, &'static str> {
        let number = |text: &str| text.parse::<u32>().map(Value::from);
        match self.kind {
            ShortValue::Number => number(text).map_err(|_| "a whole number"),
            ShortValue::Numbers => {
                let located = |text| number(text).map(|value| Located { value, place: place.clone() });
                let items: Result<Vec<Located>, _> = text.split('x').map(located).collect();
                items.map(Value::from).map_err(|_| "whole numbers with x between them, such as 4x4")
            }
            ShortValue::Word if text.is_empty() => Err("a word"),
            ShortValue::Word => Ok(text.into()),
        }
    }
}
