//! The first pass: zones and what is in them.

use titr_common::units::Seconds;
use titr_document::Checked;
use titr_network::topology::{Attachment, Link, PointId, Sharing, ZoneId};

use super::super::element::{Element, Known};
use super::super::units::{BANDWIDTH, SPEED, TIME};
use super::profiles::{OF_HOSTS, OF_LINKS};
use super::{MAX_DEPTH, Name, ROUTINGS, Reader, RoutingKind, ZoneDraft, name, numbered_hosts, quantity};

const ZONE: Known = &["id", "routing"];
const HOST: Known = &["id", "speed", "core", "pstate", "coordinates", "speed_file", "availability_file", "state_file"];
const PEER: Known =
    &["id", "speed", "bw_in", "bw_out", "lat", "coordinates", "speed_file", "availability_file", "state_file"];
const ROUTER: Known = &["id", "coordinates"];
const LINK: Known = &["id", "bandwidth", "latency", "sharing_policy", "bandwidth_file", "latency_file", "state_file"];
const BACKBONE: Known = &["id", "bandwidth", "latency"];
const CABINET: Known = &["id", "prefix", "suffix", "radical", "speed", "bw", "lat"];

/// The largest number of hosts in a cabinet, as each is written down.
const MAX_CABINET: u64 = 1 << 12;

impl<'a> Reader<'a, '_, '_> {
    /// Reads what is in a zone, and in zones within it.
    pub(super) fn read_zone(&mut self, element: &Element<'a>, id: ZoneId, depth: usize) -> Checked<()> {
        if depth > MAX_DEPTH {
            return Err(element.wrong(format!("titr reads zones that are within at most {MAX_DEPTH} others")));
        }
        element.check_attributes(ZONE)?;
        let routing = element.required("routing")?.one_of_any_case(&ROUTINGS)?;
        if routing == RoutingKind::Wifi {
            self.reading.warn(&element.place(), "titr does not simulate Wi-Fi: hosts in this zone have no routes");
        }
        let mut zone = ZoneDraft::new(element, id, routing);
        for child in element.children() {
            match child.name() {
                "prop" => {}
                "host" => self.read_host(&child, &mut zone)?,
                "peer" if routing == RoutingKind::Vivaldi => self.read_peer(&child, &mut zone)?,
                "router" => self.read_router(&child, &mut zone)?,
                "link" => self.read_link(&child, routing)?,
                "AS" | "zone" => {
                    let id = self.add_zone(&child, &mut zone)?;
                    self.read_zone(&child, id, depth + 1)?;
                }
                "cluster" => {
                    let id = self.add_zone(&child, &mut zone)?;
                    self.read_cluster(&child, id)?;
                }
                "backbone" if routing == RoutingKind::Star => self.read_backbone(&child, &mut zone)?,
                "cabinet" if routing == RoutingKind::Star => self.read_cabinet(&child, &mut zone)?,
                "host_link" if matches!(routing, RoutingKind::Star | RoutingKind::Vivaldi) => zone.routes.push(child),
                "route" | "zoneRoute" | "ASroute" | "bypassRoute" | "bypassZoneRoute" | "bypassASroute" => {
                    zone.routes.push(child);
                }
                "trace" | "trace_connect" => {}
                "storage" | "storage_type" => self.reading.skip(&child),
                _ => return Err(child.unexpected(element)),
            }
        }
        self.zones.push(zone);
        Ok(())
    }

    /// Reads zones that are in no other, within one that has no routes.
    pub(super) fn read_several(&mut self, platform: &Element<'a>, zones: &[Element<'a>]) -> Checked<()> {
        let mut world = ZoneDraft::new(platform, ZoneId(0), RoutingKind::None);
        for zone in zones {
            let id = self.add_zone(zone, &mut world)?;
            if zone.name() == "cluster" { self.read_cluster(zone, id)? } else { self.read_zone(zone, id, 1)? }
        }
        self.zones.push(world);
        Ok(())
    }

    fn add_zone(&mut self, element: &Element, parent: &mut ZoneDraft) -> Checked<ZoneId> {
        let name = name(element, "id")?;
        let id = self.network.add_zone(parent.id, &name.text);
        let point = self.network.point_of(id);
        self.name_point(&name, point, element)?;
        parent.points.push(point);
        Ok(id)
    }

    fn read_host(&mut self, host: &Element<'a>, zone: &mut ZoneDraft) -> Checked<()> {
        host.check_attributes(HOST)?;
        for child in host.children() {
            match child.name() {
                "prop" | "disk" => {}
                "mount" => self.reading.skip(&child),
                _ => return Err(child.unexpected(host)),
            }
        }
        let speeds = host.required("speed")?;
        let state = host.attribute("pstate").map_or(Ok(0), |state| state.truncated_count())?;
        let Some(speed) = speeds.split(',').nth(state as usize) else {
            return Err(speeds.wrong(format!("the host is in power state {state}, and there are not so many speeds")));
        };
        let name = name(host, "id")?;
        let cores = host.attribute("core").map_or(Ok(1), |cores| cores.count())?;
        let value = speed.quantity(&SPEED)?;
        let point = self.add_host(zone, &name, host, quantity(value, &speed), cores)?;
        self.profiles.connect_files(host, &name.text, &OF_HOSTS, self.reading)?;
        read_coordinates(host, zone, point)
    }

    fn read_peer(&mut self, peer: &Element<'a>, zone: &mut ZoneDraft) -> Checked<()> {
        peer.check_attributes(PEER)?;
        if let Some(latency) = peer.attribute("lat") {
            self.reading.warn_once(
                "lat",
                &latency.place,
                "SimGrid ignores the attribute `lat` of peers, and so does titr",
            );
        }
        let (name, speed) = (name(peer, "id")?, peer.required("speed")?);
        let value = speed.quantity(&SPEED)?;
        let point = self.add_host(zone, &name, peer, quantity(value, &speed), 1)?;
        self.profiles.connect_files(peer, &name.text, &OF_HOSTS, self.reading)?;
        let [up, down] = [("bw_out", "UP"), ("bw_in", "DOWN")].map(|(attribute, way)| {
            let bandwidth = peer.required(attribute)?.positive(&BANDWIDTH)?;
            let link = Link { bandwidth, latency: Seconds(0.0), sharing: Sharing::Shared };
            let name = Name { text: format!("link_{}_{way}", name.text), place: name.place.clone() };
            self.add_link(&name, peer, link, false)
        });
        let [[up, _], [down, _]] = [up?.both_ways(), down?.both_ways()];
        zone.star.insert(point, Attachment { up: vec![up], down: vec![down], loopback: None });
        read_coordinates(peer, zone, point)
    }

    fn read_router(&mut self, router: &Element, zone: &mut ZoneDraft) -> Checked<()> {
        router.check_attributes(ROUTER)?;
        let point = self.add_router(zone, &name(router, "id")?, router)?;
        read_coordinates(router, zone, point)
    }

    fn read_link(&mut self, link: &Element<'a>, routing: RoutingKind) -> Checked<()> {
        link.check_attributes(LINK)?;
        link.check_children(&["prop"])?;
        let choices = [
            ("SHARED", (false, Sharing::Shared)),
            ("FATPIPE", (false, Sharing::FatPipe)),
            ("SPLITDUPLEX", (true, Sharing::Shared)),
            ("FULLDUPLEX", (true, Sharing::Shared)),
        ];
        let policy = link.attribute("sharing_policy").filter(|policy| {
            // A zone with routing Wifi has no routes.
            routing != RoutingKind::Wifi || policy.value != "WIFI"
        });
        let (is_split, sharing) = policy.map_or(Ok((false, Sharing::Shared)), |policy| policy.one_of(&choices))?;
        let name = name(link, "id")?;
        let written = link.required("bandwidth")?;
        let mut bandwidths = written.split(',');
        let bandwidth = bandwidths.next().unwrap_or_else(|| written.clone()).positive(&BANDWIDTH)?;
        if routing != RoutingKind::Wifi && bandwidths.next().is_some() {
            let mistake = written.wrong("only a Wi-Fi link has several bandwidths");
            return Err(mistake.with_help("write one bandwidth, as SimGrid demands"));
        }
        let latency = link.attribute("latency").map_or(Ok(0.0), |latency| latency.quantity(&TIME))?;
        self.profiles.connect_files(link, &name.text, &OF_LINKS, self.reading)?;
        self.add_link(&name, link, Link { bandwidth, latency: Seconds(latency), sharing }, is_split)?;
        Ok(())
    }

    fn read_backbone(&mut self, backbone: &Element, zone: &mut ZoneDraft) -> Checked<()> {
        backbone.check_attributes(BACKBONE)?;
        if zone.backbone.is_some() {
            return Err(backbone.wrong("a zone has one backbone"));
        }
        let (bandwidth, latency) = (backbone.required("bandwidth")?, backbone.required("latency")?);
        let (bandwidth, latency) = (bandwidth.positive(&BANDWIDTH)?, Seconds(latency.quantity(&TIME)?));
        let link = Link { bandwidth, latency, sharing: Sharing::Shared };
        let [link, _] = self.add_link(&name(backbone, "id")?, backbone, link, false)?.both_ways();
        zone.backbone = Some(link);
        Ok(())
    }

    fn read_cabinet(&mut self, cabinet: &Element, zone: &mut ZoneDraft) -> Checked<()> {
        cabinet.check_attributes(CABINET)?;
        let named = numbered_hosts(cabinet, "a cabinet", MAX_CABINET)?;
        let [speed, bandwidth, latency] =
            [cabinet.required("speed")?, cabinet.required("bw")?, cabinet.required("lat")?];
        let (bandwidth, latency) = (bandwidth.positive(&BANDWIDTH)?, Seconds(latency.quantity(&TIME)?));
        let link = Link { bandwidth, latency, sharing: Sharing::Shared };
        for (_, name) in named {
            let cable = Name { text: format!("link_{}", name.text), place: name.place.clone() };
            let [up, down] = self.add_link(&cable, cabinet, link, true)?.both_ways();
            let point = self.add_host(zone, &name, cabinet, speed.located(&SPEED)?, 1)?;
            zone.star.insert(point, Attachment { up: vec![up], down: vec![down], loopback: None });
        }
        Ok(())
    }
}

/// Reads the coordinates of a point in a zone whose routes depend on them.
fn read_coordinates(element: &Element, zone: &mut ZoneDraft, point: PointId) -> Checked<()> {
    let Some(written) = element.attribute("coordinates").filter(|_| zone.routing == RoutingKind::Vivaldi) else {
        return Ok(());
    };
    let numbers: Option<Vec<f64>> = written.value.split_whitespace().map(|word| word.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) if [x, y, z].iter().all(|number| number.is_finite()) => {
            zone.coordinates.insert(point, [x, y, z]);
            Ok(())
        }
        _ => Err(written.wrong("coordinates are three numbers").with_help("such as 25.5 9.4 1.4")),
    }
}
