//! Networks that need not exist: how hosts are cabled, and models of how messages travel between them.
//!
//! Nothing here knows of MPI or of files. A [`Network`] model is handed messages between hosts and says when each arrives;
//! [`topology`] describes links, routes and routers; [`traffic`] drives a network with synthetic load.

pub mod flow;
pub mod ideal;
pub mod packet;
pub mod statistics;
pub mod topology;
pub mod traffic;

mod chance;
mod ids;
mod indexed_heap;
mod network;
mod ordered_float;
mod route_cache;
mod timer_queue;

pub use network::{Connection, LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};
