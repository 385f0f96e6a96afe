//! `[spread]`: how times vary from run to run, and the values of keys multiplied by factors.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use titr_common::units::{Quantity, Seconds};
use titr_document::{Checked, Located, Mistake, Table, Value};
use toml::Spanned;

use super::Builder;
use super::value::NonNegative;
use crate::scaling::scaled;
use crate::{Detours, Spread};

/// `[spread]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SpreadTable {
    /// Interruptions of computation. Default: none.
    pub detours: Option<DetoursTable>,
    /// Spread of the time of a message, latency and transfer: a factor with the mean 1 (lognormal). In the packet
    /// model, it multiplies the number of packets, so messages of a few packets hardly vary. Default: 0.
    pub message: Option<Spanned<NonNegative>>,
    /// Error of the models: in each replay, a factor with the median 1 (lognormal) on the predicted time (see
    /// [calibrating](CALIBRATING.md#how-it-is-fitted)). Default: 0.
    pub model: Option<Spanned<NonNegative>>,
    /// Uncertainty of values of this file, by key: in each replay, a factor with the median 1 (lognormal) on each
    /// value. A value is a quantity with a unit, a number with a decimal point, or a list of these; in steps, the sizes
    /// stay. Default: none.
    pub uncertainty: BTreeMap<String, Spanned<UncertaintyValue>>,
}

/// `detours` of `[spread]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DetoursTable {
    /// Mean length of a *detour*, an interruption of a core by the operating system or another program (exponential).
    /// Required in `detours`.
    pub length: Quantity<Seconds>,
    /// Mean number of detours in a second of computation: *T* seconds take *T* (1 + rate × length) on average. Required
    /// in `detours`.
    pub rate: NonNegative,
}

/// The uncertainty of a key, or of the keys below it: `network.bandwidth = 0.03` is a table in a table.
pub(crate) enum UncertaintyValue {
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

/// The largest standard deviation, as a fraction.
const LARGEST: f64 = 1.0;

/// The values of a platform as they are written, if it has the table `spread`.
pub(super) fn written_values(tables: &Located) -> Option<Table> {
    match &tables.value {
        Value::Table(table) if table.value("spread").is_some() => Some(table.clone()),
        _ => None,
    }
}

impl Builder<'_> {
    /// Multiplies the values of keys by factors.
    pub(super) fn scale(&self, tables: &mut Located, factors: &[(String, f64)]) -> Checked<()> {
        let Value::Table(table) = &mut tables.value else { return Ok(()) };
        for (key, factor) in factors {
            let written = table.value(key);
            match written.and_then(|written| scaled(&written.value, *factor)) {
                Some(value) => table.replace(key, value),
                None => {
                    let place = written.map(|written| written.place.clone());
                    return Err(self.source.mistake(place, format!("{key} is neither a quantity nor a number")));
                }
            }
        }
        Ok(())
    }

    /// What varies from run to run.
    pub(super) fn spread(&self, table: SpreadTable, written: Option<&Table>) -> Checked<Spread> {
        let SpreadTable { detours, message, model, uncertainty } = table;
        let mut all = BTreeMap::new();
        for (key, value) in uncertainty {
            self.uncertainty(key, &value, written, &mut all)?;
        }
        let detours = detours.map(|DetoursTable { length, rate }| Detours { length: length.0, rate: rate.0 });
        let part = |written: Option<Spanned<NonNegative>>| {
            written.map_or(Ok(0.0), |written| self.fraction(&written, written.get_ref()))
        };
        Ok(Spread { detours, message: part(message)?, model: part(model)?, uncertainty: all })
    }

    /// Appends the standard deviation of a key, or those of the keys below it.
    fn uncertainty(
        &self,
        key: String,
        value: &Spanned<UncertaintyValue>,
        written: Option<&Table>,
        all: &mut BTreeMap<String, f64>,
    ) -> Checked<()> {
        match value.get_ref() {
            UncertaintyValue::Below(below) => below
                .iter()
                .try_for_each(|(next, value)| self.uncertainty(format!("{key}.{next}"), value, written, all)),
            UncertaintyValue::Of(deviation) => {
                let deviation = self.fraction(value, deviation)?;
                let found = written.and_then(|table| table.value(&key));
                let Some(found) = found else {
                    let mistake = self.wrong(value, format!("the platform does not set {key}"));
                    return Err(mistake.with_help("set the key in the platform, or leave its uncertainty out"));
                };
                if scaled(&found.value, 1.0).is_none() {
                    let mistake = self.wrong(value, format!("{key} is neither a quantity nor a number"));
                    return Err(mistake.with_help("name a key whose value has a unit or a decimal point"));
                }
                all.insert(key, deviation);
                Ok(())
            }
        }
    }

    /// A standard deviation as a fraction of a value.
    fn fraction<T>(&self, written: &Spanned<T>, &NonNegative(number): &NonNegative) -> Result<f64, Mistake> {
        if number <= LARGEST {
            return Ok(number);
        }
        let mistake = self.wrong(written, format!("a standard deviation of {number} times the value"));
        Err(mistake.with_help("give a fraction from 0 to 1: 0.05 is 5 %"))
    }
}
