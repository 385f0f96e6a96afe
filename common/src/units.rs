//! Quantities with their units in the type, so that bytes are never added to instructions.

use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A volume of data, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A volume of computation, in instructions (SimGrid says flops). A float, because traces of other tools hold
/// fractions; whole numbers are exact up to 2⁵³.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instructions(pub f64);

/// A span of time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub f64);

/// A moment, in nanoseconds since the first barrier of the world (by the clock of the host).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanoseconds(pub u64);

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

    /// A whole number of bytes, or of a unit: `65536`, `64KiB`, `1 MB`.
    fn from_str(text: &str) -> Result<Self, NoVolume> {
        let digits = text.trim().trim_start_matches(|c: char| c.is_ascii_digit());
        let (number, unit) = text.trim().split_at(text.trim().len() - digits.len());
        let worth = match unit.trim_start() {
            "" | "B" => Some(1),
            "kB" => Some(1000),
            "MB" => Some(1_000_000),
            "GB" => Some(1_000_000_000),
            "KiB" => Some(1 << 10),
            "MiB" => Some(1 << 20),
            "GiB" => Some(1 << 30),
            _ => None,
        };
        let volume = worth.and_then(|worth: u64| number.parse::<u64>().ok()?.checked_mul(worth));
        volume.map(Self).ok_or_else(|| NoVolume(text.to_owned()))
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
        for (text, bytes) in [("0", 0), ("65536", 65_536), ("64KiB", 65_536), (" 1 MB ", 1_000_000), ("3B", 3)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "B", "-1", "1.5 kB", "1 kb", "64 K iB", "18446744073709551616", "18446744073709551615KiB"] {
            assert_eq!(text.parse::<Bytes>(), Err(NoVolume(text.to_owned())));
        }
    }
}
