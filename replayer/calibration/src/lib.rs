//! Derives a platform file from a machine's measurements: the flow model's parameters, fitted to the times of messages.
//!
//! 1. [`measurements`]: patterns of messages, each with its times for several sizes. `titr-calibrate` takes them under
//!    MPI; they are plain data, so that a fit can be repeated without MPI.
//! 2. [`eager`]: the size from which on a send waits for its receive, found by sends with late receives.
//! 3. `buckets`: token buckets, found by the times of a ping-pong, and by `trains` of many messages in a row.
//! 4. `segments`: time as a piecewise linear function of size.
//! 5. `fit`: the parameters of a platform, from measurements of two ranks alone, and of two ranks on one host.
//! 6. `directions`: messages both ways at once; `host_links`: hosts of a star whose links differ.
//! 7. `noise`: detours, the spread of messages, and the uncertainty of the parameters, of which the file's comments have
//!    intervals.
//! 8. `cluster`: the platform file with its comments, for a `topology` named by the user.
//! 9. `residuals`: each pattern as a small trace, replayed on that platform and compared with the measurements.
//!    Errors in patterns that were not fitted (many pairs at once) show how well the topology fits.
//!
//! `runs` refines a platform by the times of whole runs. [`benchmarks`] reads the results of IMB and OSU's programs, and predicts
//! them.

pub mod benchmarks;
mod buckets;
pub mod calibration;
mod cluster;
mod compute;
mod directions;
pub mod eager;
mod events;
mod fit;
mod host_links;
pub mod measurements;
mod noise;
mod overheads;
mod residuals;
pub mod robust;
mod runs;
mod segments;
mod topology;
mod trains;

pub use calibration::{Calibration, CalibrationError};
pub use compute::{ComputeRate, NoRate};
pub use fit::NoPingPong;
pub use measurements::Measurements;
pub use runs::{RefineError, Refinement};
pub use topology::NamedTopology;
