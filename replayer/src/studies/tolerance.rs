//! Tolerance: how much slower a machine may be, or how late a rank, until a program takes a given part longer.
//!
//! The predicted time T(x) grows with the slowness x of a parameter: the logarithm of the factor by which latencies grow, or by
//! which bandwidths or speeds shrink; or the time by which a rank begins late. For each slowdown s, [`search`] finds T(x) = (1 + s)
//! T(0). The elasticity of the critical path says where to begin: x = ln(1 + s) / |elasticity|. This is exact as long as the path
//! stays the same.

use schemars::JsonSchema;
use search::{Goal, Reached, search};
use serde::Serialize;
use titr_analyses::{Parameter, Sensitivity, scaled_platform};
use titr_common::event::{Event, Rank};
use titr_common::trace::{ChangedEvents, Located, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Seconds;
use titr_network::topology::{ChangedLinks, LinkId};
use titr_platform::Platform;
use titr_simulation::parallel::Jobs;
use titr_simulation::{PreparedReplay, SimulationError};

mod search;

/// The largest factor that is tried.
const LARGEST_FACTOR: f64 = 1e4;

/// The largest delay of a rank that is tried, as a multiple of the predicted time.
const LARGEST_DELAY: f64 = 100.0;

/// The slownesses that a program tolerates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Tolerances {
    /// The predicted time on the machine as it is.
    pub(crate) simulated_time: Seconds,
    /// The tolerance to changes of the machine.
    pub(crate) parameters: Vec<ParameterTolerance>,
    /// The tolerance to each rank that begins late; empty if it is not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) late_ranks: Vec<LateRankTolerance>,
}

/// The tolerance to a parameter of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ParameterTolerance {
    /// The parameter.
    pub(crate) parameter: Parameter,
    /// The latency of each link of the network, if the parameter is the latency and all links have the same one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link_latency: Option<Seconds>,
    /// A point for each slowdown, in the order in which these were given.
    pub(crate) curve: Vec<ToleratedFactor>,
}

/// A slowdown, and the factor of a parameter that causes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToleratedFactor {
    /// The slowdown as a fraction: 0.01 is 1 % longer.
    pub(crate) slowdown: f64,
    /// The factor: above 1 of a latency, below 1 of a bandwidth or a speed. `None` if no factor up to 10,000 makes the program so
    /// slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) factor: Option<f64>,
    /// The predicted time with this factor. The time differs from the slowdown where it jumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) simulated_time: Option<Seconds>,
    /// Whether the predicted time jumps over the slowdown at this factor.
    pub(crate) jumps: bool,
}

/// The tolerance to a rank that begins late.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LateRankTolerance {
    /// The rank.
    pub(crate) rank: u32,
    /// A point for each slowdown, in the order in which these were given.
    pub(crate) curve: Vec<ToleratedDelay>,
}

/// A slowdown, and the delay of a rank that causes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToleratedDelay {
    /// The slowdown as a fraction: 0.01 is 1 % longer.
    pub(crate) slowdown: f64,
    /// The time by which the rank begins late. `None` if no delay makes the program so slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<Seconds>,
    /// The predicted time with this delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) simulated_time: Option<Seconds>,
    /// Whether the predicted time jumps over the slowdown at this delay.
    pub(crate) jumps: bool,
}

/// The program and the machine whose tolerance is asked for.
pub(crate) struct ToleranceSubject<'a> {
    /// The machine.
    pub(crate) platform: &'a Platform,
    /// The program, ready to be replayed on other machines.
    pub(crate) replay: &'a PreparedReplay<'a>,
    /// The predicted time on the machine as it is.
    pub(crate) time: Seconds,
    /// The sensitivities of this time.
    pub(crate) sensitivities: &'a [Sensitivity],
    pub(crate) ranks: u32,
    /// Replays the program with a change, and returns the predicted time.
    pub(crate) changed: &'a (dyn Fn(&dyn Transformation) -> Result<Seconds, SimulationError> + Sync),
}

impl ToleranceSubject<'_> {
    /// The tolerances to these parameters, and to late ranks if asked for, at each slowdown. Replays run at the same time.
    pub(crate) fn tolerances(
        &self,
        parameters: &[Parameter],
        has_late_ranks: bool,
        slowdowns: &[f64],
        jobs: Jobs,
    ) -> Result<Tolerances, SimulationError> {
        let late = if has_late_ranks { self.ranks as usize } else { 0 };
        let of = slowdowns.len();
        let found = jobs.map((parameters.len() + late) * of, |number| {
            let (subject, slowdown) = (number / of, slowdowns[number % of]);
            match parameters.get(subject) {
                Some(parameter) => self.of_parameter(*parameter, slowdown),
                None => self.of_rank(Rank((subject - parameters.len()) as u32), slowdown),
            }
        })?;
        let mut curves = found.chunks(of.max(1));
        let parameters = parameters.iter().zip(curves.by_ref().take(parameters.len()));
        let parameters = parameters.map(|(&parameter, found)| ParameterTolerance {
            parameter,
            link_latency: self.link_latency().filter(|_| parameter == Parameter::Latency),
            curve: slowdowns.iter().zip(found).map(|(slowdown, found)| factor(parameter, *slowdown, *found)).collect(),
        });
        let parameters = parameters.collect();
        let late_ranks = (0..).zip(curves).map(|(rank, found)| LateRankTolerance {
            rank,
            curve: slowdowns.iter().zip(found).map(|(slowdown, found)| delay(*slowdown, *found)).collect(),
        });
        Ok(Tolerances { simulated_time: self.time, parameters, late_ranks: late_ranks.collect() })
    }

    /// Whether the network model has the parameter.
    pub(crate) fn has(&self, parameter: Parameter) -> bool {
        self.slower(parameter, 0.0).is_some()
    }

    fn of_parameter(&self, parameter: Parameter, slowdown: f64) -> Result<Option<Reached>, SimulationError> {
        let known = self.sensitivities.iter().find(|known| known.parameter == parameter && known.links.is_none());
        let elasticity = known.and_then(|known| known.replays.or(known.path)).map_or(0.0, f64::abs);
        let start = if elasticity > 1e-6 { (1.0 + slowdown).ln() / elasticity } else { slowdown };
        let goal = Goal { time: self.time, slowdown, start, limit: LARGEST_FACTOR.ln() };
        search(goal, |slowness| match self.slower(parameter, slowness) {
            Some(platform) => Ok(self.replay.time_on(&platform)?.seconds()),
            None => Ok(self.time),
        })
    }

    /// The platform with a slower parameter; links within hosts stay as they are. `None` if the network model has already derived
    /// values from the links.
    fn slower(&self, parameter: Parameter, slowness: f64) -> Option<Platform> {
        let links =
            |latency, bandwidth| ChangedLinks::scaled_between_hosts(&self.platform.topology, latency, bandwidth);
        scaled_platform(self.platform, parameter, scale(parameter, slowness), links)
    }

    fn of_rank(&self, rank: Rank, slowdown: f64) -> Result<Option<Reached>, SimulationError> {
        // A rank on the critical path delays the end by its own delay.
        let (start, limit) = (slowdown * self.time.0, LARGEST_DELAY * self.time.0);
        let goal = Goal { time: self.time, slowdown, start, limit };
        search(goal, |delay| (self.changed)(&LateRank { rank, delay: Seconds(delay) }))
    }

    /// The latency of all links between hosts, if it is the same.
    fn link_latency(&self) -> Option<Seconds> {
        let topology = &self.platform.topology;
        let links = (0..).zip(topology.links()).filter(|(link, _)| !topology.is_loopback(LinkId(*link)));
        let mut latencies = links.map(|(_, link)| link.latency);
        let first = latencies.next()?;
        latencies.all(|latency| latency == first).then_some(first)
    }
}

/// The factor of a parameter for a slowness.
fn scale(parameter: Parameter, slowness: f64) -> f64 {
    match parameter {
        Parameter::Latency | Parameter::Overheads => slowness.exp(),
        Parameter::Bandwidth | Parameter::HostSpeed => (-slowness).exp(),
    }
}

fn factor(parameter: Parameter, slowdown: f64, found: Option<Reached>) -> ToleratedFactor {
    ToleratedFactor {
        slowdown,
        factor: found.map(|found| scale(parameter, found.at)),
        simulated_time: found.map(|found| found.time),
        jumps: found.is_some_and(|found| found.jumps),
    }
}

fn delay(slowdown: f64, found: Option<Reached>) -> ToleratedDelay {
    ToleratedDelay {
        slowdown,
        delay: found.map(|found| Seconds(found.at)),
        simulated_time: found.map(|found| found.time),
        jumps: found.is_some_and(|found| found.jumps),
    }
}

/// The transformation of a trace that delays the first event of a rank.
#[derive(Clone, Copy, Debug)]
struct LateRank {
    pub(crate) rank: Rank,
    /// The time before its first event.
    pub(crate) delay: Seconds,
}

impl Transformation for LateRank {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let Self { rank: late, delay } = *self;
        Ok(trace.map_sources(move |rank, source| {
            if rank != late {
                return source;
            }
            let mut delay = Some(delay);
            Box::new(ChangedEvents::new(source, move |located: Located<'_>, changed: &mut LocatedEvents| {
                if let Some(delay) = delay.take() {
                    changed.push(Event::Sleep(delay), located.location);
                }
                changed.push(located.event.to_event(), located.location);
            }))
        }))
    }
}
