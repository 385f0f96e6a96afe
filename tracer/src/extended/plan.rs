//! The plan of one member of a collective: the steps of the algorithm, and the data that they move.

use std::collections::VecDeque;
use std::sync::Once;

use titr_common::collectives::{self, Buffer, Member, RootRole, Slice, Step, neighborhood_steps};
use titr_common::event::{CollectiveKind, Message, MessageEnd, Rank, Span};
use titr_common::units::Nanoseconds;
use titr_wrappers::Abi;
use titr_wrappers::abi::Family;
use titr_wrappers::argument::{Comm, Count, Datatype};

use super::clock::Clock;
use super::data::{Data, Groups, Ordered};
use super::{Description, Engine, Operation};
use crate::collective_call::{Blocks, BufferArgs, CollectiveCall, NeighborhoodCall};
use crate::pmpi::{self, ErrorCode, Exchange, Region, Side, type_size};
use crate::ranks::Ranks;
use crate::stderr::log;

/// A collective to execute. It is always in a box: the stack may be a coroutine's.
pub(super) struct Plan {
    pub(super) abi: &'static Abi,
    pub(super) members: Ranks,
    pub(super) steps: Vec<Step>,
    pub(super) data: Data,
}

impl Plan {
    /// The plan for a call; `None` if MPI itself has to report an error in the arguments.
    #[inline(never)]
    pub(super) fn new(engine: &Engine, call: &CollectiveCall<'_>, description: &Description) -> Option<Box<Self>> {
        let Description { members, operation: Operation::Collective(collective, first_group), .. } = description else {
            return None;
        };
        let (selection, first_group) = (&engine.selection, *first_group);
        let size = members.len() as u32;
        let rank = u32::try_from(pmpi::comm_rank(description.comm)).ok()?;
        let (me, root, role) = match first_group {
            None => {
                // The recorder has found the root among the members.
                let root = call.root.map_or(0, |root| u32::try_from(root).unwrap_or(0));
                (rank, root, RootRole::of(collective, root == rank))
            }
            // MPI has no such collectives of two groups (MPI 4.0 §6.11).
            Some(_) if matches!(call.kind, CollectiveKind::Scan | CollectiveKind::Exscan) => return None,
            Some(_) => {
                let me = members.place(Rank(engine.rank))?;
                let root = collective.root.map_or(Some(0), |root| members.place(root))?;
                (me, root, RootRole::of(collective, root == me))
            }
        };
        let groups = Groups::of(size, first_group, me);
        let data = Data::of(call, rank as usize, groups, role, refused_datatype(engine.abi))?;
        let is_aliased = first_group.is_none() && is_aliased(engine.abi, call, rank as usize, rank == root);
        if is_aliased || data.reduction.is_some_and(|reduction| !engine.allows(&reduction)) {
            return None;
        }
        let call = collectives::Call::of(collective, me, size, root);
        let steps = match first_group {
            None => selection.steps(&call),
            Some(first_group) => selection.inter_steps(&call, first_group, role),
        };
        Some(Box::new(Self { abi: engine.abi, members: members.clone(), steps, data }))
    }

    /// The plan for a call of a neighbourhood collective; `None` as for the others.
    #[inline(never)]
    pub(super) fn among_neighbors(
        engine: &Engine,
        call: &NeighborhoodCall<'_>,
        description: &Description,
    ) -> Option<Box<Self>> {
        let Description { members, operation: Operation::Neighborhood { neighborhood, neighbors }, .. } = description
        else {
            return None;
        };
        if refused_datatype(engine.abi).is_some_and(|datatype| call.send.have(datatype) || call.recv.have(datatype)) {
            return None;
        }
        let ordered = Ordered::of(engine.selection.library, call, neighborhood, neighbors)?;
        let steps = neighborhood_steps(&ordered.neighborhood, |rank| members.place(rank).ok_or(())).ok()?;
        Some(Box::new(Self { abi: engine.abi, members: members.clone(), steps, data: ordered.data }))
    }

    /// The lengths of the three buffers: as long as the data, and as the steps' slices need them.
    pub(super) fn lens(&self) -> [u64; 3] {
        let total = |regions: &[Region]| regions.iter().map(Region::bytes).sum();
        let mut lens = [total(&self.data.send), total(&self.data.recv), 0];
        for slice in self.steps.iter().flat_map(slices) {
            let end = slice.offset.0.saturating_add(slice.len.0);
            if let Some(len) = lens.get_mut(slice.buffer as usize) {
                *len = end.max(*len);
            }
        }
        lens
    }
}

/// A collective that is being executed.
struct Execution<'d> {
    exchange: Exchange,
    clock: Clock,
    description: &'d Description,
    /// The number of the collective on its communicator.
    number: u64,
    members: Ranks,
    data: Data,
    messages: Vec<Message>,
    /// The messages that were started and not completed, by their index in `messages`.
    open: VecDeque<usize>,
    /// The first error.
    error: Option<ErrorCode>,
}

/// Executes a plan to its end, with messages of `tag` on a communicator `world` that has the ranks of the world: its
/// messages, in the order in which they were started, and the first error. A failing step is still taken as far as
/// possible, because other members wait for the steps behind it.
#[inline(never)]
#[expect(clippy::boxed_local, reason = "the stack may be a coroutine's")]
pub(super) fn carry_out(
    plan: Box<Plan>,
    (world, tag): (Comm, u32),
    clock: Clock,
    (description, number): (&Description, u64),
) -> (Vec<Message>, Result<(), ErrorCode>) {
    let exchange = Exchange::new(plan.abi, world, tag.cast_signed(), plan.lens());
    let Plan { members, steps, data, .. } = *plan;
    let (messages, open) = Default::default();
    let execution =
        Box::new(Execution { exchange, clock, description, number, members, data, messages, open, error: None });
    execution.take(steps)
}

impl Execution<'_> {
    fn take(mut self: Box<Self>, steps: Vec<Step>) -> (Vec<Message>, Result<(), ErrorCode>) {
        let packed = self.exchange.pack(Buffer::Send, &self.data.send);
        self.note(packed);
        if self.data.has_recv {
            let packed = self.exchange.pack(Buffer::Recv, &self.data.recv);
            self.note(packed);
        }
        for step in steps {
            let taken = self.step(step);
            self.note(taken);
        }
        if !self.data.has_recv {
            let unpacked = self.exchange.unpack(Buffer::Recv, &self.data.recv);
            self.note(unpacked);
        }
        (self.messages, self.error.map_or(Ok(()), Err))
    }

    fn note(&mut self, result: Result<(), ErrorCode>) {
        self.error = self.error.or(result.err());
    }

    fn step(&mut self, step: Step) -> Result<(), ErrorCode> {
        match step {
            Step::Send { to, data } => {
                let message = self.begin(MessageEnd::Sent, to, data);
                let sent = self.exchange.send(self.rank(to).0, data);
                self.end(message);
                sent
            }
            Step::Recv { from, data } => {
                let message = self.begin(MessageEnd::Received, from, data);
                let received = self.exchange.recv(self.rank(from).0, data);
                self.end(message);
                received
            }
            Step::Sendrecv { to, send, from, recv } => {
                let receives = self.irecv(from, recv);
                let sends = self.isend(to, send);
                let (receive, send) = (self.open.len() - 2, self.open.len() - 1);
                // The later one first: the index of the other stays.
                let sent = self.wait(send);
                receives.and(sends).and(sent).and(self.wait(receive))
            }
            Step::Isend { to, data } => self.isend(to, data),
            Step::Irecv { from, data } => self.irecv(from, data),
            Step::Wait { nth } => self.wait(nth as usize),
            Step::WaitAll => (0..self.open.len()).map(|_| self.wait(0)).fold(Ok(()), Result::and),
            Step::Copy { from, to } => self.exchange.copy(from, to),
            Step::ReduceLeft { from, into } => self.reduce(from, Side::Left, into),
            Step::ReduceRight { from, into } => self.reduce(from, Side::Right, into),
        }
    }

    /// The rank of a member in the world.
    fn rank(&self, member: Member) -> Rank {
        self.members.get(member as i32).unwrap_or(Rank(member))
    }

    fn isend(&mut self, to: Member, data: Slice) -> Result<(), ErrorCode> {
        let message = self.begin(MessageEnd::Sent, to, data);
        self.open.push_back(message);
        self.exchange.isend(self.rank(to).0, data)
    }

    fn irecv(&mut self, from: Member, data: Slice) -> Result<(), ErrorCode> {
        let message = self.begin(MessageEnd::Received, from, data);
        self.open.push_back(message);
        self.exchange.irecv(self.rank(from).0, data)
    }

    /// Completes the `nth` of the messages that were started and not completed.
    fn wait(&mut self, nth: usize) -> Result<(), ErrorCode> {
        let completed = self.exchange.wait(nth);
        if let Some(message) = self.open.remove(nth) {
            self.end(message);
        }
        completed
    }

    fn reduce(&mut self, from: Slice, side: Side, into: Slice) -> Result<(), ErrorCode> {
        match &self.data.reduction {
            Some(by) => self.exchange.reduce(by, from, side, into),
            None => Ok(()),
        }
    }

    fn begin(&mut self, end: MessageEnd, peer: Member, data: Slice) -> usize {
        let span = Span { begin: self.clock.now(), end: Nanoseconds(0) };
        let (comm, number, peer, bytes) = (self.description.id, self.number, self.rank(peer), data.len);
        self.messages.push(Message { comm, number, end, peer, bytes, span });
        self.messages.len() - 1
    }

    fn end(&mut self, message: usize) {
        if let Some(message) = self.messages.get_mut(message) {
            message.span.end = self.clock.now();
        }
    }
}

/// The slices that a step reads and writes.
pub(super) fn slices(step: &Step) -> impl Iterator<Item = Slice> + use<> {
    let (first, second) = match *step {
        Step::Send { data, .. } | Step::Recv { data, .. } | Step::Isend { data, .. } | Step::Irecv { data, .. } => {
            (Some(data), None)
        }
        Step::Sendrecv { send, recv, .. } => (Some(send), Some(recv)),
        Step::Copy { from, to } => (Some(from), Some(to)),
        Step::ReduceLeft { from, into } | Step::ReduceRight { from, into } => (Some(from), Some(into)),
        Step::Wait { .. } | Step::WaitAll => (None, None),
    };
    first.into_iter().chain(second)
}

/// Whether buffers may be in the memory of devices, such as GPUs, on any rank. Collective.
///
/// If a library accepts buffers in memory that the host cannot read, it executes the collective, and all members have to
/// leave it to the library. They agree on this in each blocking collective, unless no rank uses devices.
pub(super) fn may_be_used(abi: &Abi) -> bool {
    let here = i64::from(pmpi::may_be_on_device());
    pmpi::allreduce(abi, here, abi.max, abi.comm_world).is_some_and(|anywhere| anywhere != 0)
}

impl Engine {
    /// Whether the host can read the data of all members of a collective, so that the tracer can execute it.
    /// Collective.
    pub(super) fn has_in_memory(&self, plan: &Plan, description: &Description) -> bool {
        if !self.has_devices {
            return true;
        }
        let mine = u64::from(plan.data.is_readable());
        let is_readable = self.among_all(mine, self.abi.band, |one, other| one & other, description.comm) == Some(1);
        if !is_readable {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| {
                if pmpi::comm_rank(description.comm) == 0 {
                    log(format_args!(
                        "the MPI library carries out collectives of data that the host cannot read, such as a GPU's: the trace \
                         does not have their messages"
                    ));
                }
            });
        }
        is_readable
    }
}

/// Whether the library rejects a call of the member `me` of a group because its input and output data overlap.
///
/// Open MPI rejects `MPI_DATATYPE_NULL` even without elements; MPICH does not (tried with Open MPI 4.1 and MPICH 4.0).
///
/// MPICH rejects a buffer that is both read and written, which MPI forbids (MPI 4.0 §6.2.1). It compares addresses,
/// according to `dump_validate_userbuffer_coll` and `dump_validate_userbuffer_reduce` in
/// `maint/local_python/binding_c.py` of MPICH 4.0, and programs may expect the error. If one member leaves a call to
/// the library, members whose call the tracer executes do not see it: only calls count here that the
/// library certainly rejects, and all others are executed.
pub(super) fn is_aliased(abi: &Abi, call: &CollectiveCall<'_>, me: usize, is_root: bool) -> bool {
    use CollectiveKind::{Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw, Barrier, Bcast};
    use CollectiveKind::{Allreduce, Exscan, Gather, Gatherv, Reduce, ReduceScatter, ReduceScatterBlock};
    use CollectiveKind::{Scan, Scatter, Scatterv};
    let (send, recv) = (&call.send, &call.recv);
    if abi.family != Family::Mpich || call.is_in_place || send.buffer.is_in_place || recv.buffer.is_in_place {
        return false;
    }
    match call.kind {
        Barrier | Bcast => false,
        Reduce => is_root && is_same(send, recv),
        Allreduce | Scan | Exscan | ReduceScatter | ReduceScatterBlock => is_same(send, recv),
        Alltoall => are_alike(&send.blocks, &recv.blocks) && is_same(send, recv),
        // Whether there is any data depends on the member, and MPICH does not check it.
        Alltoallv | Alltoallw => are_alike(&send.blocks, &recv.blocks) && send.buffer.address == recv.buffer.address,
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
    send.buffer.address == recv.buffer.address && send.blocks.elements(1) > 0
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
        Some(all.buffer.address.wrapping_add_signed(bytes as isize))
    };
    let has_any = |count: Count| count.get() > 0;
    let place = match all.blocks {
        Blocks::Equal(count, like) if (own, of) == (count, like) && has_any(own) => {
            at(me as i64 * count.get() as i64, like)
        }
        Blocks::Displaced(counts, places, like)
            if of == like && has_any(own) && counts.get(me).is_some_and(has_any) =>
        {
            places.along(&counts).get(me).and_then(|place| at(place.0, like))
        }
        _ => None,
    };
    place == Some(one.buffer.address)
}
