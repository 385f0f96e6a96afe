//! One-sided calls in the traced part of a program.
//!
//! All members create and free a window in the trace, independent of the beginning of the part. The *n*-th window that
//! is created from a communicator is the same for all its members, and so is the *n*-th fence on it. A `start` names
//! its targets and a `post` its origins, and the *n*-th of a pair correspond. Locks depend on no other rank, but locks
//! held at the end of the part must not make others wait.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::correspondence::{
    CommKey, Correspondence, CorrespondenceSide, Counterparts, Exposure, SizedComm, WinKey, next,
};
use crate::event::{Access, Asserts, Event, OneSided, Rank, Synchronisation, WinId, WinSync};

/// A window as one rank uses it in the trace.
#[derive(Debug)]
struct TracedWindow {
    key: WinKey,
    members: u32,
    /// The targets of the access epoch that began in the trace, except those whose exposure epoch is not in the trace.
    started: Option<Vec<Rank>>,
    /// The origins of the exposure epoch, except those whose access epoch is not in the trace.
    posted: Option<Vec<Rank>>,
    /// The targets whose locks were taken in the trace and not given back, and whether all at once were.
    locked: Vec<Rank>,
    all_locked: bool,
}

/// The windows of one rank.
#[derive(Debug)]
pub(super) struct Windows {
    rank: Rank,
    windows: BTreeMap<WinId, TracedWindow>,
    /// The number of windows that were created on each communicator.
    made: FxHashMap<CommKey, u32>,
}

impl Windows {
    pub(super) fn new(rank: Rank) -> Self {
        Self { rank, windows: BTreeMap::new(), made: FxHashMap::default() }
    }

    pub(super) fn create(&mut self, win: WinId, SizedComm { key, size }: SizedComm) {
        let key = WinKey(key, next(&mut self.made, key));
        let (started, posted) = (None, None);
        let window = TracedWindow { key, members: size, started, posted, locked: Vec::new(), all_locked: false };
        self.windows.insert(win, window);
    }

    /// Returns whether the window was known.
    pub(super) fn free(&mut self, win: WinId) -> bool {
        self.windows.remove(&win).is_some()
    }

    /// The synchronisation to keep; `None` if it is left out.
    pub(super) fn synchronise(
        &mut self,
        call: Synchronisation,
        judge: &mut impl Counterparts,
    ) -> Option<Synchronisation> {
        let rank = self.rank;
        let window = self.windows.get_mut(&call.win)?;
        let key = window.key;
        let is_there = match call.call {
            WinSync::Fence => {
                return judge
                    .meets(Correspondence::Fence(key), CorrespondenceSide(rank.0), window.members)
                    .then_some(call);
            }
            WinSync::Start | WinSync::Post => {
                let (side, epoch) = match call.call {
                    WinSync::Start => (CorrespondenceSide::SENDER, &mut window.started),
                    _ => (CorrespondenceSide::RECEIVER, &mut window.posted),
                };
                let meets = |&other: &Rank| {
                    let is_origin = side == CorrespondenceSide::SENDER;
                    let (origin, target) = if is_origin { (rank, other) } else { (other, rank) };
                    let exposure = Correspondence::Exposure(Exposure { win: key, origin, target });
                    judge.meets(exposure, side, CorrespondenceSide::OF_MESSAGE)
                };
                let ranks: Vec<Rank> = call.ranks.into_iter().filter(meets).collect();
                *epoch = Some(ranks.clone());
                return (!ranks.is_empty()).then_some(Synchronisation { ranks, ..call });
            }
            WinSync::Complete => window.started.take().is_some_and(|ranks| !ranks.is_empty()),
            WinSync::Wait | WinSync::Test => window.posted.take().is_some_and(|ranks| !ranks.is_empty()),
            WinSync::Lock | WinSync::LockShared => {
                window.locked.extend(&call.ranks);
                true
            }
            WinSync::LockAll => {
                window.all_locked = true;
                true
            }
            // If the lock was taken before the part, the accesses in the part end here nevertheless.
            WinSync::Unlock => {
                window.locked.retain(|locked| !call.ranks.contains(locked));
                true
            }
            WinSync::UnlockAll => {
                window.all_locked = false;
                true
            }
            WinSync::Flush | WinSync::FlushAll | WinSync::FlushLocal | WinSync::FlushLocalAll => true,
        };
        is_there.then_some(call)
    }

    /// Whether an access is kept: its target exposes the window in the trace, or does not have to.
    pub(super) fn accesses(&self, access: &Access) -> bool {
        let window = self.windows.get(&access.win);
        window.is_some_and(|window| window.started.as_ref().is_none_or(|started| started.contains(&access.target)))
    }

    /// The calls that end a rank's open epochs, so that no rank waits for it after the part.
    pub(super) fn end_epochs(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for (&win, window) in &mut self.windows {
            let mut end = |call, ranks| {
                events.push(Event::OneSided(OneSided::Sync(Synchronisation {
                    call,
                    win,
                    ranks,
                    asserts: Asserts::default(),
                })));
            };
            if window.started.take().is_some_and(|targets| !targets.is_empty()) {
                end(WinSync::Complete, Vec::new());
            }
            window.locked.drain(..).for_each(|target| end(WinSync::Unlock, vec![target]));
            if std::mem::take(&mut window.all_locked) {
                end(WinSync::UnlockAll, Vec::new());
            }
        }
        events
    }

    /// The series that calls on a window outside of the trace are of.
    pub(super) fn fences(&self, win: WinId) -> Option<(Correspondence, CorrespondenceSide)> {
        let window = self.windows.get(&win)?;
        Some((Correspondence::Fence(window.key), CorrespondenceSide(self.rank.0)))
    }

    pub(super) fn exposures(
        &self,
        win: WinId,
        origin: Rank,
        target: Rank,
        side: CorrespondenceSide,
    ) -> Option<(Correspondence, CorrespondenceSide)> {
        let win = self.windows.get(&win)?.key;
        Some((Correspondence::Exposure(Exposure { win, origin, target }), side))
    }
}
