//! Numbered disks, and the next event among them.

use std::collections::BTreeSet;

use titr_common::time::Time;

use crate::disk::{Access, AccessId, Disk, DiskParameters};

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use titr_common::event::Direction;
    use titr_common::units::{Bandwidth, Bytes, Seconds};

    use super::*;
    use crate::disk::Service;

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
