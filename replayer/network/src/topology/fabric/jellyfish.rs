//! Jellyfish: a random regular graph of routers (A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, "Jellyfish: Networking Data
//! Centers Randomly", NSDI 2012, §3).
//!
//! Routers with free ports are joined in random pairs until no two of them can be joined. A pair of free ports that is left
//! over is then inserted into a random cable. If the graph is not connected, another is drawn.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{RngCore, SeedableRng};
use thiserror::Error;

use super::{RouterCable, Wiring};
use crate::topology::RouterId;

/// Graphs that are drawn at most.
const ATTEMPTS: u64 = 100;

/// Random choices that may fail one after the other.
const TRIES: u32 = 10_000;

/// The sizes of a Jellyfish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jellyfish {
    /// Routers.
    pub routers: u32,
    /// Cables from each router to others.
    pub degree: u32,
    /// Hosts of each router.
    pub hosts: u32,
    /// Equal seeds give equal graphs.
    pub seed: u64,
}

/// No connected graph of these sizes was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no connected network of {routers} routers of degree {degree} was found")]
pub struct NoRegularGraph {
    routers: u32,
    degree: u32,
}

/// A graph that is being drawn.
struct Draw {
    random: Pcg64Mcg,
    cables: Vec<(u32, u32)>,
    neighbours: Vec<Vec<u32>>,
    degree: usize,
}

impl Jellyfish {
    /// Its routers, cables and hosts. `routers` × `degree` is even and fits a `u32`.
    ///
    /// # Errors
    /// If no connected graph was found.
    pub fn wiring(&self) -> Result<Wiring, NoRegularGraph> {
        let Self { routers, degree, hosts, seed } = *self;
        let drawn = (0..ATTEMPTS).find_map(|attempt| {
            let seed = seed.wrapping_mul(ATTEMPTS).wrapping_add(attempt);
            Draw::new(routers, degree as usize, seed).cables()
        });
        let mut cables = drawn.ok_or(NoRegularGraph { routers, degree })?;
        cables.sort_unstable();
        let mut wiring = Wiring {
            name: format!("Jellyfish of {routers} routers with {degree} cables and {hosts} hosts each"),
            routers: (0..routers).map(|router| format!("router-{router}")).collect(),
            cables: cables.iter().map(|&(a, b)| RouterCable { ends: [a, b].map(RouterId), class: 0 }).collect(),
            classes: vec!["between routers".to_owned()],
            ..Wiring::default()
        };
        wiring.attach(hosts);
        Ok(wiring)
    }
}

impl Draw {
    fn new(routers: u32, degree: usize, seed: u64) -> Self {
        let neighbours = vec![Vec::new(); routers as usize];
        Self { random: Pcg64Mcg::seed_from_u64(seed), cables: Vec::new(), neighbours, degree }
    }

    /// The cables of a connected regular graph, unless the draw fails.
    fn cables(mut self) -> Option<Vec<(u32, u32)>> {
        self.join_free_ports();
        self.insert_free_ports()?;
        self.is_connected().then_some(self.cables)
    }

    /// A random number below `end`.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.random.next_u64()) * end as u128) >> 64) as usize
    }

    fn is_open(&self, router: u32) -> bool {
        self.neighbours[router as usize].len() < self.degree
    }

    /// Whether two routers are different and not joined.
    fn are_apart(&self, one: u32, other: u32) -> bool {
        one != other && !self.neighbours[one as usize].contains(&other)
    }

    fn join(&mut self, one: u32, other: u32) {
        self.cables.push((one.min(other), one.max(other)));
        self.neighbours[one as usize].push(other);
        self.neighbours[other as usize].push(one);
    }

    fn cut(&mut self, cable: usize) {
        let (one, other) = self.cables.swap_remove(cable);
        self.neighbours[one as usize].retain(|&neighbour| neighbour != other);
        self.neighbours[other as usize].retain(|&neighbour| neighbour != one);
    }

    /// Joins random routers with free ports until no two of them are apart.
    fn join_free_ports(&mut self) {
        let mut open: Vec<u32> = (0..self.neighbours.len() as u32).collect();
        let mut failures = 0;
        while open.len() > 1 {
            let [one, other] = [(); 2].map(|()| self.below(open.len()));
            let (one, other) = (open[one], open[other]);
            if self.are_apart(one, other) {
                self.join(one, other);
                failures = 0;
                if !self.is_open(one) || !self.is_open(other) {
                    open.retain(|&router| self.is_open(router));
                }
                continue;
            }
            failures += 1;
            if failures == TRIES {
                let is_done = open.iter().all(|&one| open.iter().all(|&other| !self.are_apart(one, other)));
                if is_done {
                    return;
                }
                failures = 0;
            }
        }
    }

    /// Replaces a random cable by two, from its ends to two free ports, until no port is free.
    fn insert_free_ports(&mut self) -> Option<()> {
        loop {
            let free = |&router: &u32| self.degree - self.neighbours[router as usize].len();
            let open = (0..self.neighbours.len() as u32).filter(|&router| self.is_open(router));
            let mut ports = open.flat_map(|router| std::iter::repeat_n(router, free(&router)));
            let Some(one) = ports.next() else { return Some(()) };
            let other = ports.next()?;
            drop(ports);
            let cable = (0..TRIES).find_map(|_| {
                let place = self.below(self.cables.len().max(1));
                let &(a, b) = self.cables.get(place)?;
                let (a, b) = if self.below(2) == 0 { (a, b) } else { (b, a) };
                (self.are_apart(one, a) && self.are_apart(other, b)).then_some((place, a, b))
            });
            let (place, a, b) = cable?;
            self.cut(place);
            self.join(one, a);
            self.join(other, b);
        }
    }

    fn is_connected(&self) -> bool {
        let mut reached = vec![false; self.neighbours.len()];
        let mut next = vec![0];
        while let Some(router) = next.pop() {
            if !std::mem::replace(&mut reached[router as usize], true) {
                next.extend(&self.neighbours[router as usize]);
            }
        }
        reached.iter().all(|&reached| reached)
    }
}
