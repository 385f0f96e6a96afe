//! Facts about a program that follow from its events, for all readers: the operation of a request ([`RequestTable`]),
//! the identity and members of communicators ([`Communicators`]), the open regions ([`OpenRegions`]), and the messages
//! that a call implies. A [`Fault`] is an event that contradicts those before it.

mod communicators;
mod context;
mod fault;
mod implied;
mod members;
mod regions;
mod requests;
mod unrecorded;

pub use communicators::{CommIndex, Communicator, Communicators, Participation};
pub use context::Context;
pub use fault::{Fault, Place};
pub use implied::{agreement, agreements};
pub use members::Members;
pub use regions::OpenRegions;
pub use requests::{OpenRequest, RequestTable, Template};
pub use unrecorded::UnrecordedCalls;
