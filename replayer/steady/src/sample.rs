//! Which iterations of a loop are simulated.

/// Iterations, in order, spread evenly over a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The iterations of the longer trace.
    pub longer: Vec<u64>,
    /// The iterations of the longer trace that the shorter one has, too.
    pub shorter: Vec<u64>,
}

impl Sample {
    /// A sample of `kept` iterations, at least 3, of so many.
    pub(crate) fn new(kept: u64, iterations: u64) -> Self {
        let kept = kept.min(iterations);
        let longer: Vec<u64> = (0..kept).map(|index| ((2 * index + 1) * iterations) / (2 * kept)).collect();
        let shorter = longer.iter().copied().skip(1).step_by(3).collect();
        Self { longer, shorter }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_the_loop() {
        let Sample { longer, shorter } = Sample::new(6, 60);
        assert_eq!((longer, shorter), (vec![5, 15, 25, 35, 45, 55], vec![15, 45]));
    }

    #[test]
    fn no_iteration_is_there_twice() {
        for iterations in 3..40 {
            for kept in 3..=iterations {
                let Sample { longer, .. } = Sample::new(kept, iterations);
                assert!(longer.windows(2).all(|pair| pair[0] < pair[1]) && longer.last() < Some(&iterations));
            }
        }
    }
}
