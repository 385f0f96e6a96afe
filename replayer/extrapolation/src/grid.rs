//! Ranks in a grid of one to three dimensions.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use thiserror::Error;
use titr_common::event::Rank;

pub(crate) const MOST_DIMENSIONS: usize = 3;

/// The place of a rank along each dimension; 0 along those that a grid does not have.
pub(crate) type Coordinates = [u32; MOST_DIMENSIONS];

/// The number of ranks along each of one to three dimensions. Rank `x₀ + s₀·(x₁ + s₁·x₂)` has the coordinates x, where s are
/// the sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    sides: Vec<u32>,
}

/// The place of a coordinate in its dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Edge {
    First,
    Inside,
    Last,
    /// The dimension has one place.
    Only,
}

/// The kind of place that a rank has in a grid: a corner, a place at an edge, a place inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Role([Edge; MOST_DIMENSIONS]);

impl Grid {
    /// A grid with these sides; `None` unless there are one to three, none is 0 and the places can be counted.
    pub(crate) fn new(sides: &[u32]) -> Option<Self> {
        let places = sides.iter().try_fold(1_u32, |places, &side| places.checked_mul(side))?;
        let is_grid = (1..=MOST_DIMENSIONS).contains(&sides.len()) && places > 0;
        is_grid.then(|| Self { sides: sides.to_vec() })
    }

    /// The number of ranks along each dimension.
    #[must_use]
    pub fn sides(&self) -> &[u32] {
        &self.sides
    }

    /// The number of ranks.
    pub(crate) fn places(&self) -> u32 {
        self.sides.iter().product()
    }

    /// The number of ranks along a dimension; 1 if the grid does not have it.
    pub(crate) fn side(&self, dimension: usize) -> u32 {
        self.sides.get(dimension).copied().unwrap_or(1)
    }

    pub(crate) fn coordinates(&self, Rank(rank): Rank) -> Coordinates {
        let mut rest = rank;
        std::array::from_fn(|dimension| {
            let side = self.side(dimension);
            let coordinate = rest % side;
            rest /= side;
            coordinate
        })
    }

    /// The rank at a place; `None` if a coordinate is outside of the grid.
    pub(crate) fn rank(&self, place: Coordinates) -> Option<Rank> {
        let mut rank = 0;
        for dimension in (0..MOST_DIMENSIONS).rev() {
            let side = self.side(dimension);
            rank = rank * side + place.get(dimension).copied().filter(|&coordinate| coordinate < side)?;
        }
        Some(Rank(rank))
    }

    pub(crate) fn role(&self, rank: Rank) -> Role {
        let place = self.coordinates(rank);
        Role(std::array::from_fn(|dimension| match (place[dimension], self.side(dimension)) {
            (_, 1) => Edge::Only,
            (0, _) => Edge::First,
            (coordinate, side) if coordinate + 1 == side => Edge::Last,
            _ => Edge::Inside,
        }))
    }

    /// The power of two that the side of a dimension is.
    pub(crate) fn stages(&self, dimension: usize) -> Option<u32> {
        let side = self.side(dimension);
        side.is_power_of_two().then(|| side.trailing_zeros())
    }

    /// The place in this grid that is nearest to `place` of `other`, with the same role where this grid has it.
    pub(crate) fn nearest(&self, other: &Self, place: Coordinates) -> Coordinates {
        std::array::from_fn(|dimension| {
            let (coordinate, from, to) = (place[dimension], other.side(dimension), self.side(dimension));
            if coordinate == 0 || to == 1 {
                0
            } else if coordinate + 1 == from {
                to - 1
            } else if to > 2 {
                let inside = u64::from(coordinate - 1) * u64::from(to - 2) / u64::from(from - 2);
                1 + inside as u32
            } else {
                coordinate * to / from
            }
        })
    }
}

impl Display for Grid {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.sides.iter().map(u32::to_string).collect();
        f.write_str(&sides.join("x"))
    }
}

/// A text that names no grid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no grid of one to three dimensions such as 64, 8x8 or 4x4x4")]
pub struct NoSides(String);

impl FromStr for Grid {
    type Err = NoSides;

    fn from_str(text: &str) -> Result<Self, NoSides> {
        let sides: Option<Vec<u32>> = text.split('x').map(|side| side.trim().parse().ok()).collect();
        sides.and_then(|sides| Self::new(&sides)).ok_or_else(|| NoSides(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_has_one_place_and_one_role() {
        let grid = Grid::new(&[4, 3, 2]).unwrap();
        assert_eq!(grid.coordinates(Rank(13)), [1, 0, 1]);
        for rank in (0..24).map(Rank) {
            assert_eq!(grid.rank(grid.coordinates(rank)), Some(rank));
        }
        assert_eq!(grid.rank([4, 0, 0]), None);
        assert_eq!(grid.role(Rank(13)), Role([Edge::Inside, Edge::First, Edge::Last]));
        assert_eq!(Grid::new(&[1, 5]).unwrap().role(Rank(4)), Role([Edge::Only, Edge::Last, Edge::Only]));
        assert_eq!([Grid::new(&[]), Grid::new(&[0]), Grid::new(&[1 << 16, 1 << 16])], [None, None, None]);
    }

    #[test]
    fn the_nearest_place_has_the_same_role() {
        let (small, large) = (Grid::new(&[3, 4]).unwrap(), Grid::new(&[9, 8]).unwrap());
        for rank in (0..72).map(Rank) {
            let nearest = small.rank(small.nearest(&large, large.coordinates(rank))).unwrap();
            assert_eq!(small.role(nearest), large.role(rank), "{rank:?}");
        }
    }
}
