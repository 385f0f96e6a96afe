//! Hops between the routers of a graph, in a table of bytes, and the ports on shortest paths.
//!
//! The table has a row for each router with hosts, since messages only go there, and an entry in it for each router. It is
//! filled by breadth-first searches from 64 routers at a time, one bit for each (M. Then et al., "The More the Merrier:
//! Efficient Multi-Source Graph Traversal", VLDB 8(4), 2014).

use std::sync::Arc;

use thiserror::Error;

use crate::chance::chance;
use crate::topology::{Geometry, HostId, PortIndex, RouterId};

/// Entries of the table at most: those of 32,768 routers that all have hosts.
const MOST_ENTRIES: u64 = 1 << 30;

/// An entry of a router that a search has not reached.
const FAR: u8 = u8::MAX;

/// A router without a row.
const NONE: u32 = u32::MAX;

/// The hops between routers. A clone shares the table.
pub(crate) type HopTable = Arc<Hops>;

/// The table, and the graph that it is of.
#[derive(Debug)]
pub(crate) struct Hops {
    /// The names of the routers.
    names: Vec<String>,
    /// The first port of each router; one entry more than there are routers.
    first_port: Vec<u32>,
    /// The router that each port leads to.
    neighbours: Vec<RouterId>,
    /// The routers with hosts.
    pub ends: Vec<RouterId>,
    /// The place of each router among `ends`, or [`NONE`].
    rows: Vec<u32>,
    /// For each router with hosts, the hops to it from each router.
    hops: Vec<u8>,
    /// The most hops between two routers with hosts.
    pub diameter: u32,
}

/// A reason why there is no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(in crate::topology) enum NoHops {
    /// A router cannot be reached from another.
    #[error("there is no way from {0:?} to {1:?}")]
    Unconnected(RouterId, RouterId),
    /// A path is longer than the table can hold.
    #[error("a path has more than {} hops", FAR - 1)]
    TooFar,
    /// The table would be too large.
    #[error(
        "the hops of {routers} routers, {ends} of them with hosts, take {} bytes: there may be {MOST_ENTRIES}, as for 32768 \
         routers that all have hosts",
        u64::from(*routers) * u64::from(*ends)
    )]
    TooMany {
        routers: u32,
        /// Routers with hosts.
        ends: u32,
    },
}

impl Geometry for HopTable {
    fn family(&self) -> &'static str {
        "graph of routers"
    }

    fn router_name(&self, router: RouterId) -> String {
        self.names[router.index()].clone()
    }
}

impl Hops {
    /// The hops in the graph in which the ports of router r, `first_port[r]` up to `first_port[r + 1]`, lead to these
    /// `neighbours`, between the routers that have hosts. Each port has a port back.
    pub(in crate::topology) fn new(
        first_port: Vec<u32>,
        neighbours: Vec<RouterId>,
        has_hosts: &[bool],
        names: Vec<String>,
    ) -> Result<HopTable, NoHops> {
        let mut rows = vec![NONE; has_hosts.len()];
        let mut ends = Vec::new();
        for (router, _) in (0..).map(RouterId).zip(has_hosts).filter(|&(_, &has)| has) {
            rows[router.index()] = ends.len() as u32;
            ends.push(router);
        }
        if ends.len() as u64 * rows.len() as u64 > MOST_ENTRIES {
            return Err(NoHops::TooMany { routers: rows.len() as u32, ends: ends.len() as u32 });
        }
        let mut hops =
            Self { names, first_port, neighbours, hops: vec![FAR; ends.len() * rows.len()], ends, rows, diameter: 0 };
        hops.fill()?;
        Ok(Arc::new(hops))
    }

    pub(crate) fn routers(&self) -> u32 {
        self.rows.len() as u32
    }

    /// The place of a router with hosts among them.
    pub(crate) fn place(&self, end: RouterId) -> u32 {
        self.rows[end.index()]
    }

    /// The routers that the ports of a router lead to.
    pub(crate) fn neighbours(&self, at: RouterId) -> &[RouterId] {
        &self.neighbours[self.first_port[at.index()] as usize..self.first_port[at.index() + 1] as usize]
    }

    /// The number of the first port of a router, where the ports of all routers are numbered one after the other.
    pub(super) fn first_port(&self, at: RouterId) -> u32 {
        self.first_port[at.index()]
    }

    /// The hops from a router to a router with hosts.
    pub(crate) fn hops(&self, at: RouterId, to: RouterId) -> u32 {
        self.row(to)[at.index()].into()
    }

    /// The ports of `at` on shortest paths to a router with hosts, from the port with the number `start` modulo their
    /// number on.
    pub(crate) fn ports_towards(
        &self,
        at: RouterId,
        to: RouterId,
        start: u32,
    ) -> impl Iterator<Item = PortIndex> + Clone + use<'_> {
        let (row, neighbours) = (self.row(to), self.neighbours(at));
        let nearer = row[at.index()].wrapping_sub(1);
        let start = start as usize % neighbours.len().max(1);
        let ports = (start..neighbours.len()).chain(0..start);
        ports.filter(move |&port| row[neighbours[port].index()] == nearer).map(|port| PortIndex(port as u32))
    }

    /// The port that messages between two hosts take at `at` towards the router of the second. Equally short paths are
    /// chosen among by a hash of both hosts and the router, as in equal-cost multi-path routing (C. Hopps, RFC 2992, 2000).
    pub(crate) fn port_of_flow(&self, at: RouterId, to: RouterId, ends: (HostId, HostId)) -> Option<PortIndex> {
        let mut ports = self.ports_towards(at, to, 0);
        let flow = u64::from(ends.0.0) << 32 | u64::from(ends.1.0);
        let place = chance(flow, at.0.into(), 0) % ports.clone().count().max(1) as u64;
        ports.nth(place as usize)
    }

    /// The hops to a router with hosts, from each router.
    fn row(&self, to: RouterId) -> &[u8] {
        let routers = self.rows.len();
        &self.hops[self.rows[to.index()] as usize * routers..][..routers]
    }

    fn fill(&mut self) -> Result<(), NoHops> {
        for first in (0..self.ends.len()).step_by(64) {
            self.search(first)?;
        }
        let routers = self.rows.len();
        for (end, row) in self.ends.iter().zip(self.hops.chunks(routers.max(1))) {
            for from in &self.ends {
                match row[from.index()] {
                    FAR => return Err(NoHops::Unconnected(*from, *end)),
                    hops => self.diameter = self.diameter.max(hops.into()),
                }
            }
        }
        Ok(())
    }

    /// Searches from up to 64 routers with hosts, starting with router `first`.
    fn search(&mut self, first: usize) -> Result<(), NoHops> {
        let routers = self.rows.len();
        let mut reached = vec![0_u64; routers];
        for (place, end) in self.ends.iter().enumerate().skip(first).take(64) {
            reached[end.index()] |= 1 << (place - first);
            self.hops[place * routers + end.index()] = 0;
        }
        let (mut last, mut next) = (reached.clone(), vec![0; routers]);
        for distance in 1..=FAR {
            let mut is_over = true;
            for at in (0..routers as u32).map(RouterId) {
                let beside = self.neighbours(at).iter().fold(0, |all, next| all | last[next.index()]);
                let mut new = beside & !reached[at.index()];
                next[at.index()] = new;
                is_over &= new == 0;
                while new != 0 {
                    self.hops[(first + new.trailing_zeros() as usize) * routers + at.index()] = distance;
                    new &= new - 1;
                }
            }
            if is_over {
                return Ok(());
            }
            reached.iter_mut().zip(&next).for_each(|(all, new)| *all |= new);
            std::mem::swap(&mut last, &mut next);
        }
        Err(NoHops::TooFar)
    }
}
