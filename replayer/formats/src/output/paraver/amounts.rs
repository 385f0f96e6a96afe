//! The bytes of a collective, as Extrae counts them.

use titr_common::event::{Collective, CollectiveKind};

use crate::output::otf2::sum;

/// The bytes that a rank sends and receives in a collective among this number of members, as the one in this place.
pub(super) fn bytes(call: &Collective, members: u64, me: u32, is_root: bool) -> (u64, u64) {
    use CollectiveKind as K;
    let (send, recv) = (sum(&call.send), sum(&call.recv));
    let of_root = |bytes: u64| if is_root { bytes } else { 0 };
    let times_members = |bytes: u64| bytes.saturating_mul(members);
    match call.kind {
        K::Barrier => (0, 0),
        K::Bcast if is_root => (send, 0),
        K::Bcast => (0, send),
        K::Reduce if is_root => (0, send),
        K::Reduce => (send, 0),
        K::Allreduce | K::Scan | K::Exscan => (send, send),
        // The sum of what all members get, and the own part.
        K::ReduceScatter => (recv, call.recv.per_member().get(me as usize).map_or(0, |bytes| bytes.0)),
        K::ReduceScatterBlock => (times_members(recv), recv),
        K::Gather => (send, of_root(times_members(recv))),
        K::Scatter => (of_root(times_members(send)), recv),
        K::Allgather => (send, times_members(recv)),
        K::Alltoall => (times_members(send), times_members(recv)),
        K::Gatherv => (send, of_root(recv)),
        K::Scatterv => (of_root(send), recv),
        K::Allgatherv | K::Alltoallv | K::Alltoallw => (send, recv),
    }
}
