//! Machines with several rails: each host has several network interfaces, each on a copy of the topology.
//!
//! A **rail** is such a copy with all its links. Rails have no link in common, so a message is on one rail, or in parts on
//! several ([`RailNetwork`](crate::RailNetwork)). The links of each rail are numbered after those of the rail before.

use std::num::NonZero;
use std::sync::Arc;

use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};

use super::{FlowRouting, HostId, Link, LinkChange, LinkId, NoRouters, RoutePeriod, RouterGraph, Topology};

/// The rails of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rails {
    /// The number of rails.
    pub count: NonZero<u32>,
    /// The rail that a message takes.
    pub choice: RailChoice,
}

/// The rail that a message between two hosts takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RailChoice {
    /// The first rail for messages of up to this size. Larger messages are striped: a part of equal size takes each rail.
    Size {
        /// The size of the largest message that takes the first rail alone.
        small: Bytes,
    },
    /// The rail of the sending rank: its number modulo the number of rails.
    Rank,
    /// Each rail in turn, for the messages of each sending rank.
    RoundRobin,
}

impl Rails {
    /// A single rail.
    pub const ONE: Self = Self { count: NonZero::<u32>::MIN, choice: RailChoice::Rank };

    /// The numbers of the rails.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        0..self.count.get()
    }
}

/// A machine whose hosts are on several rails.
#[derive(Debug)]
pub struct MultiRail {
    /// The topology of each rail.
    rail: Box<dyn Topology>,
    rails: Rails,
    links: Vec<Link>,
    changes: Vec<LinkChange>,
}

impl MultiRail {
    /// A machine with these rails, each of which is a copy of `rail`.
    #[must_use]
    pub fn new(rail: Box<dyn Topology>, rails: Rails) -> Self {
        let of_rail = rail.links().len() as u32;
        let links = rails.numbers().flat_map(|_| rail.links().iter().copied()).collect();
        let change = |number: u32, change: &LinkChange| LinkChange {
            link: LinkId(change.link.0 + number * of_rail),
            ..change.clone()
        };
        let changes =
            rails.numbers().flat_map(|number| rail.changes().iter().map(move |of_one| change(number, of_one)));
        Self { changes: changes.collect(), links, rails, rail }
    }

    /// The rail of a link, and the link among those of its rail.
    fn place(&self, link: LinkId) -> (u32, LinkId) {
        let of_rail = (self.rail.links().len() as u32).max(1);
        (link.0 / of_rail, LinkId(link.0 % of_rail))
    }
}

impl Topology for MultiRail {
    fn name(&self) -> String {
        format!("{} with {} rails", self.rail.name(), self.rails.count)
    }

    fn hosts(&self) -> u32 {
        self.rail.hosts()
    }

    fn host_name(&self, host: HostId) -> String {
        self.rail.host_name(host)
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn changes(&self) -> &[LinkChange] {
        &self.changes
    }

    fn link_name(&self, link: LinkId) -> String {
        let (rail, link) = self.place(link);
        match self.rail.is_loopback(link) {
            true => self.rail.link_name(link),
            false => format!("rail-{rail} {}", self.rail.link_name(link)),
        }
    }

    fn link_class(&self, link: LinkId) -> String {
        self.rail.link_class(self.place(link).1)
    }

    fn is_loopback(&self, link: LinkId) -> bool {
        self.rail.is_loopback(self.place(link).1)
    }

    /// The route on the first rail.
    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.rail.route(from, to, route);
    }

    fn route_changes(&self) -> &[Time] {
        self.rail.route_changes()
    }

    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.rail.route_in(period, from, to, route);
    }

    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        self.rail.spread(period, from, to, parts);
    }

    fn route_flows(&mut self, routing: FlowRouting) -> bool {
        self.rail.route_flows(routing)
    }

    fn failures(&self, period: RoutePeriod) -> String {
        self.rail.failures(period)
    }

    fn distance(&self, from: HostId, to: HostId) -> Seconds {
        self.rail.distance(from, to)
    }

    /// The routers of the first rail.
    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        self.rail.router_graph()
    }

    fn rails(&self) -> Rails {
        self.rails
    }
}

/// One rail of a machine, as a topology. Its links are numbered from 0.
#[derive(Debug)]
pub struct OneRail {
    whole: Arc<dyn Topology>,
    links: Vec<Link>,
    changes: Vec<LinkChange>,
    /// The number of its first link among all links.
    first: u32,
}

impl OneRail {
    /// A rail of a machine by its number.
    #[must_use]
    pub fn of(whole: Arc<dyn Topology>, number: u32) -> Self {
        let of_rail = links_of_rail(&*whole);
        let first = number * of_rail;
        let own = first..first + of_rail;
        let changes = whole.changes().iter().filter(|change| own.contains(&change.link.0));
        let changes = changes.map(|change| LinkChange { link: LinkId(change.link.0 - first), ..change.clone() });
        Self {
            changes: changes.collect(),
            links: whole.links()[own.start as usize..own.end as usize].to_vec(),
            first,
            whole,
        }
    }
}

/// The number of links of each rail.
#[must_use]
pub(crate) fn links_of_rail(topology: &dyn Topology) -> u32 {
    topology.links().len() as u32 / topology.rails().count
}

impl Topology for OneRail {
    fn name(&self) -> String {
        self.whole.name()
    }

    fn hosts(&self) -> u32 {
        self.whole.hosts()
    }

    fn host_name(&self, host: HostId) -> String {
        self.whole.host_name(host)
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn changes(&self) -> &[LinkChange] {
        &self.changes
    }

    fn link_name(&self, link: LinkId) -> String {
        self.whole.link_name(LinkId(self.first + link.0))
    }

    fn link_class(&self, link: LinkId) -> String {
        self.whole.link_class(LinkId(self.first + link.0))
    }

    fn is_loopback(&self, link: LinkId) -> bool {
        self.whole.is_loopback(LinkId(self.first + link.0))
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.whole.route(from, to, route);
    }

    fn route_changes(&self) -> &[Time] {
        self.whole.route_changes()
    }

    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.whole.route_in(period, from, to, route);
    }

    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        self.whole.spread(period, from, to, parts);
    }

    fn failures(&self, period: RoutePeriod) -> String {
        self.whole.failures(period)
    }

    fn distance(&self, from: HostId, to: HostId) -> Seconds {
        self.whole.distance(from, to)
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        self.whole.router_graph()
    }
}
