//! Progress: background communication that needs the processor of a rank.
//!
//! A library with a progress thread ([`titr_platform::Progress::Thread`]) does all of it at once. A library that makes
//! progress only in MPI calls ([`titr_platform::Progress::Calls`]) defers it until a thread of the rank is in a call.
//! An access to a window that its target executes itself is deferred with every library.
//!
//! A rank is in a call while one of its threads waits in it, and at the instant at which a thread makes one. It is in
//! `MPI_Finalize` once one of its threads has ended. Work that arrives at the very instant of a call that returns at
//! once arrives too late for it.

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::trace::EventSource;

use super::Ranks;
use super::clock::Waiter;
use super::deferred::Task;
use super::library::Library;
use super::thread::Thread;
use crate::observe::Observer;

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Whether a thread of `rank` is in a call of MPI.
    pub(super) fn is_inside_mpi(&self, rank: Rank) -> bool {
        is_inside(&self.threads, self.library.requests.len(), rank)
    }

    /// The rank that has to be in an MPI call before `waiter` can continue, and the task that is deferred until then.
    /// `None`: the waiter continues now.
    pub(super) fn awaits_progress(&self, waiter: Waiter) -> Option<(Rank, Task)> {
        if !self.library.deferred.is_by_calls() {
            return None;
        }
        let (rank, task) = match waiter {
            Waiter::Thread(_) | Waiter::Synchronisation(_) | Waiter::ActiveMessage(_) => return None,
            Waiter::Collective(collective) => {
                let instance = self.library.collectives.get(collective);
                if !instance.has_waited {
                    return None;
                }
                (instance.rank, Task::Collective(collective))
            }
            Waiter::FileCall(call) => (self.library.files.call(call).actor.rank, Task::FileCall(call)),
            Waiter::Part(part) => {
                if !self.library.partitioned.lets_data_leave(part) {
                    return None;
                }
                (self.library.partitioned.waiting(part), Task::Part(part))
            }
        };
        (!self.is_inside_mpi(rank)).then_some((rank, task))
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
    pub(super) fn go_on(&mut self, rank: Rank) {
        for task in self.deferred.take(rank) {
            if let Some(waiter) = task.waiter() {
                self.observer.released(self.now, waiter, None, Time::ZERO);
            }
            match task {
                Task::ActiveMessage(message) => self.begin_message(message),
                Task::Handshake(message) => self.exchange.shake_hands(message, self.now, &mut self.observer),
                Task::Collective(collective) => {
                    let (collectives, mut environment) = self.collectives();
                    // The next step is work of the rank, which begins now.
                    let clock = &mut collectives.get_mut(collective).clock;
                    clock.time = clock.time.max(environment.now);
                    collectives.advance(collective, &mut environment);
                }
                Task::FileCall(call) => self.advance_file_call(call),
                Task::Part(part) => self.advance_part(part),
            }
        }
    }
}

/// Whether a thread of `rank` is in an MPI call. The first `ranks` of `threads` are the main threads.
fn is_inside(threads: &[Thread], ranks: usize, rank: Rank) -> bool {
    let others = threads[ranks..].iter().filter(|thread| thread.actor.rank == rank);
    std::iter::once(&threads[rank.0 as usize]).chain(others).any(Thread::is_inside_mpi)
}
