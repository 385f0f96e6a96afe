//! A synchronisation of the members of a communicator before the library creates another one, a window or a file from
//! it.
//!
//! Such a call waits for all members inside the library, where background work does not advance: a member that is still
//! to come may be waiting for that work. The members therefore wait for each other here, where it advances, and call
//! the library when all are present.

use titr_common::event::{CommId, Rank};
use titr_wrappers::argument::{Comm, Group};
use titr_wrappers::pmpi::{self, Translation};

use super::plan::Plan;
use super::{Engine, Route};
use crate::ranks::Ranks;

/// The processes that make a communicator, a window or a file together.
pub enum Makers {
    /// The members of a communicator.
    All {
        /// The communicator.
        comm: Comm,
        /// Its number.
        id: CommId,
        /// The members.
        members: Ranks,
        /// Another group that makes it with them.
        others: Option<Others>,
    },
    /// The members of a group, who have given this tag.
    Some {
        /// A communicator that all of them are members of.
        comm: Comm,
        /// The group.
        group: Group,
        /// The tag.
        tag: i32,
    },
}

/// The group on the other side of an inter-communicator to be, which is known by its leader.
#[derive(Clone, Copy)]
pub struct Others {
    /// The rank of this side's leader among its members.
    pub leader: i32,
    /// A communicator of both leaders.
    pub peer: Comm,
    /// The rank of the other leader in it.
    pub other_leader: i32,
    /// The tag that both sides have given.
    pub tag: i32,
}

impl Engine {
    /// Waits until all who make a communicator are about to.
    pub(crate) fn meet(&self, makers: &Makers) {
        if self.settings.observes {
            return;
        }
        match makers {
            Makers::All { comm, id, members, others } => {
                self.meet_members(*id, members);
                if let Some(others) = others {
                    self.meet_other_leader(members, *others);
                    self.meet_members(*id, members);
                }
                self.finish_duplications(*comm);
                self.finish_duplications(self.abi.comm_world);
            }
            Makers::Some { comm, group, tag } => {
                let members = pmpi::translate_group(self.abi, *group, self.abi.comm_world);
                let members = members.and_then(|members| Ranks::new(&members, self.size));
                if let Some(members) = members.filter(|members| members.len() > 1) {
                    self.await_members(Route::Own(*tag), &members);
                }
                // Open MPI makes communicators in the order of their parents and tags.
                if *tag > 0 {
                    self.finish_duplications(*comm);
                }
                if *tag > 0 || *comm != self.abi.comm_world {
                    self.finish_duplications(self.abi.comm_world);
                }
            }
        }
    }

    /// Waits until all members of a communicator are here.
    fn meet_members(&self, id: CommId, members: &Ranks) {
        let mut state = self.state();
        let context = state.communicators.get(&id).and_then(|communicator| communicator.context);
        let exchange = context.and_then(|context| state.contexts.begin(context));
        drop(state);
        if let Some(exchange) = exchange {
            self.await_members(Route::In(exchange), members);
        }
    }

    /// Waits until all `members`, including this rank, have called this with their messages on the same route.
    pub(super) fn await_members(&self, route: Route, members: &Ranks) {
        if let Some(plan) = Plan::agreement(self.abi, self.rank, members, 0) {
            self.carry_out(plan, route, true);
        }
    }

    /// Has the leader of a group wait for that of the other group, whose members are then here, if both are in the world.
    fn meet_other_leader(&self, members: &Ranks, Others { leader, peer, other_leader, tag }: Others) {
        if members.get(leader) != Some(Rank(self.rank)) {
            return;
        }
        let Some(Translation { local, remote }) = pmpi::translate(self.abi, peer, self.abi.comm_world) else { return };
        let ranks = if remote.is_empty() { local } else { remote };
        let other = usize::try_from(other_leader).ok().and_then(|rank| ranks.get(rank).copied().flatten());
        let Some(other) = other.filter(|&other| other != self.rank) else { return };
        let both = [Some(self.rank.min(other)), Some(self.rank.max(other))];
        if let Some(both) = Ranks::new(&both, self.size) {
            self.await_members(Route::Own(tag), &both);
        }
    }
}
