//! Properties of a network as a graph: devices and cables, distances, lengths of routes, and the bisection.

mod bisection;
mod distances;
mod routes;
mod wiring;

pub use bisection::{Bisection, bisection};
pub use distances::{Distances, distances};
pub use routes::{RouteLengths, route_lengths};
pub use wiring::{CableEnds, Device, LinkEnds, Wiring};
