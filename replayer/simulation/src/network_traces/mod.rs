//! Network traces: the messages that entered a network, and the triggers of each, once they are found.
//!
//! V. Puente and others call it *trace-driven simulation with network feedback*: a trace of messages instead of a
//! program, in which a message names the message whose reception released it (its **trigger**) and the subsequent time
//! of its node (the **trigger delay**). In a replay on another network, a message is injected when its trigger has
//! arrived there, so a slow network slows down its own load.
//!
//! [`NetworkTrace`] reads such a file, and [`NetworkTraceWriter`] writes one; [`grammar`] describes the text. [`find_triggers`] finds the triggers of its messages by [`Rules`], and [`Feedback`]
//! releases the messages of a trace as their triggers arrive, independent of the network model.

mod feedback;
pub mod grammar;
mod message;
mod reader;
mod rules;
mod triggers;

pub use feedback::{Feedback, Released};
pub use message::{Kind, Label, NetworkTraceError, Node, TracedMessage, Trigger};
pub use reader::{NetworkTrace, NetworkTraceWriter};
pub use rules::Rules;
pub use triggers::{NoTriggers, TriggerCounts, TriggerSource, find_triggers};
