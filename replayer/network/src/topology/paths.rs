//! The links of a message: one path, or several equally short ones that share the message.

use serde::Deserialize;

use super::{HostId, LinkId, RoutePeriod, Topology};

/// The paths of flows, where packets can take several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowRouting {
    /// As the topology says: one path, except in trees that spread messages.
    #[default]
    Minimal,
    /// All shortest paths, evenly: the limit of packets that choose among ports that are equally full.
    Adaptive,
    /// Paths through all intermediate groups or routers, evenly (Valiant's routing).
    Valiant,
    /// A shortest path among those that never go up after they went down (up*/down* routing). In trees, as the topology says.
    UpDown,
}

/// The paths of a message from one host to another. Kept to be used again.
///
/// **Flows over several paths.** Where switches choose a port for each packet, the packets of a message take all paths. In
/// the limit of many packets, each path has an equal part of the message, so a rate r uses part · r of a link.
#[derive(Debug, Default)]
pub struct Paths {
    /// The links of a single path; empty if there are several.
    route: Vec<LinkId>,
    /// The links of several paths, each with the part of the message that takes it.
    parts: Vec<(LinkId, f64)>,
}

impl Paths {
    /// Becomes the paths between two hosts in a period.
    pub fn find(&mut self, topology: &dyn Topology, period: RoutePeriod, (from, to): (HostId, HostId)) {
        self.clear();
        topology.spread(period, from, to, &mut self.parts);
        merge(&mut self.parts);
        if self.parts.is_empty() {
            topology.route_in(period, from, to, &mut self.route);
        }
    }

    /// Becomes no path.
    pub(crate) fn clear(&mut self) {
        self.route.clear();
        self.parts.clear();
    }

    /// The links with the part of the message that takes each. If there are several paths, each link comes once.
    pub fn parts(&self) -> impl Iterator<Item = (LinkId, f64)> {
        self.route.iter().map(|&link| (link, 1.0)).chain(self.parts.iter().copied())
    }

    /// Whether the message takes no link.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.route.is_empty() && self.parts.is_empty()
    }

    /// Whether there are several paths.
    #[must_use]
    pub(crate) fn are_several(&self) -> bool {
        !self.parts.is_empty()
    }
}

/// Adds the parts of each link.
pub(crate) fn merge(parts: &mut Vec<(LinkId, f64)>) {
    parts.sort_by_key(|&(link, _)| link);
    parts.dedup_by(|(link, part), (kept, sum)| {
        let is_same = link == kept;
        *sum += if is_same { *part } else { 0.0 };
        is_same
    });
}
