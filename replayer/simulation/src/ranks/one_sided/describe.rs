//! The conditions that members of a window wait for, in words and as observers see them.

use titr_common::event::{Actor, Rank};

use crate::observe::{Observer, OperationId, WindowCondition, WindowWait};
use crate::ranks::ids::WindowIndex;
use crate::ranks::library::Library;
use crate::ranks::one_sided::windows::window::{LockKind, LockState};
use crate::ranks::operation::Condition;
use crate::ranks::point_to_point::envelope::communicator;

impl<O: Observer> Library<'_, O> {
    /// The wait of a member for a condition, as observers hear of it.
    pub(super) fn window_wait(
        &self,
        window: WindowIndex,
        rank: Rank,
        condition: Condition,
        id: OperationId,
    ) -> WindowWait {
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
