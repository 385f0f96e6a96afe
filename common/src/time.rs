//! Simulated time: whole picoseconds, so that equal instants are equal and sums do not depend on their order.

use std::ops::{Add, Sub};

use crate::units::Seconds;

/// An instant of simulated time: picoseconds since the start, at most 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of the replay.
    pub const ZERO: Self = Self(0);
    /// No instant that a replay reaches: arithmetic saturates here, and a replay that gets here is an error.
    pub const NEVER: Self = Self(u64::MAX);

    const PER_SECOND: f64 = 1e12;

    /// The instant `seconds` after the start.
    #[must_use]
    pub fn from_seconds(seconds: Seconds) -> Self {
        // `as` truncates and saturates, and takes NaN and negatives to zero.
        Self((seconds.0 * Self::PER_SECOND + 0.5) as u64)
    }

    /// The seconds from the start of the replay to this instant.
    #[must_use]
    pub fn seconds(self) -> Seconds {
        Seconds(self.0 as f64 / Self::PER_SECOND)
    }
}

impl From<Time> for u64 {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl Add<Seconds> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Seconds) -> Self {
        // Most overheads are none, and a conversion costs ten times as much as this.
        if span.0 == 0.0 {
            return self;
        }
        Self(self.0.saturating_add(Self::from_seconds(span).0))
    }
}

impl Sub for Time {
    type Output = Seconds;
    /// The span from `earlier` to `self`; zero if it is not earlier.
    fn sub(self, earlier: Self) -> Seconds {
        Self(self.0.saturating_sub(earlier.0)).seconds()
    }
}
