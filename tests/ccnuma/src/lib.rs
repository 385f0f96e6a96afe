//! A study, not a general simulator: shared-memory programs on a machine with cache-coherent non-uniform memory access
//! (cc-NUMA), whose messages a network model carries. Its load responds to the network, and is the reference for
//! replays of network traces.
//!
//! Each node has a processor, a private cache, and a part of the memory, for whose lines it is the **home**. A
//! directory at the home knows the copies of each line. The protocol is MESI with a blocking directory: the home
//! handles one request for a line at a time, and answers once owners and other copies have answered it.
//!
//! [`programs`] compute real results, which gives the accesses of each node; [`Machine`] executes them in simulated
//! time.

mod cache;
mod causes;
mod directory;
mod event;
mod machine;
mod message;
mod node;
mod processor;
pub mod programs;
mod recorder;

pub use machine::{Machine, MachineError, MachineResult};
pub use recorder::Recorder;
