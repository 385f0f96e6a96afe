//! The tree of causes: chains of segments that share their common beginnings.
//!
//! A node has the segments from its parent's end to its own. A node with one child that is not the end of a tip is
//! merged with the child at once, so there are at most twice as many nodes as tips: memory does not grow with the
//! length of the program.

use std::cmp::Reverse;

use slab::Slab;
use titr_common::event::Rank;

use super::segment::{Segment, SegmentSums};

/// The end of a chain. It has to be given back to its tree by [`Causes::release`].
#[derive(Debug)]
#[must_use]
pub(crate) struct ChainEnd(NodeId);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeId(u32);

/// Chains of causes.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    nodes: Slab<CauseNode>,
    /// The number of the last search for a common ancestor.
    search: u64,
    /// Whether chains keep their visits of ranks.
    keeps_visits: bool,
}

#[derive(Debug, Default)]
struct CauseNode {
    parent: Option<NodeId>,
    /// The children of a node are a list.
    first_child: Option<NodeId>,
    next: Option<NodeId>,
    previous: Option<NodeId>,
    /// The number of tips that end here.
    tips: u32,
    /// The sum of all segments of the chain that ends here, in picoseconds.
    at: u64,
    spent: SegmentSums,
    /// The visits of ranks from the parent's end to this one.
    visits: Visits,
    /// The last search that has found the node to be an ancestor.
    found: u64,
}

impl Causes {
    /// No chains, which will keep their visits of ranks.
    pub(crate) fn with_visits() -> Self {
        Self { keeps_visits: true, ..Self::default() }
    }

    /// A chain without any segment.
    pub(crate) fn root(&mut self) -> ChainEnd {
        ChainEnd(self.insert(CauseNode { tips: 1, ..CauseNode::default() }))
    }

    /// Another tip at the same place.
    pub(crate) fn share(&mut self, tip: &ChainEnd) -> ChainEnd {
        self.node_mut(tip.0).tips += 1;
        ChainEnd(tip.0)
    }

    /// Makes the chain of a tip longer.
    pub(crate) fn extend(&mut self, tip: &mut ChainEnd, segment: Segment, picoseconds: u64) {
        if picoseconds > 0 {
            let keeps_visits = self.keeps_visits;
            let node = self.own(tip);
            if keeps_visits {
                node.visits.push(segment.rank, node.at);
            }
            node.at += picoseconds;
            node.spent.add(segment, picoseconds);
        }
    }

    pub(crate) fn count_message(&mut self, tip: &mut ChainEnd) {
        self.own(tip).spent.messages += 1;
    }

    /// Forgets a tip, and all segments that are on no other chain.
    pub(crate) fn release(&mut self, tip: ChainEnd) {
        self.node_mut(tip.0).tips -= 1;
        self.tidy(tip.0);
    }

    /// The sum of all segments of a chain, in picoseconds.
    pub(crate) fn at(&self, tip: &ChainEnd) -> u64 {
        self.node(tip.0).at
    }

    /// The segments of a whole chain.
    pub(crate) fn path(&self, tip: &ChainEnd) -> SegmentSums {
        self.sum(Some(tip.0), None)
    }

    /// The visits of ranks of a whole chain.
    pub(crate) fn visits(&self, tip: &ChainEnd) -> Visits {
        let chain = std::iter::successors(Some(tip.0), |id| self.node(*id).parent);
        let mut visits = Visits::default();
        chain.collect::<Vec<_>>().into_iter().rev().for_each(|id| visits.append(&self.node(id).visits));
        visits
    }

    /// The segments of two chains beyond the last that they have in common.
    pub(crate) fn branches(&mut self, one: &ChainEnd, other: &ChainEnd) -> (SegmentSums, SegmentSums) {
        self.search += 1;
        // Alternates between both ends: the first node that is found twice is the last common node.
        let (mut next, mut after) = (Some(one.0), Some(other.0));
        let common = loop {
            if next.is_none() {
                std::mem::swap(&mut next, &mut after);
            }
            let Some(id) = next else { break None };
            let search = self.search;
            let node = self.node_mut(id);
            if node.found == search {
                break Some(id);
            }
            node.found = search;
            (next, after) = (after, node.parent);
        };
        (self.sum(Some(one.0), common), self.sum(Some(other.0), common))
    }

    /// The sum of the segments from `end` to its ancestor `until`, or to the beginning.
    fn sum(&self, end: Option<NodeId>, until: Option<NodeId>) -> SegmentSums {
        let Some(first) = end.filter(|_| end != until).map(|id| self.node(id)) else { return SegmentSums::default() };
        let (mut sum, mut next) = (first.spent.clone(), first.parent);
        while let Some(id) = next.filter(|_| next != until) {
            let node = self.node(id);
            sum.add_all(&node.spent);
            next = node.parent;
        }
        sum
    }

    /// The node of a tip, which no other chain has: a new one if the tip's has been shared.
    fn own(&mut self, tip: &mut ChainEnd) -> &mut CauseNode {
        let node = self.node_mut(tip.0);
        if node.tips > 1 || node.first_child.is_some() {
            node.tips -= 1;
            let (at, sibling) = (node.at, node.first_child);
            let child = CauseNode { parent: Some(tip.0), next: sibling, tips: 1, at, ..CauseNode::default() };
            let child = self.insert(child);
            if let Some(sibling) = sibling {
                self.node_mut(sibling).previous = Some(child);
            }
            self.node_mut(tip.0).first_child = Some(child);
            tip.0 = child;
        }
        self.node_mut(tip.0)
    }

    /// Removes a node that has lost a tip or a child, if nothing ends there, or merges it with its only child.
    fn tidy(&mut self, id: NodeId) {
        let node = self.node(id);
        if node.tips > 0 {
            return;
        }
        match node.first_child {
            None => {
                let parent = node.parent;
                self.replace(id, None);
                self.nodes.remove(id.0 as usize);
                // A parent without tips had another child, so this goes no deeper.
                if let Some(parent) = parent {
                    self.tidy(parent);
                }
            }
            Some(child) if self.node(child).next.is_none() => {
                self.replace(id, Some(child));
                let CauseNode { spent, mut visits, .. } = self.nodes.remove(id.0 as usize);
                let child = self.node_mut(child);
                child.spent.merge(spent);
                visits.append(&child.visits);
                child.visits = visits;
            }
            Some(_) => {}
        }
    }

    /// Puts `child` into the place that a node has among the children of its parent, or nothing.
    fn replace(&mut self, id: NodeId, child: Option<NodeId>) {
        let &CauseNode { parent, next, previous, .. } = self.node(id);
        if let Some(child) = child {
            let child = self.node_mut(child);
            (child.parent, child.next, child.previous) = (parent, next, previous);
        }
        if let Some(next) = next {
            self.node_mut(next).previous = child.or(previous);
        }
        if let Some(previous) = previous {
            self.node_mut(previous).next = child.or(next);
        } else if let Some(parent) = parent {
            self.node_mut(parent).first_child = child.or(next);
        }
    }

    fn insert(&mut self, node: CauseNode) -> NodeId {
        NodeId(self.nodes.insert(node) as u32)
    }

    fn node(&self, id: NodeId) -> &CauseNode {
        &self.nodes[id.0 as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut CauseNode {
        &mut self.nodes[id.0 as usize]
    }
}

/// The number of visits that remain when there are twice as many.
const MOST: usize = 512;

/// The visits of a chain: the rank of each, and its beginning in picoseconds. If there are many, short visits are left
/// out, so that the memory of a chain does not grow with the length of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visits(Vec<(Rank, u64)>);

impl Visits {
    /// The chain is on `rank` from `begin` on.
    pub(crate) fn push(&mut self, rank: Rank, begin: u64) {
        if self.0.last().is_some_and(|(last, _)| *last == rank) {
            return;
        }
        self.0.push((rank, begin));
        self.limit();
    }

    /// Adds the visits of a later part of the chain.
    pub(crate) fn append(&mut self, later: &Self) {
        let is_same = self.0.last().zip(later.0.first()).is_some_and(|((last, _), (first, _))| last == first);
        self.0.extend_from_slice(&later.0[usize::from(is_same)..]);
        self.limit();
    }

    /// The visits, in order of time.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Rank, u64)> {
        self.0.iter().copied()
    }

    /// Leaves short visits out if there are too many.
    fn limit(&mut self) {
        if self.0.len() < 2 * MOST {
            return;
        }
        // The end of the last visit is not known; it stays.
        let ends = self.0.iter().skip(1).map(|(_, begin)| *begin).chain([u64::MAX]);
        let mut lengths: Vec<(u64, usize)> =
            self.0.iter().zip(ends).map(|((_, begin), end)| end - begin).zip(0..).collect();
        lengths.sort_unstable_by_key(|&(length, place)| (Reverse(length), place));
        let mut places: Vec<usize> = lengths.iter().take(MOST).map(|&(_, place)| place).collect();
        places.sort_unstable();
        self.0 = places.into_iter().map(|place| self.0[place]).collect();
        self.0.dedup_by_key(|(rank, _)| *rank);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use titr_common::event::Rank;

    use super::super::segment::PlaceId;
    use super::*;
    use crate::findings::SegmentKind;

    fn segment(rank: u32) -> Segment {
        Segment::new(Rank(rank), PlaceId::default(), SegmentKind::Compute)
    }

    fn totals<'a>(chain: impl IntoIterator<Item = &'a (u32, u64)>) -> BTreeMap<u32, u64> {
        let mut totals = BTreeMap::new();
        chain.into_iter().for_each(|&(rank, time)| *totals.entry(rank).or_default() += time);
        totals
    }

    fn found(sums: &SegmentSums) -> BTreeMap<u32, u64> {
        sums.sorted().into_iter().map(|(segment, sum)| (segment.rank.0, sum)).collect()
    }

    #[derive(Clone, Debug)]
    enum Change {
        Share(usize),
        Extend(usize, u32, u64),
        Release(usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        let any = any::<usize>();
        prop_oneof![
            3 => any.prop_map(Change::Share),
            5 => (any, 0..40_u32, 1..100_u64).prop_map(|(tip, rank, time)| Change::Extend(tip, rank, time)),
            2 => any.prop_map(Change::Release),
        ]
    }

    proptest! {
        /// Each chain contains the segments added to it, two chains differ in the segments after their common
        /// beginning, and memory is bounded. The elements of the chains beside the tree are numbered, so that equal
        /// ones can be distinguished.
        #[test]
        fn the_tree_has_the_chains_that_it_was_told(changes in prop::collection::vec(change(), 0..200)) {
            let mut tree = Causes::default();
            let first = tree.root();
            let mut tips = vec![(first, Vec::<(usize, (u32, u64))>::new())];
            for (number, change) in changes.into_iter().enumerate() {
                let count = tips.len();
                match change {
                    Change::Share(at) => {
                        let (tip, chain) = &tips[at % count];
                        let copy = (tree.share(tip), chain.clone());
                        tips.push(copy);
                    }
                    Change::Extend(at, rank, time) => {
                        let (tip, chain) = &mut tips[at % count];
                        tree.extend(tip, segment(rank), time);
                        chain.push((number, (rank, time)));
                    }
                    Change::Release(at) if count > 1 => tree.release(tips.swap_remove(at % count).0),
                    Change::Release(_) => {}
                }
                prop_assert!(tree.nodes.len() <= 2 * tips.len());
            }
            for (tip, chain) in &tips {
                prop_assert_eq!(found(&tree.path(tip)), totals(chain.iter().map(|(_, element)| element)));
                prop_assert_eq!(tree.at(tip), chain.iter().map(|(_, (_, time))| time).sum::<u64>());
            }
            for (one, chain) in tips.iter().take(5) {
                for (other, its_chain) in &tips {
                    let common = chain.iter().zip(its_chain).take_while(|(a, b)| a == b).count();
                    let (own, cause) = tree.branches(one, other);
                    let rest = |chain: &[(usize, (u32, u64))]| totals(chain[common..].iter().map(|(_, element)| element));
                    prop_assert_eq!((found(&own), found(&cause)), (rest(chain), rest(its_chain)));
                }
            }
            for (tip, _) in tips {
                tree.release(tip);
            }
            prop_assert!(tree.nodes.is_empty());
        }
    }

    #[test]
    fn a_visit_begins_where_the_rank_changes() {
        let mut visits = Visits::default();
        [(3, 0), (3, 5), (4, 7), (3, 9)].into_iter().for_each(|(rank, begin)| visits.push(Rank(rank), begin));
        let mut later = Visits::default();
        [(3, 10), (1, 12)].into_iter().for_each(|(rank, begin)| later.push(Rank(rank), begin));
        visits.append(&later);
        let all: Vec<_> = visits.iter().map(|(rank, begin)| (rank.0, begin)).collect();
        assert_eq!(all, [(3, 0), (4, 7), (3, 9), (1, 12)]);
    }

    #[test]
    fn of_many_visits_the_long_ones_remain() {
        let mut visits = Visits::default();
        let mut now = 0;
        for visit in 0..20_000_u32 {
            visits.push(Rank(visit), now);
            now += if visit == 500 { 1_000_000 } else { 10 };
        }
        let all: Vec<_> = visits.iter().collect();
        assert!((MOST / 2..=2 * MOST).contains(&all.len()), "{}", all.len());
        assert!(all.contains(&(Rank(500), 5000)));
        assert!(all.is_sorted_by_key(|(_, begin)| *begin));
    }
}
