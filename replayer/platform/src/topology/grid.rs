//! `[topology.torus]`, `[topology.mesh]`, `[topology.twisted-torus]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{Cable, Grid, Topology};
use toml::Spanned;

use super::Site;

/// `[topology.torus]`, `[topology.mesh]`, `[topology.twisted-torus]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridTable {
    /// Hosts along each dimension. The first varies fastest in the numbering of hosts, and is routed first.
    dims: Spanned<Vec<u32>>,
}

pub(crate) fn torus(table: &GridTable, site: &Site) -> Checked<Box<dyn Topology>> {
    grid(table, site, Grid::torus)
}

pub(crate) fn mesh(table: &GridTable, site: &Site) -> Checked<Box<dyn Topology>> {
    grid(table, site, Grid::mesh)
}

/// A rectangular twisted torus.
pub(crate) fn twisted_torus(table: &GridTable, site: &Site) -> Checked<Box<dyn Topology>> {
    table.check(site)?;
    let dims = table.dims.get_ref().as_slice();
    let is_twistable = matches!(dims, [long, rest @ ..]
        if !rest.is_empty() && rest.len() < 16 && rest.iter().all(|&short| short > 1 && u64::from(*long) == 2 * u64::from(short)));
    if !is_twistable {
        let message = "a rectangular twisted torus has one dimension that is twice as long as each other";
        let mistake = site.source.wrong(&table.dims, message);
        return Err(mistake.with_help("write the long one first, as in dims = [8, 4]"));
    }
    grid(table, site, Grid::twisted_torus)
}

fn grid(table: &GridTable, site: &Site, build: fn(&[u32], Cable) -> Grid) -> Checked<Box<dyn Topology>> {
    table.check(site)?;
    let grid = build(table.dims.get_ref(), site.cable()?);
    Ok(site.limited(grid, Grid::limited))
}

impl GridTable {
    /// Finds fault with grids that are too small or too large.
    fn check(&self, site: &Site) -> Checked<()> {
        let dims = self.dims.get_ref();
        if dims.is_empty() {
            return Err(site.source.wrong(&self.dims, "a grid has at least one dimension"));
        }
        let hosts = site.within_max_hosts(self.dims.span(), dims)?;
        let cabled = dims.iter().filter(|&&size| size > 1).count();
        site.within_max_cables(self.dims.span(), hosts * cabled as u64)
    }
}
