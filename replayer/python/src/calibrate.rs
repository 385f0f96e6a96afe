//! `titr.calibrate`.

use std::path::PathBuf;

use pyo3::prelude::*;
use titr_calibration::{Calibration, Measurements, NamedTopology, output};
use titr_replayer::cli::Failure;
use titr_simulation::StopRequest;

use crate::error::error;
use crate::interruptible;

/// Fits a platform to measurements, and returns the text of the platform file.
///
/// measurements: the path of the file that `titr-calibrate --measurements` wrote.
/// topology: the topology, as `titr calibrate --topology` takes it, such as "torus=4x4".
/// trace: the path of an extended trace of a program, from which the speed of a core is taken.
#[pyfunction]
#[pyo3(signature = (measurements, *, topology="star", trace=None))]
pub(crate) fn calibrate(
    py: Python<'_>,
    measurements: PathBuf,
    topology: &str,
    trace: Option<PathBuf>,
) -> PyResult<String> {
    let topology: NamedTopology = topology.parse().map_err(|why| error(py, format!("topology: {why}")))?;
    interruptible::run(py, &StopRequest::default(), || {
        let measurements = Measurements::load(&measurements)?;
        let rate = trace.as_deref().map(output::rate).transpose()?;
        Ok::<_, Failure>(Calibration::of(&measurements, &topology, rate.as_ref())?.cluster)
    })
}
