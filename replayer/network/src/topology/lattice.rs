//! The geometry of grids: coordinates, neighbours, and distances.
//!
//! Place `x₀ + d₀·(x₁ + d₁·(x₂ + …))` has the coordinates x. A **torus** closes each row to a ring, a **mesh** does not.
//!
//! A **rectangular twisted torus** of 2a × a (J. Cámara, M. Moretó, E. Vallejo, R. Beivide, J. Miguel-Alonso, C. Martínez,
//! J. Navaridas, "Twisted Torus Topologies for Enhanced Interconnection Networks", IEEE TPDS 21(12), 2010) is a torus whose
//! short rings do not close at once: the step from the last place of a short row to the first also moves a places along
//! the long dimension, (x, a−1) + Y → ((x + a) mod 2a, 0). Here the long dimension may be followed by any number of
//! dimensions, each half as long. The torus remains symmetric under translation, so a path depends only on the
//! difference of coordinates: if it crosses k seams, it is shifted by k·a along the long dimension, and a shortest path
//! always crosses no seam or one in each short dimension.

use super::cable::Direction;
use super::{Geometry, RouterId};

/// A grid's geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    /// Places along each dimension.
    pub sizes: Vec<u32>,
    /// The kind of its edges.
    pub edge: Edge,
}

/// The neighbour beyond the last place of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// There is none: a mesh.
    Open,
    /// The first place: a torus.
    Closed,
    /// The first place, half round the first dimension: a twisted torus.
    Twisted,
}

/// Routers are the places of the lattice. Port 2d leads up dimension d, port 2d + 1 down.
impl Geometry for Lattice {
    fn family(&self) -> &'static str {
        "grid"
    }

    fn router_name(&self, router: RouterId) -> String {
        format!("node-{}", router.0)
    }
}

impl Lattice {
    /// A grid of these sizes. Their product must fit a `u32`; in a twisted torus, all but the first are at least 2
    /// and half the first.
    #[must_use]
    pub fn new(sizes: &[u32], edge: Edge) -> Self {
        Self { sizes: sizes.to_vec(), edge }
    }

    /// The number of places.
    #[must_use]
    pub fn places(&self) -> u32 {
        self.sizes.iter().product()
    }

    /// The neighbour along a dimension, if there is one. A ring of one place has no neighbours.
    #[must_use]
    pub fn neighbour(&self, place: u32, dimension: usize, direction: Direction) -> Option<u32> {
        let size = self.sizes[dimension];
        let stride: u32 = self.sizes[..dimension].iter().product();
        let here = place / stride % size;
        let (last, first) = match direction {
            Direction::Up => (size - 1, 0),
            Direction::Down => (0, size - 1),
        };
        if here != last {
            return Some(match direction {
                Direction::Up => place + stride,
                Direction::Down => place - stride,
            });
        }
        let around = place - here * stride + first * stride;
        match self.edge {
            _ if size == 1 => None,
            Edge::Open => None,
            Edge::Twisted if dimension > 0 => {
                let long = self.sizes[0];
                let x = place % long;
                Some(around - x + (x + long / 2) % long)
            }
            Edge::Closed | Edge::Twisted => Some(around),
        }
    }

    /// Stores in `steps` the steps along each dimension, negative if downwards, of a shortest path from one place to
    /// another. If several are shortest, `ties` — any number — chooses: random numbers spread the load evenly.
    pub(crate) fn displacement(&self, from: u32, to: u32, ties: u64, steps: &mut [i32]) {
        let (mut from, mut to) = (from, to);
        for (step, &size) in steps.iter_mut().zip(&self.sizes) {
            *step = (to % size) as i32 - (from % size) as i32;
            (from, to) = (from / size, to / size);
        }
        self.shorten(ties, steps);
    }

    /// Turns differences of coordinates into such steps.
    pub(crate) fn shorten(&self, ties: u64, steps: &mut [i32]) {
        match self.edge {
            Edge::Open => {}
            Edge::Closed => {
                for (dimension, (step, &size)) in steps.iter_mut().zip(&self.sizes).enumerate() {
                    *step = shorter_way(*step, size as i32, ties >> (dimension % 64) & 1 == 1);
                }
            }
            Edge::Twisted => self.untwist(ties, steps),
        }
    }

    /// Makes the direct way the shortest of those that cross no seam or one in each short dimension.
    fn untwist(&self, ties: u64, steps: &mut [i32]) {
        let Some((&long, shorts)) = self.sizes.split_first() else { return };
        let (long, direct) = (long as i32, steps.to_vec());
        let mut take = |seams: u32| -> i32 {
            let mut along = direct[0];
            for (place, &size) in (1..).zip(shorts) {
                let crosses = seams >> (place - 1) & 1 == 1;
                steps[place] = match direct[place].signum() {
                    _ if !crosses => direct[place],
                    0 if ties >> place & 1 == 1 => size as i32,
                    1 | 0 => direct[place] - size as i32,
                    _ => direct[place] + size as i32,
                };
                along += if crosses { long / 2 } else { 0 };
            }
            steps[0] = shorter_way(along, long, ties & 1 == 1);
            steps.iter().map(|step| step.abs()).sum()
        };
        let ways = 1 << shorts.len();
        let from_any = (0..ways).map(|way| (way + (ties >> 32) as u32 % ways) % ways);
        let shortest = from_any.min_by_key(|&seams| take(seams)).unwrap_or_default();
        take(shortest);
    }
}

/// The shorter of the ways round a ring of `size` that end `step` further; `up` decides where both are as long.
fn shorter_way(step: i32, size: i32, up: bool) -> i32 {
    let upwards = step.rem_euclid(size);
    match (2 * upwards).cmp(&size) {
        std::cmp::Ordering::Less => upwards,
        std::cmp::Ordering::Equal if up => upwards,
        _ => upwards - size,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Steps to every place from place 0, by breadth-first search over neighbours.
    fn distances(lattice: &Lattice) -> Vec<u32> {
        let mut distances = vec![u32::MAX; lattice.places() as usize];
        distances[0] = 0;
        let mut queue = std::collections::VecDeque::from([0]);
        while let Some(place) = queue.pop_front() {
            for dimension in 0..lattice.sizes.len() {
                for direction in [Direction::Up, Direction::Down] {
                    if let Some(next) = lattice.neighbour(place, dimension, direction)
                        && distances[next as usize] == u32::MAX
                    {
                        distances[next as usize] = distances[place as usize] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        distances
    }

    /// Diameter, and mean over all places, self included.
    fn shape(lattice: &Lattice) -> (u32, f64) {
        let distances = distances(lattice);
        let mean = f64::from(distances.iter().sum::<u32>()) / distances.len() as f64;
        (distances.into_iter().max().unwrap(), mean)
    }

    /// Table 1 of Cámara et al., for distances, and the three-dimensional case by hand.
    #[test]
    fn a_twist_brings_places_closer() {
        let of = |sizes: &[u32]| [Edge::Closed, Edge::Twisted].map(|edge| shape(&Lattice::new(sizes, edge)));
        assert_eq!(of(&[8, 4]), [(6, 3.0), (4, 2.625)]);
        assert_eq!(of(&[16, 8]), [(12, 6.0), (8, 5.3125)]);
        let [plain, twisted] = of(&[32, 16]);
        assert_eq!((plain, twisted.0), ((24, 12.0), 16));
        assert!((twisted.1 - 10.656).abs() < 5e-4);
        let [plain, twisted] = of(&[16, 8, 8]);
        assert_eq!((plain, twisted.0), ((16, 8.0), 12));
        assert!((twisted.1 - 6.969).abs() < 5e-4);
    }

    fn lattice() -> impl Strategy<Value = Lattice> {
        let sizes = prop::collection::vec(1_u32..6, 1..4);
        prop_oneof![
            (sizes.clone(), prop::sample::select(vec![Edge::Open, Edge::Closed]))
                .prop_map(|(sizes, edge)| Lattice::new(&sizes, edge)),
            (2_u32..6, 1_usize..4).prop_map(|(a, shorts)| {
                let mut sizes = vec![a; shorts + 1];
                sizes[0] = 2 * a;
                Lattice::new(&sizes, Edge::Twisted)
            }),
        ]
    }

    proptest! {
        /// Regardless of how ties are broken, walking the steps in any order of dimensions ends at the destination, and
        /// no path is shorter.
        #[test]
        fn displacements_are_shortest_ways(lattice in lattice(), ends in any::<(u32, u32)>(), ties in any::<u64>()) {
            let (from, to) = (ends.0 % lattice.places(), ends.1 % lattice.places());
            let mut steps = vec![0; lattice.sizes.len()];
            lattice.displacement(from, to, ties, &mut steps);
            let mut here = from;
            for (dimension, &step) in steps.iter().enumerate() {
                let direction = if step > 0 { Direction::Up } else { Direction::Down };
                for _ in 0..step.abs() {
                    here = lattice.neighbour(here, dimension, direction).unwrap();
                }
            }
            prop_assert_eq!(here, to);
            let length: u32 = steps.iter().map(|step| step.unsigned_abs()).sum();
            let mut hops = vec![u32::MAX; lattice.places() as usize];
            hops[from as usize] = 0;
            let mut queue = std::collections::VecDeque::from([from]);
            while let Some(place) = queue.pop_front() {
                for dimension in 0..lattice.sizes.len() {
                    for next in [Direction::Up, Direction::Down].map(|way| lattice.neighbour(place, dimension, way)) {
                        if let Some(next) = next && hops[next as usize] == u32::MAX {
                            hops[next as usize] = hops[place as usize] + 1;
                            queue.push_back(next);
                        }
                    }
                }
            }
            prop_assert_eq!(length, hops[to as usize]);
        }
    }
}
