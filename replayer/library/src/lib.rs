//! Reads traces of MPI programs, and predicts how long the programs take on a machine that need not exist.
//!
//! This crate names what a program that uses titr needs. The crates behind it have more, which may change at any time.
//!
//! # Read a trace
//!
//! A trace gives the events of each rank in their order, from files of any format that titr reads.
//!
//! ```
//! use titr::{Event, Rank};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let trace = titr::open(&["../../examples/ring.txt"])?;
//! let (mut events, mut instructions) = (trace.stream(Rank(0))?, 0.0);
//! while let Some(event) = events.next_event()? {
//!     if let Event::Compute(volume) = event {
//!         instructions += volume.0;
//!     }
//! }
//! assert_eq!((trace.ranks(), instructions), (4, 1e6));
//! # Ok(())
//! # }
//! ```
//!
//! # Replay it
//!
//! A [`Simulation`] combines a [`Platform`] and a [`Trace`]. An [`AnalysedSimulation`] explains the result, which is plain
//! data.
//!
//! ```
//! use titr::{AnalysedSimulation, Platform, Simulation};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let trace = titr::open(&["../../examples/ring.txt"])?;
//! let platform = Platform::load("../../examples/cluster16.toml".as_ref(), &["hosts.speed=2 Ginstr/s".into()])?;
//! let platform = platform.for_trace(&trace); // The library that recorded the trace, if the platform names none.
//! let result = AnalysedSimulation::new(Simulation::new(&platform, &trace)).analyse("wait-states").run()?;
//! println!("{} s on a {}", result.simulated_time.0, result.network.topology);
//!
//! let findings = result.analyses.and_then(|findings| findings.wait_states).ok_or("no wait states")?;
//! let late_sender = findings.patterns.iter().find(|found| found.pattern == titr::Pattern::LateSender);
//! println!("{} s of waiting for late senders", late_sender.map_or(0.0, |found| found.seconds.0));
//! # Ok(())
//! # }
//! ```
//!
//! # Observe it
//!
//! An [`Observer`] is called for each step of a replay. Its callbacks do nothing unless they are written.
//!
//! ```
//! use titr::{Bytes, Departure, Observer, Platform, Simulation, Time};
//!
//! /// The largest message, and when it entered the network.
//! #[derive(Default)]
//! struct Largest(Bytes, Time);
//!
//! impl Observer for Largest {
//!     fn injected(&mut self, now: Time, message: Departure) {
//!         if message.bytes > self.0 {
//!             *self = Self(message.bytes, now);
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let trace = titr::open(&["../../examples/ring.txt"])?;
//! let platform = Platform::load("../../examples/cluster16.toml".as_ref(), &[])?;
//! let mut largest = Largest::default();
//! Simulation::new(&platform, &trace).observe(&mut largest).run()?;
//! assert_eq!(largest.0, Bytes(1_000_000));
//! # Ok(())
//! # }
//! ```

pub use titr_analyses::{
    ANALYSES, AnalysedResult, AnalysedSimulation, AnalysisError, CriticalPath, Findings, Pattern, WaitFindings,
};
pub use titr_common::event::{Activity, CommId, Event, Mark, Rank, Tag};
pub use titr_common::time::Time;
pub use titr_common::trace::{Manifest, RankStream, Trace, TraceError};
pub use titr_common::units::{Bytes, Instructions, Seconds};
pub use titr_formats::input::open;
pub use titr_network::TransferId;
pub use titr_platform::Platform;
pub use titr_simulation::observe::{
    CollectiveCall, CollectiveId, Departure, Observer, OperationId, Receive, SentMessage, Shares, Waiter,
};
pub use titr_simulation::parallel::Jobs;
pub use titr_simulation::{Causality, Computation, Simulation, SimulationError, SimulationResult};
