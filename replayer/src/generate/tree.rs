//! Up a tree and down again: a reduction, followed by a broadcast of its result.

use titr_common::units::Bytes;

use super::{Kernel, Script};

/// Each rank waits for its children and sends to its parent; the root's answer then travels down in the same way. The
/// children of rank r in a tree of arity a are a·r + 1 to a·r + a.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The number of ranks.
    pub ranks: u32,
    /// The number of children of a rank; at least one.
    pub arity: u32,
    /// The payload of each message.
    pub bytes: Bytes,
}

impl Kernel for Tree {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        let (ranks, arity) = (u64::from(self.ranks), u64::from(self.arity));
        let first = u64::from(me) * arity + 1;
        let children = || (first.min(ranks)..(first + arity).min(ranks)).map(|child| child as u32);
        let parent = me.checked_sub(1).map(|place| place / self.arity);

        script.pause();
        children().for_each(|child| script.irecv(child, 0, self.bytes));
        script.waitall();
        if let Some(parent) = parent {
            script.send(parent, 0, self.bytes);
            script.recv(parent, 0, self.bytes);
        }
        children().for_each(|child| script.isend(child, 0, self.bytes));
        script.waitall();
    }
}
