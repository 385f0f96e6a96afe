//! `[topology.jellyfish]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{Jellyfish, Topology};
use toml::Spanned;

use super::Site;

/// `[topology.jellyfish]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JellyfishTable {
    routers: Spanned<u32>,
    /// Cables from each router to others.
    degree: Spanned<u32>,
    /// Hosts of each router. Default: 1.
    hosts: Option<Spanned<u32>>,
    /// The seed of the random graph. Default: 0.
    #[serde(default)]
    seed: u64,
}

/// A random regular graph.
pub(crate) fn jellyfish(table: &JellyfishTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let [routers, degree] = [&table.routers, &table.degree].map(|number| *number.get_ref());
    let hosts = table.hosts.as_ref().map_or(1, |hosts| *hosts.get_ref());
    site.within_max_routers(table.routers.span(), &[routers])?;
    let place = table.hosts.as_ref().map_or(table.routers.span(), Spanned::span);
    site.within_max_hosts(place, &[routers, hosts])?;
    if degree == 0 || degree >= routers {
        let message = format!("a router has at least one cable, and fewer than there are routers, {routers}");
        return Err(site.source.wrong(&table.degree, message));
    }
    let ends = u64::from(routers) * u64::from(degree);
    if !ends.is_multiple_of(2) {
        let message = format!("{routers} routers with {degree} cables each: a cable would have one end only");
        return Err(site.source.wrong(&table.degree, message).with_help("make one of the two numbers even"));
    }
    site.within_max_cables(table.degree.span(), ends / 2 + u64::from(routers) * u64::from(hosts))?;
    let jellyfish = Jellyfish { routers, degree, hosts, seed: table.seed };
    let wiring = jellyfish.wiring().map_err(|why| {
        site.source.wrong(&table.degree, why.to_string()).with_help("more cables, or another seed, may connect them")
    })?;
    site.fabric(wiring)
}
