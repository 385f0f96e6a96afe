//! Listeners on a replay: what each rank does and when, which messages travel. An analysis is an [`Observer`]; what no
//! analysis listens to costs nothing, as observers are chosen when the program is compiled. One that is seldom wanted is an
//! `Option`: a second copy of the replay without it would make both slower, as the compiler inlines what is called once.

mod breakdown;
mod timeline;
mod traffic;

pub use breakdown::{Breakdown, Shares};
pub use timeline::Timeline;
pub use traffic::Traffic;

use titr_common::event::Rank;
use titr_common::event_buffer::EventRef;
use titr_common::units::Bytes;

use titr_common::time::Time;
use titr_network::TransferId;

pub use titr_common::event::Activity;

/// A message that enters the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// What the network calls it until it is delivered.
    pub id: TransferId,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// What it carries.
    pub bytes: Bytes,
    /// Whether a collective is made of it.
    pub in_collective: bool,
}

/// Whoever wants to know. A rank's own clock runs ahead of the simulation while nobody can see it: what it does is told
/// before its time, but never after it.
#[allow(unused_variables)]
pub trait Observer {
    /// `rank` begins with `moment` at `at`, the next thing it does; of several threads, the main one.
    fn entered(&mut self, rank: Rank, moment: EventRef, at: Time) {}

    /// `rank` was at `activity` from `from` to `to`: the next thing it did after what was told before, or a thread of it
    /// where it has several.
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {}

    /// `rank` has come to its end, or its main thread.
    fn finished(&mut self, rank: Rank, at: Time) {}

    /// A message enters the network at `now`.
    fn injected(&mut self, now: Time, message: Departure) {}

    /// It is delivered.
    fn delivered(&mut self, now: Time, id: TransferId) {}

    /// The simulation is at `now`.
    fn reached(&mut self, now: Time) {}
}

impl Observer for () {}

impl<O: Observer> Observer for Option<Box<O>> {
    #[inline(always)]
    fn entered(&mut self, rank: Rank, moment: EventRef, at: Time) {
        if let Some(observer) = self {
            observer.entered(rank, moment, at);
        }
    }

    #[inline(always)]
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        if let Some(observer) = self {
            observer.spent(rank, activity, from, to);
        }
    }

    #[inline(always)]
    fn finished(&mut self, rank: Rank, at: Time) {
        if let Some(observer) = self {
            observer.finished(rank, at);
        }
    }

    #[inline(always)]
    fn injected(&mut self, now: Time, message: Departure) {
        if let Some(observer) = self {
            observer.injected(now, message);
        }
    }

    #[inline(always)]
    fn delivered(&mut self, now: Time, id: TransferId) {
        if let Some(observer) = self {
            observer.delivered(now, id);
        }
    }

    #[inline(always)]
    fn reached(&mut self, now: Time) {
        if let Some(observer) = self {
            observer.reached(now);
        }
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn entered(&mut self, rank: Rank, moment: EventRef, at: Time) {
        self.0.entered(rank, moment, at);
        self.1.entered(rank, moment, at);
    }

    #[inline(always)]
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        self.0.spent(rank, activity, from, to);
        self.1.spent(rank, activity, from, to);
    }

    #[inline(always)]
    fn finished(&mut self, rank: Rank, at: Time) {
        self.0.finished(rank, at);
        self.1.finished(rank, at);
    }

    #[inline(always)]
    fn injected(&mut self, now: Time, message: Departure) {
        self.0.injected(now, message);
        self.1.injected(now, message);
    }

    #[inline(always)]
    fn delivered(&mut self, now: Time, id: TransferId) {
        self.0.delivered(now, id);
        self.1.delivered(now, id);
    }

    #[inline(always)]
    fn reached(&mut self, now: Time) {
        self.0.reached(now);
        self.1.reached(now);
    }
}
