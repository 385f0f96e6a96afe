//! `[topology]`: how hosts, switches and cables are arranged.

use serde::Deserialize;
use toml::Spanned;

use super::Sharing;
use titr_common::units::{Bandwidth, Quantity, Seconds};

/// `[topology.…]`: exactly one of these tables.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// All hosts on one switch, or round a backbone.
    Star(Star),
    /// A grid of hosts, each dimension closed to a ring.
    Torus(Grid),
    /// A grid of hosts, open at its sides.
    Mesh(Grid),
    /// A torus whose first dimension is twice as long as each other, and whose other rings close half round the first.
    TwistedTorus(Grid),
    /// Switches in levels: SimGrid's `FAT_TREE`.
    FatTree(FatTree),
    /// Switches in levels with one cable between two: k-ary n-trees, thin trees.
    Xgft(Xgft),
    /// Groups of chassis of blades of nodes: SimGrid's `DRAGONFLY`.
    Dragonfly(Dragonfly),
    /// Links and routes one by one, as in SimGrid's zones.
    Explicit(Explicit),
}

/// `[topology.star]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// What all messages between hosts cross. Default: nothing, a switch that forwards everything at once.
    pub backbone: Option<Backbone>,
}

/// `[topology.star.backbone]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backbone {
    pub bandwidth: Quantity<Bandwidth>,
    pub latency: Quantity<Seconds>,
    /// Default: `"shared"`, as SimGrid's `bb_sharing_policy`.
    #[serde(default)]
    pub sharing: Sharing,
}

/// `[topology.torus]`, `[topology.mesh]`, `[topology.twisted-torus]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Hosts along each dimension. The first varies fastest in the numbering of hosts, and is routed first.
    pub dims: Spanned<Vec<u32>>,
}

/// `[topology.fat-tree]`. The lists go from the hosts upwards and are of one length.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Levels of switches. Default: the length of the lists.
    pub levels: Option<Spanned<u32>>,
    /// Children of each switch.
    pub down: Spanned<Vec<u32>>,
    /// Parents of each host or switch.
    pub up: Spanned<Vec<u32>>,
    /// Parallel cables to each parent. Default: 1 everywhere.
    pub count: Option<Spanned<Vec<u32>>>,
    /// Default: `"minimal"`, which is D-mod-K.
    #[serde(default)]
    pub routing: Routing,
}

/// `[topology.xgft]`: XGFT(h; m₁…m_h; w₁…w_h) of Öhring et al. A k-ary n-tree has k everywhere, but w₁ = 1; with smaller w it
/// is a thin tree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xgft {
    /// Children of each switch, from the lowest level up.
    pub m: Spanned<Vec<u32>>,
    /// Parents of each host, and of each switch of the levels but the highest.
    pub w: Spanned<Vec<u32>>,
}

/// `[topology.dragonfly]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    pub groups: Spanned<u32>,
    /// In a group.
    pub chassis: Spanned<u32>,
    /// In a chassis, at least as many as groups.
    pub blades: Spanned<u32>,
    /// On a blade.
    pub nodes: Spanned<u32>,
    /// Cables between two groups. Default: 1.
    pub blue: Option<Spanned<u32>>,
    /// Cables between two blades of one position in different chassis of a group. Default: 1.
    pub black: Option<Spanned<u32>>,
    /// Cables between two blades of a chassis. Default: 1.
    pub green: Option<Spanned<u32>>,
    /// Default: `"minimal"`.
    #[serde(default)]
    pub routing: Routing,
}

/// `[topology.fat-tree] routing`, `[topology.dragonfly] routing`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    #[default]
    Minimal,
    /// What SimGrid 3.32 takes for that.
    SimGrid,
}

/// `[topology.explicit]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explicit {
    /// Their names.
    pub hosts: Spanned<Vec<Spanned<String>>>,
    /// Their names. Default: there are none.
    #[serde(default)]
    pub routers: Vec<Spanned<String>>,
    #[serde(default)]
    pub links: Vec<ExplicitLink>,
    #[serde(default)]
    pub routes: Vec<ExplicitRoute>,
    /// What routes between hosts are made of. Default: `"full"`.
    #[serde(default)]
    pub routing: ExplicitRouting,
}

/// `[[topology.explicit.links]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplicitLink {
    pub name: Spanned<String>,
    pub bandwidth: Quantity<Bandwidth>,
    pub latency: Quantity<Seconds>,
    #[serde(default)]
    pub sharing: Sharing,
}

/// `[[topology.explicit.routes]]`: one way only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplicitRoute {
    /// A host or router.
    pub from: Spanned<String>,
    /// A host or router.
    pub to: Spanned<String>,
    pub links: Vec<Spanned<String>>,
}

/// `[topology.explicit] routing`: SimGrid's kinds of zone.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExplicitRouting {
    /// Each is written.
    #[default]
    Full,
    /// To the first router, and from there (`Cluster`).
    Hub,
    /// The shortest way, counted in links.
    Floyd,
    /// Likewise, where that matters with other ties.
    Dijkstra,
}
