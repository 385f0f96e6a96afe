//! The sensitivities that replays find: with a little more and less of each parameter, on all links and on those of each class.

use serde_json::{Value, json};
use titr_common::time::Time;

use super::run::{Replays, cores};
use super::{Simulation, SimulationError};
use crate::sensitivity::{Parameter, STEP, link_classes, scaled};

/// The factors of a parameter, of which two replays tell the sensitivity to it.
const FACTORS: [f64; 2] = [1.0 + STEP, 1.0 - STEP];

impl Simulation<'_> {
    /// Adds to the sensitivities of a critical path what two replays say of each, with a little more and less of its
    /// parameter; and those to the latency and the bandwidth of each class of links, which only replays tell.
    pub(super) fn check(&self, path: &mut Value, replays: &Replays, time: Time) -> Result<(), SimulationError> {
        let platform = self.platform;
        let classes = link_classes(platform);
        let mut asked: Vec<(Parameter, Option<&str>)> = Parameter::ALL.map(|parameter| (parameter, None)).to_vec();
        for class in &classes {
            asked.extend([Parameter::Latency, Parameter::Bandwidth].map(|parameter| (parameter, Some(class.as_str()))));
        }
        let times = self.jobs.map(FACTORS.len() * asked.len(), |number| {
            let (parameter, class) = asked[number / FACTORS.len()];
            let factor = FACTORS[number % FACTORS.len()];
            let Some(platform) = scaled(platform, parameter, class, factor) else { return Ok(None) };
            let run = replays.run(0, &platform, &cores(&platform, replays.trace.ranks())?, Vec::new(), None)?;
            Ok::<_, SimulationError>(Some(run.outcome.simulated_time.seconds().0))
        })?;
        let elasticity = |times: &[Option<f64>]| match *times {
            [Some(more), Some(less)] => Some((more - less) / (2.0 * STEP * time.seconds().0)),
            _ => None,
        };
        let found = asked.iter().zip(times.chunks(FACTORS.len()).map(elasticity));
        let Some(all) = path["sensitivities"].as_array_mut() else { return Ok(()) };
        for (at, (&(parameter, class), replays)) in found.enumerate() {
            let Some(replays) = replays else { continue };
            match class {
                None => all[at]["replays"] = replays.into(),
                Some(links) => all.push(json!({"parameter": parameter, "links": links, "replays": replays})),
            }
        }
        Ok(())
    }
}
