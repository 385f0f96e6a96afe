//! A row of the table: a pattern in a configuration, measured and predicted.

use std::error::Error;
use std::path::Path;

use titr_common::statistics::quantile;
use titr_simulation::parallel::Jobs;
use titr_simulation::{Computation, Draw, Trace};

use crate::calibration::Calibration;
use crate::configuration::{Configuration, Model};
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
    /// The prediction of each model, in seconds, in the order of [`Model`].
    predicted: [f64; 2],
    /// The interval of 90 % of the predictions of the model that suits the shape, in seconds.
    pub interval: [f64; 2],
}

/// The half of the rows to which a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// The rows by which models and calibration may be chosen.
    Tuned,
    /// The rows that nothing is chosen by.
    HeldOut,
}

/// The replays with random choices from which an interval comes.
const DRAWS: u32 = 40;

impl Row {
    /// The prediction of a model, in seconds.
    pub fn predicted(&self, model: Model) -> f64 {
        self.predicted[model as usize]
    }

    /// The signed error of a model's prediction, as a fraction of the measured time.
    pub fn error(&self, model: Model) -> f64 {
        self.predicted(model) / self.measured.median() - 1.0
    }

    /// The signed error of the model that suits the shape, as a fraction of the measured time.
    pub fn error_of_suited(&self) -> f64 {
        self.error(self.configuration.shape.model())
    }

    /// Whether the interval has the measured median.
    pub fn is_within(&self) -> bool {
        let [low, high] = self.interval;
        (low..=high).contains(&self.measured.median())
    }

    /// Half the width of the interval, as a fraction of the measured median.
    pub fn half_width(&self) -> f64 {
        (self.interval[1] - self.interval[0]) / 2.0 / self.measured.median()
    }

    /// The half that the row belongs to: by a hash of its name, so that the choice was made before anything was measured.
    pub fn half(&self) -> Half {
        let name = format!("{}-{}", self.measured.pattern, self.configuration);
        // FNV-1a.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        if (hash >> 32) & 1 == 0 { Half::Tuned } else { Half::HeldOut }
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
    let predict = |model: Model, draw: Option<Draw>| -> Result<Vec<f64>, Box<dyn Error>> {
        let mut platform = machine::platform(calibration, configuration, model, &[])?;
        if let Some(draw) = draw {
            platform = machine::platform(calibration, configuration, model, &draw.factors(&platform.spread))?;
        }
        Sections::replayed(&platform, &trace, Computation::Counted, program.mark(), draw)
    };
    let models = [predict(Model::Flow, None)?, predict(Model::Packet, None)?];
    let draws = Jobs::of_processors().map(DRAWS as usize, |number| {
        let draw = Draw { seed: 0, number: number as u32 };
        predict(configuration.shape.model(), Some(draw)).map_err(|error| error.to_string())
    })?;
    let mut rows = Vec::new();
    for measured in Measured::read(&results.join(program.measured()).join(configuration.to_string()))? {
        let place = traced.iter().position(|traced| traced.pattern == measured.pattern);
        let place = place.map(|place| program.unmeasured() + place);
        let missing = || format!("{} is not in {directory}", measured.pattern);
        let of = |times: &Vec<f64>| place.and_then(|place| times.get(place)).copied().ok_or_else(missing);
        let [flow, packet] = &models;
        let mut drawn = draws.iter().map(of).collect::<Result<Vec<f64>, _>>()?;
        drawn.sort_by(f64::total_cmp);
        let interval = [0.05, 0.95].map(|part| quantile(&drawn, part));
        let predicted = [of(flow)?, of(packet)?];
        rows.push(Row { measured, configuration: configuration.clone(), predicted, interval });
    }
    Ok(rows)
}
