//! Properties of a network as a graph: devices and cables, distances, lengths of routes, and the bisection.

mod bisection;
mod device_graph;
mod distances;
mod routes;

pub use bisection::{Bisection, bisection};
pub use device_graph::{CableEnds, Device, DeviceGraph, LinkEnds};
pub use distances::{Distances, distances};
pub use routes::{RouteLengths, route_lengths};
