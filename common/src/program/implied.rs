//! The messages that a program does not describe, but implies: those by which the members of a communicator agree when it
//! is made.

use crate::event::{Collective, CollectiveKind, CommCall, CommId, Group, Volumes};
use crate::units::{Bytes, Instructions};

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
    Some(Collective { comm, kind, root: None, send, recv, element, work: Instructions(0.0), is_commutative: true })
}
