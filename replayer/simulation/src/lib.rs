//! Replays what MPI programs asked of a machine on machines that need not exist.

pub mod convert;
pub mod models;
pub mod observe;
pub mod ranks;
pub mod replay;
pub mod workload;
