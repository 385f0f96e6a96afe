//! The members of a group, by their ranks in the world.

use std::sync::Arc;

use titr_common::event::Rank;

/// The world ranks of a group, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ranks {
    /// The whole world in its own order.
    World(u32),
    These(Arc<[Rank]>),
}

impl Ranks {
    /// For a group whose members have these ranks in a world of `world`; `None` if one is not in it.
    pub(crate) fn new(members: &[Option<u32>], world: u32) -> Option<Self> {
        let identity = members.len() == world as usize && (0..world).map(Some).eq(members.iter().copied());
        if identity {
            return Some(Self::World(world));
        }
        members.iter().map(|member| member.map(Rank)).collect::<Option<Arc<[Rank]>>>().map(Self::These)
    }

    /// The world rank of a rank of the group.
    pub(crate) fn get(&self, rank: i32) -> Option<Rank> {
        let rank = u32::try_from(rank).ok()?;
        match self {
            Self::World(size) => (rank < *size).then_some(Rank(rank)),
            Self::These(ranks) => ranks.get(rank as usize).copied(),
        }
    }

    /// The rank of the group that a rank of the world has.
    pub(crate) fn place(&self, rank: Rank) -> Option<u32> {
        match self {
            Self::World(size) => (rank.0 < *size).then_some(rank.0),
            Self::These(ranks) => ranks.iter().position(|&member| member == rank).map(|place| place as u32),
        }
    }

    #[allow(clippy::len_without_is_empty, reason = "no group of a communicator is empty")]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::World(size) => *size as usize,
            Self::These(ranks) => ranks.len(),
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<Rank> {
        match self {
            Self::World(size) => (0..*size).map(Rank).collect(),
            Self::These(ranks) => ranks.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_beyond_the_world_have_no_number() {
        assert_eq!(Ranks::new(&[Some(0), None], 8), None);
        assert_eq!(Ranks::new(&[Some(0), Some(1)], 2), Some(Ranks::World(2)));
    }

    #[test]
    fn a_place_is_where_the_rank_is() {
        let some = Ranks::new(&[Some(5), Some(2)], 8).unwrap();
        assert_eq!((some.place(Rank(2)), some.place(Rank(3))), (Some(1), None));
        assert_eq!((Ranks::World(4).place(Rank(3)), Ranks::World(4).place(Rank(4))), (Some(3), None));
    }
}
