//! The page of a machine without a program: its hosts in their shape, and its links.

use std::io;
use std::path::Path;

use serde::Serialize;
use titr_network::topology::{LinkId, Topology};

use super::data::failed_at_start;
use super::{BASE, Origin, write_page};
use crate::machine::MachineSummary;

/// Hosts of the largest machine that is drawn.
pub(crate) const MOST_DRAWN: u32 = 4096;

/// Parts of the script, in the order in which they build on each other.
pub(super) const SCRIPTS: [&str; 6] = [
    BASE,
    include_str!("assets/paint.js"),
    include_str!("assets/shape.js"),
    include_str!("assets/machine.js"),
    include_str!("assets/links.js"),
    include_str!("assets/platform.js"),
];

/// The data of the page of a machine.
#[derive(Serialize)]
struct MachinePage<'a> {
    version: &'static str,
    summary: &'a MachineSummary,
    /// What the page says of the machine beside its links, each with a name.
    facts: Vec<(&'static str, String)>,
    links: Vec<NamedLink>,
    /// The names of all hosts; empty if they are `node-0`, `node-1` ….
    names: Vec<String>,
}

/// A link outside hosts.
#[derive(Serialize)]
struct NamedLink {
    name: String,
    bandwidth: f64,
    latency: f64,
    /// Whether it has failed at the start.
    failed: bool,
}

/// Writes the page of a machine.
pub(crate) fn write_machine(summary: &MachineSummary, topology: &dyn Topology, path: &Path) -> io::Result<()> {
    let failed = failed_at_start(topology);
    let links = (0..).map(LinkId).zip(topology.links()).filter(|(id, _)| !topology.is_loopback(*id));
    let links = links.map(|(id, link)| NamedLink {
        name: topology.link_name(id),
        bandwidth: link.bandwidth,
        latency: link.latency.0,
        failed: failed.contains(&id),
    });
    let facts = summary.facts().into_iter().filter(|(name, _)| *name != "Links").collect();
    let (links, names) = (links.collect(), Origin::names(topology));
    let page = MachinePage { version: env!("CARGO_PKG_VERSION"), summary, facts, links, names };
    write_page(&page, &SCRIPTS, path)
}
