//! The result of a simulation: plain data that serialises. `titr-replay --json` prints it as it is.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::time::Time;
use titr_common::trace::{Trace, World};
use titr_common::units::{Bytes, Seconds};
use titr_network::LinkLoad;
use titr_network::packet::{ChannelFigures, Figures, Observation, PacketSpec};
use titr_network::statistics::Estimate;
use titr_network::topology::{Link, LinkId, Topology, capacity};
use titr_platform::Platform;

pub use crate::observe::Shares;
pub use titr_network::statistics::Percentiles;

/// How many of the busiest links `links` has.
const BUSIEST: usize = 5;

/// The result of a simulation, with findings of type `F` where it was analysed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SimulationResult")]
pub struct SimulationResult<F = ()> {
    /// The time at which the last rank was done.
    pub simulated_time: Seconds,
    /// Size of the world.
    pub ranks: usize,
    /// The worlds that the ranks are of, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<WorldRanks>,
    /// Processes that were spawned in no time, as the platform does not say how long that takes; 0 where it does.
    #[serde(skip_serializing_if = "is_zero")]
    pub spawned_in_no_time: u64,
    /// Ranks that wait for ever, as the trace is torn: then the simulated time is no prediction; 0 where all ranks come to their end.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting_ranks: u64,
    /// How many hosts have ranks.
    pub hosts_used: usize,
    /// Trace events replayed.
    pub events: u64,
    /// Messages that entered the network, those within collectives included.
    pub messages: u64,
    /// Payload of these messages.
    pub bytes: Bytes,
    /// Where each rank's time went.
    pub per_rank: Vec<Shares>,
    /// The network that the trace was replayed on.
    pub network: NetworkName,
    /// The busiest links.
    pub links: Vec<LinkUse>,
    /// All links that carried anything, busiest first.
    #[serde(skip)]
    pub all_links: Vec<LinkUse>,
    /// Figures of a packet network over all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// Where there were several runs, the time that each took; all else but `packets` is of the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// The iterations of the program's loop that were left out, and how sure the extrapolated time is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// The findings of analyses; `None` where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyses: Option<F>,
    /// Sentences on what could not be simulated faithfully, and on what was left over.
    pub warnings: Vec<String>,
    /// titr's own speed: the only part that differs from one simulation to the next.
    pub replay: ReplaySpeed,
}

impl SimulationResult {
    /// The result with the findings of analyses.
    #[must_use]
    pub fn analysed<F>(self, analyses: Option<F>) -> SimulationResult<F> {
        SimulationResult {
            simulated_time: self.simulated_time,
            ranks: self.ranks,
            worlds: self.worlds,
            spawned_in_no_time: self.spawned_in_no_time,
            waiting_ranks: self.waiting_ranks,
            hosts_used: self.hosts_used,
            events: self.events,
            messages: self.messages,
            bytes: self.bytes,
            per_rank: self.per_rank,
            network: self.network,
            links: self.links,
            all_links: self.all_links,
            packets: self.packets,
            runs: self.runs,
            left_out: self.left_out,
            analyses,
            warnings: self.warnings,
            replay: self.replay,
        }
    }
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
    /// The rank that the world's rank 0 is.
    pub first: u32,
    /// The number of ranks.
    pub ranks: u32,
}

impl WorldRanks {
    /// The ranks of each world of a trace; none if the trace is of one world.
    #[must_use]
    pub fn of(trace: &Trace) -> Vec<Self> {
        let worlds = trace.worlds();
        let ranks = |world: &World| {
            let trace = world.place.display().to_string();
            Self { trace, first: world.first.0, ranks: world.ranks() }
        };
        if worlds.len() > 1 { worlds.iter().map(ranks).collect() } else { Vec::new() }
    }
}

/// A network by name, and the names of its links.
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
    /// The use of channels under the names of their links. A large network has so many that naming them takes longer
    /// than a short run, so whoever shows them asks for it.
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

/// The traffic over one link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkUse {
    /// The name of the link.
    pub name: String,
    /// Payload that the link carried.
    pub bytes: Bytes,
    /// The number of messages that the link carried.
    pub messages: u64,
    /// Payload over what the link could have carried in the simulated time.
    #[serde(rename = "use")]
    pub utilization: f64,
}

impl LinkUse {
    /// All links that carried anything in a time, busiest first.
    pub(crate) fn by_use(platform: &Platform, loads: &[LinkLoad], time: Seconds) -> Vec<Self> {
        let topology = &*platform.topology;
        let links = (0..).map(LinkId).zip(topology.links()).zip(loads);
        let could_carry = |id, link: &Link| match topology.changes() {
            [] => link.bandwidth * time.0,
            _ => capacity(topology, id, Time::ZERO, Time::from_seconds(time)),
        };
        let mut links: Vec<Self> = links
            .filter(|(_, load)| load.messages > 0)
            .map(|((id, link), load)| Self {
                name: platform.topology.link_name(id),
                bytes: load.bytes,
                messages: load.messages,
                utilization: if time.0 > 0.0 { load.bytes.0 as f64 / could_carry(id, link) } else { 0.0 },
            })
            .collect();
        // Stable: links that are as busy stay in the topology's order.
        links.sort_by(|a, b| b.utilization.total_cmp(&a.utilization));
        links
    }

    /// The first few of the links, which are sorted.
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
    /// Packets that the channel carried, in all runs.
    pub packets: u64,
    /// Part of the time that the channel used its link.
    #[serde(rename = "use")]
    pub utilization: f64,
    /// Packets in the queue at the channel's end, in the mean.
    pub occupancy: f64,
}

/// Figures of a packet network.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Packets {
    /// The simulated time in cycles.
    pub cycles: u64,
    /// Phits a cycle and host that ranks gave to the network, all of which leave their hosts in the end.
    pub offered: f64,
    /// The figures that were measured under this load.
    #[serde(flatten)]
    pub figures: Figures,
    /// The use of each virtual channel, if it was [requested](crate::Simulation::channels).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<ChannelUse>>,
}

impl Packets {
    /// The figures of all runs; `network` names the channels, where each is to be listed.
    pub(crate) fn new(spec: &PacketSpec, observations: &[Observation], network: Option<&NetworkName>) -> Self {
        let figures = Figures::of(spec, observations);
        let cycles = observations.first().map_or(0, |first| first.batches.iter().map(|batch| batch.cycles).sum());
        let channels = network.map(|network| network.named(&figures.channels));
        Self { cycles, offered: figures.injected, figures, channels }
    }
}

/// Several runs that differ in what chance decides.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Runs {
    /// The time that each run predicts.
    pub simulated_times: Vec<Seconds>,
    /// The mean of these times.
    pub simulated_time: Seconds,
    /// Half the width of the 99 % confidence interval of the mean; `null` if there is only one run.
    pub simulated_time_ci99: Option<Seconds>,
}

impl Runs {
    pub(crate) fn of(times: &[Time]) -> Self {
        let simulated_times: Vec<Seconds> = times.iter().map(|time| time.seconds()).collect();
        let estimate = Estimate::of(&simulated_times.iter().map(|time| time.0).collect::<Vec<_>>());
        Self {
            simulated_times,
            simulated_time: Seconds(estimate.mean),
            simulated_time_ci99: estimate.half_width.map(Seconds),
        }
    }
}

/// Iterations of a program's loop that were not simulated: what they would have added was extrapolated.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Iterations of the loop.
    pub iterations: u64,
    /// Iterations that were simulated.
    pub simulated_iterations: u64,
    /// Events that were simulated.
    pub simulated_events: u64,
    /// The time that was simulated.
    pub simulated_time: Seconds,
    /// The mean time of an iteration that was not simulated.
    pub period: Seconds,
    /// How wrong the predicted time may be because of that, as a part of it: half the width of a 99 % confidence interval.
    pub error_bound: f64,
}

/// titr's own speed.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ReplaySpeed {
    /// Time on the wall, in seconds.
    pub wall_seconds: f64,
    /// Trace events replayed in a second on the wall.
    pub events_per_second: f64,
    /// In the packet model, phits times the channels that they took in a second of a processor's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phit_hops_per_second: Option<f64>,
}
