//! Observers of a replay: callbacks for what each rank does and when, and for the messages that travel.
//!
//! To add a callback, add it to the list below; tuples and lists of observers forward it automatically.
//!
//! A callback without a listener costs nothing: the two observers that every replay has are compiled into it as a
//! tuple. Further observers select a replay that is compiled with a list of them.

mod breakdown;
mod calls;

pub use breakdown::{Breakdown, Shares};
pub(crate) use calls::Truncations;
pub use calls::{
    Caller, CollectiveCall, CollectiveFlow, CollectiveId, CommunicatorId, OperationId, Receive, SentMessage, Traffic,
    TransferKind, WindowCondition, WindowWait,
};

use std::sync::Arc;

use titr_common::event::{Activity, Mark, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_network::{SharedWith, Transfer, TransferId, Unloaded};

/// A message that enters the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The name that the network has for it until it is delivered.
    pub id: TransferId,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// The payload of the message.
    pub bytes: Bytes,
    /// Whether the message is part of a collective.
    pub in_collective: bool,
}

/// Declares the trait with its callbacks, and observers that are made of several.
macro_rules! observers {
    ($( $(#[$doc:meta])* fn $callback:ident($($argument:ident: $type:ty),*); )*) => {
        /// Receives callbacks during a replay. A rank's local clock may be ahead of simulated time, so callbacks can carry
        /// times after the last that was [reached](Self::reached), but never before it.
        #[allow(unused_variables)]
        pub trait Observer {
            $( $(#[$doc])* fn $callback(&mut self, $($argument: $type),*) {} )*

            /// Whether [`unloaded`](Self::unloaded) and [`met`](Self::met) are called, which need queries of the network.
            fn queries_network(&self) -> bool {
                false
            }
        }

        /// Two observers; each callback goes to the first, then to the second.
        impl<A: Observer, B: Observer> Observer for (A, B) {
            $(
                #[inline(always)]
                fn $callback(&mut self, $($argument: $type),*) {
                    self.0.$callback($($argument),*);
                    self.1.$callback($($argument),*);
                }
            )*

            #[inline(always)]
            fn queries_network(&self) -> bool {
                self.0.queries_network() || self.1.queries_network()
            }
        }

        /// Observers that are known only when the program runs. To find that there are none is all that they cost then.
        impl Observer for Vec<&mut dyn Observer> {
            $(
                #[inline(always)]
                fn $callback(&mut self, $($argument: $type),*) {
                    if !self.is_empty() {
                        self.iter_mut().for_each(|observer| observer.$callback($($argument),*));
                    }
                }
            )*

            #[inline(always)]
            fn queries_network(&self) -> bool {
                self.iter().any(|observer| observer.queries_network())
            }
        }
    };
}

observers! {
    /// `rank` begins with `event` at `at`, the next thing it does; of several threads, the main one.
    fn event_began(rank: Rank, event: EventRef<'_>, at: Time);

    /// A thread passes a mark of where in its program it is.
    fn mark_passed(thread: ThreadIndex, mark: &Mark);

    /// `rank` was at `activity` from `from` to `to`. Called in order of time for each thread of the rank.
    fn active(rank: Rank, activity: Activity, from: Time, to: Time);

    /// `rank`, or its main thread, has ended.
    fn finished(rank: Rank, at: Time);

    /// A turn of `waiter` begins at `now`. Everything sent, released, posted, begun or completed until the next turn or
    /// delivery is caused by this waiter.
    fn turn_began(now: Time, waiter: Waiter);

    /// A thread of `rank` begins that is not its main one, at `at`: at the end of the last call of the thread that it
    /// follows, or where that thread began.
    fn thread_began(at: Time, waiter: Waiter, rank: Rank, follows: Waiter);

    /// A waiter of `rank` is created at `now`, by the waiter whose turn it is, or the program of the rank starts then, after
    /// the beginning of the replay. Further threads and collectives have callbacks of their own.
    fn began(now: Time, waiter: Waiter, rank: Rank);

    /// A waiter is gone; another one may get its name. Threads and collectives have callbacks of their own.
    fn ended(waiter: Waiter);

    /// A waiter works from `from` to `to`, which may be the same.
    fn works(waiter: Waiter, work: Work, from: Time, to: Time);

    /// A waiter becomes runnable at `now`, at an additional cost of `cost`. The cause is the completion of `operation`,
    /// which it waits or tests for; if `None`, the cause is the waiter whose turn it is.
    fn released(now: Time, waiter: Waiter, operation: Option<OperationId>, cost: Time);

    /// A message that will have a receive is sent at `now`, by the waiter whose turn it is.
    fn sent(now: Time, message: SentMessage);

    /// A message may depart from `now` on, because of the waiter whose turn it is. If something else still delays it,
    /// this is called again.
    fn may_depart(now: Time, message: TransferId);

    /// The time that a message would take with the network to itself, between its injection and its delivery.
    fn unloaded(message: TransferId, time: Unloaded);

    /// A message enters the network at `now`.
    fn injected(now: Time, message: Departure);

    /// The programs and loads that share the network have these names. Not called if there is one program only.
    fn shared_by(parties: &[Arc<str>]);

    /// The message of this name, which is delivered next, has met messages on its links.
    fn met(message: TransferId, met: &[SharedWith]);

    /// The message of this name is delivered.
    fn delivered(now: Time, id: TransferId);

    /// A transfer, either a message or a part of a file access, enters the network at `now`.
    fn carried(now: Time, transfer: Transfer, kind: TransferKind);

    /// The transfer of this name has arrived at `now`.
    fn arrived(now: Time, id: TransferId);

    /// A receive is posted at `now`.
    fn posted(now: Time, receive: Receive);

    /// A posted receive is matched at `now`. `message` is its transfer, which may not have been injected yet.
    fn matched(now: Time, receive: OperationId, message: TransferId);

    /// A rank begins to wait at `now` for a lock, a post or the accesses of a window. A condition that holds is not waited
    /// for.
    fn window_awaited(now: Time, wait: WindowWait);

    /// An operation is completed at `now`: a receive or a send by the arrival of its message, a collective by its end, a
    /// wait for a window when its condition holds.
    fn completed(now: Time, operation: OperationId);

    /// A rank enters a collective at `now`, and either waits for it or leaves it in the background.
    fn collective_entered(now: Time, call: CollectiveCall);

    /// A rank has done its part in a collective at `now`.
    fn collective_left(now: Time, id: CollectiveId);

    /// The simulation is at `now`.
    fn reached(now: Time);
}

impl Observer for () {}

/// A thread of the simulated program. Number *n* is the main thread of rank *n*; additional threads follow, in the
/// order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIndex(pub u32);

impl From<Rank> for ThreadIndex {
    fn from(rank: Rank) -> Self {
        Self(rank.0)
    }
}

/// An active message until it has acted at its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActiveMessageIndex(pub u32);

/// A synchronisation of a window in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SynchronisationIndex(pub u32);

/// A side of a partitioned message, which waits until the message is sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartIndex(pub u32);

/// A call on a file in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileCallIndex(pub u32);

/// A thread, a rank's part in a collective, a call that synchronises accesses to a window, an active message on its way to
/// one, a rank's call on a file, or a side of a partitioned message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // Named as their types are.
pub enum Waiter {
    Thread(ThreadIndex),
    Collective(CollectiveId),
    Synchronisation(SynchronisationIndex),
    ActiveMessage(ActiveMessageIndex),
    FileCall(FileCallIndex),
    Part(PartIndex),
}

/// The work by which a waiter's clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Computation of the program, or of a reduction.
    Compute,
    /// Sleeping, which takes as long on every host.
    Sleep,
    /// The software's part of a message.
    Overhead,
}
