//! `[topology.graph]`: routers and hosts as a file lists their cables.
//!
//! Each format has a file here with a function that reads a [`Cabling`]. The format is recognised by the content.

mod cable_list;
mod cabling;
mod ibnetdiscover;

use serde::Deserialize;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_document::{Checked, Source};
use titr_network::topology::{Fabric, Topology};
use toml::Spanned;

use super::Site;
use cabling::Cabling;

/// `[topology.graph]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphTable {
    /// A file that lists the cables, relative to the platform file.
    file: Spanned<String>,
    /// Hosts that each node gets, all of which are then routers. Default: hosts are nodes of the file.
    hosts: Option<Spanned<u32>>,
}

/// Routers and hosts of a file.
pub(crate) fn graph(table: &GraphTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let path = site.folder.join(table.file.get_ref());
    let text = input::read_text(&path, WRITTEN_BY_PROGRAM).map_err(|error| {
        let mistake = site.source.wrong(&table.file, format!("cannot read {}: {error}", path.display()));
        mistake.with_help("the name of the file is relative to the platform file")
    })?;
    let source = Source::new(&path.display().to_string(), text, []);
    let cabling = read(&source)?;
    let cable = site.cable()?;
    let place = table.file.span();
    site.within_max_cables(place.clone(), cabling.cables())?;
    let wiring = match &table.hosts {
        Some(hosts) => {
            site.within_max_hosts(hosts.span(), &[cabling.nodes(), *hosts.get_ref()])?;
            if cabling.names_hosts() {
                let mistake = site.source.wrong(hosts, format!("{} says which nodes are hosts", path.display()));
                return Err(mistake.with_help("leave `hosts` out"));
            }
            cabling.with_hosts(*hosts.get_ref(), &cable)?
        }
        None => {
            site.within_max_hosts(place.clone(), &[cabling.nodes()])?;
            cabling.wiring(&cable)?
        }
    };
    if wiring.hosts.is_empty() {
        let mistake = site.source.wrong(&table.file, format!("{} has no hosts", path.display()));
        return Err(mistake.with_help(
            "a node with a single cable is a host; otherwise the file says which nodes are hosts, or `hosts = 1` gives each \
             node one",
        ));
    }
    let fabric = Fabric::new(wiring, cable)
        .map_err(|why| site.source.wrong(&table.file, format!("{}: {why}", path.display())))?;
    Ok(site.limited(fabric, Fabric::limited))
}

/// Reads a file of any format.
fn read(source: &Source) -> Checked<Cabling<'_>> {
    let text = source.text().trim_start();
    if text.starts_with('<') {
        let mistake = source.mistake(0..1, "this is XML, and titr reads no GraphML any more");
        Err(mistake.with_help("list the cables: a line for each, with the names of two nodes"))
    } else if ibnetdiscover::is_one(text) {
        ibnetdiscover::read(source)
    } else {
        cable_list::read(source)
    }
}
