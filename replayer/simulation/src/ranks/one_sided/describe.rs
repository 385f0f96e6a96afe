//! The conditions that members of a window wait for, in words.

use titr_common::event::{Actor, Rank};

use crate::observe::Observer;
use crate::ranks::ids::WindowIndex;
use crate::ranks::library::Library;
use crate::ranks::operation::Condition;
use crate::ranks::windows::lock::LockKind;
use crate::ranks::windows::window::LockState;

impl<O: Observer> Library<'_, O> {
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
                let kind = match windows.look(window, rank).targets.get(&target).map(|target| target.lock) {
                    Some(LockState::Asked(LockKind::Shared)) => "a shared lock",
                    _ => "an exclusive lock",
                };
                let holder = windows.look(window, target).lock.holders().find(|&holder| holder != rank);
                (format!("{kind} on rank {} in {on}{}", target.0, held_by(holder)), holder.or(Some(target)))
            }
            Condition::Leader => {
                let leader = members.rank(0);
                let holder = windows.look(window, leader).leader.holders().find(|&holder| holder != rank);
                (format!("the lock of all ranks in {on}{}", held_by(holder)), holder.or(Some(leader)))
            }
            Condition::Released(target) => (format!("rank {} to release its lock in {on}", target.0), Some(target)),
            Condition::Local(target) | Condition::Remote(target) | Condition::Flushed(target) => {
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
