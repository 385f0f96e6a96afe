//! The choice of iterations to simulate.

use titr_common::statistics::quantile;

use super::structure::ProgramLoop;

/// Number of iterations in the shorter trace: enough for the loop to settle, so that the further ones of the longer
/// trace are typical.
const SHORTER: u64 = 3;
/// A slow iteration lies beyond the upper quartile by more than this many times the distance of the quartiles: J. W. Tukey's
/// outer fence (Exploratory Data Analysis, 1977).
const FENCE: f64 = 3.0;
/// If more than one iteration out of this many is slow, being slow is usual.
const SLOW_ONE_OF: usize = 10;

/// The iterations of a loop in two groups, which are sampled separately. In each, they are in the order of the longest computation
/// of a rank.
///
/// A rank that computes much longer than usual in an iteration delays others, and so does no sample without that iteration. The
/// trace has the computation of all iterations. A sample spread evenly over this order has its share of iterations that delay
/// others a little (systematic sampling from an ordered list: W. G. Cochran, Sampling Techniques, 1977, §8.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// The usual iterations.
    pub usual: Vec<u64>,
    /// The slow iterations.
    pub slow: Vec<u64>,
}

/// Iterations to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The iterations of the longer trace, in order.
    pub longer: Vec<u64>,
    /// Whether each of them is slow.
    pub is_slow: Vec<bool>,
    /// The iterations of the longer trace that the shorter one has, too.
    pub shorter: Vec<u64>,
}

impl Groups {
    /// The groups of a program's iterations, by the longest computation of a rank in each.
    pub(crate) fn of(program: &ProgramLoop) -> Self {
        let longest = |iteration: usize| {
            let of_rank = program.ranks.iter().map(|rank| rank.rounds[iteration].work.0);
            of_rank.fold(0.0, f64::max)
        };
        let longest: Vec<f64> = (0..program.iterations as usize).map(longest).collect();
        // In time where they compute as long.
        let mut order: Vec<u64> = (0..program.iterations).collect();
        order.sort_by(|&a, &b| longest[a as usize].total_cmp(&longest[b as usize]));
        let sorted: Vec<f64> = order.iter().map(|&iteration| longest[iteration as usize]).collect();
        let [lower, upper] = [0.25, 0.75].map(|part| quantile(&sorted, part));
        let usual = sorted.partition_point(|&longest| longest <= upper + FENCE * (upper - lower));
        if (sorted.len() - usual) * SLOW_ONE_OF > sorted.len() {
            return Self { usual: order, slow: Vec::new() };
        }
        let slow = order.split_off(usual);
        Self { usual: order, slow }
    }
}

/// So many of these, spread evenly; all if there are no more.
fn spread(some: u64, all: &[u64]) -> Vec<u64> {
    let (over, some) = (all.len() as u64, some.min(all.len() as u64));
    (0..some).map(|index| all[(((2 * index + 1) * over) / (2 * some)) as usize]).collect()
}

impl Sample {
    /// A sample of `kept` usual iterations, more than [`SHORTER`], and of at most half as many slow ones.
    pub(crate) fn new(kept: u64, groups: &Groups) -> Self {
        let (usual, slow) = (spread(kept, &groups.usual), spread(kept / 2, &groups.slow));
        let mut shorter = spread(SHORTER, &usual);
        let mut longer = [&usual[..], &slow[..]].concat();
        shorter.sort_unstable();
        longer.sort_unstable();
        let is_slow = longer.iter().map(|iteration| slow.contains(iteration)).collect();
        Self { longer, is_slow, shorter }
    }
}

#[cfg(test)]
mod tests {
    use titr_common::counts::{PassedLoop, Round};
    use titr_common::units::Instructions;

    use super::*;

    /// A loop whose two ranks compute this much in each iteration.
    fn program(work: &[[f64; 2]]) -> ProgramLoop {
        let rank = |rank: usize| PassedLoop {
            rounds: work.iter().map(|work| Round { work: Instructions(work[rank]), ..Round::default() }).collect(),
            ..PassedLoop::default()
        };
        ProgramLoop { iterations: work.len() as u64, ranks: vec![rank(0), rank(1)], totals: Vec::new() }
    }

    #[test]
    fn a_sample_is_spread_over_the_loop() {
        let groups = Groups { usual: (0..60).collect(), slow: Vec::new() };
        let Sample { longer, shorter, .. } = Sample::new(6, &groups);
        assert_eq!((longer, shorter), (vec![5, 15, 25, 35, 45, 55], vec![15, 35, 55]));
    }

    #[test]
    fn no_iteration_is_there_twice() {
        for iterations in 4..40 {
            for kept in 4..=iterations {
                let groups = Groups { usual: (0..iterations).collect(), slow: Vec::new() };
                let Sample { longer, shorter, .. } = Sample::new(kept, &groups);
                assert!(longer.windows(2).all(|pair| pair[0] < pair[1]) && longer.last() < Some(&iterations));
                assert!(shorter.windows(2).all(|pair| pair[0] < pair[1]) && shorter.len() < longer.len());
            }
        }
    }

    #[test]
    fn iterations_in_which_one_rank_computes_much_longer_are_a_group() {
        let mut work: Vec<[f64; 2]> = (0..50).map(|iteration| [100.0 + f64::from(iteration % 7), 90.0]).collect();
        work[17][1] = 200.0;
        work[30][0] = 150.0;
        let groups = Groups::of(&program(&work));
        assert_eq!((groups.usual.len(), &groups.slow[..]), (48, &[30, 17][..]));
        let sample = Sample::new(6, &groups);
        assert_eq!((sample.longer.len(), sample.shorter.len()), (8, 3));
        let slow = sample.longer.iter().zip(&sample.is_slow).filter(|&(_, &is_slow)| is_slow);
        assert_eq!(slow.map(|(&iteration, _)| iteration).collect::<Vec<_>>(), [17, 30]);
    }

    /// A rank computes longer in one iteration out of five, for a while. No sample is without such iterations, and none has many.
    #[test]
    fn a_sample_has_its_share_of_long_computation() {
        let is_long = |iteration: u64| (20..32).contains(&iteration);
        let work: Vec<[f64; 2]> =
            (0..60).map(|iteration| [if is_long(iteration) { 120.0 } else { 100.0 }, 90.0]).collect();
        for kept in 6..20 {
            let sample = Sample::new(kept, &Groups::of(&program(&work)));
            let long = sample.longer.iter().filter(|&&iteration| is_long(iteration)).count() as u64;
            assert!((kept / 5..=kept.div_ceil(5)).contains(&long), "{long} of {kept}");
            assert!(sample.longer.is_sorted() && sample.shorter.is_sorted());
        }
    }

    #[test]
    fn what_is_frequent_is_usual() {
        let work: Vec<[f64; 2]> =
            (0..50).map(|iteration| [if iteration % 6 == 0 { 900.0 } else { 100.0 }; 2]).collect();
        assert!(Groups::of(&program(&work)).slow.is_empty());
    }
}
