//! Routes that were asked for before, with what a network model derives from them.

use std::sync::Arc;

use titr_common::units::Bytes;

use super::LinkLoad;
use crate::topology::{HostId, LinkId, Topology};

/// Remembers, for pairs of hosts, the route and what the model made of it (`T`). As many pairs as fit a fixed table:
/// a pair that falls on another's entry takes its place, so memory does not grow with the square of the machine.
#[derive(Debug)]
pub(super) struct Paths<T> {
    topology: Arc<dyn Topology>,
    entries: Vec<Option<Path<T>>>,
    /// What paths that lost their entry had carried, by link.
    forgotten: Vec<LinkLoad>,
}

/// The way from one host to another.
#[derive(Debug)]
pub(super) struct Path<T> {
    ends: (HostId, HostId),
    route: Box<[LinkId]>,
    carried: LinkLoad,
    pub derived: T,
}

/// Pairs remembered at most: all of them up to 256 hosts.
const CAPACITY: u64 = 1 << 16;

impl<T> Paths<T> {
    pub fn new(topology: Arc<dyn Topology>) -> Self {
        let hosts = u64::from(topology.hosts());
        let pairs = (hosts * hosts).min(CAPACITY) as usize;
        Self {
            forgotten: vec![LinkLoad::default(); topology.links().len()],
            topology,
            entries: std::iter::repeat_with(|| None).take(pairs).collect(),
        }
    }

    /// The path between two hosts for a message of `bytes`, which it is reckoned to carry. `derive` makes of a route
    /// that is not remembered what the model needs to know of it.
    pub fn carry(&mut self, ends: (HostId, HostId), bytes: Bytes, derive: impl FnOnce(&[LinkId]) -> T) -> &mut T {
        let pair = u64::from(ends.0.0) * u64::from(self.topology.hosts()) + u64::from(ends.1.0);
        let place = (pair % self.entries.len() as u64) as usize;
        if let Some(other) = self.entries[place].take_if(|path| path.ends != ends) {
            other.add_to(&mut self.forgotten);
        }
        let path = self.entries[place].get_or_insert_with(|| {
            let mut route = Vec::new();
            self.topology.route(ends.0, ends.1, &mut route);
            Path { ends, derived: derive(&route), route: route.into(), carried: LinkLoad::default() }
        });
        path.carried.bytes += bytes;
        path.carried.messages += 1;
        &mut path.derived
    }

    /// What each link has carried.
    pub fn loads(&self) -> Vec<LinkLoad> {
        let mut loads = self.forgotten.clone();
        for path in self.entries.iter().flatten() {
            path.add_to(&mut loads);
        }
        loads
    }
}

impl<T> Path<T> {
    fn add_to(&self, loads: &mut [LinkLoad]) {
        for link in &self.route {
            let load = &mut loads[link.index()];
            load.bytes += self.carried.bytes;
            load.messages += self.carried.messages;
        }
    }
}
