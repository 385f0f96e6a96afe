//! Machines with several rails: each host has several network interfaces, each on a copy of the topology.
//!
//! A **rail** is such a copy with all its links. Rails have no link in common, so a message is on one rail, or in parts on
//! several ([`RailNetwork`](crate::RailNetwork)). The links of each rail are numbered after those of the rail before. Rails may
//! differ in the properties of links and in failures.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::Arc;

use titr_common::time::Time;
use titr_common::units::Bytes;

use super::{Failure, HostId, Link, LinkChange, LinkId, NoRouters, RoutePeriod, RouterGraph, Topology};

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
    /// The topology of each rail, or of all rails if they are the same.
    topologies: Vec<Box<dyn Topology>>,
    rails: Rails,
    links: Vec<Link>,
    changes: Vec<LinkChange>,
    /// The instants at which routes change on any rail.
    route_changes: Vec<Time>,
    failures: Vec<Failure>,
}

impl MultiRail {
    /// A machine with these rails. There is one topology for all rails, or one for each, with the same hosts and links.
    #[must_use]
    pub fn new(topologies: Vec<Box<dyn Topology>>, rails: Rails) -> Self {
        let each = |number: u32| &*topologies[number as usize % topologies.len()];
        let links = rails.numbers().flat_map(|number| each(number).links().iter().copied()).collect();
        let change = |number: u32, change: &LinkChange| {
            let link = LinkId(change.link.0 + number * each(number).links().len() as u32);
            LinkChange { link, ..change.clone() }
        };
        let changes =
            rails.numbers().flat_map(|number| each(number).changes().iter().map(move |of_one| change(number, of_one)));
        let changes = changes.collect();
        let route_changes: BTreeSet<Time> =
            topologies.iter().flat_map(|of_rail| of_rail.route_changes().iter().copied()).collect();
        let failures = failures(&topologies, rails.count.get());
        Self { route_changes: route_changes.into_iter().collect(), failures, changes, links, rails, topologies }
    }

    fn of_rail(&self, number: u32) -> &dyn Topology {
        &*self.topologies[number as usize % self.topologies.len()]
    }

    fn first(&self) -> &dyn Topology {
        self.of_rail(0)
    }

    /// The period of the first rail's routes at the begin of a period of all rails.
    fn first_period(&self, period: RoutePeriod) -> RoutePeriod {
        let begin = period.index().checked_sub(1).and_then(|change| self.route_changes.get(change));
        self.first().route_period(begin.copied().unwrap_or(Time::ZERO))
    }

    /// The rail of a link, and the link among those of its rail.
    fn place(&self, link: LinkId) -> (u32, LinkId) {
        let links = (self.first().links().len() as u32).max(1);
        (link.0 / links, LinkId(link.0 % links))
    }
}

/// The failures of all `rails`, each with the rail in its name if rails differ.
fn failures(topologies: &[Box<dyn Topology>], rails: u32) -> Vec<Failure> {
    let named = |(rail, of_rail): (u32, &dyn Topology)| -> Vec<Failure> {
        let name = |failure: &Failure| match topologies.len() {
            1 => failure.name.clone(),
            _ => format!("{} of rail {rail}", failure.name),
        };
        let links = of_rail.links().len() as u32;
        let affected = if topologies.len() == 1 { 0..rails } else { rail..rail + 1 };
        let of_rails = |failure: &Failure| {
            let of_rail = |rail| failure.links.iter().map(move |link| LinkId(link.0 + rail * links));
            affected.clone().flat_map(of_rail).collect()
        };
        let all = of_rail.failures().iter();
        all.map(|failure| Failure { name: name(failure), links: of_rails(failure), ..failure.clone() }).collect()
    };
    (0..).zip(topologies.iter().map(|of_rail| &**of_rail)).flat_map(named).collect()
}

impl Topology for MultiRail {
    fn inner(&self) -> Option<&dyn Topology> {
        Some(self.first())
    }

    fn name(&self) -> String {
        format!("{} with {} rails", self.first().name(), self.rails.count)
    }

    fn hosts(&self) -> u32 {
        self.first().hosts()
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn changes(&self) -> &[LinkChange] {
        &self.changes
    }

    fn link_name(&self, link: LinkId) -> String {
        let (rail, link) = self.place(link);
        match self.first().is_loopback(link) {
            true => self.first().link_name(link),
            false => format!("rail-{rail} {}", self.first().link_name(link)),
        }
    }

    fn link_class(&self, link: LinkId) -> String {
        let (rail, link) = self.place(link);
        self.of_rail(rail).link_class(link)
    }

    fn is_loopback(&self, link: LinkId) -> bool {
        self.first().is_loopback(self.place(link).1)
    }

    /// The route on the first rail.
    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.first().route(from, to, route);
    }

    fn route_changes(&self) -> &[Time] {
        &self.route_changes
    }

    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.first().route_in(self.first_period(period), from, to, route);
    }

    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        self.first().spread(self.first_period(period), from, to, parts);
    }

    fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The routers of the first rail.
    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        self.first().router_graph()
    }

    fn rails(&self) -> Rails {
        self.rails
    }

    fn rail(&self, number: u32) -> Option<&dyn Topology> {
        Some(self.of_rail(number))
    }

    fn rails_differ(&self) -> bool {
        self.topologies.len() > 1
    }
}

/// One rail of a machine, as a topology. Its links are numbered from 0.
#[derive(Debug)]
pub struct OneRail {
    whole: Arc<dyn Topology>,
    links: Vec<Link>,
    changes: Vec<LinkChange>,
    number: u32,
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
            number,
            first,
            whole,
        }
    }

    fn rail(&self) -> &dyn Topology {
        self.whole.rail(self.number).unwrap_or(&*self.whole)
    }
}

pub(crate) fn links_of_rail(topology: &dyn Topology) -> u32 {
    topology.links().len() as u32 / topology.rails().count
}

impl Topology for OneRail {
    fn inner(&self) -> Option<&dyn Topology> {
        Some(self.rail())
    }

    fn name(&self) -> String {
        self.whole.name()
    }

    fn hosts(&self) -> u32 {
        self.whole.hosts()
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
        self.rail().route(from, to, route);
    }

    fn failures(&self) -> &[Failure] {
        self.whole.failures()
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        self.rail().router_graph()
    }
}
