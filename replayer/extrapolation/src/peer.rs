//! Rules for the peers of a call, and for the members of a communicator.
//!
//! Each coordinate of a peer is a function of the coordinates of the rank, and the same function in a grid of any size. This
//! covers neighbours in grids and tori, masters, ranks of the same row, partners whose number differs in one bit, and the
//! partners of a transposition.

use titr_common::event::Rank;

use crate::grid::{Coordinates, Grid, MOST_DIMENSIONS};
use crate::group::{Columns, roles};
use crate::recording::{Calls, Recording};

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
    /// Half of s, for all ranks.
    Half,
    /// c plus half of s, modulo s.
    Opposite,
    /// The coordinate of the rank in this other dimension.
    Of(usize),
    /// c with this bit inverted.
    Bit(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerRule {
    coordinates: [CoordinateRule; MOST_DIMENSIONS],
    /// For each coordinate another rule that is as likely and holds in the recordings as well.
    rivals: [Option<CoordinateRule>; MOST_DIMENSIONS],
}

/// A rank in a grid and its peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'g> {
    pub grid: &'g Grid,
    pub rank: Rank,
    pub peer: Rank,
}

/// The kind of rule that is likely where several explain the recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleRank {
    /// The peer of a message is at some distance.
    Distance,
    /// The root of a collective is at the same place for all ranks, or for those of a row.
    Place,
}

impl CoordinateRule {
    /// The rules by which a rank at `place` has a peer at `peer`, the likeliest first.
    fn candidates(place: Coordinates, peer: Coordinates, grid: &Grid, dimension: usize, likely: RuleRank) -> Vec<Self> {
        let (own, other, side) = (i64::from(place[dimension]), i64::from(peer[dimension]), grid.side(dimension));
        let mut rules = vec![Self::Shift(other - own)];
        let up = (other - own).rem_euclid(i64::from(side));
        if up != 0 {
            let mut wraps = [up, up - i64::from(side)];
            wraps.sort_by_key(|wrap| wrap.abs());
            rules.extend(wraps.map(Self::Wrap));
        }
        rules.extend([Self::At(peer[dimension]), Self::FromEnd(side - 1 - peer[dimension])]);
        rules.extend((peer[dimension] == side / 2).then_some(Self::Half));
        rules.extend((2 * up == i64::from(side)).then_some(Self::Opposite));
        rules.extend((0..MOST_DIMENSIONS).filter(|&of| of != dimension && grid.side(of) > 1).map(Self::Of));
        let difference = place[dimension] ^ peer[dimension];
        if difference.is_power_of_two() {
            rules.push(Self::Bit(difference.trailing_zeros()));
        }
        if likely == RuleRank::Place {
            rules.sort_by_key(|rule| !matches!(rule, Self::Shift(0) | Self::At(_) | Self::FromEnd(_) | Self::Half));
        }
        rules
    }

    /// The kind of rule, if rules of its kind may be mistaken for each other, and how far from the simplest one it is.
    fn simplicity(self) -> Option<(RuleRank, u64)> {
        match self {
            Self::Wrap(by) => Some((RuleRank::Distance, by.unsigned_abs())),
            Self::At(distance) | Self::FromEnd(distance) => Some((RuleRank::Place, u64::from(distance))),
            Self::Half => Some((RuleRank::Place, 0)),
            Self::Shift(_) | Self::Opposite | Self::Of(_) | Self::Bit(_) => None,
        }
    }

    /// Whether another rule is as likely as this one.
    fn has_rival(self, other: Self) -> bool {
        let pair = self.simplicity().zip(other.simplicity());
        self != other && pair.is_some_and(|((kind, own), (other_kind, other))| kind == other_kind && other <= own)
    }

    /// The coordinate of the peer; `None` if it is outside of the grid.
    pub(crate) fn apply(self, place: Coordinates, grid: &Grid, dimension: usize) -> Option<u32> {
        let (own, side) = (place[dimension], grid.side(dimension));
        let peer = match self {
            Self::Shift(by) => i64::from(own) + by,
            Self::Wrap(by) => (i64::from(own) + by).rem_euclid(i64::from(side)),
            Self::At(at) => i64::from(at),
            Self::FromEnd(before) => i64::from(side) - 1 - i64::from(before),
            Self::Half => i64::from(side / 2),
            Self::Opposite => (i64::from(own) + i64::from(side / 2)) % i64::from(side),
            Self::Of(other) => i64::from(place[other]),
            Self::Bit(bit) => i64::from(own ^ 1_u32.checked_shl(bit)?),
        };
        u32::try_from(peer).ok().filter(|peer| *peer < side)
    }
}

/// The likeliest rule that holds for all pairs; `None` if there is none.
pub(crate) fn rule<'g>(pairs: impl Iterator<Item = Pair<'g>> + Clone, likely: RuleRank) -> Option<PeerRule> {
    let first = pairs.clone().next()?;
    let (place, peer) = (first.grid.coordinates(first.rank), first.grid.coordinates(first.peer));
    let mut rule =
        PeerRule { coordinates: [CoordinateRule::Shift(0); MOST_DIMENSIONS], rivals: [None; MOST_DIMENSIONS] };
    for (dimension, (found, rival)) in rule.coordinates.iter_mut().zip(&mut rule.rivals).enumerate() {
        let holds = |candidate: CoordinateRule| {
            pairs.clone().all(|Pair { grid, rank, peer }| {
                let coordinate = candidate.apply(grid.coordinates(rank), grid, dimension);
                coordinate == Some(grid.coordinates(peer)[dimension])
            })
        };
        let mut candidates = CoordinateRule::candidates(place, peer, first.grid, dimension, likely).into_iter();
        *found = candidates.find(|&candidate| holds(candidate))?;
        *rival = candidates.find(|&candidate| found.has_rival(candidate) && holds(candidate));
    }
    Some(rule)
}

impl PeerRule {
    /// The peer of `rank`; `None` if it is outside of the grid.
    pub(crate) fn peer(&self, rank: Rank, grid: &Grid) -> Option<Rank> {
        let place = grid.coordinates(rank);
        let mut peer = [0; MOST_DIMENSIONS];
        for (dimension, (coordinate, rule)) in peer.iter_mut().zip(self.coordinates).enumerate() {
            *coordinate = rule.apply(place, grid, dimension)?;
        }
        grid.rank(peer)
    }

    /// Whether a rule that is as likely gives other peers in `grid`.
    pub(crate) fn is_ambiguous(&self, grid: &Grid) -> bool {
        self.coordinates.iter().zip(self.rivals).enumerate().any(|(dimension, (rule, rival))| {
            let differs = |rival: CoordinateRule| {
                rule.apply([0; MOST_DIMENSIONS], grid, dimension) != rival.apply([0; MOST_DIMENSIONS], grid, dimension)
            };
            rival.is_some_and(differs)
        })
    }

    /// Whether a coordinate is the rank's own with a bit inverted.
    pub(crate) fn has_bit(&self) -> bool {
        self.coordinates.iter().any(|rule| matches!(rule, CoordinateRule::Bit(_)))
    }
}

/// Whether the ranks of a recording with one role make the same calls in a grid, with peers by the same rules.
pub(crate) fn is_possible(recording: &Recording, grid: &Grid, calls: &Calls) -> bool {
    let have_rules = |ranks: Vec<Rank>| {
        let columns = Columns::of(recording, &ranks);
        columns.ids().all(|column| {
            let column = columns.calls(column);
            let peers = column.first().map_or(0, |&call| calls.parts(call).peers.len());
            (0..peers).all(|peer| {
                let pairs = ranks.iter().zip(column);
                let pairs = pairs.map(|(&rank, &call)| Pair { grid, rank, peer: calls.parts(call).peers[peer] });
                rule(pairs, RuleRank::Distance).is_some()
            })
        })
    };
    roles(recording, grid, calls).is_some_and(|roles| roles.into_iter().all(have_rules))
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
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..1 << MOST_DIMENSIONS).map(|bits: u32| Self(std::array::from_fn(|dimension| bits >> dimension & 1 == 1)))
    }

    /// The members of the communicator of `rank`.
    pub(crate) fn members(self, rank: Rank, grid: &Grid) -> Vec<Rank> {
        let place = grid.coordinates(rank);
        let agrees = |other: &Rank| {
            let other = grid.coordinates(*other);
            (0..MOST_DIMENSIONS).all(|dimension| !self.0[dimension] || place[dimension] == other[dimension])
        };
        (0..grid.places()).map(Rank).filter(agrees).collect()
    }

    /// The number of members.
    pub(crate) fn size(self, grid: &Grid) -> usize {
        (0..MOST_DIMENSIONS)
            .filter(|&dimension| !self.0[dimension])
            .map(|dimension| grid.side(dimension) as usize)
            .product()
    }
}
