//! The platform of a configuration: its topology, as a user describes it, with links calibrated on a star.

use std::error::Error;
use std::path::Path;

use titr_simulation::Platform;
use toml::{Table, Value};

use crate::calibration::Calibration;
use crate::configuration::{Configuration, Model, Shape};

/// Bytes that a link carries in a cycle.
const PHIT: f64 = 8.0;

/// Messages as packets of TCP, at most 1,448 bytes of data in each Ethernet frame, through switches with one memory for all ports. A
/// connection has TCP's initial window of ten packets (RFC 6928).
const PACKETS: &str = "\
packet = \"1448 B\"\n\
phit = \"8 B\"\n\
switch = \"output-queued\"\n\
injection_order = \"round-robin\"\n\
connection_window = \"14480 B\"\n\
injection_ports = 1\n\
consumption_ports = 1\n";

/// The platform of `configuration` with links and an MPI library as they were calibrated, and with the values of keys multiplied by
/// `factors`.
pub fn platform(
    calibration: &Calibration,
    configuration: &Configuration,
    model: Model,
    factors: &[(String, f64)],
) -> Result<Platform, Box<dyn Error>> {
    let mut file = calibration.platform();
    let hosts = table(&mut file, "hosts")?;
    hosts.insert("count".into(), configuration.hosts.into());
    hosts.insert("cores".into(), configuration.slots.into());
    let network = table(&mut file, "network")?;
    network.insert("model".into(), model.to_string().into());
    // Without a measured loopback, the inside of a host is not what is judged.
    network.entry("loopback").or_insert(Table::new().into());
    if model == Model::Packet {
        let packets = packets(network, configuration.shape)?;
        network.entry("packet").or_insert(packets.into());
    }
    if configuration.shape != Shape::Star {
        let take = |key: &str, network: &mut Table| network.remove(key).ok_or(format!("network.{key} is missing"));
        let (bandwidth, latency) = (take("bandwidth", network)?, take("latency", network)?);
        let explicit = Explicit { configuration, bandwidth, latency }.table();
        file.insert("topology".into(), Table::from_iter([("explicit".to_owned(), explicit)]).into());
        table(&mut file, "hosts")?.remove("count");
        // The keys whose uncertainty is known are those of a star.
        table(&mut file, "spread")?.remove("uncertainty");
    }
    Ok(Platform::parse_scaled(Path::new("calibrated.toml"), toml::to_string(&file)?, &[], factors)?)
}

/// The packets of a calibrated network, whose links are those of the flow model.
fn packets(network: &Table, shape: Shape) -> Result<Table, Box<dyn Error>> {
    let mut packets: Table = PACKETS.parse()?;
    let burst = network.get("flow").and_then(|flow| flow.get("burst"));
    packets.extend(burst.map(|burst| ("burst".to_owned(), burst.clone())));
    if shape != Shape::Star {
        return Ok(packets);
    }
    // Links that are written have their latency. Those of a star have it in cycles.
    let number = |key: &str| -> Result<f64, Box<dyn Error>> {
        let written = network.get(key).and_then(Value::as_str).and_then(|text| text.split(' ').next());
        Ok(written.ok_or_else(|| format!("network.{key} is missing"))?.parse()?)
    };
    let cycles = number("latency")? * number("bandwidth")? / PHIT;
    packets.insert("wire_delay".to_owned(), (cycles.round() as i64).into());
    Ok(packets)
}

fn table<'t>(file: &'t mut Table, key: &str) -> Result<&'t mut Table, String> {
    file.get_mut(key).and_then(Value::as_table_mut).ok_or_else(|| format!("[{key}] is missing"))
}

/// A network of which every link and route is written.
struct Explicit<'c> {
    configuration: &'c Configuration,
    bandwidth: Value,
    latency: Value,
}

impl Explicit<'_> {
    fn table(&self) -> Value {
        let hosts = self.configuration.hosts;
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))).filter(|(from, to)| from != to);
        let routes: Vec<(u32, u32, Vec<String>)> = pairs.map(|(from, to)| (from, to, self.route(from, to))).collect();
        let mut names: Vec<&String> = routes.iter().flat_map(|(_, _, links)| links).collect();
        names.sort();
        names.dedup();
        let link = |name: &&String| {
            let (bandwidth, latency) = (self.bandwidth.clone(), self.latency.clone());
            table_of([("name", name.as_str().into()), ("bandwidth", bandwidth), ("latency", latency)])
        };
        let route = |(from, to, links): &(u32, u32, Vec<String>)| {
            table_of([("from", host(*from).into()), ("to", host(*to).into()), ("links", links.clone().into())])
        };
        table_of([
            ("hosts", (0..hosts).map(host).collect::<Vec<_>>().into()),
            ("links", names.iter().map(link).collect::<Vec<_>>().into()),
            ("routes", routes.iter().map(route).collect::<Vec<_>>().into()),
        ])
    }

    /// The links between two hosts, as `ci/lab` makes them.
    fn route(&self, from: u32, to: u32) -> Vec<String> {
        let inner: Vec<String> = match self.configuration.shape {
            Shape::Star => Vec::new(),
            Shape::Tree => {
                let hosts_of_leaf = self.configuration.hosts / 2;
                let (leaf, other) = (from / hosts_of_leaf, to / hosts_of_leaf);
                if leaf == other { Vec::new() } else { vec![format!("leaf-{leaf} up"), format!("leaf-{other} down")] }
            }
            Shape::Ring => {
                let hosts = self.configuration.hosts;
                let forward = (to + hosts - from) % hosts;
                if 2 * forward <= hosts {
                    (0..forward).map(|hop| format!("router-{} plus", (from + hop) % hosts)).collect()
                } else {
                    (0..hosts - forward).map(|hop| format!("router-{} minus", (from + hosts - hop) % hosts)).collect()
                }
            }
        };
        [vec![format!("{} up", host(from))], inner, vec![format!("{} down", host(to))]].concat()
    }
}

fn host(number: u32) -> String {
    format!("node-{number}")
}

fn table_of<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(shape: Shape, from: u32, to: u32) -> String {
        let configuration = Configuration { shape, hosts: 8, slots: 1, rate: "100mbit".to_owned() };
        let explicit = Explicit { configuration: &configuration, bandwidth: 1.into(), latency: 1.into() };
        explicit.route(from, to).join(", ")
    }

    #[test]
    fn routes_are_those_of_the_lab() {
        assert_eq!(route(Shape::Tree, 0, 3), "node-0 up, node-3 down");
        assert_eq!(route(Shape::Tree, 0, 4), "node-0 up, leaf-0 up, leaf-1 down, node-4 down");
        assert_eq!(route(Shape::Ring, 6, 0), "node-6 up, router-6 plus, router-7 plus, node-0 down");
        assert_eq!(route(Shape::Ring, 0, 7), "node-0 up, router-0 minus, node-7 down");
    }
}
