//! Argument lists that several functions share, with MPI's names for the arguments.
//!
//! `MPI_Send` and its eleven variants differ in their treatment of the message, not in its description. A function with
//! further arguments — a request, a status — lists them next to the signature in its line of
//! [`functions`](crate::functions).

use crate::argument::{
    Argument, Arguments, Array, Buffer, ByteDisplacement, Comm, Count, Datatype, Displacement, File, Offset, Op,
    Opaque, PartitionCount, Place, Request, Size, Statuses, Win,
};
use crate::pmpi;

/// Defines a struct for each argument list: a method for each argument; `[n]` behind an array names the method that says
/// how many elements it has.
macro_rules! signatures {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty $([$len:ident])?),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'c> {
            call: &'c Arguments<'c>,
            at: usize,
        }

        const _: () = {
            #[allow(non_camel_case_types, reason = "the position of each argument, under its own name")]
            enum Position { $($field,)* End }

            impl<'c> $name<'c> {
                $(
                    #[doc = concat!("`", stringify!($field), "`.")]
                    #[inline]
                    pub fn $field(&self) -> $type {
                        <$type>::read(self.call, self.at + Position::$field as usize)$(.of(self.$len()))?
                    }
                )*
            }

            impl<'c> Argument<'c> for $name<'c> {
                const WORDS: usize = Position::End as usize;
                fn types(all: &mut Vec<&'static str>) {
                    $(<$type>::types(all);)*
                }
                fn read(call: &'c Arguments<'c>, at: usize) -> Self {
                    Self { call, at }
                }
            }
        };
    )*};
}

signatures! {
    /// A message to send.
    Send { buf: Buffer, count: Count, datatype: Datatype, dest: i32, tag: i32, comm: Comm }

    /// A message to receive.
    Recv { buf: Buffer, count: Count, datatype: Datatype, source: i32, tag: i32, comm: Comm }

    /// A message to receive that a matched probe has found.
    Mrecv { buf: Buffer, count: Count, datatype: Datatype }

    /// A message to look for.
    Probe { source: i32, tag: i32, comm: Comm }

    /// A message to send and one to receive.
    Sendrecv {
        sendbuf: Buffer, sendcount: Count, sendtype: Datatype, dest: i32, sendtag: i32,
        recvbuf: Buffer, recvcount: Count, recvtype: Datatype, source: i32, recvtag: i32,
        comm: Comm,
    }

    /// A message to send and one to receive, in one buffer.
    SendrecvReplace {
        buf: Buffer, count: Count, datatype: Datatype, dest: i32, sendtag: i32, source: i32, recvtag: i32, comm: Comm,
    }

    /// Several requests.
    Requests { count: i32, array_of_requests: Array<'c, Request>[len] }

    /// Several requests, and a status for each.
    WaitAll { count: i32, array_of_requests: Array<'c, Request>[len], array_of_statuses: Statuses<'c>[len] }

    /// Several requests, whether all are done, and a status for each.
    TestAll {
        count: i32, array_of_requests: Array<'c, Request>[len],
        flag: Place<'c, i32>,
        array_of_statuses: Statuses<'c>[len],
    }

    /// Several requests, which of them are done, and a status for each of these.
    WaitSome {
        incount: i32, array_of_requests: Array<'c, Request>[len],
        outcount: Place<'c, i32>, array_of_indices: Array<'c, i32>[len],
        array_of_statuses: Statuses<'c>[len],
    }

    /// Synchronises.
    Barrier { comm: Comm }

    /// One sends to all.
    Bcast { buffer: Buffer, count: Count, datatype: Datatype, root: i32, comm: Comm }

    /// All send to one, by way of an operation.
    Reduce { sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: Datatype, op: Op, root: i32, comm: Comm }

    /// All send to all (or to all behind them), by way of an operation.
    Allreduce { sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: Datatype, op: Op, comm: Comm }

    /// A reduction whose result is shared out.
    ReduceScatter {
        sendbuf: Buffer, recvbuf: Buffer, recvcounts: Array<'c, Count>[members], datatype: Datatype, op: Op, comm: Comm,
    }

    /// A reduction whose result is shared out evenly.
    ReduceScatterBlock { sendbuf: Buffer, recvbuf: Buffer, recvcount: Count, datatype: Datatype, op: Op, comm: Comm }

    /// Between one and all: a gather, a scatter.
    Gather {
        sendbuf: Buffer, sendcount: Count, sendtype: Datatype,
        recvbuf: Buffer, recvcount: Count, recvtype: Datatype,
        root: i32, comm: Comm,
    }

    /// From all to one, a count for each. There are counts at the root only.
    Gatherv {
        sendbuf: Buffer, sendcount: Count, sendtype: Datatype,
        recvbuf: Buffer, recvcounts: Array<'c, Count>[members_at_root], displs: Array<'c, Displacement>, recvtype: Datatype,
        root: i32, comm: Comm,
    }

    /// From one to all, a count for each. There are counts at the root only.
    Scatterv {
        sendbuf: Buffer, sendcounts: Array<'c, Count>[members_at_root], displs: Array<'c, Displacement>, sendtype: Datatype,
        recvbuf: Buffer, recvcount: Count, recvtype: Datatype,
        root: i32, comm: Comm,
    }

    /// Between all and all: an allgather, an alltoall.
    Allgather {
        sendbuf: Buffer, sendcount: Count, sendtype: Datatype,
        recvbuf: Buffer, recvcount: Count, recvtype: Datatype,
        comm: Comm,
    }

    /// From all to all, a count for each sender.
    Allgatherv {
        sendbuf: Buffer, sendcount: Count, sendtype: Datatype,
        recvbuf: Buffer, recvcounts: Array<'c, Count>[members], displs: Array<'c, Displacement>, recvtype: Datatype,
        comm: Comm,
    }

    /// From all to all, a count for each pair.
    Alltoallv {
        sendbuf: Buffer, sendcounts: Array<'c, Count>[members_sending], sdispls: Array<'c, Displacement>, sendtype: Datatype,
        recvbuf: Buffer, recvcounts: Array<'c, Count>[members], rdispls: Array<'c, Displacement>, recvtype: Datatype,
        comm: Comm,
    }

    /// From all to all, a count and a datatype for each pair.
    Alltoallw {
        sendbuf: Buffer, sendcounts: Array<'c, Count>[members_sending], sdispls: Array<'c, Displacement>,
        sendtypes: Array<'c, Datatype>,
        recvbuf: Buffer, recvcounts: Array<'c, Count>[members], rdispls: Array<'c, Displacement>,
        recvtypes: Array<'c, Datatype>,
        comm: Comm,
    }

    /// Between neighbours, a count for each source.
    NeighborAllgatherv {
        sendbuf: Buffer, sendcount: Count, sendtype: Datatype,
        recvbuf: Buffer, recvcounts: Array<'c, Count>[sources], displs: Array<'c, Displacement>, recvtype: Datatype,
        comm: Comm,
    }

    /// Between neighbours, a count for each pair.
    NeighborAlltoallv {
        sendbuf: Buffer, sendcounts: Array<'c, Count>[destinations], sdispls: Array<'c, Displacement>, sendtype: Datatype,
        recvbuf: Buffer, recvcounts: Array<'c, Count>[sources], rdispls: Array<'c, Displacement>, recvtype: Datatype,
        comm: Comm,
    }

    /// Between neighbours, a count and a datatype for each pair.
    NeighborAlltoallw {
        sendbuf: Buffer, sendcounts: Array<'c, Count>[destinations], sdispls: Array<'c, ByteDisplacement>,
        sendtypes: Array<'c, Datatype>[destinations],
        recvbuf: Buffer, recvcounts: Array<'c, Count>[sources], rdispls: Array<'c, ByteDisplacement>,
        recvtypes: Array<'c, Datatype>[sources],
        comm: Comm,
    }

    /// A message in partitions. `peer` is its destination or its source.
    Partitioned {
        buf: Buffer, partitions: i32, count: PartitionCount, datatype: Datatype, peer: i32, tag: i32, comm: Comm,
    }

    /// Partitions that are ready.
    Partitions { length: i32, array_of_partitions: Array<'c, i32>[len] }

    /// Data between here and the memory of another rank.
    Transfer {
        origin_addr: Buffer, origin_count: Count, origin_datatype: Datatype,
        target_rank: i32, target_disp: Opaque, target_count: Count, target_datatype: Datatype,
    }

    /// Data between here and the memory of another rank, both ways.
    Exchange {
        origin_addr: Buffer, origin_count: Count, origin_datatype: Datatype,
        result_addr: Buffer, result_count: Count, result_datatype: Datatype,
        target_rank: i32, target_disp: Opaque, target_count: Count, target_datatype: Datatype,
    }

    /// One element each way.
    FetchAndOp { origin_addr: Buffer, result_addr: Buffer, datatype: Datatype, target_rank: i32, target_disp: Opaque }

    /// Two elements there and one back.
    CompareAndSwap {
        origin_addr: Buffer, compare_addr: Buffer, result_addr: Buffer, datatype: Datatype, target_rank: i32,
        target_disp: Opaque,
    }

    /// A window on memory that is there.
    WinCreate { base: Opaque, size: Size, disp_unit: Opaque, info: Opaque, comm: Comm, win: Place<'c, Win> }

    /// A window on memory that is made for it.
    WinAllocate { size: Size, disp_unit: Opaque, info: Opaque, comm: Comm, baseptr: Opaque, win: Place<'c, Win> }

    /// Data between memory and a file.
    FileData { fh: File, buf: Buffer, count: Count, datatype: Datatype }

    /// Data between memory and a file, at an offset.
    FileDataAt { fh: File, offset: Offset, buf: Buffer, count: Count, datatype: Datatype }
}

/// Defines the methods that `signatures!` names behind arrays: how many elements an array of `$call` has.
macro_rules! lengths {
    ($($call:ident: $($name:ident)* => $method:ident = $length:expr;)*) => {$($(
        impl $name<'_> {
            #[inline]
            fn $method(&self) -> usize {
                let $call = self;
                $length
            }
        }
    )*)*};
}

lengths! {
    call: Requests WaitAll TestAll => len = usize::try_from(call.count()).unwrap_or(0);
    call: WaitSome => len = usize::try_from(call.incount()).unwrap_or(0);
    call: Partitions => len = usize::try_from(call.length()).unwrap_or(0);
    // For an inter-communicator, the local group, among whose members the result is scattered (MPI 4.0 §6.10.2).
    call: ReduceScatter => members = pmpi::comm_size(call.comm());
    call: Gatherv Scatterv Allgatherv Alltoallv Alltoallw => members = pmpi::comm_peers(call.comm());
    call: Gatherv Scatterv => members_at_root = if pmpi::is_root(call.root(), call.comm()) { call.members() } else { 0 };
    call: Alltoallv Alltoallw => members_sending = if call.sendbuf().is_in_place { 0 } else { call.members() };
    call: NeighborAllgatherv NeighborAlltoallv NeighborAlltoallw =>
        sources = pmpi::neighbors(call.call.abi, call.comm()).sources.len();
    call: NeighborAlltoallv NeighborAlltoallw =>
        destinations = pmpi::neighbors(call.call.abi, call.comm()).destinations.len();
}
