//! The summary of a machine, as `titr platform show` prints it: counts, distances, bisection, and checks.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::format::{count, counted, plural, significant, uncertain, volume};
use titr_common::terminal::on_one_line;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::packet::Switch;
use titr_network::properties::{DeviceGraph, Distances, RouteLengths, bisection, distances, route_lengths};
use titr_network::topology::{Failure, HostId, Level, LinkId, Topology};
use titr_platform::{Model, Platform};

/// A machine in numbers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MachineSummary {
    /// The topology.
    pub topology: String,
    /// The network model.
    pub model: &'static str,
    /// The number of hosts.
    pub hosts: u32,
    /// The number of cores of all hosts.
    pub cores: u64,
    /// The number of routers or switches. A host of a torus or mesh is a router, too. `None` if the routers are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<u64>,
    /// The number of cables between devices that have not failed at the start; `None` if the routers are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cables: Option<u64>,
    /// The links outside hosts by their class, such as a dimension or a level. A cable with two directions is two links.
    pub links: Vec<ClassOfLinks>,
    /// The routes of messages between different hosts.
    pub routes: RouteLengths,
    /// The distances between routers with hosts; `None` if the routers are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distances: Option<Distances>,
    /// The bandwidth between halves of the hosts at the start; `None` if the routers are unknown, if rails differ, or if there
    /// are fewer than two hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bisection: Option<BisectionOfMachine>,
    /// The packet network; `None` if the machine has another network model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketsOfMachine>,
    /// The reason why the routers are unknown; `None` if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_routers: Option<String>,
    /// The failures of links and routers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureOfMachine>,
    /// Mistakes in the machine, such as hosts that do not reach each other.
    pub findings: Vec<String>,
    /// Sentences on properties of the platform that affect results.
    pub warnings: Vec<String>,
}

/// Links of one class with equal properties.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ClassOfLinks {
    /// The name of the class.
    pub class: String,
    /// The number of links.
    pub links: u64,
    /// The bandwidth of each link, in bytes per second.
    pub bandwidth: f64,
    /// The latency of each link.
    pub latency: Seconds,
}

/// The least bandwidth between two halves of the hosts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BisectionOfMachine {
    /// The bandwidth from one half to the other, in bytes per second.
    pub bandwidth: f64,
    /// Whether the bandwidth follows from the definition of the topology. Otherwise it is the smallest bandwidth that was
    /// found, and the true value may be smaller.
    pub is_exact: bool,
    /// The number of divisions into halves that were tried.
    pub divisions: u32,
    /// The bandwidth as a part of the bandwidth with which one half of the hosts can send. `None` if the hosts have no cables
    /// of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of_injection: Option<f64>,
}

/// A failure of a link or router.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FailureOfMachine {
    /// The link or router.
    pub what: String,
    /// The begin of the failure.
    pub at: Seconds,
    /// The end of the failure; `None` if it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Seconds>,
}

/// The routers of the packet model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PacketsOfMachine {
    /// Virtual channels of each link. With these, packets cannot deadlock.
    pub virtual_channels: u32,
    /// Whether packets use rings, in which they need bubbles.
    pub has_rings: bool,
    /// The kind of all routers.
    pub switch: String,
    /// The length of a cycle.
    pub cycle: Seconds,
    /// Whether packets take the latencies of links. Otherwise `network.packet.wire_delay` stands for them.
    pub has_latencies: bool,
}

impl MachineSummary {
    pub(crate) fn of(platform: &Platform) -> Self {
        let topology = &*platform.topology;
        let rails = u64::from(topology.rails().count.get());
        let routes = route_lengths(topology);
        let graph = topology.router_graph();
        let network = graph.as_ref().ok().map(|graph| (graph, DeviceGraph::of(graph)));
        let lengths = network.as_ref().map(|(_, devices)| distances(devices));
        let of_equal_rails = network.as_ref().filter(|_| !topology.rails_differ());
        let bisection = of_equal_rails.and_then(|(graph, devices)| bisection(topology, graph, devices));
        Self {
            topology: topology.name(),
            model: platform.model.name(),
            hosts: topology.hosts(),
            cores: u64::from(topology.hosts()) * u64::from(platform.cores),
            routers: network.as_ref().map(|(_, devices)| u64::from(devices.routers_beside_hosts()) * rails),
            cables: cables(topology),
            links: classes(topology).into_iter().chain(within_hosts(platform)).collect(),
            findings: findings(topology, &routes, lengths.as_ref(), network.as_ref().map(|(_, devices)| devices)),
            routes,
            distances: lengths,
            bisection: bisection.map(|found| BisectionOfMachine {
                bandwidth: found.bandwidth * rails as f64,
                is_exact: found.is_exact,
                divisions: found.divisions,
                part_of_injection: found.injection.map(|injection| found.bandwidth / injection),
            }),
            packets: match &platform.model {
                Model::Packet(spec) => Some(PacketsOfMachine {
                    virtual_channels: spec.virtual_channels(),
                    has_rings: spec.has_rings() && spec.parameters().switch == Switch::InputQueued,
                    switch: spec.parameters().switch.to_string(),
                    cycle: Seconds(spec.cycle()),
                    has_latencies: !spec.graph().own_links().is_empty(),
                }),
                Model::Flow(_) | Model::Ideal => None,
            },
            failures: topology.failures().iter().map(FailureOfMachine::of).collect(),
            no_routers: graph.as_ref().err().map(ToString::to_string),
            warnings: platform.warnings.clone(),
        }
    }
}

impl FailureOfMachine {
    pub(crate) fn of(failure: &Failure) -> Self {
        let until = (failure.until < Time::NEVER).then(|| failure.until.seconds());
        Self { what: failure.name.clone(), at: failure.at.seconds(), until }
    }
}

/// The cables of all rails that have not failed at the start.
fn cables(topology: &dyn Topology) -> Option<u64> {
    let of_rail = |number| {
        let graph = topology.rail(number).unwrap_or(topology).router_graph().ok()?;
        Some(DeviceGraph::of(&graph).cables().len() as u64)
    };
    topology.rails().numbers().map(of_rail).sum()
}

/// The links outside hosts, by class and properties.
fn classes(topology: &dyn Topology) -> Vec<ClassOfLinks> {
    let mut classes: BTreeMap<(String, u64, u64), u64> = BTreeMap::new();
    let links = (0..).map(LinkId).zip(topology.links());
    for (id, link) in links.filter(|(id, _)| !topology.is_loopback(*id)) {
        let key = (topology.link_class(id), link.bandwidth.to_bits(), link.latency.0.to_bits());
        *classes.entry(key).or_default() += 1;
    }
    let class = |((class, bandwidth, latency), links)| ClassOfLinks {
        class,
        links,
        bandwidth: f64::from_bits(bandwidth),
        latency: Seconds(f64::from_bits(latency)),
    };
    classes.into_iter().map(class).collect()
}

/// Prints a line for each link.
pub(crate) fn write_links(topology: &dyn Topology, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<String> = (0..topology.links().len() as u32).map(|link| topology.link_name(LinkId(link))).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    for ((id, link), name) in (0..).map(LinkId).zip(topology.links()).zip(&names) {
        let (class, latency) = (topology.link_class(id), uncertain(link.latency, None));
        writeln!(out, "{:<width$}  {class}, {}, {latency}", on_one_line(name), rate(link.bandwidth))?;
    }
    Ok(())
}

/// The parts of hosts, by level, each with the bandwidth and latency of one message; and their memory.
fn within_hosts(platform: &Platform) -> Vec<ClassOfLinks> {
    let Some(node) = &platform.node else { return Vec::new() };
    let hosts = u64::from(platform.topology.hosts());
    let of_level = |level: &Level| ClassOfLinks {
        class: format!("{} of {}", level.name, counted(level.cores, "core", "cores")),
        links: hosts * u64::from(node.parts(level)),
        bandwidth: level.bandwidth,
        latency: level.latency,
    };
    let memory = node.memory.map(|bandwidth| ClassOfLinks {
        class: "memory".to_owned(),
        links: hosts,
        bandwidth,
        latency: Seconds(0.0),
    });
    node.levels.iter().map(of_level).chain(memory).collect()
}

/// Mistakes in a machine.
fn findings(
    topology: &dyn Topology,
    routes: &RouteLengths,
    distances: Option<&Distances>,
    devices: Option<&DeviceGraph>,
) -> Vec<String> {
    let name = |host: HostId| topology.host_name(host);
    let mut findings = Vec::new();
    if let Some((from, to)) = routes.without_route {
        findings.push(format!("there is no route from {} to {}", name(from), name(to)));
    }
    if distances.is_some_and(|distances| !distances.all_reached) {
        findings.push("the network is in several parts, without a path from one to the other".to_owned());
    }
    if let Some(host) = devices.and_then(|devices| devices.isolated_hosts().first().copied()) {
        findings.push(format!("{} has no link", name(host)));
    }
    findings
}

impl MachineSummary {
    /// Prints the summary.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut last = "";
        for (name, what) in self.facts() {
            writeln!(out, "{:<11}{}", if name == last { "" } else { name }, on_one_line(&what))?;
            last = name;
        }
        Ok(())
    }

    /// What there is to say of the machine, each with a name. Several facts in a row can have the same name.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let Self { hosts, cores, routes, .. } = self;
        let mut facts = vec![
            ("Machine", format!("{}; {} model", self.topology, self.model)),
            ("Hosts", format!("{}, {} {}", count((*hosts).into()), count(*cores), plural(*cores, "core", "cores"))),
        ];
        if let (Some(routers), Some(cables)) = (self.routers, self.cables) {
            let noun = plural(cables, "cable", "cables");
            facts.push(("Routers", format!("{}; {} {noun}", count(routers), count(cables))));
        }
        facts.extend(self.no_routers.iter().map(|why| ("Routers", format!("unknown: {why}"))));
        facts.extend(self.links_in_words().map(|links| ("Links", links)));
        let sample =
            if routes.is_complete { String::new() } else { format!(", of {} pairs of hosts", count(routes.pairs)) };
        let most = if routes.is_complete { "at most" } else { "found up to" };
        if routes.pairs > 0 {
            let links = counted(routes.longest, "link", "links");
            facts.push(("Routes", format!("{most} {links}, mean {}{sample}", significant(routes.mean, 4))));
        }
        if routes.pairs > 0 && self.has_latencies() {
            let [longest, mean] = [routes.longest_latency, routes.mean_latency].map(|latency| uncertain(latency, None));
            facts.push(("Latency", format!("{most} {longest}, mean {mean}")));
        }
        if let Some(distances) = self.distances.as_ref().filter(|_| *hosts > 1) {
            let diameter = match distances.is_complete {
                true => distances.diameter.to_string(),
                false => {
                    let from = counted(distances.sources as usize, "router", "routers");
                    format!("{} or more, from {from}", distances.diameter)
                }
            };
            let mean = significant(distances.mean, 4);
            facts.push(("Diameter", format!("{diameter}; mean distance of routers {mean}")));
        }
        facts.extend(self.bisection.iter().map(|bisection| ("Bisection", bisection.in_words())));
        if let Some(packets) = &self.packets {
            let channels = counted(packets.virtual_channels, "virtual channel", "virtual channels");
            let rings = if packets.has_rings { ", bubbles in rings" } else { "" };
            let cycle = uncertain(packets.cycle, None);
            facts.push(("Packets", format!("free of deadlock with {channels}{rings}; cycles of {cycle}")));
        }
        if let Some(packets) = self.packets.as_ref().filter(|packets| packets.switch != "input-queued") {
            facts.push(("Switches", packets.switch.clone()));
        }
        facts.extend(self.failures.iter().map(|failure| ("Failures", failure.in_words())));
        facts.extend(self.findings.iter().map(|finding| ("Mistake", finding.clone())));
        facts
    }

    /// Whether messages take the latencies of links.
    fn has_latencies(&self) -> bool {
        self.packets.as_ref().is_none_or(|packets| packets.has_latencies)
    }

    /// The classes of links, in columns.
    fn links_in_words(&self) -> impl Iterator<Item = String> {
        let width = self.links.iter().map(|class| class.class.len()).max().unwrap_or_default();
        let numbers = self.links.iter().map(|class| count(class.links).len()).max().unwrap_or_default();
        self.links.iter().map(move |class| {
            let (links, rate) = (count(class.links), rate(class.bandwidth));
            let latency = uncertain(class.latency, None);
            let latency = if self.has_latencies() { format!(", {latency}") } else { String::new() };
            format!("{:<width$}  {links:>numbers$}  {rate}{latency}", class.class)
        })
    }
}

impl FailureOfMachine {
    pub(crate) fn in_words(&self) -> String {
        let from = if self.at.0 > 0.0 { format!(" from {}", uncertain(self.at, None)) } else { String::new() };
        let until = self.until.map(|until| format!(" until {}", uncertain(until, None))).unwrap_or_default();
        format!("{}{from}{until}", self.what)
    }
}

impl BisectionOfMachine {
    fn in_words(&self) -> String {
        let rate = rate(self.bandwidth);
        let part = self.part_of_injection.map(|part| {
            let percent = significant(100.0 * part, 3);
            format!(", {percent} % of what half the hosts can send")
        });
        let part = part.unwrap_or_default();
        match self.is_exact {
            true => format!("{rate} each way{part}"),
            false => {
                format!("at most {rate} each way{part} (the smallest of {} divisions)", count(self.divisions.into()))
            }
        }
    }
}

fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", volume(Bytes(bytes_per_second as u64)))
}
