//! The speed of a core: a number of instructions per second, or a multiple of the speed that the traced program had.

use serde::Deserialize;
use titr_common::units::{Dimension, Speed, UnitError, Written};

/// The speed of a core of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostSpeed {
    /// Instructions per second, whatever the trace.
    Absolute(Speed),
    /// This multiple of the speed of the core that the rank was recorded on.
    OfRecorded(f64),
}

impl HostSpeed {
    /// The instructions per second, for a rank that was recorded on a core of the speed `recorded`.
    #[must_use]
    pub fn for_recorded(self, recorded: Speed) -> Speed {
        match self {
            Self::Absolute(speed) => speed,
            Self::OfRecorded(factor) => Speed { per_second: factor * recorded.per_second },
        }
    }

    /// This speed multiplied by `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        match self {
            Self::Absolute(speed) => Self::Absolute(Speed { per_second: factor * speed.per_second }),
            Self::OfRecorded(multiple) => Self::OfRecorded(factor * multiple),
        }
    }
}

/// The reason why a core cannot keep this part of its speed; `None` if it can.
pub(crate) fn impossible_part(part: f64) -> Option<String> {
    let is_possible = part.is_finite() && part > 0.0;
    (!is_possible).then(|| format!("cores cannot compute at {part} times their speed"))
}

impl Written for HostSpeed {
    const DIMENSION: Dimension = Speed::DIMENSION;

    fn in_base_unit(number: f64) -> Result<Self, UnitError> {
        Speed::in_base_unit(number).map(Self::Absolute)
    }

    fn written(text: &str) -> Result<Self, UnitError> {
        let Some(factor) = text.trim_end().strip_suffix("recorded") else {
            return Speed::written(text).map(Self::Absolute);
        };
        let factor = factor.trim_end().strip_suffix(['x', '×']).and_then(|factor| factor.trim().parse().ok());
        match factor {
            Some(factor) if f64::is_finite(factor) && factor > 0.0 => Ok(Self::OfRecorded(factor)),
            Some(_) | None => Err(UnitError::new(
                "not a multiple of the recorded speed: write a positive number, as in 1.5 x recorded",
            )),
        }
    }
}

/// The part of its speed that a core keeps, by the number of ranks on its host: all of it below the first step.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct SharedSpeed {
    /// Pairs of a number of ranks and the part from this number on, by increasing number.
    steps: Vec<(u32, f64)>,
}

impl SharedSpeed {
    /// The part for this number of ranks on a host.
    #[must_use]
    pub fn part(&self, ranks: u32) -> f64 {
        let step = self.steps.iter().rev().find(|&&(from, _)| from <= ranks);
        step.map_or(1.0, |&(_, part)| part)
    }

    /// A reason why these steps have no meaning.
    pub(crate) fn mistake(&self) -> Option<String> {
        let impossible = self.steps.iter().find_map(|&(_, part)| impossible_part(part));
        if impossible.is_some() {
            return impossible;
        }
        let disorder = self.steps.windows(2).find(|pair| pair[0].0 >= pair[1].0)?;
        Some(format!("the step from {} ranks on is after the step from {} ranks on", disorder[1].0, disorder[0].0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_absolute_or_a_multiple_of_the_recorded_one() {
        let recorded = Speed { per_second: 3e9 };
        let speed = |text| HostSpeed::written(text).map(|speed| speed.for_recorded(recorded).per_second);
        assert_eq!(["2 Ginstr/s", "1 x recorded", "0.5× recorded"].map(speed), [Ok(2e9), Ok(3e9), Ok(1.5e9)]);
        for text in ["recorded", "x recorded", "0 x recorded", "-1 x recorded", "inf x recorded", "1 recorded"] {
            assert!(speed(text).is_err(), "{text}");
        }
        assert_eq!(HostSpeed::OfRecorded(2.0).times(1.5), HostSpeed::OfRecorded(3.0));
    }
}

#[cfg(test)]
mod shared_speed_tests {
    use super::*;

    #[test]
    fn the_part_is_that_of_the_last_step_reached() {
        let sharing = SharedSpeed { steps: vec![(2, 0.9), (4, 0.5)] };
        assert_eq!([1, 2, 3, 4, 100].map(|ranks| sharing.part(ranks)), [1.0, 0.9, 0.9, 0.5, 0.5]);
        assert_eq!(SharedSpeed::default().part(8).to_bits(), 1.0_f64.to_bits());
    }
}
