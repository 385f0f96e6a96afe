//! Makes a platform file of a machine's measurements: the flow model's parameters, fitted to how long messages took.
//!
//! 1. [`measurements`]: patterns of messages, each with the times that it took for several sizes. `titr-calibrate` takes
//!    them under MPI; they are plain data, so that a fit can be repeated where there is no MPI.
//! 2. [`eager`]: the size from which on a send waits for its receive, found by sends whose receive is late.
//! 3. [`segments`]: time as a function of size, in pieces that are straight lines.
//! 4. [`fit`]: the parameters of a platform, from what two ranks measured alone, and two ranks of one host.
//! 5. [`cluster`]: the platform file, for a [`topology`] that the user names.
//! 6. [`residuals`]: each pattern as a small trace, replayed on that platform and compared with what was measured. What
//!    the platform gets wrong though it was not fitted to it (many pairs at once) says how right the topology is.
//! 7. [`report`]: the file with comments, and [`picture`], the measured curves with the predicted ones.

pub mod calibration;
pub mod cluster;
pub mod compute;
pub mod eager;
pub mod fit;
pub mod measurements;
pub mod output;
pub mod picture;
mod programs;
pub mod report;
pub mod residuals;
pub mod robust;
pub mod segments;
pub mod topology;

pub use calibration::{Calibration, CalibrationError};
pub use measurements::Measurements;
pub use topology::NamedTopology;
