//! `[topology.hyperx]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{HyperX, Topology};
use toml::Spanned;

use super::Site;

/// `[topology.hyperx]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HyperXTable {
    /// Routers along each dimension. The first varies fastest in the numbering of routers.
    dims: Spanned<Vec<u32>>,
    /// Hosts of each router. Default: 1.
    hosts: Option<Spanned<u32>>,
    /// Cables side by side between two routers, for each dimension. Default: 1 everywhere.
    cables: Option<Spanned<Vec<u32>>>,
}

/// A HyperX.
pub(crate) fn hyperx(table: &HyperXTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let dims = table.dims.get_ref();
    if dims.is_empty() {
        return Err(site.source.wrong(&table.dims, "a HyperX has at least one dimension"));
    }
    let cables = table.cables.as_ref().map_or(vec![1; dims.len()], |cables| cables.get_ref().clone());
    if let Some(written) = &table.cables {
        if cables.len() != dims.len() {
            let message = format!("{} numbers for {} dimensions", cables.len(), dims.len());
            return Err(site.source.wrong(written, message));
        }
        if cables.contains(&0) {
            return Err(site.source.wrong(written, "two routers of a dimension have at least one cable"));
        }
    }
    let hosts = table.hosts.as_ref().map_or(1, |hosts| *hosts.get_ref());
    let routers = site.within_max_routers(table.dims.span(), dims)?;
    let place = table.hosts.as_ref().map_or(table.dims.span(), Spanned::span);
    site.within_max_hosts(place, &[routers, hosts])?;
    let hyperx = HyperX { sizes: dims.clone(), cables, hosts };
    site.within_max_cables(table.dims.span(), hyperx.cables())?;
    site.fabric(hyperx.wiring())
}
