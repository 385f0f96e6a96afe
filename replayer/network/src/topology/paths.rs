//! The links of a message: one path, or several equally short ones that share the message.

use super::{HostId, LinkId, Topology};

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
    /// Becomes the paths between two hosts.
    pub fn find(&mut self, topology: &dyn Topology, (from, to): (HostId, HostId)) {
        self.clear();
        topology.spread(from, to, &mut self.parts);
        if self.parts.is_empty() {
            topology.route(from, to, &mut self.route);
        }
    }

    /// Becomes no path.
    pub(crate) fn clear(&mut self) {
        self.route.clear();
        self.parts.clear();
    }

    /// The links, each with the part of the message that takes it. A link may come more than once.
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
