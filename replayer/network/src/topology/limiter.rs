//! Limiters: the total bandwidth of a device over all its cables and both directions (SimGrid's `limiter_link`).

use std::ops::Range;

use titr_common::units::Seconds;

use super::{Link, LinkId, Sharing};

/// A link for each device of a topology, that every message through the device takes; or none.
#[derive(Clone, Debug, Default)]
pub(super) struct Limiters {
    links: Range<u32>,
}

impl Limiters {
    /// Adds such links for `devices` devices to `links`.
    pub(super) fn lay(devices: u32, bandwidth: f64, links: &mut Vec<Link>) -> Self {
        let first = links.len() as u32;
        links.extend((0..devices).map(|_| Link { bandwidth, latency: Seconds(0.0), sharing: Sharing::Shared }));
        Self { links: first..first + devices }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The one of a device.
    pub(super) fn of(&self, device: u32) -> Option<LinkId> {
        self.links.clone().nth(device as usize).map(LinkId)
    }

    /// The device that a link is the limiter of.
    pub(super) fn device(&self, link: LinkId) -> Option<u32> {
        self.links.contains(&link.0).then(|| link.0 - self.links.start)
    }
}
