//! `[topology.fat-tree]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{Ascent, FatTree, PortChoice, RouteVariant, Stage, Topology};
use toml::Spanned;

use super::Site;

/// `[topology.fat-tree]`. The lists go from the hosts upwards and are of one length.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FatTreeTable {
    /// Levels of switches. Default: the length of the lists.
    levels: Option<Spanned<u32>>,
    /// Children of each switch.
    down: Spanned<Vec<u32>>,
    /// Parents of each host or switch.
    up: Spanned<Vec<u32>>,
    /// Parallel cables to each parent. Default: 1 everywhere.
    count: Option<Spanned<Vec<u32>>>,
    /// Default: `"minimal"`, which is D-mod-K.
    #[serde(default)]
    routing: RouteVariant,
    /// The choice of ports upwards. Default: `"d-mod-k"`.
    ascent: Option<Spanned<Ascent>>,
    /// The seed of the hash of `ascent = "hashed"`. Default: 0.
    #[serde(default)]
    seed: u64,
}

pub(crate) fn fat_tree(table: &FatTreeTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let ascent = match (&table.ascent, table.routing) {
        (None, RouteVariant::Minimal | RouteVariant::SimGrid) => Ascent::default(),
        (Some(ascent), RouteVariant::Minimal) => *ascent.get_ref(),
        (Some(ascent), RouteVariant::SimGrid) => {
            let mistake = site.source.wrong(ascent, "the routes of SimGrid have an ascent of their own");
            return Err(mistake.with_help("leave out ascent, or use routing = \"minimal\""));
        }
    };
    let choice = PortChoice { ascent, seed: table.seed };
    let tree = FatTree::new(&stages(table, site)?, site.cable()?).routed(table.routing).choosing(choice);
    Ok(site.limited(tree, FatTree::limited))
}

fn stages(table: &FatTreeTable, site: &Site) -> Checked<Vec<Stage>> {
    let wrong = |list: &Spanned<_>, message| site.source.wrong(list, message);
    let down = table.down.get_ref();
    if let Some(levels) = table.levels.as_ref().filter(|levels| *levels.get_ref() as usize != down.len()) {
        return Err(site.source.wrong(levels, format!("the lists describe {} levels", down.len())));
    }
    for list in [Some(&table.down), Some(&table.up), table.count.as_ref()].into_iter().flatten() {
        let numbers: &Vec<u32> = list.get_ref();
        if numbers.len() != down.len() {
            return Err(wrong(list, format!("{} numbers for {} levels", numbers.len(), down.len())));
        }
        if numbers.is_empty() || numbers.contains(&0) {
            return Err(wrong(list, "a fat-tree has at least one level, and none of its numbers is 0".to_owned()));
        }
    }
    site.within_max_hosts(table.down.span(), down)?;
    let count = table.count.as_ref().map_or(vec![1; down.len()], |count| count.get_ref().clone());
    let numbers = down.iter().zip(table.up.get_ref()).zip(count);
    let stages: Vec<_> = numbers.map(|((&down, &up), count)| Stage { down, up, count }).collect();
    site.within_max_cables(table.up.span(), FatTree::cables(&stages))?;
    Ok(stages)
}

/// `[topology.xgft]`: XGFT(h; m₁…m_h; w₁…w_h) of Öhring et al. A k-ary n-tree has k everywhere, but w₁ = 1; with smaller w it
/// is a thin tree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct XgftTable {
    /// Children of each switch, from the lowest level up.
    m: Spanned<Vec<u32>>,
    /// Parents of each host, and of each switch of the levels but the highest.
    w: Spanned<Vec<u32>>,
    /// The choice of ports upwards. Default: `"d-mod-k"`.
    #[serde(default)]
    ascent: Ascent,
    /// The seed of the hash of `ascent = "hashed"`. Default: 0.
    #[serde(default)]
    seed: u64,
}

/// An extended generalized fat-tree.
pub(crate) fn xgft(table: &XgftTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let (m, w) = (table.m.get_ref(), table.w.get_ref());
    if w.len() != m.len() {
        return Err(site.source.wrong(&table.w, format!("{} numbers for {} levels", w.len(), m.len())));
    }
    for list in [&table.m, &table.w] {
        if list.get_ref().is_empty() || list.get_ref().contains(&0) {
            return Err(site.source.wrong(list, "a tree has at least one level, and none of its numbers is 0"));
        }
    }
    site.within_max_hosts(table.m.span(), m)?;
    let stages: Vec<_> = m.iter().zip(w).map(|(&down, &up)| Stage { down, up, count: 1 }).collect();
    site.within_max_cables(table.w.span(), FatTree::cables(&stages))?;
    let choice = PortChoice { ascent: table.ascent, seed: table.seed };
    let tree = FatTree::new(&stages, site.cable()?).choosing(choice);
    Ok(site.limited(tree, FatTree::limited))
}
