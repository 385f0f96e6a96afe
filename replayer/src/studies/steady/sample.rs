//! The choice of iterations to simulate.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use titr_common::counts::Round;
use titr_common::statistics::quantile;
use titr_network::chance;

use super::structure::ProgramLoop;

/// Number of iterations in the shorter trace: enough for the loop to settle, so that the further ones of the longer
/// trace are typical.
const SHORTER: u64 = 3;
/// An unusual iteration lies outside the quartiles by more than this many times their distance: J. W. Tukey's outer fences
/// (Exploratory Data Analysis, 1977).
const FENCE: f64 = 3.0;
/// What differs by less than this part of the whole is not unusual.
const NEGLIGIBLE: f64 = 1e-3;
/// If more than one iteration out of this many is unusual, all are usual. The smallest sample that is spread over their order then has
/// some of them.
const UNUSUAL_ONE_OF: usize = 8;

/// The iterations of a loop in two groups, which are sampled separately. In each, they are in the order of what the trace knows of
/// them: first of the longest computation of a rank.
///
/// A rank that computes much longer than usual in an iteration delays others, and so does no sample without that iteration. A sample
/// spread evenly over this order has its share of iterations that delay others a little (systematic sampling from an ordered list: W. G.
/// Cochran, Sampling Techniques, 1977, §8.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// The usual iterations.
    pub(crate) usual: Vec<u64>,
    /// Few others, whose computation or sleeps differ much from those of the usual ones.
    pub(crate) unusual: Vec<u64>,
}

/// Iterations to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IterationSample {
    /// The iterations of the longer trace, in order.
    pub(crate) longer: Vec<u64>,
    /// Whether each of them is unusual.
    pub(crate) is_unusual: Vec<bool>,
    /// The iterations of the longer trace that the shorter one has, too.
    pub(crate) shorter: Vec<u64>,
}

/// What the trace knows of an iteration: the longest computation of a rank, the sum of all, the longest sleep, and the sum of all.
/// Sums have another weight for each rank, between 1 and 2, so that they differ if another rank computes as much.
type Known = [f64; 4];

fn known(program: &ProgramLoop, iteration: usize) -> Known {
    let rounds = || program.ranks.iter().map(|rank| rank.rounds[iteration]);
    // Multiples of the golden ratio, without their integer parts, are all different.
    let weights = || (0..).map(|rank: u32| 1.0 + (f64::from(rank) * 0.618_033_988_749_895).fract());
    let summary = |volume: fn(Round) -> f64| {
        let longest = rounds().map(volume).fold(0.0, f64::max);
        [longest, rounds().map(volume).zip(weights()).map(|(volume, weight)| volume * weight).sum()]
    };
    let [[longest, all], [longest_sleep, all_sleep]] = [summary(|round| round.work.0), summary(|round| round.slept.0)];
    [longest, all, longest_sleep, all_sleep]
}

impl Groups {
    /// The groups of a program's iterations.
    pub(crate) fn of(program: &ProgramLoop) -> Self {
        let known: Vec<Known> = (0..program.iterations as usize).map(|iteration| known(program, iteration)).collect();
        let fences = [0, 1, 2, 3].map(|kind| fences(known.iter().map(|known: &Known| known[kind])));
        // At random where nothing distinguishes them, lest what recurs in every tenth iteration be in all of a sample or in none.
        let mut order: Vec<u64> = (0..program.iterations).collect();
        order.sort_by(|&a, &b| {
            let pairs = known[a as usize].iter().zip(&known[b as usize]);
            let by_known = pairs.map(|(a, b)| a.total_cmp(b)).fold(Ordering::Equal, Ordering::then);
            by_known.then_with(|| chance(0, 0, a).cmp(&chance(0, 0, b)))
        });
        let is_usual = |&iteration: &u64| {
            known[iteration as usize].iter().zip(&fences).all(|(known, fences)| fences.contains(known))
        };
        let (usual, unusual): (Vec<u64>, Vec<u64>) = order.iter().partition(|&iteration| is_usual(iteration));
        if unusual.len() * UNUSUAL_ONE_OF > order.len() {
            return Self { usual: order, unusual: Vec::new() };
        }
        Self { usual, unusual }
    }
}

/// The range of what is usual.
fn fences(numbers: impl Iterator<Item = f64>) -> RangeInclusive<f64> {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    let [lower, upper] = [0.25, 0.75].map(|part| quantile(&sorted, part));
    let beyond = (FENCE * (upper - lower)).max(NEGLIGIBLE * upper);
    lower - beyond..=upper + beyond
}

/// So many of these, spread evenly; all if there are no more.
fn spread(some: u64, all: &[u64]) -> Vec<u64> {
    let (over, some) = (all.len() as u64, some.min(all.len() as u64));
    (0..some).map(|index| all[(((2 * index + 1) * over) / (2 * some)) as usize]).collect()
}

impl IterationSample {
    /// A sample of `kept` usual iterations, more than [`SHORTER`], and of at most half as many unusual ones.
    pub(crate) fn new(kept: u64, groups: &Groups) -> Self {
        let (usual, unusual) = (spread(kept, &groups.usual), spread(kept / 2, &groups.unusual));
        let mut shorter = spread(SHORTER, &usual);
        let mut longer = [&usual[..], &unusual[..]].concat();
        shorter.sort_unstable();
        longer.sort_unstable();
        let is_unusual = longer.iter().map(|iteration| unusual.contains(iteration)).collect();
        Self { longer, is_unusual, shorter }
    }
}

#[cfg(test)]
mod tests {
    use titr_common::counts::PassedLoop;
    use titr_common::units::{Instructions, Seconds};

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
        let groups = Groups { usual: (0..60).collect(), unusual: Vec::new() };
        let IterationSample { longer, shorter, .. } = IterationSample::new(6, &groups);
        assert_eq!((longer, shorter), (vec![5, 15, 25, 35, 45, 55], vec![15, 35, 55]));
    }

    #[test]
    fn no_iteration_is_there_twice() {
        for iterations in 4..40 {
            for kept in 4..=iterations {
                let groups = Groups { usual: (0..iterations).collect(), unusual: Vec::new() };
                let IterationSample { longer, shorter, .. } = IterationSample::new(kept, &groups);
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
        assert_eq!((groups.usual.len(), &groups.unusual[..]), (48, &[30, 17][..]));
        let sample = IterationSample::new(6, &groups);
        assert_eq!((sample.longer.len(), sample.shorter.len()), (8, 3));
        let unusual = sample.longer.iter().zip(&sample.is_unusual).filter(|&(_, &is_unusual)| is_unusual);
        assert_eq!(unusual.map(|(&iteration, _)| iteration).collect::<Vec<_>>(), [17, 30]);
    }

    /// A rank computes longer in one iteration out of five, for a while. No sample is without such iterations, and none has many.
    #[test]
    fn a_sample_has_its_share_of_long_computation() {
        let is_long = |iteration: u64| (20..32).contains(&iteration);
        let work: Vec<[f64; 2]> =
            (0..60).map(|iteration| [if is_long(iteration) { 120.0 } else { 100.0 }, 90.0]).collect();
        for kept in 6..20 {
            let sample = IterationSample::new(kept, &Groups::of(&program(&work)));
            let long = sample.longer.iter().filter(|&&iteration| is_long(iteration)).count() as u64;
            assert!((kept / 5..=kept.div_ceil(5)).contains(&long), "{long} of {kept}");
            assert!(sample.longer.is_sorted() && sample.shorter.is_sorted());
        }
    }

    #[test]
    fn what_is_frequent_is_usual() {
        let work: Vec<[f64; 2]> =
            (0..50).map(|iteration| [if iteration % 6 == 0 { 900.0 } else { 100.0 }; 2]).collect();
        assert!(Groups::of(&program(&work)).unusual.is_empty());
    }

    /// What the longest computation does not say: that another rank computes more, or as much in place of the first, or sleeps.
    #[test]
    fn iterations_whose_other_ranks_differ_are_a_group() {
        let program = |special: [[f64; 2]; 2]| {
            let round = |iteration: usize, rank: usize| {
                let [work, slept] = if iteration == 33 { special[rank] } else { [[100.0, 0.0], [10.0, 0.0]][rank] };
                Round { work: Instructions(work), slept: Seconds(slept), ..Round::default() }
            };
            let rank = |rank| PassedLoop {
                rounds: (0..50).map(|iteration| round(iteration, rank)).collect(),
                ..PassedLoop::default()
            };
            ProgramLoop { iterations: 50, ranks: vec![rank(0), rank(1)], totals: Vec::new() }
        };
        for special in [[[100.0, 0.0], [100.0, 0.0]], [[10.0, 0.0], [100.0, 0.0]], [[100.0, 0.0], [10.0, 0.1]]] {
            assert_eq!(Groups::of(&program(special)).unusual, [33], "{special:?}");
        }
        assert!(Groups::of(&program([[100.0, 0.0], [10.001, 0.0]])).unusual.is_empty());
    }

    /// With a sample in which all iterations are as far apart, all would be even, or all odd.
    #[test]
    fn a_sample_does_not_resonate_with_what_recurs() {
        let groups = Groups::of(&program(&[[100.0, 90.0]; 400]));
        for kept in [8, 10, 20, 25, 40] {
            let IterationSample { longer, .. } = IterationSample::new(kept, &groups);
            let even = longer.iter().filter(|&iteration| iteration % 2 == 0).count();
            assert!((1..longer.len()).contains(&even), "{even} of {kept}");
        }
    }
}
