//! The meaning of `[spread]`, and the values of keys multiplied by factors.

use std::collections::BTreeMap;

use titr_document::{Checked, Located, Mistake, Table, Value};
use toml::Spanned;

use super::Builder;
use crate::scaling::scaled;
use crate::schema::{DetoursTable, NonNegative, SpreadTable, UncertaintyValue};
use crate::{Detours, Spread};

/// The largest standard deviation, as a fraction.
const LARGEST: f64 = 1.0;

/// The values of a platform as they are written, if it has the table `spread`.
pub(super) struct WrittenValues(Option<Table>);

impl WrittenValues {
    pub(super) fn of(tables: &Located) -> Self {
        match &tables.value {
            Value::Table(table) if table.value("spread").is_some() => Self(Some(table.clone())),
            _ => Self(None),
        }
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
    pub(super) fn spread(&self, table: SpreadTable, written: &WrittenValues) -> Checked<Spread> {
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
        written: &WrittenValues,
        all: &mut BTreeMap<String, f64>,
    ) -> Checked<()> {
        match value.get_ref() {
            UncertaintyValue::Below(below) => below
                .iter()
                .try_for_each(|(next, value)| self.uncertainty(format!("{key}.{next}"), value, written, all)),
            UncertaintyValue::Of(deviation) => {
                let deviation = self.fraction(value, deviation)?;
                let found = written.0.as_ref().and_then(|table| table.value(&key));
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
