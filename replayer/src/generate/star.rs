//! A root and all others: a master hands out work, and collects results.

use titr_common::units::Bytes;

use super::{Impossible, Kernel, Script};

/// The root sends a message to each other rank, all at once.
#[derive(Clone, Debug)]
pub struct OneToAll(Star);

/// Each other rank sends a message to the root.
#[derive(Clone, Debug)]
pub struct AllToOne(Star);

#[derive(Clone, Debug)]
struct Star {
    ranks: u32,
    root: u32,
    bytes: Bytes,
}

impl Star {
    fn new(ranks: u32, root: u32, bytes: Bytes) -> Result<Self, Impossible> {
        if root < ranks { Ok(Self { ranks, root, bytes }) } else { Err(Impossible::Root { root, last: ranks - 1 }) }
    }

    /// All ranks but the root, from the next one on.
    fn others(&self) -> impl Iterator<Item = u32> {
        (self.root + 1..self.ranks).chain(0..self.root)
    }
}

impl OneToAll {
    /// Between `ranks` ranks, at least one.
    ///
    /// # Errors
    /// If the root is none of them.
    pub fn new(ranks: u32, root: u32, bytes: Bytes) -> Result<Self, Impossible> {
        Star::new(ranks, root, bytes).map(Self)
    }
}

impl AllToOne {
    /// Between `ranks` ranks, at least one.
    ///
    /// # Errors
    /// If the root is none of them.
    pub fn new(ranks: u32, root: u32, bytes: Bytes) -> Result<Self, Impossible> {
        Star::new(ranks, root, bytes).map(Self)
    }
}

impl Kernel for OneToAll {
    fn ranks(&self) -> u32 {
        self.0.ranks
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        script.pause();
        if me == self.0.root {
            self.0.others().for_each(|to| script.isend(to, 0, self.0.bytes));
            script.waitall();
        } else {
            script.recv(self.0.root, 0, self.0.bytes);
        }
    }
}

impl Kernel for AllToOne {
    fn ranks(&self) -> u32 {
        self.0.ranks
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        script.pause();
        if me == self.0.root {
            self.0.others().for_each(|from| script.irecv(from, 0, self.0.bytes));
            script.waitall();
        } else {
            script.send(self.0.root, 0, self.0.bytes);
        }
    }
}
