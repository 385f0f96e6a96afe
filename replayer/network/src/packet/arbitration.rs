//! Which of the packets that ask for a port gets it.
//!
//! The queues of a router stand in a circle. Whatever the rule, packets it holds equal are served in the order in which
//! their queues follow, in that circle, the one that the port served last.

use super::chance::chance;
use super::parameters::Arbitration;

/// What decides between bids: the smallest wins.
pub(super) type Rank = (u64, u32);

/// A packet that asks for a port, as arbitration sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bid {
    /// Its queue's place in the circle.
    pub place: u32,
    /// When its header came to the router.
    pub since: u64,
    /// Packets in its queue.
    pub queued: u32,
}

/// Where and when a port is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contest {
    /// Queues in the circle.
    pub circle: u32,
    /// The place that was served last.
    pub last: u32,
    /// The port, among all.
    pub port: u32,
    pub now: u64,
    pub seed: u64,
}

impl Arbitration {
    /// Where a bid stands.
    pub(super) fn rank(self, bid: Bid, contest: Contest) -> Rank {
        let Contest { circle, last, port, now, seed } = contest;
        let after = if bid.place > last { bid.place - last - 1 } else { bid.place + circle - last - 1 };
        let first = match self {
            Self::RoundRobin => 0,
            Self::Fifo => bid.since,
            Self::Random => chance(seed ^ now, port.into(), bid.place.into()),
            Self::Longest => u64::MAX - u64::from(bid.queued),
        };
        (first, after)
    }
}
