//! `libtitrace.so`: preloaded into an MPI program, it records what the program asks of a machine.

pub mod config;
pub mod counter;
pub mod directory;
mod notice;
pub mod sink;
