//! The messages that a program implies without describing them: those by which the members of a communicator agree when
//! it is created.

use crate::event::{Collective, CollectiveKind, CommCall, CommId, Group, Volumes};
use crate::units::Bytes;

/// The number of agreements between the members of a communicator in the call that creates it. Spawned processes begin
/// when they learn of the spawn, and then answer; all others agree once.
#[must_use]
pub fn agreements(call: CommCall) -> u32 {
    if matches!(call, CommCall::Spawn | CommCall::Parent) { 2 } else { 1 }
}

/// The collective that costs as much as a call which creates a communicator, on its parent or on the new communicator:
/// an allgather of eight bytes per member for calls that compare colours, and an allreduce of four bytes for all
/// others, over the new communicator if its members are not exactly the parent's. `None` for `MPI_Comm_idup`, whose
/// members agree in a non-blocking barrier that is in the trace, and for a world, which no call creates.
#[must_use]
pub fn agreement(call: CommCall, parent: CommId, made: Option<&Group>) -> Option<Collective> {
    let (kind, send, recv, element) = match call {
        CommCall::Idup | CommCall::World => return None,
        CommCall::Split | CommCall::SplitType | CommCall::CartSub => {
            let volumes = Volumes::Each(Bytes(8));
            (CollectiveKind::Allgather, volumes.clone(), volumes, Bytes(8))
        }
        _ => (CollectiveKind::Allreduce, Volumes::Each(Bytes(4)), Volumes::None, Bytes(4)),
    };
    let is_over_made = call.joins_worlds()
        || matches!(call, CommCall::CreateGroup | CommCall::IntercommCreate | CommCall::CreateFromGroup);
    let comm = if is_over_made { made?.id } else { parent };
    Some(Collective { kind, send, recv, element, ..Collective::barrier(comm) })
}
