//! `[spread]`: how times vary from run to run.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use titr_common::units::{Quantity, Seconds};
use toml::Spanned;

use super::value::NonNegative;

/// `[spread]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpreadTable {
    /// Interruptions of computation. Default: none.
    pub detours: Option<DetoursTable>,
    /// Standard deviation of a message's time, as a fraction of it. Default: 0.
    pub message: Option<Spanned<NonNegative>>,
    /// Standard deviation of a predicted time, as a fraction of it, because the models are not the machine. Default: 0.
    pub model: Option<Spanned<NonNegative>>,
    /// Standard deviations of values of this platform, as fractions of them, by key: `{ "network.bandwidth" = 0.03 }`.
    pub uncertainty: BTreeMap<String, Spanned<UncertaintyValue>>,
}

/// `[spread.detours]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetoursTable {
    /// Mean length of an interruption.
    pub length: Quantity<Seconds>,
    /// Mean number of interruptions in a second of computation.
    pub rate: NonNegative,
}

/// The uncertainty of a key, or of the keys below it: `network.bandwidth = 0.03` is a table in a table.
pub enum UncertaintyValue {
    Of(NonNegative),
    Below(BTreeMap<String, Spanned<Self>>),
}

impl<'de> Deserialize<'de> for UncertaintyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrTable;
        impl<'de> Visitor<'de> for NumberOrTable {
            type Value = UncertaintyValue;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a fraction of the key's value, such as 0.03")
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Self::Value, E> {
                NonNegative::checked(number).map(UncertaintyValue::Of)
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }
            fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<Self::Value, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(keys)).map(UncertaintyValue::Below)
            }
        }
        deserializer.deserialize_any(NumberOrTable)
    }
}
