//! Collective operations and their volumes.
//!
//! What is not significant for a rank (MPI 4.0 §6: the receive arguments of a gather away from its root, the send
//! arguments where `MPI_IN_PLACE` stands) is never read. A reduction is counted as one instruction an element.

use titr_common::event::{self, CollectiveKind, CommId, Completion, Event, Rank, Volumes};
use titr_common::units::{Bytes, Instructions};
use titr_wrappers::argument::{Array, Comm, Count, Datatype, Place, Request};
use titr_wrappers::functions::collective::Collective::{self, *};
use titr_wrappers::pmpi;
use titr_wrappers::signature::{Allgather, Allreduce, Gather};

use super::omitted_calls::Omission;
use super::requests::RequestKind;
use super::{Outcome, Recorder};
use crate::extended::Description;

/// A collective call on an intra-communicator.
struct Context {
    comm: Comm,
    id: CommId,
    size: usize,
}

/// Bytes that a rank gives or gets, and the size of an element.
#[derive(Clone, Copy)]
struct Volume {
    bytes: Bytes,
    element: Bytes,
}

/// The arguments of a collective, as an event has them.
struct Arguments {
    kind: CollectiveKind,
    root: Option<Rank>,
    send: Volumes,
    recv: Volumes,
    element: Bytes,
    work: Instructions,
}

impl Arguments {
    /// A collective that moves nothing.
    fn new(kind: CollectiveKind, element: Bytes) -> Self {
        Self { kind, root: None, send: Volumes::None, recv: Volumes::None, element, work: Instructions(0.0) }
    }

    /// The collective with one volume in each direction.
    fn each(self, send: Bytes, recv: Bytes) -> Self {
        Self { send: Volumes::Each(send), recv: Volumes::Each(recv), ..self }
    }
}

impl Volume {
    fn of(count: Count, datatype: Datatype) -> Self {
        let element = Recorder::element(datatype);
        Self { bytes: element.times(count.get()), element }
    }
}

impl Recorder {
    #[inline(never)]
    pub(super) fn collective(&mut self, call: &Collective<'_>) -> Outcome {
        let operation = self.operation(call).map(|(_, operation)| operation);
        let request = started(call).map(|(request, persistent)| {
            let kind = if operation.is_ok() { RequestKind::Collective } else { RequestKind::Nothing };
            (self.requests.add(request.get(), request.address(), kind, persistent), persistent)
        });
        let operation = operation?;
        let completion = match request {
            None => Completion::Blocking,
            Some((id, false)) => Completion::Request(id),
            Some((id, true)) => Completion::Persistent(id),
        };
        let event = Event::Collective(operation, completion);
        self.emit(&event);
        if let Event::Collective(operation, _) = event {
            self.reclaim(operation);
        }
        Ok(())
    }

    /// Describes a collective on an intra-communicator to the extended mode.
    pub(crate) fn describe(&mut self, call: &Collective<'_>) -> Option<Description> {
        let (comm, collective) = self.operation(call).ok()?;
        let members = self.known(comm).ok()?.members.to_vec();
        let request = started(call).map(|(request, _)| request.address());
        Some(Description { comm, members, collective, request })
    }

    /// The operation that a call asks for, and the communicator that it is called on.
    fn operation(&mut self, call: &Collective<'_>) -> Result<(Comm, event::Collective), Omission> {
        let (context, arguments) = match call {
            MPI_Barrier(call) | MPI_Ibarrier(call, _) | MPI_Barrier_init(call, ..) => {
                (self.context(call.comm())?, Arguments::new(CollectiveKind::Barrier, Bytes(1)))
            }
            MPI_Bcast(call) | MPI_Ibcast(call, _) | MPI_Bcast_init(call, ..) => {
                let context = self.context(call.comm())?;
                let Volume { bytes, element } = Volume::of(call.count(), call.datatype());
                let root = Some(self.root(&context, call.root())?);
                let bcast = Arguments::new(CollectiveKind::Bcast, element);
                (context, Arguments { root, send: Volumes::Each(bytes), ..bcast })
            }
            MPI_Reduce(call) | MPI_Ireduce(call, _) | MPI_Reduce_init(call, ..) => {
                let context = self.context(call.comm())?;
                let Volume { bytes, element } = Volume::of(call.count(), call.datatype());
                let (work, root) = (work(call.count().get()), Some(self.root(&context, call.root())?));
                let reduce = Arguments::new(CollectiveKind::Reduce, element);
                (context, Arguments { root, send: Volumes::Each(bytes), work, ..reduce })
            }
            MPI_Allreduce(call) | MPI_Iallreduce(call, _) | MPI_Allreduce_init(call, ..) => {
                self.reduction(CollectiveKind::Allreduce, call)?
            }
            MPI_Scan(call) | MPI_Iscan(call, _) | MPI_Scan_init(call, ..) => {
                self.reduction(CollectiveKind::Scan, call)?
            }
            MPI_Exscan(call) | MPI_Iexscan(call, _) | MPI_Exscan_init(call, ..) => {
                self.reduction(CollectiveKind::Exscan, call)?
            }
            MPI_Reduce_scatter(call) | MPI_Ireduce_scatter(call, _) | MPI_Reduce_scatter_init(call, ..) => {
                let context = self.context(call.comm())?;
                let element = Self::element(call.datatype());
                let elements = call.recvcounts().iter().fold(0_u64, |sum, count| sum.saturating_add(count.get()));
                let recv = Volumes::PerMember(volumes(&mut self.recvs, &call.recvcounts(), element));
                let reduce_scatter = Arguments::new(CollectiveKind::ReduceScatter, element);
                (context, Arguments { recv, work: work(elements), ..reduce_scatter })
            }
            MPI_Reduce_scatter_block(call)
            | MPI_Ireduce_scatter_block(call, _)
            | MPI_Reduce_scatter_block_init(call, ..) => {
                let context = self.context(call.comm())?;
                let Volume { bytes, element } = Volume::of(call.recvcount(), call.datatype());
                let work = work(call.recvcount().get().saturating_mul(context.size as u64));
                let reduce_scatter = Arguments::new(CollectiveKind::ReduceScatterBlock, element);
                (context, Arguments { recv: Volumes::Each(bytes), work, ..reduce_scatter })
            }
            MPI_Gather(call) | MPI_Igather(call, _) | MPI_Gather_init(call, ..) => {
                let context = self.context(call.comm())?;
                let recv = context.at(call.root()).then(|| received(call));
                let send = in_place(call.sendbuf().is_in_place(), recv, || sent(call));
                let recv = recv.map_or(Bytes(0), |recv| recv.bytes);
                let root = Some(self.root(&context, call.root())?);
                let gather = Arguments::new(CollectiveKind::Gather, send.element);
                (context, Arguments { root, ..gather.each(send.bytes, recv) })
            }
            MPI_Scatter(call) | MPI_Iscatter(call, _) | MPI_Scatter_init(call, ..) => {
                let context = self.context(call.comm())?;
                let send = context.at(call.root()).then(|| sent(call));
                let recv = in_place(call.recvbuf().is_in_place(), send, || received(call));
                let send = send.map_or(Bytes(0), |send| send.bytes);
                let root = Some(self.root(&context, call.root())?);
                let scatter = Arguments::new(CollectiveKind::Scatter, recv.element);
                (context, Arguments { root, ..scatter.each(send, recv.bytes) })
            }
            MPI_Allgather(call) | MPI_Iallgather(call, _) | MPI_Allgather_init(call, ..) => {
                self.exchange(CollectiveKind::Allgather, call)?
            }
            MPI_Alltoall(call) | MPI_Ialltoall(call, _) | MPI_Alltoall_init(call, ..) => {
                self.exchange(CollectiveKind::Alltoall, call)?
            }
            MPI_Gatherv(call) | MPI_Igatherv(call, _) | MPI_Gatherv_init(call, ..) => {
                let context = self.context(call.comm())?;
                let at_root = context.at(call.root());
                let element = if at_root { Self::element(call.recvtype()) } else { Bytes(0) };
                let recvs = volumes_or_zero(&mut self.recvs, &call.recvcounts(), element, context.size);
                let own = at_root.then(|| context.own(&recvs, element));
                let sent = || Volume::of(call.sendcount(), call.sendtype());
                let send = in_place(call.sendbuf().is_in_place(), own, sent);
                let root = Some(self.root(&context, call.root())?);
                let (send, element) = (Volumes::Each(send.bytes), send.element);
                let recv = Volumes::PerMember(recvs);
                (context, Arguments { root, send, recv, ..Arguments::new(CollectiveKind::Gatherv, element) })
            }
            MPI_Scatterv(call) | MPI_Iscatterv(call, _) | MPI_Scatterv_init(call, ..) => {
                let context = self.context(call.comm())?;
                let at_root = context.at(call.root());
                let element = if at_root { Self::element(call.sendtype()) } else { Bytes(0) };
                let sends = volumes_or_zero(&mut self.sends, &call.sendcounts(), element, context.size);
                let own = at_root.then(|| context.own(&sends, element));
                let received = || Volume::of(call.recvcount(), call.recvtype());
                let recv = in_place(call.recvbuf().is_in_place(), own, received);
                let root = Some(self.root(&context, call.root())?);
                let (recv, element) = (Volumes::Each(recv.bytes), recv.element);
                let send = Volumes::PerMember(sends);
                (context, Arguments { root, send, recv, ..Arguments::new(CollectiveKind::Scatterv, element) })
            }
            MPI_Allgatherv(call) | MPI_Iallgatherv(call, _) | MPI_Allgatherv_init(call, ..) => {
                let context = self.context(call.comm())?;
                let element = Self::element(call.recvtype());
                let recvs = volumes(&mut self.recvs, &call.recvcounts(), element);
                let own = Some(context.own(&recvs, element));
                let sent = || Volume::of(call.sendcount(), call.sendtype());
                let send = in_place(call.sendbuf().is_in_place(), own, sent);
                let (send, recv) = (Volumes::Each(send.bytes), Volumes::PerMember(recvs));
                (context, Arguments { send, recv, ..Arguments::new(CollectiveKind::Allgatherv, element) })
            }
            MPI_Alltoallv(call) | MPI_Ialltoallv(call, _) | MPI_Alltoallv_init(call, ..) => {
                let context = self.context(call.comm())?;
                let element = Self::element(call.recvtype());
                let recvs = volumes(&mut self.recvs, &call.recvcounts(), element);
                let sends = if call.sendbuf().is_in_place() {
                    copy(&mut self.sends, &recvs)
                } else {
                    volumes(&mut self.sends, &call.sendcounts(), Self::element(call.sendtype()))
                };
                let (send, recv) = (Volumes::PerMember(sends), Volumes::PerMember(recvs));
                (context, Arguments { send, recv, ..Arguments::new(CollectiveKind::Alltoallv, element) })
            }
            MPI_Alltoallw(call) | MPI_Ialltoallw(call, _) | MPI_Alltoallw_init(call, ..) => {
                let context = self.context(call.comm())?;
                let recvs = volumes_by_type(&mut self.recvs, &call.recvcounts(), &call.recvtypes());
                let sends = if call.sendbuf().is_in_place() {
                    copy(&mut self.sends, &recvs)
                } else {
                    volumes_by_type(&mut self.sends, &call.sendcounts(), &call.sendtypes())
                };
                // The elements are as many sizes as there are datatypes: a message may be cut anywhere.
                let (send, recv) = (Volumes::PerMember(sends), Volumes::PerMember(recvs));
                (context, Arguments { send, recv, ..Arguments::new(CollectiveKind::Alltoallw, Bytes(1)) })
            }
        };
        let Arguments { kind, root, send, recv, element, work } = arguments;
        Ok((context.comm, event::Collective { comm: context.id, kind, root, send, recv, element, work }))
    }

    fn reduction(&mut self, kind: CollectiveKind, call: &Allreduce<'_>) -> Result<(Context, Arguments), Omission> {
        let Volume { bytes, element } = Volume::of(call.count(), call.datatype());
        let (send, work) = (Volumes::Each(bytes), work(call.count().get()));
        Ok((self.context(call.comm())?, Arguments { send, work, ..Arguments::new(kind, element) }))
    }

    fn exchange(&mut self, kind: CollectiveKind, call: &Allgather<'_>) -> Result<(Context, Arguments), Omission> {
        let recv = Volume::of(call.recvcount(), call.recvtype());
        let sent = || Volume::of(call.sendcount(), call.sendtype());
        let send = in_place(call.sendbuf().is_in_place(), Some(recv), sent);
        Ok((self.context(call.comm())?, Arguments::new(kind, recv.element).each(send.bytes, recv.bytes)))
    }

    /// Collectives of inter-communicators are not recorded: no schedule is known for them.
    fn context(&mut self, comm: Comm) -> Result<Context, Omission> {
        let known = self.known(comm)?;
        if known.remote.is_some() {
            return Err(Omission::Untraced);
        }
        Ok(Context { comm, id: known.id, size: known.members.len() })
    }

    fn root(&mut self, context: &Context, root: i32) -> Result<Rank, Omission> {
        self.known(context.comm)?.members.get(root).ok_or(Omission::Untraced)
    }

    /// Takes the lists of an operation back, for the next one.
    fn reclaim(&mut self, operation: event::Collective) {
        if let Volumes::PerMember(list) = operation.send {
            self.sends = list;
        }
        if let Volumes::PerMember(list) = operation.recv {
            self.recvs = list;
        }
    }
}

/// The request of a call that only starts, or sets up; and whether it is persistent.
pub(super) fn started<'a, 'c>(call: &'a Collective<'c>) -> Option<(&'a Place<'c, Request>, bool)> {
    match call {
        MPI_Ibarrier(_, request)
        | MPI_Ibcast(_, request)
        | MPI_Ireduce(_, request)
        | MPI_Iallreduce(_, request)
        | MPI_Iscan(_, request)
        | MPI_Iexscan(_, request)
        | MPI_Ireduce_scatter(_, request)
        | MPI_Ireduce_scatter_block(_, request)
        | MPI_Igather(_, request)
        | MPI_Iscatter(_, request)
        | MPI_Iallgather(_, request)
        | MPI_Ialltoall(_, request)
        | MPI_Igatherv(_, request)
        | MPI_Iscatterv(_, request)
        | MPI_Iallgatherv(_, request)
        | MPI_Ialltoallv(_, request)
        | MPI_Ialltoallw(_, request) => Some((request, false)),
        MPI_Barrier_init(.., request)
        | MPI_Bcast_init(.., request)
        | MPI_Reduce_init(.., request)
        | MPI_Allreduce_init(.., request)
        | MPI_Scan_init(.., request)
        | MPI_Exscan_init(.., request)
        | MPI_Reduce_scatter_init(.., request)
        | MPI_Reduce_scatter_block_init(.., request)
        | MPI_Gather_init(.., request)
        | MPI_Scatter_init(.., request)
        | MPI_Allgather_init(.., request)
        | MPI_Alltoall_init(.., request)
        | MPI_Gatherv_init(.., request)
        | MPI_Scatterv_init(.., request)
        | MPI_Allgatherv_init(.., request)
        | MPI_Alltoallv_init(.., request)
        | MPI_Alltoallw_init(.., request) => Some((request, true)),
        MPI_Barrier(_)
        | MPI_Bcast(_)
        | MPI_Reduce(_)
        | MPI_Allreduce(_)
        | MPI_Scan(_)
        | MPI_Exscan(_)
        | MPI_Reduce_scatter(_)
        | MPI_Reduce_scatter_block(_)
        | MPI_Gather(_)
        | MPI_Scatter(_)
        | MPI_Allgather(_)
        | MPI_Alltoall(_)
        | MPI_Gatherv(_)
        | MPI_Scatterv(_)
        | MPI_Allgatherv(_)
        | MPI_Alltoallv(_)
        | MPI_Alltoallw(_) => None,
    }
}

impl Context {
    /// Whether this rank is the root.
    fn at(&self, root: i32) -> bool {
        pmpi::comm_rank(self.comm) == root
    }

    /// This rank's part in a list.
    fn own(&self, list: &[Bytes], element: Bytes) -> Volume {
        let own = usize::try_from(pmpi::comm_rank(self.comm)).ok().and_then(|rank| list.get(rank));
        Volume { bytes: own.copied().unwrap_or_default(), element }
    }
}

fn work(elements: u64) -> Instructions {
    Instructions(elements as f64)
}

fn sent(call: &Gather<'_>) -> Volume {
    Volume::of(call.sendcount(), call.sendtype())
}

fn received(call: &Gather<'_>) -> Volume {
    Volume::of(call.recvcount(), call.recvtype())
}

/// A side's volume: that of the other side where the data is in place.
fn in_place(in_place: bool, other: Option<Volume>, own: impl FnOnce() -> Volume) -> Volume {
    match other {
        Some(other) if in_place => other,
        _ => own(),
    }
}

/// The volumes of counts of one datatype, in the memory of `list`.
fn volumes(list: &mut Vec<Bytes>, counts: &Array<'_, Count>, element: Bytes) -> Vec<Bytes> {
    let mut list = std::mem::take(list);
    list.clear();
    list.extend(counts.iter().map(|count| element.times(count.get())));
    list
}

/// [`volumes`] where only the root has counts.
fn volumes_or_zero(list: &mut Vec<Bytes>, counts: &Array<'_, Count>, element: Bytes, size: usize) -> Vec<Bytes> {
    let mut list = volumes(list, counts, element);
    list.resize(size, Bytes(0));
    list
}

/// The volumes of counts with a datatype each, in the memory of `list`.
fn volumes_by_type(list: &mut Vec<Bytes>, counts: &Array<'_, Count>, types: &Array<'_, Datatype>) -> Vec<Bytes> {
    let mut list = std::mem::take(list);
    list.clear();
    list.extend(counts.iter().zip(types.iter()).map(|(count, datatype)| Recorder::bytes(count, datatype)));
    list
}

fn copy(list: &mut Vec<Bytes>, from: &[Bytes]) -> Vec<Bytes> {
    let mut list = std::mem::take(list);
    list.clear();
    list.extend_from_slice(from);
    list
}
