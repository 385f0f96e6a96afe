//! The time that MPI's rules give to programs, a module for each subject, in one program so that the library is linked
//! once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod causality;
mod files;
mod graph;
mod inter;
mod nodes;
mod observers;
mod one_sided;
mod one_sided_networks;
mod oracle;
mod packet_links;
mod packet_traces;
mod partitioned;
mod progress;
mod properties;
mod semantics;
mod servers;
mod spread;
mod threads;
mod within_hosts;
