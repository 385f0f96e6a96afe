//! Hypotheses: changes of a traced program, or of the machine that it runs on, whose effect a replay is to show.
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
//! [`Hypotheses`] is a transformation of traces. It reads a trace once for each change of the program before it changes
//! anything: to find that the change names ranks, regions and messages which are there, and to learn the facts of all
//! ranks that a change of one rank's events depends on. After that the events are changed as they stream by.
//! Changes of the machine ([`MachineChange`]) are data that a simulator carries out.
//!
//! **To add a kind**, write a file with a constant of type `Kind`, and name it in `KINDS`.

mod change;
mod computation;
mod hypotheses;
mod keys;
mod kind;
mod machine;
mod machine_change;
mod messages;
mod position;
mod rewriting;
mod selection;
mod source;

pub use change::Change;
pub use computation::Scope;
pub use hypotheses::{Hypotheses, HypothesesError};
pub use machine_change::{MachineChange, Network, Written};
pub use source::Mistake;
