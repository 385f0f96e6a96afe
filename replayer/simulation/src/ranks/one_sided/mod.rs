//! One-sided communication (MPI 4.0 §12).
//!
//! # Vocabulary
//! An **origin** accesses the memory of a **target** in a **window**. An access is done **locally** when the origin may use
//! its own memory again, and **remotely** when it has taken place at the target. **Synchronisations** separate accesses: with
//! an *active* target both sides call them (fence; post, start, complete, wait), with a *passive* one the origin alone (lock,
//! flush, unlock). An **epoch** is what lies between two.
//!
//! # Parts
//! * [`windows`](super::windows): which window a rank means, what each member knows, the locks that targets keep, and which
//!   steps a synchronisation is made of, by what the library does ([`titr_platform::OneSided`]).
//! * [`access`]: when an access sets out. A put is a message from origin to target; a get is a small request and a message
//!   back; an access that does both is a message each way.
//! * [`active_message`]: the messages that accesses and synchronisations are made of, and what each does when it arrives.
//!   They travel by the network model, as all messages do.
//! * [`synchronisation`]: taking the steps of a synchronisation, and waiting between them.
//!
//! # What is simulated
//! * Every access and every synchronisation, for windows of all kinds. Making a window costs an allreduce of 4 bytes, for the
//!   communicator that the window has of its own, and an allgather of 24 bytes a member: address, size and unit. Freeing it
//!   costs a barrier.
//! * Where the library emulates one-sided communication over messages, a target acts only while it is in a call of MPI. Its
//!   messages wait for that otherwise. The memory of a shared window is reached without its owner.
//! * A fence is a barrier after which all accesses of the epoch are done on both sides.
//! * Loads and stores of a program are computation, also those to the memory of others in shared windows.

mod access;
mod active_message;
mod describe;
mod synchronisation;

use std::rc::Rc;

use titr_common::event::{Collective, CollectiveKind, CommId, OneSided as Event, Rank, WinCall, WinId};
use titr_common::program::Fault;
use titr_common::units::Bytes;

use super::ids::WindowIndex;
use super::library::Library;
use super::thread::Thread;
use super::windows::steps::{SynchronisationStep, collective};
use crate::observe::Observer;

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

    /// Forgets a window that nobody has any more.
    fn forget_window(&mut self, window: WindowIndex) {
        if let Some(comm) = self.one_sided.windows.forget(window) {
            self.communicators.forget(comm);
        }
    }

    /// Whether a rank is a member of a window.
    fn member(&self, window: WindowIndex, rank: Rank) -> Result<(), Fault> {
        let members = &self.one_sided.windows.get(window).members;
        members.place(rank).map(|_| ()).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() })
    }
}
