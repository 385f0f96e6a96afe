//! Collectives (MPI 4.0 §6): their calls, and the messages of each member, by a library's algorithms or as they were recorded.

mod calls;
pub(super) mod collective;
pub(super) mod recorded;
mod steps;
