//! Traffic patterns: the destination of each host's messages.
//!
//! Sources: the permutations are those of W. J. Dally, B. Towles, "Principles and Practices of Interconnection
//! Networks", 2004, §3.2; the hot region is INSEE's: a quarter of all messages go to the first eighth of the hosts; the
//! adversarial pattern of groups is the worst case of J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven,
//! Highly-Scalable Dragonfly Topology", ISCA 2008, §4.2.

use std::fmt;
use std::str::FromStr;

use rand_pcg::rand_core::RngCore;
use thiserror::Error;

use super::source::{below, unit};
use crate::topology::{Lattice, RouterGraph, Shape};

/// A pattern of destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Any other host.
    Uniform,
    /// Host 0 for a part of all messages, any other host for the rest.
    HotSpot,
    /// The first eighth of the hosts for a quarter of all messages, any for the rest.
    HotRegion,
    /// Any host of the next group of a dragonfly.
    GroupAdversarial,
    /// The halves of the address changed: (x, y) to (y, x).
    Transpose,
    /// The bits of the address reversed.
    BitReversal,
    /// The bits of the address inverted: the last host for the first.
    BitComplement,
    /// The bits of the address turned by one.
    PerfectShuffle,
    /// The first and the last bit of the address changed.
    Butterfly,
    /// Almost half round each ring.
    Tornado,
    /// The next in each dimension.
    Neighbour,
}

const NAMES: [(&str, Pattern); 11] = [
    ("uniform", Pattern::Uniform),
    ("hot-spot", Pattern::HotSpot),
    ("hot-region", Pattern::HotRegion),
    ("group-adversarial", Pattern::GroupAdversarial),
    ("transpose", Pattern::Transpose),
    ("bit-reversal", Pattern::BitReversal),
    ("bit-complement", Pattern::BitComplement),
    ("perfect-shuffle", Pattern::PerfectShuffle),
    ("butterfly", Pattern::Butterfly),
    ("tornado", Pattern::Tornado),
    ("neighbour", Pattern::Neighbour),
];

/// The part of all messages that goes to the hot spot, which is host 0.
const HOT_SPOT: f64 = 0.05;

/// An error of a pattern that does not suit the number of hosts.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NoPattern {
    /// No pattern is called so.
    #[error("there is no traffic `{0}`: there is {names}", names = names())]
    Unknown(String),
    /// Bits are permuted where addresses have no whole number of them.
    #[error("{0} is between as many hosts as a power of two, not {1}")]
    NotAPowerOfTwo(Pattern, u32),
    /// Rows and columns are exchanged where there are not as many.
    #[error("transpose is between as many hosts as a square, not {0}")]
    NotASquare(u32),
    /// There is no next group.
    #[error("{0} is between the groups of a dragonfly, which these hosts do not form")]
    NoGroups(Pattern),
    /// No host has a destination.
    #[error("traffic is between at least two hosts")]
    TooFewHosts,
}

fn names() -> String {
    NAMES.map(|(name, _)| name).join(", ")
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = NAMES.iter().find(|(_, pattern)| pattern == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Pattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let spelled = text.replace(['_', ' '], "-").replace("neighbor", "neighbour").replace("hotspot", "hot-spot");
        let pattern = NAMES.iter().find(|(name, _)| *name == spelled);
        pattern.map(|&(_, pattern)| pattern).ok_or_else(|| NoPattern::Unknown(text.to_owned()))
    }
}

/// The arrangement of hosts, as far as patterns refer to it.
#[derive(Clone, Debug, Default)]
pub enum Arrangement {
    /// One after the other.
    #[default]
    Line,
    /// In a grid, with this many hosts along each dimension.
    Grid(Vec<u32>),
    /// In groups of this many hosts.
    Groups(u32),
}

impl Arrangement {
    /// The arrangement of the hosts of a network.
    #[must_use]
    pub fn of(graph: &RouterGraph) -> Self {
        let grid = graph.geometry::<Lattice>().map(|lattice| Self::Grid(lattice.sizes.to_vec()));
        let groups = || graph.geometry::<Shape>().map(|shape| Self::Groups(shape.hosts_of_group()));
        grid.or_else(groups).unwrap_or_default()
    }
}

/// A pattern between certain hosts.
#[derive(Clone, Debug)]
pub struct Destinations {
    pattern: Pattern,
    hosts: u32,
    arrangement: Arrangement,
}

impl Destinations {
    /// The pattern between `hosts` hosts.
    ///
    /// # Errors
    /// If the pattern is not defined for this number of hosts.
    pub fn new(pattern: Pattern, hosts: u32, arrangement: Arrangement) -> Result<Self, NoPattern> {
        match pattern {
            _ if hosts < 2 => return Err(NoPattern::TooFewHosts),
            Pattern::BitReversal | Pattern::PerfectShuffle | Pattern::Butterfly if !hosts.is_power_of_two() => {
                return Err(NoPattern::NotAPowerOfTwo(pattern, hosts));
            }
            Pattern::Transpose if hosts.isqrt().pow(2) != hosts => return Err(NoPattern::NotASquare(hosts)),
            Pattern::GroupAdversarial if !matches!(arrangement, Arrangement::Groups(size) if size < hosts) => {
                return Err(NoPattern::NoGroups(pattern));
            }
            _ => {}
        }
        Ok(Self { pattern, hosts, arrangement })
    }

    /// Draws the destination of a message of `from`; none if the pattern has the message stay.
    pub(crate) fn draw(&self, from: u32, random: &mut impl RngCore) -> Option<u32> {
        let to = match self.pattern {
            Pattern::Uniform => self.other(from, random),
            Pattern::HotSpot if unit(random) < HOT_SPOT => 0,
            Pattern::HotRegion if unit(random) < 0.25 => below(random, u64::from(self.hosts.div_ceil(8))) as u32,
            Pattern::HotSpot | Pattern::HotRegion => self.other(from, random),
            Pattern::GroupAdversarial => self.in_next_group(from, random),
            Pattern::BitComplement => self.hosts - 1 - from,
            Pattern::Transpose => {
                let side = self.hosts.isqrt();
                from % side * side + from / side
            }
            Pattern::BitReversal => from.reverse_bits() >> (32 - self.bits()),
            Pattern::PerfectShuffle => from << 1 & (self.hosts - 1) | from >> (self.bits() - 1),
            Pattern::Butterfly => {
                let (first, last) = (from & 1, from >> (self.bits() - 1));
                let ends = 1 | 1 << (self.bits() - 1);
                from & !ends | first << (self.bits() - 1) | last
            }
            Pattern::Tornado => self.shift(from, |size| size.div_ceil(2) - 1),
            Pattern::Neighbour => self.shift(from, |_| 1),
        };
        Some(to).filter(|&to| to != from)
    }

    /// Address bits.
    fn bits(&self) -> u32 {
        self.hosts.ilog2()
    }

    fn other(&self, from: u32, random: &mut impl RngCore) -> u32 {
        let place = below(random, u64::from(self.hosts - 1)) as u32;
        place + u32::from(place >= from)
    }

    /// Any host of the group after that of `from`.
    fn in_next_group(&self, from: u32, random: &mut impl RngCore) -> u32 {
        let size = if let Arrangement::Groups(size) = self.arrangement { size } else { self.hosts };
        (from / size + 1) % (self.hosts / size) * size + below(random, size.into()) as u32
    }

    /// The host that is further along in each dimension, by the number of hosts that `by` gives for its size.
    fn shift(&self, from: u32, by: fn(u32) -> u32) -> u32 {
        let (mut stride, mut to) = (1, 0);
        let line = [self.hosts];
        let sizes = if let Arrangement::Grid(sizes) = &self.arrangement { sizes.as_slice() } else { &line };
        for &size in sizes {
            to += stride * ((from / stride % size + by(size)) % size);
            stride *= size;
        }
        to
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::generator;
    use super::*;

    fn grid() -> Arrangement {
        Arrangement::Grid(vec![8, 8])
    }

    fn of(pattern: Pattern, from: u32) -> Option<u32> {
        Destinations::new(pattern, 64, grid()).unwrap().draw(from, &mut generator(1, 0))
    }

    /// By hand, for 0b001_011 of 64 hosts, which is place (3, 1) of a grid.
    #[test]
    fn permutations_by_hand() {
        assert_eq!(of(Pattern::Transpose, 0b001_011), Some(0b011_001));
        assert_eq!(of(Pattern::BitReversal, 0b001_011), Some(0b110_100));
        assert_eq!(of(Pattern::BitComplement, 0b001_011), Some(0b110_100));
        assert_eq!(of(Pattern::PerfectShuffle, 0b101_011), Some(0b010_111));
        assert_eq!(of(Pattern::Butterfly, 0b001_011), Some(0b101_010));
        assert_eq!(of(Pattern::Tornado, 0b001_011), Some(0b100_110));
        assert_eq!(of(Pattern::Neighbour, 0b001_111), Some(0b010_000));
        assert_eq!(of(Pattern::Transpose, 0b011_011), None, "the diagonal stays");
    }

    /// Each permutation reaches every host once.
    #[test]
    fn permutations_are_permutations() {
        for (_, pattern) in &NAMES[4..] {
            let destinations = Destinations::new(*pattern, 64, grid()).unwrap();
            let mut reached: Vec<_> =
                (0..64).map(|from| destinations.draw(from, &mut generator(1, 0)).unwrap_or(from)).collect();
            reached.sort_unstable();
            assert_eq!(reached, Vec::from_iter(0..64), "{pattern}");
        }
    }

    #[test]
    fn any_other_host_is_as_likely() {
        let (mut random, mut counts) = (generator(1, 0), [0_u32; 5]);
        let destinations = Destinations::new(Pattern::Uniform, 5, Arrangement::Line).unwrap();
        for _ in 0..40_000 {
            counts[destinations.draw(2, &mut random).unwrap() as usize] += 1;
        }
        assert_eq!(counts[2], 0);
        assert!([0, 1, 3, 4].iter().all(|&host| counts[host].abs_diff(10_000) < 500), "{counts:?}");
    }

    /// Hosts of the last of four groups send to all hosts of the first.
    #[test]
    fn adversarial_traffic_goes_to_the_next_group() {
        let (mut random, mut counts) = (generator(1, 0), [0_u32; 12]);
        let destinations = Destinations::new(Pattern::GroupAdversarial, 12, Arrangement::Groups(3)).unwrap();
        for _ in 0..30_000 {
            counts[destinations.draw(10, &mut random).unwrap() as usize] += 1;
        }
        assert!(counts[..3].iter().all(|&count| count.abs_diff(10_000) < 500), "{counts:?}");
        assert_eq!(counts[3..], [0; 9]);
        for arrangement in [Arrangement::Line, grid(), Arrangement::Groups(12)] {
            assert!(Destinations::new(Pattern::GroupAdversarial, 12, arrangement).is_err());
        }
    }

    #[test]
    fn names_are_read_as_written() {
        for (name, pattern) in NAMES {
            assert_eq!(name.parse(), Ok(pattern));
            assert_eq!(pattern.to_string(), name);
        }
        assert!("uniformly".parse::<Pattern>().is_err());
    }
}
