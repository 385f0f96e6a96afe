//! The bytes in the record of a collective, by Score-P's convention: a rank counts what it exchanges with each member, itself
//! included.

use titr_common::event::{Collective, CollectiveKind, Volumes};

use crate::input::otf2::volumes::Amounts;

/// The bytes that a rank sends and receives in a collective among as many members, as the one in this place.
pub(super) fn amounts(call: &Collective, members: u64, me: u64, is_root: bool) -> Amounts {
    use CollectiveKind as K;
    let (send, recv) = (sum(&call.send), sum(&call.recv));
    let of_root = |bytes: u64| if is_root { bytes } else { 0 };
    let times = |bytes: u64, number: u64| bytes.saturating_mul(number);
    let (sent, received) = match call.kind {
        K::Barrier => (0, 0),
        K::Bcast => (of_root(times(send, members)), send),
        K::Reduce => (send, of_root(times(send, members))),
        K::Allreduce => (times(send, members), times(send, members)),
        K::Scan => (times(send, members.saturating_sub(me)), times(send, me + 1)),
        K::Exscan => (times(send, members.saturating_sub(me + 1)), times(send, me)),
        K::ReduceScatter => {
            let mine = call.recv.per_member().get(me as usize).map_or(0, |bytes| bytes.0);
            (recv, times(mine, members))
        }
        K::ReduceScatterBlock => (times(recv, members), times(recv, members)),
        K::Gather => (send, of_root(times(recv, members))),
        K::Scatter => (of_root(times(send, members)), recv),
        K::Allgather | K::Alltoall => (times(send, members), times(recv, members)),
        K::Gatherv => (send, of_root(recv)),
        K::Scatterv => (of_root(send), recv),
        K::Allgatherv => (times(send, members), recv),
        K::Alltoallv | K::Alltoallw => (send, recv),
    };
    Amounts { sent, received, members, me, is_root }
}

/// The bytes in one buffer, where it has a number for each member; otherwise the number.
pub(in crate::output) fn sum(volumes: &Volumes) -> u64 {
    match volumes {
        Volumes::None => 0,
        Volumes::Each(bytes) => bytes.0,
        Volumes::PerMember(list) => list.iter().fold(0, |sum, bytes| sum.saturating_add(bytes.0)),
    }
}
