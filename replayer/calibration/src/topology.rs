//! The topology of the machine, in the user's notation on the command line.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::str::FromStr;

use thiserror::Error;
use titr_platform::{Platform, PlatformError};

/// A topology by its name and numbers: `star`, `torus=4x4`, `mesh=4x4`, `fat-tree=DOWN:UP:COUNT`, `xgft=M:W`, `typical`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NamedTopology {
    /// All hosts on one switch.
    #[default]
    Star,
    /// Hosts in a grid that is closed to rings.
    Torus(Vec<u32>),
    /// Hosts in a grid that is open.
    Mesh(Vec<u32>),
    /// Switches in levels: children, parents and cables to each parent, from the hosts upwards.
    FatTree([Vec<u32>; 3]),
    /// Switches in levels: children and parents, from the hosts upwards.
    Xgft([Vec<u32>; 2]),
    /// The network of a typical machine, of which nothing is known: see [`NamedTopology::of_hosts`].
    Typical,
}

/// Hosts at each switch of a typical machine.
const LEAF: u32 = 8;
/// Links from each switch of a typical machine to the others, if they are as fast as those of its hosts. Jobs lose bandwidth
/// with their size, as these links are fewer, and as others use them. Chosen by half of the machines of TRUTH.md.
const UPLINKS: f64 = 3.0;

/// A text that names no topology.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "`{0}` is none of star, torus=4x4, mesh=4x4, fat-tree=4,4:1,2:1,1 (children:parents:cables, from the hosts upwards), xgft=4,4:1,2 and typical"
)]
pub struct NoTopology(String);

impl FromStr for NamedTopology {
    type Err = NoTopology;

    fn from_str(text: &str) -> Result<Self, NoTopology> {
        let wrong = || NoTopology(text.to_owned());
        let numbers = |list: &str, separator: char| {
            let read = list.split(separator).map(|number| number.trim().parse().ok().filter(|&number| number > 0));
            read.collect::<Option<Vec<u32>>>().ok_or_else(wrong)
        };
        let (name, rest) = text.split_once('=').unwrap_or((text, ""));
        let lists = || rest.split(':').map(|list| numbers(list, ',')).collect::<Result<Vec<_>, _>>();
        match name {
            "star" if rest.is_empty() => Ok(Self::Star),
            "typical" if rest.is_empty() => Ok(Self::Typical),
            "torus" => numbers(rest, 'x').map(Self::Torus),
            "mesh" => numbers(rest, 'x').map(Self::Mesh),
            "fat-tree" => lists()?.try_into().map(Self::FatTree).map_err(|_| wrong()),
            "xgft" => lists()?.try_into().map(Self::Xgft).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl Display for NamedTopology {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let join = |list: &[u32], separator| list.iter().map(u32::to_string).collect::<Vec<_>>().join(separator);
        let lists = |all: &[Vec<u32>]| all.iter().map(|list| join(list, ",")).collect::<Vec<_>>().join(":");
        match self {
            Self::Star => write!(f, "star"),
            Self::Typical => write!(f, "typical"),
            Self::Torus(dims) => write!(f, "torus={}", join(dims, "x")),
            Self::Mesh(dims) => write!(f, "mesh={}", join(dims, "x")),
            Self::FatTree(all) => write!(f, "fat-tree={}", lists(all)),
            Self::Xgft(all) => write!(f, "xgft={}", lists(all)),
        }
    }
}

impl NamedTopology {
    /// The topology of this number of hosts, whose links carry a part `reached` of what links between switches do. A typical one
    /// is a tree of switches with eight hosts and three uplinks each, or a star if one switch has room for all hosts.
    pub(crate) fn of_hosts(&self, hosts: u32, reached: f64) -> Self {
        match self {
            Self::Typical if hosts > LEAF => {
                let uplinks = (UPLINKS / reached).round().clamp(1.0, f64::from(LEAF)) as u32;
                Self::FatTree([vec![LEAF, hosts.div_ceil(LEAF)], vec![1, uplinks], vec![1, 1]])
            }
            Self::Typical => Self::Star,
            known => known.clone(),
        }
    }

    /// The links between the two hosts that are farthest from each other.
    pub(crate) fn longest_route(&self) -> u32 {
        let longest = match self {
            Self::Star | Self::Typical => 2,
            Self::Torus(dims) => dims.iter().map(|dim| dim / 2).sum(),
            Self::Mesh(dims) => dims.iter().map(|dim| dim - 1).sum(),
            Self::FatTree([down, ..]) | Self::Xgft([down, _]) => 2 * down.len() as u32,
        };
        longest.max(1)
    }

    /// The table of the topology in a platform file.
    pub(crate) fn table(&self) -> String {
        match self {
            Self::Star | Self::Typical => "[topology.star]\n".to_owned(),
            Self::Torus(dims) => format!("[topology.torus]\ndims = {dims:?}\n"),
            Self::Mesh(dims) => format!("[topology.mesh]\ndims = {dims:?}\n"),
            Self::FatTree([down, up, count]) => {
                format!("[topology.fat-tree]\ndown = {down:?}\nup = {up:?}\ncount = {count:?}\n")
            }
            Self::Xgft([m, w]) => format!("[topology.xgft]\nm = {m:?}\nw = {w:?}\n"),
        }
    }

    /// A platform of this topology, whose links and hosts mean nothing; a star has this number of hosts.
    pub(crate) fn alone(&self, hosts: u32) -> Result<Platform, PlatformError> {
        let count = if *self == Self::Star { format!("count = {hosts}\n") } else { String::new() };
        let text = format!(
            "schema = 1\n[hosts]\n{count}cores = 1\nspeed = \"1 instr/s\"\n{}[network]\nbandwidth = \"1 B/s\"\nlatency = \"1 s\"\n",
            self.table()
        );
        Platform::parse(Path::new("cluster.toml"), text, &[])
    }

    /// The number of hosts; `None` if there can be any.
    pub(crate) fn hosts(&self) -> Option<u64> {
        let product = |list: &[u32]| list.iter().fold(1_u64, |product, &number| product.saturating_mul(number.into()));
        match self {
            Self::Star | Self::Typical => None,
            Self::Torus(dims) | Self::Mesh(dims) => Some(product(dims)),
            Self::FatTree([down, ..]) | Self::Xgft([down, _]) => Some(product(down)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["star", "torus=4x4", "mesh=2x3x4", "fat-tree=4,4:1,2:1,1", "xgft=4,4:1,2", "typical"] {
            assert_eq!(text.parse::<NamedTopology>().map(|topology| topology.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("torus=4x4".parse::<NamedTopology>().map(|torus| torus.hosts()), Ok(Some(16)));
    }

    #[test]
    fn a_typical_network_is_a_tree_with_few_uplinks() {
        let typical = |hosts, reached| NamedTopology::Typical.of_hosts(hosts, reached).to_string();
        assert_eq!(typical(8, 0.9), "star");
        assert_eq!(typical(30, 0.9), "fat-tree=8,4:1,3:1,1");
        // Hosts that reach less of their links are held up less.
        assert_eq!(typical(32, 0.4), "fat-tree=8,4:1,8:1,1");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "star=4", "torus", "torus=0x4", "torus=4xx4", "fat-tree=4,4:1,2", "ring=4"] {
            assert!(text.parse::<NamedTopology>().is_err(), "{text}");
        }
    }
}
