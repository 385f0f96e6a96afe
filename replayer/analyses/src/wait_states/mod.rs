//! Wait states: which threads wait, for how long, why, and because of which ranks.
//!
//! A wait is the time that a thread spends in a call until it can continue. A call that waits for several operations
//! has one wait, in one or more pieces. The operation that ends the last piece, the **binding** one, explains all of
//! it. Its reason is a [pattern](Pattern), or several in succession: a late sender, then the transfer of the message.

mod delays;
mod findings;
mod operations;
mod rounds;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use titr_common::event::Rank;
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_network::TransferId;
use titr_simulation::observe::{
    CollectiveCall, CommunicatorId, Observer, OperationId, Receive, SentMessage, ThreadIndex, Waiter, WindowCondition,
    WindowWait,
};

use crate::analysis::AnalysisKind;
use crate::causes::{CausalChains, Causes, ChainEnd, PlaceId, Segment, Wait, WaitListener};
use crate::findings::{Pattern, SegmentKind};
use delays::Delays;
use operations::OpenOperations;

/// Wait states, under this name.
pub(crate) const WAIT_STATES: AnalysisKind =
    AnalysisKind { name: "wait-states", new: |ranks| Box::new(CausalChains::new(ranks, WaitStates::new(ranks))) };

/// The waits of a replay.
#[derive(Debug, Default)]
pub(super) struct WaitStates {
    /// The start of the current call of each rank's main thread.
    entered: Vec<Time>,
    /// The waiter whose turn it is, unless it is a message's.
    turn: Option<Waiter>,
    operations: OpenOperations,
    /// The last wait of each waiter within a call: its explanation.
    within: FxHashMap<Waiter, Explanation>,
    /// The waits of threads that have not gone on yet.
    waits: FxHashMap<ThreadIndex, ThreadWait>,
    severity: FxHashMap<WaitPlace, u64>,
    /// For late members and for the collective's own messages, in picoseconds, by the collective's name.
    collectives: BTreeMap<&'static str, [u64; 2]>,
    delays: Delays,
}

/// The place of waiting in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct WaitPlace {
    rank: Rank,
    place: PlaceId,
    communicator: Option<CommunicatorId>,
    pattern: Pattern,
}

/// A wait of a thread, so far.
#[derive(Debug)]
struct ThreadWait {
    rank: Rank,
    place: PlaceId,
    /// The intervals in which the thread has waited, in order.
    pieces: SmallVec<[(Time, Time); 1]>,
    /// The thread's own chain when the wait began.
    own: ChainEnd,
    /// The cause of the end of the last piece; `None`: it is not known, and of the second kind.
    cause: Result<ChainEnd, SegmentKind>,
    explanation: Explanation,
}

/// Communicators that have findings of their own.
const OWN_FINDINGS: u32 = 64;

impl WaitStates {
    fn new(ranks: u32) -> Self {
        Self { entered: vec![Time::ZERO; ranks as usize], ..Self::default() }
    }

    /// The explanation of a wait that ends now.
    fn explain(&self, wait: &Wait) -> Explanation {
        match wait.operation {
            Some(operation) => {
                self.operations.explanation(operation).unwrap_or_else(|| Explanation::of(Pattern::Storage))
            }
            // A thread of the same rank releases it, or a message has arrived that it probes for.
            None => match self.turn {
                Some(Waiter::Thread(thread)) if thread == ThreadIndex::from(wait.rank) || self.is_further(thread) => {
                    Explanation::of(Pattern::Thread)
                }
                _ => Explanation { first: (Pattern::LateSender, wait.to), ..Explanation::of(Pattern::Transfer) },
            },
        }
    }

    /// Whether a thread is not the main thread of its rank.
    fn is_further(&self, thread: ThreadIndex) -> bool {
        thread.0 as usize >= self.entered.len()
    }

    /// Accounts for a wait of a thread that continues.
    fn account(&mut self, tree: &mut Causes, wait: ThreadWait) {
        let ThreadWait { rank, place, pieces, own, cause, explanation } = wait;
        let communicator =
            explanation.communicator.map(|communicator| CommunicatorId(communicator.0.min(OWN_FINDINGS)));
        let mut waited = 0;
        for (pattern, time) in pieces.iter().flat_map(|&(from, to)| explanation.split(from, to)) {
            if time > 0 {
                *self.severity.entry(WaitPlace { rank, place, communicator, pattern }).or_default() += time;
                if let Some(collective) = explanation.collective {
                    let [late, own] = self.collectives.entry(collective).or_default();
                    *(if pattern.is_late_member() { late } else { own }) += time;
                }
                waited += time;
            }
        }
        match cause {
            Ok(cause) => {
                let (mut own_time, cause_time) = tree.branches(&own, &cause);
                // Between pieces the thread has paid overheads.
                if let (Some((from, _)), Some((_, to))) = (pieces.first(), pieces.last()) {
                    let overhead = Segment::new(rank, place, SegmentKind::Overhead);
                    own_time.add(overhead, to.0 - from.0 - waited);
                }
                self.delays.add(waited, &own_time, &cause_time, [Some(rank), explanation.delayer]);
                tree.release(cause);
            }
            Err(kind) => self.delays.add_part(Segment::new(rank, place, kind), waited, true),
        }
        tree.release(own);
    }
}

impl WaitListener for WaitStates {
    const LISTENS: bool = true;

    fn waited(&mut self, tree: &mut Causes, wait: &Wait) {
        let explanation = self.explain(wait);
        let Waiter::Thread(thread) = wait.waiter else {
            self.within.insert(wait.waiter, explanation);
            return;
        };
        let cause = match wait.cause {
            Ok(cause) => Ok(tree.share(cause)),
            Err(kind) => Err(kind),
        };
        let piece = (wait.from, wait.to);
        match self.waits.get_mut(&thread) {
            Some(known) => {
                known.pieces.push(piece);
                known.explanation = explanation;
                if let Ok(before) = std::mem::replace(&mut known.cause, cause) {
                    tree.release(before);
                }
            }
            None => {
                let own = tree.share(wait.own);
                let (rank, place) = (wait.rank, wait.place);
                self.waits
                    .insert(thread, ThreadWait { rank, place, pieces: smallvec![piece], own, cause, explanation });
            }
        }
    }

    fn takes_turn(&mut self, tree: &mut Causes, waiter: Waiter) {
        self.turn = Some(waiter);
        if let Waiter::Thread(thread) = waiter
            && let Some(wait) = self.waits.remove(&thread)
        {
            self.account(tree, wait);
        }
    }
}

impl Observer for WaitStates {
    fn event_began(&mut self, rank: Rank, _: EventRef<'_>, at: Time) {
        self.entered[rank.0 as usize] = at;
    }

    fn ended(&mut self, waiter: Waiter) {
        self.within.remove(&waiter);
    }

    fn sent(&mut self, now: Time, message: SentMessage) {
        let is_in_call = self.turn == Some(Waiter::Thread(message.from.into())) && !message.in_collective;
        let entered = if is_in_call { self.entered[message.from.0 as usize] } else { now };
        self.operations.sent(now, entered, message);
    }

    fn may_depart(&mut self, now: Time, message: TransferId) {
        let by_thread = matches!(self.turn, Some(Waiter::Thread(_)));
        self.operations.may_depart(now, message, by_thread);
    }

    fn delivered(&mut self, _: Time, _: TransferId) {
        self.turn = None;
    }

    fn posted(&mut self, now: Time, receive: Receive) {
        self.operations.posted(now, receive);
    }

    fn matched(&mut self, _: Time, receive: OperationId, message: TransferId) {
        self.operations.matched(receive, message);
    }

    fn window_awaited(&mut self, _: Time, wait: WindowWait) {
        self.operations.window_awaited(wait);
    }

    fn completed(&mut self, _: Time, operation: OperationId) {
        let Self { turn, within, operations, .. } = self;
        // A call of several steps ends as its last wait did.
        operations.completed(operation, || {
            let last = turn.and_then(|waiter| within.get(&waiter).copied());
            last.unwrap_or_else(|| Explanation::of(Pattern::Other))
        });
    }

    fn collective_entered(&mut self, now: Time, call: CollectiveCall) {
        self.operations.collective_entered(now, &call);
    }

    fn reached(&mut self, _: Time) {
        self.turn = None;
        self.operations.reached();
    }
}

impl From<WindowCondition> for Pattern {
    fn from(condition: WindowCondition) -> Self {
        match condition {
            WindowCondition::Lock { .. } | WindowCondition::LockAll | WindowCondition::Release(_) => Self::Lock,
            WindowCondition::Post(_) => Self::LatePost,
            WindowCondition::Complete(_) => Self::LateComplete,
            WindowCondition::Accesses(_) | WindowCondition::Arrivals => Self::Accesses,
        }
    }
}

/// The reasons for a wait for one operation: one until a time, another from then until another time, and a third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Explanation {
    pub first: (Pattern, Time),
    pub second: (Pattern, Time),
    pub rest: Pattern,
    pub communicator: Option<CommunicatorId>,
    /// The rank that was waited for.
    pub delayer: Option<Rank>,
    /// The collective, as a trace calls it.
    pub collective: Option<&'static str>,
}

impl Explanation {
    /// The explanation of a wait that has one reason.
    pub(crate) fn of(pattern: Pattern) -> Self {
        let never = (pattern, Time::ZERO);
        Self { first: never, second: never, rest: pattern, communicator: None, delayer: None, collective: None }
    }

    /// The picoseconds of each reason in a wait from one time to another.
    pub(crate) fn split(&self, from: Time, to: Time) -> [(Pattern, u64); 3] {
        let first = self.first.1.clamp(from, to);
        let second = self.second.1.clamp(first, to);
        [(self.first.0, first.0 - from.0), (self.second.0, second.0 - first.0), (self.rest, to.0 - second.0)]
    }
}
