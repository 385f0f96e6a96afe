//! The agreement of the members of a new communicator on its [context](super::context).
//!
//! If the call that creates the communicator blocks, they agree in that call, by the library's reductions on the new
//! communicator. The duplicate of `MPI_Comm_idup` may not be used before its request is complete, and the members must
//! not wait for each other in the call: they agree in the background, by an exchange in the context of the original
//! communicator. Collectives on the duplicate begin once they have agreed.

use titr_common::event::CommId;
use titr_wrappers::argument::{Comm, Op};
use titr_wrappers::pmpi;

use super::context::{ContextKey, Identity};
use super::plan::Plan;
use super::{Engine, State};
use crate::ranks::Ranks;

/// The number of attempts to find tags that no member has taken, after which a communicator gets none.
const ATTEMPTS: u64 = 64;

impl Engine {
    /// Agrees on a context with the other members of a communicator that a call has just created: collective. `None` if
    /// the library has to execute its collectives, or if it has no messages: on all members alike.
    pub(crate) fn agree(&self, comm: Comm) -> Option<ContextKey> {
        if self.settings.observes
            || comm == self.abi.comm_null
            || (pmpi::comm_size(comm) < 2 && !pmpi::comm_is_inter(comm))
        {
            return None;
        }
        // Processes that were spawned or connected to need not be traced, and would not take part.
        let members = pmpi::translate(self.abi, comm, self.abi.comm_world)?;
        if members.local.contains(&None) || members.remote.contains(&None) {
            return None;
        }
        let proposal = self.state().propose(self.rank, self.size);
        let identity = Identity(self.among_all(proposal, self.abi.max, u64::max, comm)?);
        for attempt in 0..ATTEMPTS {
            let mine = self.state().contexts.take(identity, attempt);
            let common = self.among_all(mine, self.abi.band, |one, other| one & other, comm).unwrap_or(0);
            let contexts = &mut self.state().contexts;
            if let Some(range) = contexts.keep_first(identity, attempt, mine, common) {
                let key = contexts.insert(identity);
                contexts.settle(key, range);
                return Some(key);
            }
        }
        None
    }

    /// Reduces a number of each member by an MPI operation, which is equivalent to `operation`. On an
    /// inter-communicator a reduction gives the result of the other group, and a second one the result of both.
    fn among_all(&self, mine: u64, op: Op, operation: impl Fn(u64, u64) -> u64, comm: Comm) -> Option<u64> {
        let reduced = pmpi::allreduce(self.abi, mine as i64, op, comm)? as u64;
        if !pmpi::comm_is_inter(comm) {
            return Some(reduced);
        }
        Some(pmpi::allreduce(self.abi, operation(mine, reduced) as i64, op, comm)? as u64)
    }

    /// `MPI_Comm_idup` has begun to make the communicator `new` of `parent`.
    pub(crate) fn duplicating(&self, parent: CommId, new: CommId, members: &Ranks) {
        let mut state = self.state();
        let context = state.agree_in_background(self, parent, members);
        state.add(new, context);
        state.progress(self);
    }
}

impl State {
    /// A number that no other rank proposes, nor this one again.
    fn propose(&mut self, rank: u32, size: u32) -> u64 {
        self.proposals += 1;
        self.proposals * u64::from(size) + u64::from(rank)
    }

    /// Begins to agree on a context whose identity follows from the communicator `parent`, with `members`. `None` if the parent
    /// has no context.
    pub(super) fn agree_in_background(
        &mut self,
        engine: &Engine,
        parent: CommId,
        members: &Ranks,
    ) -> Option<ContextKey> {
        let parent = self.communicators.get(&parent)?.context?;
        let (context, identity) = self.contexts.derive(parent)?;
        let exchange = self.contexts.begin(parent)?;
        let mine = self.contexts.take(identity, 0);
        let plan = Plan::agreement(engine.abi, engine.rank, members, mine)?;
        self.background.add_agreement(exchange, plan, context, identity, mine, members.clone());
        Some(context)
    }
}
