//! Brings one item of each rank up the tree to the root, in the order of ranks.
//!
//! An item travels as a header, its rank and its length, and then in pieces. Every rank has room for one piece: it
//! receives the next from a child when its parent has taken the one before. The sends are synchronous, so that no
//! library buffers data before it is needed, and memory is bounded for items of any length.

use std::io::Read;

use super::tree::Tree;

/// Size of a piece.
pub(super) const PIECE: usize = 256 << 10;
/// A rank and a length, little-endian.
const HEADER: usize = 16;

/// A connection between ranks.
pub(super) trait Link {
    /// Sends, and waits until that is being received.
    fn send(&self, to: u32, bytes: &[u8]) -> Result<(), Broken>;
    /// Receives as many bytes as there is room for.
    fn receive(&self, from: u32, bytes: &mut [u8]) -> Result<(), Broken>;
}

/// The MPI library has refused to send or receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// The receiver of items.
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
        let mut header = [0; HEADER];
        let (first, second) = header.split_at_mut(HEADER / 2);
        first.copy_from_slice(&u64::from(rank).to_le_bytes());
        second.copy_from_slice(&length.to_le_bytes());
        self.link.send(self.rank, &header)
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
            let (mut rank, mut length) = ([0; HEADER / 2], [0; HEADER / 2]);
            let mut header = [0; HEADER];
            link.receive(child.rank, &mut header)?;
            rank.copy_from_slice(&header[..HEADER / 2]);
            length.copy_from_slice(&header[HEADER / 2..]);
            let length = u64::from_le_bytes(length);
            to.begin(u64::from_le_bytes(rank) as u32, length)?;
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
}
