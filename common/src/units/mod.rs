//! Quantities with their units in the type, so that bytes are never added to instructions, and their notation.
//!
//! Users write a quantity as a number and a unit, `10 Gbit/s`, in platform files, in options of the commands and in the
//! tracer's environment variables. All of these accept the following units:
//!
//! | quantity | type | units | prefixes |
//! | --- | --- | --- | --- |
//! | size | [`Bytes`] | `B` | `k` `M` `G` `T` `P` (powers of 1000), `Ki` `Mi` `Gi` `Ti` `Pi` (powers of 1024) |
//! | bandwidth | [`Bandwidth`] | `B/s` `Bps`, and in bits `bit/s` `b/s` `bps` | as of sizes |
//! | time | [`Seconds`] | `s` | `m` `u` or `µ` `n` `p` |
//! | speed | [`Speed`] | `instr/s` `flop/s` | `k` `M` `G` `T` `P` |
//!
//! A platform file requires the unit ([`Quantity`]): a plain 1000 for a bandwidth could mean bits or bytes. Zero is the
//! same in all units, so a size or time of zero needs none. An option or a variable also accepts a plain number if only
//! one unit is natural: bytes, written in digits, for a size ([`Bytes::from_str`]), and instructions per second for a
//! speed ([`Speed::from_str`]). SimGrid's XML has units of its own, which the reader of such files lists and
//! [`Dimension`] parses.

mod written;

use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use written::{BINARY, DECIMAL, Dimension, NO_PREFIX, Prefixes, Quantity, UnitError, Written};

/// A volume of data, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-unit" = "B"))]
pub struct Bytes(pub u64);

/// A volume of computation, in instructions (SimGrid says flops). A float, because traces of other tools hold
/// fractions; whole numbers are exact up to 2⁵³.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-unit" = "instructions"))]
pub struct Instructions(pub f64);

/// A span of time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-unit" = "s"))]
pub struct Seconds(pub f64);

/// A moment, in nanoseconds since the first barrier of the world (by the clock of the host).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-unit" = "ns"))]
pub struct Nanoseconds(pub u64);

/// A rate of data, more than none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Bytes per second.
    pub bytes_per_second: f64,
}

/// The speed of computation of one core of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Instructions per second.
    pub per_second: f64,
}

impl Bytes {
    /// `self × count`, at most `u64::MAX`: a trace may hold any two numbers.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

/// A text that is no volume of data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no volume of data such as 65536, 64KiB or 1 MB")]
pub struct NoVolume(String);

impl FromStr for Bytes {
    type Err = NoVolume;

    /// Reads a number of bytes in digits, or a number and a unit: `65536`, `64KiB`, `1 MB`.
    fn from_str(text: &str) -> Result<Self, NoVolume> {
        let digits = text.trim().parse().map(Self);
        digits.or_else(|_| text.parse().map(|Quantity(bytes)| bytes)).map_err(|_| NoVolume(text.to_owned()))
    }
}

impl Speed {
    /// The time of `work` on one core.
    #[must_use]
    pub fn time_for(self, work: Instructions) -> Seconds {
        Seconds(work.0 / self.per_second)
    }
}

impl FromStr for Speed {
    type Err = UnitError;

    /// Reads a number of instructions per second, or a number and a unit: `1e9`, `2.5 Ginstr/s`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let alone = Dimension { unit_of_numbers: Some("instr/s"), ..Self::DIMENSION };
        alone.parse(text).map(|per_second| Self { per_second })
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self(0), Add::add)
    }
}

impl Add for Seconds {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Seconds {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_a_number_and_perhaps_a_unit() {
        for (text, bytes) in
            [("0", 0), ("65536", 65_536), ("64KiB", 65_536), (" 1 MB ", 1_000_000), ("3B", 3), ("1.5 kB", 1500)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in
            ["", "B", "-1", "1e3", "1.5 B", "1 kb", "64 K iB", "18446744073709551616", "18446744073709551615KiB"]
        {
            assert_eq!(text.parse::<Bytes>(), Err(NoVolume(text.to_owned())));
        }
        assert_eq!("18446744073709551615 B".parse(), Ok(Bytes(u64::MAX)));
    }

    #[test]
    fn a_speed_alone_is_in_instructions_a_second() {
        for (text, per_second) in [("1e9", 1e9), ("800 Minstr/s", 8e8), ("3Ginstr/s", 3e9), ("12 instr/s", 12.0)] {
            assert_eq!(text.parse(), Ok(Speed { per_second }), "{text}");
        }
        for text in ["0", "-1e9", "inf", "2 GHz", ""] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
