//! The data of a collective call, as regions of the program's memory.
//!
//! Regions are in the order of the members, as in schedules. For `MPI_IN_PLACE`, the data is at the place that MPI 4.0
//! §6 defines.

use titr_common::collectives::{Library, RootRole};
use titr_common::event::{CollectiveKind, NeighborOp, Neighborhood};
use titr_wrappers::argument::{Count, Datatype};

use crate::collective_call::{Blocks, BufferArgs, CollectiveCall, NeighborhoodCall};
use crate::pmpi::{Neighbors, Reduction, Region};

#[derive(Clone, Default)]
pub(super) struct Data {
    /// The data that the member gives.
    pub(super) send: Vec<Region>,
    /// The data that the member gets.
    pub(super) recv: Vec<Region>,
    /// Whether the member already has the data of `recv`, and passes it on: the root of a broadcast.
    pub(super) has_recv: bool,
    /// The operation of a reduction.
    pub(super) reduction: Option<Reduction>,
}

/// The groups of a communicator: one or two.
#[derive(Clone, Copy)]
pub(super) struct Groups {
    /// The number of members of the caller's group.
    local: usize,
    /// The number of members that the caller exchanges data with: those of the other group, if there is one.
    peers: usize,
    are_two: bool,
}

impl Groups {
    /// The groups of a communicator of `size` members, with `first_group` of them in the first group if there are two,
    /// as its member `me` sees them.
    pub(super) fn of(size: u32, first_group: Option<u32>, me: u32) -> Self {
        let (local, peers) = match first_group {
            None => (size, size),
            Some(first) if me < first => (first, size.saturating_sub(first)),
            Some(first) => (size.saturating_sub(first), first),
        };
        Self { local: local as usize, peers: peers as usize, are_two: first_group.is_some() }
    }
}

impl Data {
    /// The data of a call by the rank `me` of the caller's group, which has this part in it; `None` if the arguments
    /// are such that MPI itself has to report the error, as it does for the datatype `refused`.
    pub(super) fn of(
        call: &CollectiveCall<'_>,
        me: usize,
        groups: Groups,
        role: RootRole,
        refused: Option<Datatype>,
    ) -> Option<Self> {
        let (send, recv) = (&call.send, &call.recv);
        let in_place = |buffer: &BufferArgs<'_>| buffer.buffer.is_in_place;
        let size = if call.kind.is_shared_out() { groups.local } else { groups.peers };
        let is_root = role == RootRole::Root;
        let (gives, gets) = match (role, groups.are_two) {
            (_, false) => (is_root || call.gives_everywhere(), is_root || call.gets_everywhere()),
            (RootRole::Idle, true) => return Some(Self::default()),
            // The root's group gives or receives no data of its own (MPI 4.0 §6.2.3).
            (RootRole::Root, true) => (!call.gives_everywhere(), !call.gets_everywhere() || is_broadcast(call)),
            (RootRole::Peer, true) => (call.gives_everywhere(), call.gets_everywhere()),
        };
        let is_refused = |blocks: &Blocks<'_>| refused.is_some_and(|datatype| blocks.have(datatype));
        // Open MPI 4.1 does not look at the datatype that the root of a scatter sends.
        let is_sent = gives && !(gets && in_place(send)) && call.kind != CollectiveKind::Scatter;
        let is_received = gets && !(gives && in_place(recv));
        if is_sent && is_refused(&send.blocks) || is_received && is_refused(&recv.blocks) {
            return None;
        }
        let sent = match (call.kind, send.blocks) {
            (CollectiveKind::Bcast, _) => Vec::new(),
            _ if !gives => Vec::new(),
            (_, Blocks::One(..)) if gets && in_place(send) => vec![block(recv, me)?],
            _ if gets && in_place(send) => regions(recv, size)?,
            _ => regions(send, size)?,
        };
        let received = match call.kind {
            CollectiveKind::ReduceScatter => vec![block(recv, me)?],
            // The first member gets nothing.
            CollectiveKind::Exscan if me == 0 => Vec::new(),
            CollectiveKind::Scatter | CollectiveKind::Scatterv if gives && in_place(recv) => Vec::new(),
            _ if !gets => Vec::new(),
            _ => regions(recv, size)?,
        };
        Some(Self {
            send: sent,
            recv: received,
            has_recv: is_broadcast(call) && is_root,
            // There is no operation on no elements.
            reduction: match call.op.zip(send.blocks.datatype()) {
                Some((op, datatype)) if send.blocks.elements(size) > 0 => Some(Reduction::new(op, datatype)?),
                _ => None,
            },
        })
    }

    /// Whether the host can read all of it.
    pub(super) fn is_readable(&self) -> bool {
        self.send.iter().chain(&self.recv).all(Region::is_readable)
    }
}

fn is_broadcast(call: &CollectiveCall<'_>) -> bool {
    call.kind == CollectiveKind::Bcast
}

/// All data of a buffer: blocks one behind the other are one region.
fn regions(BufferArgs { buffer, blocks }: &BufferArgs<'_>, size: usize) -> Option<Vec<Region>> {
    let region = |count: Count, datatype| Region::new(*buffer, count.checked()?, datatype);
    match *blocks {
        Blocks::None => Some(Vec::new()),
        Blocks::One(count, datatype) => Some(vec![region(count, datatype)?]),
        Blocks::Equal(count, datatype) => {
            Some(vec![Region::new(*buffer, count.checked()?.saturating_mul(size as u64), datatype)?])
        }
        Blocks::Packed(counts, datatype) => {
            let total = counts.iter().try_fold(0, |sum: u64, count| Some(sum.saturating_add(count.checked()?)))?;
            Some(vec![Region::new(*buffer, total, datatype)?])
        }
        Blocks::Displaced(counts, displacements, datatype) => {
            let members = counts.iter().zip(displacements.along(&counts).iter());
            members.map(|(count, at)| Some(region(count, datatype)?.displaced(at.0))).collect()
        }
        Blocks::Typed(counts, displacements, datatypes) => {
            let members = counts.iter().zip(displacements.along(&counts).iter()).zip(datatypes.along(&counts).iter());
            members.map(|((count, at), of)| Some(region(count, of)?.displaced_bytes(at.0))).collect()
        }
    }
}

/// The block of the member `me`.
fn block(args: &BufferArgs<'_>, me: usize) -> Option<Region> {
    let BufferArgs { buffer, blocks } = *args;
    match blocks {
        Blocks::Equal(count, datatype) => {
            let count = count.checked()?;
            let displacement = (me as i64).saturating_mul(count as i64);
            Some(Region::new(buffer, count, datatype)?.displaced(displacement))
        }
        // The function has its own block alone in the buffer.
        Blocks::Packed(counts, datatype) => Region::new(buffer, counts.get(me)?.checked()?, datatype),
        Blocks::None | Blocks::One(..) | Blocks::Displaced(..) | Blocks::Typed(..) => {
            regions(args, 0)?.get(me).copied()
        }
    }
}

/// A neighbourhood collective, and the order in which a member sends its data.
///
/// The order matters if a neighbour occurs several times, as in a periodic dimension of one or two ranks: the messages
/// to it are received in the order in which they are sent. MPI requires those of a Cartesian topology to arrive as if
/// the neighbours before and behind were different ranks (MPI 4.0 §8.6). Not all libraries do so, and the program gets
/// the behaviour of its library (tried with Open MPI 4.1 and MPICH 4.0):
///
/// | library | function | topology | order |
/// | --- | --- | --- | --- |
/// | Open MPI | all | Cartesian | in each dimension, the neighbour behind before the one before |
/// | MPICH | `MPI_Neighbor_alltoall` | any | the last one first |
/// | both | all others | any | the first one first |
///
/// The destinations are in the order in which they are sent to, and its data in this order.
pub(super) struct Ordered {
    pub(super) neighborhood: Neighborhood,
    pub(super) data: Data,
}

impl Ordered {
    /// The order for a call; `None` if MPI itself has to report an error in the arguments.
    pub(super) fn of(
        library: Library,
        call: &NeighborhoodCall<'_>,
        neighborhood: &Neighborhood,
        neighbors: &Neighbors,
    ) -> Option<Self> {
        let places = |ranks: &[i32]| places(ranks).collect::<Vec<_>>();
        let mut sends: Vec<_> = places(&neighbors.destinations).into_iter().zip(&neighborhood.sends).collect();
        match (library, call.op) {
            (_, _) if neighbors.is_cartesian && (library.is_open_mpi() || library == Library::SimGridOpenMpi) => {
                sends.sort_by_key(|&(place, _)| place ^ 1);
            }
            (Library::Mpich | Library::SimGrid, NeighborOp::Alltoall) => sends.reverse(),
            (_, _) => {}
        }
        let send = sends.iter().map(|&(place, _)| call.send.region(place)).collect::<Option<_>>()?;
        let recv =
            places(&neighbors.sources).into_iter().map(|place| call.recv.region(place)).collect::<Option<_>>()?;
        let sends = sends.into_iter().map(|(_, &volume)| volume).collect();
        Some(Self {
            neighborhood: Neighborhood { sends, recvs: neighborhood.recvs.clone(), ..*neighborhood },
            data: Data { send, recv, ..Data::default() },
        })
    }
}

/// The places of those neighbours that are not `MPI_PROC_NULL`.
fn places(ranks: &[i32]) -> impl Iterator<Item = usize> {
    ranks.iter().enumerate().filter(|&(_, &rank)| rank >= 0).map(|(place, _)| place)
}
