//! The locks of windows, as their owners manage them.

use std::collections::{BTreeSet, VecDeque};

use titr_common::event::Rank;

/// The kind of a lock (`MPI_LOCK_EXCLUSIVE`, `MPI_LOCK_SHARED`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ranks) enum LockKind {
    Exclusive,
    Shared,
}

/// The lock of one rank's part of a window: held by one rank exclusively or shared by several, and granted first come,
/// first served.
#[derive(Clone, Debug, Default)]
pub(in crate::ranks) struct LockQueue {
    holders: BTreeSet<Rank>,
    exclusive: bool,
    waiting: VecDeque<(Rank, LockKind)>,
}

impl LockQueue {
    /// `rank` requests the lock; returns whether it is granted at once.
    pub(in crate::ranks) fn ask(&mut self, rank: Rank, kind: LockKind) -> bool {
        let granted = self.waiting.is_empty() && self.admits(kind);
        if granted {
            self.grant(rank, kind);
        } else {
            self.waiting.push_back((rank, kind));
        }
        granted
    }

    /// `rank` gives the lock back; the ranks that have it since.
    pub(in crate::ranks) fn release(&mut self, rank: Rank) -> Vec<Rank> {
        self.holders.remove(&rank);
        let mut granted = Vec::new();
        while let Some(&(next, kind)) = self.waiting.front()
            && self.admits(kind)
        {
            self.waiting.pop_front();
            self.grant(next, kind);
            granted.push(next);
        }
        granted
    }

    /// The ranks that have the lock.
    pub(in crate::ranks) fn holders(&self) -> impl Iterator<Item = Rank> {
        self.holders.iter().copied()
    }

    fn admits(&self, kind: LockKind) -> bool {
        self.holders.is_empty() || kind == LockKind::Shared && !self.exclusive
    }

    fn grant(&mut self, rank: Rank, kind: LockKind) {
        self.holders.insert(rank);
        self.exclusive = kind == LockKind::Exclusive;
    }
}

/// A request to the first member of a window, for a lock that this member manages for the whole window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ranks) enum LockClass {
    /// A rank that shares the locks of all members.
    All,
    /// A rank that has an exclusive lock of some member.
    Exclusive,
}

/// The lock of a whole window, which ranks of one class can hold at a time. A rank of the holders' class gets it at
/// once, even before others that have waited longer, as with the counters of osc/rdma.
#[derive(Clone, Debug, Default)]
pub(in crate::ranks) struct LeaderLock {
    holders: Vec<(Rank, LockClass)>,
    waiting: Vec<(Rank, LockClass)>,
}

impl LeaderLock {
    /// `rank` requests the lock; returns whether it is granted at once.
    pub(in crate::ranks) fn ask(&mut self, rank: Rank, class: LockClass) -> bool {
        let granted = self.holders.first().is_none_or(|&(_, held)| held == class);
        let list = if granted { &mut self.holders } else { &mut self.waiting };
        list.push((rank, class));
        granted
    }

    /// `rank` gives the lock back once; the ranks that have it since.
    pub(in crate::ranks) fn release(&mut self, rank: Rank) -> Vec<Rank> {
        if let Some(at) = self.holders.iter().position(|&(holder, _)| holder == rank) {
            self.holders.remove(at);
        }
        let Some(&(_, class)) = self.waiting.first().filter(|_| self.holders.is_empty()) else { return Vec::new() };
        self.holders = self.waiting.extract_if(.., |&mut (_, other)| other == class).collect();
        self.holders.iter().map(|&(rank, _)| rank).collect()
    }

    /// The ranks that have the lock.
    pub(in crate::ranks) fn holders(&self) -> impl Iterator<Item = Rank> {
        self.holders.iter().map(|&(rank, _)| rank)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LockKind::{Exclusive, Shared};
    use super::*;

    #[test]
    fn locks_are_granted_first_come_first_served() {
        let mut lock = LockQueue::default();
        assert!(lock.ask(Rank(0), Shared));
        assert!(lock.ask(Rank(1), Shared));
        assert!(!lock.ask(Rank(2), Exclusive));
        assert!(!lock.ask(Rank(3), Shared), "rank 2 has waited longer");
        assert!(!lock.ask(Rank(4), Shared));
        assert_eq!(lock.release(Rank(0)), []);
        assert_eq!(lock.release(Rank(1)), [Rank(2)]);
        assert_eq!(lock.release(Rank(2)), [Rank(3), Rank(4)]);
    }

    #[test]
    fn one_class_has_the_lock_of_the_leader() {
        let mut lock = LeaderLock::default();
        assert!(lock.ask(Rank(0), LockClass::Exclusive));
        assert!(!lock.ask(Rank(1), LockClass::All));
        assert!(lock.ask(Rank(2), LockClass::Exclusive), "rank 0 would wait for itself if rank 1 went first");
        assert_eq!(lock.release(Rank(0)), []);
        assert_eq!(lock.release(Rank(2)), [Rank(1)]);
        assert_eq!(lock.holders().collect::<Vec<_>>(), [Rank(1)]);
    }

    proptest! {
        /// An exclusive lock has one holder, everybody who asks gets the lock, and in the order of asking.
        #[test]
        fn everybody_gets_the_lock(kinds in prop::collection::vec(prop::bool::ANY, 1..40), choices in any::<u64>()) {
            let mut lock = LockQueue::default();
            let mut order = Vec::new();
            let kind = |rank: Rank| if kinds[rank.0 as usize] { Exclusive } else { Shared };
            for rank in (0..kinds.len() as u32).map(Rank) {
                if lock.ask(rank, kind(rank)) {
                    order.push(rank);
                }
            }
            let mut choices = choices;
            loop {
                let holders: Vec<Rank> = lock.holders().collect();
                let Some(&next) = holders.get(choices as usize % holders.len().max(1)) else { break };
                prop_assert!(holders.len() == 1 || holders.iter().all(|&rank| kind(rank) == Shared));
                choices = choices.rotate_left(7);
                order.extend(lock.release(next));
            }
            prop_assert_eq!(order, (0..kinds.len() as u32).map(Rank).collect::<Vec<_>>());
        }
    }
}
