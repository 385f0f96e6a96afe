//! Rounds volumes to the precision of their measurement.
//!
//! The CPU time of the same piece of work varies by at least one percent, with the state of caches, branch predictors
//! and the neighbours on the core, and by the time of the measurement itself. Further digits carry no information, and
//! since they are unpredictable, no compression can shorten them: they would be two thirds of a trace. A volume is
//! therefore rounded to a multiple of a step, the largest of 1, 2, 5, 10, 20 … within [`Precision`].
//!
//! Sums stay right. The rounding error is carried over to the next volume that is rounded to an equal or coarser step:
//! the error of a long computation must not be distributed among many short ones, which compensate each other.

use titr_common::units::Instructions;

/// The precision with which a counter measures a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Precision {
    /// In instructions, for small volumes.
    pub absolute: f64,
    /// As a fraction of the volume, for large volumes.
    pub relative: f64,
}

/// Rounds the volumes of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    precision: Precision,
    /// The step of volumes below `long`: of nearly all.
    step: f64,
    long: f64,
    /// The volume that was written too little so far, of volumes below `long`.
    owed: f64,
    /// The volumes that were written too little so far, of longer volumes, each with its step.
    owed_by_long: Vec<(f64, f64)>,
}

impl Precision {
    /// For counters that count each instruction, the same ones each time.
    pub(crate) const EXACT: Self = Self { absolute: 1.0, relative: 0.0 };

    /// The step that a volume is rounded to a multiple of.
    fn step(self, volume: f64) -> f64 {
        let finest = self.absolute.max(volume * self.relative);
        if finest < 2.0 {
            return 1.0;
        }
        let decade = 10_f64.powi(finest.log10() as i32);
        [5.0, 2.0].into_iter().map(|digit| digit * decade).find(|&step| step <= finest).unwrap_or(decade)
    }
}

impl Rounding {
    pub(crate) fn to(precision: Precision) -> Self {
        let long = precision.absolute / precision.relative;
        Self { precision, step: precision.step(0.0), long, owed: 0.0, owed_by_long: Vec::new() }
    }

    /// The volume to be written for a volume; `None` if that is nothing.
    #[inline]
    pub(crate) fn round(&mut self, Instructions(volume): Instructions) -> Option<Instructions> {
        if volume >= self.long {
            return Some(Instructions(self.round_long(volume)));
        }
        let due = volume + self.owed;
        if due < self.step / 2.0 {
            // Hooks in a row take less than is subtracted for them, and no computation is to make up for that.
            self.owed = if due > -self.step { due } else { -self.step };
            return None;
        }
        let said = nearest(due, self.step);
        self.owed = due - said;
        Some(Instructions(said))
    }

    #[cold]
    fn round_long(&mut self, volume: f64) -> f64 {
        let step = self.precision.step(volume);
        let mut due = volume + std::mem::take(&mut self.owed);
        self.owed_by_long.retain(|&(coarse, owed)| {
            let waits = coarse > step;
            due += if waits { 0.0 } else { owed };
            waits
        });
        let said = nearest(due, step);
        self.owed_by_long.push((step, due - said));
        said
    }
}

/// The multiple of `step` that is nearest to a volume above zero.
#[inline]
fn nearest(volume: f64, step: f64) -> f64 {
    // The cast cuts off.
    (volume / step + 0.5) as i64 as f64 * step
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUGH: Precision = Precision { absolute: 20.0, relative: 0.01 };

    fn say(rounding: &mut Rounding, volume: f64) -> f64 {
        rounding.round(Instructions(volume)).map_or(0.0, |said| said.0)
    }

    #[test]
    fn steps_are_what_people_count_in() {
        let steps = [0.0, 1999.0, 2000.0, 4999.0, 5000.0, 123_456.0, 1e9].map(|volume| ROUGH.step(volume));
        assert_eq!(steps, [20.0, 20.0, 20.0, 20.0, 50.0, 1000.0, 1e7]);
        assert_eq!(Precision::EXACT.step(1e15), 1.0);
        assert_eq!(Precision { absolute: 37.0, relative: 0.0 }.step(1e6), 20.0);
    }

    #[test]
    fn an_exact_counter_is_believed_to_the_last_digit() {
        let mut rounding = Rounding::to(Precision::EXACT);
        for volume in [1.0, 123_457.0, 0.0, 4_503_599_627_370_495.0] {
            assert_eq!(say(&mut rounding, volume), volume);
        }
    }

    #[test]
    fn a_volume_is_within_its_precision_and_a_sum_is_right() {
        let mut rounding = Rounding::to(ROUGH);
        let (mut truth, mut said, mut state) = (0.0, 0.0, 1_u64);
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // From 1 to 10⁶, equally distributed over orders of magnitude, and some that the correction made slightly
            // negative.
            let volume = 10_f64.powf((state >> 40) as f64 / 2_796_202.0) - 5.0;
            let now = say(&mut rounding, volume);
            assert!((now - volume).abs() <= 1.5 * ROUGH.step(volume), "{volume} is called {now}");
            (truth, said) = (truth + volume, said + now);
        }
        assert!((said / truth - 1.0).abs() < 1e-4, "{said} of {truth}");
    }

    #[test]
    fn short_volumes_do_not_pay_for_a_long_one() {
        let mut rounding = Rounding::to(ROUGH);
        assert_eq!(say(&mut rounding, 1_004_000.0), 1_000_000.0);
        assert_eq!(say(&mut rounding, 100.0), 100.0);
        assert_eq!(say(&mut rounding, 1_001_000.0), 1_010_000.0, "4,000 are owed");
    }

    #[test]
    fn short_volumes_pay_for_each_other_whatever_a_long_one_owes() {
        let mut rounding = Rounding::to(ROUGH);
        say(&mut rounding, 1_004_000.0);
        let said: f64 = (0..1000).map(|_| say(&mut rounding, 108.0)).sum();
        assert!((said - 108_000.0).abs() <= 20.0, "{said}");
        assert_eq!(say(&mut rounding, 1_006_000.0), 1_010_000.0, "4,000 are still owed");
    }

    #[test]
    fn what_was_subtracted_too_much_is_not_taken_from_what_follows() {
        let mut rounding = Rounding::to(ROUGH);
        (0..1000).for_each(|_| assert_eq!(say(&mut rounding, -10.0), 0.0));
        assert_eq!(say(&mut rounding, 120.0), 100.0);
        assert_eq!(say(&mut rounding, 120.0), 120.0);
    }

    #[test]
    fn what_is_too_short_to_be_said_adds_up() {
        let mut rounding = Rounding::to(ROUGH);
        let said: f64 = (0..1000).map(|_| say(&mut rounding, 3.0)).sum();
        assert!((said - 3000.0).abs() <= 20.0, "{said}");
    }
}
