//! Hypotheses: changes of a traced program, or of its machine, whose effect a replay shows.
//!
//! A file of hypotheses has tables `[[change]]`, which are applied in order. Each has a kind and the keys of that kind:
//!
//! ```
//! use std::path::Path;
//! use titr_hypotheses::Hypotheses;
//!
//! let text = "
//!     [[change]]
//!     kind = 'balance-compute'
//!     region = 'foo'
//! ";
//! let hypotheses = Hypotheses::parse(Path::new("changes.toml"), text.to_owned())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Hypotheses`] is a transformation of traces. For each change of the program, it first reads the trace once: to
//! check that the ranks, regions and messages named by the change exist, and to learn facts about all ranks that the
//! changes of one rank's events depend on. After that, it changes the events as they stream by. Changes of the machine
//! ([`MachineChange`]) are data that a simulator applies.
//!
//! **To add a kind**, write a file with a constant of type `Kind`, and name it in `KINDS`.

mod change;
mod computation;
mod hypotheses;
mod keys;
mod kind;
mod machine;
mod message_filter;
mod messages;
mod position;
mod rewriting;
mod selection;

pub use change::Change;
pub use computation::Scope;
pub use hypotheses::{Hypotheses, HypothesesError};
pub use kind::{MachineChange, Network, Written};
