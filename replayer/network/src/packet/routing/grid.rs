//! Ways in tori and meshes.
//!
//! A packet counts at its host the steps to take along each dimension, which is a shortest way; where two are shortest
//! it takes either by chance. Port 2d leads up dimension d and port 2d + 1 down.
//!
//! **Dimension order**: all steps of one dimension before those of the next, on any virtual channel. Each direction of each
//! channel of a ring is a cycle of queues, which fills up and stands still if packets may fill it. The **bubble**
//! (V. Puente, C. Izu, R. Beivide, J. A. Gregorio, F. Vallejo, J. M. Prellezo, "The Adaptive Bubble Router", J. Parallel and
//! Distributed Computing 61(9), 2001) keeps one place free in it: a packet that goes on in its ring asks a queue with
//! room for one, a packet that enters — from its host, from another dimension or channel — one with room for two.
//! Meshes have no rings, and no bubbles.
//!
//! **Adaptive** (ibid.): channel 0 is the escape, that is as above; the others serve any dimension in which there are steps
//! left, with no restriction. A packet asks for the one of these that has most room; among equals, for the dimension that
//! it has most steps left in, as that keeps it free to choose for longest. Only where none has room it asks for the escape,
//! which it may leave again.

use super::{Arrival, Way, roomiest};
use crate::packet::packets::Packet;
use crate::topology::{Edge, Lattice};

/// Dimension order and adaptive routing.
#[derive(Clone, Debug)]
pub(in crate::packet) struct GridWays {
    lattice: Lattice,
    /// Of each router, one after the other: a table, as packets start more often than division is cheap.
    coordinates: Vec<i32>,
    adaptive: bool,
    channels: u32,
    /// Room that a packet needs to enter a ring.
    entry: u32,
}

impl GridWays {
    pub fn new(lattice: Lattice, adaptive: bool, channels: u32) -> Self {
        let entry = if lattice.edge() == Edge::Open { 1 } else { 2 };
        let mut coordinates = Vec::with_capacity(lattice.places() as usize * lattice.sizes().len());
        for mut place in 0..lattice.places() {
            for &size in lattice.sizes() {
                coordinates.push((place % size) as i32);
                place /= size;
            }
        }
        Self { lattice, coordinates, adaptive, channels, entry }
    }

    pub fn dimensions(&self) -> usize {
        self.lattice.sizes().len()
    }

    pub fn has_rings(&self) -> bool {
        self.lattice.edge() != Edge::Open
    }

    pub fn may_turn(&self) -> bool {
        self.adaptive
    }

    pub fn depart(&self, from: u32, packet: &Packet, steps: &mut [i32]) {
        let of = |router: u32| &self.coordinates[router as usize * steps.len()..];
        let differences = of(packet.goal).iter().zip(of(from)).map(|(to, from)| to - from);
        steps.iter_mut().zip(differences).for_each(|(step, difference)| *step = difference);
        self.lattice.shorten(packet.ties, steps);
    }

    pub fn step(port: u32, steps: &mut [i32]) {
        let taken = if port.is_multiple_of(2) { 1 } else { -1 };
        steps[port as usize / 2] -= taken;
    }

    pub fn settle(&self, steps: &[i32]) -> Option<u32> {
        if self.adaptive { None } else { next_in_order(steps) }
    }

    pub fn choose_channel(&self, port: u32, arrival: Arrival, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
        self.in_order(port, arrival, self.channels, room)
    }

    pub fn choose(&self, steps: &[i32], arrival: Arrival, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
        let (mut most, mut best) = ((0, 0), None);
        for (port, left) in open_ports(steps) {
            let Some(way) = roomiest(std::iter::once(port), 1..self.channels, &room) else { continue };
            let worth = (room(port, way.channel), left);
            if worth > most {
                (most, best) = (worth, Some(way));
            }
        }
        best.or_else(|| self.in_order(next_in_order(steps)?, arrival, 1, room))
    }

    /// The one of the first so many channels of a port that has most room, if it has enough.
    fn in_order(&self, port: u32, arrival: Arrival, channels: u32, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
        let (mut most, mut best) = (0, None);
        for channel in 0..channels {
            let (room, way) = (room(port, channel), Way { port, channel });
            let enough = if arrival == Some(way) { 1 } else { self.entry };
            if room >= enough && room > most {
                (most, best) = (room, Some(way));
            }
        }
        best
    }
}

/// The ports that take a step of those left, and how many such steps there are.
fn open_ports(steps: &[i32]) -> impl Iterator<Item = (u32, u32)> {
    let ports = (0..).zip(steps).map(|(dimension, &left)| (2 * dimension + u32::from(left < 0), left.unsigned_abs()));
    ports.filter(|&(_, left)| left > 0)
}

/// The port in the first dimension in which there are steps left.
fn next_in_order(steps: &[i32]) -> Option<u32> {
    let (dimension, left) = (0..).zip(steps).find(|&(_, &left)| left != 0)?;
    Some(2 * dimension + u32::from(*left < 0))
}
