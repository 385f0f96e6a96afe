//! The tables of fabrics: `[topology.dragonfly-plus]`, `[topology.hyperx]`, `[topology.jellyfish]` and `[topology.slim-fly]`.

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{DragonflyPlus, HyperX, Jellyfish, SlimFly, Topology};
use toml::Spanned;

use super::Site;

/// `[topology.dragonfly-plus]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DragonflyPlusTable {
    groups: Spanned<u32>,
    /// Leaf routers of a group.
    leaves: Spanned<u32>,
    /// Spine routers of a group.
    spines: Spanned<u32>,
    /// Links from each spine to other groups.
    global_links: Spanned<u32>,
    /// Hosts of each leaf.
    hosts: Spanned<u32>,
}

pub(crate) fn dragonfly_plus(table: &DragonflyPlusTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let DragonflyPlusTable { groups, leaves, spines, global_links, hosts } = table;
    for number in [groups, leaves, spines, global_links, hosts] {
        if *number.get_ref() == 0 {
            return Err(site.source.wrong(number, "none of a Dragonfly+'s numbers is 0"));
        }
    }
    let plus = DragonflyPlus {
        groups: *groups.get_ref(),
        leaves: *leaves.get_ref(),
        spines: *spines.get_ref(),
        global_links: *global_links.get_ref(),
        hosts: *hosts.get_ref(),
    };
    site.within_max_hosts(site.place.clone(), &[plus.groups, plus.leaves, plus.hosts])?;
    site.within_max_hosts(site.place.clone(), &[plus.groups, plus.spines])?;
    site.within_max_cables(site.place.clone(), plus.cables())?;
    let in_all = |number: u32| u64::from(plus.groups) * u64::from(number);
    site.within_max_hops(spines.span(), in_all(plus.leaves) + in_all(plus.spines), in_all(plus.leaves))?;
    if plus.groups > 1 && plus.links_of_two_groups() == 0 {
        let message =
            format!("{} groups need {} links from each, one to each of the others", plus.groups, plus.groups - 1);
        let mistake = site.source.wrong(groups, message);
        return Err(mistake.with_help("a group has spines × global_links links to other groups"));
    }
    site.fabric(plus.wiring())
}

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
    site.within_max_hosts(place.clone(), &[2 * q * q, slim_fly.hosts])?;
    site.within_max_cables(place, slim_fly.cables())?;
    site.fabric(slim_fly.wiring())
}
