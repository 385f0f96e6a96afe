//! The trees for spreading data from a root or gathering it there (Open MPI 4.1 `coll_base_topo.c`; Pješivac-Grbović et
//! al.: "Performance analysis of MPI collective operations", Cluster Computing 10(2), 2007, section 3).

use super::comm::{Comm, doubling};
use crate::collectives::step::Member;

/// A member's neighbours in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::collectives) struct Tree {
    /// The parent of the member; `None` for the root.
    pub parent: Option<Member>,
    /// The children of the member, in the order in which they are served.
    pub children: Vec<Member>,
}

impl Tree {
    fn new(comm: Comm, root: Member, parent: Option<u32>, children: impl IntoIterator<Item = u32>) -> Self {
        Self {
            parent: parent.map(|place| comm.at_place(place, root)),
            children: children
                .into_iter()
                .filter(|&place| place < comm.size)
                .map(|place| comm.at_place(place, root))
                .collect(),
        }
    }

    /// `fanout` chains of nearly one length hang from the root; the first ones are the longer.
    pub(crate) fn chain(comm: Comm, root: Member, fanout: u32) -> Self {
        let others = comm.size - 1;
        let chains = fanout.clamp(1, others.max(1));
        let (base, longer) = (others / chains, others % chains);
        // The start of a chain, as a place counted from the root; for a chain past the last one, the end.
        let head = |chain: u32| 1 + chain * base + chain.min(longer);
        let place = comm.place(root);
        if place == 0 {
            return Self::new(comm, root, None, (0..chains).map(head));
        }
        let index = place - 1;
        let chain = match index < longer * (base + 1) {
            true => index / (base + 1),
            false => longer + (index - longer * (base + 1)) / base.max(1),
        };
        let parent = if place == head(chain) { 0 } else { place - 1 };
        let is_last = place + 1 == head(chain + 1);
        Self::new(comm, root, Some(parent), (!is_last).then_some(place + 1))
    }

    /// The complete binary tree, filled level by level; odd places are left of the root, even ones right.
    pub(crate) fn binary(comm: Comm, root: Member) -> Self {
        let place = comm.place(root);
        let level = 1 << (place + 1).ilog2(); // As many as the members of my level.
        let parent = (place > 0).then(|| {
            let above = level / 2;
            above - 1 + (place + 1 - level) % above
        });
        Self::new(comm, root, parent, [place.saturating_add(level), place.saturating_add(2 * level)])
    }

    /// A tree in which the root and member 0 have exchanged their numbers, and all others keep theirs (`RANK2VRANK` in
    /// Open MPI's `libnbc`), derived from `tree`, which has member 0 as its root.
    pub(crate) fn exchanged(comm: Comm, root: Member, tree: impl FnOnce(Comm) -> Self) -> Self {
        let other = |member: Member| match member {
            0 => root,
            _ if member == root => 0,
            _ => member,
        };
        let Self { parent, children } = tree(Comm { me: other(comm.me), ..comm });
        Self { parent: parent.map(other), children: children.into_iter().map(other).collect() }
    }

    /// The binary heap with member 0 at the top: member *i* is above 2*i*+1 and 2*i*+2.
    pub(crate) fn heap(comm: Comm) -> Self {
        let place = comm.me;
        let left = place.saturating_mul(2).saturating_add(1);
        Self::new(comm, 0, place.checked_sub(1).map(|before| before / 2), [left, left.saturating_add(1)])
    }

    /// The binomial tree in which a parent is a child's place without its highest bit; the nearest child is served first.
    pub(crate) fn binomial_doubling(comm: Comm, root: Member) -> Self {
        let place = comm.place(root);
        let parent = place.checked_ilog2().map(|bit| place ^ (1 << bit));
        let children = doubling(comm.size).filter(move |&mask| mask > place).map(move |mask| place | mask);
        Self::new(comm, root, parent, children)
    }

    /// The binomial tree in which a parent is a child's place without its lowest bit, so that each subtree is a run of
    /// consecutive places; the nearest child is served first.
    pub(crate) fn binomial(comm: Comm, root: Member) -> Self {
        let place = comm.place(root);
        let parent = (place > 0).then(|| place & (place - 1));
        let children = doubling(comm.size).take_while(move |&mask| place & mask == 0).map(move |mask| place | mask);
        Self::new(comm, root, parent, children)
    }

    /// The *k*-nomial tree: as [`Tree::binomial`] with digits instead of bits; the farthest digit is served first.
    pub(crate) fn knomial(comm: Comm, root: Member, radix: u32) -> Self {
        let (place, radix) = (u64::from(comm.place(root)), u64::from(radix.max(2)));
        let mut mask = 1;
        while mask < u64::from(comm.size) && place % (radix * mask) == 0 {
            mask *= radix;
        }
        let parent = (place > 0).then(|| (place - place % (radix * mask)) as u32);
        let mut children = Vec::new();
        while mask > 1 {
            mask /= radix;
            children.extend((1..radix).map(|digit| place + digit * mask));
        }
        let children = children.into_iter().map(|place| u32::try_from(place).unwrap_or(u32::MAX));
        Self::new(comm, root, parent, children)
    }

    /// The binary tree rooted at the last member in which a node follows its two subtrees, the right child's before the
    /// left child's, so that reducing along it preserves the order of ranks.
    pub(crate) fn in_order_binary(comm: Comm) -> Self {
        let (mut first, mut size) = (0, comm.size);
        let mut tree = Self::default();
        loop {
            let root = first + size - 1;
            let right = size / 2; // Members in the right child's subtree, which comes first.
            if comm.me == root {
                if size > 1 {
                    tree.children.push(root - 1);
                }
                if size > 2 {
                    tree.children.push(first + right - 1);
                }
                return tree;
            }
            if comm.me < first + right && size > 2 {
                size = right;
            } else {
                let skipped = if size > 2 { right } else { 0 };
                first += skipped;
                size -= skipped + 1;
            }
            if comm.me == first + size - 1 {
                tree.parent = Some(root);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All parents of a tree rooted at 0, in the order of ranks from 1 on, and the root's children.
    fn shape(size: u32, tree: impl Fn(Comm) -> Tree) -> (Vec<Member>, Vec<Member>) {
        let of = |me| tree(Comm { me, size });
        ((1..size).filter_map(|me| of(me).parent).collect(), of(0).children)
    }

    #[test]
    fn shapes_of_eight_members() {
        let chains = shape(8, |comm| Tree::chain(comm, 0, 3)); // 0-1-2-3, 0-4-5, 0-6-7
        assert_eq!(chains, (vec![0, 1, 2, 0, 4, 0, 6], vec![1, 4, 6]));
        let binary = shape(8, |comm| Tree::binary(comm, 0));
        assert_eq!(binary, (vec![0, 0, 1, 2, 1, 2, 3], vec![1, 2]));
        let doubling = shape(8, |comm| Tree::binomial_doubling(comm, 0));
        assert_eq!(doubling, (vec![0, 0, 1, 0, 1, 2, 3], vec![1, 2, 4]));
        let binomial = shape(8, |comm| Tree::binomial(comm, 0));
        assert_eq!(binomial, (vec![0, 0, 2, 0, 4, 4, 6], vec![1, 2, 4]));
        let knomial = shape(8, |comm| Tree::knomial(comm, 0, 4));
        assert_eq!(knomial, (vec![0, 0, 0, 0, 4, 4, 4], vec![4, 1, 2, 3]));
        // Rooted at 7: right subtree 0..=3, rooted at 3, then left subtree 4..=6, rooted at 6.
        let in_order: Vec<_> = (0..8).map(|me| Tree::in_order_binary(Comm { me, size: 8 })).collect();
        assert_eq!(in_order[7].children, [6, 3]);
        assert_eq!(in_order[3].children, [2, 1]);
        assert_eq!(in_order[6].children, [5, 4]);
    }

    #[test]
    fn every_tree_spans_all_members_and_both_ends_of_an_edge_agree() {
        for size in 1..70 {
            for root in [0, size / 2, size - 1] {
                let trees: [&dyn Fn(Comm) -> Tree; 9] = [
                    &|comm| Tree::chain(comm, root, 1),
                    &|comm| Tree::chain(comm, root, 4),
                    &|comm| Tree::binary(comm, root),
                    &|comm| Tree::binomial_doubling(comm, root),
                    &|comm| Tree::binomial(comm, root),
                    &|comm| Tree::knomial(comm, root, 4),
                    &|comm| Tree::in_order_binary(comm),
                    &|comm| Tree::exchanged(comm, root, |comm| Tree::binomial(comm, 0)),
                    &|comm| Tree::exchanged(comm, root, |comm| Tree::chain(comm, 0, 1)),
                ];
                for tree in trees {
                    let all: Vec<Tree> = (0..size).map(|me| tree(Comm { me, size })).collect();
                    let edges: usize = all.iter().map(|node| node.children.len()).sum();
                    assert_eq!(edges as u32, size - 1);
                    for (me, node) in (0..).zip(&all) {
                        for &child in &node.children {
                            assert_eq!(all[child as usize].parent, Some(me));
                        }
                    }
                    assert_eq!(all.iter().filter(|node| node.parent.is_none()).count(), 1);
                }
            }
        }
    }
}
