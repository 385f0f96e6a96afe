//! The steps of each synchronisation, by library.
//!
//! Consecutive conditions are waited for together.

use titr_common::event::{Assert, Collective, CommId, Rank, Synchronisation, WinId, WinSync};
use titr_common::program::CommIndex;
use titr_platform::{ActiveTarget, LockAll, OneSided};

use super::window::{AllLocked, LockClass, LockKind, LockState, Side, Target};
use crate::observe::OperationId;
use crate::ranks::ids::{ThreadIndex, WindowIndex};
use crate::ranks::operation::Condition;
use crate::ranks::scheduler::BackgroundWork;

#[derive(Clone, Debug)]
pub(super) enum SynchronisationStep {
    /// All members of a communicator take part in a collective.
    Collective(CommIndex, Collective),
    /// The caller waits until a condition holds.
    Await(Condition),
    /// The caller requests the lock of a target.
    Ask(Rank, LockKind),
    /// The caller gives the lock of a target back.
    Release(Rank),
    /// The caller asks the first member for the lock of the whole window.
    AskLeader(LockClass),
    /// The caller gives the lock of the whole window back.
    ReleaseLeader,
    /// The caller tells a target that it has completed its accesses.
    Complete(Rank),
    /// The caller takes note that an origin has completed its accesses.
    Completed(Rank),
    /// The caller has freed the window.
    Free,
}

/// The steps of a synchronisation by the caller, who knows `side` of a window with these members and communicator.
pub(super) fn steps(
    call: &Synchronisation,
    side: &mut Side,
    (comm, members): (CommIndex, impl Iterator<Item = Rank>),
    parameters: &OneSided,
) -> Vec<SynchronisationStep> {
    let no_check = call.asserts.has(Assert::NoCheck);
    let named = || call.ranks.iter().copied();
    match call.call {
        WinSync::Fence => fence(side, comm, parameters),
        WinSync::Post => Vec::new(),
        WinSync::Start => awaits(&side.started, Condition::Posted).collect(),
        WinSync::Complete => complete(&side.started, parameters),
        WinSync::Wait | WinSync::Test => {
            let exposed = std::mem::take(&mut side.exposed);
            let awaited = exposed.iter().map(|&rank| SynchronisationStep::Await(Condition::Completed(rank)));
            awaited.chain(exposed.iter().map(|&rank| SynchronisationStep::Completed(rank))).collect()
        }
        WinSync::Lock => named().flat_map(|rank| lock(rank, LockKind::Exclusive, no_check, side, parameters)).collect(),
        WinSync::LockShared => {
            named().flat_map(|rank| lock(rank, LockKind::Shared, no_check, side, parameters)).collect()
        }
        WinSync::LockAll => lock_all(no_check, side, members, parameters),
        WinSync::Unlock => named().flat_map(|rank| unlock(rank, side, parameters)).collect(),
        WinSync::UnlockAll => unlock_all(side),
        WinSync::Flush => flush(&call.ranks, side),
        WinSync::FlushAll => flush(&accessed(side), side),
        WinSync::FlushLocal => flush_local(&call.ranks),
        WinSync::FlushLocalAll => flush_local(&accessed(side)),
    }
}

/// The targets that the caller has accessed since the last flush or unlock.
fn accessed(side: &Side) -> Vec<Rank> {
    side.targets.iter().filter(|(_, target)| target.accessed).map(|(&rank, _)| rank).collect()
}

fn each(ranks: &[Rank], step: impl Fn(Rank) -> SynchronisationStep) -> impl Iterator<Item = SynchronisationStep> {
    ranks.iter().map(move |&rank| step(rank))
}

fn awaits(ranks: &[Rank], condition: fn(Rank) -> Condition) -> impl Iterator<Item = SynchronisationStep> {
    each(ranks, move |rank| SynchronisationStep::Await(condition(rank)))
}

fn fence(side: &mut Side, comm: CommIndex, parameters: &OneSided) -> Vec<SynchronisationStep> {
    let epoch = side.fences;
    side.fences += 1;
    let targets = accessed(side);
    side.targets.values_mut().for_each(|target| target.accessed = false);
    let mut steps: Vec<SynchronisationStep> = awaits(&targets, Condition::Local).collect();
    if parameters.active_target == ActiveTarget::Acknowledged {
        steps.extend(awaits(&targets, Condition::Remote));
    }
    steps.push(SynchronisationStep::Collective(comm, Collective::barrier(CommId::WORLD)));
    steps.push(SynchronisationStep::Await(Condition::Arrived(epoch)));
    steps
}

fn complete(targets: &[Rank], parameters: &OneSided) -> Vec<SynchronisationStep> {
    let mut steps: Vec<SynchronisationStep> = awaits(targets, Condition::Local).collect();
    if parameters.active_target == ActiveTarget::Acknowledged {
        steps.extend(awaits(targets, Condition::Remote));
    }
    steps.extend(each(targets, SynchronisationStep::Complete));
    steps
}

fn lock(
    rank: Rank,
    kind: LockKind,
    no_check: bool,
    side: &mut Side,
    parameters: &OneSided,
) -> Vec<SynchronisationStep> {
    let target = side.target(rank);
    if no_check {
        target.lock = LockState::Unchecked;
        return Vec::new();
    }
    let asks_leader = parameters.lock_all == LockAll::Leader && kind == LockKind::Exclusive;
    let mut steps = Vec::new();
    if asks_leader {
        steps.extend([
            SynchronisationStep::AskLeader(LockClass::Exclusive),
            SynchronisationStep::Await(Condition::Leader),
        ]);
    }
    steps.extend([SynchronisationStep::Ask(rank, kind), SynchronisationStep::Await(Condition::Granted(rank))]);
    steps
}

fn lock_all(
    no_check: bool,
    side: &mut Side,
    members: impl Iterator<Item = Rank>,
    parameters: &OneSided,
) -> Vec<SynchronisationStep> {
    let way = match parameters.lock_all {
        _ if no_check => AllLocked::Unchecked,
        LockAll::Each => AllLocked::Asked,
        LockAll::Leader => AllLocked::Leader,
    };
    side.all = Some(way);
    match way {
        AllLocked::Unchecked => Vec::new(),
        AllLocked::Leader => {
            vec![SynchronisationStep::AskLeader(LockClass::All), SynchronisationStep::Await(Condition::Leader)]
        }
        AllLocked::Asked => {
            let members: Vec<Rank> = members.collect();
            let asks = each(&members, |rank| SynchronisationStep::Ask(rank, LockKind::Shared));
            asks.chain(awaits(&members, Condition::Granted)).collect()
        }
    }
}

/// The steps after which all accesses to these targets are done there.
fn flush(ranks: &[Rank], side: &mut Side) -> Vec<SynchronisationStep> {
    ranks.iter().for_each(|&rank| side.target(rank).accessed = false);
    let mut steps: Vec<SynchronisationStep> = awaits(ranks, Condition::Granted).collect();
    steps.extend(awaits(ranks, Condition::Remote));
    steps.extend(awaits(ranks, Condition::Local));
    steps
}

fn flush_local(ranks: &[Rank]) -> Vec<SynchronisationStep> {
    awaits(ranks, Condition::Granted).chain(awaits(ranks, Condition::Local)).collect()
}

fn unlock(rank: Rank, side: &mut Side, parameters: &OneSided) -> Vec<SynchronisationStep> {
    let lock = side.target(rank).lock;
    let mut steps = flush(&[rank], side);
    steps.push(SynchronisationStep::Release(rank));
    if matches!(lock, LockState::Asked(LockKind::Exclusive) | LockState::Held(LockKind::Exclusive))
        && parameters.lock_all == LockAll::Leader
    {
        steps.push(SynchronisationStep::ReleaseLeader);
    }
    steps.push(SynchronisationStep::Await(Condition::Released(rank)));
    steps
}

fn unlock_all(side: &mut Side) -> Vec<SynchronisationStep> {
    let all = side.all.take();
    let is_used = |target: &Target| target.accessed || target.lock != LockState::None;
    let ranks: Vec<Rank> = side.targets.iter().filter(|(_, target)| is_used(target)).map(|(&rank, _)| rank).collect();
    let mut steps = flush(&accessed(side), side);
    steps.extend(each(&ranks, SynchronisationStep::Release));
    if all == Some(AllLocked::Leader) {
        steps.push(SynchronisationStep::ReleaseLeader);
    }
    steps.extend(awaits(&ranks, Condition::Released));
    steps
}

/// A call on a window whose caller has to wait, and its steps.
pub(super) struct WindowCall {
    pub(super) word: &'static str,
    pub(super) window: WindowIndex,
    pub(super) id: WinId,
    pub(super) steps: Vec<SynchronisationStep>,
}

/// A synchronisation of one thread, until the thread is runnable.
pub(in crate::ranks) struct SynchronisationInstance {
    pub(in crate::ranks) caller: ThreadIndex,
    pub(super) call: WindowCall,
    pub(super) next: usize,
    pub(in crate::ranks) work: BackgroundWork,
    /// The operation that the thread waits for.
    pub(super) operation: OperationId,
}
