//! A root and all others: a master distributes work, and collects results.

use titr_common::units::Bytes;

use super::{Impossible, Kernel, Script};

/// Messages between a root and each other rank.
#[derive(Clone, Debug)]
pub struct Star {
    ranks: u32,
    root: u32,
    bytes: Bytes,
    kind: StarKind,
}

/// The direction of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarKind {
    /// The root sends a message to each other rank, all at once.
    OneToAll,
    /// Each other rank sends a message to the root.
    AllToOne,
}

impl Star {
    /// Between `ranks` ranks, at least one.
    ///
    /// # Errors
    /// If the root is not one of them.
    pub fn new(kind: StarKind, ranks: u32, root: u32, bytes: Bytes) -> Result<Self, Impossible> {
        if root < ranks {
            Ok(Self { ranks, root, bytes, kind })
        } else {
            Err(Impossible::Root { root, last: ranks - 1 })
        }
    }
}

impl Kernel for Star {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        let Self { ranks, root, bytes, kind } = *self;
        script.pause();
        match kind {
            StarKind::OneToAll if me != root => script.recv(root, 0, bytes),
            StarKind::AllToOne if me != root => script.send(root, 0, bytes),
            StarKind::OneToAll | StarKind::AllToOne => {
                for other in (root + 1..ranks).chain(0..root) {
                    match kind {
                        StarKind::OneToAll => script.isend(other, 0, bytes),
                        StarKind::AllToOne => script.irecv(other, 0, bytes),
                    }
                }
                script.waitall();
            }
        }
    }
}
