//! Zones: individually declared hosts, routers, links, clusters and routes, and nested zones.
//!
//! Two passes read the file: the first numbers the declared elements ([`declarations`]), the second reads the routes
//! between them ([`routes`]).

mod clusters;
mod declarations;
mod profile;
mod profiles;
mod routes;

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashMap;
use titr_common::step_function::StepFunction;
use titr_common::units::Seconds;
use titr_document::{Checked, Located, Place, Value};
use titr_network::topology::{Attachment, HostId, Link, LinkId, PointId, Sharing, Topology, ZoneId, Zones};

use super::element::{Attribute, Element};
use super::{LOOPBACK_BANDWIDTH, Reading, cluster};

/// Zones within zones at most.
const MAX_DEPTH: usize = 64;

/// The largest number of hosts, as each is written down.
const MAX_HOSTS: usize = 1 << 18;

/// The largest number of points of a zone with routing Floyd, which has a table of all pairs.
const MAX_FLOYD: usize = 1 << 13;

/// Makes the topology of a cluster that is not flat out of its tables.
pub(crate) type BuildTopology<'b> = &'b dyn Fn(Located) -> Checked<Box<dyn Topology>>;

/// The kinds of routing of a zone, by their names in lower case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoutingKind {
    Full,
    Floyd,
    Dijkstra,
    Star,
    Vivaldi,
    None,
    Wifi,
}

const ROUTINGS: [(&str, RoutingKind); 8] = [
    ("Full", RoutingKind::Full),
    ("Floyd", RoutingKind::Floyd),
    ("Dijkstra", RoutingKind::Dijkstra),
    ("DijkstraCache", RoutingKind::Dijkstra),
    ("Cluster", RoutingKind::Star),
    ("Vivaldi", RoutingKind::Vivaldi),
    ("None", RoutingKind::None),
    ("Wifi", RoutingKind::Wifi),
];

/// A name and its place.
#[derive(Clone)]
struct Name {
    text: String,
    place: Place,
}

#[derive(Clone, Copy)]
enum NamedLink {
    OneWay(LinkId),
    SplitDuplex { up: LinkId, down: LinkId },
}

/// The contents of a zone, until its routes are read.
struct ZoneDraft<'a> {
    id: ZoneId,
    element: Element<'a>,
    routing: RoutingKind,
    points: Vec<PointId>,
    star: FxHashMap<PointId, Attachment>,
    coordinates: FxHashMap<PointId, [f64; 3]>,
    backbone: Option<LinkId>,
    /// Routes, bypasses and host links.
    routes: Vec<Element<'a>>,
}

/// The hosts and links that have been read so far.
struct Reader<'a, 'r, 's> {
    reading: &'r mut Reading<'s>,
    build: BuildTopology<'r>,
    network: Zones,
    points: HashMap<String, PointId>,
    hosts: FxHashMap<PointId, HostId>,
    links: HashMap<String, NamedLink>,
    speeds: Vec<Located>,
    /// The least number of cores of a host.
    cores: Option<u32>,
    zones: Vec<ZoneDraft<'a>>,
    profiles: profiles::Profiles<'a>,
}

/// Reads the zones of a platform, and the parts of their speeds that hosts have by time. If there are several zones that are in no
/// other, nothing leads from one to another.
pub(crate) fn read<'a>(
    platform: &Element<'a>,
    outermost: &[Element<'a>],
    build: BuildTopology,
    reading: &mut Reading,
) -> Checked<(Zones, BTreeMap<HostId, StepFunction>)> {
    let option = |key: &str, default: f64| reading.options.get(key).copied().unwrap_or(default);
    let loopback = Link {
        bandwidth: option("network/loopback-bw", LOOPBACK_BANDWIDTH),
        latency: Seconds(option("network/loopback-lat", 0.0)),
        sharing: Sharing::FatPipe,
    };
    let name = match outermost {
        [whole] if whole.name() != "cluster" => whole.required("id")?.value,
        _ => "_world_",
    };
    let network = Zones::new(name, loopback);
    let mut reader = Reader {
        reading,
        build,
        network,
        points: HashMap::new(),
        hosts: FxHashMap::default(),
        links: HashMap::new(),
        speeds: Vec::new(),
        cores: None,
        zones: Vec::new(),
        profiles: profiles::Profiles::default(),
    };
    reader.points.insert(name.to_owned(), PointId(0));
    match outermost {
        [whole] if whole.name() != "cluster" => reader.read_zone(whole, ZoneId(0), 0)?,
        several => reader.read_several(platform, several)?,
    }
    for zone in std::mem::take(&mut reader.zones) {
        reader.read_routes(zone)?;
    }
    reader.connect_traces(platform)?;
    let parts_of_speed = reader.apply_profiles()?;
    if reader.speeds.is_empty() {
        return Err(platform.wrong("there are no hosts"));
    }
    let Reader { reading, network, speeds, cores, .. } = reader;
    reading.set("hosts.speed", platform.says(speeds));
    reading.set("hosts.cores", platform.says(cores.unwrap_or(1)));
    reading.set("network.loopback.through", platform.says("switch"));
    Ok((network, parts_of_speed))
}

impl<'a> Reader<'a, '_, '_> {
    /// Takes note of a point's name.
    fn name_point(&mut self, name: &Name, point: PointId, element: &Element) -> Checked<()> {
        if self.points.insert(name.text.clone(), point).is_some() {
            let kind = if self.network.is_zone(point) { "zone" } else { "host or router" };
            return Err(element.wrong_at(&name.place, format!("a second {kind} is called `{}`", name.text)));
        }
        Ok(())
    }

    /// Adds a host with the speed of its cores.
    fn add_host(
        &mut self,
        zone: &mut ZoneDraft,
        name: &Name,
        element: &Element,
        speed: Located,
        cores: u32,
    ) -> Checked<PointId> {
        if self.speeds.len() >= MAX_HOSTS {
            return Err(element.wrong_at(&name.place, format!("a platform of zones has at most {MAX_HOSTS} hosts")));
        }
        let point = self.network.add_host(zone.id, &name.text);
        self.name_point(name, point, element)?;
        zone.points.push(point);
        self.hosts.insert(point, HostId(self.speeds.len() as u32));
        self.speeds.push(speed);
        self.cores = Some(self.cores.map_or(cores, |least| least.min(cores)));
        Ok(point)
    }

    fn add_router(&mut self, zone: &mut ZoneDraft, name: &Name, element: &Element) -> Checked<PointId> {
        let point = self.network.add_router(zone.id, &name.text);
        self.name_point(name, point, element)?;
        zone.points.push(point);
        Ok(point)
    }

    /// Adds a link, which is two links if it is split-duplex, under the names that SimGrid gives them.
    fn add_link(&mut self, name: &Name, element: &Element, link: Link, is_split: bool) -> Checked<NamedLink> {
        let link = if is_split {
            let [up, down] = ["_UP", "_DOWN"].map(|way| {
                let name = format!("{}{way}", name.text);
                let id = self.network.add_link(&name, link);
                self.links.insert(name, NamedLink::OneWay(id));
                id
            });
            NamedLink::SplitDuplex { up, down }
        } else {
            NamedLink::OneWay(self.network.add_link(&name.text, link))
        };
        if self.links.insert(name.text.clone(), link).is_some() {
            return Err(element.wrong_at(&name.place, format!("a second link is called `{}`", name.text)));
        }
        Ok(link)
    }

    fn link(&self, name: &Attribute) -> Checked<NamedLink> {
        self.links.get(name.value).copied().ok_or_else(|| name.wrong(format!("no link is called `{}`", name.value)))
    }

    fn point(&self, name: &Attribute, kind: &str) -> Checked<PointId> {
        let unknown = || name.wrong(format!("no {kind} is called `{}`", name.value));
        self.points.get(name.value).copied().ok_or_else(unknown)
    }
}

impl<'a> ZoneDraft<'a> {
    fn new(element: &Element<'a>, id: ZoneId, routing: RoutingKind) -> Self {
        Self {
            id,
            element: *element,
            routing,
            points: Vec::new(),
            star: FxHashMap::default(),
            coordinates: FxHashMap::default(),
            backbone: None,
            routes: Vec::new(),
        }
    }
}

impl NamedLink {
    /// The links that it is on the way there and on the way back.
    fn both_ways(self) -> [LinkId; 2] {
        match self {
            Self::OneWay(link) => [link, link],
            Self::SplitDuplex { up, down } => [up, down],
        }
    }
}

/// A quantity that an attribute says, which is placed at it.
fn quantity(value: f64, attribute: &Attribute) -> Located {
    attribute.says(Value::Quantity(value))
}

/// The numbers and the names of the hosts that `whole` has, at most so many.
fn numbered_hosts(element: &Element, whole: &str, most: u64) -> Checked<impl Iterator<Item = (u32, Name)>> {
    let radical = element.required("radical")?;
    let ranges = cluster::ranges(&radical)?;
    let hosts = cluster::count(&ranges);
    if hosts > most {
        return Err(radical.wrong(format!("{hosts} hosts: {whole} has at most {most}")));
    }
    let [prefix, suffix] = ["prefix", "suffix"].map(|affix| affix_of(element, affix));
    let named =
        move |number| (number, Name { text: format!("{prefix}{number}{suffix}"), place: radical.place.clone() });
    Ok(ranges.into_iter().flatten().map(named))
}

/// What the names of a cluster's hosts begin or end with.
fn affix_of<'a>(element: &Element<'a>, affix: &str) -> &'a str {
    element.attribute(affix).map_or("", |affix| affix.value)
}

fn name(element: &Element, attribute: &str) -> Checked<Name> {
    let Attribute { value, place, .. } = element.required(attribute)?;
    Ok(Name { text: value.to_owned(), place })
}
