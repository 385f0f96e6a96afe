//! Networks that need not exist: topologies, and models of how messages travel between hosts.
//!
//! This crate is independent of MPI and of files. A [`Network`] model accepts messages between hosts and reports when
//! each arrives; [`topology`] describes links, routes and routers, and [`properties`] what follows from them, such as the
//! diameter; [`traffic`] drives a network with synthetic load.

pub mod flow;
pub mod ideal;
pub mod packet;
pub mod properties;
pub mod statistics;
pub mod topology;
pub mod traffic;

mod chance;
mod hosts;
mod ids;
mod indexed_heap;
mod network;
mod rails;
mod route_cache;

pub use chance::chance;
pub use hosts::HostNetwork;
pub use indexed_heap::{Deadline, TimerQueue};
pub use network::{
    Connection, JobOrLoadId, LinkLoad, Network, SharedWith, Transfer, TransferId, Unloaded, Unreachable,
};
pub use rails::{RailChooser, RailNetwork, Stripes};
