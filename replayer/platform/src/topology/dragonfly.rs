//! `[topology.dragonfly]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{Dragonfly, GlobalLinks, RouteVariant, Shape, Topology};
use toml::Spanned;

use super::Site;

/// `[topology.dragonfly]`: the canonical dragonfly with `routers`, `global_links` and `hosts`, or Cascade with the other
/// keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DragonflyTable {
    groups: Spanned<u32>,
    /// Routers of a group, every two of which are joined.
    routers: Option<Spanned<u32>>,
    /// Links from each router to other groups.
    global_links: Option<Spanned<u32>>,
    /// Hosts at each router.
    hosts: Option<Spanned<u32>>,
    /// Chassis in a group.
    chassis: Option<Spanned<u32>>,
    /// Blades in a chassis, at least as many as groups.
    blades: Option<Spanned<u32>>,
    /// Nodes on a blade.
    nodes: Option<Spanned<u32>>,
    /// Cables between two groups. Default: 1.
    blue: Option<Spanned<u32>>,
    /// Cables between two blades of one position in different chassis of a group. Default: 1.
    black: Option<Spanned<u32>>,
    /// Cables between two blades of a chassis. Default: 1.
    green: Option<Spanned<u32>>,
    /// Default: `"minimal"`. `"simgrid"` is for Cascade.
    routing: Option<Spanned<RouteVariant>>,
}

pub(crate) fn dragonfly(table: &DragonflyTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let routing = table.routing.as_ref().map(|routing| *routing.get_ref()).unwrap_or_default();
    let dragonfly = Dragonfly::new(shape(table, site)?, routing, site.cable()?);
    Ok(site.limited(dragonfly, Dragonfly::limited))
}

fn shape(table: &DragonflyTable, site: &Site) -> Checked<Shape> {
    let canonical = [&table.routers, &table.global_links, &table.hosts];
    let cascade = [&table.chassis, &table.blades, &table.nodes, &table.blue, &table.black, &table.green];
    for number in [&table.groups].into_iter().chain(canonical.into_iter().chain(cascade).flatten()) {
        if *number.get_ref() == 0 {
            return Err(site.source.wrong(number, "none of a dragonfly's numbers is 0"));
        }
    }
    let is_canonical = canonical.iter().any(|number| number.is_some());
    let shape = if is_canonical { canonical_shape(table, site)? } else { cascade_shape(table, site)? };
    site.within_max_hosts(site.place.clone(), &[shape.groups, shape.chassis, shape.blades, shape.nodes])?;
    site.within_max_cables(site.place.clone(), shape.cables())?;
    Ok(shape)
}

/// The number of a key that the table must have.
fn required(site: &Site, key: &str, written: &Option<Spanned<u32>>) -> Checked<u32> {
    let missing = || site.source.mistake(Some(site.place.clone()), format!("missing key `{key}`"));
    written.as_ref().map(|number| *number.get_ref()).ok_or_else(missing)
}

fn canonical_shape(table: &DragonflyTable, site: &Site) -> Checked<Shape> {
    let of_cascade = [&table.chassis, &table.blades, &table.nodes, &table.blue, &table.black, &table.green];
    let mut misplaced =
        of_cascade.into_iter().flatten().map(Spanned::span).chain(
            table.routing.as_ref().filter(|routing| *routing.get_ref() == RouteVariant::SimGrid).map(Spanned::span),
        );
    if let Some(place) = misplaced.next() {
        let message = "this is for a dragonfly of chassis and blades, not for one of `routers`";
        let mistake = site.source.mistake(Some(place), message);
        return Err(
            mistake.with_help("describe groups by routers, global_links and hosts, or by chassis, blades and nodes")
        );
    }
    let shape = Shape::canonical(
        *table.groups.get_ref(),
        required(site, "routers", &table.routers)?,
        required(site, "global_links", &table.global_links)?,
        required(site, "hosts", &table.hosts)?,
    );
    if shape.groups > 1 && shape.links_of_two_groups() == 0 {
        let (groups, links) = (shape.groups, shape.groups - 1);
        let message = format!("{groups} groups need {links} links from each, one to each of the others");
        let mistake = site.source.wrong(&table.groups, message);
        return Err(mistake.with_help("a group has routers × global_links links to other groups"));
    }
    Ok(shape)
}

fn cascade_shape(table: &DragonflyTable, site: &Site) -> Checked<Shape> {
    let cables = |written: &Option<Spanned<u32>>| written.as_ref().map_or(1, |number| *number.get_ref());
    let shape = Shape {
        groups: *table.groups.get_ref(),
        chassis: required(site, "chassis", &table.chassis)?,
        black: cables(&table.black),
        blades: required(site, "blades", &table.blades)?,
        green: cables(&table.green),
        nodes: required(site, "nodes", &table.nodes)?,
        global: GlobalLinks::OfGroups(cables(&table.blue)),
    };
    if shape.groups > shape.blades {
        let Shape { groups, blades, .. } = shape;
        let message = format!("{groups} groups need {groups} blades in a chassis, of which there are {blades}");
        let mistake = site.source.wrong(&table.groups, message);
        return Err(mistake.with_help("a group reaches another by the blade of the other's number"));
    }
    Ok(shape)
}
