//! The inside of a host: the levels that its cores form, and the messages between them.
//!
//! A message between two ranks of a host takes the innermost level that holds both cores. It has the level's latency, at
//! most the level's bandwidth of one message, and shares the level's total bandwidth with all messages that stay within the
//! same part of the host. Ranks copy messages through caches while the buffers of the call fit into a core's part of them;
//! otherwise, the message also takes the memory of the host, whose bandwidth all such messages share.

use titr_common::units::{Bytes, Seconds};

use super::{HostId, Link, LinkId, Sharing, Topology};

/// The inside of each host.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Cores of a host.
    pub cores: u32,
    /// The levels from the inside outwards, of which the last holds all cores.
    pub levels: Vec<Level>,
    /// The part of the caches that a core has.
    pub cache: Bytes,
    /// Bytes per second that messages through the memory of a host share; `None`: without limit.
    pub memory: Option<f64>,
}

/// A level of a host, such as its sockets.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Its name in results.
    pub name: String,
    /// Cores of each part of the host at this level.
    pub cores: u32,
    /// Latency of a message.
    pub latency: Seconds,
    /// Bytes per second of one message.
    pub bandwidth: f64,
    /// Bytes per second that all messages within one part share; `None`: without limit.
    pub shared: Option<f64>,
}

/// Where a message between ranks of one host goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// The number of the sender's core in its host.
    pub from: u32,
    /// The number of the receiver's core in its host.
    pub to: u32,
    /// The size of all buffers of the call at a rank.
    pub working_set: Bytes,
}

impl Node {
    /// Parts of a host at a level.
    #[must_use]
    pub fn parts(&self, level: &Level) -> u32 {
        self.cores.div_ceil(level.cores.max(1)).max(1)
    }

    /// Parts of a host at all levels.
    fn places(&self) -> u32 {
        self.levels.iter().map(|level| self.parts(level)).sum()
    }

    /// The links of a host, with their names: one for each part at each level, and one for its memory.
    #[must_use]
    pub fn links(&self) -> Vec<(String, Link)> {
        let of_level = |level: &Level| {
            let parts = self.parts(level);
            let link = match level.shared {
                Some(bandwidth) => Link { bandwidth, latency: Seconds(0.0), sharing: Sharing::Shared },
                None => Link { bandwidth: level.bandwidth, latency: Seconds(0.0), sharing: Sharing::FatPipe },
            };
            let name = level.name.clone();
            (0..parts).map(move |part| (if parts > 1 { format!("{name}-{part}") } else { name.clone() }, link))
        };
        let memory = self.memory.map(|bandwidth| {
            ("memory".to_owned(), Link { bandwidth, latency: Seconds(0.0), sharing: Sharing::Shared })
        });
        self.levels.iter().flat_map(of_level).chain(memory).collect()
    }

    /// The place of the outermost level among the links of a host.
    #[must_use]
    pub fn outermost(&self) -> usize {
        (self.places() as usize).saturating_sub(1)
    }

    /// The place of a message among the places of a host, and whether it goes through memory.
    fn place(&self, Inside { from, to, working_set }: Inside) -> (u32, bool) {
        let mut first = 0;
        let outermost = self.levels.len().saturating_sub(1);
        for (number, level) in self.levels.iter().enumerate() {
            let cores = level.cores.max(1);
            if number == outermost {
                break;
            }
            if from / cores == to / cores && from < self.cores {
                first += from / cores;
                break;
            }
            first += self.parts(level);
        }
        (first, self.memory.is_some() && working_set > self.cache)
    }
}

/// The insides of all hosts, as a topology whose hosts are the places of messages: a message goes from a place to itself.
#[derive(Debug)]
pub(crate) struct NodeTopology {
    node: Node,
    hosts: u32,
    /// The links of each host, and then a bound on one message for each level.
    links: Vec<Link>,
    names: Vec<String>,
    /// The level of each place of a host.
    level_of: Vec<u32>,
}

impl NodeTopology {
    pub(crate) fn new(node: Node, hosts: u32) -> Self {
        let (names, own): (Vec<_>, Vec<_>) = node.links().into_iter().unzip();
        let mut links: Vec<Link> = (0..hosts).flat_map(|_| own.iter().copied()).collect();
        links.extend(node.levels.iter().map(|&Level { bandwidth, latency, .. }| Link {
            bandwidth,
            latency,
            sharing: Sharing::FatPipe,
        }));
        let level_of = (0..).zip(&node.levels).flat_map(|(number, level)| (0..node.parts(level)).map(move |_| number));
        Self { level_of: level_of.collect(), node, hosts, links, names }
    }

    /// The place of a message in a host.
    pub(crate) fn place(&self, host: HostId, inside: Inside) -> HostId {
        let (place, through_memory) = self.node.place(inside);
        HostId((host.0 * self.node.places() + place) * 2 + u32::from(through_memory))
    }
}

impl Topology for NodeTopology {
    fn name(&self) -> String {
        "hosts".to_owned()
    }

    fn hosts(&self) -> u32 {
        self.hosts * self.node.places() * 2
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        let own = self.names.len();
        let name = self.names.get(link.index() % own.max(1));
        format!("node-{} {}", link.index() / own.max(1), name.map_or("", String::as_str))
    }

    fn is_within_hosts(&self) -> bool {
        true
    }

    fn route(&self, from: HostId, _to: HostId, route: &mut Vec<LinkId>) {
        let (own, places) = (self.names.len() as u32, self.node.places());
        let (place, through_memory) = (from.0 / 2, from.0 % 2 == 1);
        let (host, place) = (place / places, place % places);
        route.push(LinkId(host * own + place));
        if through_memory {
            route.push(LinkId(host * own + own - 1));
        }
        route.push(LinkId(self.hosts * own + self.level_of[place as usize]));
    }
}
