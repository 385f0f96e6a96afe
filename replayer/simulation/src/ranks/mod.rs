//! The simulated ranks and their MPI library, which execute events and hand transfers to the network.
//!
//! # Vocabulary
//! A **thread** of a rank runs its program: it takes its next event and executes it, until an event has to wait. It is no
//! thread of titr's process; a waiting thread is a few words of memory. A **waiter** is anything that can wait: a thread, or a
//! rank's part in a **collective** in the background. Each waiter has its own clock, which computation advances; others see
//! the effects of an event once simulated time has reached that clock. A **message** travels once the network has it. An
//! **operation** is a send or receive whose completion a waiter asks for. A **request** is the program's name for one.
//!
//! # Parts
//! [`Ranks`] runs [`Thread`]s, whose events come from [`program`] in order. Each event is a [`call`] of a chapter of MPI. What
//! all chapters share is the [`mpi`]: requests, communicators, messages ([`point_to_point`]), the clock, and the
//! [`scheduler`], which decides which waiter runs next. Each further chapter owns its state: [`collectives`], [`one_sided`],
//! [`partitioned`] and [`files`]; it starts a call, goes on with it as a waiter, describes what the call waits for, and ends
//! it. [`chapters`] has the kinds of waiters.
//!
//! # What is simulated
//! * Point-to-point messages by MPI's matching rules and the protocols of libraries ([`point_to_point`]). A wildcard receive gets
//!   the message that it got in the recorded run; if the trace does not say which, it gets the oldest that fits.
//! * Tests and probes: an unsuccessful one costs nothing; a successful one waits until it can succeed.
//! * Collectives as the messages of their schedules ([`collectives`]); neighbourhood collectives as a message each way.
//! * Calls that make communicators, which synchronise as libraries do: calls that compare colours (`split`, `cart_sub`) by an
//!   allgather of eight bytes per member over the parent; all others by an allreduce of four bytes, over the parent or, if
//!   only a part of the parent takes part (`create_group`, `intercomm_create`), over the new communicator. `comm_idup` costs
//!   nothing, because the trace does not have its completion.
//! * One-sided communication with all its synchronisations ([`one_sided`]).
//! * Partitioned messages, which leave with their last part ([`partitioned`]).
//! * Files: accesses take the time of their disks, and of the messages of collective accesses ([`files`]).
//! * Communication in the background, by a thread of the library or only in MPI calls ([`chapters`]).
//! * Large messages that share a connection in both directions, at the same time or one after the other.
//! * Software overheads of sends and receives; `init` and `finalize` cost nothing.
//!
//! Calls that involve a world without a trace are not simulated: they cost nothing, no rank waits in them, and a warning
//! counts them ([`warnings`]).

mod call;
mod chapters;
mod collectives;
mod core;
mod deadlock;
mod files;
mod ids;
mod mpi;
mod one_sided;
mod operation;
mod partitioned;
mod point_to_point;
mod program;
mod scheduler;
mod starts;
mod task;
mod thread;
mod warnings;

use std::hint::black_box;

use thiserror::Error;
use titr_common::event::{CommId, Event, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::format::counted;
use titr_common::program::CommIndex;
use titr_common::time::Time;
use titr_common::trace::{EventSource, TraceError};
use titr_common::units::Instructions;
use titr_network::{Network, TransferId, Unreachable};
use titr_platform::{Mpi as Parameters, Storage};
use titr_workload::Workload;

use crate::observe::{Observer, OperationId, TransferKind};
use chapters::{Chapters, is_inside};
use files::Files;
use ids::{Carried, ThreadIndex};
use mpi::Mpi;
use point_to_point::Envelope;
use program::Programs;
use scheduler::{Task, Waiter};
use starts::Starts;
use thread::Thread;

pub use self::core::Core;
pub(crate) use self::core::Interruptions;
pub use deadlock::{Deadlock, NEVER_COMPLETED, Stuck};
pub use point_to_point::protocol::Causality;
use titr_common::program::{Fault, Place};

/// The requests of one rank.
type RequestTable = titr_common::program::RequestTable<OperationId>;

/// All ranks of a simulated program.
pub(crate) struct Ranks<'a, S, O> {
    programs: Programs<S>,
    /// The main thread of each rank, and the others.
    threads: Vec<Thread>,
    mpi: Mpi<O>,
    chapters: Chapters<'a>,
    /// How many threads have come to their ends.
    finished: usize,
    starts: Starts,
    cache_warmer: CacheWarmer,
}

impl<'a, S: EventSource, O: Observer> Ranks<'a, S, O> {
    /// The ranks of `workload`, each on its core, to be [started](Self::start), with an MPI library and the storage of files.
    /// Blocking collectives may be `recorded`: the messages that an extended trace has of them. Amounts of data may be
    /// `compared`, which finds fault with those that do not fit each other: of the members of a collective, and of an access
    /// and the window that it is to.
    pub(crate) fn new(
        workload: Workload<S>,
        cores: Vec<Core>,
        (parameters, storage): (&'a Parameters, Storage),
        causality: Causality,
        (recorded, compared): (bool, bool),
        observer: O,
    ) -> Result<Self, ReplayError> {
        let ranks = workload.windows.len();
        if cores.len() < ranks {
            return Err(ReplayError::Places { ranks, places: cores.len() });
        }
        let chapters = Chapters::new(&cores[..ranks], parameters, storage, recorded);
        let mut mpi = Mpi::new(ranks, cores, parameters, causality, observer);
        if compared {
            mpi.communicators.compares_amounts = true;
        }
        let mains = (0..ranks as u32).map(|rank| Thread::new(ThreadIndex(rank), Rank(rank).into()));
        let (programs, threads) = (Programs::new(workload), mains.collect());
        Ok(Self {
            programs,
            threads,
            mpi,
            chapters,
            finished: 0,
            starts: Starts::default(),
            cache_warmer: CacheWarmer::default(),
        })
    }

    /// Runs all runnable waiters, and hands departing messages to the network.
    pub(crate) fn run(&mut self, network: &mut (impl Network + ?Sized)) -> Result<(), ReplayError> {
        while let Some(waiter) = self.next_waiter() {
            if let Some(rank) = self.awaits_progress(waiter) {
                self.mpi.deferred.defer(rank, Task::Step(waiter));
                continue;
            }
            self.mpi.observer.turn_began(self.mpi.now(), waiter);
            if let Waiter::Thread(thread) = waiter {
                self.run_thread(thread)?;
                if self.programs.has_signals() {
                    self.resume();
                }
            } else {
                let Self { threads, mpi, chapters, .. } = self;
                let ranks = mpi.ranks();
                let advanced = chapters.advance(mpi, waiter, |rank| is_inside(threads, ranks, rank));
                advanced.map_err(|(thread, fault)| self.wrong(thread, fault))?;
            }
            self.wake();
        }
        if self.mpi.deferred.is_by_calls() {
            let Self { threads, mpi, .. } = self;
            let ranks = mpi.ranks();
            mpi.hold_back(|rank| is_inside(threads, ranks, rank));
        }
        self.mpi.depart(network);
        for transfer in self.chapters.files.storage_accesses.take_leaving() {
            self.mpi.observer.carried(self.mpi.now(), transfer, TransferKind::File);
            network.inject(self.mpi.now(), transfer);
        }
        Ok(())
    }

    /// The time of the next event that is not a network event; `None`: never.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let (timer, accesses) = (self.mpi.scheduler.next_timer(), &self.chapters.files.storage_accesses);
        if accesses.is_idle() { timer } else { timer.into_iter().chain(accesses.next_event()).min() }
    }

    /// Moves on to `now`, when the network delivered these transfers.
    pub(crate) fn advance(
        &mut self,
        now: Time,
        network: &mut (impl Network + ?Sized),
        delivered: &mut Vec<TransferId>,
    ) {
        let Self { mpi, chapters: Chapters { files: Files { storage_accesses, .. }, .. }, .. } = self;
        mpi.reach(now);
        for transfer in delivered.drain(..) {
            mpi.observer.arrived(now, transfer);
            match Carried::from(transfer) {
                Carried::Message(message) => mpi.deliver(message, network),
                Carried::Storage(access) => storage_accesses.deliver(now, access),
            }
        }
        if !storage_accesses.is_idle() {
            storage_accesses.advance(now).for_each(|access| mpi.exchange.operations.complete(access));
        }
        self.wake();
        self.mpi.scheduler.advance(now);
    }

    /// Whether all ranks have come to the end of their programs.
    pub(crate) fn all_finished(&self) -> bool {
        self.finished == self.threads.len()
    }

    /// When the last rank came to where it is.
    pub(crate) fn finish(&self) -> Time {
        self.threads.iter().map(|thread| thread.clock.time).max().unwrap_or_default()
    }

    pub(crate) fn events(&self) -> u64 {
        self.threads.iter().map(|thread| thread.events).sum()
    }

    /// The volume of computation of all ranks.
    pub(crate) fn computed(&self) -> Instructions {
        Instructions(self.threads.iter().map(|thread| thread.computed.0).sum())
    }

    /// The observer, with all that it has heard.
    pub(crate) fn into_observer(self) -> O {
        self.mpi.observer
    }
}

/// A replay that could not be finished.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum ReplayError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("{place}: {fault}")]
    Event { place: Box<Place>, fault: Box<Fault> },
    #[error("{0}")]
    Deadlock(Box<Deadlock>),
    #[error("the trace has {}, and only {places} are placed on hosts", counted(*ranks, "rank", "ranks"))]
    Places { ranks: usize, places: usize },
    #[error("{place}: {}", Unreachable::EndOfTime)]
    EndOfTime { place: Box<Place> },
    #[error(transparent)]
    Unreachable(Unreachable),
}

// Looking at what the next runnable threads need, before they run.
//
// Thousands of ranks do not fit into the caches. A rank that runs waits for one line of memory after another: its thread, its
// next events, its requests, the queues of its receivers. Here, these are read for several ranks one after the other, and as
// none of the reads depends on the last, the processor waits for many of them at the same time. Results do not depend on it, as
// nothing is changed.

/// Number of waiters to look at together. What they need has to fit into the second-level cache.
const AT_ONCE: usize = 16;
/// Number of events of each thread to look at.
const EVENTS: usize = 16;
/// The state of fewer ranks is in the caches anyway.
const FEWEST_RANKS: usize = 1 << 11;

/// A look at the next waiters.
#[derive(Debug, Default)]
struct CacheWarmer {
    /// The number of the next waiters that were looked at.
    seen: usize,
    /// The receivers of their messages, and what matches these. Kept to be used again.
    messages: Vec<(Rank, Envelope)>,
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// The next runnable waiter, after a look at those behind it.
    #[inline]
    fn next_waiter(&mut self) -> Option<Waiter> {
        match self.cache_warmer.seen.checked_sub(1) {
            Some(left) => self.cache_warmer.seen = left,
            None if self.mpi.ranks() >= FEWEST_RANKS => {
                self.cache_warmer.seen = self.look_ahead().saturating_sub(1);
            }
            None => {}
        }
        self.mpi.scheduler.next()
    }

    /// Reads what the next waiters need. Returns the number of these waiters.
    #[inline(never)]
    fn look_ahead(&mut self) -> usize {
        let Self { programs, threads, mpi, cache_warmer: CacheWarmer { messages, .. }, .. } = self;
        let (ranks, context) = (mpi.ranks() as u32, mpi.communicators.get(CommIndex::WORLD).context);
        let (mut waiters, mut read) = (0, 0);
        messages.clear();
        for waiter in mpi.scheduler.upcoming().take(AT_ONCE) {
            waiters += 1;
            // The first threads are the main threads of the ranks, in their order.
            let Waiter::Thread(main) = waiter else { continue };
            if main.0 >= ranks {
                continue;
            }
            let thread = &threads[main.0 as usize];
            read += thread.clock.time.0 + thread.events + u64::from(thread.finished);
            read += u64::from(mpi.all_requests()[main.0 as usize].has_first());
            // A computation and, mostly, a wait end the turn.
            let ends = |event: &EventRef| {
                matches!(event, EventRef::Compute(_) | EventRef::Event(Event::Sleep(_) | Event::Wait(..)))
            };
            // A loop inside the iterator: between two reads, the processor has fewer instructions to go through.
            programs.upcoming(main).take(EVENTS).take_while(|event| !ends(event)).for_each(|event| {
                if let EventRef::Send(message, _) | EventRef::Event(&Event::Send(_, message, _)) = event
                    && message.comm == CommId::WORLD
                {
                    read += mpi.exchange.matching.queued(message.to) as u64;
                    messages.push((message.to, Envelope { context, source: Rank(main.0), tag: message.tag }));
                }
            });
        }
        messages.iter().for_each(|&(to, envelope)| read += u64::from(mpi.exchange.matching.is_awaited(to, envelope)));
        black_box(read);
        waiters
    }
}
