//! Listeners on a replay: what each rank does and when, which messages travel. An analysis is an [`Observer`]; what nobody
//! listens to costs nothing, as observers are chosen when the program is compiled.

mod breakdown;
mod traffic;

pub use breakdown::{Breakdown, Shares};
pub use traffic::Traffic;

use titr_common::event::Rank;
use titr_common::units::Bytes;

use crate::time::Time;

/// What a rank spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Computing, or sleeping.
    Compute,
    /// Sending, blocking or not.
    Send,
    /// Receiving or probing; a `sendrecv` too.
    Recv,
    /// Completing requests.
    Wait,
    /// Collectives, and making communicators.
    Collective,
}

/// Whoever wants to know.
pub trait Observer {
    /// `rank` was at `activity` from `from` to `to`: the next thing it did after what was told before, or a thread of it
    /// where it has several.
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time);

    /// A message enters the network at `now`.
    fn injected(&mut self, now: Time, from: Rank, to: Rank, bytes: Bytes);
}

impl Observer for () {
    fn spent(&mut self, _: Rank, _: Activity, _: Time, _: Time) {}
    fn injected(&mut self, _: Time, _: Rank, _: Rank, _: Bytes) {}
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        self.0.spent(rank, activity, from, to);
        self.1.spent(rank, activity, from, to);
    }

    fn injected(&mut self, now: Time, from: Rank, to: Rank, bytes: Bytes) {
        self.0.injected(now, from, to, bytes);
        self.1.injected(now, from, to, bytes);
    }
}
