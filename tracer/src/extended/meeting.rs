//! A synchronisation of the members of a communicator before the library creates another one, a window or a file from
//! it.
//!
//! Such a call waits for all members inside the library, where background work does not advance: a member that is still
//! to come may be waiting for that work. The members therefore wait for each other here, where it advances, and call
//! the library when all are present.

use titr_common::event::CommId;
use titr_wrappers::argument::{Comm, Group};
use titr_wrappers::pmpi;

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

impl Engine {
    /// Waits until all who make a communicator are about to.
    pub fn meet(&self, makers: &Makers) {
        if self.settings.observes {
            return;
        }
        match makers {
            Makers::All { comm, id, members } => {
                let mut state = self.state();
                let context = state.communicators.get(id).and_then(|communicator| communicator.context);
                let exchange = context.and_then(|context| state.contexts.begin(context));
                drop(state);
                if let Some(exchange) = exchange
                    && let Some(plan) = Plan::agreement(self.abi, self.rank, members, 0)
                {
                    self.carry_out(plan, Route::In(exchange), true);
                }
                self.finish_duplications(*comm);
                self.finish_duplications(self.abi.comm_world);
            }
            Makers::Some { comm, group, tag } => {
                let members = pmpi::translate_group(self.abi, *group, self.abi.comm_world);
                let members = members.and_then(|members| Ranks::new(&members, self.size));
                if let Some(members) = members.filter(|members| members.len() > 1)
                    && let Some(plan) = Plan::agreement(self.abi, self.rank, &members, 0)
                {
                    self.carry_out(plan, Route::Own(*tag), true);
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
}
