//! The nodes that the members of a communicator are on.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::step::Member;
use crate::event::CollectiveKind;

/// The nodes that the members of a communicator are on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeMap {
    /// The members on each node, in order. The nodes are in the order of their first members.
    pub(super) nodes: Vec<Vec<Member>>,
    /// The first member on each node.
    pub(super) leaders: Vec<Member>,
    pub(super) places: Vec<NodePlace>,
    /// Whether there are as many members on each node.
    pub(super) is_even: bool,
}

/// The node of a member, and the member's place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodePlace {
    pub(super) node: u32,
    pub(super) place: u32,
}

impl NodeMap {
    /// The nodes of members on these hosts; `None` if each member is on a node of its own, or all are on one.
    #[must_use]
    pub fn of<H: Eq + Hash>(hosts: impl IntoIterator<Item = H>) -> Option<Self> {
        let (mut numbers, mut nodes, mut places) = (FxHashMap::default(), Vec::<Vec<Member>>::new(), Vec::new());
        for (member, host) in (0..).zip(hosts) {
            let node = *numbers.entry(host).or_insert(nodes.len());
            if node == nodes.len() {
                nodes.push(Vec::new());
            }
            places.push(NodePlace { node: node as u32, place: nodes[node].len() as u32 });
            nodes[node].push(member);
        }
        let leaders = nodes.iter().map(|members| members[0]).collect();
        let is_even = nodes.windows(2).all(|pair| pair[0].len() == pair[1].len());
        (nodes.len() > 1 && nodes.len() < places.len()).then_some(Self { nodes, leaders, places, is_even })
    }

    /// Whether any algorithm of a collective knows nodes.
    #[must_use]
    pub fn matters_to(kind: CollectiveKind) -> bool {
        use CollectiveKind::{Allgather, Allreduce, Barrier, Bcast, Gather, Reduce, Scatter};
        matches!(kind, Barrier | Bcast | Reduce | Allreduce | Gather | Scatter | Allgather)
    }

    /// The number of members.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}
