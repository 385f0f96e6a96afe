//! Synchronisations in progress: each caller executes the steps of its call.

use std::rc::Rc;

use titr_common::event::{Assert, Rank, Synchronisation, WinSync};
use titr_common::program::Fault;

use super::OneSided;
use super::active_message::Content;
use super::steps::{self, SynchronisationInstance, SynchronisationStep, WindowCall};
use super::window::{LockState, Pair};
use crate::observe::{Observer, OperationId};
use crate::ranks::collectives::Collectives;
use crate::ranks::ids::{SynchronisationIndex, WindowIndex};
use crate::ranks::mpi::Mpi;
use crate::ranks::operation::OperationKind;
use crate::ranks::scheduler::{BackgroundWork, Waiter};
use crate::ranks::thread::Thread;

impl OneSided<'_> {
    /// A call that separates accesses; `None` if it has nothing to wait for.
    pub(super) fn synchronise(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        rank: Rank,
        call: &Synchronisation,
    ) -> Result<Option<WindowCall>, Fault> {
        let window = self.windows.find(rank, call.win)?;
        call.ranks.iter().try_for_each(|&named| self.member(window, named))?;
        let state = self.windows.get(window);
        let (comm, members) = (state.comm, Rc::clone(&state.members));
        if !mpi.causality().has_receives() && call.call != WinSync::Fence {
            return Ok(None);
        }
        self.prepare(mpi, window, rank, call);
        let members = (0..members.len() as u32).map(|member| members.rank(member));
        let side = self.windows.side(window, rank);
        let steps = steps::steps(call, side, (comm, members), self.parameters);
        if call.call == WinSync::Fence {
            self.unpark(mpi, window, rank);
        }
        Ok(Some(WindowCall { word: call.call.word(), window, id: call.win, steps }))
    }

    /// The part of a synchronisation that is done at once.
    fn prepare(&mut self, mpi: &mut Mpi<impl Observer>, window: WindowIndex, rank: Rank, call: &Synchronisation) {
        let pair = |to| Pair { window, from: rank, to };
        let no_check = call.asserts.has(Assert::NoCheck);
        let side = self.windows.side(window, rank);
        match call.call {
            WinSync::Post => {
                side.exposed.clone_from(&call.ranks);
                if !no_check {
                    call.ranks.iter().for_each(|&origin| self.tell(mpi, pair(origin), Content::Post));
                }
            }
            WinSync::Start => {
                side.started.clone_from(&call.ranks);
                for &target in call.ranks.iter().filter(|_| !no_check) {
                    let target = side.target(target);
                    target.held_back = target.posts == 0;
                    target.posts = target.posts.saturating_sub(1);
                }
            }
            _ => {}
        }
    }

    /// A thread begins to take the steps of a call, and waits until they are taken.
    pub(super) fn begin(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        thread: &mut Thread,
        call: WindowCall,
    ) -> Result<(), Fault> {
        let operation = mpi.open(OperationKind::Background);
        let (work, caller) = (BackgroundWork::new(thread.actor, mpi.now()), thread.index);
        let instance = SynchronisationInstance { caller, call, next: 0, work, operation };
        let index = SynchronisationIndex(self.calls.insert(instance) as u32);
        mpi.observer.began(mpi.now(), Waiter::Synchronisation(index), thread.actor.rank);
        self.advance_synchronisation(mpi, collectives, index)?;
        mpi.wait_for(thread, Some(operation));
        Ok(())
    }

    /// Takes steps of a synchronisation until one has to wait.
    pub(in crate::ranks) fn advance_synchronisation(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        index: SynchronisationIndex,
    ) -> Result<(), Fault> {
        let at = index.0 as usize;
        loop {
            let instance = &self.calls[at];
            let step = instance.call.steps.get(instance.next);
            if instance.work.clock.awaited > 0 {
                let last = instance.next.checked_sub(1).and_then(|last| instance.call.steps.get(last));
                let (Some(SynchronisationStep::Await(_)), Some(SynchronisationStep::Await(_))) = (last, step) else {
                    return Ok(());
                };
            }
            let Some(step) = step.cloned() else { break };
            self.calls[at].next += 1;
            self.take_step(mpi, collectives, index, step)?;
        }
        let SynchronisationInstance { operation, .. } = self.calls.remove(at);
        mpi.complete(operation);
        mpi.observer.ended(Waiter::Synchronisation(index));
        Ok(())
    }

    fn take_step(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        index: SynchronisationIndex,
        step: SynchronisationStep,
    ) -> Result<(), Fault> {
        let SynchronisationInstance { work, call: WindowCall { word, window, id, .. }, .. } =
            &self.calls[index.0 as usize];
        let (word, window, id) = (*word, *window, *id);
        let rank = work.actor.rank;
        let pair = |to| Pair { window, from: rank, to };
        let side = self.windows.side(window, rank);
        match step {
            SynchronisationStep::Collective(comm, collective) => {
                let operation = collectives.start_as(mpi, word, rank, comm, &collective)?;
                self.wait_within(mpi, index, operation);
            }
            SynchronisationStep::Await(condition) => {
                if !side.holds(condition) {
                    let kind = OperationKind::Condition(window, rank, condition);
                    let operation = mpi.open(kind);
                    side.waiting.entry(condition).or_default().push(operation);
                    let wait = self.window_wait(window, rank, condition, operation);
                    mpi.observer.window_awaited(mpi.now(), wait);
                    self.wait_within(mpi, index, operation);
                }
            }
            SynchronisationStep::Ask(target, kind) => self.ask(mpi, pair(target), kind),
            SynchronisationStep::Release(target) => {
                let known = side.target(target);
                let lock = std::mem::take(&mut known.lock);
                known.held_back = false;
                if let LockState::Held(_) = lock {
                    if self.parameters.await_unlock {
                        self.windows.side(window, rank).target(target).releasing += 1;
                    }
                    self.tell(mpi, pair(target), Content::Release);
                }
            }
            SynchronisationStep::AskLeader(class) => {
                side.leader_asked += 1;
                self.tell(mpi, pair(self.windows.leader(window)), Content::AskLeader(class));
            }
            SynchronisationStep::ReleaseLeader => {
                self.tell(mpi, pair(self.windows.leader(window)), Content::ReleaseLeader);
            }
            SynchronisationStep::Complete(target) => {
                side.started.retain(|&started| started != target);
                side.target(target).accessed = false;
                self.tell(mpi, pair(target), Content::Complete);
            }
            SynchronisationStep::Completed(origin) => {
                let completes = &mut side.origin(origin).completes;
                *completes = completes.saturating_sub(1);
            }
            SynchronisationStep::Free => {
                self.windows.free(rank, id, window);
                self.forget_window(mpi, window);
            }
        }
        Ok(())
    }

    /// Lets the accesses act that have waited for a fence of this rank.
    fn unpark(&mut self, mpi: &mut Mpi<impl Observer>, window: WindowIndex, rank: Rank) {
        let parked = std::mem::take(&mut self.windows.side(window, rank).parked);
        parked.into_iter().for_each(|message| self.finish_message(mpi, message));
    }

    fn wait_within(&mut self, mpi: &mut Mpi<impl Observer>, index: SynchronisationIndex, operation: OperationId) {
        let clock = &mut self.calls[index.0 as usize].work.clock;
        mpi.wait(Waiter::Synchronisation(index), clock, Some(operation));
    }
}
