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
use titr_common::program::Fault;
use titr_common::time::Time;
use titr_common::trace::EventSource;

use super::Ranks;
use super::ids::ThreadIndex;
use super::library::Library;
use super::scheduler::{Task, Waiter};
use super::thread::Thread;
use crate::observe::Observer;

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
