//! Numbers of iterations as functions of the grid.

use crate::grid::{Grid, MOST_DIMENSIONS};

/// The number of iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iterations {
    /// The same number in any grid.
    Constant(u64),
    /// A size, times the first number, plus the second.
    Linear(Size, i64, i64),
    /// The number divided by a size.
    Inverse(u64, Size),
}

/// A size of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Side(usize),
    Ranks,
}

impl Size {
    fn of(self, grid: &Grid) -> u64 {
        u64::from(match self {
            Self::Side(dimension) => grid.side(dimension),
            Self::Ranks => grid.places(),
        })
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..MOST_DIMENSIONS).map(Self::Side).chain([Self::Ranks])
    }
}

impl Iterations {
    /// The simplest functions that give these numbers in these grids. They are equally simple.
    pub(crate) fn of(numbers: &[(&Grid, u64)]) -> Vec<Self> {
        let Some((&(one_grid, one), &(other_grid, other))) = numbers.first().zip(numbers.last()) else {
            return Vec::new();
        };
        let linear = Size::all().filter_map(|size| {
            let (from, to) = (size.of(one_grid) as i64, size.of(other_grid) as i64);
            let (more, by) = (other as i64 - one as i64, to - from);
            let times = (by != 0 && more % by == 0).then(|| more / by)?;
            let constant = one as i64 - times * from;
            Some((times.abs() + constant.abs(), Self::Linear(size, times, constant)))
        });
        let inverse = Size::all().map(|size| (0, Self::Inverse(one * size.of(one_grid), size)));
        let candidates = std::iter::once((-1, Self::Constant(one))).chain(inverse).chain(linear);
        let holds = |candidate: Self| numbers.iter().all(|&(grid, number)| candidate.in_grid(grid) == Some(number));
        let holding: Vec<(i64, Self)> = candidates.filter(|&(_, candidate)| holds(candidate)).collect();
        let simplest = holding.iter().map(|(complexity, _)| *complexity).min();
        let simplest = holding.into_iter().filter(|(complexity, _)| Some(*complexity) == simplest);
        simplest.map(|(_, candidate)| candidate).collect()
    }

    /// The number in a grid; `None` if it is negative.
    pub(crate) fn in_grid(self, grid: &Grid) -> Option<u64> {
        match self {
            Self::Constant(number) => Some(number),
            Self::Linear(size, times, more) => u64::try_from(size.of(grid) as i64 * times + more).ok(),
            Self::Inverse(number, size) => Some((number + size.of(grid) / 2) / size.of(grid)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_constant_linear_or_inverse() {
        let grids: Vec<Grid> = [[2, 4], [4, 8], [16, 8]].iter().filter_map(|sides| Grid::new(sides)).collect();
        let functions = |one, other| Iterations::of(&[(&grids[0], one), (&grids[1], other)]);
        let number = |one, other| functions(one, other).first().and_then(|found| found.in_grid(&grids[2]));
        assert_eq!(number(5, 5), Some(5));
        assert_eq!(number(1, 3), Some(15));
        assert_eq!(number(3, 7), Some(7));
        assert_eq!(number(60, 30), Some(8));
        assert_eq!(number(7, 31), Some(127));
        assert_eq!(number(7, 8), None);
    }
}
