//! Changes of messages between two ranks, at both of their ends.
//!
//! Which messages a change is about is a matter of the sender: of its rank, of the region that it is in, of the tag and the
//! bytes that it sends. A receiver knows neither the region nor the bytes. So the survey notes for each channel (the
//! messages of one communicator from one rank to another with one tag) which of its messages are selected, in order.
//! MPI delivers the messages of a channel in the order in which they are sent (MPI 4.0 §3.5), so the receiver finds the
//! *n*-th message of the channel with the *n*-th receive that it posts for it. Where a receiver can tell by itself, as only
//! ranks, tag and communicator are selected, nothing is noted. For receives that leave their source or tag open, the survey
//! notes what they were matched with.
//!
//! Collectives are changed as a whole, by all of their members ([`collectives`]). One-sided and partitioned communication, and
//! persistent collectives, are left as they are.

mod agreement;
mod channel;
mod collectives;
mod filter;
mod follower;
mod merge;
mod nonblocking;
mod remove;
mod requests;
mod rewrite;
mod scale_messages;

pub use merge::MERGE_MESSAGES;
pub use nonblocking::NONBLOCKING;
pub use remove::REMOVE_MESSAGES;
pub use scale_messages::SCALE_MESSAGES;
