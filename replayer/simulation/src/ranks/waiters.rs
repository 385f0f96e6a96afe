//! The kinds of waiters: whom each acts for, how its wait ends, and how it goes on. No other file depends on all kinds.
//!
//! Each kind has its state and its steps in the folder of its chapter of MPI.

use titr_common::event::{Actor, Rank};
use titr_common::program::Fault;
use titr_common::time::Time;
use titr_common::trace::EventSource;

use super::Ranks;
use super::ids::ThreadIndex;
use super::library::Library;
use super::scheduler::{Clock, Task, Waiter};
use super::thread::Thread;
use crate::observe::Observer;

impl<O: Observer> Library<'_, O> {
    /// A waiter that is no thread takes its next steps. `is_inside`: whether a rank is in a call of MPI.
    pub(super) fn advance(
        &mut self,
        waiter: Waiter,
        is_inside: impl Fn(Rank) -> bool,
    ) -> Result<(), (ThreadIndex, Fault)> {
        match waiter {
            // The ranks run threads.
            Waiter::Thread(_) => {}
            Waiter::Collective(collective) => {
                let (collectives, mut environment) = self.collectives();
                collectives.advance(collective, &mut environment);
            }
            Waiter::Synchronisation(call) => {
                let thread = self.one_sided.call(call).thread;
                return self.advance_synchronisation(call).map_err(|fault| (thread, fault));
            }
            Waiter::ActiveMessage(message) => self.advance_active_message(message, is_inside),
            Waiter::FileCall(call) => self.advance_file_call(call),
            Waiter::Part(part) => self.advance_part(part),
        }
        Ok(())
    }

    /// Whether the next step of a waiter needs the processor of its rank, if the library makes progress only in calls.
    pub(super) fn needs_processor(&self, waiter: Waiter) -> bool {
        match waiter {
            // Threads are in calls. An active message defers its step itself.
            Waiter::Thread(_) | Waiter::Synchronisation(_) | Waiter::ActiveMessage(_) | Waiter::Part(_) => false,
            Waiter::Collective(collective) => self.collectives.get(collective).has_waited,
            Waiter::FileCall(_) => true,
        }
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// The thread that a waiter acts for: the main thread of a rank for work in the background.
    pub(super) fn actor(&self, waiter: Waiter) -> Actor {
        let library = &self.library;
        match waiter {
            Waiter::Thread(thread) => self.threads[thread.0 as usize].actor,
            Waiter::Collective(collective) => library.collectives.get(collective).rank.into(),
            Waiter::Synchronisation(call) => library.one_sided.call(call).actor,
            Waiter::ActiveMessage(message) => library.one_sided.target_of(message).into(),
            Waiter::FileCall(call) => library.files.call(call).actor,
            Waiter::Part(part) => library.partitioned.rank(part).into(),
        }
    }

    /// Runs the waiters that waited only for operations that are complete.
    #[inline]
    pub(super) fn wake(&mut self) {
        if !self.library.exchange.operations.completions.is_empty() {
            self.wake_waiters();
        }
    }

    fn wake_waiters(&mut self) {
        let Library { now, exchange, collectives, one_sided, files, scheduler, task_cores, observer, .. } =
            &mut self.library;
        let now = *now;
        for completion in exchange.operations.completions.drain(..) {
            let overhead = exchange.protocol.cost_of_completion(completion.eager);
            let complete = |clock: &mut Clock| (clock.complete(now, overhead), (clock.awaited == 0).then_some(now));
            // The cost of the completion, and when the waiter goes on; none if it waits for other operations.
            let (cost, due) = match completion.waiter {
                Waiter::Thread(thread) => match &mut self.threads[thread.0 as usize] {
                    Thread { clock, core: None, .. } => complete(clock),
                    // A task takes its core for the cost, and goes on after it.
                    Thread { clock, core: Some(core), .. } => {
                        clock.time = task_cores.free(*core, clock.time.max(now));
                        let cost = clock.complete(now, overhead);
                        task_cores.take(*core, clock.time);
                        (cost, (clock.awaited == 0).then_some(clock.time))
                    }
                },
                Waiter::Collective(collective) => complete(&mut collectives.get_mut(collective).clock),
                Waiter::Synchronisation(call) => complete(&mut one_sided.call_mut(call).clock),
                Waiter::ActiveMessage(_) => (Time::ZERO, Some(now)),
                Waiter::FileCall(call) => complete(&mut files.call_mut(call).clock),
                Waiter::Part(_) => {
                    let done = now + overhead;
                    (Time(done.0 - now.0), Some(done))
                }
            };
            if completion.operation.is_some() {
                observer.released(now, completion.waiter, completion.operation, cost);
            }
            match due {
                Some(due) if due > now => scheduler.set_timer(due, completion.waiter),
                Some(_) => scheduler.ready(completion.waiter),
                None => {}
            }
        }
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
        if !self.library.deferred.is_by_calls() || !self.library.needs_processor(waiter) {
            return None;
        }
        let rank = self.actor(waiter).rank;
        (!is_inside(&self.threads, self.library.requests.len(), rank)).then_some(rank)
    }

    /// Defers the departing messages that need the processor of a rank.
    pub(super) fn hold_back(&mut self) {
        let Self { threads, library, .. } = self;
        let (exchange, deferred, ranks) = (&mut library.exchange, &mut library.deferred, library.requests.len());
        let mut leaving = std::mem::take(&mut exchange.outbox);
        leaving.retain(|&message| {
            let missing = exchange.missing(message, |rank| is_inside(threads, ranks, rank));
            missing.inspect(|&rank| deferred.defer(rank, Task::Handshake(message))).is_none()
        });
        exchange.outbox = leaving;
    }
}

impl<O: Observer> Library<'_, O> {
    /// Runs the deferred work of `rank`, which is in an MPI call.
    #[cold]
    pub(super) fn go_on(&mut self, rank: Rank) -> Result<(), (ThreadIndex, Fault)> {
        for task in self.deferred.take(rank) {
            match task {
                Task::Handshake(message) => self.exchange.shake_hands(message, self.now, &mut self.observer),
                Task::Step(waiter) => {
                    self.observer.released(self.now, waiter, None, Time::ZERO);
                    self.advance(waiter, |_| true)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a thread of `rank` is in an MPI call. The first `ranks` of `threads` are the main threads.
pub(super) fn is_inside(threads: &[Thread], ranks: usize, rank: Rank) -> bool {
    let others = threads[ranks..].iter().filter(|thread| thread.actor.rank == rank);
    std::iter::once(&threads[rank.0 as usize]).chain(others).any(Thread::is_inside_mpi)
}
