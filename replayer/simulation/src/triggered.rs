//! Replays a network trace on a platform: messages are injected as their triggers arrive, and the network's speed feeds
//! back into its load.
//!
//! A message without a trigger enters the network at its own time. Any other message enters when all its triggers have
//! arrived and their delays are over. In an **open loop**, which serves for comparison, all messages enter at their own
//! times. Messages that enter at the same instant enter in the order of their labels, not of their lines.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;
use titr_common::format::counted;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::packet::PacketStatistics;
use titr_network::statistics::{Histogram, Percentiles};
use titr_network::topology::HostId;
use titr_network::{LinkLoad, Network, RailNetwork, Transfer, TransferId, Unreachable};
use titr_platform::Platform;

use crate::cpu_time::{cpu_time, per_second};
use crate::network_traces::{Feedback, Label, NetworkTrace, NetworkTraceError, Released};
use crate::parallel::Jobs;
use crate::result::{LinkUse, NetworkName, Packets, Runs};

/// A replay of a network trace on a platform.
#[derive(Clone, Copy, Debug)]
pub struct TriggeredReplay<'a> {
    /// The platform, whose host *n* is node *n* of the trace.
    pub platform: &'a Platform,
    /// The file of the trace.
    pub trace: &'a Path,
    /// Whether messages are injected at their own times, whatever their triggers are.
    pub open_loop: bool,
    /// The number of runs, each with another seed; at least 1.
    pub runs: u32,
    /// The number of runs at the same time. It does not change the result.
    pub jobs: Jobs,
    /// Whether the serialised result lists each virtual channel.
    pub channels: bool,
}

/// An error that prevents the replay of a network trace.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum TriggeredError {
    #[error(transparent)]
    Trace(#[from] NetworkTraceError),
    #[error(
        "{}: the trace has {}, and the platform {}",
        path.display(), counted(*nodes, "node", "nodes"), counted(*hosts, "host", "hosts")
    )]
    TooManyNodes { path: PathBuf, nodes: u32, hosts: u32 },
    #[error("simulated time is more than 213 days: is a time or a delay of the trace not in picoseconds?")]
    EndOfTime,
    #[error(transparent)]
    Unreachable(Unreachable),
}

/// The result of a replay of a network trace. All fields except `runs` and `packets` describe the first run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TriggeredResult {
    /// The time at which the last message arrived.
    pub simulated_time: Seconds,
    /// The time at which the last message arrived in the trace.
    pub recorded_time: Option<Seconds>,
    /// Whether messages were injected at their own times, whatever their triggers are.
    pub open_loop: bool,
    /// The number of messages that entered the network.
    pub messages: u64,
    /// The number of these messages that have a trigger.
    pub triggered: u64,
    /// Payload of these messages.
    pub bytes: Bytes,
    /// The mean time from the entry of a message into the network to its arrival.
    pub latency: Seconds,
    /// Percentiles of that time.
    pub latency_percentiles: Percentiles<Seconds>,
    /// The network.
    pub network: NetworkName,
    /// The busiest links.
    pub links: Vec<LinkUse>,
    /// All links that carried anything, busiest first.
    #[serde(skip)]
    pub all_links: Vec<LinkUse>,
    /// Statistics of a packet network over all runs; `None` in other models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// The predicted time of each run, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// Warnings, one sentence each.
    pub warnings: Vec<String>,
    /// titr's own speed. Only this field differs between two replays of the same input.
    pub replay: TriggeredSpeed,
}

/// The speed of a replay of a network trace.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct TriggeredSpeed {
    /// Wall-clock time, in seconds.
    pub wall_seconds: f64,
    /// Processor time, in seconds.
    pub cpu_seconds: f64,
    /// Messages per second of processor time.
    pub messages_per_second: f64,
    /// In the packet model, phit-hops (phits times the channels that they took) per second of processor time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phit_hops_per_second: Option<f64>,
}

#[derive(Default)]
struct TriggeredRun {
    end: Time,
    recorded: Option<Time>,
    messages: u64,
    triggered: u64,
    bytes: Bytes,
    /// The latencies of messages in picoseconds, and their sum.
    latencies: Histogram,
    latency: u128,
    loads: Vec<LinkLoad>,
    packets: Option<PacketStatistics>,
    /// Processor time of the run.
    cpu: Duration,
}

struct UnderWay {
    label: Label,
    since: Time,
}

impl TriggeredReplay<'_> {
    /// Replays the trace in each run.
    ///
    /// # Errors
    /// If the trace cannot be read, is invalid or does not fit the platform.
    pub fn run(&self) -> Result<TriggeredResult, TriggeredError> {
        let start = Instant::now();
        let mut runs = self.jobs.map(self.runs as usize, |number| self.run_once(number as u32))?;
        let times: Vec<Time> = runs.iter().map(|run| run.end).collect();
        let packets: Vec<PacketStatistics> = runs.iter_mut().filter_map(|run| run.packets.take()).collect();
        let cpu = runs.iter().map(|run| run.cpu).sum();
        let first = runs.swap_remove(0);
        let replay = speed((start.elapsed(), cpu), first.messages * times.len() as u64, &packets);

        let platform = self.platform;
        let network = NetworkName::from(platform);
        let simulated_time = first.end.seconds();
        let all_links = LinkUse::by_use(platform, &first.loads, simulated_time);
        let packets = Packets::of(platform, packets, self.channels.then_some(&network));
        let mut warnings = platform.warnings.clone();
        if first.triggered == 0 && !self.open_loop && first.messages > 0 {
            warnings.push(
                "no message of the trace has a trigger, so that all were injected at their own times: `titr triggers` finds triggers"
                    .to_owned(),
            );
        }
        Ok(TriggeredResult {
            simulated_time,
            recorded_time: first.recorded.map(Time::seconds),
            open_loop: self.open_loop,
            messages: first.messages,
            triggered: if self.open_loop { 0 } else { first.triggered },
            bytes: first.bytes,
            latency: Time((first.latency / u128::from(first.messages.max(1))) as u64).seconds(),
            latency_percentiles: first.latencies.percentiles().map(|time| Time(time).seconds()),
            network,
            links: LinkUse::busiest(&all_links),
            all_links,
            packets,
            runs: (times.len() > 1).then(|| Runs::of(&times)),
            warnings,
            replay,
        })
    }

    fn run_once(&self, number: u32) -> Result<TriggeredRun, TriggeredError> {
        let start = cpu_time();
        let trace = NetworkTrace::open(self.trace)?;
        let (nodes, hosts) = (trace.nodes, self.platform.topology.hosts());
        if nodes > hosts {
            return Err(TriggeredError::TooManyNodes { path: self.trace.into(), nodes, hosts });
        }
        let mut feedback = Feedback::new(trace, self.open_loop)?;
        let mut network = self.platform.network(number);
        let mut run = Self::drive(&mut *network, &mut feedback)?;
        feedback.finish()?;
        run.loads = network.link_loads();
        run.packets = RailNetwork::packet_statistics(&*network, run.end);
        run.cpu = cpu_time().saturating_sub(start);
        Ok(run)
    }

    /// Injects every message when its triggers or its own time release it, until none is left.
    fn drive(network: &mut dyn Network, feedback: &mut Feedback) -> Result<TriggeredRun, TriggeredError> {
        let mut run = TriggeredRun::default();
        let mut under_way: slab::Slab<UnderWay> = slab::Slab::new();
        let mut delivered = Vec::new();
        loop {
            let wires = network.next_event();
            let release = feedback.next_release(wires)?;
            let Some(now) = [wires, release].into_iter().flatten().min() else { break };
            if now == Time::NEVER {
                return Err(match network.first_unreachable() {
                    Unreachable::EndOfTime => TriggeredError::EndOfTime,
                    other => TriggeredError::Unreachable(other),
                });
            }
            network.advance(now, &mut delivered);
            for TransferId(id) in delivered.drain(..) {
                let Some(UnderWay { label, since }) = under_way.try_remove(id as usize) else { continue };
                run.end = now;
                run.latencies.add(now.0 - since.0);
                run.latency += u128::from(now.0 - since.0);
                feedback.arrived(label, now)?;
            }
            while let Some(Released { label, from, to, bytes, recorded, triggered, .. }) = feedback.take_released(now) {
                let id = under_way.insert(UnderWay { label, since: now });
                run.messages += 1;
                run.triggered += u64::from(triggered);
                run.bytes += bytes;
                run.recorded = run.recorded.max(recorded);
                let (from, to) = (HostId(from.0), HostId(to.0));
                let transfer = Transfer::new(TransferId(id as u32), from, to, bytes);
                network.inject(now, transfer);
            }
        }
        Ok(run)
    }
}

/// The speed of a replay of `messages` messages.
fn speed((wall, cpu): (Duration, Duration), messages: u64, packets: &[PacketStatistics]) -> TriggeredSpeed {
    let phit_hops: u64 = packets.iter().map(|packets| packets.phit_hops).sum();
    TriggeredSpeed {
        wall_seconds: wall.as_secs_f64(),
        cpu_seconds: cpu.as_secs_f64(),
        messages_per_second: per_second(messages as f64, cpu),
        phit_hops_per_second: (!packets.is_empty()).then(|| per_second(phit_hops as f64, cpu)),
    }
}
