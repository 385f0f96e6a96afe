//! `[topology.dragonfly]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{Dragonfly, RouteVariant, Shape, Topology};
use toml::Spanned;

use super::Site;

/// `[topology.dragonfly]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DragonflyTable {
    groups: Spanned<u32>,
    /// Chassis in a group.
    chassis: Spanned<u32>,
    /// Blades in a chassis, at least as many as groups.
    blades: Spanned<u32>,
    /// Nodes on a blade.
    nodes: Spanned<u32>,
    /// Cables between two groups. Default: 1.
    blue: Option<Spanned<u32>>,
    /// Cables between two blades of one position in different chassis of a group. Default: 1.
    black: Option<Spanned<u32>>,
    /// Cables between two blades of a chassis. Default: 1.
    green: Option<Spanned<u32>>,
    /// Default: `"minimal"`.
    #[serde(default)]
    routing: RouteVariant,
}

/// A dragonfly.
pub(crate) fn dragonfly(table: &DragonflyTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let dragonfly = Dragonfly::new(shape(table, site)?, table.routing, site.cable()?);
    Ok(site.limited(dragonfly, Dragonfly::limited))
}

fn shape(table: &DragonflyTable, site: &Site) -> Checked<Shape> {
    let one_or_more = [&table.groups, &table.chassis, &table.blades, &table.nodes]
        .into_iter()
        .chain([&table.blue, &table.black, &table.green].into_iter().flatten());
    for number in one_or_more {
        if *number.get_ref() == 0 {
            return Err(site.source.wrong(number, "none of a dragonfly's numbers is 0"));
        }
    }
    let cables = |written: &Option<Spanned<u32>>| written.as_ref().map_or(1, |number| *number.get_ref());
    let shape = Shape {
        groups: *table.groups.get_ref(),
        blue: cables(&table.blue),
        chassis: *table.chassis.get_ref(),
        black: cables(&table.black),
        blades: *table.blades.get_ref(),
        green: cables(&table.green),
        nodes: *table.nodes.get_ref(),
    };
    if shape.groups > shape.blades {
        let Shape { groups, blades, .. } = shape;
        let message = format!("{groups} groups need {groups} blades in a chassis, of which there are {blades}");
        let mistake = site.source.wrong(&table.groups, message);
        return Err(mistake.with_help("a group reaches another by the blade of the other's number"));
    }
    site.within_max_hosts(site.place.clone(), &[shape.groups, shape.chassis, shape.blades, shape.nodes])?;
    site.within_max_cables(site.place.clone(), shape.cables())?;
    Ok(shape)
}
