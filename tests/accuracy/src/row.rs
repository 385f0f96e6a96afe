//! A row of the table: a pattern in a configuration, measured and predicted.

use std::error::Error;
use std::path::Path;

use titr_simulation::{Computation, Trace};

use crate::calibration::Calibration;
use crate::configuration::Configuration;
use crate::machine;
use crate::measured::Measured;
use crate::program::Program;
use crate::sections::Sections;

/// A pattern in a configuration, measured and predicted.
#[derive(Clone, Debug)]
pub struct Row {
    /// The times that were measured.
    pub measured: Measured,
    /// The configuration of the lab.
    pub configuration: Configuration,
    /// The prediction of the flow model, in seconds.
    flow: f64,
    /// The prediction of the packet model, in seconds.
    packet: f64,
}

impl Row {
    /// The signed error of a prediction, as a fraction of the measured time.
    pub fn error(&self, predicted: f64) -> f64 {
        predicted / self.measured.median() - 1.0
    }

    /// The prediction of the flow model, in seconds.
    pub fn flow(&self) -> f64 {
        self.flow
    }

    /// The prediction of the packet model, in seconds.
    pub fn packet(&self) -> f64 {
        self.packet
    }

    /// The error of the prediction by flow, without its sign.
    pub fn size_of_error(&self) -> f64 {
        self.error(self.flow).abs()
    }
}

/// The rows of a program in a configuration.
pub fn predicted(
    results: &Path,
    program: Program,
    configuration: &Configuration,
    calibration: &Calibration,
) -> Result<Vec<Row>, Box<dyn Error>> {
    let directory = program.traces(configuration);
    let trace = Trace::open(&results.join(&directory))?;
    let traced = Measured::read(&results.join(program.sections(configuration)))?;
    let predict = |model: &str| -> Result<Vec<f64>, Box<dyn Error>> {
        let platform = machine::platform(calibration, configuration, model)?;
        Sections::replayed(&platform, &trace, Computation::Counted, program.mark())
    };
    let (flow, packet) = (predict("flow")?, predict("packet")?);
    let mut rows = Vec::new();
    for measured in Measured::read(&results.join(program.measured()).join(configuration.to_string()))? {
        let place = traced.iter().position(|traced| traced.pattern == measured.pattern);
        let place = place.map(|place| program.unmeasured() + place);
        let found = place.and_then(|place| Some((*flow.get(place)?, *packet.get(place)?)));
        let (flow, packet) = found.ok_or_else(|| format!("{} is not in {directory}", measured.pattern))?;
        rows.push(Row { measured, configuration: configuration.clone(), flow, packet });
    }
    Ok(rows)
}
