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
mod grammar;
mod reader;
mod rules;
mod triggers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use thiserror::Error;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_document::Mistake;

pub use feedback::{Feedback, Released};
pub use reader::{NetworkTrace, NetworkTraceWriter};
pub use rules::Rules;
pub use triggers::{NoTriggers, TriggerCounts, TriggerSource, find_triggers};

/// The name of a message: no other message of the trace has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u64);

/// A node of the traced network, from 0: a host, or anything else that sends and receives there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

/// The kind of a message, a word such as `eager`. Rules for triggers go by it, a replay does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Arc<str>);

impl Kind {
    /// The kind of this name, if it is one word of letters, digits, `-`, `_` and `.`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (!name.is_empty() && name.bytes().all(is_plain)).then(|| Self(name.into()))
    }

    /// The name of the kind.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// A message whose reception a message waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The message that has to be received first.
    pub label: Label,
    /// The time from that reception until the message that waits is generated.
    pub delay: Time,
}

/// A message of a network trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedMessage {
    /// The name of the message.
    pub label: Label,
    /// The node that sends it.
    pub from: Node,
    /// The node that receives it, perhaps the same.
    pub to: Node,
    /// The payload.
    pub bytes: Bytes,
    /// The kind of the message.
    pub kind: Kind,
    /// When its node injected it into the network.
    pub generated: Time,
    /// When it arrived; `None` if it was still in transit at the end.
    pub arrived: Option<Time>,
    /// The address in memory that a message of a coherence protocol is about.
    pub address: Option<u64>,
    /// The messages whose reception released this one in the simulation that recorded it, if known.
    pub causes: Vec<Trigger>,
    /// The messages that this one waits for; it is generated when the last of their delays is over. None: it is generated
    /// at its own time.
    pub after: Vec<Trigger>,
    /// The number of messages that wait for this one.
    pub triggers: u32,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A network trace that cannot be read, or that is invalid.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum NetworkTraceError {
    #[error("{path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("{path}:{line}: {what}")]
    Line { path: PathBuf, line: u64, what: String },
    #[error("{path}: torn after line {line}: {reason}. Record the trace again")]
    Torn { path: PathBuf, line: u64, reason: String },
    /// Rules that are wrong.
    #[error(transparent)]
    Rules(#[from] Mistake),
    /// Messages that do not fit together.
    #[error("{path}: {what}")]
    Messages { path: PathBuf, what: String },
}

impl NetworkTraceError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }
}
