//! A disk: an access waits for the disk's latency, then moves its bytes, with an equal share of the disk's bandwidth or
//! with all of it in turn ([`Service`]).
//!
//! Latencies of several accesses overlap, as in a disk with a command queue (NVMe, Base Specification, §3.3). Reads and
//! writes share one disk: the last of *n* accesses that would each take *t* alone is done after *n* · *t*, with any
//! order of service.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Deserialize;
use titr_common::time::Time;
use titr_common::units::{Bandwidth, Bytes, Seconds};

use crate::queue::ServiceQueue;
use crate::sharing::ProcessorSharing;

pub use titr_common::event::Direction;

/// The speed of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskParameters {
    /// Bandwidth of reads.
    pub read_bandwidth: Bandwidth,
    /// Bandwidth of writes.
    pub write_bandwidth: Bandwidth,
    /// Time from an access until its first byte moves.
    pub latency: Seconds,
    /// The sharing of the disk among concurrent accesses.
    pub service: Service,
}

/// The sharing of a disk among concurrent accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// All, at equal shares of the bandwidth, as on SimGrid's disks.
    #[default]
    Shared,
    /// One after another, in the order of arrival: the default of Lustre's servers (Operations Manual, §34.6, "Network
    /// Request Scheduler (NRS) Tuning", policy `fifo`).
    Fifo,
}

impl DiskParameters {
    /// A disk that takes no time.
    pub const INSTANT: Self = Self {
        read_bandwidth: Bandwidth { bytes_per_second: f64::INFINITY },
        write_bandwidth: Bandwidth { bytes_per_second: f64::INFINITY },
        latency: Seconds(0.0),
        service: Service::Shared,
    };
}

impl Default for DiskParameters {
    /// An NVMe disk of 2018: the Intel SSD DC P4500 with 2 TB. According to Lenovo's product guide, it has 3.2 GB/s of
    /// sequential reads, 1.05 GB/s of sequential writes, and 85 µs for a random read.
    fn default() -> Self {
        Self {
            read_bandwidth: Bandwidth { bytes_per_second: 3.2e9 },
            write_bandwidth: Bandwidth { bytes_per_second: 1.05e9 },
            latency: Seconds(85e-6),
            service: Service::default(),
        }
    }
}

/// The identifier of an access until it is done, chosen by the caller that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessId(pub u32);

/// An access to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The name of the access.
    pub id: AccessId,
    /// Reading or writing.
    pub direction: Direction,
    /// The bytes that are read or written; zero for a call that only takes the latency.
    pub bytes: Bytes,
}

/// A disk and its accesses in progress.
#[derive(Debug)]
pub(crate) struct Disk {
    /// Accesses that wait for the latency: when it is over, a number that makes ties stable, the work and the key.
    starting: BinaryHeap<Reverse<(Time, u64, u64, u32)>>,
    moving: Moving,
    started: u64,
}

/// The accesses whose bytes move, or wait for their turn.
#[derive(Debug)]
enum Moving {
    Shared(ProcessorSharing),
    Fifo(ServiceQueue),
}

impl Moving {
    fn enter(&mut self, now: Time, work: u64, key: u32) {
        match self {
            Self::Shared(sharing) => sharing.enter(now, work, key),
            Self::Fifo(queue) => queue.enter(now, work, key),
        }
    }

    fn next_event(&self) -> Option<Time> {
        match self {
            Self::Shared(sharing) => sharing.next_event(),
            Self::Fifo(queue) => queue.next_event(),
        }
    }

    fn pop_by(&mut self, now: Time) -> Option<u32> {
        match self {
            Self::Shared(sharing) => sharing.pop_by(now),
            Self::Fifo(queue) => queue.pop_by(now),
        }
    }
}

impl Disk {
    /// A disk without accesses.
    pub(crate) fn new(service: Service) -> Self {
        let moving = match service {
            Service::Shared => Moving::Shared(ProcessorSharing::default()),
            Service::Fifo => Moving::Fifo(ServiceQueue::default()),
        };
        Self { starting: BinaryHeap::new(), moving, started: 0 }
    }

    /// `access` starts at `now`, on a disk that is as fast as `parameters` say.
    pub(crate) fn start(&mut self, now: Time, parameters: &DiskParameters, access: Access) {
        let bandwidth = match access.direction {
            Direction::Read => parameters.read_bandwidth,
            Direction::Write => parameters.write_bandwidth,
        };
        let work = Time::from_seconds(Seconds(access.bytes.0 as f64 / bandwidth.bytes_per_second));
        self.started += 1;
        self.starting.push(Reverse((now + parameters.latency, self.started, work.0, access.id.0)));
    }

    /// The time of the disk's next event.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let starting = self.starting.peek().map(|Reverse((at, ..))| *at);
        starting.into_iter().chain(self.moving.next_event()).min()
    }

    /// Moves on to `now`, and appends the accesses that are done to `done`, in the order in which they were.
    pub(crate) fn advance(&mut self, now: Time, done: &mut Vec<AccessId>) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            while let Some(key) = self.moving.pop_by(at) {
                done.push(AccessId(key));
            }
            while let Some(&Reverse((begin, _, work, key))) = self.starting.peek()
                && begin <= at
            {
                self.starting.pop();
                self.moving.enter(at, work, key);
            }
        }
    }
}
