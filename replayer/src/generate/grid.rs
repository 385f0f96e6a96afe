//! Ranks in a grid. Rank `x₀ + d₀·(x₁ + d₁·x₂)` has the coordinates x, like the hosts of a torus.

use titr_extrapolation::Grid;
use titr_network::topology::{Edge, Lattice};

use super::Impossible;

/// A grid of these dimensions, checked against `ranks`; a row if only the number of ranks is given.
///
/// # Errors
/// If the dimensions contain another number of ranks.
pub fn grid(ranks: u32, dimensions: Option<&Grid>, edge: Edge) -> Result<Lattice, Impossible> {
    let Some(dimensions) = dimensions else { return Ok(Lattice::new(&[ranks], edge)) };
    let lattice = Lattice::new(dimensions.sides(), edge);
    let places = lattice.places();
    if places == ranks {
        Ok(lattice)
    } else {
        Err(Impossible::Places { dimensions: dimensions.clone(), places, ranks })
    }
}
