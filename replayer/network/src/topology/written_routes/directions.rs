//! Derives channels from links: the places between which the routes take each link, and the directions.
//!
//! A route leads from place to place: it begins at its host, each link begins where the link before it ends, and the
//! last link ends at the other host. A link that all routes take in one direction is one channel. A link that routes
//! take in both directions (half-duplex cables, limiters, a bus) is a channel for each direction, and these channels
//! share the link. Routes do not state the direction of a hop over a link. Two hops over one link are assumed to have
//! the same direction if they begin at the same place or end at the same place, except that a hop from one host to two
//! hosts is two channels: a bus has more than two ends.

use rustc_hash::FxHashMap;

use super::AllRoutes;
use crate::ids::ids;
use crate::topology::{HostId, LinkId, NoRouters, Topology};

ids! {
    /// A link in one direction: a channel from a router to another.
    ChannelId
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DirectedLink {
    pub link: LinkId,
    /// The place where it begins. Places below the number of hosts are hosts.
    pub begin: u32,
    /// The place that it ends at.
    pub end: u32,
}

/// The channels of all links, and those that each route takes.
pub(super) struct Channels {
    pub hosts: u32,
    /// In the order of their links.
    pub all: Vec<DirectedLink>,
    /// For each hop of all routes, one route after the other, its channel.
    hops: Vec<ChannelId>,
    /// The number of places, those that became one included.
    pub places: u32,
    /// Whether some link is more than one channel.
    pub is_half_duplex: bool,
}

impl Channels {
    pub(crate) fn of(routes: &AllRoutes) -> Self {
        Self::one_each(routes).unwrap_or_else(|| Self::by_places(routes))
    }

    /// A channel for each link, unless some link would begin where it ends, or some hosts would be at one place.
    fn one_each(routes: &AllRoutes) -> Option<Self> {
        let mut number = vec![ChannelId(0); routes.used.last().map_or(0, |last| last.index() + 1)];
        let mut places = Places::new(routes.hosts);
        let all = (0..).map(ChannelId).zip(&routes.used).map(|(id, &link)| {
            number[link.index()] = id;
            DirectedLink { link, begin: places.add(), end: places.add() }
        });
        let all: Vec<DirectedLink> = all.collect();
        let hops: Vec<ChannelId> = routes.links.iter().map(|link| number[link.index()]).collect();
        let channels = Self { hosts: routes.hosts, all, hops, places: places.count(), is_half_duplex: false };
        for (from, to, route) in channels.routes(routes) {
            let mut here = from.0;
            for &hop in route {
                let DirectedLink { begin, end, .. } = channels.all[hop.index()];
                if places.join(here, begin) == Joined::Hosts {
                    return None;
                }
                here = end;
            }
            if places.join(here, to.0) == Joined::Hosts {
                return None;
            }
        }
        let channels = channels.at(&mut places);
        channels.all.iter().all(|channel| channel.begin != channel.end).then_some(channels)
    }

    /// A channel for each place that a link leads from, and each that it leads to.
    fn by_places(routes: &AllRoutes) -> Self {
        let mut places = Places::new(routes.hosts);
        let mut number = FxHashMap::default();
        let mut all: Vec<DirectedLink> = Vec::new();
        let mut hops = Vec::with_capacity(routes.links.len());
        for (from, to, route) in routes.all() {
            let mut here = from.0;
            for (index, &link) in route.iter().enumerate() {
                let host = (index + 1 == route.len()).then_some(to);
                let id: &mut ChannelId = number.entry((here, link, host)).or_insert_with(|| {
                    all.push(DirectedLink { link, begin: here, end: host.map_or_else(|| places.add(), |host| host.0) });
                    ChannelId(all.len() as u32 - 1)
                });
                here = all[id.index()].end;
                hops.push(*id);
            }
        }
        while places.join_ends(&all) {}
        let channels = Self { hosts: routes.hosts, all, hops, places: places.count(), is_half_duplex: true };
        channels.at(&mut places).without_duplicates()
    }

    fn at(mut self, places: &mut Places) -> Self {
        for channel in &mut self.all {
            (channel.begin, channel.end) = (places.find(channel.begin), places.find(channel.end));
        }
        self
    }

    /// Makes one of channels that have the same link and the same ends, and sorts them by their links.
    fn without_duplicates(self) -> Self {
        let mut order: Vec<ChannelId> = (0..self.all.len() as u32).map(ChannelId).collect();
        order.sort_by_key(|id| self.all[id.index()].link);
        let mut number = FxHashMap::default();
        let (mut all, mut new) = (Vec::new(), vec![ChannelId(0); self.all.len()]);
        for id in order {
            let DirectedLink { link, begin, end } = self.all[id.index()];
            new[id.index()] = *number.entry((link, begin, end)).or_insert_with(|| {
                all.push(self.all[id.index()]);
                ChannelId(all.len() as u32 - 1)
            });
        }
        let is_half_duplex = all.windows(2).any(|two| two[0].link == two[1].link);
        Self { all, hops: self.hops.iter().map(|id| new[id.index()]).collect(), is_half_duplex, ..self }
    }

    /// The channels that the route between each two hosts takes in each period, in the order of [`AllRoutes::all`].
    pub(crate) fn routes<'a>(
        &'a self,
        routes: &'a AllRoutes,
    ) -> impl Iterator<Item = (HostId, HostId, &'a [ChannelId])> {
        let route = |ends: &[usize]| &self.hops[ends[0]..ends[1]];
        super::pairs(self.hosts)
            .cycle()
            .zip(routes.first.windows(2).map(route))
            .map(|((from, to), route)| (from, to, route))
    }

    /// Finds fault with channels that begin where they end, and with routes that pass a place twice.
    pub(crate) fn check<T: Topology + ?Sized>(&self, topology: &T, routes: &AllRoutes) -> Result<(), NoRouters> {
        if let Some(channel) = self.all.iter().find(|channel| channel.begin == channel.end) {
            return Err(NoRouters(format!(
                "by its routes, `{}` begins where it ends: packets pass no link both at a host and on their way through the \
                 host",
                topology.link_name(channel.link)
            )));
        }
        let mut places = Vec::new();
        for (from, to, route) in self.routes(routes) {
            places.clear();
            places.extend(route.iter().map(|id| self.all[id.index()].end));
            places.push(from.0);
            places.sort_unstable();
            if places.windows(2).any(|places| places[0] == places[1]) {
                return Err(NoRouters(format!(
                    "the route from host {} to host {} passes a router twice",
                    from.0, to.0
                )));
            }
        }
        Ok(())
    }
}

/// Sets of places that are one and the same. Hosts come first, so that the place of a host has the number of the host.
struct Places {
    hosts: u32,
    parent: Vec<u32>,
}

/// The result of merging two places.
#[derive(PartialEq, Eq)]
enum Joined {
    /// They were different and are merged.
    Now,
    /// They were already merged.
    Before,
    /// They stay separate because they belong to two hosts.
    Hosts,
}

impl Places {
    fn new(hosts: u32) -> Self {
        Self { hosts, parent: (0..hosts).collect() }
    }

    fn count(&self) -> u32 {
        self.parent.len() as u32
    }

    /// A place that is none of the others.
    fn add(&mut self) -> u32 {
        self.parent.push(self.count());
        self.count() - 1
    }

    /// The representative of a place among all merged places.
    fn find(&mut self, mut place: u32) -> u32 {
        while self.parent[place as usize] != place {
            let parent = self.parent[place as usize];
            self.parent[place as usize] = self.parent[parent as usize];
            place = parent;
        }
        place
    }

    fn join(&mut self, one: u32, other: u32) -> Joined {
        let (one, other) = (self.find(one), self.find(other));
        if one == other {
            return Joined::Before;
        }
        if one.max(other) < self.hosts {
            return Joined::Hosts;
        }
        self.parent[one.max(other) as usize] = one.min(other);
        Joined::Now
    }

    /// Merges the ends of channels of one link that begin at one place, and the beginnings of those that end at one
    /// place. Returns whether any two places were merged.
    fn join_ends(&mut self, channels: &[DirectedLink]) -> bool {
        let mut joined = false;
        let (mut ends, mut beginnings) = (FxHashMap::default(), FxHashMap::default());
        for channel in channels {
            let (begin, end) = (self.find(channel.begin), self.find(channel.end));
            joined |= self.join(*ends.entry((channel.link, begin)).or_insert(end), end) == Joined::Now;
            joined |= self.join(*beginnings.entry((channel.link, end)).or_insert(begin), begin) == Joined::Now;
        }
        joined
    }
}
