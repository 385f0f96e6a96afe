//! Routing in tori and meshes.
//!
//! At its host, a packet is given the number of steps along each dimension, of a shortest path; if two are shortest, it
//! is a random one of them. Port 2d leads up dimension d and port 2d + 1 down.
//!
//! **Dimension order** (`dor`): all steps of one dimension before those of the next, on any virtual channel. Each
//! direction of each channel of a ring is a cycle of queues, which deadlocks if packets may fill it. The **bubble** (V.
//! Puente, C. Izu, R. Beivide, J. A. Gregorio, F. Vallejo, J. M. Prellezo, "The Adaptive Bubble Router", J. Parallel
//! and Distributed Computing 61(9), 2001) keeps one place in it free: a packet that continues in its ring requests a
//! queue with room for one packet, and a packet that enters — from its host, from another dimension or channel — a
//! queue with room for two. Meshes have no rings, and no bubbles.
//!
//! **Adaptive** (`adaptive`, ibid.): channel 0 is the escape channel, which is routed as above; the others serve any
//! dimension with steps left, without restriction. A packet requests the one of these with most room; among equals, the
//! dimension in which it has most steps left, because this preserves its choice for longest. Only if none has room, it
//! requests the escape channel, which it may leave again.

use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable, roomiest};
use crate::topology::{ChannelIndex, Edge, Lattice, PortIndex, RouterGraph, RouterId};

/// Dimension order and adaptive routing. The state of a packet is the steps left along each dimension.
#[derive(Clone, Debug)]
pub struct GridRouting {
    lattice: Lattice,
    /// The coordinates of each router, one after the other: looking them up is faster than division.
    coordinates: Vec<i32>,
    adaptive: bool,
    channels: u32,
    /// Room that a packet needs to enter a ring.
    entry: u32,
}

const ADAPTIVE: &str = "adaptive";

impl BuildRouting for GridRouting {
    const NAMES: &'static [&'static str] = &["dor", ADAPTIVE];

    fn suits(graph: &RouterGraph) -> bool {
        graph.geometry::<Lattice>().is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let Some(lattice) = graph.geometry::<Lattice>().cloned() else {
            return Err(Unroutable::Impossible("routers are not the places of a grid".to_owned()));
        };
        let adaptive = options.is_named(ADAPTIVE);
        let channels = options.virtual_channels.unwrap_or(if adaptive { 3 } else { 1 });
        if adaptive && channels < 2 {
            return Err(Unroutable::Impossible(
                "adaptive routing needs a virtual channel beside the escape channel".to_owned(),
            ));
        }
        let entry = if lattice.edge() == Edge::Open { 1 } else { 2 };
        let mut coordinates = Vec::with_capacity(lattice.places() as usize * lattice.sizes().len());
        for mut place in 0..lattice.places() {
            for &size in lattice.sizes() {
                coordinates.push((place % size) as i32);
                place /= size;
            }
        }
        Ok(Self { lattice, coordinates, adaptive, channels, entry })
    }
}

impl Routing for GridRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn state_words(&self) -> usize {
        self.lattice.sizes().len()
    }

    fn has_rings(&self) -> bool {
        self.lattice.edge() != Edge::Open
    }

    fn has_alternatives(&self) -> bool {
        self.adaptive
    }

    fn depart(&self, from: RouterId, header: &Header, steps: &mut [i32]) {
        let of = |router: RouterId| &self.coordinates[router.index() * steps.len()..];
        let differences = of(header.destination).iter().zip(of(from)).map(|(to, from)| to - from);
        steps.iter_mut().zip(differences).for_each(|(step, difference)| *step = difference);
        self.lattice.shorten(header.random, steps);
    }

    fn fixed_output(&self, _at: RouterId, _header: &Header, steps: &[i32]) -> Option<PortIndex> {
        if self.adaptive { None } else { next_in_order(steps) }
    }

    fn choose_channel(
        &self,
        port: PortIndex,
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        self.in_order(port, arrival, self.channels, room)
    }

    fn choose(
        &self,
        _at: RouterId,
        _header: &Header,
        steps: &[i32],
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let (mut most, mut best) = ((0, 0), None);
        for (port, left) in open_ports(steps) {
            let Some(vc) = roomiest(std::iter::once(port), 1..self.channels, &room) else { continue };
            let worth = (room(port, vc.channel), left);
            if worth > most {
                (most, best) = (worth, Some(vc));
            }
        }
        best.or_else(|| self.in_order(next_in_order(steps)?, arrival, 1, room))
    }

    fn hop(&self, port: PortIndex, _to: RouterId, steps: &mut [i32]) {
        let taken = if port.0.is_multiple_of(2) { 1 } else { -1 };
        steps[port.index() / 2] -= taken;
    }
}

impl GridRouting {
    /// The channel with most room among the first `channels` channels of a port, if it has enough.
    fn in_order(
        &self,
        port: PortIndex,
        arrival: Option<OutputVc>,
        channels: u32,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let (mut most, mut best) = (0, None);
        for channel in (0..channels).map(ChannelIndex) {
            let (room, vc) = (room(port, channel), OutputVc { port, channel });
            let enough = if arrival == Some(vc) { 1 } else { self.entry };
            if room >= enough && room > most {
                (most, best) = (room, Some(vc));
            }
        }
        best
    }
}

/// The ports that take a step of those left, and how many such steps there are.
fn open_ports(steps: &[i32]) -> impl Iterator<Item = (PortIndex, u32)> {
    let ports = (0..)
        .zip(steps)
        .map(|(dimension, &left)| (PortIndex(2 * dimension + u32::from(left < 0)), left.unsigned_abs()));
    ports.filter(|&(_, left)| left > 0)
}

/// The port in the first dimension in which there are steps left.
fn next_in_order(steps: &[i32]) -> Option<PortIndex> {
    let (dimension, left) = (0..).zip(steps).find(|&(_, &left)| left != 0)?;
    Some(PortIndex(2 * dimension + u32::from(*left < 0)))
}
