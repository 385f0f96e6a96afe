//! The data of a collective call, as regions of the program's memory.
//!
//! Regions are in the order of the members, as schedules have it. Data that `MPI_IN_PLACE` stands for is where MPI 4.0 §6 says
//! it is.

use titr_wrappers::argument::{Array, Buffer, Count, Datatype, Displacement, Op};
use titr_wrappers::functions::collective::Collective::{self, *};
use titr_wrappers::pmpi::exchange::Reduction;
use titr_wrappers::pmpi::region::Region;

/// The data of a call.
#[derive(Default)]
pub(super) struct Data {
    /// The data that the member gives.
    pub(super) send: Vec<Region>,
    /// The data that the member gets.
    pub(super) recv: Vec<Region>,
    /// Whether the member has the data of `recv` already, and gives it on: the root of a broadcast.
    pub(super) has_recv: bool,
    /// The operation of a reduction.
    pub(super) reduction: Option<Reduction>,
}

/// A member of a communicator of `size` members.
#[derive(Clone, Copy)]
pub(super) struct MemberRank {
    pub(super) me: i32,
    pub(super) size: u64,
}

impl MemberRank {
    fn at(self, root: i32) -> bool {
        self.me == root
    }
}

impl Data {
    /// The data of a call, blocking or not; `None` where the arguments are such that MPI itself is to say what is wrong with
    /// them, and for calls that only set up.
    pub(super) fn of(call: &Collective<'_>, member: MemberRank) -> Option<Self> {
        let (me, everybody) = (i64::from(member.me), member.size);
        Some(match call {
            MPI_Barrier(_) | MPI_Ibarrier(..) => Self::default(),
            MPI_Bcast(call) | MPI_Ibcast(call, _) => Self {
                recv: vec![region(call.buffer(), call.count(), call.datatype())?],
                has_recv: member.at(call.root()),
                ..Self::default()
            },
            MPI_Reduce(call) | MPI_Ireduce(call, _) => {
                let given = given(call.sendbuf(), call.recvbuf());
                let at_root = member.at(call.root());
                let recv = at_root.then(|| region(call.recvbuf(), call.count(), call.datatype()));
                Self {
                    send: vec![region(given, call.count(), call.datatype())?],
                    recv: recv.map_or(Some(Vec::new()), |region| Some(vec![region?]))?,
                    ..Self::reducing(call.op(), call.datatype(), call.count().get())?
                }
            }
            MPI_Allreduce(call) | MPI_Iallreduce(call, _) | MPI_Scan(call) | MPI_Iscan(call, _) => Self {
                send: vec![region(given(call.sendbuf(), call.recvbuf()), call.count(), call.datatype())?],
                recv: vec![region(call.recvbuf(), call.count(), call.datatype())?],
                ..Self::reducing(call.op(), call.datatype(), call.count().get())?
            },
            MPI_Exscan(call) | MPI_Iexscan(call, _) => {
                let recv = region(call.recvbuf(), call.count(), call.datatype())?;
                Self {
                    send: vec![region(given(call.sendbuf(), call.recvbuf()), call.count(), call.datatype())?],
                    // The first member gets nothing.
                    recv: if me == 0 { Vec::new() } else { vec![recv] },
                    ..Self::reducing(call.op(), call.datatype(), call.count().get())?
                }
            }
            MPI_Reduce_scatter(call) | MPI_Ireduce_scatter(call, _) => {
                let counts: Option<Vec<u64>> = call.recvcounts().iter().map(Count::checked).collect();
                let counts = counts?;
                let (total, own) = (counts.iter().sum(), *counts.get(usize::try_from(me).ok()?)?);
                Self {
                    send: vec![Region::new(given(call.sendbuf(), call.recvbuf()), total, call.datatype())?],
                    recv: vec![Region::new(call.recvbuf(), own, call.datatype())?],
                    ..Self::reducing(call.op(), call.datatype(), total)?
                }
            }
            MPI_Reduce_scatter_block(call) | MPI_Ireduce_scatter_block(call, _) => {
                let total = call.recvcount().checked()?.saturating_mul(everybody);
                Self {
                    send: vec![Region::new(given(call.sendbuf(), call.recvbuf()), total, call.datatype())?],
                    recv: vec![region(call.recvbuf(), call.recvcount(), call.datatype())?],
                    ..Self::reducing(call.op(), call.datatype(), total)?
                }
            }
            MPI_Gather(call) | MPI_Igather(call, _) => {
                let blocks = |first, count| blocks(call.recvbuf(), call.recvcount(), call.recvtype(), first, count);
                let at_root = member.at(call.root());
                let in_place = at_root && call.sendbuf().is_in_place();
                let own = || region(call.sendbuf(), call.sendcount(), call.sendtype());
                Self {
                    send: vec![if in_place { blocks(me, 1)? } else { own()? }],
                    recv: if at_root { vec![blocks(0, everybody)?] } else { Vec::new() },
                    ..Self::default()
                }
            }
            MPI_Scatter(call) | MPI_Iscatter(call, _) => {
                let at_root = member.at(call.root());
                let in_place = at_root && call.recvbuf().is_in_place();
                let own = || region(call.recvbuf(), call.recvcount(), call.recvtype());
                let all = || blocks(call.sendbuf(), call.sendcount(), call.sendtype(), 0, everybody);
                Self {
                    send: if at_root { vec![all()?] } else { Vec::new() },
                    recv: if in_place { Vec::new() } else { vec![own()?] },
                    ..Self::default()
                }
            }
            MPI_Gatherv(call) | MPI_Igatherv(call, _) => {
                let all = listed(call.recvbuf(), &call.recvcounts(), &call.displs(), call.recvtype());
                let at_root = member.at(call.root());
                let recv = if at_root { all? } else { Vec::new() };
                let own = || region(call.sendbuf(), call.sendcount(), call.sendtype());
                let in_place = at_root && call.sendbuf().is_in_place();
                let send = if in_place { *recv.get(usize::try_from(me).ok()?)? } else { own()? };
                Self { send: vec![send], recv, ..Self::default() }
            }
            MPI_Scatterv(call) | MPI_Iscatterv(call, _) => {
                let all = listed(call.sendbuf(), &call.sendcounts(), &call.displs(), call.sendtype());
                let at_root = member.at(call.root());
                let in_place = at_root && call.recvbuf().is_in_place();
                let own = || region(call.recvbuf(), call.recvcount(), call.recvtype());
                Self {
                    send: if at_root { all? } else { Vec::new() },
                    recv: if in_place { Vec::new() } else { vec![own()?] },
                    ..Self::default()
                }
            }
            MPI_Allgather(call) | MPI_Iallgather(call, _) => {
                let blocks = |first, count| blocks(call.recvbuf(), call.recvcount(), call.recvtype(), first, count);
                let own = || region(call.sendbuf(), call.sendcount(), call.sendtype());
                Self {
                    send: vec![if call.sendbuf().is_in_place() { blocks(me, 1)? } else { own()? }],
                    recv: vec![blocks(0, everybody)?],
                    ..Self::default()
                }
            }
            MPI_Allgatherv(call) | MPI_Iallgatherv(call, _) => {
                let recv = listed(call.recvbuf(), &call.recvcounts(), &call.displs(), call.recvtype())?;
                let own = || region(call.sendbuf(), call.sendcount(), call.sendtype());
                let in_place = call.sendbuf().is_in_place();
                let send = if in_place { *recv.get(usize::try_from(me).ok()?)? } else { own()? };
                Self { send: vec![send], recv, ..Self::default() }
            }
            MPI_Alltoall(call) | MPI_Ialltoall(call, _) => {
                let recv = blocks(call.recvbuf(), call.recvcount(), call.recvtype(), 0, everybody)?;
                let own = || blocks(call.sendbuf(), call.sendcount(), call.sendtype(), 0, everybody);
                let send = if call.sendbuf().is_in_place() { recv } else { own()? };
                Self { send: vec![send], recv: vec![recv], ..Self::default() }
            }
            MPI_Alltoallv(call) | MPI_Ialltoallv(call, _) => {
                let recv = listed(call.recvbuf(), &call.recvcounts(), &call.rdispls(), call.recvtype())?;
                let own = || listed(call.sendbuf(), &call.sendcounts(), &call.sdispls(), call.sendtype());
                let send = if call.sendbuf().is_in_place() { recv.clone() } else { own()? };
                Self { send, recv, ..Self::default() }
            }
            MPI_Alltoallw(call) | MPI_Ialltoallw(call, _) => {
                let recv = typed(call.recvbuf(), &call.recvcounts(), &call.rdispls(), &call.recvtypes())?;
                let own = || typed(call.sendbuf(), &call.sendcounts(), &call.sdispls(), &call.sendtypes());
                let send = if call.sendbuf().is_in_place() { recv.clone() } else { own()? };
                Self { send, recv, ..Self::default() }
            }
            // Those that only set up.
            _ => return None,
        })
    }

    /// A reduction of no data so far. There is no operation on no elements.
    fn reducing(op: Op, datatype: Datatype, elements: u64) -> Option<Self> {
        let reduction = if elements == 0 { None } else { Some(Reduction::new(op, datatype)?) };
        Some(Self { reduction, ..Self::default() })
    }
}

/// The buffer of the data that a member of a reduction gives.
fn given(send: Buffer, recv: Buffer) -> Buffer {
    if send.is_in_place() { recv } else { send }
}

fn region(buffer: Buffer, count: Count, datatype: Datatype) -> Option<Region> {
    Region::new(buffer, count.checked()?, datatype)
}

/// `blocks` blocks of `count` elements, from the one with index `first` on.
fn blocks(buffer: Buffer, count: Count, datatype: Datatype, first: i64, blocks: u64) -> Option<Region> {
    let count = count.checked()?;
    let all = Region::new(buffer, count.saturating_mul(blocks), datatype)?;
    Some(all.displaced(first.saturating_mul(count as i64)))
}

/// A region for each member, so many extents of the datatype into the buffer.
fn listed(
    buffer: Buffer,
    counts: &Array<'_, Count>,
    displacements: &Array<'_, Displacement>,
    datatype: Datatype,
) -> Option<Vec<Region>> {
    let members = counts.iter().zip(displacements.iter());
    members.map(|(count, at)| Some(region(buffer, count, datatype)?.displaced(at.get()))).collect()
}

/// A region for each member, so many bytes into the buffer, each of its own datatype.
fn typed(
    buffer: Buffer,
    counts: &Array<'_, Count>,
    displacements: &Array<'_, Displacement>,
    datatypes: &Array<'_, Datatype>,
) -> Option<Vec<Region>> {
    let members = counts.iter().zip(displacements.iter()).zip(datatypes.iter());
    members.map(|((count, at), datatype)| Some(region(buffer, count, datatype)?.displaced_bytes(at.get()))).collect()
}
