//! Placement: the core of each rank with which a program is fastest.
//!
//! Placements by rules (block, round robin, random) and a [`mapping`] of the communication matrix are replayed. A [`local_search`]
//! by replay continues from the fastest one.

mod cost;
mod local_search;
mod mapping;
mod parts;
mod rank_file;

use schemars::JsonSchema;
use serde::Serialize;
use titr_analyses::Pair;
use titr_common::statistics::{deviation, mean};
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_network::topology::HostId;
use titr_platform::{PlacementError, Platform, Policy};
use titr_simulation::parallel::Jobs;
use titr_simulation::{PreparedReplay, SimulationError};

use crate::studies::error::StudyError;
use cost::CommunicationCost;
use local_search::{LocalSearch, Replayed};
use mapping::mapped;
use parts::{HostPart, HostParts};

pub(crate) use rank_file::{HostNames, RankFileFormat};

/// The number of random placements that are replayed for comparison.
const RANDOM: u64 = 10;

/// The fastest placement that was found, and the others that it was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct FastestPlacement {
    /// The predicted time with the placement.
    pub(crate) simulated_time: Seconds,
    /// The way in which the placement was found.
    pub(crate) found_by: PlacementMethod,
    /// The number of the host of each rank.
    pub(crate) hosts: Vec<u32>,
    /// The number of the core of each rank in its host, if hosts have levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) cores: Vec<u32>,
    /// The predicted time with the placement of each method except the random ones.
    pub(crate) methods: Vec<MethodTime>,
    /// The predicted times with random placements.
    pub(crate) random: RandomPlacements,
    /// The number of replays of the local search.
    pub(crate) replays: u32,
}

/// A way to place ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlacementMethod {
    /// Ranks fill a host before the next host is used.
    Block,
    /// Each host gets one rank, then each a second one, and so on.
    RoundRobin,
    /// The communication matrix is mapped onto the network.
    Mapping,
    /// Each rank gets a core that is drawn.
    Random,
    /// Steps from a placement to a similar one are replayed.
    LocalSearch,
}

/// The predicted time with the placement of a method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct MethodTime {
    /// The method.
    pub(crate) method: PlacementMethod,
    /// The predicted time.
    pub(crate) simulated_time: Seconds,
}

/// The predicted times with random placements.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RandomPlacements {
    /// The predicted time of each.
    pub(crate) simulated_times: Vec<Seconds>,
    /// Their mean.
    pub(crate) mean: Seconds,
    /// Their standard deviation.
    pub(crate) deviation: Seconds,
}

/// The program and the machine for which a placement is wanted.
pub(crate) struct PlacementSubject<'a> {
    /// The machine.
    pub(crate) platform: &'a Platform,
    /// The program, ready to be replayed with other placements.
    pub(crate) replay: &'a PreparedReplay<'a>,
    /// The communication matrix.
    pub(crate) pairs: &'a [Pair],
    pub(crate) ranks: u32,
    /// The hosts of the cores that may have a rank, host by host.
    pub(crate) cores: &'a [HostId],
    /// Whether ranks may have any core of a host, and not those in the order of the ranks.
    pub(crate) any_core: bool,
    /// The number of replays of the local search.
    pub(crate) replays: u32,
    /// The seed of the local search.
    pub(crate) seed: u64,
}

/// The placement of ranks on these cores by a rule.
pub(crate) fn by_rule(
    policy: &Policy,
    ranks: u32,
    cores: &[HostId],
    platform: &Platform,
) -> Result<Vec<HostId>, PlacementError> {
    Ok(chosen(policy, ranks, cores, platform)?.into_iter().map(|place| cores[place]).collect())
}

/// The place of the core of each rank in the list.
fn chosen(policy: &Policy, ranks: u32, cores: &[HostId], platform: &Platform) -> Result<Vec<usize>, PlacementError> {
    let too_few = || {
        let hosts = cores.len() as u32 / platform.cores.max(1);
        PlacementError::TooManyRanks { ranks, hosts, cores: platform.cores }
    };
    policy.choose(ranks, cores).ok_or_else(too_few)
}

impl PlacementSubject<'_> {
    /// The fastest placement. Replays run at the same time.
    pub(crate) fn fastest(&self, jobs: Jobs) -> Result<FastestPlacement, StudyError> {
        let parts = HostParts::of(self.platform, self.any_core);
        let cost = CommunicationCost::new(self.platform, parts, self.ranks, self.pairs);
        let cores = parts.of_cores(self.cores);
        let by_rule = |policy: &Policy| -> Result<Vec<HostPart>, SimulationError> {
            let chosen = chosen(policy, self.ranks, self.cores, self.platform)?;
            Ok(chosen.into_iter().map(|core| cores[core]).collect())
        };
        let (block, round_robin) = (by_rule(&Policy::Block)?, by_rule(&Policy::RoundRobin)?);
        let mapped = mapped(&cost, &cores, &[&block, &round_robin]);
        let mut placements = vec![
            (PlacementMethod::Block, block),
            (PlacementMethod::RoundRobin, round_robin),
            (PlacementMethod::Mapping, mapped),
        ];
        for seed in 0..RANDOM {
            placements.push((PlacementMethod::Random, by_rule(&Policy::Random { seed })?));
        }
        let time = |ranks: &[HostPart]| self.time(parts, ranks);
        let times = jobs.map(placements.len(), |at| time(&placements[at].1))?;
        let of_methods = placements.iter().zip(&times);
        let mut methods: Vec<MethodTime> = of_methods
            .map(|((method, _), time)| MethodTime { method: *method, simulated_time: time.seconds() })
            .collect();
        let random = RandomPlacements::of(&mut methods);

        let compared =
            placements.into_iter().zip(times).map(|((method, hosts), time)| (method, Replayed { hosts, time }));
        let fastest = compared.reduce(|best, one| if one.1.time < best.1.time { one } else { best });
        let Some((mut found_by, start)) = fastest else { unreachable!("placements by rules are always compared") };
        let from = start.time;
        let (replays, seed) = (self.replays, self.seed);
        let search = LocalSearch { cost: &cost, cores: &cores, replays, seed, jobs, time: &time };
        let (found, replays) = search.from(start)?;
        if replays > 0 {
            methods.push(MethodTime { method: PlacementMethod::LocalSearch, simulated_time: found.time.seconds() });
        }
        if found.time < from {
            found_by = PlacementMethod::LocalSearch;
        }
        let (hosts, cores) = parts.seats(&found.hosts);
        Ok(FastestPlacement {
            simulated_time: found.time.seconds(),
            found_by,
            hosts: hosts.iter().map(|host| host.0).collect(),
            cores,
            methods,
            random,
            replays,
        })
    }

    fn time(&self, parts: HostParts, ranks: &[HostPart]) -> Result<Time, SimulationError> {
        let (hosts, cores) = parts.seats(ranks);
        let policy = Policy::Assigned { hosts, cores };
        self.replay.time_on(&Platform { policy, ..self.platform.clone() })
    }
}

impl RandomPlacements {
    /// Takes the times of random placements out of the times of all.
    fn of(methods: &mut Vec<MethodTime>) -> Self {
        let is_random = |one: &MethodTime| one.method == PlacementMethod::Random;
        let simulated_times: Vec<Seconds> =
            methods.iter().filter(|one| is_random(one)).map(|one| one.simulated_time).collect();
        methods.retain(|one| !is_random(one));
        let sample: Vec<f64> = simulated_times.iter().map(|time| time.0).collect();
        Self { simulated_times, mean: Seconds(mean(&sample)), deviation: Seconds(deviation(&sample)) }
    }
}
