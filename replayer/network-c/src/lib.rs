//! The network models for simulators in C: `libtitrnetwork`, declared in `include/titrnetwork.h`.
//!
//! The other simulator owns the time. It injects messages, advances the network to a time of its own, and takes the messages
//! that have arrived by then. [`interface`] has the functions that C calls, with all that is `unsafe` about them;
//! [`driver`] has what they do.

mod driver;
pub mod interface;
