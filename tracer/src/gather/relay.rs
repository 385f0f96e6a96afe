//! Brings one item of each rank up the tree to the root, in the order of ranks.
//!
//! An item travels as a header, its rank and its length (little-endian), and then in pieces. Every rank has room for one piece: it
//! receives the next from a child when its parent has taken the one before. The sends are synchronous, so that no
//! library buffers data before it is needed, and memory is bounded for items of any length.

use std::io::Read;

pub(super) const PIECE: usize = 256 << 10;

pub(super) trait Link {
    /// Sends, and waits until that is being received.
    fn send(&self, to: u32, bytes: &[u8]) -> Result<(), Broken>;
    /// Receives as many bytes as there is room for.
    fn receive(&self, from: u32, bytes: &mut [u8]) -> Result<(), Broken>;
}

/// The MPI library has refused to send or receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

pub(super) trait Receiver {
    /// The item of `rank` follows, with this many bytes.
    fn begin(&mut self, rank: u32, length: u64) -> Result<(), Broken>;
    /// The next of them.
    fn piece(&mut self, bytes: &[u8]) -> Result<(), Broken>;
}

/// A rank's parent.
pub(super) struct Parent<'l, L> {
    pub(super) link: &'l L,
    pub(super) rank: u32,
}

impl<L: Link> Receiver for Parent<'_, L> {
    fn begin(&mut self, rank: u32, length: u64) -> Result<(), Broken> {
        self.link.send(self.rank, [u64::from(rank), length].map(u64::to_le_bytes).as_flattened())
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.link.send(self.rank, bytes)
    }
}

/// Passes on the rank's own item, `length` bytes of `own`, and then those of the ranks below it. True if all of its own
/// could be read; otherwise the missing bytes are zeros, because the length was already sent.
pub(super) fn relay(
    tree: &Tree,
    link: &impl Link,
    own: &mut impl Read,
    length: u64,
    to: &mut impl Receiver,
) -> Result<bool, Broken> {
    let mut room = vec![0; PIECE];
    let mut readable = true;
    to.begin(tree.rank, length)?;
    for piece in pieces(length) {
        let piece = &mut room[..piece];
        if readable && own.read_exact(piece).is_err() {
            readable = false;
        }
        if !readable {
            piece.fill(0);
        }
        to.piece(piece)?;
    }
    for child in tree.children() {
        for _ in 0..child.ranks {
            let mut header = [[0; 8]; 2];
            link.receive(child.rank, header.as_flattened_mut())?;
            let [rank, length] = header.map(u64::from_le_bytes);
            to.begin(rank as u32, length)?;
            for piece in pieces(length) {
                link.receive(child.rank, &mut room[..piece])?;
                to.piece(&room[..piece])?;
            }
        }
    }
    Ok(readable)
}

/// The sizes of the pieces of an item.
fn pieces(length: u64) -> impl Iterator<Item = usize> {
    let mut left = length;
    std::iter::from_fn(move || {
        let piece = left.min(PIECE as u64);
        left -= piece;
        (piece > 0).then_some(piece as usize)
    })
}

/// One rank's place in the K-nomial tree of a gather, with rank 0 as its root.
///
/// Write a rank in base K. Its parent is the rank with the lowest non-zero digit set to zero. A rank whose lowest *d*
/// digits are zero therefore has, for each of these digits, K − 1 children, and below it all ranks that begin with the
/// same digits. These are consecutive: by sending its own item first and then those of its children in their order,
/// every rank passes on the items of its subtree in the order of ranks. With K = 2 it is the binomial tree of MPICH's
/// gather (Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
/// 2005, §4).
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
    use std::sync::mpsc::{Receiver as Inbox, SyncSender, sync_channel};
    use std::thread;

    use super::*;

    /// Channels between all ranks that hold nothing: who sends waits for who receives.
    struct Channels {
        to: Vec<SyncSender<Vec<u8>>>,
        from: Vec<Inbox<Vec<u8>>>,
    }

    impl Link for Channels {
        fn send(&self, to: u32, bytes: &[u8]) -> Result<(), Broken> {
            self.to[to as usize].send(bytes.to_vec()).map_err(|_| Broken)
        }

        fn receive(&self, from: u32, bytes: &mut [u8]) -> Result<(), Broken> {
            let received = self.from[from as usize].recv().map_err(|_| Broken)?;
            bytes.copy_from_slice(&received);
            Ok(())
        }
    }

    #[derive(Default)]
    struct Collected(Vec<(u32, u64, Vec<u8>)>);

    impl Receiver for Collected {
        fn begin(&mut self, rank: u32, length: u64) -> Result<(), Broken> {
            self.0.push((rank, length, Vec::new()));
            Ok(())
        }

        fn piece(&mut self, bytes: &[u8]) -> Result<(), Broken> {
            self.0.last_mut().unwrap().2.extend_from_slice(bytes);
            Ok(())
        }
    }

    fn network(ranks: u32) -> Vec<Channels> {
        let mut all: Vec<Channels> = (0..ranks).map(|_| Channels { to: Vec::new(), from: Vec::new() }).collect();
        for from in 0..ranks as usize {
            for to in 0..ranks as usize {
                let (sender, inbox) = sync_channel(0);
                all[from].to.push(sender);
                all[to].from.push(inbox);
            }
        }
        all
    }

    /// The item of a rank: none, one that fits a piece, or several pieces.
    fn item(rank: u32) -> Vec<u8> {
        let length = [0, 1000, PIECE, 2 * PIECE + 1][rank as usize % 4];
        (0..length).map(|at| (at as u32 ^ rank) as u8).collect()
    }

    #[test]
    fn every_item_arrives_in_the_order_of_ranks() {
        for (arity, ranks) in [(2, 1), (2, 5), (2, 8), (4, 8), (4, 13), (16, 9)] {
            let mut links = network(ranks).into_iter();
            let root = links.next().unwrap();
            let others: Vec<_> = (1..)
                .zip(links)
                .map(|(rank, link)| {
                    thread::spawn(move || {
                        let tree = Tree { arity, rank, ranks };
                        let mut parent = Parent { link: &link, rank: tree.parent().unwrap() };
                        relay(&tree, &link, &mut &item(rank)[..], item(rank).len() as u64, &mut parent)
                    })
                })
                .collect();
            let mut collected = Collected::default();
            let tree = Tree { arity, rank: 0, ranks };
            relay(&tree, &root, &mut &item(0)[..], item(0).len() as u64, &mut collected).unwrap();
            assert!(others.into_iter().all(|rank| rank.join().unwrap() == Ok(true)));
            let expected: Vec<_> = (0..ranks).map(|rank| (rank, item(rank).len() as u64, item(rank))).collect();
            assert!(collected.0 == expected, "{arity} {ranks}");
        }
    }

    #[test]
    fn an_item_that_cannot_be_read_is_as_long_as_it_said_and_known_to_be_wrong() {
        let mut collected = Collected::default();
        let link = network(1).remove(0);
        let tree = Tree { arity: 2, rank: 0, ranks: 1 };
        assert_eq!(relay(&tree, &link, &mut &b"ab"[..], 5, &mut collected), Ok(false));
        assert_eq!(collected.0, [(0, 5, vec![0; 5])]);
    }

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
