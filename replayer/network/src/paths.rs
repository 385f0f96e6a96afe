//! Routes that were asked for before, with what a network model derives from them.

use std::sync::Arc;

use titr_common::units::Bytes;

use super::LinkLoad;
use crate::topology::{HostId, LinkId, Topology};

/// Remembers, for pairs of hosts, what the model made of their route (`T`). As many pairs as fit a fixed table:
/// a pair that falls on another's entry takes its place, so memory does not grow with the square of the machine.
#[derive(Debug)]
pub(super) struct Paths<T> {
    topology: Arc<dyn Topology>,
    entries: Vec<Option<Path<T>>>,
    /// What paths that lost their entry had carried, by link.
    forgotten: Vec<LinkLoad>,
    /// Kept to be used again.
    route: Vec<LinkId>,
}

/// The way from one host to another.
#[derive(Debug)]
struct Path<T> {
    ends: (HostId, HostId),
    carried: LinkLoad,
    derived: T,
}

/// Pairs remembered at most: all of them up to 128 hosts. More would cost more in cache misses than they save.
const CAPACITY: u64 = 1 << 14;

impl<T> Paths<T> {
    pub fn new(topology: Arc<dyn Topology>) -> Self {
        let hosts = u64::from(topology.hosts());
        let pairs = (hosts * hosts).min(CAPACITY) as usize;
        Self {
            forgotten: vec![LinkLoad::default(); topology.links().len()],
            topology,
            entries: std::iter::repeat_with(|| None).take(pairs).collect(),
            route: Vec::new(),
        }
    }

    /// What was derived of the path between two hosts, for a message of `bytes` which that is reckoned to carry. `derive`
    /// makes it of a route that is not remembered, and is handed what was derived of the one that has to be forgotten.
    pub fn carry(
        &mut self,
        ends: (HostId, HostId),
        bytes: Bytes,
        derive: impl FnOnce(&[LinkId], Option<T>) -> T,
    ) -> &mut T {
        let pair = u64::from(ends.0.0) * u64::from(self.topology.hosts()) + u64::from(ends.1.0);
        let place = (pair % self.entries.len() as u64) as usize;
        let other = self.entries[place].take_if(|path| path.ends != ends);
        let path = self.entries[place].get_or_insert_with(|| {
            if let Some(other) = &other {
                other.add_to(&mut self.forgotten, &*self.topology, &mut self.route);
            }
            self.route.clear();
            self.topology.route(ends.0, ends.1, &mut self.route);
            let derived = derive(&self.route, other.map(|other| other.derived));
            Path { ends, derived, carried: LinkLoad::default() }
        });
        path.carried.bytes += bytes;
        path.carried.messages += 1;
        &mut path.derived
    }

    /// What each link has carried.
    pub fn loads(&self) -> Vec<LinkLoad> {
        let (mut loads, mut route) = (self.forgotten.clone(), Vec::new());
        for path in self.entries.iter().flatten() {
            path.add_to(&mut loads, &*self.topology, &mut route);
        }
        loads
    }
}

impl<T> Path<T> {
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
