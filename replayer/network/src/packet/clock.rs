//! Conversion between cycles and time.

use titr_common::time::Time;

/// A clock that ticks once a cycle, from the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    picoseconds: f64,
}

impl Clock {
    /// A clock with cycles of this many seconds, which must be positive.
    pub(crate) fn new(cycle: f64) -> Self {
        Self { picoseconds: cycle * 1e12 }
    }

    /// The time at which a cycle begins.
    pub(crate) fn time(self, cycle: u64) -> Time {
        // `as` saturates.
        Time((cycle as f64 * self.picoseconds).round() as u64)
    }

    /// The first cycle that does not begin before `time`.
    pub(crate) fn cycle(self, time: Time) -> u64 {
        let begins = |cycle: u64| self.time(cycle) >= time;
        let is_first = |&cycle: &u64| begins(cycle) && cycle.checked_sub(1).is_none_or(|before| !begins(before));
        // Rounding is off by less than a cycle, unless there are more cycles than a float has digits for.
        let about = (time.0 as f64 / self.picoseconds) as u64;
        (about.saturating_sub(1)..=about.saturating_add(1)).find(is_first).unwrap_or_else(|| {
            let (mut after, mut first) = (0, u64::MAX);
            while after < first {
                let middle = after + (first - after) / 2;
                if begins(middle) { first = middle } else { after = middle + 1 }
            }
            first
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles so short that their number is not exact in a float, or that there are too many of them.
    #[test]
    fn the_cycle_of_a_time_is_found_however_short_cycles_are() {
        for cycle in [1e-15, 1e-20, 3e-28, 1e-300] {
            for time in [0, 1, 999, 1 << 40, u64::MAX - 1, u64::MAX].map(Time) {
                let clock = Clock::new(cycle);
                let found = clock.cycle(time);
                assert!(found == u64::MAX || clock.time(found) >= time, "{cycle}: {time:?} became {found}");
                assert!(found == 0 || clock.time(found - 1) < time, "{cycle}: {time:?} became {found}");
            }
        }
    }

    /// Cycles of 3.2 ns; of a third of a nanosecond, which is no whole number of picoseconds; and of less than one.
    #[test]
    fn a_cycle_begins_when_it_says() {
        for cycle in [3.2e-9, 1e-9 / 3.0, 0.3e-12] {
            let clock = Clock::new(cycle);
            for number in (0..2000).chain((1 << 40)..(1 << 40) + 100) {
                let begins = clock.time(number);
                let found = clock.cycle(begins);
                assert!(found <= number && clock.time(found) == begins, "{number} became {found}");
                assert!(clock.time(clock.cycle(Time(begins.0 + 1))) > begins);
            }
        }
    }
}
