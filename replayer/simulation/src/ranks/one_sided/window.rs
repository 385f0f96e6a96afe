//! Windows: which numbers of different ranks denote the same window, and what each member knows of the others.
//!
//! The *n*-th collective that a member starts on a communicator matches the *n*-th of every other member, so a window
//! is identified by its communicator and the number of the collective that creates it. Its members exchange messages
//! about it on a communicator of its own, as in MPI libraries.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::event::{Access, Rank, WinId};
use titr_common::program::{CommIndex, Context, Fault, Members};
use titr_common::units::Bytes;

use crate::observe::OperationId;
use crate::ranks::ids::{ActiveMessageIndex, WindowIndex};
use crate::ranks::operation::Condition;

#[derive(Default)]
pub(super) struct Windows {
    all: Slab<Window>,
    /// The windows by the numbers that ranks give them.
    names: FxHashMap<(Rank, WinId), WindowIndex>,
    /// The windows by the communicators they were made on, and the numbers of the collectives that made them.
    made: FxHashMap<(Context, u64), WindowIndex>,
}

pub(super) struct Window {
    pub(super) members: Rc<Members>,
    pub(super) comm: CommIndex,
    /// The context of the window's messages.
    pub(super) context: Context,
    /// Whether the window is memory that the ranks of a host share, which every member accesses directly.
    pub(super) shared: bool,
    made_by: (Context, u64),
    freed: usize,
    /// The number of messages about the window that are in transit or wait at their targets.
    pub(super) in_flight: u32,
    sides: Vec<Side>,
}

/// Two members of a window: one that acts, and the one that it acts on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) window: WindowIndex,
    pub(super) from: Rank,
    pub(super) to: Rank,
}

impl Pair {
    /// The same members, the other way round.
    pub(super) fn back(self) -> Self {
        Self { from: self.to, to: self.from, ..self }
    }
}

/// The knowledge of one member of a window.
#[derive(Default)]
pub(super) struct Side {
    /// The memory that the member lends, where its size is known.
    pub(super) lent: Option<Bytes>,
    /// The other members as targets.
    pub(super) targets: BTreeMap<Rank, Target>,
    /// The other members as origins of accesses to it.
    pub(super) origins: BTreeMap<Rank, Origin>,
    /// How many fences the member has called.
    pub(super) fences: u32,
    /// The number of incomplete accesses to this member, by the number of fences that their origin had called.
    pub(super) bound: FxHashMap<u32, u32>,
    /// Accesses that wait for a fence of this member.
    pub(super) parked: Vec<ActiveMessageIndex>,
    /// The targets that `MPI_Win_start` named.
    pub(super) started: Vec<Rank>,
    /// The origins that `MPI_Win_post` named.
    pub(super) exposed: Vec<Rank>,
    /// Whether the member is between `MPI_Win_lock_all` and `MPI_Win_unlock_all`, and how.
    pub(super) all: Option<AllLocked>,
    /// The number of requests for the lock of the whole window that are not granted yet.
    pub(super) leader_asked: u32,
    /// The lock of the member's own part of the window.
    pub(super) lock: LockQueue,
    /// The lock of the whole window, which the first member keeps.
    pub(super) leader: LeaderLock,
    pub(super) waiting: FxHashMap<Condition, Vec<OperationId>>,
}

/// The way in which a member has locked all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllLocked {
    /// By requesting the lock of each target, or of the leader.
    Asked,
    /// By the lock of the leader.
    Leader,
    /// By the program's promise that no lock is needed.
    Unchecked,
}

/// The knowledge that an origin has of a target.
#[derive(Default)]
pub(super) struct Target {
    pub(super) lock: LockState,
    /// Whether accesses wait for a lock or for a post.
    pub(super) held_back: bool,
    /// Posts that have come, and that no start has used.
    pub(super) posts: u32,
    /// Accesses that have not set out.
    pub(super) queued: Vec<AccessMessage>,
    /// The number of accesses that still use the memory of the origin.
    pub(super) local: u32,
    /// The number of accesses that are not known to be complete at the target.
    pub(super) remote: u32,
    /// Whether there were accesses since the last flush or unlock.
    pub(super) accessed: bool,
    /// The number of lock releases that the target has not confirmed.
    pub(super) releasing: u32,
}

/// An access, from its call on.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessMessage {
    pub(super) access: Access,
    pub(super) request: Option<OperationId>,
    /// The number of fences that its origin had called, if fences separate it from other accesses.
    pub(super) epoch: Option<u32>,
    /// Whether it is done with the memory of its origin once it has set out.
    pub(super) is_eager: bool,
}

/// The lock that an origin has at a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LockState {
    #[default]
    None,
    Asked(LockKind),
    Held(LockKind),
    /// The program promised that none is needed.
    Unchecked,
}

/// The knowledge that a target has of an origin.
#[derive(Default)]
pub(super) struct Origin {
    /// The number of its accesses that have started and are incomplete.
    pub(super) incoming: u32,
    /// The number of its calls of `MPI_Win_complete` that no wait has consumed yet.
    pub(super) completes: u32,
    /// Whether it gives the lock back once its accesses are done.
    pub(super) owes_release: bool,
}

impl Side {
    pub(super) fn target(&mut self, rank: Rank) -> &mut Target {
        self.targets.entry(rank).or_default()
    }

    pub(super) fn origin(&mut self, rank: Rank) -> &mut Origin {
        self.origins.entry(rank).or_default()
    }

    pub(super) fn holds(&self, condition: Condition) -> bool {
        let target = |rank: Rank, holds: fn(&Target) -> bool| self.targets.get(&rank).is_none_or(holds);
        match condition {
            Condition::Posted(rank) => target(rank, |target| !target.held_back),
            Condition::Completed(rank) => {
                self.origins.get(&rank).is_some_and(|origin| origin.completes > 0 && origin.incoming == 0)
            }
            Condition::Granted(rank) => target(rank, |target| !matches!(target.lock, LockState::Asked(_))),
            Condition::Released(rank) => target(rank, |target| target.releasing == 0),
            Condition::Leader => self.leader_asked == 0,
            Condition::Local(rank) => target(rank, |target| target.local == 0),
            Condition::Remote(rank) => target(rank, |target| target.remote == 0),
            Condition::Arrived(epoch) => !self.bound.contains_key(&epoch),
        }
    }
}

impl Windows {
    /// Adds `rank` to a window that it calls `id`, created by the collective with this number on a communicator with
    /// this context. `communicator` creates the window's own communicator, for the first member that arrives.
    pub(super) fn create(
        &mut self,
        (rank, id): (Rank, WinId),
        made_by: (Context, u64),
        shared: bool,
        communicator: impl FnOnce() -> (CommIndex, Context, Rc<Members>),
    ) -> WindowIndex {
        let Self { all, names, made } = self;
        let index = *made.entry(made_by).or_insert_with(|| {
            let (comm, context, members) = communicator();
            let sides = (0..members.len()).map(|_| Side::default()).collect();
            let window = Window { members, comm, context, shared, made_by, freed: 0, in_flight: 0, sides };
            WindowIndex(all.insert(window) as u32)
        });
        names.insert((rank, id), index);
        index
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The window that `rank` calls `id`.
    pub(super) fn find(&self, rank: Rank, id: WinId) -> Result<WindowIndex, Fault> {
        self.names.get(&(rank, id)).copied().ok_or(Fault::NoSuchWindow(id))
    }

    /// `rank` has freed a window that it called `id`.
    pub(super) fn free(&mut self, rank: Rank, id: WinId, index: WindowIndex) {
        self.names.remove(&(rank, id));
        self.get_mut(index).freed += 1;
    }

    /// Forgets a window that all members have freed and that no message is about; the communicator that it had.
    pub(super) fn forget(&mut self, index: WindowIndex) -> Option<CommIndex> {
        let window = self.get(index);
        if window.freed < window.members.len() || window.in_flight > 0 {
            return None;
        }
        let Window { made_by, comm, .. } = self.all.remove(index.0 as usize);
        self.made.remove(&made_by);
        Some(comm)
    }

    pub(super) fn get(&self, index: WindowIndex) -> &Window {
        &self.all[index.0 as usize]
    }

    pub(super) fn get_mut(&mut self, index: WindowIndex) -> &mut Window {
        &mut self.all[index.0 as usize]
    }

    /// The member that keeps the lock of the whole window: the first.
    pub(super) fn leader(&self, index: WindowIndex) -> Rank {
        self.get(index).members.rank(0)
    }

    /// The knowledge of a member.
    pub(super) fn side(&mut self, index: WindowIndex, rank: Rank) -> &mut Side {
        let window = self.get_mut(index);
        let place = window.members.place(rank).unwrap_or_default();
        &mut window.sides[place as usize]
    }

    /// The knowledge of a member, to be looked at.
    pub(super) fn look(&self, index: WindowIndex, rank: Rank) -> &Side {
        let window = self.get(index);
        &window.sides[window.members.place(rank).unwrap_or_default() as usize]
    }
}

/// The kind of a lock (`MPI_LOCK_EXCLUSIVE`, `MPI_LOCK_SHARED`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockKind {
    Exclusive,
    Shared,
}

/// The lock of one rank's part of a window: held by one rank exclusively or shared by several, and granted first come,
/// first served.
#[derive(Clone, Debug, Default)]
pub(super) struct LockQueue {
    holders: BTreeSet<Rank>,
    exclusive: bool,
    waiting: VecDeque<(Rank, LockKind)>,
}

impl LockQueue {
    /// `rank` requests the lock; returns whether it is granted at once.
    pub(super) fn ask(&mut self, rank: Rank, kind: LockKind) -> bool {
        let granted = self.waiting.is_empty() && self.admits(kind);
        if granted {
            self.grant(rank, kind);
        } else {
            self.waiting.push_back((rank, kind));
        }
        granted
    }

    /// `rank` gives the lock back; the ranks that have it since.
    pub(super) fn release(&mut self, rank: Rank) -> Vec<Rank> {
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

    pub(super) fn holders(&self) -> impl Iterator<Item = Rank> {
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
pub(super) enum LockClass {
    /// A rank that shares the locks of all members.
    All,
    /// A rank that has an exclusive lock of some member.
    Exclusive,
}

/// The lock of a whole window, which ranks of one class can hold at a time. A rank of the holders' class gets it at
/// once, even before others that have waited longer, as with the counters of osc/rdma.
#[derive(Clone, Debug, Default)]
pub(super) struct LeaderLock {
    holders: Vec<(Rank, LockClass)>,
    waiting: Vec<(Rank, LockClass)>,
}

impl LeaderLock {
    /// `rank` requests the lock; returns whether it is granted at once.
    pub(super) fn ask(&mut self, rank: Rank, class: LockClass) -> bool {
        let granted = self.holders.first().is_none_or(|&(_, held)| held == class);
        let list = if granted { &mut self.holders } else { &mut self.waiting };
        list.push((rank, class));
        granted
    }

    /// `rank` gives the lock back once; the ranks that have it since.
    pub(super) fn release(&mut self, rank: Rank) -> Vec<Rank> {
        if let Some(at) = self.holders.iter().position(|&(holder, _)| holder == rank) {
            self.holders.remove(at);
        }
        let Some(&(_, class)) = self.waiting.first().filter(|_| self.holders.is_empty()) else { return Vec::new() };
        self.holders = self.waiting.extract_if(.., |&mut (_, other)| other == class).collect();
        self.holders.iter().map(|&(rank, _)| rank).collect()
    }

    pub(super) fn holders(&self) -> impl Iterator<Item = Rank> {
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
