//! Network traces: the messages that entered a network, and, once they are found, the triggers of each.
//!
//! V. Puente and others call it *trace-driven simulation with network feedback*: a trace of messages instead of a program,
//! in which a message names the one whose reception released it (its **trigger**) and the time that its node took from then
//! on (the **trigger delay**). Replayed on another network, a message is injected when its trigger has arrived there, so that
//! a slow network slows down the load that it is given.
//!
//! [`NetworkTrace`] reads such a file, [`Netrace`] one of that format, [`NetworkTraceWriter`] writes one; [`grammar`] describes the text.
//! [`find_triggers`] finds the triggers of its messages by [`Rules`], and
//! [`Feedback`] releases the messages of a trace as their triggers arrive, whatever carries them.

mod error;
mod feedback;
pub mod grammar;
mod lines;
mod message;
mod netrace;
mod reader;
mod rules;
mod triggers;
mod writer;

pub use error::NetworkTraceError;
pub use feedback::{Feedback, Released};
pub use message::{Kind, Label, Node, TracedMessage, Trigger};
pub use netrace::{Cycles, Netrace};
pub use reader::NetworkTrace;
pub use rules::Rules;
pub use triggers::{NoTriggers, TriggerCounts, TriggerSource, convert_netrace, find_triggers};
pub use writer::NetworkTraceWriter;
