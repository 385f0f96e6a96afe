//! A front that moves through a mesh, from one corner to the opposite one, as in the solution of a triangular system or
//! a sweep of a transport equation.

use titr_common::units::Bytes;
use titr_network::topology::{Direction, Lattice};

use super::{Kernel, Script};

/// Each rank waits for those below it in each dimension, computes, and sends to those above. It then begins the next
/// iteration: there are as many concurrent fronts as the mesh is long.
#[derive(Clone, Debug)]
pub struct Wavefront {
    /// The neighbours of each rank, in a mesh.
    pub grid: Lattice,
    /// The payload of each message.
    pub bytes: Bytes,
}

impl Kernel for Wavefront {
    fn ranks(&self) -> u32 {
        self.grid.places()
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        let neighbours =
            |way| (0..self.grid.sizes().len()).filter_map(move |along| self.grid.neighbour(me, along, way));
        neighbours(Direction::Down).for_each(|from| script.recv(from, 0, self.bytes));
        script.pause();
        neighbours(Direction::Up).for_each(|to| script.send(to, 0, self.bytes));
    }
}
