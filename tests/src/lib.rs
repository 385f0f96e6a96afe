//! Code shared by the end-to-end tests: building the programs in `programs/`, running them with and without the tracer
//! under a real `mpirun`, and reading the traces.

mod counts;
mod extended;
mod family;
mod run;
mod trace;

pub use counts::Counts;
pub use extended::{EXTENDED, Recorded, extended, extended_only, like, no_blocking_collective_is_opaque, recorded};
pub use family::{Family, build};
pub use run::{
    Run, Traced, assert_sound, binary, built, library, milestones, replay, replay_with, run, traced, traced_alone,
    traced_as, traced_only, traced_with,
};
pub use trace::lines;
