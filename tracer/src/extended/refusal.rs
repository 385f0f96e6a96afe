//! Arguments that a library rejects, although the call could be executed as messages.
//!
//! Open MPI rejects `MPI_DATATYPE_NULL` even without elements; MPICH does not (tried with Open MPI 4.1 and MPICH 4.0).
//!
//! MPICH rejects a buffer that is both read and written, which MPI forbids (MPI 4.0 §6.2.1). It compares addresses,
//! according to `dump_validate_userbuffer_coll` and `dump_validate_userbuffer_reduce` in
//! `maint/local_python/binding_c.py` of MPICH 4.0, and programs may expect the error. If one member leaves a call to
//! the library, members whose call the tracer executes do not see it: this file therefore has only calls that the
//! library certainly rejects, and all others are executed.

use titr_common::event::CollectiveKind;
use titr_wrappers::Abi;
use titr_wrappers::abi::Family;
use titr_wrappers::argument::{Count, Datatype};
use titr_wrappers::pmpi::type_size;

use crate::collective_call::{Blocks, BufferArgs, CollectiveCall};

/// Whether the library rejects a call of the member `me` of a group because its input and output data overlap.
pub(super) fn is_aliased(abi: &Abi, call: &CollectiveCall<'_>, me: usize, is_root: bool) -> bool {
    use CollectiveKind::{Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw, Barrier, Bcast};
    use CollectiveKind::{Allreduce, Exscan, Gather, Gatherv, Reduce, ReduceScatter, ReduceScatterBlock};
    use CollectiveKind::{Scan, Scatter, Scatterv};
    let (send, recv) = (&call.send, &call.recv);
    if abi.family != Family::Mpich || call.is_in_place || send.buffer.is_in_place() || recv.buffer.is_in_place() {
        return false;
    }
    match call.kind {
        Barrier | Bcast => false,
        Reduce => is_root && is_same(send, recv),
        Allreduce | Scan | Exscan | ReduceScatter | ReduceScatterBlock => is_same(send, recv),
        Alltoall => are_alike(&send.blocks, &recv.blocks) && is_same(send, recv),
        // Whether there is any data depends on the member, and MPICH does not check it.
        Alltoallv | Alltoallw => {
            are_alike(&send.blocks, &recv.blocks) && send.buffer.address() == recv.buffer.address()
        }
        Allgather | Allgatherv => is_within(send, recv, me),
        Gather | Gatherv => is_root && is_within(send, recv, me),
        Scatter | Scatterv => is_root && is_within(recv, send, me),
    }
}

/// The datatype that the library refuses wherever it looks at a datatype.
pub(super) fn refused_datatype(abi: &Abi) -> Option<Datatype> {
    (abi.family == Family::OpenMpi).then_some(abi.datatype_null)
}

/// Whether both buffers are not empty and begin at one address.
fn is_same(send: &BufferArgs<'_>, recv: &BufferArgs<'_>) -> bool {
    send.buffer.address() == recv.buffer.address() && send.blocks.elements(1) > 0
}

/// Whether the two buffers of an all-to-all exchange are described alike: by the same lists, if by lists.
fn are_alike(send: &Blocks<'_>, recv: &Blocks<'_>) -> bool {
    match (*send, *recv) {
        (Blocks::Equal(sent, of), Blocks::Equal(received, like)) => (sent, of) == (received, like),
        (Blocks::Displaced(sent, _, of), Blocks::Displaced(received, _, like)) => {
            (sent.address(0), of) == (received.address(0), like)
        }
        (Blocks::Typed(sent, _, of), Blocks::Typed(received, _, like)) => {
            (sent.address(0), of.address(0)) == (received.address(0), like.address(0))
        }
        _ => false,
    }
}

/// Whether the block of one member is at that member's place in the buffer of all.
fn is_within(one: &BufferArgs<'_>, all: &BufferArgs<'_>, me: usize) -> bool {
    let Blocks::One(own, of) = one.blocks else { return false };
    let at = |elements: i64, datatype: Datatype| {
        let bytes = elements.wrapping_mul(type_size(datatype)? as i64);
        Some(all.buffer.address().wrapping_add_signed(bytes as isize))
    };
    let has_any = |count: Count| count.get() > 0;
    let place = match all.blocks {
        Blocks::Equal(count, like) if (own, of) == (count, like) && has_any(own) => {
            at(me as i64 * count.get() as i64, like)
        }
        Blocks::Displaced(counts, places, like)
            if of == like && has_any(own) && counts.get(me).is_some_and(has_any) =>
        {
            places.along(&counts).get(me).and_then(|place| at(place.get(), like))
        }
        _ => None,
    };
    place == Some(one.buffer.address())
}
