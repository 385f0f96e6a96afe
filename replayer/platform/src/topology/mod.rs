//! The topologies that a platform may use: for each, the table that describes it and the code that builds it.
//!
//! A topology has a file here, or a place in [`fabrics`], with its table and a function that makes a [`Topology`] from it,
//! and a line in [`topologies!`] below. If it has a [`ShortForm`], that is a line in [`SHORT_FORMS`].

mod dragonfly;
mod explicit;
mod fabrics;
mod fat_tree;
mod graph;
mod grid;
mod short_form;
mod site;
mod star;

use serde::Deserialize;
use titr_document::Checked;
use titr_network::topology::Topology;

pub(crate) use short_form::{SHORT_FORMS, ShortForm};
pub(crate) use site::Site;

/// Declares the topologies: the name in a file, the type of the table, and the function that builds it.
macro_rules! topologies {
    ($($(#[$attribute:meta])+ $name:ident($table:ty) => $build:path,)+) => {
        /// `[topology.…]`: exactly one of these tables.
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub(crate) enum TopologyTable {
            $($(#[$attribute])+ $name($table),)+
        }

        impl TopologyTable {
            /// The topology that the table describes.
            pub(crate) fn build(&self, site: &Site) -> Checked<Box<dyn Topology>> {
                match self {
                    $(Self::$name(table) => $build(table, site),)+
                }
            }
        }
    };
}

topologies! {
    /// All hosts on one switch, or round a backbone.
    Star(star::StarTable) => star::star,
    /// A grid of hosts, each dimension closed to a ring.
    Torus(grid::GridTable) => grid::torus,
    /// A grid of hosts, open at its sides.
    Mesh(grid::GridTable) => grid::mesh,
    /// A torus whose first dimension is twice as long as each other, and whose other rings close half round the first.
    TwistedTorus(grid::GridTable) => grid::twisted_torus,
    /// Switches in levels: SimGrid's `FAT_TREE`.
    FatTree(fat_tree::FatTreeTable) => fat_tree::fat_tree,
    /// Switches in levels with one cable between two: k-ary n-trees, thin trees.
    Xgft(fat_tree::XgftTable) => fat_tree::xgft,
    /// Groups of chassis of blades of nodes: SimGrid's `DRAGONFLY`.
    Dragonfly(dragonfly::DragonflyTable) => dragonfly::dragonfly,
    /// Groups of leaf and spine routers.
    DragonflyPlus(fabrics::DragonflyPlusTable) => fabrics::dragonfly_plus,
    /// Routers in a grid, every two of which are joined in each dimension.
    #[serde(rename = "hyperx")]
    HyperX(fabrics::HyperXTable) => fabrics::hyperx,
    /// Routers that are two hops apart: the graphs of McKay, Miller and Širáň.
    SlimFly(fabrics::SlimFlyTable) => fabrics::slim_fly,
    /// Routers joined at random.
    Jellyfish(fabrics::JellyfishTable) => fabrics::jellyfish,
    /// Routers and hosts as a file lists their cables.
    Graph(graph::GraphTable) => graph::graph,
    /// Links and routes one by one, as in SimGrid's zones.
    Explicit(explicit::ExplicitTable) => explicit::explicit,
}
