//! Predicts how long an MPI program takes on a machine that need not exist, by replaying a trace of it.
//!
//! ```
//! use titr_simulation::{Platform, Simulation, Trace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let platform = Platform::load("../../examples/cluster16.toml".as_ref(), &[])?;
//! let trace = Trace::open("../../examples/ring.txt".as_ref())?;
//!
//! let result = Simulation::new(&platform, &trace).compute_scale(0.5).run()?;
//!
//! println!("{} s on a {}", result.simulated_time.0, result.network.topology);
//! for (rank, shares) in result.per_rank.iter().enumerate() {
//!     println!("rank {rank} computes for {} s and is done after {} s", shares.compute.0, shares.finish.0);
//! }
//! println!("{}", serde_json::to_string(&result)?);
//! # assert_eq!((result.ranks, result.messages), (4, 4));
//! # Ok(())
//! # }
//! ```
//!
//! A [`Simulation`] combines a [`Platform`], a [`Trace`] and options. Its [`SimulationResult`] is plain data that
//! serialises. An [`observe::Observer`] follows a replay event by event.

mod cpu_time;
mod dry_run;
mod efficiencies;
mod jobs;
pub mod network_traces;
mod noise;
mod normalisation;
pub mod observe;
pub mod parallel;
pub mod ranks;
mod recorded_speed;
pub mod recording;
pub mod replay;
pub mod result;
mod shared_network;
mod simulation;
pub mod spread;
pub mod traffic;
pub mod triggered;
mod uncertainty;
mod warnings;

pub use dry_run::{DryRun, dry_run, relies_on_buffers};
pub use efficiencies::Efficiencies;
pub use jobs::{JobResult, SharedLink};
pub use noise::Draw;
pub use normalisation::Comparison;
pub use ranks::{Causality, NEVER_COMPLETED};
pub use replay::ReplayProgress;
pub use result::SimulationResult;
pub use simulation::{PreparedReplay, Simulation, SimulationError};
pub use titr_common::trace::Trace;
pub use titr_platform::Platform;
pub use titr_workload::Computation;
pub use warnings::{uncounted_computation, unfinished};
