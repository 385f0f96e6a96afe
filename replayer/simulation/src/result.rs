//! The result of a simulation, as plain data. `titr replay --json` prints its serialised form unchanged.

use crate::efficiencies::Efficiencies;
use crate::jobs::JobResult;
use crate::observe::Shares;
use crate::recording::Recording;
use crate::spread::PredictedSpread;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use titr_common::time::Time;
use titr_common::trace::{Trace, World};
use titr_common::units::{Bytes, Instructions, Seconds};
use titr_network::LinkLoad;
use titr_network::packet::{ChannelFigures, Figures, PacketStatistics};
use titr_network::statistics::Estimate;
use titr_network::topology::{Link, LinkId, Topology, capacity};
use titr_platform::{Model, Platform};

/// The number of links in `links`, the busiest ones.
const BUSIEST: usize = 5;

/// The result of a simulation. `F` is the type of the findings of its analyses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SimulationResult")]
pub struct SimulationResult<F = ()> {
    /// The time at which the last rank finished.
    pub simulated_time: Seconds,
    /// The standard deviation of the simulated time as a fraction of it, from the spread of repeated recordings, of the counter
    /// and of runs with different random choices; absent if nothing is known of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<f64>,
    /// The recorded run, if the trace describes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
    /// The number of ranks.
    pub ranks: usize,
    /// The worlds of the ranks; empty if there is only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<WorldRanks>,
    /// The jobs of the ranks; empty if all ranks are of one program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobResult>,
    /// The number of spawned processes whose start took no time, because the platform has no `mpi.spawn`; 0 if it has.
    #[serde(skip_serializing_if = "is_zero")]
    pub spawned_in_no_time: u64,
    /// The number of ranks that wait for ever, because the trace is torn. If it is not 0, the simulated time is no
    /// prediction.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting_ranks: u64,
    /// The number of hosts that have ranks.
    pub hosts_used: usize,
    /// The number of replayed events of the trace.
    pub events: u64,
    /// The volume of computation of all ranks, in the unit in which it was counted; 0 if computation is a time.
    pub computed: Instructions,
    /// The number of messages that entered the network, including messages inside collectives.
    pub messages: u64,
    /// The payload of these messages.
    pub bytes: Bytes,
    /// The time of each rank by activity.
    pub per_rank: Vec<Shares>,
    /// The parallel efficiency and its factors; `None` if no rank computes, or if each job has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiencies: Option<Efficiencies>,
    /// The network that the trace was replayed on.
    pub network: NetworkName,
    /// The busiest links of the network, followed by links inside hosts if there are few others.
    pub links: Vec<LinkUse>,
    /// All links that carried anything, busiest first; links within hosts after those of the network.
    #[serde(skip)]
    pub all_links: Vec<LinkUse>,
    /// Statistics of a packet network over all runs; `None` in other models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// The predicted time of each run, if there were several. All other fields except `packets` describe the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// The spread of the predicted time over replays with random choices for everything that is known to vary; absent if it was not
    /// requested, or nothing is known to vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<PredictedSpread>,
    /// The iterations of the program's loop that were not simulated, and the error bound of the extrapolated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Extrapolated>,
    /// The findings of analyses; `None` if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyses: Option<F>,
    /// The changes of the machine and the program that were tried; `None` if none was to be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried: Option<TriedChanges>,
    /// Warnings, one sentence each: what could not be simulated faithfully, and what was left over, such as unreceived
    /// messages.
    pub warnings: Vec<String>,
    /// titr's own speed. Only this field differs between two simulations of the same input.
    pub replay: ReplaySpeed,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The ranks of one of several worlds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorldRanks {
    /// The trace of the world.
    pub trace: String,
    /// The number of the world's rank 0 among all ranks.
    pub first: u32,
    /// The number of ranks.
    pub ranks: u32,
}

impl WorldRanks {
    /// The ranks of each world of `trace`; empty if it has only one world.
    pub(crate) fn of(trace: &Trace) -> Vec<Self> {
        let worlds = trace.worlds();
        let ranks = |world: &World| {
            let trace = world.place.display().to_string();
            Self { trace, first: world.first.0, ranks: world.ranks() }
        };
        if worlds.len() > 1 { worlds.iter().map(ranks).collect() } else { Vec::new() }
    }
}

/// The model, topology and size of a network, and the names of its links.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NetworkName {
    /// The network model.
    pub model: &'static str,
    /// The topology.
    pub topology: String,
    /// The number of hosts.
    pub hosts: u32,
    #[serde(skip)]
    links: Arc<dyn Topology>,
}

impl NetworkName {
    /// The use of `channels`, each with the name of its link. Call this only to show the channels: in a large network,
    /// naming them takes longer than a short run.
    #[must_use]
    pub fn named(&self, channels: &[ChannelFigures]) -> Vec<ChannelUse> {
        let named = |&ChannelFigures { link, channel, packets, utilization, occupancy }: &ChannelFigures| ChannelUse {
            link: self.links.link_name(link),
            channel: channel.0,
            packets,
            utilization,
            occupancy,
        };
        channels.iter().map(named).collect()
    }
}

impl From<&Platform> for NetworkName {
    fn from(platform: &Platform) -> Self {
        let Platform { model, topology, .. } = platform;
        Self { model: model.name(), topology: topology.name(), hosts: topology.hosts(), links: Arc::clone(topology) }
    }
}

/// Changes that were tried in further replays.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TriedChanges {
    /// The number of changes that were tried.
    pub changes: usize,
    /// The number of changes that come into question: `changes`, unless replays take long.
    pub of: usize,
    /// The change of the machine that saves most, if one saves a hundredth of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Suggestion>,
    /// The changes of the program, whatever they save, the largest saving first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<Suggestion>,
}

/// A change that saves time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Suggestion {
    /// The change in words.
    pub change: String,
    /// The key and the value of the platform that make it, as `--set` takes them; absent if it changes the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The file of hypotheses that makes it, as `--what-if` takes it; absent if it changes the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<String>,
    /// The simulated time with this change.
    pub simulated_time: Seconds,
    /// The saved time as a fraction of the time without the change.
    pub saves: f64,
}

/// The traffic over one link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkUse {
    /// The name of the link.
    pub name: String,
    /// Whether the link is the memory of a host, and not a link of the network.
    #[serde(skip)]
    pub is_loopback: bool,
    /// Payload that the link carried.
    pub bytes: Bytes,
    /// The number of messages that the link carried; of packets, in a packet network.
    pub messages: u64,
    /// The payload as a fraction of what the link could have carried in the simulated time.
    #[serde(rename = "use")]
    pub utilization: f64,
}

impl LinkUse {
    /// The links that carried any message: the busiest of the network first, then the busiest inside hosts. `time` is the
    /// simulated time.
    pub(crate) fn by_use(platform: &Platform, loads: &[LinkLoad], time: Seconds) -> Vec<Self> {
        let topology = &*platform.topology;
        let links = (0..).map(LinkId).zip(topology.links()).zip(loads);
        let could_carry = |id, link: &Link| match topology.changes() {
            [] => link.bandwidth * time.0,
            _ => capacity(topology, id, Time::ZERO, Time::from_seconds(time)),
        };
        // Messages that are still under way at the end count, too.
        let most = |link| if platform.model.shares(link) { 1.0 } else { f64::INFINITY };
        let mut links: Vec<Self> = links
            .filter(|(_, load)| load.messages > 0)
            .map(|((id, link), load)| Self {
                name: platform.topology.link_name(id),
                is_loopback: topology.is_loopback(id),
                bytes: load.bytes,
                messages: load.messages,
                utilization: match time.0 > 0.0 {
                    true => (load.bytes.0 as f64 / could_carry(id, link)).min(most(link)),
                    false => 0.0,
                },
            })
            .collect();
        Self::sort(&mut links);
        links
    }

    /// Sorts links by their use: the busiest of the network first, then the busiest inside hosts.
    pub fn sort(links: &mut [Self]) {
        // Stable: links that are as busy stay in the topology's order.
        links.sort_by(|one, other| {
            let busier = other.utilization.total_cmp(&one.utilization);
            one.is_loopback.cmp(&other.is_loopback).then(busier)
        });
    }

    /// The busiest of `all`, which is sorted by use.
    #[must_use]
    pub fn busiest(all: &[Self]) -> Vec<Self> {
        all.iter().take(BUSIEST).cloned().collect()
    }
}

/// The traffic over one virtual channel of a link.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChannelUse {
    /// The name of the link.
    pub link: String,
    /// The channel's number on its link.
    pub channel: u32,
    /// The number of packets that the channel carried in all runs.
    pub packets: u64,
    /// The fraction of the time in which the channel used its link.
    #[serde(rename = "use")]
    pub utilization: f64,
    /// The mean number of packets in the queue at the end of the channel.
    pub occupancy: f64,
}

/// Statistics of a packet network.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Packets {
    /// The simulated time in cycles.
    pub cycles: u64,
    /// The load that ranks offered to the network, in phits per cycle and host. All of it has left the hosts at the
    /// end.
    pub offered: f64,
    /// The measurements under this load.
    #[serde(flatten)]
    pub figures: Figures,
    /// The use of each virtual channel, if it was [requested](crate::Simulation::channels).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<ChannelUse>>,
}

impl Packets {
    /// The statistics of all runs; `None` in other models. Lists every channel if there is a `network` to name them.
    pub(crate) fn of(platform: &Platform, runs: Vec<PacketStatistics>, network: Option<&NetworkName>) -> Option<Self> {
        let Model::Packet(spec) = &platform.model else { return None };
        let observations: Vec<_> = runs.into_iter().map(|run| run.observation).collect();
        let figures = Figures::of(spec, &observations);
        let cycles = observations.first().map_or(0, |first| first.batches.iter().map(|batch| batch.cycles).sum());
        let channels = network.map(|network| network.named(&figures.channels));
        Some(Self { cycles, offered: figures.injected, figures, channels })
    }
}

/// The predicted times of several runs with different random choices: seeds of a packet network, and of a random placement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Runs {
    /// The predicted time of each run.
    pub times: Vec<Seconds>,
    /// The mean of these times.
    pub mean: Seconds,
    /// The 99 % confidence interval of the mean: its lower and its upper end.
    pub interval: [Seconds; 2],
}

impl Runs {
    /// The statistics of at least two runs.
    pub(crate) fn of(times: &[Time]) -> Self {
        let times: Vec<Seconds> = times.iter().map(|time| time.seconds()).collect();
        let estimate = Estimate::of(&times.iter().map(|time| time.0).collect::<Vec<_>>());
        let half_width = estimate.half_width.unwrap_or_default();
        let interval = [-half_width, half_width].map(|distance| Seconds(estimate.mean + distance));
        Self { times, mean: Seconds(estimate.mean), interval }
    }

    /// Whether chance had a part in the runs.
    #[must_use]
    pub fn differ(&self) -> bool {
        self.times.iter().any(|time| Some(time) != self.times.first())
    }
}

/// The iterations of a program's loop that were not simulated, but extrapolated from those that were.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Extrapolated {
    /// The number of iterations of the loop.
    pub iterations: u64,
    /// The number of simulated iterations.
    pub simulated_iterations: u64,
    /// The number of simulated events.
    pub simulated_events: u64,
    /// The time that was simulated.
    pub simulated_time: Seconds,
    /// The mean time of an iteration that was not simulated.
    pub period: Seconds,
    /// Half the width of the 99 % confidence interval of the predicted time, as a fraction of that time.
    pub error_bound: f64,
}

/// titr's own speed.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ReplaySpeed {
    /// Wall-clock time, in seconds.
    pub wall_seconds: f64,
    /// Replayed events of the trace per second of wall-clock time.
    pub events_per_second: f64,
    /// In the packet model, phit-hops (phits times the channels that they took) per second of processor time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phit_hops_per_second: Option<f64>,
}
