//! `[topology.xgft]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{Ascent, FatTree, PortChoice, Stage, Topology};
use toml::Spanned;

use super::Site;

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
