//! The agreement of the members of a new communicator on its [tag](super::tags), in the call that creates the
//! communicator, by the library's reductions on it.

use titr_wrappers::argument::{Comm, Op};
use titr_wrappers::pmpi;

use super::tags::Identity;
use super::{Engine, State};

/// The number of attempts to find a tag that no member has taken, after which a communicator gets none.
const ATTEMPTS: u64 = 64;

impl Engine {
    /// Agrees on a tag with the other members of a communicator that a call has just created: collective. `None` if the
    /// library has to execute its collectives, or if it has no messages: on all members alike.
    pub(crate) fn agree(&self, comm: Comm) -> Option<u32> {
        if comm == self.abi.comm_null || (pmpi::comm_size(comm) < 2 && !pmpi::comm_is_inter(comm)) {
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
            let mine = self.state().tags.take(identity, attempt);
            let common = self.among_all(mine, self.abi.band, |one, other| one & other, comm).unwrap_or(0);
            if let Some(tag) = self.state().tags.keep_first(identity, attempt, mine, common) {
                return Some(tag);
            }
        }
        None
    }

    /// Reduces a number of each member by an MPI operation, which is equivalent to `operation`. On an
    /// inter-communicator a reduction gives the result of the other group, and a second one the result of both.
    pub(super) fn among_all(&self, mine: u64, op: Op, operation: impl Fn(u64, u64) -> u64, comm: Comm) -> Option<u64> {
        let reduced = pmpi::allreduce(self.abi, mine as i64, op, comm)? as u64;
        if !pmpi::comm_is_inter(comm) {
            return Some(reduced);
        }
        Some(pmpi::allreduce(self.abi, operation(mine, reduced) as i64, op, comm)? as u64)
    }
}

impl State {
    /// A number that no other rank proposes, nor this one again.
    fn propose(&mut self, rank: u32, size: u32) -> u64 {
        self.proposals += 1;
        self.proposals * u64::from(size) + u64::from(rank)
    }
}
