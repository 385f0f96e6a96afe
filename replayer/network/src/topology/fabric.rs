//! Routers and the channels between them: a topology as a packet meets it.
//!
//! A **router** has numbered **ports**; from each a channel leads to another router, or to nothing, where the grid ends. A
//! **host** sits at one router: in a grid it is its node's other half, under switches it hangs by a cable of its own.

use thiserror::Error;

use super::{Lattice, LinkId, Shape, Stage};

/// Routers, channels and hosts.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Where the ports of each router begin; one entry more than there are routers.
    first_port: Vec<u32>,
    ports: Vec<Port>,
    /// By host.
    pub sockets: Vec<Socket>,
    /// How ways are found in it.
    pub plan: Plan,
    /// Where each host's own link is that carries its messages to itself, if there are such links: the first of them.
    pub loopback: Option<LinkId>,
}

/// A port of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The router that its channel leads to, if it leads anywhere.
    pub to: Option<u32>,
    /// The link that the channel is, or is part of.
    pub link: LinkId,
}

/// Where a host sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    /// The router.
    pub router: u32,
    /// The links to it and from it, where the two are not one.
    pub cable: Option<(LinkId, LinkId)>,
}

/// What finding a way needs to know of the structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Routers are the places of a lattice. Port 2d leads up dimension d, port 2d + 1 down.
    Grid(Lattice),
    /// Routers are switches, numbered level by level from the lowest. Ports lead first down: child by child, and those to
    /// one child side by side; then up: parent by parent, and those to one parent likewise.
    Tree(Vec<Stage>),
    /// Routers are blades, numbered as [`Dragonfly`](super::Dragonfly) does. Ports are in the order of [`Shape`]'s bundles:
    /// green ones by blade, black ones by chassis, and then blue ones by group if the blade has any.
    Dragonfly(Shape),
}

/// Why a topology is none of routers that packets could pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NoFabric(pub &'static str);

impl Fabric {
    /// A fabric of the routers that have these ports.
    pub(super) fn new(routers: impl IntoIterator<Item = Vec<Port>>, sockets: Vec<Socket>, plan: Plan) -> Self {
        let (mut first_port, mut ports) = (vec![0], Vec::new());
        for of_one in routers {
            ports.extend(of_one);
            first_port.push(ports.len() as u32);
        }
        Self { first_port, ports, sockets, plan, loopback: None }
    }

    /// How many routers there are.
    #[must_use]
    pub fn routers(&self) -> u32 {
        self.first_port.len() as u32 - 1
    }

    /// The ports of a router.
    #[must_use]
    pub fn ports(&self, router: u32) -> &[Port] {
        let place = |router: u32| self.first_port[router as usize] as usize;
        &self.ports[place(router)..place(router + 1)]
    }
}
