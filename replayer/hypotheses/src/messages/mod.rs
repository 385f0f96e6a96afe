//! Changes of messages between two ranks, at both of their ends.
//!
//! The selection of messages depends on the sender: on its rank, its region, the tag and the number of bytes. A
//! receiver knows neither the region nor the bytes. The survey therefore records for each channel (the messages of one
//! communicator from one rank to another with one tag) which of its messages are selected, in order. MPI delivers the
//! messages of a channel in the order in which they are sent (MPI 4.0 §3.5), so the receiver gets the *n*-th message of
//! the channel with its *n*-th receive for it. If the receiver can evaluate the selection on its own, because it only
//! contains ranks, tag and communicator, nothing is recorded. For receives with a wildcard source or tag, the survey
//! records their matches.
//!
//! Collectives are changed as a whole, by all of their members ([`collectives`]). One-sided and partitioned
//! communication, and persistent collectives, do not change.

mod agreement;
mod collectives;
mod follower;
mod nonblocking;
mod rewrite;
mod sizes;
mod treatment;

pub(crate) use nonblocking::NONBLOCKING;
pub(crate) use sizes::{REMOVE_MESSAGES, SCALE_MESSAGES, scaled};
