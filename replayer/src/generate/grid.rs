//! Ranks in a grid. Rank `x₀ + d₀·(x₁ + d₁·x₂)` has the coordinates x, like the hosts of a torus.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use titr_network::topology::{Edge, Lattice};

use super::Impossible;

/// The number of ranks along each of one to three dimensions: `8x8x4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimensions(Vec<u32>);

/// A text that names no dimensions.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no grid of one to three dimensions such as 64, 8x8 or 4x4x4")]
pub struct NoDimensions(String);

impl FromStr for Dimensions {
    type Err = NoDimensions;

    fn from_str(text: &str) -> Result<Self, NoDimensions> {
        let sizes = text.split('x').map(|size| size.trim().parse().ok().filter(|&size: &u32| size > 0));
        let sizes: Option<Vec<u32>> = sizes.collect();
        let places = |sizes: &Vec<u32>| sizes.iter().try_fold(1_u32, |places, &size| places.checked_mul(size));
        let sizes = sizes.filter(|sizes| sizes.len() <= 3 && places(sizes).is_some());
        sizes.map(Self).ok_or_else(|| NoDimensions(text.to_owned()))
    }
}

impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&sizes.join("x"))
    }
}

/// A grid of these dimensions, checked against `ranks`; a row if only the number of ranks is given.
///
/// # Errors
/// If the dimensions contain another number of ranks.
pub fn grid(ranks: u32, dimensions: Option<&Dimensions>, edge: Edge) -> Result<Lattice, Impossible> {
    let Some(dimensions) = dimensions else { return Ok(Lattice::new(&[ranks], edge)) };
    let lattice = Lattice::new(&dimensions.0, edge);
    let places = lattice.places();
    if places == ranks {
        Ok(lattice)
    } else {
        Err(Impossible::Places { dimensions: dimensions.clone(), places, ranks })
    }
}
