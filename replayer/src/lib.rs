//! Replays what MPI programs asked of a machine on machines that need not exist.

pub mod network;
pub mod observe;
pub mod platform;
pub mod ranks;
pub mod replay;
pub mod time;
pub mod topology;
pub mod workload;
