//! `<zone>`: hosts, routers, links and routes one by one.
//!
//! Where a zone routes as `Cluster`, its hosts are joined to a hub, by a `<host_link>` each or as hosts of a `<cabinet>`,
//! and a `<backbone>` is part of every way through the hub. In other zones SimGrid gives each host that has no route to
//! itself one by a link without latency that is never shared.

use std::collections::HashMap;

use super::element::{Attribute, Element, Known};
use super::units::{BANDWIDTH, SPEED, TIME};
use super::{LOOPBACK_BANDWIDTH, Reading, cluster};
use crate::document::{Located, Value};
use crate::source::{Checked, Place};

const ZONE: Known = Known { read: &["id", "routing"], refused: &[] };
const HOST: Known = Known {
    read: &["id", "speed", "core", "pstate", "coordinates"],
    refused: &[
        ("speed_file", "speeds that change"),
        ("availability_file", "speeds that change"),
        ("state_file", "hosts that fail"),
    ],
};
const ROUTER: Known = Known { read: &["id", "coordinates"], refused: &[] };
const LINK: Known = Known {
    read: &["id", "bandwidth", "latency", "sharing_policy"],
    refused: &[
        ("bandwidth_file", "bandwidths that change"),
        ("latency_file", "latencies that change"),
        ("state_file", "links that fail"),
    ],
};
const BACKBONE: Known = Known { read: &["id", "bandwidth", "latency"], refused: &[] };
const ROUTE: Known = Known { read: &["src", "dst", "symmetrical"], refused: &[] };
const LINK_CTN: Known = Known { read: &["id", "direction"], refused: &[] };
const HOST_LINK: Known = Known { read: &["id", "up", "down"], refused: &[] };
const CABINET: Known = Known { read: &["id", "prefix", "suffix", "radical", "speed", "bw", "lat"], refused: &[] };

/// SimGrid's name of the link by which hosts reach themselves where no route says how.
const LOOPBACK: &str = "__loopback__";

/// The largest number of hosts in a cabinet, as each is written down.
const MAX_CABINET: u64 = 1 << 12;

/// The rule by which a zone makes routes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ZoneRouting {
    Full,
    Floyd,
    Dijkstra,
    Hub,
}

/// A name and its place.
#[derive(Clone)]
struct Name {
    text: String,
    place: Place,
}

/// The contents of a zone.
struct Zone {
    routing: ZoneRouting,
    hosts: Vec<ZoneHost>,
    routers: Vec<Name>,
    links: Vec<ZoneLink>,
    /// By the name of a link, whether it is split-duplex.
    split: HashMap<String, bool>,
    routes: Vec<ZoneRoute>,
    /// By the name of a host, its links to the hub and back.
    host_links: HashMap<String, HostLink>,
    backbone: Option<Name>,
}

struct ZoneHost {
    name: Name,
    speed: Located,
    cores: u32,
}

struct ZoneLink {
    name: Name,
    bandwidth: Located,
    latency: Located,
    sharing: &'static str,
}

/// The links from a host to the hub and back.
struct HostLink {
    host: Name,
    up: Name,
    down: Name,
}

struct ZoneRoute {
    from: Name,
    to: Name,
    links: Vec<Name>,
}

/// Reads a zone that is the whole platform.
pub fn read(element: &Element, reading: &mut Reading) -> Checked<()> {
    element.check_attributes(&ZONE)?;
    let routing = element.required("routing")?.one_of(&[
        ("Full", ZoneRouting::Full),
        ("Floyd", ZoneRouting::Floyd),
        ("Dijkstra", ZoneRouting::Dijkstra),
        ("DijkstraCache", ZoneRouting::Dijkstra),
        ("Cluster", ZoneRouting::Hub),
    ])?;
    let mut zone = Zone {
        routing,
        hosts: Vec::new(),
        routers: Vec::new(),
        links: Vec::new(),
        split: HashMap::new(),
        routes: Vec::new(),
        host_links: HashMap::new(),
        backbone: None,
    };
    for child in element.children() {
        match (child.name(), routing) {
            ("prop", _) => {}
            ("host", _) => {
                if routing == ZoneRouting::Floyd && !zone.routers.is_empty() {
                    reading.warn(&child.place(), "of routes that are as short, SimGrid may take others than titr");
                }
                zone.read_host(&child)?;
            }
            ("router", _) => zone.read_router(&child)?,
            ("link", _) => zone.read_link(&child)?,
            ("route", _) => zone.read_route(&child)?,
            ("backbone", ZoneRouting::Hub) => zone.read_backbone(&child)?,
            ("host_link", ZoneRouting::Hub) => zone.read_host_link(&child)?,
            ("cabinet", ZoneRouting::Hub) => zone.read_cabinet(&child)?,
            _ => return Err(child.unexpected(element)),
        }
    }
    match routing {
        ZoneRouting::Hub => zone.add_routes_to_hub(element)?,
        ZoneRouting::Full | ZoneRouting::Floyd | ZoneRouting::Dijkstra => zone.add_loopbacks(element),
    }
    zone.write(element, reading);
    Ok(())
}

impl Zone {
    fn read_host(&mut self, host: &Element) -> Checked<()> {
        host.check_attributes(&HOST)?;
        host.check_children(&["prop", "disk", "mount"])?;
        let speeds = host.required("speed")?;
        let state = host.attribute("pstate").map_or(Ok(0), |state| state.count())?;
        let Some(speed) = speeds.split(',').nth(state as usize) else {
            return Err(speeds.wrong(format!("the host is in power state {state}, and there are not so many speeds")));
        };
        self.hosts.push(ZoneHost {
            name: name(host, "id")?,
            speed: speed.located(&SPEED)?,
            cores: host.attribute("core").map_or(Ok(1), |cores| cores.count())?,
        });
        Ok(())
    }

    fn read_router(&mut self, router: &Element) -> Checked<()> {
        router.check_attributes(&ROUTER)?;
        self.routers.push(name(router, "id")?);
        Ok(())
    }

    fn read_link(&mut self, link: &Element) -> Checked<()> {
        link.check_attributes(&LINK)?;
        link.check_children(&["prop"])?;
        let choices = [
            ("SHARED", (false, "shared")),
            ("FATPIPE", (false, "fat-pipe")),
            ("SPLITDUPLEX", (true, "shared")),
            ("FULLDUPLEX", (true, "shared")),
        ];
        let sharing = link.attribute("sharing_policy").map(|written| written.one_of(&choices)).transpose()?;
        let (split, sharing) = sharing.unwrap_or((false, "shared"));
        let name = name(link, "id")?;
        let bandwidth = link.required("bandwidth")?.located(&BANDWIDTH)?;
        let latency = match link.attribute("latency") {
            Some(latency) => latency.located(&TIME)?,
            None => link.says(Value::Quantity(0.0)),
        };
        for name in if split { directions(&name).to_vec() } else { vec![name.clone()] } {
            self.links.push(ZoneLink { name, bandwidth: bandwidth.clone(), latency: latency.clone(), sharing });
        }
        if self.split.insert(name.text.clone(), split).is_some() {
            return Err(link.wrong_at(&name.place, format!("a second link is called `{}`", name.text)));
        }
        Ok(())
    }

    fn read_route(&mut self, route: &Element) -> Checked<()> {
        route.check_attributes(&ROUTE)?;
        let (from, to) = (name(route, "src")?, name(route, "dst")?);
        if self.routing == ZoneRouting::Hub && from.text != to.text {
            let mistake = route.wrong("in a zone that routes as Cluster, hosts are joined by <host_link>");
            return Err(mistake.with_help("write a <route> only from a host to itself"));
        }
        let symmetrical = match route.attribute("symmetrical") {
            Some(written) => written.one_of(&[("YES", true), ("yes", true), ("NO", false), ("no", false)])?,
            None => true,
        };
        let (mut links, mut back) = (Vec::new(), Vec::new());
        for link in route.children() {
            if link.name() != "link_ctn" {
                return Err(link.unexpected(route));
            }
            link.check_attributes(&LINK_CTN)?;
            let [there, and_back] = self.names_there_and_back(&link)?;
            links.push(there);
            back.push(and_back);
        }
        back.reverse();
        if symmetrical && from.text != to.text {
            self.routes.push(ZoneRoute { from: to.clone(), to: from.clone(), links: back });
            // The way there before the way back, as SimGrid adds them.
            let there = self.routes.len() - 1;
            self.routes.insert(there, ZoneRoute { from, to, links });
        } else {
            self.routes.push(ZoneRoute { from, to, links });
        }
        Ok(())
    }

    /// The names of a route's link on the way there and on the way back.
    fn names_there_and_back(&self, link: &Element) -> Checked<[Name; 2]> {
        let name = name(link, "id")?;
        let direction = match link.attribute("direction") {
            Some(written) => written.one_of(&[("UP", Some(true)), ("DOWN", Some(false)), ("NONE", None)])?,
            None => None,
        };
        match (self.split.get(&name.text), direction) {
            (Some(true), Some(up)) => {
                let [upwards, downwards] = directions(&name);
                Ok(if up { [upwards, downwards] } else { [downwards, upwards] })
            }
            (Some(true), None) => {
                let mistake = link.wrong(format!("`{}` is a split-duplex link", name.text));
                Err(mistake.with_help("write direction=\"UP\" or direction=\"DOWN\""))
            }
            (_, Some(_)) => {
                let mistake = link.wrong(format!("`{}` is not a split-duplex link", name.text));
                Err(mistake.with_help("leave the direction out"))
            }
            (_, None) => Ok([name.clone(), name]),
        }
    }

    fn read_backbone(&mut self, backbone: &Element) -> Checked<()> {
        backbone.check_attributes(&BACKBONE)?;
        let name = name(backbone, "id")?;
        if self.backbone.replace(name.clone()).is_some() {
            return Err(backbone.wrong("a zone has one backbone"));
        }
        let (bandwidth, latency) = (backbone.required("bandwidth")?, backbone.required("latency")?);
        self.links.push(ZoneLink {
            name,
            bandwidth: bandwidth.located(&BANDWIDTH)?,
            latency: latency.located(&TIME)?,
            sharing: "shared",
        });
        Ok(())
    }

    fn read_host_link(&mut self, link: &Element) -> Checked<()> {
        link.check_attributes(&HOST_LINK)?;
        let host = name(link, "id")?;
        let host_link = HostLink { host: host.clone(), up: name(link, "up")?, down: name(link, "down")? };
        if self.host_links.insert(host.text.clone(), host_link).is_some() {
            return Err(link.wrong_at(&host.place, format!("`{}` is joined a second time", host.text)));
        }
        Ok(())
    }

    fn read_cabinet(&mut self, cabinet: &Element) -> Checked<()> {
        cabinet.check_attributes(&CABINET)?;
        let [radical, speed, bandwidth, latency] = [
            cabinet.required("radical")?,
            cabinet.required("speed")?,
            cabinet.required("bw")?,
            cabinet.required("lat")?,
        ];
        let affix = |which| cabinet.attribute(which).map_or("", |affix| affix.value);
        let (prefix, suffix) = (affix("prefix"), affix("suffix"));
        let ranges = cluster::ranges(&radical)?;
        if cluster::count(&ranges) > MAX_CABINET {
            return Err(radical.wrong(format!("a cabinet has at most {MAX_CABINET} hosts")));
        }
        for number in ranges.into_iter().flatten() {
            let name = Name { text: format!("{prefix}{number}{suffix}"), place: radical.place.clone() };
            let up_and_down = directions(&Name { text: format!("link_{}", name.text), place: radical.place.clone() });
            for name in up_and_down.clone() {
                self.links.push(ZoneLink {
                    name,
                    bandwidth: bandwidth.located(&BANDWIDTH)?,
                    latency: latency.located(&TIME)?,
                    sharing: "shared",
                });
            }
            let [up, down] = up_and_down;
            self.host_links.insert(name.text.clone(), HostLink { host: name.clone(), up, down });
            self.hosts.push(ZoneHost { name, speed: speed.located(&SPEED)?, cores: 1 });
        }
        Ok(())
    }

    /// Routes every host to the hub and back.
    fn add_routes_to_hub(&mut self, zone: &Element) -> Checked<()> {
        let hub = Name { text: "the hub".to_owned(), place: zone.place() };
        for host in &self.hosts {
            let Some(HostLink { up, down, .. }) = self.host_links.remove(&host.name.text) else {
                let mistake = zone.wrong_at(&host.name.place, format!("nothing joins `{}`", host.name.text));
                return Err(mistake.with_help("write a <host_link> for it"));
            };
            let up = [up].into_iter().chain(self.backbone.clone()).collect();
            self.routes.push(ZoneRoute { from: host.name.clone(), to: hub.clone(), links: up });
            self.routes.push(ZoneRoute { from: hub.clone(), to: host.name.clone(), links: vec![down] });
        }
        if let Some(unknown) = self.host_links.values().map(|link| &link.host).min_by_key(|host| host.place.start) {
            return Err(zone.wrong_at(&unknown.place, format!("no host is called `{}`", unknown.text)));
        }
        self.routers.insert(0, hub);
        Ok(())
    }

    fn add_loopbacks(&mut self, zone: &Element) {
        let name = Name { text: LOOPBACK.to_owned(), place: zone.place() };
        let [bandwidth, latency] = [LOOPBACK_BANDWIDTH, 0.0].map(|value| zone.says(Value::Quantity(value)));
        self.links.push(ZoneLink { name: name.clone(), bandwidth, latency, sharing: "fat-pipe" });
        let own = self.routes.iter().filter(|route| route.from.text == route.to.text);
        let have: std::collections::HashSet<_> = own.map(|route| route.from.text.clone()).collect();
        for ZoneHost { name: host, .. } in self.hosts.iter().filter(|host| !have.contains(&host.name.text)) {
            self.routes.push(ZoneRoute { from: host.clone(), to: host.clone(), links: vec![name.clone()] });
        }
    }

    fn write(self, zone: &Element, reading: &mut Reading) {
        let (speeds, hosts): (Vec<_>, Vec<_>) =
            self.hosts.iter().map(|host| (host.speed.clone(), host.name.located())).unzip();
        let cores = self.hosts.iter().map(|host| host.cores).min().unwrap_or(1);
        reading.set("hosts.speed", zone.says(speeds));
        reading.set("hosts.cores", zone.says(cores));
        let routing = match self.routing {
            ZoneRouting::Full => "full",
            ZoneRouting::Floyd => "floyd",
            ZoneRouting::Dijkstra => "dijkstra",
            ZoneRouting::Hub => "hub",
        };
        let links = self.links.into_iter().map(|link| {
            let sharing = zone.says(link.sharing);
            let name = link.name.located();
            let link = [("name", name), ("bandwidth", link.bandwidth), ("latency", link.latency), ("sharing", sharing)];
            zone.says(link)
        });
        let routes = self.routes.iter().map(|ZoneRoute { from, to, links }| {
            let links = Located::new(located(links), from.place.clone());
            zone.says([("from", from.located()), ("to", to.located()), ("links", links)])
        });
        let network = [
            ("routing", zone.says(routing)),
            ("hosts", zone.says(hosts)),
            ("routers", zone.says(located(&self.routers))),
            ("links", zone.says(links.collect::<Vec<_>>())),
            ("routes", zone.says(routes.collect::<Vec<_>>())),
        ];
        reading.set("topology.explicit", zone.says(network));
        reading.set("network.loopback.through", zone.says("switch"));
    }
}

impl Name {
    fn located(&self) -> Located {
        Located::new(self.text.as_str(), self.place.clone())
    }
}

fn located(names: &[Name]) -> Vec<Located> {
    names.iter().map(Name::located).collect()
}

fn name(element: &Element, attribute: &str) -> Checked<Name> {
    let Attribute { value, place, .. } = element.required(attribute)?;
    Ok(Name { text: value.to_owned(), place })
}

/// The names that SimGrid gives the two directions of a split-duplex link, up and down.
fn directions(name: &Name) -> [Name; 2] {
    ["_UP", "_DOWN"].map(|way| Name { text: format!("{}{way}", name.text), place: name.place.clone() })
}
