//! A cache of routes, with the data that a network model derives from each.

use std::sync::Arc;

use titr_common::units::Bytes;

use super::LinkLoad;
use crate::topology::{HostId, Paths, RoutePeriod, Topology};

/// Caches, for pairs of hosts, the data that the model derives from their route (`T`).
///
/// If not all pairs fit, the number of entries is proportional to the number of hosts, so memory does not grow with the
/// square of the machine. A pair may be in one of two *sets* of entries, as in a skewed-associative cache (A. Seznec,
/// ISCA 1993). The first set depends on the sending host, so that consecutive messages of one host are close in memory;
/// the second is anywhere, for a host that sends to many others. If both sets are full, a pair evicts another.
#[derive(Debug)]
pub(super) struct RouteCache<T> {
    topology: Arc<dyn Topology>,
    hosts: u64,
    pub period: RoutePeriod,
    entries: Vec<Option<CachedPath<T>>>,
    /// Whether each pair has its own entry.
    holds_all: bool,
    /// The loads of links by evicted paths.
    evicted: Vec<LinkLoad>,
    /// Kept to be used again.
    paths: Paths,
}

/// The path from one host to another.
#[derive(Debug)]
struct CachedPath<T> {
    ends: (HostId, HostId),
    carried: LinkLoad,
    derived: T,
}

/// Minimum number of pairs in the cache, even for few hosts: it holds all pairs of up to 256 hosts.
const CAPACITY: u64 = 1 << 16;

/// Pairs remembered for each host where that is more.
const EACH: u64 = 16;

/// Entries of a set.
const WAYS: u64 = 4;

impl<T> RouteCache<T> {
    pub(crate) fn new(topology: Arc<dyn Topology>) -> Self {
        let hosts = u64::from(topology.hosts());
        let holds_all = hosts * hosts <= CAPACITY;
        let each = if topology.is_within_hosts() { WAYS } else { EACH };
        let pairs = if holds_all { hosts * hosts } else { CAPACITY.next_multiple_of(hosts * WAYS).max(hosts * each) };
        Self {
            evicted: vec![LinkLoad::default(); topology.links().len()],
            topology,
            hosts,
            period: RoutePeriod::default(),
            entries: std::iter::repeat_with(|| None).take(pairs as usize).collect(),
            holds_all,
            paths: Paths::default(),
        }
    }

    /// Adds to the load of the paths between two hosts, and returns the data derived from them. `derive` derives it for
    /// paths that are not in the cache; it receives the data of the evicted paths.
    pub(crate) fn carry(
        &mut self,
        ends: (HostId, HostId),
        load: LinkLoad,
        derive: impl FnOnce(&Paths, Option<T>) -> T,
    ) -> &mut T {
        let place = self.place(ends);
        let other = self.entries[place].take_if(|path| path.ends != ends);
        let path = self.entries[place].get_or_insert_with(|| {
            if let Some(other) = &other {
                other.add_to(&mut self.evicted, (&*self.topology, self.period), &mut self.paths);
            }
            self.paths.find(&*self.topology, self.period, ends);
            let derived = derive(&self.paths, other.map(|other| other.derived));
            CachedPath { ends, derived, carried: LinkLoad::default() }
        });
        path.carried.bytes += load.bytes;
        path.carried.messages += load.messages;
        &mut path.derived
    }

    /// Forgets the route between two hosts, and returns what was derived from it.
    pub(crate) fn forget(&mut self, ends: (HostId, HostId)) -> Option<T> {
        let place = self.place(ends);
        let path = self.entries[place].take_if(|path| path.ends == ends)?;
        path.add_to(&mut self.evicted, (&*self.topology, self.period), &mut self.paths);
        Some(path.derived)
    }

    /// Has the routes of a period from now on. The routes of another period are evicted, each with the data derived
    /// from it.
    pub(crate) fn enter(&mut self, period: RoutePeriod, mut evict: impl FnMut(T)) {
        if period == self.period {
            return;
        }
        for path in self.entries.iter_mut().filter_map(Option::take) {
            path.add_to(&mut self.evicted, (&*self.topology, self.period), &mut self.paths);
            evict(path.derived);
        }
        self.period = period;
    }

    /// The entry of a pair, or that which it takes if it has none.
    #[inline]
    fn place(&self, (from, to): (HostId, HostId)) -> usize {
        let (from, to, hosts) = (u64::from(from.0), u64::from(to.0), self.hosts);
        if self.holds_all {
            return (from * hosts + to) as usize;
        }
        let sets = self.entries.len() as u64 / WAYS;
        let spread = (from * hosts + to).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let own = from * (sets / hosts) + (spread >> 40) % (sets / hosts);
        let anywhere = (spread >> 16) % sets;
        [own, anywhere]
            .into_iter()
            .find_map(|set| self.find((from, to), set))
            .or_else(|| [own, anywhere].into_iter().find_map(|set| self.free(set)))
            .unwrap_or((anywhere * WAYS + (spread >> 60) % WAYS) as usize)
    }

    /// The place of a pair in a set.
    #[inline]
    fn find(&self, (from, to): (u64, u64), set: u64) -> Option<usize> {
        let is_it = |path: &CachedPath<T>| (u64::from(path.ends.0.0), u64::from(path.ends.1.0)) == (from, to);
        (set * WAYS..(set + 1) * WAYS)
            .map(|place| place as usize)
            .find(|&place| self.entries[place].as_ref().is_some_and(is_it))
    }

    /// The first free place in a set.
    fn free(&self, set: u64) -> Option<usize> {
        (set * WAYS..(set + 1) * WAYS).map(|place| place as usize).find(|&place| self.entries[place].is_none())
    }

    /// The load that each link has carried.
    pub(crate) fn loads(&self) -> Vec<LinkLoad> {
        let (mut loads, mut paths) = (self.evicted.clone(), Paths::default());
        for path in self.entries.iter().flatten() {
            path.add_to(&mut loads, (&*self.topology, self.period), &mut paths);
        }
        loads
    }
}

impl<T> CachedPath<T> {
    /// Adds to `loads` what took the route of a topology in a period.
    fn add_to(&self, loads: &mut [LinkLoad], (topology, period): (&dyn Topology, RoutePeriod), paths: &mut Paths) {
        paths.find(topology, period, self.ends);
        for (link, part) in paths.parts() {
            let load = &mut loads[link.index()];
            load.bytes += part_of(self.carried.bytes, part);
            load.messages += self.carried.messages;
        }
    }
}

/// A part of a volume, to the nearest byte.
fn part_of(bytes: Bytes, part: f64) -> Bytes {
    // Exactly, however large the volume is.
    if part == 1.0 { bytes } else { Bytes((bytes.0 as f64 * part).round() as u64) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use titr_common::units::Seconds;

    use super::*;
    use crate::topology::{Cable, Duplex, Star};

    fn cache<T>(hosts: u32) -> RouteCache<T> {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };
        RouteCache::new(Arc::new(Star::new(hosts, cable, None)))
    }

    /// The number of times the routes of `pairs` are derived if all are requested twice.
    fn derived(hosts: u32, pairs: &[(u32, u32)]) -> usize {
        let (mut cache, mut derived) = (cache(hosts), 0);
        for &(from, to) in pairs.iter().chain(pairs) {
            let ends = (HostId(from), HostId(to));
            let known = *cache.carry(ends, LinkLoad::default(), |_, _| {
                derived += 1;
                ends
            });
            assert_eq!(known, ends);
        }
        derived
    }

    #[test]
    fn neighbours_in_a_large_torus_are_all_remembered_and_so_are_those_that_one_host_sends_to() {
        let neighbours: Vec<_> =
            (0..4096).flat_map(|from| [1, 16, 256, 4095, 4080, 3840].map(|far| (from, (from + far) % 4096))).collect();
        let many = derived(4096, &neighbours);
        assert!(many < neighbours.len() * 101 / 100, "{many} of {}", neighbours.len());
        let fan: Vec<_> = (1..4096).map(|to| (0, to)).collect();
        let many = derived(4096, &fan);
        assert!(many < fan.len() * 101 / 100, "{many} of {}", fan.len());
    }

    #[test]
    fn all_pairs_of_a_small_machine_are_remembered() {
        for hosts in [1, 256] {
            let pairs: Vec<_> = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))).collect();
            assert_eq!(derived(hosts, &pairs), pairs.len());
        }
    }

    /// Loads are kept of routes that are forgotten, too.
    #[test]
    fn no_load_is_lost() {
        let (hosts, mut cache, mut expected) = (400, cache(400), BTreeMap::new());
        for from in 0..hosts {
            for to in (0..hosts).filter(|&to| to != from) {
                let bytes = Bytes(u64::from(from));
                cache.carry((HostId(from), HostId(to)), LinkLoad { bytes, messages: 1 }, |paths, _| {
                    paths.parts().for_each(|(link, _)| {
                        let load: &mut LinkLoad = expected.entry(link).or_default();
                        load.bytes += bytes;
                        load.messages += 1;
                    });
                });
            }
        }
        assert!(cache.entries.len() < (hosts * hosts) as usize / 2, "some are forgotten");
        assert_eq!(cache.loads(), expected.into_values().collect::<Vec<_>>());
    }
}
