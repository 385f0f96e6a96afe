//! Cables between two devices of a topology, and the links that each consists of.

use std::ops::Range;

use serde::Deserialize;
use titr_common::units::Seconds;

use super::{Link, LinkId, Sharing};

/// The kind of all cables of a topology, unless the topology says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cable {
    /// Bytes per second, of each direction of a full-duplex cable.
    pub bandwidth: f64,
    /// End-to-end latency.
    pub latency: Seconds,
    /// The sharing of bandwidth between its two directions.
    pub duplex: Duplex,
}

/// The sharing of a cable's bandwidth between its two directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// No sharing: there is a link for each direction (SimGrid's SPLITDUPLEX).
    #[default]
    Full,
    /// They share one link, as on a bus (SHARED).
    Half,
    /// They are one link, which messages never share (FATPIPE).
    FatPipe,
}

/// A direction of a cable. Which is "up" is the topology's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named as it is.
pub enum Direction {
    Up,
    Down,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// The two ends of a cable in the order in which a message passes them; a cable without directions counts as up.
    pub(super) fn in_order<T>(direction: Option<Self>, lower: T, upper: T) -> (T, T) {
        match direction {
            Some(Self::Up) | None => (lower, upper),
            Some(Self::Down) => (upper, lower),
        }
    }
}

impl Cable {
    /// Lays `count` such cables: their links, cable by cable.
    pub(super) fn lay(&self, count: u32) -> Vec<Link> {
        let (links_each, sharing) = match self.duplex {
            Duplex::Full => (2, Sharing::Shared),
            Duplex::Half => (1, Sharing::Shared),
            Duplex::FatPipe => (1, Sharing::FatPipe),
        };
        let link = Link { bandwidth: self.bandwidth, latency: self.latency, sharing };
        vec![link; count as usize * links_each]
    }

    /// The link that carries `direction` of the cable laid as number `cable`.
    pub(super) fn link(&self, cable: u32, direction: Direction) -> LinkId {
        match (self.duplex, direction) {
            (Duplex::Full, Direction::Up) => LinkId(2 * cable),
            (Duplex::Full, Direction::Down) => LinkId(2 * cable + 1),
            (Duplex::Half | Duplex::FatPipe, _) => LinkId(cable),
        }
    }

    /// The links of the cable laid as number `cable`, up and down.
    pub(super) fn both_ways(&self, cable: u32) -> (LinkId, LinkId) {
        (self.link(cable, Direction::Up), self.link(cable, Direction::Down))
    }

    /// The cable that a link belongs to, and its direction where it has only one.
    pub(super) fn of_link(&self, link: LinkId) -> (u32, Option<Direction>) {
        match self.duplex {
            Duplex::Full if link.0.is_multiple_of(2) => (link.0 / 2, Some(Direction::Up)),
            Duplex::Full => (link.0 / 2, Some(Direction::Down)),
            Duplex::Half | Duplex::FatPipe => (link.0, None),
        }
    }
}

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

    pub(super) fn of(&self, device: u32) -> Option<LinkId> {
        self.links.clone().nth(device as usize).map(LinkId)
    }

    pub(super) fn device(&self, link: LinkId) -> Option<u32> {
        self.links.contains(&link.0).then(|| link.0 - self.links.start)
    }
}
