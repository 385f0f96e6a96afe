//! Synchronisations in progress: each caller executes the steps of its call.

use std::rc::Rc;

use titr_common::event::{Actor, Assert, Rank, Synchronisation, WinId, WinSync};
use titr_common::program::Fault;

use super::windows::Content;
use crate::observe::{Observer, OperationId};
use crate::ranks::ids::{SynchronisationIndex, WindowIndex};
use crate::ranks::library::Library;
use crate::ranks::one_sided::windows::steps::{self, SynchronisationInstance, SynchronisationStep};
use crate::ranks::one_sided::windows::window::LockState;
use crate::ranks::operation::OperationKind;
use crate::ranks::scheduler::{Clock, Waiter};
use crate::ranks::thread::Thread;

impl<O: Observer> Library<'_, O> {
    /// A call that separates accesses.
    pub(in crate::ranks) fn synchronise(&mut self, thread: &mut Thread, call: &Synchronisation) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let window = self.one_sided.windows.find(rank, call.win)?;
        call.ranks.iter().try_for_each(|&named| self.member(window, named))?;
        let state = self.one_sided.windows.get(window);
        let (comm, members) = (state.comm, Rc::clone(&state.members));
        if !self.causality.has_receives() && call.call != WinSync::Fence {
            return Ok(());
        }
        self.prepare(window, rank, call);
        let members = (0..members.len() as u32).map(|member| members.rank(member));
        let side = self.one_sided.windows.side(window, rank);
        let steps = steps::steps(call, side, (comm, members), self.one_sided.parameters);
        if call.call == WinSync::Fence {
            self.unpark(window, rank);
        }
        self.begin(thread, call.call.word(), (window, call.win), steps)
    }

    /// The part of a synchronisation that is done at once.
    fn prepare(&mut self, window: WindowIndex, rank: Rank, call: &Synchronisation) {
        let no_check = call.asserts.has(Assert::NoCheck);
        let side = self.one_sided.windows.side(window, rank);
        match call.call {
            WinSync::Post => {
                side.exposed.clone_from(&call.ranks);
                if !no_check {
                    call.ranks.iter().for_each(|&origin| self.tell(window, rank, origin, Content::Post));
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
            WinSync::Fence
            | WinSync::Complete
            | WinSync::Wait
            | WinSync::Test
            | WinSync::Lock
            | WinSync::LockShared
            | WinSync::LockAll
            | WinSync::Unlock
            | WinSync::UnlockAll
            | WinSync::Flush
            | WinSync::FlushAll
            | WinSync::FlushLocal
            | WinSync::FlushLocalAll => {}
        }
    }

    /// A thread begins to take the steps of a call, and waits until they are taken.
    pub(super) fn begin(
        &mut self,
        thread: &mut Thread,
        word: &'static str,
        (window, id): (WindowIndex, WinId),
        steps: Vec<SynchronisationStep>,
    ) -> Result<(), Fault> {
        let operation = self.exchange.operations.open(OperationKind::Synchronisation);
        let clock = Clock { time: self.now, awaited: 0 };
        let (index, actor) = (thread.index, thread.actor);
        let instance =
            SynchronisationInstance { thread: index, actor, word, window, id, steps, next: 0, clock, operation };
        let index = SynchronisationIndex(self.one_sided.calls.insert(instance) as u32);
        self.observer.began(self.now, Waiter::Synchronisation(index), actor.rank);
        self.advance_synchronisation(index)?;
        self.wait_for(thread, Some(operation));
        Ok(())
    }

    /// Takes steps of a synchronisation until one has to wait.
    pub(in crate::ranks) fn advance_synchronisation(&mut self, index: SynchronisationIndex) -> Result<(), Fault> {
        let at = index.0 as usize;
        loop {
            let instance = &self.one_sided.calls[at];
            let step = instance.steps.get(instance.next);
            if instance.clock.awaited > 0 {
                let last = instance.next.checked_sub(1).and_then(|last| instance.steps.get(last));
                let (Some(SynchronisationStep::Await(_)), Some(SynchronisationStep::Await(_))) = (last, step) else {
                    return Ok(());
                };
            }
            let Some(step) = step.cloned() else { break };
            self.one_sided.calls[at].next += 1;
            self.take_step(index, step)?;
        }
        let SynchronisationInstance { operation, .. } = self.one_sided.calls.remove(at);
        self.observer.completed(self.now, operation);
        self.observer.ended(Waiter::Synchronisation(index));
        self.exchange.operations.complete(operation);
        Ok(())
    }

    fn take_step(&mut self, index: SynchronisationIndex, step: SynchronisationStep) -> Result<(), Fault> {
        let &SynchronisationInstance { actor: Actor { rank, .. }, word, window, id, .. } =
            &self.one_sided.calls[index.0 as usize];
        let side = self.one_sided.windows.side(window, rank);
        match step {
            SynchronisationStep::Collective(comm, collective) => {
                let operation = self.start_collective_as(word, rank, comm, &collective)?;
                self.wait_within(index, operation);
            }
            SynchronisationStep::Await(condition) => {
                if !side.holds(condition) {
                    let kind = OperationKind::Condition(window, rank, condition);
                    let operation = self.exchange.operations.open(kind);
                    side.waiting.entry(condition).or_default().push(operation);
                    let wait = self.window_wait(window, rank, condition, operation);
                    self.observer.window_awaited(self.now, wait);
                    self.wait_within(index, operation);
                }
            }
            SynchronisationStep::Ask(target, kind) => self.ask(window, rank, target, kind),
            SynchronisationStep::Release(target) => {
                let known = side.target(target);
                let lock = std::mem::take(&mut known.lock);
                known.held_back = false;
                if let LockState::Held(_) = lock {
                    if self.one_sided.parameters.await_unlock {
                        self.one_sided.windows.side(window, rank).target(target).releasing += 1;
                    }
                    self.tell(window, rank, target, Content::Release);
                }
            }
            SynchronisationStep::AskLeader(class) => {
                side.leader_asked += 1;
                let leader = self.one_sided.windows.get(window).members.rank(0);
                self.tell(window, rank, leader, Content::AskLeader(class));
            }
            SynchronisationStep::ReleaseLeader => {
                let leader = self.one_sided.windows.get(window).members.rank(0);
                self.tell(window, rank, leader, Content::ReleaseLeader);
            }
            SynchronisationStep::Complete(target) => {
                side.started.retain(|&started| started != target);
                side.target(target).accessed = false;
                self.tell(window, rank, target, Content::Complete);
            }
            SynchronisationStep::Completed(origin) => {
                let completes = &mut side.origin(origin).completes;
                *completes = completes.saturating_sub(1);
            }
            SynchronisationStep::Free => {
                self.one_sided.windows.free(rank, id, window);
                self.forget_window(window);
            }
        }
        Ok(())
    }

    /// Lets the accesses act that have waited for a fence of this rank.
    fn unpark(&mut self, window: WindowIndex, rank: Rank) {
        let parked = std::mem::take(&mut self.one_sided.windows.side(window, rank).parked);
        parked.into_iter().for_each(|message| self.finish_message(message));
    }

    fn wait_within(&mut self, index: SynchronisationIndex, operation: OperationId) {
        let Self { exchange, one_sided, now, observer, .. } = self;
        let clock = &mut one_sided.calls[index.0 as usize].clock;
        exchange.wait_for(Some(operation), Waiter::Synchronisation(index), clock, *now, observer);
    }
}
