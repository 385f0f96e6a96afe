//! Replays what MPI programs asked of a machine on machines that need not exist.

pub mod cli;
pub mod convert;
mod cpu;
pub mod generate;
pub mod inspect;
pub mod network;
pub mod observe;
pub mod platform;
pub mod ranks;
pub mod replay;
pub mod report;
pub mod schedule;
pub mod statistics;
pub mod time;
pub mod timeline;
pub mod topology;
pub mod traffic;
mod words;
pub mod workload;
