//! `[topology.dragonfly-plus]`

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::{DragonflyPlus, Topology};
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

/// A Dragonfly+.
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
    if plus.groups > 1 && plus.links_of_two_groups() == 0 {
        let message =
            format!("{} groups need {} links from each, one to each of the others", plus.groups, plus.groups - 1);
        let mistake = site.source.wrong(groups, message);
        return Err(mistake.with_help("a group has spines × global_links links to other groups"));
    }
    site.fabric(plus.wiring())
}
