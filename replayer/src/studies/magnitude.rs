//! The number that a written value stands for, in SI units: `"10 Gbit/s"` is 1.25e9 B/s.

use titr_common::units::{Bandwidth, Bytes, Dimension, Seconds, Speed, Written};
use titr_document::Value;
use titr_platform::HostSpeed;

/// A number with its SI unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Magnitude {
    /// The number of units.
    pub(crate) number: f64,
    /// The unit; empty for a number alone.
    pub(crate) unit: &'static str,
}

/// The quantities of a platform, each with its base unit.
const DIMENSIONS: [(Dimension, &str); 4] =
    [(Seconds::DIMENSION, "s"), (Bytes::DIMENSION, "B"), (Bandwidth::DIMENSION, "B/s"), (Speed::DIMENSION, "instr/s")];

impl Magnitude {
    /// The magnitude of a number without unit.
    pub(crate) fn plain(number: f64) -> Self {
        Self { number, unit: "" }
    }

    /// The magnitude of a value, if the value is a number or a quantity.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Self::of_text(text),
            Value::Whole(number) => Some(Self::plain(*number as f64)),
            Value::Number(number) => Some(Self::plain(*number)).filter(|magnitude| magnitude.number.is_finite()),
            Value::Quantity(_) | Value::Flag(_) | Value::List(_) | Value::Table(_) => None,
        }
    }

    /// The magnitude of a text that is a number and a unit.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let known = DIMENSIONS.iter().find_map(|(dimension, unit)| {
            // Zero needs no unit, and then the dimension is unknown.
            let number = dimension.parse(text).ok().filter(|_| text.trim().parse::<f64>().is_err())?;
            Some(Self { number: rounded(number, 15), unit })
        });
        known.or_else(|| match HostSpeed::written(text) {
            Ok(HostSpeed::OfRecorded(number)) => Some(Self { number, unit: "x recorded" }),
            Ok(HostSpeed::Absolute(_)) | Err(_) => None,
        })
    }
}

/// Rounds to `digits` significant digits, which hides errors of floating point.
pub(crate) fn rounded(number: f64, digits: usize) -> f64 {
    format!("{number:.*e}", digits - 1).parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_in_base_units() {
        let of = |text| Magnitude::of_text(text).map(|Magnitude { number, unit }| (number, unit));
        assert_eq!(of("10 Gbit/s"), Some((1.25e9, "B/s")));
        assert_eq!(of("64 KiB"), Some((65536.0, "B")));
        assert_eq!(of("1.5us"), Some((1.5e-6, "s")));
        assert_eq!(of("500 ns"), Some((5e-7, "s")));
        assert_eq!(of("2.5 Ginstr/s"), Some((2.5e9, "instr/s")));
        assert_eq!(of("1 x recorded"), Some((1.0, "x recorded")));
        assert_eq!([of("block"), of("0"), of("7"), of("")], [None; 4]);
        assert_eq!(Magnitude::of(&Value::Whole(4)), Some(Magnitude::plain(4.0)));
        assert_eq!(Magnitude::of(&Value::Number(f64::INFINITY)), None);
    }
}
