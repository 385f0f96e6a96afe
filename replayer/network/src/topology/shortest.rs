//! Shortest ways through written pieces. Where several are as short, the one that SimGrid 3.32 takes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
pub(super) struct ShortestPaths {
    nodes: u32,
    before: Vec<Option<u32>>,
}

/// The number of links of a way, if there is one.
type Length = Option<usize>;

impl ShortestPaths {
    fn new(nodes: u32) -> Self {
        Self { nodes, before: vec![None; nodes as usize * nodes as usize] }
    }

    fn entry(&self, from: u32, to: u32) -> usize {
        from as usize * self.nodes as usize + to as usize
    }

    /// By Floyd (CACM 5(6), 1962, algorithm 97): of ways as short, that through the node which comes first.
    pub(super) fn floyd(nodes: u32, pieces: &[Piece]) -> Self {
        let mut paths = Self::new(nodes);
        let mut lengths: Vec<Length> = vec![None; paths.before.len()];
        for piece in pieces {
            let entry = paths.entry(piece.from, piece.to);
            lengths[entry] = Some(piece.links.len());
            paths.before[entry] = Some(piece.from);
        }
        for through in 0..nodes {
            for from in 0..nodes {
                let Some(there) = lengths[paths.entry(from, through)] else { continue };
                for to in 0..nodes {
                    let Some(onwards) = lengths[paths.entry(through, to)] else { continue };
                    let entry = paths.entry(from, to);
                    if lengths[entry].is_none_or(|length| there + onwards < length) {
                        lengths[entry] = Some(there + onwards);
                        paths.before[entry] = paths.before[paths.entry(through, to)];
                    }
                }
            }
        }
        paths
    }

    /// By Dijkstra (Numerische Mathematik 1, 1959): of nodes as near, that is gone on from first which the pieces
    /// mention first.
    pub(super) fn dijkstra(nodes: u32, pieces: &[Piece]) -> Self {
        let mut mentioned = FxHashMap::default();
        let mut leaving = vec![Vec::new(); nodes as usize];
        for piece in pieces {
            for node in [piece.from, piece.to] {
                let next = mentioned.len();
                mentioned.entry(node).or_insert(next);
            }
            leaving[piece.from as usize].push(piece);
        }
        let rank = |node: u32| mentioned.get(&node).copied().unwrap_or(usize::MAX);
        let mut paths = Self::new(nodes);
        for from in 0..nodes {
            let mut lengths: Vec<Length> = vec![None; nodes as usize];
            lengths[from as usize] = Some(0);
            let mut nearest = BinaryHeap::from([Reverse((0, rank(from), from))]);
            while let Some(Reverse((length, _, here))) = nearest.pop() {
                if lengths[here as usize] != Some(length) {
                    continue;
                }
                for piece in &leaving[here as usize] {
                    let longer = length + piece.links.len();
                    if piece.to == from && here == from {
                        let entry = paths.entry(from, from);
                        paths.before[entry] = Some(from);
                    } else if lengths[piece.to as usize].is_none_or(|known| longer < known) {
                        lengths[piece.to as usize] = Some(longer);
                        let entry = paths.entry(from, piece.to);
                        paths.before[entry] = Some(here);
                        nearest.push(Reverse((longer, rank(piece.to), piece.to)));
                    }
                }
            }
        }
        paths
    }

    /// The ends of each piece of the way from one node to another; none if there is no way.
    pub(super) fn path(&self, from: u32, to: u32) -> Vec<(u32, u32)> {
        let mut path = Vec::new();
        let mut here = to;
        // A node to itself has a way of at least one piece.
        while path.is_empty() || here != from {
            let Some(before) = self.before[self.entry(from, here)] else { return Vec::new() };
            path.push((before, here));
            here = before;
        }
        path.reverse();
        path
    }
}
