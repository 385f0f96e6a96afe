//! Platform files, titr's and SimGrid's.

use std::path::Path;

use titr_network::topology::{HostId, Topology};
use titr_platform::Platform;

/// Hosts that routes are asked between.
const HOSTS: u32 = 8;

/// A platform in titr's TOML.
pub fn platform(data: &[u8]) {
    if !data.trim_ascii_start().starts_with(b"<") {
        any_platform("cluster.toml", data);
    }
}

/// A platform in SimGrid's XML.
pub fn simgrid(data: &[u8]) {
    if data.trim_ascii_start().starts_with(b"<") {
        any_platform("cluster.xml", data);
    }
}

/// Reads a platform and asks it everything, or has its mistake drawn.
fn any_platform(name: &str, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Platform::parse(Path::new(name), text.to_owned(), &[]) {
        Ok(platform) => {
            let _ = platform.place(HOSTS);
            let topology = platform.topology.as_ref();
            routes(topology);
            let _ = (topology.name(), platform.network(0).next_event());
        }
        // Drawing takes far longer than reading, so not every mistake is.
        Err(error) if data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)).is_multiple_of(8) => {
            let _ = error.to_string();
        }
        Err(_) => {}
    }
}

/// Asks for the routes between the first hosts, and what the links on them are called.
fn routes(topology: &dyn Topology) {
    let hosts = topology.hosts().min(HOSTS);
    let mut route = Vec::new();
    for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (HostId(from), HostId(to)))) {
        topology.route(from, to, &mut route);
        for link in route.drain(..) {
            let _ = (&topology.links()[link.index()], topology.link_name(link));
        }
    }
}
