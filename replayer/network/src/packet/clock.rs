//! Cycles and time.

use titr_common::time::Time;

/// A clock that ticks once a cycle, from the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    picoseconds: f64,
}

impl Clock {
    /// A clock whose cycles take so many seconds, more than none.
    pub fn new(cycle: f64) -> Self {
        Self { picoseconds: cycle * 1e12 }
    }

    /// The time at which a cycle begins.
    pub fn time(self, cycle: u64) -> Time {
        // `as` saturates.
        Time((cycle as f64 * self.picoseconds).round() as u64)
    }

    /// The first cycle that does not begin before `time`.
    pub fn cycle(self, time: Time) -> u64 {
        let about = (time.0 as f64 / self.picoseconds) as u64;
        // Rounding is off by less than a cycle and a picosecond, either way.
        let mut cycle = about.saturating_sub(1 + (1.0 / self.picoseconds) as u64);
        while self.time(cycle) < time {
            cycle += 1;
        }
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
