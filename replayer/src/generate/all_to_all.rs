//! All ranks send to all others, as fast as the network accepts the messages.

use titr_common::units::Bytes;

use super::{Kernel, Script};

/// Each rank sends a message to each other one, the next rank first, and waits for theirs in the end. The rounds of
/// MPI libraries, where one exchange waits for the one before, are algorithms of `alltoall`.
#[derive(Clone, Debug)]
pub struct AllToAll {
    /// The number of ranks.
    pub ranks: u32,
    /// The payload of each message.
    pub bytes: Bytes,
}

impl Kernel for AllToAll {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        script.pause();
        let after = || (me + 1..self.ranks).chain(0..me);
        let before = || (0..me).rev().chain((me + 1..self.ranks).rev());
        before().for_each(|from| script.irecv(from, 0, self.bytes));
        after().for_each(|to| script.isend(to, 0, self.bytes));
        script.waitall();
    }
}
