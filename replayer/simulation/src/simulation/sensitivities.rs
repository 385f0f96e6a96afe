//! The sensitivities that replays find: with a little more and less of each parameter, on all links and on those of each class.

use titr_common::time::Time;

use super::run::{Replays, cores};
use super::{Simulation, SimulationError};
use crate::observe::{CriticalPath, Sensitivity};
use crate::sensitivity::{Parameter, STEP, link_classes, scaled};

/// The factors of a parameter, of which two replays tell the sensitivity to it.
const FACTORS: [f64; 2] = [1.0 + STEP, 1.0 - STEP];

impl Simulation<'_> {
    /// Adds to the sensitivities of a critical path what two replays say of each, with a little more and less of its
    /// parameter; and those to the latency and the bandwidth of each class of links, which only replays tell.
    pub(super) fn check(
        &self,
        CriticalPath { sensitivities, .. }: &mut CriticalPath,
        replays: &Replays,
        time: Time,
    ) -> Result<(), SimulationError> {
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
        for (&(parameter, class), replays) in found {
            let of_all = |found: &&mut Sensitivity| found.parameter == parameter && found.links.is_none();
            match (class, sensitivities.iter_mut().find(of_all)) {
                (None, Some(known)) => known.replays = replays,
                _ if replays.is_none() => {}
                _ => {
                    sensitivities.push(Sensitivity { parameter, links: class.map(str::to_owned), path: None, replays })
                }
            }
        }
        Ok(())
    }
}
