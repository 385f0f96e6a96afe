//! The plan of one member of a collective: the steps of the algorithm, and the data that they move.

use std::collections::VecDeque;
use std::sync::Once;

use titr_common::collectives::{self, Buffer, Member, RootRole, Slice, Step, neighborhood_steps};
use titr_common::event::{CollectiveKind, Message, MessageEnd, Rank, Span};
use titr_common::units::Nanoseconds;
use titr_wrappers::argument::Comm;
use titr_wrappers::pmpi::ErrorCode;
use titr_wrappers::pmpi::exchange::{Exchange, Part, Side, Space};
use titr_wrappers::pmpi::region::Region;
use titr_wrappers::{Abi, pmpi};

use super::clock::Clock;
use super::data::{Data, Groups, Ordered};
use super::refusal::{is_aliased, refused_datatype};
use super::{Description, Engine, Operation};
use crate::collective_call::{CollectiveCall, NeighborhoodCall};
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

    /// Whether the host can read all data of the program that the plan moves.
    pub(super) fn is_readable(&self) -> bool {
        self.data.is_readable()
    }

    /// The lengths of the three buffers: as long as the data, and as the steps' slices need them.
    pub(super) fn lens(&self) -> [u64; 3] {
        let total = |regions: &[Region]| regions.iter().map(Region::bytes).sum();
        let mut lens = [total(&self.data.send), total(&self.data.recv), 0];
        for slice in self.steps.iter().flat_map(slices) {
            let end = slice.offset.0.saturating_add(slice.len.0);
            if let Some(len) = lens.get_mut(space(slice.buffer) as usize) {
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
        let packed = self.exchange.pack(Space::Send, &self.data.send);
        self.note(packed);
        if self.data.has_recv {
            let packed = self.exchange.pack(Space::Recv, &self.data.recv);
            self.note(packed);
        }
        for step in steps {
            let taken = self.step(step);
            self.note(taken);
        }
        if !self.data.has_recv {
            let unpacked = self.exchange.unpack(Space::Recv, &self.data.recv);
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
                let sent = self.exchange.send(self.rank(to).0, part(data));
                self.end(message);
                sent
            }
            Step::Recv { from, data } => {
                let message = self.begin(MessageEnd::Received, from, data);
                let received = self.exchange.recv(self.rank(from).0, part(data));
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
            Step::Copy { from, to } => self.exchange.copy(part(from), part(to)),
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
        self.exchange.isend(self.rank(to).0, part(data))
    }

    fn irecv(&mut self, from: Member, data: Slice) -> Result<(), ErrorCode> {
        let message = self.begin(MessageEnd::Received, from, data);
        self.open.push_back(message);
        self.exchange.irecv(self.rank(from).0, part(data))
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
            Some(by) => self.exchange.reduce(by, part(from), side, part(into)),
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

pub(super) fn space(buffer: Buffer) -> Space {
    match buffer {
        Buffer::Send => Space::Send,
        Buffer::Recv => Space::Recv,
        Buffer::Scratch => Space::Scratch,
    }
}

fn part(slice: Slice) -> Part {
    Part { space: space(slice.buffer), offset: slice.offset.0, len: slice.len.0 }
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
    let here = i64::from(pmpi::region::may_be_on_device());
    pmpi::allreduce(abi, here, abi.max, abi.comm_world).is_some_and(|anywhere| anywhere != 0)
}

impl Engine {
    /// Whether the host can read the data of all members of a collective, so that the tracer can execute it.
    /// Collective.
    pub(super) fn has_in_memory(&self, plan: &Plan, description: &Description) -> bool {
        if !self.has_devices {
            return true;
        }
        let mine = u64::from(plan.is_readable());
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
