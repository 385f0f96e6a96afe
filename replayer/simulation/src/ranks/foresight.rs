//! Looking at what the next runnable threads need, before they run.
//!
//! Thousands of ranks do not fit into the caches. A rank that runs waits for one line of memory after another: its thread, its
//! next events, its requests, the queues of its receivers. Here, these are read for several ranks one after the other, and as
//! none of the reads depends on the last, the processor waits for many of them at the same time. Results do not depend on it, as
//! nothing is changed.

use std::hint::black_box;

use titr_common::event::{CommId, Event};
use titr_common::event_buffer::EventRef;
use titr_common::trace::EventSource;

use super::Ranks;
use super::clock::Waiter;
use crate::observe::Observer;

/// Number of waiters to look at together. What they need has to fit into the second-level cache.
const AT_ONCE: usize = 16;
/// Number of events of each thread to look at.
const EVENTS: usize = 16;
/// The state of fewer ranks is in the caches anyway.
const FEWEST_RANKS: usize = 1 << 11;

/// The number of the next waiters that were looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Foresight(usize);

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// The next runnable waiter, after a look at those behind it.
    #[inline]
    pub(super) fn next_waiter(&mut self) -> Option<Waiter> {
        match self.foresight.0.checked_sub(1) {
            Some(left) => self.foresight.0 = left,
            None if self.library.requests.len() >= FEWEST_RANKS => {
                self.foresight.0 = self.look_ahead().saturating_sub(1);
            }
            None => {}
        }
        self.library.scheduler.next()
    }

    /// Reads what the next waiters need. Returns the number of these waiters.
    #[inline(never)]
    fn look_ahead(&self) -> usize {
        let ranks = self.library.requests.len() as u32;
        let (mut waiters, mut read) = (0, 0);
        for waiter in self.library.scheduler.upcoming().take(AT_ONCE) {
            waiters += 1;
            // The first threads are the main threads of the ranks, in their order.
            let Waiter::Thread(main) = waiter else { continue };
            if main.0 >= ranks {
                continue;
            }
            let thread = &self.threads[main.0 as usize];
            read += thread.clock.time.0 + thread.events + u64::from(thread.finished);
            read += self.library.requests[main.0 as usize].numbered() as u64;
            // A loop inside the iterator: between two reads, the processor has fewer instructions to go through.
            self.programs.upcoming(main).take(EVENTS).for_each(|event| {
                read += 1;
                if let EventRef::Send(message) | EventRef::Event(&Event::Send(_, message, _)) = event
                    && message.comm == CommId::WORLD
                {
                    read += self.library.exchange.queued(message.to) as u64;
                }
            });
        }
        black_box(read);
        waiters
    }
}
