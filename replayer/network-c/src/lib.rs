//! The network models for simulators in C: `libtitrnetwork`, declared in `include/titrnetwork.h`.
//!
//! The other simulator controls the time. It injects messages, advances the network to a given time, and takes the
//! messages that have arrived by then. [`interface`] has the functions that C calls, with all the `unsafe` code;
//! [`driver`] implements them.

mod driver;
pub mod interface;
