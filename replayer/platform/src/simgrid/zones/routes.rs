//! The second pass: routes within and between zones, bypasses, and the links between hosts and the centre of their
//! zone.

use std::collections::HashSet;

use titr_document::{Checked, Mistake};
use titr_network::topology::{Attachment, LinkId, PointId, WrittenRoute, ZoneRouting};

use super::super::element::{Attribute, Element, Known};
use super::{MAX_FLOYD, NamedLink, Reader, RoutingKind, ZoneDraft};

const ROUTE: Known = &["src", "dst", "symmetrical"];
const ZONE_ROUTE: Known = &["src", "dst", "gw_src", "gw_dst", "symmetrical"];
const BYPASS: Known = &["src", "dst"];
const ZONE_BYPASS: Known = &["src", "dst", "gw_src", "gw_dst"];
const LINK_CTN: Known = &["id", "direction"];
const HOST_LINK: Known = &["id", "up", "down"];

/// The ends of a route, and its gateways if they are zones.
type Ends = (PointId, PointId, Option<(PointId, PointId)>);

impl Reader<'_, '_, '_> {
    /// Reads the routes of a zone, and sets the rule by which it makes others of them.
    pub(super) fn read_routes(&mut self, mut zone: ZoneDraft) -> Checked<()> {
        let mut written = Vec::new();
        let mut ends = HashSet::new();
        let mut joined = HashSet::new();
        for attachment in zone.star.values_mut() {
            join_backbone(attachment, zone.backbone);
        }
        for element in std::mem::take(&mut zone.routes) {
            match element.name() {
                "host_link" => self.read_host_link(&element, &mut zone, &mut joined)?,
                "bypassRoute" | "bypassZoneRoute" | "bypassASroute" => self.read_bypass(&element, &zone)?,
                _ if matches!(zone.routing, RoutingKind::Star | RoutingKind::Vivaldi) => {
                    self.read_loopback(&element, &mut zone)?;
                }
                _ if matches!(zone.routing, RoutingKind::None | RoutingKind::Wifi) => {
                    return Err(element
                        .wrong("a zone with this routing has no routes")
                        .with_help("leave the route out"));
                }
                _ => self.read_route(&element, &zone, &mut ends, &mut written)?,
            }
        }
        let ZoneDraft { id, element, routing, points, star, coordinates, .. } = zone;
        if routing == RoutingKind::Floyd && points.len() > MAX_FLOYD {
            let message = format!("a zone with routing Floyd has at most {MAX_FLOYD} hosts and routers");
            return Err(element.wrong(message).with_help("choose Dijkstra"));
        }
        self.network.set_routing(
            id,
            match routing {
                RoutingKind::Full => ZoneRouting::full(written),
                RoutingKind::Floyd => ZoneRouting::floyd(points, written),
                RoutingKind::Dijkstra => ZoneRouting::dijkstra(points, written),
                RoutingKind::Star => ZoneRouting::Star(star),
                RoutingKind::Vivaldi => ZoneRouting::Vivaldi { star, coordinates },
                RoutingKind::None | RoutingKind::Wifi => ZoneRouting::None,
            },
        );
        Ok(())
    }

    fn read_route(
        &self,
        route: &Element,
        zone: &ZoneDraft,
        ends: &mut HashSet<(PointId, PointId)>,
        written: &mut Vec<WrittenRoute>,
    ) -> Checked<()> {
        let is_of_zones = route.name() != "route";
        route.check_attributes(if is_of_zones { ZONE_ROUTE } else { ROUTE })?;
        let (from, to, gateways) = self.ends(route, zone, is_of_zones)?;
        let symmetrical = match route.attribute("symmetrical") {
            Some(written) => written.one_of(&[("YES", true), ("yes", true), ("NO", false), ("no", false)])?,
            None => true,
        };
        let [there, back] = self.links_of(route)?;
        let mut add = |from, to, links, gateways| {
            if !ends.insert((from, to)) {
                let names = [from, to].map(|point| self.network.point_name(point));
                let message = format!("a second route from `{}` to `{}`", names[0], names[1]);
                return Err(route.wrong_at(&route.required("src")?.place, message));
            }
            written.push(WrittenRoute { from, to, links, gateways });
            Ok(())
        };
        // The way there before the way back, as SimGrid adds them.
        add(from, to, there, gateways)?;
        if symmetrical && from != to {
            add(to, from, back, gateways.map(|(first, last)| (last, first)))?;
        }
        Ok(())
    }

    /// Reads the route of a host in a star to itself.
    fn read_loopback(&self, route: &Element, zone: &mut ZoneDraft) -> Checked<()> {
        route.check_attributes(if route.name() == "route" { ROUTE } else { ZONE_ROUTE })?;
        let (from, to) = (route.required("src")?, route.required("dst")?);
        if route.name() != "route" || from.value != to.value {
            let mistake = route.wrong("in a zone that routes as Cluster, hosts are joined by <host_link>");
            return Err(mistake.with_help("write a <route> only from a host to itself"));
        }
        let point = self.member(&from, zone, false)?;
        let [links, _] = self.links_of(route)?;
        zone.star.entry(point).or_default().loopback = Some(links);
        Ok(())
    }

    fn read_bypass(&mut self, bypass: &Element, zone: &ZoneDraft) -> Checked<()> {
        let is_of_zones = bypass.name() != "bypassRoute";
        bypass.check_attributes(if is_of_zones { ZONE_BYPASS } else { BYPASS })?;
        let point = |end: &str| self.point(&bypass.required(end)?, "host, router or zone");
        let (from, to) = (point("src")?, point("dst")?);
        let gateways = if is_of_zones { Some((point("gw_src")?, point("gw_dst")?)) } else { None };
        let [links, _] = self.links_of(bypass)?;
        if !self.network.add_bypass(zone.id, WrittenRoute { from, to, links, gateways }) {
            let (from, to) = (bypass.required("src")?, bypass.required("dst")?);
            let message = format!("a second bypass from `{}` to `{}`", from.value, to.value);
            return Err(bypass.wrong_at(&from.place, message));
        }
        Ok(())
    }

    /// The ends of a route of a zone, and its gateways if its ends are zones.
    fn ends(&self, route: &Element, zone: &ZoneDraft, is_of_zones: bool) -> Checked<Ends> {
        let end = |end: &str| self.member(&route.required(end)?, zone, is_of_zones);
        let (from, to) = (end("src")?, end("dst")?);
        if !is_of_zones {
            return Ok((from, to, None));
        }
        let gateway = |gateway: &str, end: PointId| {
            let name = route.required(gateway)?;
            let point = self.point(&name, "host or router")?;
            if self.network.is_zone(point) || !self.network.is_within(point, end) {
                let zone = self.network.point_name(end);
                return Err(name.wrong(format!("`{}` is no host or router of the zone `{zone}`", name.value)));
            }
            Ok(point)
        };
        Ok((from, to, Some((gateway("gw_src", from)?, gateway("gw_dst", to)?))))
    }

    fn member(&self, name: &Attribute, zone: &ZoneDraft, is_zone: bool) -> Checked<PointId> {
        let kind = if is_zone { "zone" } else { "host or router" };
        let point = self.point(name, kind)?;
        let wrong = |message| -> Mistake { name.wrong(message) };
        if self.network.is_zone(point) != is_zone {
            let help = if is_zone { "write <route> for hosts and routers" } else { "write <zoneRoute> for zones" };
            return Err(wrong(format!("`{}` is no {kind}", name.value)).with_help(help));
        }
        if self.network.zone_of(point) != zone.id {
            let mistake = wrong(format!("`{}` is in another zone", name.value));
            return Err(mistake.with_help("write the route in the zone that holds both ends"));
        }
        Ok(point)
    }

    /// The links of a route, and of the route back.
    fn links_of(&self, route: &Element) -> Checked<[Vec<LinkId>; 2]> {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for link in route.children() {
            if link.name() != "link_ctn" {
                return Err(link.unexpected(route));
            }
            link.check_attributes(LINK_CTN)?;
            let [this, that] = self.link_there_and_back(&link)?;
            there.push(this);
            back.push(that);
        }
        if there.is_empty() {
            let (from, to) = (route.required("src")?, route.required("dst")?);
            let message = format!("the route from `{}` to `{}` has no links", from.value, to.value);
            return Err(route.wrong_at(&from.place, message));
        }
        back.reverse();
        Ok([there, back])
    }

    /// A route's link on the way there and on the way back.
    fn link_there_and_back(&self, link: &Element) -> Checked<[LinkId; 2]> {
        let name = link.required("id")?;
        let direction = match link.attribute("direction") {
            Some(written) => written.one_of(&[("UP", Some(true)), ("DOWN", Some(false)), ("NONE", None)])?,
            None => None,
        };
        match (self.link(&name)?, direction) {
            (NamedLink::SplitDuplex { up, down }, Some(true)) => Ok([up, down]),
            (NamedLink::SplitDuplex { up, down }, Some(false)) => Ok([down, up]),
            (NamedLink::SplitDuplex { .. }, None) => {
                let mistake = link.wrong(format!("`{}` is a split-duplex link", name.value));
                Err(mistake.with_help("write direction=\"UP\" or direction=\"DOWN\""))
            }
            (NamedLink::OneWay(_), Some(_)) => {
                let mistake = link.wrong(format!("`{}` is not a split-duplex link", name.value));
                Err(mistake.with_help("leave the direction out"))
            }
            (NamedLink::OneWay(link), None) => Ok([link, link]),
        }
    }

    fn read_host_link(&self, link: &Element, zone: &mut ZoneDraft, joined: &mut HashSet<PointId>) -> Checked<()> {
        link.check_attributes(HOST_LINK)?;
        let host = link.required("id")?;
        let point = self.point(&host, "host")?;
        if self.network.is_zone(point) || self.network.zone_of(point) != zone.id {
            return Err(host.wrong(format!("`{}` is no host of this zone", host.value)));
        }
        let one_way = |attribute: &str| {
            let name = link.required(attribute)?;
            match self.link(&name)? {
                NamedLink::OneWay(link) => Ok(link),
                NamedLink::SplitDuplex { .. } => {
                    let mistake = name.wrong(format!("`{}` is a split-duplex link", name.value));
                    Err(mistake.with_help(format!("write {0}_UP or {0}_DOWN", name.value)))
                }
            }
        };
        let (up, down) = (one_way("up")?, one_way("down")?);
        if !joined.insert(point) {
            return Err(link.wrong_at(&host.place, format!("`{}` is joined a second time", host.value)));
        }
        let own = zone.star.entry(point).or_default();
        (own.up, own.down) = (vec![up], vec![down]);
        join_backbone(own, zone.backbone);
        Ok(())
    }
}

/// Leads the way to the middle of a star, and the way back, over its backbone.
fn join_backbone(attachment: &mut Attachment, backbone: Option<LinkId>) {
    attachment.up.extend(backbone);
    attachment.down.splice(0..0, backbone);
}
