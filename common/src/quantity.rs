//! Quantities as people write them: a number and its unit, `"10 Gbit/s"`. A bare number is a mistake: whoever writes
//! 1000 for a bandwidth means bits as often as bytes.

use std::fmt;
use std::str::FromStr;

use crate::units::{Bytes, Seconds};
use nom::Parser;
use nom::character::complete::space0;
use nom::combinator::{all_consuming, rest};
use nom::number::complete::double;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A rate of data, more than none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Bytes per second.
    pub bytes_per_second: f64,
}

/// A span of time, perhaps none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duration(pub Seconds);

/// A volume of data, perhaps none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub Bytes);

/// A rate of computation, more than none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InstructionRate {
    /// Instructions per second.
    pub per_second: f64,
}

/// A kind of quantity: what it is called, how it is written, and what each way of writing it is worth.
pub struct Kind {
    /// Name of the kind.
    pub name: &'static str,
    /// How it is written.
    pub example: &'static str,
    /// Units without prefix, and their worth. A unit that another ends with comes after it.
    pub units: &'static [(&'static str, f64)],
    /// Prefixes that a unit may have, each with its worth.
    pub prefixes: &'static [&'static [(&'static str, f64)]],
    /// Whether a quantity of nothing makes sense.
    pub may_be_zero: bool,
}

/// A unit as it is.
pub const NO_PREFIX: &[(&str, f64)] = &[("", 1.0)];
const DECIMAL: &[(&str, f64)] = &[("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15)];
const BINARY: &[(&str, f64)] = &[
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
];
const FRACTIONS: &[(&str, f64)] = &[("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("μ", 1e-6), ("n", 1e-9), ("p", 1e-12)];

const BANDWIDTH: Kind = Kind {
    name: "bandwidth",
    example: "10 Gbit/s or 1.25 GB/s",
    units: &[("bit/s", 0.125), ("bps", 0.125), ("b/s", 0.125), ("B/s", 1.0), ("Bps", 1.0)],
    prefixes: &[NO_PREFIX, DECIMAL, BINARY],
    may_be_zero: false,
};

const DURATION: Kind = Kind {
    name: "time",
    example: "1.5 us or 100 ns",
    units: &[("s", 1.0)],
    prefixes: &[NO_PREFIX, FRACTIONS],
    may_be_zero: true,
};

const SIZE: Kind = Kind {
    name: "size",
    example: "64 KiB (1024 bytes each) or 64 kB (1000)",
    units: &[("B", 1.0)],
    prefixes: &[NO_PREFIX, DECIMAL, BINARY],
    may_be_zero: true,
};

const INSTRUCTION_RATE: Kind = Kind {
    name: "speed",
    example: "2.5 Ginstr/s",
    units: &[("instr/s", 1.0), ("flop/s", 1.0)],
    prefixes: &[NO_PREFIX, DECIMAL],
    may_be_zero: false,
};

impl Kind {
    /// The worth of `text`, or what is wrong with it.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let Self { name, example, .. } = self;
        let (_, (_, number, _, unit)) = all_consuming((space0, double::<_, ()>, space0, rest))
            .parse(text)
            .map_err(|_| format!("not a {name}: write a number and a unit, such as {example}"))?;
        let unit = unit.trim_end();
        if unit.is_empty() {
            return Err(format!("a {name} needs a unit, such as {example}"));
        }
        let worth =
            self.worth(unit).ok_or_else(|| format!("`{unit}` is not a unit of {name}: write, say, {example}"))?;
        let value = number * worth;
        if !value.is_finite() || value < 0.0 {
            return Err(format!("a {name} cannot be {number}"));
        }
        if value == 0.0 && !self.may_be_zero {
            return Err(format!("a {name} must be more than zero"));
        }
        Ok(value)
    }

    fn worth(&self, unit: &str) -> Option<f64> {
        self.units.iter().find_map(|&(suffix, worth)| {
            let written = unit.strip_suffix(suffix)?;
            let mut prefixes = self.prefixes.iter().copied().flatten();
            let (_, multiple) = prefixes.find(|&&(prefix, _)| prefix == written)?;
            Some(multiple * worth)
        })
    }

    fn deserialize<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<f64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for &Kind {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a {} in quotes, such as {}", self.name, self.example)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        self.parse(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<f64, E> {
        Err(E::custom(format!("a {} needs a unit: write it in quotes, such as {}", self.name, self.example)))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<f64, E> {
        self.visit_i64(0)
    }
}

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        DURATION.parse(text).map(|seconds| Self(Seconds(seconds)))
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        SIZE.parse(text).map(|bytes| Self(Bytes(bytes as u64)))
    }
}

impl<'de> Deserialize<'de> for Bandwidth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BANDWIDTH.deserialize(deserializer).map(|bytes_per_second| Self { bytes_per_second })
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DURATION.deserialize(deserializer).map(|seconds| Self(Seconds(seconds)))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = SIZE.deserialize(deserializer)?;
        if bytes.fract() != 0.0 {
            return Err(D::Error::custom("a size is a whole number of bytes"));
        }
        Ok(Self(Bytes(bytes as u64)))
    }
}

impl<'de> Deserialize<'de> for InstructionRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        INSTRUCTION_RATE.deserialize(deserializer).map(|per_second| Self { per_second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_decimal_or_binary_as_written() {
        for (text, expected) in [
            ("10 Gbit/s", 1.25e9),
            ("1.25 GB/s", 1.25e9),
            ("1.25e9 B/s", 1.25e9),
            ("1 GiB/s", 1_073_741_824.0),
            ("100Mbps", 1.25e7),
            ("8 b/s", 1.0),
        ] {
            assert_eq!(BANDWIDTH.parse(text), Ok(expected), "{text}");
        }
        assert_eq!(SIZE.parse("64 KiB"), Ok(65536.0));
        assert_eq!(SIZE.parse("64 kB"), Ok(64000.0));
        assert_eq!(DURATION.parse("1 us"), Ok(1e-6));
        assert_eq!(DURATION.parse("1 µs"), Ok(1e-6));
        assert_eq!(DURATION.parse("0 s"), Ok(0.0));
        assert_eq!(INSTRUCTION_RATE.parse("2.5 Ginstr/s"), Ok(2.5e9));
    }

    #[test]
    fn says_what_is_wrong() {
        for (kind, text, expected) in [
            (&BANDWIDTH, "10", "a bandwidth needs a unit, such as 10 Gbit/s or 1.25 GB/s"),
            (&BANDWIDTH, "-1 Gbit/s", "a bandwidth cannot be -1"),
            (&BANDWIDTH, "0 B/s", "a bandwidth must be more than zero"),
            (&BANDWIDTH, "nan B/s", "a bandwidth cannot be NaN"),
            (&BANDWIDTH, "inf B/s", "a bandwidth cannot be inf"),
            (&BANDWIDTH, "10 us", "`us` is not a unit of bandwidth: write, say, 10 Gbit/s or 1.25 GB/s"),
            (&BANDWIDTH, "fast", "not a bandwidth: write a number and a unit, such as 10 Gbit/s or 1.25 GB/s"),
            (&SIZE, "64 KB", "`KB` is not a unit of size: write, say, 64 KiB (1024 bytes each) or 64 kB (1000)"),
        ] {
            assert_eq!(kind.parse(text), Err(expected.to_owned()));
        }
    }
}
