//! Rules for the peers of a call, and for the members of a communicator.
//!
//! Each coordinate of a peer is a function of the coordinates of the rank, and the same function in a grid of any size. This
//! covers neighbours in grids and tori, masters, ranks of the same row, partners whose number differs in one bit, and the
//! partners of a transposition.

use titr_common::event::Rank;

use crate::grid::{Coordinates, Grid, MOST_DIMENSIONS};

/// The rule for one coordinate c of a peer in a dimension with side s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoordinateRule {
    /// c plus this.
    Shift(i64),
    /// c plus this, modulo s.
    Wrap(i64),
    /// This, for all ranks.
    At(u32),
    /// s − 1 minus this, for all ranks.
    FromEnd(u32),
    /// c plus half of s, modulo s.
    Opposite,
    /// The coordinate of the rank in this other dimension.
    Of(usize),
    /// c with this bit inverted.
    Bit(u32),
}

/// The rule for a peer: one for each coordinate.
pub(crate) type PeerRule = [CoordinateRule; MOST_DIMENSIONS];

/// A rank in a grid and its peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'g> {
    pub grid: &'g Grid,
    pub rank: Rank,
    pub peer: Rank,
}

/// The kind of rule that is likely where several explain the recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likely {
    /// The peer of a message is at some distance.
    Distance,
    /// The root of a collective is at the same place for all ranks, or for those of a row.
    Place,
}

impl CoordinateRule {
    /// The rules by which a rank at `place` has a peer at `peer`, the likeliest first.
    fn candidates(place: Coordinates, peer: Coordinates, grid: &Grid, dimension: usize, likely: Likely) -> Vec<Self> {
        let (own, other, side) = (i64::from(place[dimension]), i64::from(peer[dimension]), grid.side(dimension));
        let mut rules = vec![Self::Shift(other - own)];
        let up = (other - own).rem_euclid(i64::from(side));
        if up != 0 {
            let mut wraps = [up, up - i64::from(side)];
            wraps.sort_by_key(|wrap| wrap.abs());
            rules.extend(wraps.map(Self::Wrap));
        }
        rules.extend([Self::At(peer[dimension]), Self::FromEnd(side - 1 - peer[dimension])]);
        rules.extend((2 * up == i64::from(side)).then_some(Self::Opposite));
        rules.extend((0..MOST_DIMENSIONS).filter(|&of| of != dimension && grid.side(of) > 1).map(Self::Of));
        let difference = place[dimension] ^ peer[dimension];
        if difference.is_power_of_two() {
            rules.push(Self::Bit(difference.trailing_zeros()));
        }
        if likely == Likely::Place {
            rules.sort_by_key(|rule| !matches!(rule, Self::Shift(0) | Self::At(_) | Self::FromEnd(_)));
        }
        rules
    }

    /// The coordinate of the peer; `None` if it is outside of the grid.
    pub fn apply(self, place: Coordinates, grid: &Grid, dimension: usize) -> Option<u32> {
        let (own, side) = (place[dimension], grid.side(dimension));
        let peer = match self {
            Self::Shift(by) => i64::from(own) + by,
            Self::Wrap(by) => (i64::from(own) + by).rem_euclid(i64::from(side)),
            Self::At(at) => i64::from(at),
            Self::FromEnd(before) => i64::from(side) - 1 - i64::from(before),
            Self::Opposite => (i64::from(own) + i64::from(side / 2)) % i64::from(side),
            Self::Of(other) => i64::from(place[other]),
            Self::Bit(bit) => i64::from(own ^ 1_u32.checked_shl(bit)?),
        };
        u32::try_from(peer).ok().filter(|peer| *peer < side)
    }
}

/// The likeliest rule that holds for all pairs; `None` if there is none.
pub(crate) fn rule<'g>(pairs: impl Iterator<Item = Pair<'g>> + Clone, likely: Likely) -> Option<PeerRule> {
    let first = pairs.clone().next()?;
    let (place, peer) = (first.grid.coordinates(first.rank), first.grid.coordinates(first.peer));
    let mut rule = [CoordinateRule::Shift(0); MOST_DIMENSIONS];
    for (dimension, found) in rule.iter_mut().enumerate() {
        let holds = |candidate: CoordinateRule| {
            pairs.clone().all(|Pair { grid, rank, peer }| {
                let coordinate = candidate.apply(grid.coordinates(rank), grid, dimension);
                coordinate == Some(grid.coordinates(peer)[dimension])
            })
        };
        let mut candidates = CoordinateRule::candidates(place, peer, first.grid, dimension, likely).into_iter();
        *found = candidates.find(|&candidate| holds(candidate))?;
    }
    Some(rule)
}

/// The peer of `rank` by a rule; `None` if it is outside of the grid.
pub(crate) fn peer(rule: &PeerRule, rank: Rank, grid: &Grid) -> Option<Rank> {
    let place = grid.coordinates(rank);
    let mut peer = [0; MOST_DIMENSIONS];
    for (dimension, coordinate) in peer.iter_mut().enumerate() {
        *coordinate = rule.get(dimension)?.apply(place, grid, dimension)?;
    }
    grid.rank(peer)
}

/// Whether two ranks differ in one bit of one coordinate.
pub(crate) fn differ_in_bit(grid: &Grid, rank: Rank, peer: Rank, dimension: usize, bit: u32) -> bool {
    let mut place = grid.coordinates(rank);
    place[dimension] ^= 1 << bit;
    grid.rank(place) == Some(peer)
}

/// The dimensions along which the members of a communicator have the coordinates of the rank. The members are all ranks that do, in
/// ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MembersRule([bool; MOST_DIMENSIONS]);

impl MembersRule {
    /// All rules, from the communicator of all ranks on.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..1 << MOST_DIMENSIONS).map(|bits: u32| Self(std::array::from_fn(|dimension| bits >> dimension & 1 == 1)))
    }

    /// The members of the communicator of `rank`.
    pub fn members(self, rank: Rank, grid: &Grid) -> Vec<Rank> {
        let place = grid.coordinates(rank);
        let agrees = |other: &Rank| {
            let other = grid.coordinates(*other);
            (0..MOST_DIMENSIONS).all(|dimension| !self.0[dimension] || place[dimension] == other[dimension])
        };
        (0..grid.places()).map(Rank).filter(agrees).collect()
    }

    /// The number of members.
    pub fn size(self, grid: &Grid) -> usize {
        (0..MOST_DIMENSIONS)
            .filter(|&dimension| !self.0[dimension])
            .map(|dimension| grid.side(dimension) as usize)
            .product()
    }
}
