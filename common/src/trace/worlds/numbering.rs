//! The mapping from the numbers of one rank of one world to those of all worlds together.

use std::sync::Arc;

use super::numbers::Foreign;
use crate::event::{CommCall, CommId, Event, Group, Rank};

/// The processes behind the numbers in a rank's events.
#[derive(Clone)]
pub(super) struct Numbering {
    /// The rank of all worlds that the first of this world is.
    pub(super) first: Rank,
    /// The size of this world.
    pub(super) size: u32,
    /// The processes of other worlds.
    pub(super) foreign: Arc<Foreign>,
    /// Whether there are other worlds.
    pub(super) is_one_of_several: bool,
}

impl Numbering {
    /// The process behind a number; `None` if its trace is missing.
    pub(super) fn rank(&self, Rank(number): Rank) -> Option<Rank> {
        if number < self.size { Some(Rank(self.first.0 + number)) } else { self.foreign.get(&number).copied() }
    }

    /// The global number of a communicator, from the rank's own: several worlds have no common `MPI_COMM_WORLD`, so the
    /// rank's world gets the first number that programs assign.
    fn comm(&self, id: CommId) -> CommId {
        match id {
            _ if !self.is_one_of_several => id,
            CommId::WORLD => CommId(Self::WORLD),
            CommId::SELF => CommId::SELF,
            CommId(made) => CommId(made.saturating_add(1)),
        }
    }

    const WORLD: u32 = CommId::SELF.0 + 1;

    /// The event that introduces the world of the rank.
    pub(super) fn world(&self) -> Event {
        let members = (0..self.size).map(|rank| Rank(self.first.0 + rank)).collect();
        let group = Group { id: CommId(Self::WORLD), members, remote: Vec::new(), tag: None };
        Event::CommCreate(CommCall::World, CommId::WORLD, Some(group))
    }

    /// The event with the numbers of all worlds.
    pub(super) fn renumber(&self, event: &mut Event) {
        event.ranks(|rank| *rank = self.rank(*rank).unwrap_or(*rank));
        event.communicators(|id, _| *id = self.comm(*id));
    }
}
