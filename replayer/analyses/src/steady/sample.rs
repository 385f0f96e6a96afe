//! The choice of iterations to simulate.

/// Number of iterations in the shorter trace: enough for the loop to settle, so that the further ones of the longer
/// trace are typical.
const SHORTER: u64 = 3;

/// Iterations, in order, spread evenly over a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The iterations of the longer trace.
    pub longer: Vec<u64>,
    /// The iterations of the longer trace that the shorter one has, too.
    pub shorter: Vec<u64>,
}

impl Sample {
    /// A sample of `kept` iterations, more than [`SHORTER`], out of `iterations`.
    pub(crate) fn new(kept: u64, iterations: u64) -> Self {
        let kept = kept.min(iterations);
        let spread = |some: u64, over: u64| move |index: u64| ((2 * index + 1) * over) / (2 * some);
        let longer: Vec<u64> = (0..kept).map(spread(kept, iterations)).collect();
        let shorter = (0..SHORTER).map(spread(SHORTER, kept)).map(|index| longer[index as usize]).collect();
        Self { longer, shorter }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_the_loop() {
        let Sample { longer, shorter } = Sample::new(6, 60);
        assert_eq!((longer, shorter), (vec![5, 15, 25, 35, 45, 55], vec![15, 35, 55]));
    }

    #[test]
    fn no_iteration_is_there_twice() {
        for iterations in 4..40 {
            for kept in 4..=iterations {
                let Sample { longer, shorter } = Sample::new(kept, iterations);
                assert!(longer.windows(2).all(|pair| pair[0] < pair[1]) && longer.last() < Some(&iterations));
                assert!(shorter.windows(2).all(|pair| pair[0] < pair[1]) && shorter.len() < longer.len());
            }
        }
    }
}
