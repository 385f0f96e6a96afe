//! Quantities in the users' notation: a number and its unit, `"10 Gbit/s"`.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use nom::Parser;
use nom::character::complete::space0;
use nom::combinator::{all_consuming, consumed, rest};
use nom::number::complete::double;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use thiserror::Error as ThisError;

use super::{Bandwidth, Bytes, Seconds, Speed};

/// A quantity that must be written with its unit, as in platform files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity<T>(pub T);

/// A type whose values people write as a number and a unit.
pub trait Written: Sized {
    /// The units that the type may be written in.
    const DIMENSION: Dimension;

    /// The quantity of this many base units.
    ///
    /// # Errors
    /// If the number is invalid for such a quantity.
    fn in_base_unit(number: f64) -> Result<Self, UnitError>;

    /// The quantity that `text` says, a number and a unit.
    ///
    /// # Errors
    /// If `text` is not a number with a unit of this dimension, or the number is invalid for it.
    fn written(text: &str) -> Result<Self, UnitError> {
        Self::in_base_unit(Self::DIMENSION.parse(text)?)
    }
}

/// The units of one kind of quantity.
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    /// Name of the quantity, for messages.
    pub name: &'static str,
    /// An example for messages.
    pub example: &'static str,
    /// Units without prefix, each with its worth in the base unit. A unit that another ends with comes after that other.
    pub units: &'static [(&'static str, f64)],
    /// Prefixes that a unit may have.
    pub prefixes: &'static [Prefixes],
    /// Whether the quantity may be zero.
    pub may_be_zero: bool,
    /// The unit of a number alone; `None` if a number alone is a mistake.
    pub unit_of_numbers: Option<&'static str>,
}

/// Prefixes of units, each with its factor.
pub type Prefixes = &'static [(&'static str, f64)];

/// No prefix: the plain unit.
pub const NO_PREFIX: Prefixes = &[("", 1.0)];

/// Prefixes of the powers of 1000.
pub const DECIMAL: Prefixes = &[("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15)];

/// Prefixes of the powers of 1024.
pub const BINARY: Prefixes = &[
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
];

/// Prefixes of the powers of 1/1000.
const FRACTIONS: Prefixes = &[("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("μ", 1e-6), ("n", 1e-9), ("p", 1e-12)];

/// A text or a number that is not the expected quantity: a sentence with the reason, and the correct notation.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("{0}")]
pub struct UnitError(String);

impl UnitError {
    /// An error with this sentence.
    #[must_use]
    pub fn new(sentence: &str) -> Self {
        Self(sentence.to_owned())
    }
}

impl Dimension {
    /// The worth of `text` in the base unit.
    ///
    /// # Errors
    /// If `text` is not a number with one of the units, or the number is invalid.
    pub fn parse(&self, text: &str) -> Result<f64, UnitError> {
        self.split(text).map(|(_, number, worth)| number * worth)
    }

    /// The number in `text`, as written and as read, and the worth of its unit. Their product makes sense.
    fn split<'t>(&self, text: &'t str) -> Result<(&'t str, f64, f64), UnitError> {
        let &Self { name, example, .. } = self;
        let (_, (_, (digits, number), _, unit)) = all_consuming((space0, consumed(double::<_, ()>), space0, rest))
            .parse(text)
            .map_err(|_| UnitError(format!("not a {name}: write a number and a unit, such as {example}")))?;
        let unit = match (unit.trim_end(), self.unit_of_numbers) {
            ("", None) if number == 0.0 && self.may_be_zero => return Ok((digits, number, 1.0)),
            ("", None) => return Err(UnitError(format!("a {name} needs a unit, such as {example}"))),
            ("", Some(unit)) => unit,
            (unit, _) => unit,
        };
        let unknown = || UnitError(format!("`{unit}` is not a unit of {name}: write, say, {example}"));
        let worth = self.worth(unit).ok_or_else(unknown)?;
        self.check(number * worth, number)?;
        Ok((digits, number, worth))
    }

    /// Rejects impossible values; `number` is the given number.
    fn check(&self, value: f64, number: f64) -> Result<(), UnitError> {
        let name = self.name;
        match value {
            _ if !value.is_finite() || value < 0.0 => Err(UnitError(format!("a {name} cannot be {number}"))),
            0.0 if !self.may_be_zero => Err(UnitError(format!("a {name} must be more than zero"))),
            _ => Ok(()),
        }
    }

    fn worth(&self, unit: &str) -> Option<f64> {
        self.units.iter().find_map(|&(suffix, worth)| {
            let written = unit.strip_suffix(suffix)?;
            let mut prefixes = self.prefixes.iter().copied().flatten();
            let (_, multiple) = prefixes.find(|&&(prefix, _)| prefix == written)?;
            Some(multiple * worth)
        })
    }
}

impl Written for Bytes {
    const DIMENSION: Dimension = Dimension {
        name: "size",
        example: "64 KiB (1024 bytes each) or 64 kB (1000)",
        units: &[("B", 1.0)],
        prefixes: &[NO_PREFIX, DECIMAL, BINARY],
        may_be_zero: true,
        unit_of_numbers: None,
    };

    fn in_base_unit(number: f64) -> Result<Self, UnitError> {
        Self::DIMENSION.check(number, number)?;
        match number {
            _ if number.fract() != 0.0 => Err(UnitError("a size is a whole number of bytes".to_owned())),
            _ if number >= u64::MAX as f64 => Err(UnitError(format!("a size cannot be {number}"))),
            _ => Ok(Self(number as u64)),
        }
    }

    fn written(text: &str) -> Result<Self, UnitError> {
        let (digits, number, worth) = Self::DIMENSION.split(text)?;
        // Whole numbers are exact, also above 2⁵³.
        let whole = digits.parse().ok().and_then(|number: u64| number.checked_mul(worth as u64));
        whole.map_or_else(|| Self::in_base_unit(number * worth), |bytes| Ok(Self(bytes)))
    }
}

impl Written for Bandwidth {
    const DIMENSION: Dimension = Dimension {
        name: "bandwidth",
        example: "10 Gbit/s or 1.25 GB/s",
        units: &[("bit/s", 0.125), ("bps", 0.125), ("b/s", 0.125), ("B/s", 1.0), ("Bps", 1.0)],
        prefixes: &[NO_PREFIX, DECIMAL, BINARY],
        may_be_zero: false,
        unit_of_numbers: None,
    };

    fn in_base_unit(bytes_per_second: f64) -> Result<Self, UnitError> {
        Self::DIMENSION.check(bytes_per_second, bytes_per_second)?;
        Ok(Self { bytes_per_second })
    }
}

impl Written for Seconds {
    const DIMENSION: Dimension = Dimension {
        name: "time",
        example: "1.5 us or 100 ns",
        units: &[("s", 1.0)],
        prefixes: &[NO_PREFIX, FRACTIONS],
        may_be_zero: true,
        unit_of_numbers: None,
    };

    fn in_base_unit(seconds: f64) -> Result<Self, UnitError> {
        Self::DIMENSION.check(seconds, seconds)?;
        Ok(Self(seconds))
    }
}

impl Written for Speed {
    const DIMENSION: Dimension = Dimension {
        name: "speed",
        example: "2.5 Ginstr/s",
        units: &[("instr/s", 1.0), ("flop/s", 1.0)],
        prefixes: &[NO_PREFIX, DECIMAL],
        may_be_zero: false,
        unit_of_numbers: None,
    };

    fn in_base_unit(per_second: f64) -> Result<Self, UnitError> {
        Self::DIMENSION.check(per_second, per_second)?;
        Ok(Self { per_second })
    }
}

impl<T: Written> FromStr for Quantity<T> {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        T::written(text).map(Self)
    }
}

impl<'de, T: Written> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor(PhantomData))
    }
}

struct QuantityVisitor<T>(PhantomData<T>);

impl<'de, T: Written> Visitor<'de> for QuantityVisitor<T> {
    type Value = Quantity<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a {} in quotes, such as {}", T::DIMENSION.name, T::DIMENSION.example)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Quantity<T>, E> {
        text.parse().map_err(E::custom)
    }

    /// The quantity in its base unit, as in a file whose language has its own units.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, in_base_unit: D) -> Result<Quantity<T>, D::Error> {
        T::in_base_unit(f64::deserialize(in_base_unit)?).map(Quantity).map_err(D::Error::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Quantity<T>, E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Quantity<T>, E> {
        let Dimension { name, example, may_be_zero, .. } = T::DIMENSION;
        if number == 0.0 && may_be_zero {
            return T::in_base_unit(number).map(Quantity).map_err(E::custom);
        }
        Err(E::custom(format!("a {name} needs a unit: write it in quotes, such as {example}")))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::Error as ValueError;

    use super::*;

    #[test]
    fn prefixes_are_decimal_or_binary_as_written() {
        for (text, bytes_per_second) in [
            ("10 Gbit/s", 1.25e9),
            ("1.25 GB/s", 1.25e9),
            ("1.25e9 B/s", 1.25e9),
            ("1 GiB/s", 1_073_741_824.0),
            ("100Mbps", 1.25e7),
            ("8 b/s", 1.0),
        ] {
            assert_eq!(text.parse(), Ok(Quantity(Bandwidth { bytes_per_second })), "{text}");
        }
        for (text, bytes) in
            [("64 KiB", 65536), ("64 kB", 64000), ("0.5 KiB", 512), ("9007199254740993 B", (1 << 53) + 1)]
        {
            assert_eq!(text.parse(), Ok(Quantity(Bytes(bytes))), "{text}");
        }
        for (text, seconds) in [("1 us", 1e-6), ("1 µs", 1e-6), ("0 s", 0.0)] {
            assert_eq!(text.parse(), Ok(Quantity(Seconds(seconds))), "{text}");
        }
        assert_eq!("2.5 Ginstr/s".parse(), Ok(Quantity(Speed { per_second: 2.5e9 })));
    }

    #[test]
    fn nothing_of_a_quantity_needs_no_unit() {
        for text in ["0", " 0.0 "] {
            assert_eq!(text.parse(), Ok(Quantity(Bytes(0))), "{text}");
            assert_eq!(text.parse(), Ok(Quantity(Seconds(0.0))), "{text}");
            assert!(text.parse::<Quantity<Bandwidth>>().is_err(), "{text}");
        }
        let from_number =
            |number| Quantity::<Bytes>::deserialize(IntoDeserializer::<ValueError>::into_deserializer(number));
        assert_eq!(from_number(0_i64), Ok(Quantity(Bytes(0))));
        assert!(from_number(1).is_err());
    }

    #[test]
    fn says_what_is_wrong() {
        fn wrong<T: Written>(text: &str) -> String {
            text.parse::<Quantity<T>>().err().map(|error| error.to_string()).unwrap_or_default()
        }
        for (text, expected) in [
            ("10", "a bandwidth needs a unit, such as 10 Gbit/s or 1.25 GB/s"),
            ("-1 Gbit/s", "a bandwidth cannot be -1"),
            ("0 B/s", "a bandwidth must be more than zero"),
            ("nan B/s", "a bandwidth cannot be NaN"),
            ("inf B/s", "a bandwidth cannot be inf"),
            ("10 us", "`us` is not a unit of bandwidth: write, say, 10 Gbit/s or 1.25 GB/s"),
            ("fast", "not a bandwidth: write a number and a unit, such as 10 Gbit/s or 1.25 GB/s"),
        ] {
            assert_eq!(wrong::<Bandwidth>(text), expected);
        }
        for (text, expected) in [
            ("64 KB", "`KB` is not a unit of size: write, say, 64 KiB (1024 bytes each) or 64 kB (1000)"),
            ("1.5 B", "a size is a whole number of bytes"),
            ("18446744073709551616 B", "a size cannot be 18446744073709552000"),
        ] {
            assert_eq!(wrong::<Bytes>(text), expected);
        }
    }
}
