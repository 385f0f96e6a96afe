//! `[topology.slim-fly]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{SlimFly, Topology};
use toml::Spanned;

use super::Site;

/// The largest q whose routers fit the table of hops.
const MOST: u32 = 128;

/// `[topology.slim-fly]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SlimFlyTable {
    /// A power of a prime. There are 2q² routers.
    q: Spanned<u32>,
    /// Hosts of each router. Default: half as many as cables to other routers, rounded up.
    hosts: Option<Spanned<u32>>,
}

/// A Slim Fly.
pub(crate) fn slim_fly(table: &SlimFlyTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let q = *table.q.get_ref();
    let hosts = table.hosts.as_ref().map(|hosts| *hosts.get_ref());
    let slim_fly = if q <= MOST { SlimFly::new(q, hosts) } else { None };
    let Some(slim_fly) = slim_fly else {
        let mistake = site.source.wrong(&table.q, format!("there is no Slim Fly of q = {q}"));
        return Err(
            mistake.with_help(format!("q is a power of a prime from 3 to {MOST}, such as 5, 7, 8, 9, 11 or 13"))
        );
    };
    let place = table.hosts.as_ref().map_or(table.q.span(), Spanned::span);
    site.within_max_hosts(place.clone(), &[2 * q * q, slim_fly.hosts_of_router()])?;
    site.within_max_cables(place, slim_fly.cables())?;
    site.fabric(slim_fly.wiring())
}
