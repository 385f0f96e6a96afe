//! The K-nomial tree of a gather, with rank 0 as its root.
//!
//! Write a rank in base K. Its parent is the rank with the lowest non-zero digit set to zero. A rank whose lowest *d*
//! digits are zero therefore has, for each of these digits, K − 1 children, and below it all ranks that begin with the
//! same digits. These are consecutive: by sending its own item first and then those of its children in their order,
//! every rank passes on the items of its subtree in the order of ranks. With K = 2 it is the binomial tree of MPICH's
//! gather (Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
//! 2005, §4).

/// One rank's place in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    pub(super) arity: u32,
    pub(super) rank: u32,
    pub(super) ranks: u32,
}

/// A child, and how many ranks its subtree has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child {
    pub(super) rank: u32,
    pub(super) ranks: u32,
}

impl Tree {
    /// The rank that it sends to; `None` for the root.
    pub(super) fn parent(&self) -> Option<u32> {
        let weight = self.weights().find(|weight| (u64::from(self.rank) / weight) % u64::from(self.arity) != 0)?;
        let above = weight * u64::from(self.arity);
        Some((u64::from(self.rank) / above * above) as u32)
    }

    /// The ranks that it receives from, in ascending order.
    pub(super) fn children(&self) -> impl Iterator<Item = Child> + '_ {
        let (rank, arity, ranks) = (u64::from(self.rank), u64::from(self.arity), u64::from(self.ranks));
        let zeros = self.weights().take_while(move |weight| rank.is_multiple_of(weight * arity));
        zeros
            .flat_map(move |weight| (1..arity).map(move |digit| (rank + digit * weight, weight)))
            .take_while(move |(child, _)| *child < ranks)
            .map(move |(child, weight)| Child { rank: child as u32, ranks: weight.min(ranks - child) as u32 })
    }

    /// The weight of each digit of a rank, from the lowest.
    fn weights(&self) -> impl Iterator<Item = u64> {
        let (arity, ranks) = (u64::from(self.arity.max(2)), u64::from(self.ranks));
        std::iter::successors(Some(1), move |weight| Some(weight * arity)).take_while(move |weight| *weight < ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(arity: u32, rank: u32, ranks: u32) -> Vec<u32> {
        Tree { arity, rank, ranks }.children().map(|child| child.rank).collect()
    }

    #[test]
    fn the_binomial_tree_of_eight() {
        assert_eq!(children(2, 0, 8), [1, 2, 4]);
        assert_eq!(children(2, 4, 8), [5, 6]);
        assert_eq!(children(2, 6, 8), [7]);
        assert_eq!(children(4, 0, 16), [1, 2, 3, 4, 8, 12]);
        assert_eq!(children(4, 4, 16), [5, 6, 7]);
    }

    #[test]
    fn a_subtree_is_a_rank_and_those_after_it() {
        for (arity, ranks) in (2..7).flat_map(|arity| (1..70).map(move |ranks| (arity, ranks))) {
            let mut seen = 0;
            for rank in 0..ranks {
                let tree = Tree { arity, rank, ranks };
                let mut next = rank + 1;
                for child in tree.children() {
                    assert_eq!(child.rank, next, "{tree:?}");
                    assert_eq!(Tree { rank: child.rank, ..tree }.parent(), Some(rank), "{tree:?}");
                    next += child.ranks;
                    seen += 1;
                }
                let own = Tree { rank: tree.parent().unwrap_or(0), ..tree };
                let size = own.children().find(|child| child.rank == rank).map_or(ranks, |child| child.ranks);
                assert_eq!(next - rank, size, "{tree:?}");
            }
            assert_eq!(seen, ranks - 1, "each rank but the root has one parent");
        }
    }

    #[test]
    fn no_rank_has_more_than_the_tree_is_high_times_its_arity() {
        for arity in [2, 4, 16] {
            let most = (0..4096).map(|rank| children(arity, rank, 4096).len()).max();
            assert_eq!(most, Some((arity - 1) as usize * 4096_f64.log(f64::from(arity)).round() as usize));
        }
    }
}
