//! `[node]`: the inside of each host.

use serde::Deserialize;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds};
use titr_document::Checked;
use titr_network::topology::{Level, Node};
use toml::Spanned;

use super::Builder;
use crate::mpi::LocalOverheads;
use crate::overhead::{Overhead, OverheadStep};

/// `[node]`: the inside of each host, in place of `[network.loopback]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeTable {
    /// Levels of the cores, from the inside outwards. A message takes the innermost that holds both ranks. Default: one
    /// level of all cores, with 200 ns.
    #[serde(default)]
    pub level: Vec<Spanned<LevelTable>>,
    /// Part of the caches that a core has. Messages of calls with larger buffers go through memory. Default: 2 MiB.
    pub cache: Option<Quantity<Bytes>>,
    /// Bandwidth that all messages through the memory of a host share. A copy reads and writes, and often twice: a
    /// fifth of the data sheet's bandwidth. Default: for each core 0.8 GB/s, and at least 8 GB/s.
    pub memory: Option<Quantity<Bandwidth>>,
    /// Time that a message within the host takes its sender, in steps as `mpi.send_overhead`, which is for the other
    /// messages: the first copy. The message is on its way meanwhile. Default: half a microsecond, and 0.25 ns a byte.
    pub send_overhead: Option<Overhead>,
    /// Time that a message within the host takes its receiver, in such steps: the second copy. Default: as
    /// `send_overhead`'s.
    pub recv_overhead: Option<Overhead>,
}

/// `[[node.level]]`: a level of the cores of a host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelTable {
    /// Name in results, such as `"socket"`. Required.
    pub name: String,
    /// Cores of each part at this level. Default: all cores of the host.
    pub cores: Option<Spanned<u32>>,
    /// Latency of a message. Required.
    pub latency: Quantity<Seconds>,
    /// Bandwidth of one message. Required.
    pub bandwidth: Quantity<Bandwidth>,
    /// Bandwidth that all messages within a part share. Default: without limit.
    pub shared: Option<Quantity<Bandwidth>>,
}

/// `[network.card]`: what the network card of a host passes.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CardTable {
    /// Messages to other hosts that a host sends in a second, and messages that it receives. Default: without limit.
    pub messages_per_second: Option<Spanned<f64>>,
    /// Bandwidth of one message between hosts. Default: that of its links.
    pub process_bandwidth: Option<Quantity<Bandwidth>>,
}

/// The part of the caches that a core of a machine of today has: 1.25 to 2.5 MiB of Xeons, 2 to 4 MiB of EPYCs (data
/// sheets of Intel and AMD).
const CACHE: Bytes = Bytes(2 << 20);
/// Latency between two cores, bandwidth of a message but for its copies, bytes per second of messages through memory for
/// each core, and the cost of a copy: by half of the machines of TRUTH.md.
const LATENCY: Seconds = Seconds(200e-9);
const BANDWIDTH: f64 = 100e9;
const MEMORY: f64 = 0.8e9;
/// A fifth of two channels of DDR4-2666.
const LEAST_MEMORY: f64 = 8e9;
const COPY: OverheadStep =
    OverheadStep { above: Bytes(0), seconds: Seconds(0.5e-6), seconds_per_byte: Seconds(0.25e-9) };

/// Parts of a host at all levels at most.
const MOST_PARTS: u64 = 1 << 12;

impl Builder<'_> {
    /// The inside of hosts of this many cores.
    pub(super) fn node(&self, table: &NodeTable, cores: u32) -> Checked<Node> {
        let mut levels = Vec::new();
        for written in &table.level {
            let level = written.get_ref();
            let held = level.cores.as_ref().map_or(cores, |held| *held.get_ref());
            let inner: Option<&Level> = levels.last();
            if let Some(written) = &level.cores
                && (held == 0 || inner.is_some_and(|inner| held <= inner.cores))
            {
                let mistake = self.wrong(written, "each level holds more cores than the one within it");
                return Err(mistake.with_help("list the levels from the inside outwards"));
            }
            levels.push(Level {
                name: level.name.clone(),
                cores: held,
                latency: level.latency.0,
                bandwidth: level.bandwidth.0.bytes_per_second,
                shared: level.shared.as_ref().map(|shared| shared.0.bytes_per_second),
            });
        }
        if let (Some(outermost), Some(written)) = (levels.last(), table.level.last())
            && outermost.cores < cores
        {
            let message = format!("the outermost level holds {} of {cores} cores", outermost.cores);
            return Err(self.wrong(written, message).with_help("add a level without `cores`, which holds them all"));
        }
        let parts: u64 = levels.iter().map(|level| u64::from(cores.div_ceil(level.cores))).sum();
        if let Some(written) = table.level.first().filter(|_| parts > MOST_PARTS) {
            return Err(self.wrong(written, format!("{parts} parts of a host: there are at most {MOST_PARTS}")));
        }
        if levels.is_empty() {
            levels.push(Level { name: "node".to_owned(), cores, latency: LATENCY, bandwidth: BANDWIDTH, shared: None });
        }
        let memory = table
            .memory
            .as_ref()
            .map_or((MEMORY * f64::from(cores)).max(LEAST_MEMORY), |memory| memory.0.bytes_per_second);
        Ok(Node { cores, levels, cache: table.cache.as_ref().map_or(CACHE, |cache| cache.0), memory: Some(memory) })
    }

    /// Messages that a card passes in a second.
    pub(super) fn message_rate(&self, table: &CardTable) -> Checked<Option<f64>> {
        let Some(rate) = &table.messages_per_second else { return Ok(None) };
        match *rate.get_ref() {
            some if some.is_finite() && some > 0.0 => Ok(Some(some)),
            other => Err(self.wrong(rate, format!("{other} is no number of messages in a second"))),
        }
    }
}

impl NodeTable {
    /// The costs of messages within a host.
    pub(super) fn overheads(&self, node: &Node) -> LocalOverheads {
        let latency = node.levels.iter().map(|level| level.latency.0).fold(0.0, f64::max);
        let copy = |written: &Option<Overhead>| written.clone().unwrap_or_else(|| Overhead::new(vec![COPY]));
        let (send, receive) = (copy(&self.send_overhead), copy(&self.recv_overhead));
        LocalOverheads { send, receive, latency: Seconds(latency) }
    }
}
