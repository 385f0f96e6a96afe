//! Collectives of inter-communicators (MPI 4.0 §6.2.3), between two groups: they consist of collectives within each
//! group and of messages between the groups.
//!
//! | collective | MPICH 4.0, `src/mpi/coll/*/*_inter_*.c` | Open MPI 4.1, `ompi/mca/coll/inter/`, `ompi/mca/coll/basic/` |
//! | --- | --- | --- |
//! | bcast | the root sends to the first of the other group, who broadcasts | the same |
//! | reduce | the others reduce to their first, who sends to the root | the same |
//! | gather | likewise with a gather; from 2048 bytes on, each sends to the root | with a gather, whatever the size |
//! | scatter | the root sends all to the first of the others, who scatters; from 2048 bytes on, to each | to the first |
//! | gatherv, scatterv | the root exchanges a message with each | through the first |
//! | allgather | a gather in each group, then two broadcasts to the other one | a gather, the first ones exchange, a broadcast |
//! | allgatherv | two gatherv to the first of the other group, a broadcast | as allgather, with gatherv |
//! | allreduce | a reduction in each group, the first ones exchange, a broadcast | the same |
//! | barrier | a barrier in each group, then two broadcasts of a byte to the other one | an allreduce of four bytes |
//! | alltoall, alltoallv, alltoallw | pairwise, in as many rounds as the larger group has members | all at once |
//! | reduce_scatter | two reductions to the first of the other group, a scatterv | the first one receives from each, a scatterv |
//!
//! In MPICH, the group with the smaller leader goes first (`is_low_group`): here the one that is named first. Only the
//! members that give data know its size. In Open MPI's gatherv, scatterv and allgatherv, the data therefore goes
//! directly to the members that need it, and not through the first member, which does not know the length of such a
//! message. Non-blocking and persistent collectives follow the blocking ones. SimGrid has no inter-communicators, so it
//! is treated as MPICH.

mod plan;

use super::call::Call;
use super::selection::Selection;
use super::step::Step;
use crate::event::Collective;
use plan::{InterPlan, OneGroup};

/// The part of a member in a collective with a root (MPI 4.0 §6.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootRole {
    /// The member is the root: it passes `MPI_ROOT`.
    Root,
    /// The member is in the root's group, and does nothing: it passes `MPI_PROC_NULL`.
    Idle,
    /// The member is in the other group, or the collective has no root.
    Peer,
}

impl RootRole {
    /// The part in `collective` of a member that is the root, or is not.
    #[must_use]
    pub fn of(collective: &Collective, is_root: bool) -> Self {
        match collective.root {
            _ if !collective.kind.signature().is_rooted => Self::Peer,
            None => Self::Idle,
            Some(_) if is_root => Self::Root,
            Some(_) => Self::Peer,
        }
    }
}

impl Selection {
    /// The steps of a call on an inter-communicator whose members are those of two groups in succession, with the given
    /// number in the first. `None` if MPI has no such collective, or if `me` or `root` is not a member.
    #[must_use]
    pub fn inter_steps(&self, call: &Call, first_group: u32, role: RootRole) -> Vec<Step> {
        if !call.is_sound() || role == RootRole::Idle {
            return Vec::new();
        }
        let is_low = call.me < first_group;
        let (low, high) =
            (OneGroup { first: 0, size: first_group }, OneGroup { first: first_group, size: call.size - first_group });
        let (local, remote) = if is_low { (low, high) } else { (high, low) };
        let mut plan = InterPlan::new(self, call, [local, remote], is_low);
        plan.add(role);
        plan.into_steps()
    }
}
