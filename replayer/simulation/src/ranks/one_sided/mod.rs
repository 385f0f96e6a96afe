//! One-sided communication (MPI 4.0 §12).
//!
//! # Vocabulary
//! An **origin** accesses the memory of a **target** in a **window**. An access is **locally** complete when the origin
//! may reuse its own memory, and **remotely** complete when it has taken place at the target. **Synchronisations**
//! separate accesses. With an *active* target both sides call them (fence; post, start, complete, wait), with a
//! *passive* target only the origin does (lock, flush, unlock). An **epoch** is the time between two of them.
//!
//! # Parts
//! * [`window`]: identity of windows, knowledge of each member, and locks of the targets; [`steps`]: the steps of each
//!   synchronisation in this library ([`titr_platform::OneSided`]).
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
mod steps;
mod synchronisation;
mod window;

use std::rc::Rc;

use slab::Slab;
use titr_common::event::{Actor, Collective, CollectiveKind, CommId, OneSided as Event, Rank, WinCall, WinId};
use titr_common::program::Fault;
use titr_common::units::Bytes;
use titr_platform::OneSided as Parameters;

use super::collectives::{Collectives, rootless};
use super::ids::WindowIndex;
use super::mpi::Mpi;
use super::operation::Condition;
use super::point_to_point::communicator;
use super::thread::Thread;
use crate::observe::{Observer, OperationId, WindowCondition, WindowWait};
use active_message::ActiveMessage;
use steps::{SynchronisationInstance, SynchronisationStep, WindowCall};
use window::{LockKind, LockState, Windows};

/// Bytes that each member tells the others of its part of a window: address, size and displacement unit.
const DESCRIPTION: Bytes = Bytes(24);

/// All windows, the active messages in transit, and the synchronisations in progress.
pub(super) struct OneSided<'a> {
    parameters: &'a Parameters,
    windows: Windows,
    pub(super) messages: Slab<ActiveMessage>,
    pub(super) calls: Slab<SynchronisationInstance>,
}

impl<'a> OneSided<'a> {
    pub(super) fn new(parameters: &'a Parameters) -> Self {
        Self { parameters, windows: Windows::default(), messages: Slab::new(), calls: Slab::new() }
    }

    pub(super) fn has_windows(&self) -> bool {
        !self.windows.is_empty()
    }
}

impl OneSided<'_> {
    pub(super) fn call(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        thread: &mut Thread,
        event: &Event,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let call = match event {
            &Event::Create(call, comm, win, lent) => self.create_window(mpi, rank, (call, win, lent), comm)?,
            Event::Free(win) => self.free_window(rank, *win)?,
            Event::Sync(call) => match self.synchronise(mpi, rank, call)? {
                Some(call) => call,
                None => return Ok(()),
            },
            Event::Access(access) => return self.access(mpi, thread, *access),
        };
        self.begin(mpi, collectives, thread, call)
    }

    /// All members of a communicator make a window.
    fn create_window(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        rank: Rank,
        (call, id, lent): (WinCall, WinId, Bytes),
        comm: CommId,
    ) -> Result<WindowCall, Fault> {
        let parent = mpi.communicators.find(rank, comm)?;
        let agreement = rootless(CollectiveKind::Allreduce, Bytes(4));
        let communicator = mpi.communicators.get(parent);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        let me = members.place(rank).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() })?;
        let number = mpi.communicators.next_collective(parent, me);
        let shared = call == WinCall::AllocateShared;
        if shared && me == 0 {
            let host = |member| mpi.core(members.rank(member)).host;
            let is_scattered = (1..members.len() as u32).any(|member| host(member) != host(0));
            mpi.warnings.scattered_windows += u64::from(is_scattered);
        }
        let communicators = &mut mpi.communicators;
        let own = || {
            let comm = communicators.create_for_window(&members);
            let communicator = communicators.get(comm);
            (comm, communicator.context, Rc::clone(&communicator.members))
        };
        let window = self.windows.create((rank, id), (context, number), shared, own);
        // Memory is attached to a dynamic window later.
        self.windows.side(window, rank).lent = (call != WinCall::CreateDynamic).then_some(lent);
        let comm = self.windows.get(window).comm;
        let description = rootless(CollectiveKind::Allgather, DESCRIPTION);
        let steps = vec![
            SynchronisationStep::Collective(parent, agreement),
            SynchronisationStep::Collective(comm, description),
        ];
        Ok(WindowCall { word: call.word(), window, id, steps })
    }

    fn free_window(&self, rank: Rank, id: WinId) -> Result<WindowCall, Fault> {
        let window = self.windows.find(rank, id)?;
        let comm = self.windows.get(window).comm;
        let barrier = Collective::barrier(CommId::WORLD);
        let steps = vec![SynchronisationStep::Collective(comm, barrier), SynchronisationStep::Free];
        Ok(WindowCall { word: "win_free", window, id, steps })
    }

    /// Removes a window that no rank uses any more.
    fn forget_window(&mut self, mpi: &mut Mpi<impl Observer>, window: WindowIndex) {
        if let Some(comm) = self.windows.forget(window) {
            mpi.communicators.forget(comm);
        }
    }

    fn member(&self, window: WindowIndex, rank: Rank) -> Result<(), Fault> {
        let members = &self.windows.get(window).members;
        members.place(rank).map(|_| ()).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() })
    }

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
        let communicator = communicator(self.windows.get(window).context);
        WindowWait { id, rank, communicator, condition }
    }

    fn asks_for_shared_lock(&self, window: WindowIndex, rank: Rank, target: Rank) -> bool {
        let lock = self.windows.look(window, rank).targets.get(&target).map(|target| target.lock);
        lock == Some(LockState::Asked(LockKind::Shared))
    }

    /// The condition that a member waits for, in words, and the rank that could make it hold.
    pub(super) fn describe(&self, window: WindowIndex, rank: Rank, condition: Condition) -> (String, Option<Actor>) {
        let windows = &self.windows;
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
                let leader = windows.leader(window);
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
