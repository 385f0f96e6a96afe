//! Replays what MPI programs asked of a machine on machines that need not exist.

pub mod network;
pub mod platform;
pub mod time;
pub mod topology;
