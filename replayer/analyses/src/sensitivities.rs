//! The sensitivity of a predicted time to parameters of the machine: its elasticity, the change in percent per one
//! percent of increase.
//!
//! The critical path gives an estimate: its parts grow or shrink with the parameter. This is exact as long as the path
//! stays the same. Two replays, with one percent more and one percent less of the parameter, check this.

use std::collections::BTreeSet;
use std::sync::Arc;

use titr_common::units::Seconds;
use titr_network::topology::{ChangedLinks, LinkId};
use titr_platform::{Model, Platform};
use titr_simulation::parallel::Jobs;
use titr_simulation::{PreparedReplay, SimulationError};

use crate::findings::{CriticalPath, Parameter, Sensitivity};

/// The part of a parameter that replays add and take away.
const STEP: f64 = 0.01;

/// The factors of a parameter in the two replays that determine the sensitivity.
const FACTORS: [f64; 2] = [1.0 + STEP, 1.0 - STEP];

/// More classes of links than these are no classes.
const CLASSES: usize = 16;

/// Adds the results of two replays to each sensitivity of a critical path, with slightly more and less of its
/// parameter; and the sensitivities to the latency and the bandwidth of each class of links, which only replays can
/// determine.
pub(crate) fn check(
    CriticalPath { sensitivities, .. }: &mut CriticalPath,
    replay: &PreparedReplay<'_>,
    platform: &Platform,
    time: Seconds,
    jobs: Jobs,
) -> Result<(), SimulationError> {
    let classes = link_classes(platform);
    let mut asked: Vec<(Parameter, Option<&str>)> = Parameter::ALL.map(|parameter| (parameter, None)).to_vec();
    for class in &classes {
        asked.extend([Parameter::Latency, Parameter::Bandwidth].map(|parameter| (parameter, Some(class.as_str()))));
    }
    let times = jobs.map(FACTORS.len() * asked.len(), |number| {
        let (parameter, class) = asked[number / FACTORS.len()];
        let factor = FACTORS[number % FACTORS.len()];
        let links =
            |latency, bandwidth| ChangedLinks::scaled(Arc::clone(&platform.topology), class, latency, bandwidth);
        let Some(platform) = scaled_platform(platform, parameter, factor, links) else { return Ok(None) };
        Ok::<_, SimulationError>(Some(replay.time_on(&platform)?.seconds().0))
    })?;
    let elasticity = |times: &[Option<f64>]| match *times {
        [Some(more), Some(less)] => Some((more - less) / (2.0 * STEP * time.0)),
        _ => None,
    };
    let found = asked.iter().zip(times.chunks(FACTORS.len()).map(elasticity));
    for (&(parameter, class), replays) in found {
        let of_all = |found: &&mut Sensitivity| found.parameter == parameter && found.links.is_none();
        match (class, sensitivities.iter_mut().find(of_all)) {
            (None, Some(known)) => known.replays = replays,
            _ if replays.is_none() => {}
            _ => sensitivities.push(Sensitivity { parameter, links: class.map(str::to_owned), path: None, replays }),
        }
    }
    Ok(())
}

/// The classes of a platform's links, where there are several.
fn link_classes(platform: &Platform) -> Vec<String> {
    let topology = &platform.topology;
    let links = (0..topology.links().len() as u32).map(LinkId);
    let classes: BTreeSet<String> = links.map(|link| topology.link_class(link)).collect();
    if (2..=CLASSES).contains(&classes.len()) { classes.into_iter().collect() } else { Vec::new() }
}

/// A platform with a parameter multiplied by `factor`; of links, `links` multiplies the latencies and the bandwidths by two
/// factors. `None` if its network model has no such parameter, or has already derived values from the links.
#[must_use]
pub fn scaled_platform(
    platform: &Platform,
    parameter: Parameter,
    factor: f64,
    links: impl FnOnce(f64, f64) -> ChangedLinks,
) -> Option<Platform> {
    let mut scaled = platform.clone();
    let links = |latency, bandwidth| match platform.model {
        Model::Flow(_) | Model::Ideal => Some(Arc::new(links(latency, bandwidth))),
        Model::Packet(_) => None,
    };
    match parameter {
        Parameter::HostSpeed => {
            scaled.speeds = platform.speeds.iter().map(|speed| speed.times(factor)).collect();
        }
        Parameter::Latency => scaled.topology = links(factor, 1.0)?,
        Parameter::Bandwidth => scaled.topology = links(1.0, factor)?,
        Parameter::Overheads => scaled.mpi = platform.mpi.scale_overheads(factor),
    }
    Some(scaled)
}
