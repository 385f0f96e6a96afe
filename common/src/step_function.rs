//! Step functions: quantities that are constant over time, but for steps at known instants, which may come again and again.

use thiserror::Error;

use crate::time::Time;
use crate::units::Seconds;

/// A quantity by time: constant from one step to the next, perhaps periodic. It is finite and not negative.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFunction {
    /// The value before the first step.
    initial: f64,
    /// The instant of the first step; [`Time::NEVER`] if there is none.
    start: Time,
    /// The steps, by the time from the first one: the value from then on. The first is at 0, and all are before the period's end.
    steps: Vec<(Time, f64)>,
    /// The time after which the steps come again; `None`: the last value stays.
    period: Option<Time>,
}

/// An error of steps that are no step function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoStepFunction {
    /// A step is written after one that is later.
    #[error("the steps are not in the order of their times")]
    Unordered,
    /// A value is negative, or not a number, or infinite.
    #[error("a value is a number that is not negative")]
    Value,
    /// The steps come again before the last of them.
    #[error("the period is over before the last step")]
    ShortPeriod,
    /// The steps come again at once.
    #[error("the period takes no time")]
    NoPeriod,
}

impl StepFunction {
    /// The function with the value `initial` until the first of `steps`, which come again after each `period`. Of several
    /// steps at one instant, the last one counts.
    ///
    /// # Errors
    /// If the steps are not in order, a value is negative or not finite, or the period does not hold the steps.
    pub fn new(initial: f64, steps: &[(Time, f64)], period: Option<Time>) -> Result<Self, NoStepFunction> {
        if !steps.is_sorted_by_key(|&(at, _)| at) {
            return Err(NoStepFunction::Unordered);
        }
        if !steps.iter().all(|&(_, value)| (0.0..f64::INFINITY).contains(&value)) {
            return Err(NoStepFunction::Value);
        }
        let (&[(start, _), ..], &[.., (last, _)]) = (steps, steps) else {
            return Ok(Self { initial, start: Time::NEVER, steps: Vec::new(), period: None });
        };
        match period {
            Some(Time::ZERO) => return Err(NoStepFunction::NoPeriod),
            Some(period) if period < last => return Err(NoStepFunction::ShortPeriod),
            Some(_) | None => {}
        }
        let mut distinct: Vec<(Time, f64)> = Vec::with_capacity(steps.len());
        for &(at, value) in steps {
            let since = Time(at.0 - start.0);
            match distinct.last_mut() {
                // At the end of a period, the first step of the next is at the same instant, and after it.
                _ if Some(since) == period => {}
                Some(before) if before.0 == since => before.1 = value,
                _ => distinct.push((since, value)),
            }
        }
        Ok(Self { initial, start, steps: distinct, period })
    }

    /// The value at an instant. A step counts from its instant on.
    pub fn value_at(&self, at: Time) -> f64 {
        if at < self.start { self.initial } else { self.steps[self.steps_by(self.within(at)) - 1].1 }
    }

    /// The instant of the first step after another instant.
    pub fn next_after(&self, at: Time) -> Option<Time> {
        if at < self.start {
            return (!self.steps.is_empty()).then_some(self.start);
        }
        let within = self.within(at);
        let next = self.steps.get(self.steps_by(within)).map(|&(since, _)| since).or(self.period)?;
        Some(Time(at.0.saturating_add(next.0 - within.0)))
    }

    /// The first instant at which the value is 0, if it ever is.
    pub fn first_zero(&self) -> Option<Time> {
        if self.start > Time::ZERO && self.initial == 0.0 {
            return Some(Time::ZERO);
        }
        self.steps.iter().find(|&&(_, value)| value == 0.0).map(|&(since, _)| Time(self.start.0 + since.0))
    }

    /// The value, if it is the same at all times.
    pub fn constant(&self) -> Option<f64> {
        let value = self.value_at(Time::ZERO);
        let is_it = |&(_, other): &(Time, f64)| other == value;
        self.steps.iter().all(is_it).then_some(value)
    }

    /// The function with all its values multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let steps = self.steps.iter().map(|&(at, value)| (at, value * factor)).collect();
        Self { initial: self.initial * factor, steps, ..*self }
    }

    /// The integral over the time from one instant to another, of which whole periods cost nothing.
    pub fn integral(&self, from: Time, to: Time) -> f64 {
        let (mut at, mut sum) = (from, 0.0);
        while at < to {
            let next = match self.period {
                Some(period) if at >= self.start && to.0 - at.0 >= period.0 => {
                    let periods = (to.0 - at.0) / period.0;
                    sum += periods as f64 * self.integral_of_period(period);
                    Time(at.0 + periods * period.0)
                }
                _ => {
                    let next = self.next_after(at).unwrap_or(to).min(to);
                    sum += self.value_at(at) * (next - at).0;
                    next
                }
            };
            at = next;
        }
        sum
    }

    /// The first instant at which the integral from `from` on is `amount`; [`Time::NEVER`] if it never is.
    pub fn when_integral_is(&self, amount: f64, from: Time) -> Time {
        let (mut at, mut left) = (from, amount);
        while left > 0.0 && at < Time::NEVER {
            if let Some(period) = self.period.filter(|_| at >= self.start) {
                let whole = self.integral_of_period(period);
                if left > whole {
                    // The last period may end without adding anything.
                    let periods = (left / whole).ceil() - 1.0;
                    left -= periods * whole;
                    at = Time(at.0.saturating_add((periods as u64).saturating_mul(period.0)));
                    if periods == f64::INFINITY {
                        return Time::NEVER;
                    }
                }
            }
            let (value, next) = (self.value_at(at), self.next_after(at));
            match next.map(|next| (next, value * (next - at).0)) {
                Some((next, until_then)) if until_then < left => (at, left) = (next, left - until_then),
                _ => return at + Seconds(left / value),
            }
        }
        at
    }

    /// The integral over a period, which is the same from the first step on wherever the period begins.
    fn integral_of_period(&self, period: Time) -> f64 {
        let ends = self.steps.iter().skip(1).map(|&(since, _)| since).chain([period]);
        self.steps.iter().zip(ends).map(|(&(since, value), end)| value * (end - since).0).sum()
    }

    /// The time from the first step of the period to an instant that is not before the first of all.
    fn within(&self, at: Time) -> Time {
        let since = at.0 - self.start.0;
        Time(self.period.map_or(since, |period| since % period.0))
    }

    /// The number of steps that a period has had so far.
    fn steps_by(&self, within: Time) -> usize {
        self.steps.partition_point(|&(since, _)| since <= within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::from_seconds(Seconds(seconds))
    }

    fn function(initial: f64, steps: &[(f64, f64)], period: Option<f64>) -> StepFunction {
        let steps: Vec<_> = steps.iter().map(|&(seconds, value)| (at(seconds), value)).collect();
        StepFunction::new(initial, &steps, period.map(at)).unwrap()
    }

    fn steps(function: &StepFunction, many: usize) -> Vec<(f64, f64)> {
        let times = std::iter::successors(function.next_after(Time::ZERO), |&at| function.next_after(at));
        times.take(many).map(|at| (at.seconds().0, function.value_at(at))).collect()
    }

    /// SimGrid's own example: steps at 1 and 3 come again 2 s after the last.
    #[test]
    fn periods_follow_one_another() {
        let function = function(5.0, &[(1.0, 1.0), (3.0, 3.0)], Some(5.0));
        assert_eq!(function.value_at(at(0.5)), 5.0);
        assert_eq!(steps(&function, 5), [(1.0, 1.0), (3.0, 3.0), (6.0, 1.0), (8.0, 3.0), (11.0, 1.0)]);
        assert_eq!(function.value_at(at(5.9)), 3.0);
    }

    #[test]
    fn the_last_of_several_steps_at_one_instant_counts() {
        let same = function(1.0, &[(2.0, 7.0), (2.0, 3.0)], None);
        assert_eq!(steps(&same, 3), [(2.0, 3.0)]);
        let next_period = function(1.0, &[(0.0, 1.0), (1.0, 2.0), (4.0, 9.0)], Some(4.0));
        assert_eq!(steps(&next_period, 3), [(1.0, 2.0), (4.0, 1.0), (5.0, 2.0)]);
        let later = function(1.0, &[(1.0, 2.0), (4.0, 9.0)], Some(4.0));
        assert_eq!(steps(&later, 3), [(1.0, 2.0), (4.0, 9.0), (5.0, 2.0)]);
    }

    /// 2 for 1 s, then 1 and 3 in turn for 1 s each.
    #[test]
    fn integrals_and_their_inverses() {
        let function = function(2.0, &[(1.0, 1.0), (2.0, 3.0)], Some(2.0));
        for (from, to, integral) in [(0.0, 1.0, 2.0), (0.0, 2.5, 4.5), (1.5, 101.5, 200.0), (0.25, 100.75, 200.75)] {
            assert_eq!(function.integral(at(from), at(to)), integral);
            assert_eq!(function.when_integral_is(integral, at(from)), at(to), "{integral}");
        }
    }

    #[test]
    fn what_never_comes_is_never() {
        assert_eq!(function(1.0, &[(3.0, 0.0)], None).when_integral_is(4.0, Time::ZERO), Time::NEVER);
        assert_eq!(function(1.0, &[(3.0, 0.0)], Some(5.0)).when_integral_is(4.0, Time::ZERO), Time::NEVER);
        assert_eq!(function(1.0, &[(3.0, 0.0)], None).when_integral_is(3.0, Time::ZERO), at(3.0));
        let half = function(1.0, &[(0.0, 1.0), (1.0, 0.0)], Some(2.0));
        assert_eq!(half.when_integral_is(3.0, Time::ZERO), at(5.0));
        assert_eq!(half.when_integral_is(3.5, Time::ZERO), at(6.5));
    }

    #[test]
    fn mistakes_are_told() {
        let new = |steps: &[(f64, f64)], period: Option<f64>| {
            let steps: Vec<_> = steps.iter().map(|&(seconds, value)| (at(seconds), value)).collect();
            StepFunction::new(1.0, &steps, period.map(at)).unwrap_err()
        };
        assert_eq!(new(&[(2.0, 1.0), (1.0, 1.0)], None), NoStepFunction::Unordered);
        assert_eq!(new(&[(2.0, -1.0)], None), NoStepFunction::Value);
        assert_eq!(new(&[(2.0, f64::NAN)], None), NoStepFunction::Value);
        assert_eq!(new(&[(2.0, 1.0)], Some(1.0)), NoStepFunction::ShortPeriod);
        assert_eq!(new(&[(0.0, 1.0)], Some(0.0)), NoStepFunction::NoPeriod);
    }
}
