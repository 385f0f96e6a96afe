//! Arbitration: the order in which packets that request one port are granted the port.
//!
//! The queues of a router form a circle. Under every rule, packets of equal priority are served in the circular order
//! of their queues, starting after the queue that the port served last.

use serde::Deserialize;

use super::ids::{OutputId, QueueIndex};
use crate::chance::chance;

/// A rule by which a port chooses among the packets that request it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The first one after the queue that was served last.
    #[default]
    RoundRobin,
    /// The one that came first to the router.
    Fifo,
    /// Any, each as likely.
    Random,
    /// The one with most packets in its queue.
    Longest,
}

/// The priority of a request: the smallest wins.
pub(super) type Priority = (u64, u32);

/// A packet that requests a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<S> {
    /// The queue that it heads.
    pub queue: QueueIndex,
    /// Tells the cycle in which its header came to the router, which is asked only where it matters.
    pub since: S,
    /// Packets in its queue.
    pub queued: u32,
}

/// The state of a port's arbiter at a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArbiterState {
    /// Queues in the circle.
    pub queues: u32,
    /// The queue that was served last.
    pub last: QueueIndex,
    pub output: OutputId,
    pub now: u64,
    pub seed: u64,
}

impl Arbitration {
    /// The priority of a request.
    pub(super) fn priority(self, request: Request<impl FnOnce() -> u64>, state: ArbiterState) -> Priority {
        let ArbiterState { queues, last, output, now, seed } = state;
        let (queue, last) = (request.queue.0, last.0);
        let after = if queue > last { queue - last - 1 } else { queue + queues - last - 1 };
        let first = match self {
            Self::RoundRobin => 0,
            Self::Fifo => (request.since)(),
            Self::Random => chance(seed ^ now, output.0.into(), queue.into()),
            Self::Longest => u64::MAX - u64::from(request.queued),
        };
        (first, after)
    }
}
