//! The devices of a network, and the channels and cables between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::topology::{HostId, LinkId, RouterGraph, RouterId};

/// Hosts and routers, and the channels between them.
#[derive(Clone, Debug)]
pub struct DeviceGraph {
    /// The number of routers.
    pub routers: u32,
    /// The router that each host is attached to, or is a node with.
    pub hosts: Vec<RouterId>,
    /// The channels, each once.
    pub channels: Vec<LinkEnds>,
}

/// A host or a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Device {
    /// A router, or a node that is router and host.
    Router(RouterId),
    /// A host with a cable to its router.
    Host(HostId),
}

/// A link from one device to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkEnds {
    /// The device at its beginning.
    pub from: Device,
    /// The device at its end.
    pub to: Device,
    /// The link. A cable that both directions share is one link.
    pub link: LinkId,
}

/// A cable between two devices: a link for each direction that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableEnds {
    /// One end.
    pub one: Device,
    /// The other end.
    pub other: Device,
    /// The link from the one end to the other.
    pub there: Option<LinkId>,
    /// The link back.
    pub back: Option<LinkId>,
}

impl CableEnds {
    /// Whether it joins two routers.
    #[must_use]
    pub fn is_between_routers(&self) -> bool {
        [self.one, self.other].iter().all(|end| matches!(end, Device::Router(_)))
    }
}

impl DeviceGraph {
    /// The devices of a graph of routers, and the channels that work at the start of a run.
    #[must_use]
    pub fn of(graph: &RouterGraph) -> Self {
        let mut channels = BTreeSet::new();
        for from in graph.routers() {
            let channel = |(to, link)| LinkEnds { from: Device::Router(from), to: Device::Router(to), link };
            channels.extend(graph.working_ports(from).map(channel));
        }
        for (host, attachment) in (0..).map(|host| Device::Host(HostId(host))).zip(graph.hosts()) {
            let router = Device::Router(attachment.router);
            if let Some((up, down)) = attachment.cable {
                channels.insert(LinkEnds { from: host, to: router, link: up });
                channels.insert(LinkEnds { from: router, to: host, link: down });
            }
        }
        Self {
            routers: graph.routers().count() as u32,
            hosts: graph.hosts().iter().map(|host| host.router).collect(),
            channels: channels.into_iter().collect(),
        }
    }

    /// The cables: the channels of two devices in one direction, each with one in the other direction as long as there is one.
    #[must_use]
    pub fn cables(&self) -> Vec<CableEnds> {
        let mut links: BTreeMap<(Device, Device), [Vec<LinkId>; 2]> = BTreeMap::new();
        for &LinkEnds { from, to, link } in &self.channels {
            let (ends, is_back) = if from <= to { ((from, to), false) } else { ((to, from), true) };
            links.entry(ends).or_default()[usize::from(is_back)].push(link);
        }
        let of_two = |((one, other), [there, back]): ((Device, Device), [Vec<LinkId>; 2])| {
            let count = there.len().max(back.len());
            (0..count).map(move |number| CableEnds {
                one,
                other,
                there: there.get(number).copied(),
                back: back.get(number).copied(),
            })
        };
        links.into_iter().flat_map(of_two).collect()
    }

    /// The number of routers that are not only hosts: where some have no host, one with a host and a single neighbour is one.
    #[must_use]
    pub fn routers_beside_hosts(&self) -> u32 {
        let hosts = self.hosts_of_routers();
        let is_host = |(&hosts, neighbours): (&u32, &Vec<_>)| hosts == 1 && neighbours.len() == 1;
        let only_hosts = hosts.iter().zip(&self.neighbours()).filter(|&node| is_host(node)).count() as u32;
        self.routers - if hosts.contains(&0) { only_hosts } else { 0 }
    }

    /// The hosts at each router.
    #[must_use]
    pub fn hosts_of_routers(&self) -> Vec<u32> {
        let mut hosts = vec![0; self.routers as usize];
        self.hosts.iter().for_each(|router| hosts[router.index()] += 1);
        hosts
    }

    /// For each router, the routers at the ends of its channels with the links there.
    pub(super) fn neighbours(&self) -> Vec<Vec<(RouterId, LinkId)>> {
        let mut neighbours = vec![Vec::new(); self.routers as usize];
        for channel in &self.channels {
            if let (Device::Router(from), Device::Router(to)) = (channel.from, channel.to) {
                neighbours[from.index()].push((to, channel.link));
            }
        }
        neighbours
    }

    /// The hosts without a cable at a router without a channel, of a network of several hosts.
    #[must_use]
    pub fn isolated_hosts(&self) -> Vec<HostId> {
        let mut is_wired = vec![false; self.routers as usize];
        for channel in &self.channels {
            for device in [channel.from, channel.to] {
                if let Device::Router(router) = device {
                    is_wired[router.index()] = true;
                }
            }
        }
        let hosts = (0..).map(HostId).zip(&self.hosts);
        let isolated = hosts.filter(|(_, router)| !is_wired[router.index()] && self.hosts.len() > 1);
        isolated.map(|(host, _)| host).collect()
    }
}
