//! One-sided communication (MPI 4.0 §12).
//!
//! # Vocabulary
//! An **origin** accesses the memory of a **target** in a **window**. An access is **locally** complete when the origin
//! may reuse its own memory, and **remotely** complete when it has taken place at the target. **Synchronisations**
//! separate accesses. With an *active* target both sides call them (fence; post, start, complete, wait), with a
//! *passive* target only the origin does (lock, flush, unlock). An **epoch** is the time between two of them.
//!
//! # Parts
//! * [`windows`]: identity of windows, knowledge of each member, locks of the targets, and the steps of
//!   each synchronisation in this library ([`titr_platform::OneSided`]).
//! * [`access`]: when an access starts. A put is a message from origin to target; a get is a small request and a
//!   message back; an access that does both is a message in each direction.
//! * [`active_message`]: the messages of accesses and synchronisations, and the action of each on arrival. Like all
//!   messages, they travel by the network model.
//! * [`synchronisation`]: executes the steps of a synchronisation, and waits between them.
//!
//! # What is simulated
//! * Every access and every synchronisation, for windows of all kinds. Creating a window costs an allreduce of 4 bytes,
//!   for the window's own communicator, and an allgather of 24 bytes per member: address, size and unit. Freeing it
//!   costs a barrier.
//! * If the library emulates one-sided communication over messages, a target acts only while it is in an MPI call;
//!   until then, its messages wait. Shared windows are accessed without their owner.
//! * A fence is a barrier after which all accesses of the epoch are complete on both sides.
//! * Loads and stores of a program are computation, including those to other ranks' memory in shared windows.

mod access;
mod active_message;
mod synchronisation;
pub(super) mod windows;

use std::rc::Rc;

use titr_common::event::{Actor, Collective, CollectiveKind, CommId, OneSided as Event, Rank, WinCall, WinId};
use titr_common::program::Fault;
use titr_common::units::Bytes;

use super::ids::WindowIndex;
use super::library::Library;
use super::operation::Condition;
use super::point_to_point::communicator;
use super::thread::Thread;
use crate::observe::{Observer, OperationId, WindowCondition, WindowWait};
use windows::steps::{SynchronisationStep, collective};
use windows::window::{LockKind, LockState};

/// Bytes that each member tells the others of its part of a window: address, size and displacement unit.
const DESCRIPTION: Bytes = Bytes(24);

impl<O: Observer> Library<'_, O> {
    pub(super) fn one_sided(&mut self, thread: &mut Thread, event: &Event) -> Result<(), Fault> {
        match event {
            &Event::Create(call, comm, win, lent) => self.create_window(thread, call, comm, (win, lent)),
            Event::Free(win) => self.free_window(thread, *win),
            Event::Sync(call) => self.synchronise(thread, call),
            Event::Access(access) => self.access(thread, *access),
        }
    }

    /// All members of a communicator make a window.
    fn create_window(
        &mut self,
        thread: &mut Thread,
        call: WinCall,
        comm: CommId,
        (id, lent): (WinId, Bytes),
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let parent = self.communicators.find(rank, comm)?;
        let agreement = collective(CollectiveKind::Allreduce, Bytes(4));
        let communicator = self.communicators.get(parent);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        let me = members.place(rank).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() })?;
        let number = self.communicators.next_collective(parent, me);
        let shared = call == WinCall::AllocateShared;
        if shared && me == 0 {
            let host = |member| self.cores[members.rank(member).0 as usize].host;
            let is_scattered = (1..members.len() as u32).any(|member| host(member) != host(0));
            self.warnings.scattered_windows += u64::from(is_scattered);
        }
        let Self { communicators, one_sided, .. } = self;
        let own = || {
            let comm = communicators.create_for_window(&members);
            let communicator = communicators.get(comm);
            (comm, communicator.context, Rc::clone(&communicator.members))
        };
        let window = one_sided.windows.create((rank, id), (context, number), shared, own);
        // Memory is attached to a dynamic window later.
        self.one_sided.windows.side(window, rank).lent = (call != WinCall::CreateDynamic).then_some(lent);
        let comm = self.one_sided.windows.get(window).comm;
        let description = collective(CollectiveKind::Allgather, DESCRIPTION);
        let steps = vec![
            SynchronisationStep::Collective(parent, agreement),
            SynchronisationStep::Collective(comm, description),
        ];
        self.begin(thread, call.word(), (window, id), steps)
    }

    fn free_window(&mut self, thread: &mut Thread, id: WinId) -> Result<(), Fault> {
        let window = self.one_sided.windows.find(thread.actor.rank, id)?;
        let comm = self.one_sided.windows.get(window).comm;
        let barrier = Collective::barrier(CommId::WORLD);
        self.begin(
            thread,
            "win_free",
            (window, id),
            vec![SynchronisationStep::Collective(comm, barrier), SynchronisationStep::Free],
        )
    }

    /// Removes a window that no rank uses any more.
    fn forget_window(&mut self, window: WindowIndex) {
        if let Some(comm) = self.one_sided.windows.forget(window) {
            self.communicators.forget(comm);
        }
    }

    fn member(&self, window: WindowIndex, rank: Rank) -> Result<(), Fault> {
        let members = &self.one_sided.windows.get(window).members;
        members.place(rank).map(|_| ()).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() })
    }
}

impl<O: Observer> Library<'_, O> {
    /// The wait of a member for a condition, as observers hear of it.
    fn window_wait(&self, window: WindowIndex, rank: Rank, condition: Condition, id: OperationId) -> WindowWait {
        let condition = match condition {
            Condition::Granted(target) => {
                WindowCondition::Lock { target, exclusive: !self.asks_for_shared_lock(window, rank, target) }
            }
            Condition::Leader => WindowCondition::LockAll,
            Condition::Released(target) => WindowCondition::Release(target),
            Condition::Posted(target) => WindowCondition::Post(target),
            Condition::Completed(origin) => WindowCondition::Complete(origin),
            Condition::Local(target) | Condition::Remote(target) => WindowCondition::Accesses(target),
            Condition::Arrived(_) => WindowCondition::Arrivals,
        };
        let communicator = communicator(self.one_sided.windows.get(window).context);
        WindowWait { id, rank, communicator, condition }
    }

    fn asks_for_shared_lock(&self, window: WindowIndex, rank: Rank, target: Rank) -> bool {
        let lock = self.one_sided.windows.look(window, rank).targets.get(&target).map(|target| target.lock);
        lock == Some(LockState::Asked(LockKind::Shared))
    }

    /// The condition that a member waits for, in words, and the rank that could make it hold.
    pub(in crate::ranks) fn describe_condition(
        &self,
        window: WindowIndex,
        rank: Rank,
        condition: Condition,
    ) -> (String, Option<Actor>) {
        let windows = &self.one_sided.windows;
        let members = &windows.get(window).members;
        let on = members.describe();
        let (what, peer) = match condition {
            Condition::Posted(target) => (format!("a post by rank {} in {on}", target.0), Some(target)),
            Condition::Completed(origin) => {
                (format!("rank {} to complete its accesses in {on}", origin.0), Some(origin))
            }
            Condition::Granted(target) => {
                let is_shared = self.asks_for_shared_lock(window, rank, target);
                let kind = if is_shared { "a shared lock" } else { "an exclusive lock" };
                let holder = windows.look(window, target).lock.holders().find(|&holder| holder != rank);
                (format!("{kind} on rank {} in {on}{}", target.0, held_by(holder)), holder.or(Some(target)))
            }
            Condition::Leader => {
                let leader = members.rank(0);
                let holder = windows.look(window, leader).leader.holders().find(|&holder| holder != rank);
                (format!("the lock of all ranks in {on}{}", held_by(holder)), holder.or(Some(leader)))
            }
            Condition::Released(target) => (format!("rank {} to release its lock in {on}", target.0), Some(target)),
            Condition::Local(target) | Condition::Remote(target) => {
                (format!("its accesses to rank {} in {on}", target.0), Some(target))
            }
            Condition::Arrived(_) => (format!("the accesses of other ranks to its part of {on}"), None),
        };
        (what, peer.map(Actor::from))
    }
}

fn held_by(holder: Option<Rank>) -> String {
    holder.map_or_else(String::new, |holder| format!(", held by rank {}", holder.0))
}
