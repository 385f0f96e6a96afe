//! The cost of a machine: prices of its parts and of their power.

use titr_document::{Checked, Located, Place, Source, Table, Value};

use crate::studies::expression::{Expression, Measure, Names};
use crate::studies::magnitude::Magnitude;

/// The prices of a study, each an expression over its axes.
#[derive(Debug)]
pub(crate) struct Cost {
    prices: Vec<(PricedPart, Price)>,
    /// The sign of the currency; empty if the study names none.
    pub(crate) currency: String,
}

/// A price, with its place in the study.
#[derive(Debug)]
struct Price {
    expression: Expression,
    place: Place,
}

/// A part of the cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PricedPart {
    /// The price of each part of this kind.
    Each(Measure),
    /// The power that each part of this kind takes.
    Watts(Measure),
    /// The price of a watt.
    Watt,
}

const PARTS: [(&str, PricedPart); 7] = [
    ("host", PricedPart::Each(Measure::Hosts)),
    // Who buys links buys cables.
    ("link", PricedPart::Each(Measure::Cables)),
    ("switch", PricedPart::Each(Measure::Switches)),
    ("watt", PricedPart::Watt),
    ("host-watts", PricedPart::Watts(Measure::Hosts)),
    ("link-watts", PricedPart::Watts(Measure::Cables)),
    ("switch-watts", PricedPart::Watts(Measure::Switches)),
];

impl Cost {
    /// The prices in a table.
    pub(crate) fn read(table: Table, axes: &[&str], source: &Source) -> Checked<Self> {
        let mut prices = Vec::new();
        let mut currency = String::new();
        for (key, written) in table.into_entries() {
            if key.get_ref() == "currency" {
                let Value::Text(sign) = written.value else {
                    return Err(source.mistake(written.place, "`currency` is a text, such as \"€\""));
                };
                currency = sign;
                continue;
            }
            let Some((_, part)) = PARTS.iter().find(|(name, _)| name == key.get_ref()) else {
                let mistake = source.wrong(&key, format!("unknown key `{}`", key.get_ref()));
                return Err(
                    mistake.with_help(format!("there are {}, currency", PARTS.map(|(name, _)| name).join(", ")))
                );
            };
            prices.push((*part, Price::read(&written, axes, source)?));
        }
        Ok(Self { prices, currency })
    }

    /// The cost of the machine of a point.
    pub(crate) fn of(&self, names: &dyn Names, source: &Source) -> Checked<f64> {
        let wrong = |price: &Price| {
            let place = price.place.clone();
            move |why: String| source.mistake(place, why)
        };
        let (mut cost, mut watts, mut watt) = (0.0, 0.0, 0.0);
        for (part, price) in &self.prices {
            let number = price.expression.number(names).map_err(wrong(price))?;
            if number < 0.0 {
                return Err(wrong(price)(format!("a price is at least 0, and this is {number}")));
            }
            let of_all = |measure| Ok(number * names.measure(measure).map_err(wrong(price))?);
            match part {
                PricedPart::Each(measure) => cost += of_all(*measure)?,
                PricedPart::Watts(measure) => watts += of_all(*measure)?,
                PricedPart::Watt => watt = number,
            }
        }
        Ok(cost + watt * watts)
    }
}

impl Price {
    fn read(written: &Located, axes: &[&str], source: &Source) -> Checked<Self> {
        let place = written.place.clone();
        let expression = match (&written.value, Magnitude::of(&written.value)) {
            (Value::Text(text), _) => Expression::parse(text, axes),
            (_, Some(number)) => Expression::parse(&number.number.to_string(), axes),
            (_, None) => Err("a price is a number, or an expression in quotes".to_owned()),
        };
        Ok(Self { expression: expression.map_err(|why| source.mistake(place.clone(), why))?, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine;

    impl Names for Machine {
        fn axis(&self, _: usize) -> evalexpr::Value {
            evalexpr::Value::Float(2.0)
        }

        fn measure(&self, measure: Measure) -> Result<f64, String> {
            Ok(match measure {
                Measure::Hosts => 10.0,
                Measure::Links => 40.0,
                Measure::Cables => 20.0,
                Measure::Switches => 4.0,
                Measure::Ranks | Measure::Cores | Measure::Cost => 0.0,
            })
        }
    }

    #[test]
    fn parts_and_their_power_have_prices() {
        let text = "host = 100\nlink = \"5 * size\"\nswitch = 50\nwatt = 2\nhost-watts = 3\nswitch-watts = 0.5\ncurrency = \"€\"";
        let source = Source::new("study.toml", text.to_owned(), []);
        let Value::Table(table) = source.parse(&source.file).unwrap().value else { unreachable!() };
        let cost = Cost::read(table, &["size"], &source).unwrap();
        // Parts: 1000 + 200 + 200. Power: 30 + 2 watts at 2 each.
        assert_eq!(cost.of(&Machine, &source).unwrap(), 1464.0);
        assert_eq!(cost.currency, "€");
    }
}
