//! What a replay gives, for people and for programs. Nothing is worked out here but what is shown.

mod channels;
mod summary;
mod tables;

use std::time::Duration;

use serde::Serialize;
use titr_common::trace::Manifest;
use titr_common::units::{Bytes, Seconds};

pub use channels::{ChannelUse, channel_table};
pub use summary::summary;
pub use tables::Tables;

use titr_common::format::{count, plural};
use titr_common::time::Time;
use titr_network::LinkLoad;
use titr_network::packet::{Figures, Observation, PacketSpec};
use titr_network::statistics::Estimate;
use titr_network::topology::LinkId;
use titr_platform::{Model, Platform};
use titr_simulation::observe::{Breakdown, Shares};
use titr_simulation::replay::Outcome;

/// How many of the links that carried most are told.
const LINKS: usize = 5;

/// A replay's result, as `--json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// When the last rank was done.
    pub simulated_time: Seconds,
    /// Size of the world.
    pub ranks: usize,
    /// Trace events replayed.
    pub events: u64,
    /// Messages that entered the network, those within collectives too.
    pub messages: u64,
    /// What they carried.
    pub bytes: Bytes,
    /// Where each rank's time went.
    pub per_rank: Vec<Shares>,
    /// What it was replayed on.
    pub network: NetworkName,
    /// The links that carried most.
    pub links: Vec<LinkUse>,
    /// All links that carried anything, busiest first.
    #[serde(skip)]
    pub all_links: Vec<LinkUse>,
    /// What a packet network saw, in all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// Where there were several runs, what they took; all else but `packets` is of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// What could not be simulated faithfully, and what was left over.
    pub warnings: Vec<String>,
    /// titr's own speed: the only part that differs from run to run.
    pub replay: Speed,
}

/// A network by name.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkName {
    /// The model.
    pub model: &'static str,
    /// The topology.
    pub topology: String,
    /// How many hosts it has.
    pub hosts: u32,
}

impl From<&Platform> for NetworkName {
    fn from(platform: &Platform) -> Self {
        Self { model: platform.model.name(), topology: platform.topology.name(), hosts: platform.topology.hosts() }
    }
}

/// What a link carried.
#[derive(Clone, Debug, Serialize)]
pub struct LinkUse {
    /// The link.
    pub name: String,
    /// Payload.
    pub bytes: Bytes,
    /// Messages.
    pub messages: u64,
    /// Payload over what it could have carried in the simulated time.
    #[serde(rename = "use")]
    pub utilization: f64,
}

/// What a packet network saw.
#[derive(Clone, Debug, Serialize)]
pub struct Packets {
    /// How long the simulated time is.
    pub cycles: u64,
    /// Phits a cycle and host that ranks gave to the network, all of which leave their hosts in the end.
    pub offered: f64,
    /// What came of it.
    #[serde(flatten)]
    pub figures: Figures,
    /// Each virtual channel, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<ChannelUse>>,
}

impl Packets {
    fn new(spec: &PacketSpec, observations: &[Observation]) -> Self {
        let figures = Figures::of(spec, observations);
        let cycles = observations.first().map_or(0, |first| first.batches.iter().map(|batch| batch.cycles).sum());
        Self { cycles, offered: figures.injected, figures, channels: None }
    }
}

/// Several runs with different chance.
#[derive(Clone, Debug, Serialize)]
pub struct Runs {
    /// What each predicts.
    pub simulated_times: Vec<Seconds>,
    /// Their mean.
    pub simulated_time: Seconds,
    /// Half the width of its 99 % confidence interval.
    pub simulated_time_ci99: Option<f64>,
}

impl Runs {
    fn of(times: &[Time]) -> Self {
        let simulated_times: Vec<Seconds> = times.iter().map(|time| time.seconds()).collect();
        let estimate = Estimate::of(&simulated_times.iter().map(|time| time.0).collect::<Vec<_>>());
        Self { simulated_times, simulated_time: Seconds(estimate.mean), simulated_time_ci99: estimate.half_width }
    }
}

/// What there is to report on.
#[derive(Debug)]
pub struct Replays {
    /// The first run.
    pub outcome: Outcome<Breakdown>,
    /// What links carried in it.
    pub loads: Vec<LinkLoad>,
    /// What each run took.
    pub times: Vec<Time>,
    /// What a packet network saw in each.
    pub observations: Vec<Observation>,
    /// Phits times channels in all runs, in a packet network.
    pub phit_hops: Option<u64>,
    /// What all runs took.
    pub wall: Duration,
    /// Of the thread that simulated.
    pub cpu: Duration,
}

/// How fast titr was.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Speed {
    /// Time on the wall.
    pub wall_seconds: f64,
    /// Trace events replayed in a second of it.
    pub events_per_second: f64,
    /// Phits times channels that they took in a second of a processor's time, in the packet model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phit_hops_per_second: Option<f64>,
}

impl Report {
    /// Puts together what is told of replays on a platform.
    #[must_use]
    pub fn new(platform: &Platform, replays: Replays) -> Self {
        let Replays { outcome, loads, times, observations, phit_hops, wall, cpu } = replays;
        let simulated_time = outcome.simulated_time.seconds();
        let per_second = |count: f64, seconds: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
        let all_links = by_use(platform, &loads, simulated_time);
        Self {
            simulated_time,
            ranks: outcome.ranks,
            events: outcome.events,
            messages: outcome.messages,
            bytes: outcome.bytes,
            per_rank: outcome.observer.per_rank().collect(),
            network: platform.into(),
            links: all_links.iter().take(LINKS).cloned().collect(),
            all_links,
            packets: match &platform.model {
                Model::Packet(spec) => Some(Packets::new(spec, &observations)),
                Model::Flow(_) | Model::Ideal => None,
            },
            runs: (times.len() > 1).then(|| Runs::of(&times)),
            warnings: [platform.warnings.clone(), outcome.warnings, outcome.skipped].concat(),
            replay: Speed {
                wall_seconds: wall.as_secs_f64(),
                events_per_second: per_second(outcome.events as f64 * times.len() as f64, wall.as_secs_f64()),
                phit_hops_per_second: phit_hops.map(|hops| per_second(hops as f64, cpu.as_secs_f64())),
            },
        }
    }
}

/// The links that were kept busiest, busiest first.
fn by_use(platform: &Platform, loads: &[LinkLoad], time: Seconds) -> Vec<LinkUse> {
    let mut links: Vec<LinkUse> = (0..)
        .map(LinkId)
        .zip(platform.topology.links())
        .zip(loads)
        .filter(|(_, load)| load.messages > 0)
        .map(|((id, link), load)| LinkUse {
            name: platform.topology.link_name(id),
            bytes: load.bytes,
            messages: load.messages,
            utilization: if time.0 > 0.0 { load.bytes.0 as f64 / (link.bandwidth * time.0) } else { 0.0 },
        })
        .collect();
    // Stable: links that are as busy stay in the topology's order.
    links.sort_by(|a, b| b.utilization.total_cmp(&a.utilization));
    links
}

/// What a trace's manifest says that a replay cannot know.
#[must_use]
pub fn manifest_warnings(manifest: &Manifest) -> Vec<String> {
    let mut untraced = std::collections::BTreeMap::<&str, u64>::new();
    for (name, calls) in manifest.per_rank.iter().flat_map(|rank| &rank.untraced) {
        *untraced.entry(name).or_default() += calls;
    }
    let lost: u64 = manifest.per_rank.iter().map(|rank| rank.lost_events).sum();
    let calls = |calls| format!("{} {}", count(calls), plural(calls, "call", "calls"));
    let mut warnings: Vec<String> = untraced
        .into_iter()
        .map(|(name, number)| format!("not simulated, as it is not in the trace: {name} ({})", calls(number)))
        .collect();
    if lost > 0 {
        warnings.push(format!("{} {} could not be written when tracing", count(lost), plural(lost, "event", "events")));
    }
    let threaded = manifest.per_rank.iter().filter(|rank| rank.threads > 1).count() as u64;
    if threaded > 0 {
        let ranks = plural(threaded, "rank", "ranks");
        warnings.push(format!(
            "{} {ranks} called MPI from several threads: each computes on a core of its own, and what they waited for each \
             other in but MPI is not in the trace",
            count(threaded)
        ));
    }
    warnings
}
