//! How far back events come again, which grows where a program's loops are longer than that.

/// How much is remembered of a thread's events.
///
/// Memory is bounded by what a program's loops need: few bytes for most, and up to some MiB for a loop of 100,000 different events. A
/// writer [widens](Recurrence) it, and says so on a line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lookback {
    /// How many different events may come again.
    distinct: usize,
}

impl Lookback {
    /// How many different events may come again at first, and at most.
    pub(super) const LEAST: usize = 1024;
    pub(super) const MOST: usize = 1 << 17;

    /// Bytes of the text of a remembered event on average, at most.
    const TEXT: usize = 64;

    /// Reaches `distinct` different events; `None` if that is less than at first or more than at most.
    pub(super) fn of(distinct: usize) -> Option<Self> {
        (Self::LEAST..=Self::MOST).contains(&distinct).then_some(Self { distinct })
    }

    /// Reaches round a loop of so many events with room for a quarter more; `None` if none reaches that far.
    fn round(events: usize) -> Option<Self> {
        let distinct = (events + events / 4).next_power_of_two().clamp(2 * Self::LEAST, Self::MOST);
        (events <= Self::MOST).then_some(Self { distinct })
    }

    /// How many different events may come again.
    #[inline]
    pub(super) fn distinct(self) -> usize {
        self.distinct
    }

    /// How far back an event may be that comes again.
    #[inline]
    pub(super) fn window(self) -> usize {
        2 * self.distinct
    }

    /// How long all texts of remembered events are at most.
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

/// How many events are marked at a time, and how many of them have to come again at one distance for that to be a loop: others are
/// in every round of an inner loop, or still remembered.
const MARKS: usize = 8;
const ENOUGH: usize = 4;

/// Notices that events come again which were forgotten: that a program goes round a loop that is longer than the reach.
///
/// Some successive events are marked, and later others when twice as many have come, so that any loop is found in its third
/// round at the latest, in little memory (R. P. Brent, BIT 20(2), 1980).
#[derive(Debug, Default)]
pub(super) struct Recurrence {
    /// The hash and the number of each event that is marked.
    marks: [(u64, usize); MARKS],
    marked: usize,
    /// When other events will be marked.
    until: usize,
    /// The distance at which marked events came again last, and how many did.
    distance: usize,
    seen: usize,
}

impl Recurrence {
    /// Whether anything was forgotten yet, before which nothing is marked.
    pub(super) fn begin(&mut self, count: usize) {
        if self.until == 0 {
            self.until = count;
        }
    }

    /// Notes that the event number `count` was spelled. Returns a reach of the whole loop if this one is not.
    pub(super) fn spelled(&mut self, text: &[u8], count: usize, reach: Lookback) -> Option<Lookback> {
        if self.until == 0 {
            return None;
        }
        let hash = hash_of(text);
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

fn hash_of(text: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text);
    hasher.finish()
}
