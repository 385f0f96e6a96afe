//! Shortest paths through pieces. Among equally short ones, the path that SimGrid 3.32 takes.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::LinkId;

/// A way from one node to another. Nodes are numbered: the hosts, then the routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The node at which it begins.
    pub from: u32,
    /// The node at which it ends.
    pub to: u32,
    /// The links that it takes, in order.
    pub links: Vec<LinkId>,
}

/// The shortest ways between all nodes: for each two of them, the node before the second one.
#[derive(Clone, Debug)]
pub(super) struct ShortestPaths(Predecessors);

#[derive(Clone, Debug)]
enum Predecessors {
    /// All of them, row by row.
    Table { nodes: u32, before: Vec<u32> },
    /// The paths from a node are computed at the first request for one of them.
    OnDemand { graph: Graph, before: Vec<OnceLock<Box<[u32]>>> },
}

/// The pieces by the node at which they begin.
#[derive(Clone, Debug)]
struct Graph {
    /// For each node, the end and the length of its pieces.
    leaving: Vec<Vec<(u32, u32)>>,
    /// The order in which the pieces mention nodes.
    rank: Vec<u32>,
}

/// No node, and the length of no way.
const NONE: u32 = u32::MAX;

impl ShortestPaths {
    /// Floyd's algorithm (CACM 5(6), 1962, algorithm 97). Among equally short paths, the one through the first node.
    pub(super) fn floyd(nodes: u32, pieces: &[Piece]) -> Self {
        let size = nodes as usize;
        let entry = |from: usize, to: usize| from * size + to;
        let (mut before, mut lengths) = (vec![NONE; size * size], vec![NONE; size * size]);
        let mut neighbours = vec![BTreeSet::new(); size];
        for piece in pieces {
            let (from, to) = (piece.from as usize, piece.to as usize);
            lengths[entry(from, to)] = piece.links.len() as u32;
            before[entry(from, to)] = piece.from;
            if from != to {
                neighbours[from].insert(to);
                neighbours[to].insert(from);
            }
        }
        let (mut onwards, mut last) = (Vec::new(), Vec::new());
        for through in 0..size {
            // A way through a node with one neighbour is no shorter, except for that neighbour's way to itself.
            let only = neighbours[through].first().copied().filter(|_| neighbours[through].len() == 1);
            let ends = only.map_or(0..size, |only| only..only + 1);
            onwards.clear();
            onwards.extend_from_slice(&lengths[entry(through, 0)..entry(through, size)]);
            last.clear();
            last.extend_from_slice(&before[entry(through, 0)..entry(through, size)]);
            for from in ends.clone() {
                let there = lengths[entry(from, through)];
                if there == NONE {
                    continue;
                }
                let row = entry(from, 0)..entry(from, size);
                let (lengths, before) = (&mut lengths[row.clone()], &mut before[row]);
                for to in ends.clone() {
                    let length = there.saturating_add(onwards[to]);
                    if length < lengths[to] {
                        (lengths[to], before[to]) = (length, last[to]);
                    }
                }
            }
        }
        Self(Predecessors::Table { nodes, before })
    }

    /// Dijkstra's algorithm (Numerische Mathematik 1, 1959). Among equally near nodes, the search continues from the
    /// one that the pieces mention first.
    pub(super) fn dijkstra(nodes: u32, pieces: &[Piece]) -> Self {
        let mut mentioned = FxHashMap::default();
        let mut leaving = vec![Vec::new(); nodes as usize];
        for piece in pieces {
            for node in [piece.from, piece.to] {
                let next = mentioned.len() as u32;
                mentioned.entry(node).or_insert(next);
            }
            leaving[piece.from as usize].push((piece.to, piece.links.len() as u32));
        }
        let rank = (0..nodes).map(|node| mentioned.get(&node).copied().unwrap_or(NONE)).collect();
        let before = vec![OnceLock::new(); nodes as usize];
        Self(Predecessors::OnDemand { graph: Graph { leaving, rank }, before })
    }

    /// The ends of each piece of the way from one node to another; none if there is no way.
    pub(super) fn path(&self, from: u32, to: u32) -> Vec<(u32, u32)> {
        let before = match &self.0 {
            Predecessors::Table { nodes, before } => {
                let start = from as usize * *nodes as usize;
                &before[start..start + *nodes as usize]
            }
            Predecessors::OnDemand { graph, before } => before[from as usize].get_or_init(|| graph.predecessors(from)),
        };
        let mut path = Vec::new();
        let mut here = to;
        // A node to itself has a way of at least one piece.
        while path.is_empty() || here != from {
            let previous = before[here as usize];
            if previous == NONE {
                return Vec::new();
            }
            path.push((previous, here));
            here = previous;
        }
        path.reverse();
        path
    }
}

impl Graph {
    /// For each node, its predecessor on the path from node `from`.
    fn predecessors(&self, from: u32) -> Box<[u32]> {
        let nodes = self.leaving.len();
        let (mut before, mut lengths) = (vec![NONE; nodes], vec![NONE; nodes]);
        lengths[from as usize] = 0;
        let mut nearest = BinaryHeap::from([Reverse((0, self.rank[from as usize], from))]);
        while let Some(Reverse((length, _, here))) = nearest.pop() {
            if lengths[here as usize] != length {
                continue;
            }
            for &(to, piece) in &self.leaving[here as usize] {
                let longer = length + piece;
                if to == from && here == from {
                    before[from as usize] = from;
                } else if longer < lengths[to as usize] {
                    lengths[to as usize] = longer;
                    before[to as usize] = here;
                    nearest.push(Reverse((longer, self.rank[to as usize], to)));
                }
            }
        }
        before.into()
    }
}
