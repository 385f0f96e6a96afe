//! MPI's collective functions in one form: the kind of collective, the arguments that describe its two buffers, and
//! when it takes place.
//!
//! The recorder reads volumes from a [`CollectiveCall`], the extended mode reads the places of the data. A new
//! collective is an entry in a table of this file.

use titr_common::event::{CollectiveKind, NeighborOp};
use titr_wrappers::Call;
use titr_wrappers::argument::{
    Array, Buffer, ByteDisplacement, Comm, Count, Datatype, Displacement, Op, Place, Request,
};
use titr_wrappers::functions::collective::Collective::{self, *};
use titr_wrappers::functions::topology::Topology::{self, *};

use crate::pmpi::Region;

pub(crate) struct CollectiveCall<'c> {
    pub kind: CollectiveKind,
    pub start: Start<'c>,
    pub comm: Comm,
    /// The root, as the call names it.
    pub root: Option<i32>,
    /// The operation that a reduction applies.
    pub op: Option<Op>,
    /// Whether a reduction has its data in the receive buffer (`MPI_IN_PLACE`), which then is its send buffer, too.
    pub is_in_place: bool,
    pub send: BufferArgs<'c>,
    pub recv: BufferArgs<'c>,
}

/// When a collective takes place.
#[derive(Clone, Copy)]
pub(crate) enum Start<'c> {
    Blocking,
    /// From the call on, until its request is completed.
    Nonblocking(Place<'c, Request>),
    /// Whenever the persistent request that the call makes is started.
    Persistent(Place<'c, Request>),
}

#[derive(Clone, Copy, Default)]
pub(crate) struct BufferArgs<'c> {
    pub buffer: Buffer,
    pub blocks: Blocks<'c>,
}

/// The data in a buffer of a collective.
#[derive(Clone, Copy, Default)]
pub(crate) enum Blocks<'c> {
    /// There is no such buffer.
    #[default]
    None,
    One(Count, Datatype),
    /// A block for each member, all of one size, one behind the other.
    Equal(Count, Datatype),
    /// A block for each member, one behind the other.
    Packed(Array<'c, Count>, Datatype),
    /// A block for each member, displaced by multiples of the datatype's extent.
    Displaced(Array<'c, Count>, Array<'c, Displacement>, Datatype),
    /// A block for each member, displaced by bytes, each with its own datatype.
    Typed(Array<'c, Count>, Array<'c, Displacement>, Array<'c, Datatype>),
}

impl Blocks<'_> {
    pub(crate) fn datatype(&self) -> Option<Datatype> {
        match *self {
            Self::One(_, datatype) | Self::Equal(_, datatype) => Some(datatype),
            Self::Packed(_, datatype) | Self::Displaced(_, _, datatype) => Some(datatype),
            Self::None | Self::Typed(..) => None,
        }
    }

    /// Whether the blocks, or some of them, are of this datatype.
    pub(crate) fn have(&self, datatype: Datatype) -> bool {
        match self {
            Self::Typed(counts, _, datatypes) => datatypes.along(counts).iter().any(|of| of == datatype),
            Self::None | Self::One(..) | Self::Equal(..) | Self::Packed(..) | Self::Displaced(..) => {
                self.datatype() == Some(datatype)
            }
        }
    }

    /// The number of elements in all blocks together, on a communicator of the given size.
    pub(crate) fn elements(&self, members: usize) -> u64 {
        match self {
            Self::None => 0,
            Self::One(count, _) => count.get(),
            Self::Equal(count, _) => count.get().saturating_mul(members as u64),
            Self::Packed(counts, _) | Self::Displaced(counts, ..) | Self::Typed(counts, ..) => {
                counts.iter().fold(0, |sum: u64, count| sum.saturating_add(count.get()))
            }
        }
    }
}

impl CollectiveCall<'_> {
    /// Whether the send arguments are significant on ranks other than the root; those of a scatter are not.
    #[inline]
    pub(crate) fn gives_everywhere(&self) -> bool {
        !matches!(self.kind, CollectiveKind::Scatter | CollectiveKind::Scatterv)
    }

    /// Whether the receive arguments are significant on ranks other than the root; those of a gather and of a reduction
    /// to one member are not.
    #[inline]
    pub(crate) fn gets_everywhere(&self) -> bool {
        !matches!(self.kind, CollectiveKind::Gather | CollectiveKind::Gatherv | CollectiveKind::Reduce)
    }
}

/// Writes the table of collectives: the three functions of a kind, its root and its operation where it has them, and
/// the arguments that describe the two buffers, all by MPI's names.
macro_rules! collectives {
    ($($kind:ident = $blocking:ident, $nonblocking:ident, $persistent:ident:
        $($scalar:ident)* $([$send:ident: $sendbuf:ident $($sent:ident)*] [$recv:ident: $recvbuf:ident $($received:ident)*])?;)*
    ) => {
        impl<'c> CollectiveCall<'c> {
            /// The form of `call`.
            pub(crate) fn of(call: &Collective<'c>) -> Self {
                let start = Start::of(call);
                let mut form = match call {$(
                    $blocking(call) | $nonblocking(call, _) | $persistent(call, ..) => Self {
                        $($scalar: Some(call.$scalar()),)*
                        $(
                            send: BufferArgs { buffer: call.$sendbuf(), blocks: Blocks::$send($(call.$sent()),*) },
                            recv: BufferArgs { buffer: call.$recvbuf(), blocks: Blocks::$recv($(call.$received()),*) },
                        )?
                        ..Self::new(CollectiveKind::$kind, start, call.comm())
                    },
                )*};
                form.is_in_place = form.op.is_some() && form.send.buffer.is_in_place;
                if form.is_in_place {
                    form.send.buffer = form.recv.buffer;
                }
                form
            }
        }

        impl<'c> Start<'c> {
            #[inline]
            fn of(call: &Collective<'c>) -> Self {
                match call {
                    $($blocking(_))|* => Self::Blocking,
                    $($nonblocking(_, request))|* => Self::Nonblocking(*request),
                    $($persistent(.., request))|* => Self::Persistent(*request),
                }
            }
        }
    };
}

impl<'c> CollectiveCall<'c> {
    #[inline]
    fn new(kind: CollectiveKind, start: Start<'c>, comm: Comm) -> Self {
        let (send, recv) = (BufferArgs::default(), BufferArgs::default());
        Self { kind, start, comm, root: None, op: None, is_in_place: false, send, recv }
    }
}

collectives! {
    Barrier = MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init:;
    Bcast = MPI_Bcast, MPI_Ibcast, MPI_Bcast_init:
        root [One: buffer count datatype] [One: buffer count datatype];
    Reduce = MPI_Reduce, MPI_Ireduce, MPI_Reduce_init:
        root op [One: sendbuf count datatype] [One: recvbuf count datatype];
    Allreduce = MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init:
        op [One: sendbuf count datatype] [One: recvbuf count datatype];
    Scan = MPI_Scan, MPI_Iscan, MPI_Scan_init:
        op [One: sendbuf count datatype] [One: recvbuf count datatype];
    Exscan = MPI_Exscan, MPI_Iexscan, MPI_Exscan_init:
        op [One: sendbuf count datatype] [One: recvbuf count datatype];
    ReduceScatter = MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init:
        op [Packed: sendbuf recvcounts datatype] [Packed: recvbuf recvcounts datatype];
    ReduceScatterBlock = MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init:
        op [Equal: sendbuf recvcount datatype] [One: recvbuf recvcount datatype];
    Gather = MPI_Gather, MPI_Igather, MPI_Gather_init:
        root [One: sendbuf sendcount sendtype] [Equal: recvbuf recvcount recvtype];
    Scatter = MPI_Scatter, MPI_Iscatter, MPI_Scatter_init:
        root [Equal: sendbuf sendcount sendtype] [One: recvbuf recvcount recvtype];
    Allgather = MPI_Allgather, MPI_Iallgather, MPI_Allgather_init:
        [One: sendbuf sendcount sendtype] [Equal: recvbuf recvcount recvtype];
    Alltoall = MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init:
        [Equal: sendbuf sendcount sendtype] [Equal: recvbuf recvcount recvtype];
    Gatherv = MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init:
        root [One: sendbuf sendcount sendtype] [Displaced: recvbuf recvcounts displs recvtype];
    Scatterv = MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init:
        root [Displaced: sendbuf sendcounts displs sendtype] [One: recvbuf recvcount recvtype];
    Allgatherv = MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init:
        [One: sendbuf sendcount sendtype] [Displaced: recvbuf recvcounts displs recvtype];
    Alltoallv = MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init:
        [Displaced: sendbuf sendcounts sdispls sendtype] [Displaced: recvbuf recvcounts rdispls recvtype];
    Alltoallw = MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init:
        [Typed: sendbuf sendcounts sdispls sendtypes] [Typed: recvbuf recvcounts rdispls recvtypes];
}

pub(crate) struct NeighborhoodCall<'c> {
    pub op: NeighborOp,
    pub start: Start<'c>,
    /// The communicator, which has a topology.
    pub comm: Comm,
    /// The data for the destinations.
    pub send: NeighborBlocks<'c>,
    /// The data from the sources.
    pub recv: NeighborBlocks<'c>,
}

/// The blocks of a buffer, by the places of the neighbours.
#[derive(Clone, Copy)]
pub(crate) struct NeighborBlocks<'c> {
    buffer: Buffer,
    layout: Layout<'c>,
}

/// The layout of the blocks in a buffer.
#[derive(Clone, Copy)]
enum Layout<'c> {
    /// One block, which is everybody's.
    Same(Count, Datatype),
    /// Blocks of one size, one behind the other.
    Equal(Count, Datatype),
    /// Blocks displaced by multiples of the datatype's extent.
    Displaced(Array<'c, Count>, Array<'c, Displacement>, Datatype),
    /// Blocks displaced by bytes, each with its own datatype.
    Typed(Array<'c, Count>, Array<'c, ByteDisplacement>, Array<'c, Datatype>),
}

impl<'c> NeighborBlocks<'c> {
    pub(crate) fn have(&self, datatype: Datatype) -> bool {
        match self.layout {
            Layout::Same(_, of) | Layout::Equal(_, of) | Layout::Displaced(.., of) => of == datatype,
            Layout::Typed(_, _, datatypes) => datatypes.iter().any(|of| of == datatype),
        }
    }

    /// The number and the type of the elements in the block of a neighbour.
    pub(crate) fn elements(&self, place: usize) -> Option<(Count, Datatype)> {
        match self.layout {
            Layout::Same(count, datatype) | Layout::Equal(count, datatype) => Some((count, datatype)),
            Layout::Displaced(counts, _, datatype) => Some((counts.get(place)?, datatype)),
            Layout::Typed(counts, _, datatypes) => counts.get(place).zip(datatypes.get(place)),
        }
    }

    /// The block of a neighbour; `None` if MPI itself has to report an error in the arguments.
    pub(crate) fn region(&self, place: usize) -> Option<Region> {
        let (count, datatype) = self.elements(place)?;
        let count = count.checked()?;
        let region = Region::new(self.buffer, count, datatype)?;
        Some(match self.layout {
            Layout::Same(..) => region,
            Layout::Equal(..) => region.displaced((place as i64).saturating_mul(count as i64)),
            Layout::Displaced(counts, displacements, _) => region.displaced(displacements.along(&counts).get(place)?.0),
            Layout::Typed(counts, displacements, _) => {
                region.displaced_bytes(displacements.along(&counts).get(place)?.0)
            }
        })
    }
}

/// Writes the table of neighbourhood collectives: the three functions of each, and the arguments that describe the two
/// buffers.
macro_rules! neighborhoods {
    ($($op:ident = $blocking:ident, $nonblocking:ident, $persistent:ident:
        [$send:ident: $($sent:ident)*] [$recv:ident: $($received:ident)*];)*
    ) => {
        impl<'c> NeighborhoodCall<'c> {
            /// The form of `call`; `None` for one that makes a communicator.
            pub(crate) fn of(call: &Topology<'c>) -> Option<Self> {
                let start = match call {
                    $($blocking(_))|* => Start::Blocking,
                    $($nonblocking(_, request))|* => Start::Nonblocking(*request),
                    $($persistent(.., request))|* => Start::Persistent(*request),
                    _ => return None,
                };
                match call {
                    $($blocking(call) | $nonblocking(call, _) | $persistent(call, ..) => Some(Self {
                        op: NeighborOp::$op,
                        start,
                        comm: call.comm(),
                        send: NeighborBlocks { buffer: call.sendbuf(), layout: Layout::$send($(call.$sent()),*) },
                        recv: NeighborBlocks { buffer: call.recvbuf(), layout: Layout::$recv($(call.$received()),*) },
                    }),)*
                    MPI_Cart_create(..) | MPI_Cart_sub(..) | MPI_Graph_create(..) => None,
                    MPI_Dist_graph_create(..) | MPI_Dist_graph_create_adjacent(..) => None,
                }
            }
        }
    };
}

neighborhoods! {
    Allgather = MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init:
        [Same: sendcount sendtype] [Equal: recvcount recvtype];
    Alltoall = MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init:
        [Equal: sendcount sendtype] [Equal: recvcount recvtype];
    Allgatherv = MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init:
        [Same: sendcount sendtype] [Displaced: recvcounts displs recvtype];
    Alltoallv = MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init:
        [Displaced: sendcounts sdispls sendtype] [Displaced: recvcounts rdispls recvtype];
    Alltoallw = MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init:
        [Typed: sendcounts sdispls sendtypes] [Typed: recvcounts rdispls recvtypes];
}

/// A collective call of either chapter.
pub(crate) enum AnyCollective<'c> {
    OfAll(CollectiveCall<'c>),
    OfNeighbors(NeighborhoodCall<'c>),
}

impl<'c> AnyCollective<'c> {
    /// The collective that a call is, if it is one.
    pub(crate) fn of(call: &Call<'c>) -> Option<Self> {
        match call {
            Call::Collective(call) => Some(Self::OfAll(CollectiveCall::of(call))),
            Call::Topology(call) => NeighborhoodCall::of(call).map(Self::OfNeighbors),
            Call::PointToPoint(_) | Call::Communicator(_) | Call::Process(_) => None,
            Call::OneSided(_) | Call::Io(_) | Call::Mark(_) | Call::Other => None,
        }
    }
}
