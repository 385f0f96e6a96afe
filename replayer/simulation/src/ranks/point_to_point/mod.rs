//! Point-to-point messages (MPI 4.0 §3): which receive takes which message, when a message travels, and when its send completes.

pub(super) mod envelope;
pub(super) mod exchange;
mod half_duplex;
mod matching;
pub(super) mod protocol;
mod queues;
