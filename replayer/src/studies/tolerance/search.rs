//! The search for the slowness at which a program takes a given part longer.
//!
//! The slowness is doubled until the program is too slow. Then false position with Illinois' weights, with a bisection wherever it
//! is slow, narrows the interval. A time that jumps over the goal is reported at the end of the jump.

use titr_common::units::Seconds;

/// The accepted error of a slowdown: a fifth of a thousandth of the time.
const ACCURACY: f64 = 2e-4;

/// The width of an interval that is a jump, as a fraction of its end.
const JUMP: f64 = 1e-9;

/// The most replays of a search.
const MOST: usize = 120;

/// The goal of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// The time without slowness.
    pub(crate) time: Seconds,
    /// The slowdown as a fraction of this time.
    pub(crate) slowdown: f64,
    /// The slowness at which the search begins.
    pub(crate) start: f64,
    /// The largest slowness that is tried.
    pub(crate) limit: f64,
}

/// The end of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reached {
    /// The slowness.
    pub(crate) at: f64,
    /// The time there.
    pub(crate) time: Seconds,
    /// Whether the time jumps over the goal there.
    pub(crate) jumps: bool,
}

/// The slowness that reaches the goal; `None` if none up to the limit does.
pub(super) fn search<E>(goal: Goal, mut time: impl FnMut(f64) -> Result<Seconds, E>) -> Result<Option<Reached>, E> {
    let wanted = (1.0 + goal.slowdown) * goal.time.0;
    let accuracy = ACCURACY.min(goal.slowdown / 10.0) * goal.time.0;
    let is_close = |excess: f64| excess.abs() <= accuracy;
    // Each end of the interval: a slowness, and how much longer than wanted the program takes with it.
    let (mut low, mut below) = (0.0, goal.time.0 - wanted);
    let mut high = goal.start.clamp(1e-9 * goal.limit, goal.limit);
    let mut above = loop {
        let excess = time(high)?.0 - wanted;
        if is_close(excess) {
            return Ok(Some(Reached { at: high, time: Seconds(excess + wanted), jumps: false }));
        }
        if excess > 0.0 {
            break excess;
        }
        if high >= goal.limit {
            return Ok(None);
        }
        (low, below) = (high, excess);
        high = (2.0 * high).min(goal.limit);
    };
    let reached = above;
    let (mut weight_below, mut weight_above) = (1.0, 1.0);
    let mut at_high = reached;
    for step in 0..MOST {
        if high - low <= JUMP * high {
            break;
        }
        let (from, to) = (below * weight_below, above * weight_above);
        // Every third step is a bisection: false position is slow where the time is flat and then steep.
        let middle = match step % 3 {
            2 => f64::midpoint(low, high),
            _ => (low * to - high * from) / (to - from),
        };
        let middle = if middle > low && middle < high { middle } else { f64::midpoint(low, high) };
        let excess = time(middle)?.0 - wanted;
        if is_close(excess) {
            return Ok(Some(Reached { at: middle, time: Seconds(excess + wanted), jumps: false }));
        }
        if excess > 0.0 {
            (high, above, at_high) = (middle, excess, excess);
            (weight_below, weight_above) = (weight_below / 2.0, 1.0);
        } else {
            (low, below) = (middle, excess);
            (weight_below, weight_above) = (1.0, weight_above / 2.0);
        }
    }
    Ok(Some(Reached { at: high, time: Seconds(at_high + wanted), jumps: true }))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn found(slowdown: f64, start: f64, time: impl Fn(f64) -> f64) -> Option<Reached> {
        let goal = Goal { time: Seconds(time(0.0)), slowdown, start, limit: 10.0 };
        let Ok(found) = search(goal, |slowness| Ok::<_, Infallible>(Seconds(time(slowness))));
        found
    }

    proptest! {
        /// A program with slack: its time is constant at first and then grows.
        #[test]
        fn a_time_that_grows_is_found(
            slack in 0.0_f64..3.0, slope in 0.01_f64..100.0, slowdown in 0.001_f64..0.1, start in 1e-6_f64..10.0,
        ) {
            let time = |slowness: f64| 5.0 + 5.0 * slope * (slowness - slack).max(0.0);
            let found = found(slowdown, start, time);
            let exact = slack + slowdown / slope;
            if exact <= 9.99 {
                let found = found.unwrap();
                prop_assert!(!found.jumps && (found.time.0 / 5.0 - 1.0 - slowdown).abs() <= 5e-4);
                prop_assert_eq!(found.time.0, time(found.at));
            }
        }
    }

    #[test]
    fn a_jump_is_reported_as_one() {
        let found = found(0.05, 0.1, |slowness| if slowness < 2.0 { 1.0 } else { 1.5 }).unwrap();
        assert!(found.jumps && (found.at - 2.0).abs() < 1e-6 && found.time == Seconds(1.5), "{found:?}");
    }

    #[test]
    fn what_has_no_effect_is_tolerated() {
        assert_eq!(found(0.01, 0.1, |_| 1.0), None);
        assert_eq!(found(0.01, 0.0, |_| 1.0), None);
    }
}
