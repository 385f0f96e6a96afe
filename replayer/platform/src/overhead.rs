//! Software costs that grow with the size of a message.

use titr_common::units::{Bytes, Seconds};

/// A cost in steps of message size: `seconds + seconds_per_byte × bytes` of the last step whose `above` is less than
/// the size, or of the first; nothing if there are no steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overhead {
    /// The steps, by rising size.
    steps: Vec<OverheadStep>,
}

/// A step of an [`Overhead`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverheadStep {
    /// The step holds for larger messages than this.
    pub above: Bytes,
    /// Fixed part.
    pub seconds: Seconds,
    /// Part that grows with the size.
    pub seconds_per_byte: Seconds,
}

impl Overhead {
    /// A cost in these steps.
    #[must_use]
    pub fn new(mut steps: Vec<OverheadStep>) -> Self {
        steps.sort_by_key(|step| step.above);
        Self { steps }
    }

    /// These costs, each multiplied by `factor`.
    #[must_use]
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let scaled = |step: &OverheadStep| OverheadStep {
            seconds: Seconds(step.seconds.0 * factor),
            seconds_per_byte: Seconds(step.seconds_per_byte.0 * factor),
            ..*step
        };
        Self { steps: self.steps.iter().map(scaled).collect() }
    }

    /// The cost for a message of `bytes`.
    #[must_use]
    pub fn of(&self, bytes: Bytes) -> Seconds {
        let step = self.steps.iter().rev().find(|step| step.above < bytes).or(self.steps.first());
        step.map_or(Seconds(0.0), |step| Seconds(step.seconds.0 + step.seconds_per_byte.0 * bytes.0 as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_steps_above_its_sizes() {
        let step = |above, seconds, per_byte| OverheadStep {
            above: Bytes(above),
            seconds: Seconds(seconds),
            seconds_per_byte: Seconds(per_byte),
        };
        let overhead = Overhead::new(vec![step(1000, 7.0, 0.0), step(10, 1.0, 2.0)]);
        assert_eq!([0, 10, 11, 1000, 1001].map(|size| overhead.of(Bytes(size)).0), [1.0, 21.0, 23.0, 2001.0, 7.0]);
        assert_eq!(Overhead::default().of(Bytes(5)), Seconds(0.0));
    }
}
