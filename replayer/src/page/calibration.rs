//! The page of a calibration: the measured times of each pattern, and the platform's.

use std::io;
use std::path::Path;

use serde::Serialize;
use titr_calibration::Calibration;

use super::{with_charts, write_page};

/// Parts of the script, in the order in which they build on each other.
pub(super) const SCRIPTS: [&str; 3] = with_charts(include_str!("assets/calibration.js"));

/// The data of the page of a calibration.
#[derive(Serialize)]
struct CalibrationPage<'a> {
    version: &'static str,
    remarks: &'a [String],
    patterns: Vec<PatternTimes>,
}

/// A pattern of messages.
#[derive(Serialize)]
struct PatternTimes {
    title: String,
    /// The bytes of a message, and the measured and the predicted time in seconds.
    points: Vec<(u64, f64, f64)>,
}

/// Writes the page of a calibration.
pub(crate) fn write_calibration(calibration: &Calibration, path: &Path) -> io::Result<()> {
    let patterns = calibration.residuals.iter().map(|of| PatternTimes {
        title: of.title(),
        points: of.points.iter().map(|point| (point.bytes.0, point.measured, point.predicted)).collect(),
    });
    let page = CalibrationPage {
        version: env!("CARGO_PKG_VERSION"),
        remarks: &calibration.remarks,
        patterns: patterns.collect(),
    };
    write_page(&page, &SCRIPTS, path)
}
