//! The messages that a program does not describe, but implies: those of neighbourhood collectives, and those by which the
//! members of a communicator agree when it is made.

use super::fault::Fault;
use super::members::Members;
use crate::collectives::{Buffer, Step};
use crate::event::{Collective, CollectiveKind, CommCall, CommId, Group, Neighborhood, Volumes};
use crate::units::{Bytes, Instructions};

/// The steps of one member of a neighbourhood collective: it receives from all sources and sends to all destinations at
/// once. Both libraries do it so (Open MPI 4.1, `coll/basic`; MPICH 4.0, the linear algorithms).
///
/// # Errors
/// Where a neighbour is no member.
pub fn neighborhood_steps(call: &Neighborhood, members: &Members) -> Result<Vec<Step>, Fault> {
    let place = |rank| members.place(rank).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() });
    let receives = call
        .recvs
        .iter()
        .map(|&(rank, bytes)| Ok(Step::Irecv { from: place(rank)?, data: Buffer::Recv.first(bytes.0) }));
    let sends =
        call.sends.iter().map(|&(rank, bytes)| Ok(Step::Isend { to: place(rank)?, data: Buffer::Send.first(bytes.0) }));
    receives.chain(sends).chain([Ok(Step::WaitAll)]).collect()
}

/// The collective that a call which makes a communicator costs as much as, on its parent or on what is made: those that
/// compare colours, as an allgather of eight bytes a member; all others as an allreduce of four bytes, over what is made
/// where not all of the parent takes part. `None` for `MPI_Comm_idup`, whose completion the trace does not say.
#[must_use]
pub fn agreement(call: CommCall, parent: CommId, made: Option<&Group>) -> Option<Collective> {
    let (kind, send, recv, element) = match call {
        CommCall::Idup => return None,
        CommCall::Split | CommCall::SplitType | CommCall::CartSub => {
            let volumes = Volumes::Each(Bytes(8));
            (CollectiveKind::Allgather, volumes.clone(), volumes, Bytes(8))
        }
        CommCall::Dup
        | CommCall::Create
        | CommCall::CreateGroup
        | CommCall::CartCreate
        | CommCall::GraphCreate
        | CommCall::DistGraphCreate
        | CommCall::DistGraphCreateAdjacent
        | CommCall::IntercommCreate
        | CommCall::IntercommMerge
        | CommCall::CreateFromGroup => (CollectiveKind::Allreduce, Volumes::Each(Bytes(4)), Volumes::None, Bytes(4)),
    };
    let is_over_made = matches!(call, CommCall::CreateGroup | CommCall::IntercommCreate | CommCall::CreateFromGroup);
    let comm = if is_over_made { made?.id } else { parent };
    Some(Collective { comm, kind, root: None, send, recv, element, work: Instructions(0.0) })
}
