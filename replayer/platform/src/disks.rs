//! Numbered disks, and the next event among them.
//!
//! # Service
//!
//! A disk: an access waits for the disk's latency, then moves its bytes, with an equal share of the disk's bandwidth or
//! with all of it in turn ([`Service`]).
//!
//! Latencies of several accesses overlap, as in a disk with a command queue (NVMe, Base Specification, §3.3). Reads and
//! writes share one disk: the last of *n* accesses that would each take *t* alone is done after *n* · *t*, with any
//! order of service.
//!
//! # Processor sharing
//!
//! Processor sharing: all customers in progress get an equal share of one resource at every instant.
//!
//! With *n* in progress, each gets 1/*n* of the resource. Virtual time V advances by d*t*/*n*, so a customer that
//! enters at V with work *w* is done at V + *w*, independent of other arrivals and departures (Kleinrock, "Queueing
//! Systems" vol. 2, §4.4). SimGrid's disks share their bandwidth in the same way (`surf/disk_s19`).
//!
//! Virtual time is a whole number of 2⁻³² ps, so that sums do not depend on their order.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use serde::Deserialize;
use titr_common::event::Direction;
use titr_common::time::Time;
use titr_common::units::{Bandwidth, Bytes, Seconds};

/// A disk, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DiskId(pub u32);

/// Equal disks. An unused disk takes no memory unless one with a higher number is used.
#[derive(Debug)]
pub struct Disks {
    parameters: DiskParameters,
    disks: Vec<Disk>,
    /// The next event of each disk that has one.
    due: BTreeSet<(Time, DiskId)>,
}

impl Disks {
    /// Disks without accesses.
    #[must_use]
    pub fn new(parameters: DiskParameters) -> Self {
        Self { parameters, disks: Vec::new(), due: BTreeSet::new() }
    }

    /// `access` to a disk starts at `now`.
    pub fn start(&mut self, now: Time, disk: DiskId, access: Access) {
        if self.disks.len() <= disk.0 as usize {
            self.disks.resize_with(disk.0 as usize + 1, || Disk::new(self.parameters.service));
        }
        let started = &mut self.disks[disk.0 as usize];
        let before = started.next_event();
        started.start(now, &self.parameters, access);
        let after = started.next_event();
        before.map(|at| self.due.remove(&(at, disk)));
        self.due.extend(after.map(|at| (at, disk)));
    }

    /// The time of the next event of any disk; `None` while no access is in progress.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Moves on to `now`, and appends the accesses that are done to `done`: disk by disk, and on each in the order in which
    /// they were done.
    pub fn advance(&mut self, now: Time, done: &mut Vec<AccessId>) {
        while let Some(&(at, disk)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            let advanced = &mut self.disks[disk.0 as usize];
            advanced.advance(now, done);
            self.due.extend(advanced.next_event().map(|at| (at, disk)));
        }
    }
}

const FRACTION_BITS: u32 = 32;

/// A resource, and the keys of those that share it or that it serves one after another, in the order of arrival. The virtual
/// time of one that is not shared is the time.
#[derive(Debug)]
struct Resource {
    service: Service,
    now: Time,
    virtual_time: u128,
    /// The virtual time at which each is done, a number that makes ties stable, and its key.
    under_way: BinaryHeap<Reverse<(u128, u64, u32)>>,
    entered: u64,
    /// The virtual time at which the one that entered last is done.
    last_done: u128,
}

impl Resource {
    fn new(service: Service) -> Self {
        Self { service, now: Time::ZERO, virtual_time: 0, under_way: BinaryHeap::new(), entered: 0, last_done: 0 }
    }

    /// `key` enters at `now`, with this many picoseconds of work for the whole resource. No other is done by `now`.
    fn enter(&mut self, now: Time, work: u64, key: u32) {
        self.advance(now);
        self.entered += 1;
        let begin = match self.service {
            Service::Shared => self.virtual_time,
            Service::Fifo => self.virtual_time.max(self.last_done),
        };
        self.last_done = begin + (u128::from(work) << FRACTION_BITS);
        self.under_way.push(Reverse((self.last_done, self.entered, key)));
    }

    /// The time of the next completion, if no other enters before.
    fn next_event(&self) -> Option<Time> {
        let Reverse((done, ..)) = self.under_way.peek()?;
        let need = done.saturating_sub(self.virtual_time).saturating_mul(self.shares());
        let picoseconds = need.div_ceil(1 << FRACTION_BITS);
        Some(Time(self.now.0.saturating_add(u64::try_from(picoseconds).unwrap_or(u64::MAX))))
    }

    /// Takes out one that is done by `now`, which is not later than [`next_event`](Self::next_event).
    fn pop_by(&mut self, now: Time) -> Option<u32> {
        self.advance(now);
        self.under_way.peek().filter(|Reverse((done, ..))| *done <= self.virtual_time)?;
        self.under_way.pop().map(|Reverse((.., key))| key)
    }

    fn advance(&mut self, now: Time) {
        let passed = u128::from(now.0.saturating_sub(self.now.0)) << FRACTION_BITS;
        self.virtual_time += passed / self.shares();
        self.now = now;
    }

    /// The parts that the resource is in.
    fn shares(&self) -> u128 {
        match self.service {
            Service::Shared => self.under_way.len().max(1) as u128,
            Service::Fifo => 1,
        }
    }
}

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
struct Disk {
    /// Accesses that wait for the latency: when it is over, a number that makes ties stable, the work and the key.
    starting: BinaryHeap<Reverse<(Time, u64, u64, u32)>>,
    /// The accesses whose bytes move, or wait for their turn.
    moving: Resource,
    started: u64,
}

impl Disk {
    /// A disk without accesses.
    fn new(service: Service) -> Self {
        Self { starting: BinaryHeap::new(), moving: Resource::new(service), started: 0 }
    }

    /// `access` starts at `now`, on a disk that is as fast as `parameters` say.
    fn start(&mut self, now: Time, parameters: &DiskParameters, access: Access) {
        let bandwidth = match access.direction {
            Direction::Read => parameters.read_bandwidth,
            Direction::Write => parameters.write_bandwidth,
        };
        let work = Time::from_seconds(Seconds(access.bytes.0 as f64 / bandwidth.bytes_per_second));
        self.started += 1;
        self.starting.push(Reverse((now + parameters.latency, self.started, work.0, access.id.0)));
    }

    fn next_event(&self) -> Option<Time> {
        let starting = self.starting.peek().map(|Reverse((at, ..))| *at);
        starting.into_iter().chain(self.moving.next_event()).min()
    }

    /// Moves on to `now`, and appends the accesses that are done to `done`, in the order in which they were.
    fn advance(&mut self, now: Time, done: &mut Vec<AccessId>) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use titr_common::units::{Bandwidth, Bytes, Seconds};

    use super::*;

    /// 1 GB/s of reads, half as much of writes, and 1 µs.
    fn parameters() -> DiskParameters {
        let bandwidth = |bytes_per_second| Bandwidth { bytes_per_second };
        let latency = Seconds(1e-6);
        DiskParameters {
            read_bandwidth: bandwidth(1e9),
            write_bandwidth: bandwidth(0.5e9),
            latency,
            service: Service::Shared,
        }
    }

    /// Starts accesses, each at a time in picoseconds to a disk; when each is done, in picoseconds.
    fn run(parameters: DiskParameters, accesses: &[(u64, u32, Direction, u64)]) -> Vec<u64> {
        let mut disks = Disks::new(parameters);
        let (mut times, mut done) = (vec![0; accesses.len()], Vec::new());
        let mut accesses = (0..).zip(accesses).peekable();
        loop {
            let next = accesses.peek().map(|(_, (at, ..))| Time(*at));
            let Some(now) = next.into_iter().chain(disks.next_event()).min() else { return times };
            disks.advance(now, &mut done);
            done.drain(..).for_each(|AccessId(id)| times[id as usize] = now.0);
            while let Some((id, &(_, disk, direction, bytes))) = accesses.next_if(|(_, (at, ..))| Time(*at) <= now) {
                disks.start(now, DiskId(disk), Access { id: AccessId(id), direction, bytes: Bytes(bytes) });
            }
        }
    }

    #[test]
    fn an_access_takes_the_latency_and_its_bytes() {
        use Direction::{Read, Write};
        assert_eq!(run(parameters(), &[(0, 0, Read, 1000)]), [2_000_000]);
        assert_eq!(run(parameters(), &[(0, 0, Write, 1000)]), [3_000_000]);
        assert_eq!(run(parameters(), &[(0, 3, Read, 0)]), [1_000_000]);
        assert_eq!(run(DiskParameters::INSTANT, &[(7, 0, Write, u64::MAX)]), [7]);
    }

    #[test]
    fn accesses_share_their_disk_and_no_other() {
        use Direction::{Read, Write};
        // The read takes 1 µs alone and the write 2 µs: together 2 µs for the read, and 1 µs is left of the write.
        assert_eq!(run(parameters(), &[(0, 0, Read, 1000), (0, 0, Write, 1000)]), [3_000_000, 4_000_000]);
        assert_eq!(run(parameters(), &[(0, 0, Read, 1000), (0, 1, Write, 1000)]), [2_000_000, 3_000_000]);
    }

    fn accesses() -> impl Strategy<Value = Vec<(u64, u32, Direction, u64)>> {
        let direction = prop_oneof![Just(Direction::Read), Just(Direction::Write)];
        let access = (0_u64..5_000_000, 0_u32..3, direction, 0_u64..10_000);
        prop::collection::vec(access, 1..20).prop_map(|mut accesses| {
            accesses.sort_by_key(|(at, ..)| *at);
            accesses
        })
    }

    proptest! {
        /// A disk does nothing twice and forgets nothing: while it is busy, it is done with its work as one after another
        /// would be. Rounding adds less than a picosecond for each event.
        #[test]
        fn work_is_conserved(accesses in accesses(), service in prop_oneof![Just(Service::Shared), Just(Service::Fifo)]) {
            let parameters = DiskParameters { latency: Seconds(0.0), service, ..parameters() };
            let done = run(parameters, &accesses);
            for disk in 0..3 {
                let (mut end, mut last) = (0, 0);
                for (&(at, on, direction, bytes), &done) in accesses.iter().zip(&done) {
                    if on == disk {
                        let work = bytes * if direction == Direction::Read { 1000 } else { 2000 };
                        end = end.max(at) + work;
                        last = last.max(done);
                        prop_assert!(done >= at + work);
                    }
                }
                prop_assert!(last >= end && last <= end + 2 * accesses.len() as u64, "{} {}", last, end);
            }
        }

        /// More bandwidth makes no access of a set that starts together later.
        #[test]
        fn more_bandwidth_is_not_slower(accesses in accesses(), factor in 1.0..10.0_f64) {
            let faster = |bandwidth: Bandwidth| Bandwidth { bytes_per_second: bandwidth.bytes_per_second * factor };
            let slow = parameters();
            let fast = DiskParameters {
                read_bandwidth: faster(slow.read_bandwidth),
                write_bandwidth: faster(slow.write_bandwidth),
                ..slow
            };
            for (fast, slow) in run(fast, &accesses).into_iter().zip(run(slow, &accesses)) {
                prop_assert!(fast <= slow + 2 * accesses.len() as u64, "{} {}", fast, slow);
            }
        }
    }
}

#[cfg(test)]
mod queue_tests {
    use super::*;

    #[test]
    fn one_after_another_has_everything() {
        let mut queue = Resource::new(Service::Fifo);
        queue.enter(Time(5), 100, 1);
        queue.enter(Time(5), 10, 2);
        queue.enter(Time(100), 10, 3);
        let mut done = Vec::new();
        while let Some(at) = queue.next_event() {
            done.push((at, queue.pop_by(at)));
        }
        assert_eq!(done, [(Time(105), Some(1)), (Time(115), Some(2)), (Time(125), Some(3))]);
        queue.enter(Time(200), 10, 4);
        assert_eq!((queue.pop_by(Time(209)), queue.pop_by(Time(210))), (None, Some(4)));
    }
}

#[cfg(test)]
mod sharing_tests {
    use super::*;

    /// Runs a resource that each enters at a time with its work; when each is done.
    fn run(entries: &[(u64, u64)]) -> Vec<u64> {
        let mut sharing = Resource::new(Service::Shared);
        let mut done = vec![0; entries.len()];
        let mut entries = (0..).zip(entries).peekable();
        loop {
            let entry = entries.peek().map(|(_, (at, _))| Time(*at));
            match (sharing.next_event(), entry) {
                (Some(next), entry) if entry.is_none_or(|entry| next <= entry) => {
                    while let Some(key) = sharing.pop_by(next) {
                        done[key as usize] = next.0;
                    }
                }
                (_, Some(at)) => entries.next().into_iter().for_each(|(key, (_, work))| sharing.enter(at, *work, key)),
                (_, None) => return done,
            }
        }
    }

    #[test]
    fn one_alone_has_everything() {
        assert_eq!(run(&[(5, 100)]), [105]);
        assert_eq!(run(&[(0, 100), (200, 100)]), [100, 300]);
    }

    #[test]
    fn equals_are_done_together() {
        assert_eq!(run(&[(0, 100), (0, 100), (0, 100)]), [300, 300, 300]);
    }

    #[test]
    fn the_rest_is_shared_by_who_is_left() {
        // Both share until 20, when the small one is done; the large one has done 10 of its 100 then.
        assert_eq!(run(&[(0, 100), (0, 10)]), [110, 20]);
        // The first is alone until 40 and has 60 left; it does 10 of them while the second does its 10.
        assert_eq!(run(&[(0, 100), (40, 10)]), [110, 60]);
    }

    #[test]
    fn a_work_of_nothing_is_done_at_once() {
        assert_eq!(run(&[(0, 100), (50, 0)]), [100, 50]);
    }
}
