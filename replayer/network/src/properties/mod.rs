//! Properties of a network as a graph: devices and cables, distances, lengths of routes, and the bisection.

mod bisection;
mod device_graph;
mod distances;

pub use bisection::{Bisection, bisection};
pub use device_graph::{CableEnds, Device, DeviceGraph, LinkEnds};
pub use distances::{Distances, RouteLengths, distances, route_lengths};
