//! How hosts are cabled: links, and the route between two hosts. Shared by all network models.

mod cable;
mod dragonfly;
mod explicit;
mod fabric;
mod fat_tree;
mod grid;
mod lattice;
mod limiter;
mod loopback;
mod shortest;
mod star;

use std::fmt::Debug;

use serde::Deserialize;
use titr_common::units::Seconds;

pub use cable::{Cable, Direction, Duplex};
pub use dragonfly::{Dragonfly, Shape};
pub use explicit::{Explicit, Piece, Routes};
pub use fabric::{Fabric, NoFabric, Plan, Port, Socket};
pub use fat_tree::{FatTree, Stage};
pub use grid::Grid;
pub use lattice::{Edge, Lattice};
pub use loopback::WithLoopback;
pub use star::Star;

/// A host, numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A link of a topology, numbered from 0. A cable used in both directions at full rate is two links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// The place of its entry in a table of all links.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How flows share a link's bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// The rates of all flows sum to at most the bandwidth.
    #[default]
    Shared,
    /// Each flow has at most the bandwidth (SimGrid's FATPIPE): an ideal backbone.
    FatPipe,
}

/// A link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes per second.
    pub bandwidth: f64,
    /// Time for the first bit to cross.
    pub latency: Seconds,
    /// How flows share it.
    pub sharing: Sharing,
}

/// How messages are routed, where SimGrid does otherwise than it means to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    /// On the shortest way that the topology's definition says.
    #[default]
    Minimal,
    /// As SimGrid 3.32 does.
    SimGrid,
}

/// Hosts and the links between them.
pub trait Topology: Debug + Send + Sync {
    /// What it is, for reports: `torus 4×4×4`.
    fn name(&self) -> String;

    /// How many hosts it has.
    fn hosts(&self) -> u32;

    /// Its links, by number.
    fn links(&self) -> &[Link];

    /// What to call a link in reports: `node-3 up`, `node-5 +x`.
    fn link_name(&self, link: LinkId) -> String;

    /// Appends to `route` the links that a message from one host to another takes, in order. A host has a route to
    /// itself where messages can turn round at the first switch; where there is no such switch, nothing is appended.
    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>);

    /// The routers that packets pass in it, if that is what it is made of.
    ///
    /// # Errors
    /// Why it is not.
    fn fabric(&self) -> Result<Fabric, NoFabric> {
        Err(NoFabric("its links say nothing of routers between them"))
    }
}
