//! How the grid of a program grows with the number of ranks.
//!
//! A program chooses its grid by the number of ranks, and a trace does not say how. The grids of the recordings are therefore
//! guessed: all that follow a law are tried, and the calls decide. The laws are those of `MPI_Dims_create` (sides as equal as
//! possible, MPI 4.0 §8.5.2) in either order, and sides that are powers of the number of ranks.

use rustc_hash::FxHashSet;

use crate::grid::{Grid, MOST_DIMENSIONS};

/// The grid of each recording, and that of the extrapolated trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Growth {
    pub recorded: Vec<Grid>,
    /// The grid of the extrapolated trace; `None` if its number of ranks forms none by the same law.
    pub target: Option<Grid>,
}

impl Growth {
    /// The number of ranks along a side that all recordings have in common and that the target does not have.
    pub(crate) fn unvaried(&self) -> Option<u32> {
        let (first, target) = self.recorded.first().zip(self.target.as_ref())?;
        let is_unvaried = |&dimension: &usize| {
            let side = first.side(dimension);
            side != target.side(dimension) && self.recorded.iter().all(|grid| grid.side(dimension) == side)
        };
        (0..MOST_DIMENSIONS).find(is_unvaried).map(|dimension| first.side(dimension))
    }

    /// Whether rules by place explain too much: a side of the largest recording has two ranks, and other grids have another number
    /// there, so that it has no rank inside and its two may be made to explain anything; or a recording has one rank there.
    pub(crate) fn has_short_side(&self) -> bool {
        let Some(largest) = self.recorded.last() else { return false };
        let sides = |dimension: usize| self.recorded.iter().chain(&self.target).map(move |grid| grid.side(dimension));
        let is_short = |dimension: usize| match largest.side(dimension) {
            2 => sides(dimension).any(|side| side != 2),
            largest => largest > 1 && sides(dimension).any(|side| side == 1),
        };
        let twos = largest.sides().iter().filter(|side| **side == 2).count();
        twos > 1 || (0..largest.sides().len()).any(is_short)
    }
}

/// The growths of a grid with these numbers of ranks to `ranks`, each once, the likeliest first. If the target is given, the grids
/// of the recordings follow no law; `is_possible` then says which grids a recording may have.
pub(crate) fn growths<'g>(
    recorded: &'g [u32],
    ranks: u32,
    target: Option<&'g Grid>,
    is_possible: impl Fn(usize, &Grid) -> bool + 'g,
) -> impl Iterator<Item = Growth> + 'g {
    let by_laws = (1..=MOST_DIMENSIONS).flat_map(move |dimensions| {
        let balanced =
            [false, true].into_iter().filter_map(move |ascending| balanced(recorded, ranks, dimensions, ascending));
        balanced.chain(powers(recorded, ranks, dimensions))
    });
    let all: Box<dyn Iterator<Item = Growth> + 'g> = match target {
        None => Box::new(by_laws),
        Some(target) => {
            let dimensions = target.sides().len();
            let alike =
                by_laws.filter(move |growth| growth.recorded.iter().all(|grid| grid.sides().len() == dimensions));
            // What is possible is found out only if no law explains the recordings.
            let any = std::iter::once_with(move || {
                let choices = recorded.iter().enumerate().map(|(number, &ranks)| {
                    let all = grids(ranks, dimensions).into_iter();
                    all.filter(|grid| has_all_dimensions(grid) && is_possible(number, grid)).collect()
                });
                combinations(choices.collect()).map(|recorded| Growth { recorded, target: None })
            });
            Box::new(alike.chain(any.flatten()).map(|growth| Growth { target: Some(target.clone()), ..growth }))
        }
    };
    let mut seen = FxHashSet::default();
    all.filter(move |growth| growth.recorded.iter().all(has_all_dimensions) && seen.insert(growth.clone()))
}

/// Whether no dimension is superfluous.
fn has_all_dimensions(grid: &Grid) -> bool {
    grid.sides().len() == 1 || !grid.sides().contains(&1)
}

/// The growth by which sides are as equal as possible.
fn balanced(recorded: &[u32], ranks: u32, dimensions: usize, ascending: bool) -> Option<Growth> {
    let grid = |ranks: u32| most_equal(ranks, dimensions, ascending);
    let recorded = recorded.iter().map(|&ranks| grid(ranks)).collect::<Option<Vec<_>>>()?;
    // A side of 1 is a grid of fewer dimensions.
    let target = grid(ranks).filter(|grid| dimensions == 1 || !grid.sides().contains(&1));
    Some(Growth { recorded, target })
}

/// The growths by which each side is a power of the number of ranks, those by which all sides grow alike first.
fn powers(recorded: &[u32], ranks: u32, dimensions: usize) -> Vec<Growth> {
    const EXPONENTS: [f64; 5] = [0.0, 1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0];
    let Some(&base) = recorded.first() else { return Vec::new() };
    let mut exponents: Vec<Vec<f64>> = vec![Vec::new()];
    for _ in 0..dimensions {
        let longer = |start: &Vec<f64>| EXPONENTS.map(|exponent| [start.as_slice(), &[exponent]].concat());
        exponents = exponents.iter().flat_map(longer).collect();
    }
    exponents.retain(|exponents| (exponents.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    exponents.sort_by_key(|exponents| exponents.windows(2).any(|pair| pair[0] != pair[1]));
    let grown = |first: &Grid, exponents: &[f64], ranks: u32| {
        let side = |(&side, &exponent): (&u32, &f64)| {
            let grown = f64::from(side) * (f64::from(ranks) / f64::from(base)).powf(exponent);
            ((grown - grown.round()).abs() < 1e-6).then_some(grown.round() as u32)
        };
        let sides = first.sides().iter().zip(exponents).map(side).collect::<Option<Vec<u32>>>()?;
        Grid::new(&sides).filter(|grid| grid.places() == ranks)
    };
    let firsts = grids(base, dimensions);
    let growth = |(exponents, first): (&Vec<f64>, &Grid)| {
        let recorded = recorded.iter().map(|&ranks| grown(first, exponents, ranks)).collect::<Option<Vec<_>>>()?;
        Some(Growth { recorded, target: grown(first, exponents, ranks) })
    };
    exponents
        .iter()
        .flat_map(|exponents| firsts.iter().map(move |first| (exponents, first)))
        .filter_map(growth)
        .collect()
}

/// The grid with the smallest difference between its longest and its shortest side, and its sides in order; `None` for no ranks.
fn most_equal(ranks: u32, dimensions: usize, ascending: bool) -> Option<Grid> {
    let spread = |grid: &Grid| {
        let (large, small) = (grid.sides().iter().max(), grid.sides().iter().min());
        large.zip(small).map_or(0, |(large, small)| large - small)
    };
    let is_ordered = |grid: &Grid| {
        grid.sides().windows(2).all(|pair| if ascending { pair[0] <= pair[1] } else { pair[0] >= pair[1] })
    };
    grids(ranks, dimensions).into_iter().filter(is_ordered).min_by_key(spread)
}

/// All grids of `ranks` places.
fn grids(ranks: u32, dimensions: usize) -> Vec<Grid> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for dimension in 0..dimensions {
        let is_last = dimension + 1 == dimensions;
        let mut longer = Vec::new();
        for sides in all {
            let rest = ranks / sides.iter().product::<u32>();
            for side in divisors(rest) {
                if !is_last || side == rest {
                    longer.push([sides.as_slice(), &[side]].concat());
                }
            }
        }
        all = longer;
    }
    all.iter().filter_map(|sides| Grid::new(sides)).collect()
}

fn divisors(number: u32) -> Vec<u32> {
    let small: Vec<u32> = (1..=number.isqrt()).filter(|divisor| number.is_multiple_of(*divisor)).collect();
    let large = small.iter().rev().map(|divisor| number / divisor).filter(|divisor| !small.contains(divisor));
    small.iter().copied().chain(large).collect()
}

/// Every way to choose one of each list.
fn combinations(choices: Vec<Vec<Grid>>) -> impl Iterator<Item = Vec<Grid>> {
    let number = choices.iter().fold(1_usize, |number, choice| number.saturating_mul(choice.len()));
    (0..number).map(move |mut code| {
        let choose = |choice: &Vec<Grid>| {
            let chosen = choice[code % choice.len()].clone();
            code /= choice.len();
            chosen
        };
        choices.iter().map(choose).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(recorded: &[&[u32]], ranks: u32) -> Vec<Option<String>> {
        let recorded: Vec<Grid> = recorded.iter().filter_map(|sides| Grid::new(sides)).collect();
        let numbers: Vec<u32> = recorded.iter().map(Grid::places).collect();
        let all = growths(&numbers, ranks, None, |_, _| true).filter(|growth| growth.recorded == recorded);
        all.map(|growth| growth.target.map(|grid| grid.to_string())).collect()
    }

    #[test]
    fn grids_grow_as_mpi_chooses_them_or_as_powers() {
        assert_eq!(target(&[&[4], &[16]], 7), [Some("7".to_owned())]);
        assert_eq!(target(&[&[2, 2], &[4, 4]], 64), [Some("8x8".to_owned())]);
        assert_eq!(target(&[&[2, 2], &[4, 2], &[4, 4]], 32), [Some("8x4".to_owned())]);
        assert_eq!(target(&[&[2, 4], &[2, 8]], 64), [Some("2x32".to_owned())]);
        assert_eq!(target(&[&[2, 2, 2], &[4, 4, 4]], 512), [Some("8x8x8".to_owned())]);
    }

    #[test]
    fn a_number_that_forms_no_grid_has_none() {
        assert_eq!(target(&[&[2, 4], &[2, 8]], 17), [None]);
        assert!(target(&[&[2, 2], &[4, 4]], 17).contains(&None));
    }

    #[test]
    fn a_given_target_allows_any_grids_of_its_dimensions() {
        let all: Vec<Growth> = growths(&[6, 12], 30, Grid::new(&[5, 6]).as_ref(), |_, _| true).collect();
        let has = |one: [u32; 2], other: [u32; 2]| {
            let recorded = [Grid::new(&one).unwrap(), Grid::new(&other).unwrap()];
            all.iter().any(|growth| growth.recorded == recorded)
        };
        assert!(has([2, 3], [4, 3]) && has([3, 2], [2, 6]));
        assert!(all.iter().all(|growth| growth.target == Grid::new(&[5, 6])));
    }
}
