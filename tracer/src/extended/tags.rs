//! The tags that distinguish the messages of one communicator's collectives from those of another.
//!
//! All messages use one communicator of the tracer with the members of the world, created at `MPI_Init`: the tracer
//! creates no communicator while the program runs. In a library the messages of a communicator have a context that all
//! members agree on and that no other communicator of any member has (MPI 4.0 §7.1.2, "communication universe"); here
//! that is a tag. One is enough: the blocking collectives of a communicator have one order on all its members, so that
//! the messages of two of them are sent in this order between any two members, and received in it.
//!
//! When the program creates a communicator, its members agree on a tag ([`Engine::agree`]) by the library's reductions on it: each states which of a
//! few candidates it does not use for another communicator, and they take the first that none of them uses. During the
//! agreement, candidates count as used, so that communicators that other threads create concurrently get others.

use rustc_hash::FxHashSet;
use titr_wrappers::argument::{Comm, Op};

use super::{Engine, State};
use crate::pmpi;

/// A number that names a communicator to its members and that no other communicator has had, in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(pub(super) u64);

/// The tags of this rank.
pub(super) struct Tags {
    taken: FxHashSet<u32>,
    /// The largest tag.
    most: u32,
}

/// The number of candidates in an attempt to agree, as many as the bits of the reduction.
const CANDIDATES: u64 = 64;

impl Tags {
    /// The tag of the messages that compare clocks.
    pub(super) const CLOCK: u32 = 0;
    pub(super) const WORLD: u32 = 1;

    /// No tags but those of the clock and the world are taken, of those up to `tag_ub`.
    pub(super) fn new(tag_ub: u32) -> Self {
        Self { taken: FxHashSet::from_iter([Self::CLOCK, Self::WORLD]), most: tag_ub }
    }

    /// The tag that is candidate `nth` of an attempt.
    fn candidate(&self, Identity(identity): Identity, attempt: u64, nth: u64) -> u32 {
        let others = u64::from(self.most.saturating_sub(Self::WORLD)).max(1);
        (u64::from(Self::WORLD) + 1 + mix(identity ^ mix(attempt * CANDIDATES + nth)) % others) as u32
    }

    /// Takes all candidates of an attempt that are not taken: a bit for each.
    pub(super) fn take(&mut self, identity: Identity, attempt: u64) -> u64 {
        let mut mine = 0;
        for nth in 0..CANDIDATES {
            let tag = self.candidate(identity, attempt, nth);
            mine |= u64::from(tag <= self.most && self.taken.insert(tag)) << nth;
        }
        mine
    }

    /// Gives back the candidates `mine` of an attempt but for the first that is in `common`, which all members have taken,
    /// and returns that one.
    pub(super) fn keep_first(&mut self, identity: Identity, attempt: u64, mine: u64, common: u64) -> Option<u32> {
        let first = (common != 0).then(|| u64::from(common.trailing_zeros()));
        for nth in (0..CANDIDATES).filter(|nth| mine >> nth & 1 != 0 && Some(*nth) != first) {
            let tag = self.candidate(identity, attempt, nth);
            self.taken.remove(&tag);
        }
        first.map(|nth| self.candidate(identity, attempt, nth))
    }

    /// The communicator that has this tag is freed.
    pub(super) fn free(&mut self, tag: u32) {
        self.taken.remove(&tag);
    }
}

/// A bijection that scatters numbers (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The number of attempts to find a tag that no member has taken, after which a communicator gets none.
const ATTEMPTS: u64 = 64;

impl Engine {
    /// Agrees on a tag with the other members of a communicator that a call has just created: collective. `None` if the
    /// library has to execute its collectives, or if it has no messages: on all members alike.
    pub(crate) fn agree(&self, comm: Comm) -> Option<u32> {
        if comm == self.abi.comm_null || (pmpi::comm_size(comm) < 2 && !pmpi::comm_is_inter(comm)) {
            return None;
        }
        // Processes that were spawned or connected to need not be traced, and would not take part.
        let members = pmpi::translate(self.abi, comm, self.abi.comm_world)?;
        if members.local.contains(&None) || members.remote.contains(&None) {
            return None;
        }
        let proposal = self.state().propose(self.rank, self.size);
        let identity = Identity(self.among_all(proposal, self.abi.max, u64::max, comm)?);
        for attempt in 0..ATTEMPTS {
            let mine = self.state().tags.take(identity, attempt);
            let common = self.among_all(mine, self.abi.band, |one, other| one & other, comm).unwrap_or(0);
            if let Some(tag) = self.state().tags.keep_first(identity, attempt, mine, common) {
                return Some(tag);
            }
        }
        None
    }

    /// Reduces a number of each member by an MPI operation, which is equivalent to `operation`. On an
    /// inter-communicator a reduction gives the result of the other group, and a second one the result of both.
    pub(super) fn among_all(&self, mine: u64, op: Op, operation: impl Fn(u64, u64) -> u64, comm: Comm) -> Option<u64> {
        let reduced = pmpi::allreduce(self.abi, mine as i64, op, comm)? as u64;
        if !pmpi::comm_is_inter(comm) {
            return Some(reduced);
        }
        Some(pmpi::allreduce(self.abi, operation(mine, reduced) as i64, op, comm)? as u64)
    }
}

impl State {
    /// A number that no other rank proposes, nor this one again.
    fn propose(&mut self, rank: u32, size: u32) -> u64 {
        self.proposals += 1;
        self.proposals * u64::from(size) + u64::from(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fewest tags that MPI guarantees.
    const FEW: u32 = (1 << 15) - 1;

    /// Two members agree on a tag.
    fn agree([one, other]: [&mut Tags; 2], identity: Identity) -> Option<u32> {
        let mine = [one.take(identity, 0), other.take(identity, 0)];
        let common = mine[0] & mine[1];
        let tag = one.keep_first(identity, 0, mine[0], common)?;
        assert_eq!(other.keep_first(identity, 0, mine[1], common), Some(tag));
        Some(tag)
    }

    #[test]
    fn no_member_has_a_tag_twice() {
        let mut ranks = [(); 3].map(|()| Tags::new(FEW));
        let mut seen = [(); 3].map(|()| FxHashSet::default());
        for identity in 1..600 {
            let (one, other) = if identity % 2 == 0 { (0, 1) } else { (1, 2) };
            let [first, second] = ranks.get_disjoint_mut([one, other]).unwrap();
            let tag = agree([first, second], Identity(identity)).unwrap();
            assert!(tag > Tags::WORLD && tag <= FEW);
            assert!(seen[one].insert(tag) && seen[other].insert(tag), "{identity}: {tag}");
        }
    }

    #[test]
    fn a_tag_is_free_again_once_the_communicator_is_gone() {
        let [mut a, mut b] = [(); 2].map(|()| Tags::new(FEW));
        let before = a.taken.clone();
        let tag = agree([&mut a, &mut b], Identity(7)).unwrap();
        assert_eq!(a.taken.len(), before.len() + 1);
        a.free(tag);
        assert_eq!(a.taken, before);
    }
}
