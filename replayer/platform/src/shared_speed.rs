//! The speed of cores whose host has several ranks, which share its memory and its caches.

use serde::Deserialize;

use crate::host_speed::impossible_part;

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
    fn the_part_is_that_of_the_last_step_reached() {
        let sharing = SharedSpeed { steps: vec![(2, 0.9), (4, 0.5)] };
        assert_eq!([1, 2, 3, 4, 100].map(|ranks| sharing.part(ranks)), [1.0, 0.9, 0.9, 0.5, 0.5]);
        assert_eq!(SharedSpeed::default().part(8).to_bits(), 1.0_f64.to_bits());
    }
}
