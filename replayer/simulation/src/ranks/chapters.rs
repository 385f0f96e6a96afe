//! The chapters of MPI that own their state, and the kinds of waiters: whom each acts for, how it goes on, and how its wait
//! ends. No other file depends on all chapters.

use titr_common::collectives::CallMode;
use titr_common::event::{
    Activity, Actor, CommCall, Event, OneSided as OneSidedEvent, Partitioned, Rank, RequestId, SendMode,
};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Fault, Template};
use titr_common::trace::EventSource;
use titr_platform::{Mpi as Parameters, Storage};
use titr_workload::Match;

use super::collectives::Collectives;
use super::files::Files;
use super::ids::ThreadIndex;
use super::mpi::Mpi;
use super::one_sided::OneSided;
use super::partitioned::PartitionedMessages;
use super::point_to_point::protocol::SendCost;
use super::scheduler::{BackgroundWork, Task, Waiter};
use super::thread::Thread;
use super::{Core, Ranks};
use crate::observe::Observer;

/// The state of each chapter of MPI. Point-to-point messages, on which all others rest, are in the [`Mpi`].
pub(super) struct Chapters<'a> {
    pub(super) collectives: Collectives<'a>,
    pub(super) one_sided: OneSided<'a>,
    pub(super) partitioned: PartitionedMessages,
    pub(super) files: Files,
}

impl<'a> Chapters<'a> {
    /// The chapters of a library for ranks on these cores, with the storage of files; whether blocking collectives are
    /// `recorded`.
    pub(super) fn new(cores: &[Core], parameters: &'a Parameters, storage: Storage, recorded: bool) -> Self {
        Self {
            collectives: Collectives::new(parameters, cores, recorded),
            one_sided: OneSided::new(&parameters.one_sided),
            partitioned: PartitionedMessages::default(),
            files: Files::new(cores.len(), storage),
        }
    }

    /// The work of a waiter; `Err` with the thread if it is one.
    #[inline]
    fn work(&self, waiter: Waiter) -> Result<&BackgroundWork, ThreadIndex> {
        Ok(match waiter {
            Waiter::Thread(thread) => return Err(thread),
            Waiter::Collective(collective) => &self.collectives.instances[collective.0 as usize].work,
            Waiter::Synchronisation(call) => &self.one_sided.calls[call.0 as usize].work,
            Waiter::ActiveMessage(message) => &self.one_sided.messages[message.0 as usize].work,
            Waiter::FileCall(call) => &self.files.calls[call.0 as usize].work,
            Waiter::Part(part) => &self.partitioned.sides[part.0 as usize].work,
        })
    }

    /// The work of a waiter; `Err` with the thread if it is one. To be changed.
    #[inline]
    fn work_mut(&mut self, waiter: Waiter) -> Result<&mut BackgroundWork, ThreadIndex> {
        Ok(match waiter {
            Waiter::Thread(thread) => return Err(thread),
            Waiter::Collective(collective) => &mut self.collectives.instances[collective.0 as usize].work,
            Waiter::Synchronisation(call) => &mut self.one_sided.calls[call.0 as usize].work,
            Waiter::ActiveMessage(message) => &mut self.one_sided.messages[message.0 as usize].work,
            Waiter::FileCall(call) => &mut self.files.calls[call.0 as usize].work,
            Waiter::Part(part) => &mut self.partitioned.sides[part.0 as usize].work,
        })
    }

    /// A waiter that is no thread takes its next steps. `is_inside`: whether a rank is in a call of MPI.
    pub(super) fn advance(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        waiter: Waiter,
        is_inside: impl Fn(Rank) -> bool,
    ) -> Result<(), (ThreadIndex, Fault)> {
        let Self { collectives, one_sided, partitioned, files } = self;
        match waiter {
            // The ranks run threads.
            Waiter::Thread(_) => {}
            Waiter::Collective(collective) => collectives.advance(mpi, collective),
            Waiter::Synchronisation(call) => {
                let caller = one_sided.calls[call.0 as usize].caller;
                let advanced = one_sided.advance_synchronisation(mpi, collectives, call);
                return advanced.map_err(|fault| (caller, fault));
            }
            Waiter::ActiveMessage(message) => one_sided.advance_message(mpi, message, is_inside),
            Waiter::FileCall(call) => files.advance(mpi, collectives, call),
            Waiter::Part(part) => partitioned.advance(mpi, part),
        }
        Ok(())
    }

    /// Runs the deferred work of `rank`, which is in an MPI call.
    #[cold]
    pub(super) fn go_on(&mut self, mpi: &mut Mpi<impl Observer>, rank: Rank) -> Result<(), (ThreadIndex, Fault)> {
        for task in mpi.deferred.take(rank) {
            match task {
                Task::Handshake(message) => mpi.shake_hands(message),
                Task::Step(waiter) => {
                    mpi.release(waiter);
                    self.advance(mpi, waiter, |_| true)?;
                }
            }
        }
        Ok(())
    }

    /// `MPI_Start`, with the outcome of a message that the trace records later.
    pub(super) fn start(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        thread: &mut Thread,
        id: RequestId,
        recorded: Option<Match>,
    ) -> Result<Activity, Fault> {
        let rank = thread.actor.rank;
        let (operation, activity) = match mpi.requests(rank).template(id).cloned() {
            Some(Template::Send(mode, message)) => {
                let sent = mpi.start_unless_cancelled(rank, mode, message, recorded)?;
                mpi.charge_rest(thread, mpi.exchange.protocol.cost_of_isend(message.bytes, (rank, message.to)));
                (sent, Activity::Send)
            }
            Some(Template::Receive(message)) => (mpi.start_receive(thread.actor, message, recorded)?, Activity::Recv),
            Some(Template::Collective(call, part)) => {
                let place = (rank, mpi.communicators.find(rank, call.comm)?);
                let mode = CallMode::Nonblocking;
                let operation = self.collectives.start_call(mpi, place, &call, mode, part, None)?;
                (Some(operation), Activity::Collective)
            }
            Some(Template::Neighbor(call, part)) => {
                let place = (rank, mpi.communicators.find(rank, call.comm)?);
                (Some(self.collectives.start_neighborhood(mpi, place, &call, part)?), Activity::Collective)
            }
            Some(Template::Partitioned(_)) => (self.partitioned.start(mpi, rank, id)?, Activity::Send),
            None => return Err(Fault::NotStartable(id)),
        };
        mpi.requests(rank).start(id, operation)?;
        Ok(activity)
    }

    /// The time that an event takes its thread before others can see it, and the rest of a send's time.
    #[inline]
    pub(super) fn overhead(&self, mpi: &Mpi<impl Observer>, event: EventRef, thread: &Thread) -> SendCost {
        let (protocol, rank) = (&mpi.exchange.protocol, thread.actor.rank);
        if let EventRef::Send(message, completion) = event {
            return protocol.cost_of_message(SendMode::Standard, message.bytes, (rank, message.to), completion);
        }
        let EventRef::Event(event) = event else { return SendCost::default() };
        if let Event::OneSided(OneSidedEvent::Access(access)) = event {
            return protocol.mpi.one_sided.origin_overhead.of(access.there + access.back).into();
        }
        if let Event::Test(..) = event {
            return protocol.mpi.test_overhead.into();
        }
        if let Event::Iprobe(..) = event {
            return protocol.mpi.iprobe_overhead.into();
        }
        if let Event::CommCreate(CommCall::Spawn, _, Some(group)) = event {
            return protocol.mpi.spawn.of(group.remote.len()).into();
        }
        if let Event::Send(mode, message, completion) = event {
            return protocol.cost_of_message(*mode, message.bytes, (rank, message.to), *completion);
        }
        if let Event::Sendrecv(Some(message), _) = event {
            return protocol.cost_of_isend(message.bytes, (rank, message.to));
        }
        if let Event::Start(ids) = event
            && let Some(&id) = ids.get(thread.started as usize)
            && let Some(Template::Send(_, message)) = mpi.all_requests()[rank.0 as usize].template(id)
        {
            return protocol.cost_of_isend(message.bytes, (rank, message.to));
        }
        if let Event::Partitioned(Partitioned::Ready(id, parts)) = event
            && (thread.started as usize) < parts.len()
        {
            return self.partitioned.cost_of_ready(rank, *id, protocol).into();
        }
        SendCost::default()
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// The thread that a waiter acts for: the main thread of a rank for work in the background.
    pub(super) fn actor(&self, waiter: Waiter) -> Actor {
        match self.chapters.work(waiter) {
            Ok(work) => work.actor,
            Err(thread) => self.threads[thread.0 as usize].actor,
        }
    }

    /// Runs the waiters that waited only for operations that are complete.
    #[inline]
    pub(super) fn wake(&mut self) {
        if !self.mpi.exchange.operations.completions.is_empty() {
            self.wake_waiters();
        }
    }

    fn wake_waiters(&mut self) {
        let Self { threads, mpi, chapters, .. } = self;
        let mut completions = std::mem::take(&mut mpi.exchange.operations.completions);
        for completion in completions.drain(..) {
            let (clock, core) = match chapters.work_mut(completion.waiter) {
                Ok(work) => (&mut work.clock, None),
                Err(thread) => {
                    let thread = &mut threads[thread.0 as usize];
                    (&mut thread.clock, thread.core)
                }
            };
            mpi.wake(&completion, clock, core);
        }
        mpi.exchange.operations.completions = completions;
    }
}

// Progress: background communication that needs the processor of a rank.
//
// A library with a progress thread ([`titr_platform::Progress::Thread`]) does all of it at once. A library that makes
// progress only in MPI calls ([`titr_platform::Progress::Calls`]) defers it until a thread of the rank is in a call.
// An access to a window that its target executes itself is deferred with every library.
//
// A rank is in a call while one of its threads waits in it, and at the instant at which a thread makes one. It is in
// `MPI_Finalize` once one of its threads has ended. Work that arrives at the very instant of a call that returns at
// once arrives too late for it.

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// The rank that has to be in an MPI call before `waiter` can continue. `None`: the waiter continues now.
    pub(super) fn awaits_progress(&self, waiter: Waiter) -> Option<Rank> {
        if !self.mpi.deferred.is_by_calls() {
            return None;
        }
        let work = self.chapters.work(waiter).ok().filter(|work| work.needs_processor)?;
        let rank = work.actor.rank;
        (!is_inside(&self.threads, self.mpi.ranks(), rank)).then_some(rank)
    }
}

/// Whether a thread of `rank` is in an MPI call. The first `ranks` of `threads` are the main threads.
pub(super) fn is_inside(threads: &[Thread], ranks: usize, rank: Rank) -> bool {
    let others = threads[ranks..].iter().filter(|thread| thread.actor.rank == rank);
    std::iter::once(&threads[rank.0 as usize]).chain(others).any(Thread::is_inside_mpi)
}
