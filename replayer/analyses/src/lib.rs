//! Explains replays.
//!
//! ```
//! use titr_analyses::AnalysedSimulation;
//! use titr_simulation::{Platform, Simulation, Trace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let platform = Platform::load("../../examples/cluster16.toml".as_ref(), &[])?;
//! let trace = Trace::open("../../examples/ring.txt".as_ref())?;
//!
//! let simulation = AnalysedSimulation::new(Simulation::new(&platform, &trace));
//! let result = simulation.analyse("critical-path").run()?;
//!
//! let path = result.analyses.and_then(|findings| findings.critical_path).ok_or("no critical path")?;
//! println!("{} s of {} s are computation", path.by_kind.compute.0, path.length.0);
//! # assert_eq!(path.length, result.simulated_time);
//! # Ok(())
//! # }
//! ```
//!
//! An [`Analysis`] is an observer of a replay whose [`Findings`] become part of the result. To add one, write it in a
//! file of this crate, name it in [`ANALYSES`], and add a field for its findings to [`Findings`].
//! [Sensitivities](AnalysedSimulation::check_sensitivities) need several replays.

mod analysed_simulation;
mod analysis;
mod apportionment;
mod causes;
mod critical_path;
mod findings;
pub mod interval;
mod matrix;
mod sensitivities;
mod wait_states;

pub use analysed_simulation::{ANALYSES, AnalysedResult, AnalysedSimulation, AnalysisError, apply_machine_changes};
pub use analysis::{Analysis, AnalysisKind};
pub use findings::{
    ByKind, CallSiteShare, CollectiveWaiting, CriticalPath, Findings, Pair, Parameter, Pattern, PatternTime,
    PlaceWaiting, ProgramPlace, RankShare, RankWaiting, RegionShare, SegmentKind, SegmentShare, Sensitivity, Visit,
    WaitCause, WaitFindings, WaitTime,
};
pub use sensitivities::scaled_platform;
