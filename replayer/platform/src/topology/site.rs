//! The surroundings of a topology: cables, the number of hosts, and limits that hold for all topologies.

use std::path::Path;

use titr_common::format::volume;
use titr_common::units::Bytes;
use titr_document::{Checked, Place, Source};
use titr_network::topology::{Cable, Fabric, Topology, Wiring};
use toml::Spanned;

/// Hosts at most: a mistyped count is refused rather than filling memory with cables.
const MAX_HOSTS: u64 = 1 << 22;

/// Cables at most: a mistyped size is refused rather than filling memory with them.
const MAX_CABLES: u64 = 1 << 24;

/// Routers at most of a fabric whose routers all have hosts, as the hops between each two are in a table.
const MAX_ROUTERS: u64 = 1 << 15;

/// Bytes at most of the table of the hops between each router and each router with hosts.
const MAX_HOPS: u64 = MAX_ROUTERS * MAX_ROUTERS;

/// The bytes that a host and a cable take in a replay, roughly.
const HOST: u64 = 800;
const CABLE: u64 = 700;

/// The memory that so many things would take, for a message.
fn memory(number: u64, bytes: u64) -> String {
    if number == 0 {
        String::new()
    } else {
        format!(", about {} of memory", volume(Bytes(number.saturating_mul(bytes))))
    }
}

/// Everything that a platform says about its topology outside the topology's own table.
pub(crate) struct Site<'a> {
    /// The platform's text, for mistakes.
    pub source: &'a Source,
    /// The folder of the platform file, from which other files are found.
    pub folder: &'a Path,
    /// The place of the topology.
    pub place: Place,
    /// The number of hosts, if it is written.
    pub hosts: Option<&'a Spanned<u32>>,
    /// The place of `[network]`.
    pub network: Place,
    /// The cable that every two neighbours are joined by, or the key of `[network]` that is missing to describe it.
    pub cable: Result<Cable, &'static str>,
    /// The place of a key that describes cables, if there is one.
    pub cable_key: Option<Place>,
    /// Bytes per second that each host and switch passes on in all, if that is limited.
    pub limiter: Option<f64>,
    /// Whether messages within a host travel through the network and back.
    pub turns_round: bool,
}

impl Site<'_> {
    /// The cable that every two neighbours are joined by.
    pub(crate) fn cable(&self) -> Checked<Cable> {
        let missing = |key| self.source.mistake(Some(self.network.clone()), format!("missing key `{key}`"));
        self.cable.map_err(missing)
    }

    /// The product of sizes, if it is a number of hosts that a platform may have.
    pub(crate) fn within_max_hosts(&self, place: Place, sizes: &[u32]) -> Checked<u64> {
        match sizes.iter().fold(1_u64, |hosts, &size| hosts.saturating_mul(u64::from(size))) {
            hosts @ 1..=MAX_HOSTS => Ok(hosts),
            hosts => {
                let memory = memory(hosts, HOST);
                let message = format!("{hosts} hosts{memory}: a platform has from 1 to {MAX_HOSTS}");
                Err(self.source.mistake(Some(place), message))
            }
        }
    }

    /// The product of sizes, if it is a number of routers that a fabric may have.
    pub(crate) fn within_max_routers(&self, place: Place, sizes: &[u32]) -> Checked<u32> {
        match sizes.iter().fold(1_u64, |routers, &size| routers.saturating_mul(u64::from(size))) {
            routers @ 1..=MAX_ROUTERS => Ok(routers as u32),
            routers => {
                let message = format!("{routers} routers: where all have hosts, there are from 1 to {MAX_ROUTERS}");
                Err(self.source.mistake(Some(place), message))
            }
        }
    }

    /// Finds fault with too many cables.
    pub(crate) fn within_max_cables(&self, place: Place, cables: u64) -> Checked<()> {
        match cables {
            0..=MAX_CABLES => Ok(()),
            _ => {
                let memory = memory(cables, CABLE);
                let message = format!("{cables} cables{memory}: a platform has at most {MAX_CABLES}");
                Err(self.source.mistake(Some(place), message))
            }
        }
    }

    /// Finds fault with a fabric whose table of hops takes too much memory: a byte for each router and each router with hosts.
    pub(crate) fn within_max_hops(&self, place: Place, routers: u64, with_hosts: u64) -> Checked<()> {
        match routers.saturating_mul(with_hosts) {
            0..=MAX_HOPS => Ok(()),
            bytes => {
                let message = format!(
                    "the hops of {routers} routers, {with_hosts} of them with hosts, take {bytes} bytes: there may be {MAX_HOPS}"
                );
                Err(self.source.mistake(Some(place), message))
            }
        }
    }

    /// The topology with the limiters that the platform has, if it has any.
    pub(crate) fn limited<T: Topology + 'static>(&self, topology: T, limit: fn(T, f64) -> T) -> Box<dyn Topology> {
        match self.limiter {
            Some(bandwidth) => Box::new(limit(topology, bandwidth)),
            None => Box::new(topology),
        }
    }

    pub(crate) fn fabric(&self, wiring: Wiring) -> Checked<Box<dyn Topology>> {
        let fabric = Fabric::new(wiring, self.cable()?)
            .map_err(|why| self.source.mistake(Some(self.place.clone()), why.to_string()))?;
        Ok(self.limited(fabric, Fabric::limited))
    }
}
