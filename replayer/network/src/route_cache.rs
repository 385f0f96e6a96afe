//! A cache of routes, with what a network model derives from each.

use std::sync::Arc;

use super::LinkLoad;
use crate::topology::{HostId, LinkId, Topology};

/// Remembers, for pairs of hosts, what the model derives from their route (`T`). As many pairs as fit a fixed table:
/// a pair that falls on another's entry takes its place, so memory does not grow with the square of the machine.
#[derive(Debug)]
pub(super) struct RouteCache<T> {
    topology: Arc<dyn Topology>,
    hosts: u64,
    entries: Vec<Option<CachedPath<T>>>,
    /// The loads of links by evicted paths.
    evicted: Vec<LinkLoad>,
    /// Kept to be used again.
    route: Vec<LinkId>,
}

/// The path from one host to another.
#[derive(Debug)]
struct CachedPath<T> {
    ends: (HostId, HostId),
    carried: LinkLoad,
    derived: T,
}

/// Pairs remembered at most: all of them up to 128 hosts. More would cost more in cache misses than they save.
const CAPACITY: u64 = 1 << 14;

impl<T> RouteCache<T> {
    pub fn new(topology: Arc<dyn Topology>) -> Self {
        let hosts = u64::from(topology.hosts());
        let pairs = (hosts * hosts).min(CAPACITY) as usize;
        Self {
            evicted: vec![LinkLoad::default(); topology.links().len()],
            topology,
            hosts,
            entries: std::iter::repeat_with(|| None).take(pairs).collect(),
            route: Vec::new(),
        }
    }

    /// Adds to the load of the route between two hosts, and returns what was derived from it. `derive` derives it
    /// from a route that is not in the cache, and is handed what was derived from the route that is evicted.
    pub fn carry(
        &mut self,
        ends: (HostId, HostId),
        load: LinkLoad,
        derive: impl FnOnce(&[LinkId], Option<T>) -> T,
    ) -> &mut T {
        let pair = u64::from(ends.0.0) * self.hosts + u64::from(ends.1.0);
        let entries = self.entries.len() as u64;
        // A division takes longer than the rest, and most machines are smaller than the cache.
        let place = if pair < entries { pair } else { pair % entries } as usize;
        let other = self.entries[place].take_if(|path| path.ends != ends);
        let path = self.entries[place].get_or_insert_with(|| {
            if let Some(other) = &other {
                other.add_to(&mut self.evicted, &*self.topology, &mut self.route);
            }
            self.route.clear();
            self.topology.route(ends.0, ends.1, &mut self.route);
            let derived = derive(&self.route, other.map(|other| other.derived));
            CachedPath { ends, derived, carried: LinkLoad::default() }
        });
        path.carried.bytes += load.bytes;
        path.carried.messages += load.messages;
        &mut path.derived
    }

    /// The load that each link has carried.
    pub fn loads(&self) -> Vec<LinkLoad> {
        let (mut loads, mut route) = (self.evicted.clone(), Vec::new());
        for path in self.entries.iter().flatten() {
            path.add_to(&mut loads, &*self.topology, &mut route);
        }
        loads
    }
}

impl<T> CachedPath<T> {
    fn add_to(&self, loads: &mut [LinkLoad], topology: &dyn Topology, route: &mut Vec<LinkId>) {
        route.clear();
        topology.route(self.ends.0, self.ends.1, route);
        for link in route {
            let load = &mut loads[link.index()];
            load.bytes += self.carried.bytes;
            load.messages += self.carried.messages;
        }
    }
}
