//! `[topology.star]`

use serde::Deserialize;
use titr_common::units::{Bandwidth, Quantity, Seconds};
use titr_document::Checked;
use titr_network::topology::{Link, Sharing, Star, Topology};

use super::Site;

/// `[topology.star]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StarTable {
    /// A link that all messages between hosts cross. Default: none, a switch that forwards everything at once.
    backbone: Option<BackboneTable>,
}

/// `backbone` of `[topology.star]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackboneTable {
    bandwidth: Quantity<Bandwidth>,
    latency: Quantity<Seconds>,
    /// Default: `"shared"`, as SimGrid's `bb_sharing_policy`.
    #[serde(default)]
    sharing: Sharing,
}

/// A star of as many hosts as the platform has.
pub(crate) fn star(table: &StarTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let Some(hosts) = site.hosts else {
        let mistake = site.source.mistake(Some(site.place.clone()), "a star does not say how many hosts are on it");
        return Err(mistake.with_help("write count = … under [hosts]"));
    };
    site.within_max_hosts(hosts.span(), &[*hosts.get_ref()])?;
    let backbone = table.backbone.as_ref().map(|backbone| Link {
        bandwidth: backbone.bandwidth.0.bytes_per_second,
        latency: backbone.latency.0,
        sharing: backbone.sharing,
    });
    let star = Star::new(*hosts.get_ref(), site.cable()?, backbone);
    Ok(site.limited(star, Star::limited))
}
