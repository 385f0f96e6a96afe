//! Nearest neighbours: the exchanges of a domain divided into boxes in each time step.

use titr_common::units::Bytes;
use titr_network::topology::{Direction, Lattice};

use super::{Kernel, Script};

/// Each rank exchanges a message with each of its neighbours in a mesh or a torus. In a ring of two, they are each
/// other's neighbours on both sides.
#[derive(Clone, Debug)]
pub struct Stencil {
    /// The neighbours of each rank.
    pub grid: Lattice,
    /// The payload of each message: a face.
    pub bytes: Bytes,
}

impl Kernel for Stencil {
    fn ranks(&self) -> u32 {
        self.grid.places()
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        let ways = || (0..self.grid.sizes().len()).flat_map(|along| [(along, Direction::Up), (along, Direction::Down)]);
        script.pause();
        // A tag says which way the message goes: two may go to the same neighbour.
        for (tag, (along, way)) in (0..).zip(ways()) {
            if let Some(from) = self.grid.neighbour(me, along, way.opposite()) {
                script.irecv(from, tag, self.bytes);
            }
        }
        for (tag, (along, way)) in (0..).zip(ways()) {
            if let Some(to) = self.grid.neighbour(me, along, way) {
                script.isend(to, tag, self.bytes);
            }
        }
        script.waitall();
    }
}
