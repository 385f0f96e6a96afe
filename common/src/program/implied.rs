//! The messages that a program does not describe, but implies: those by which the members of a communicator agree when it
//! is made.

use crate::event::{Collective, CollectiveKind, CommCall, CommId, Group, Volumes};
use crate::units::{Bytes, Instructions};

/// How often the members of a communicator agree in the call that makes it. Processes that are spawned begin when they hear of the
/// spawn, and then answer; all others agree once.
#[must_use]
pub fn agreements(call: CommCall) -> u32 {
    if matches!(call, CommCall::Spawn | CommCall::Parent) { 2 } else { 1 }
}

/// The collective that a call which makes a communicator costs as much as, on its parent or on what is made: those that
/// compare colours, as an allgather of eight bytes a member; all others as an allreduce of four bytes, over what is made
/// where not all of the parent takes part, or others than the parent's members do. `None` for `MPI_Comm_idup`, whose
/// completion the trace does not say, and for a world, which nobody makes.
#[must_use]
pub fn agreement(call: CommCall, parent: CommId, made: Option<&Group>) -> Option<Collective> {
    let (kind, send, recv, element) = match call {
        CommCall::Idup | CommCall::World => return None,
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
        | CommCall::CreateFromGroup
        | CommCall::Spawn
        | CommCall::Parent
        | CommCall::Accept
        | CommCall::Connect
        | CommCall::Join => (CollectiveKind::Allreduce, Volumes::Each(Bytes(4)), Volumes::None, Bytes(4)),
    };
    let is_over_made = call.joins_worlds()
        || matches!(call, CommCall::CreateGroup | CommCall::IntercommCreate | CommCall::CreateFromGroup);
    let comm = if is_over_made { made?.id } else { parent };
    Some(Collective { comm, kind, root: None, send, recv, element, work: Instructions(0.0), is_commutative: true })
}
