//! The distance to which events may be repeated, which grows if a program's loops are longer.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// The amount of a thread's events that is remembered.
///
/// Memory is bounded by the needs of a program's loops: few bytes for most, and up to some MiB for a loop of 100,000
/// different events. A writer [widens](Recurrence) it, and records this on a separate line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lookback {
    /// The number of different events that may be repeated.
    distinct: usize,
}

impl Lookback {
    /// The number of different events that may be repeated initially, and at most.
    pub(super) const LEAST: usize = 1024;
    pub(super) const MOST: usize = 1 << 17;

    /// Bytes of the text of a remembered event on average, at most.
    const TEXT: usize = 64;

    /// Reaches `distinct` different events; `None` if that is less than at first or more than at most.
    pub(super) fn of(distinct: usize) -> Option<Self> {
        (Self::LEAST..=Self::MOST).contains(&distinct).then_some(Self { distinct })
    }

    /// A reach that covers a loop of this many events with a quarter to spare; `None` if the maximum does not.
    fn round(events: usize) -> Option<Self> {
        let distinct = (events + events / 4).next_power_of_two().clamp(2 * Self::LEAST, Self::MOST);
        (events <= Self::MOST).then_some(Self { distinct })
    }

    /// The number of different events that may be repeated.
    #[inline]
    pub(super) fn distinct(self) -> usize {
        self.distinct
    }

    /// The maximum distance to a repeated event.
    #[inline]
    pub(super) fn window(self) -> usize {
        2 * self.distinct
    }

    /// The maximum total length of the texts of remembered events.
    pub(super) fn text(self) -> usize {
        Self::TEXT * self.distinct
    }

    /// Whether a writer has widened it.
    pub(super) fn is_widened(self) -> bool {
        self.distinct > Self::LEAST
    }
}

impl Default for Lookback {
    fn default() -> Self {
        Self { distinct: Self::LEAST }
    }
}

/// Number of events that are marked at a time, and number of marked events that have to recur at one distance to detect
/// a loop: others are in every round of an inner loop, or still remembered.
const MARKS: usize = 8;
const ENOUGH: usize = 4;

/// Detects that forgotten events are repeated: that a program runs a loop that is longer than the reach.
///
/// Some successive events are marked, and others each time the number of events has doubled, so that any loop is found
/// in its third round at the latest, in little memory (R. P. Brent, BIT 20(2), 1980).
#[derive(Debug, Default)]
pub(super) struct Recurrence {
    /// The hash and the number of each event that is marked.
    marks: [(u64, usize); MARKS],
    marked: usize,
    /// The number of the event at which other events will be marked.
    until: usize,
    /// The distance at which marked events came again last, and how many did.
    distance: usize,
    seen: usize,
}

impl Recurrence {
    /// Starts marking at event number `count`, the first time that an event was forgotten.
    pub(super) fn begin(&mut self, count: usize) {
        if self.until == 0 {
            self.until = count;
        }
    }

    /// Records that the event number `count` was spelled. Returns a reach of the whole loop if this one is not.
    pub(super) fn spelled(&mut self, text: &[u8], count: usize, reach: Lookback) -> Option<Lookback> {
        if self.until == 0 {
            return None;
        }
        let hash = FxBuildHasher.hash_one(text);
        if count >= self.until {
            *self = Self { until: 2 * count.max(1), ..Self::default() };
        }
        if self.marked < MARKS {
            self.marks[self.marked] = (hash, count);
            self.marked += 1;
            return None;
        }
        let distance = self.marks.iter().find(|mark| mark.0 == hash).map(|mark| count - mark.1)?;
        self.seen = if self.distance == distance { self.seen + 1 } else { 1 };
        self.distance = distance;
        if self.seen < ENOUGH {
            return None;
        }
        Lookback::round(distance).filter(|wider| wider.distinct > reach.distinct)
    }
}
