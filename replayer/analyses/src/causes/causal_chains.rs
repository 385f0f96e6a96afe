//! The tips of all chains in a replay, kept up to date by its callbacks.
//!
//! * A waiter that works extends its chain. Its computation and overhead are kept outside the tree until another chain
//!   branches off there; if the waiter waits instead, they are discarded with its chain.
//! * The waiter whose turn it is, or the message being delivered, is the cause of everything that is begun, released or
//!   completed meanwhile.
//! * A waiter that is released later than its own time continues with the chain of the cause; a waiter that is released
//!   earlier keeps its own chain, because it did not wait. Of several causes at one instant the first one counts.
//! * If no cause is known, the time until then becomes a separate segment, so every chain always adds up to the time of
//!   its end. For file accesses this is [`SegmentKind::Storage`], for the sides of partitioned messages,
//!   [`SegmentKind::Overhead`], and for anything else [`SegmentKind::Other`].

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{Mark, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_network::{JobOrLoadId, SharedWith, TransferId, Unloaded};
use titr_simulation::observe::{
    CollectiveCall, CollectiveId, Departure, Observer, OperationId, Receive, SentMessage, ThreadIndex, Waiter,
    WindowWait, Work,
};

use super::places::Places;
use super::segment::{PlaceId, Segment, SegmentSums};
use super::tree::Visits;
use super::tree::{Causes, ChainEnd};
use crate::apportionment::Apportionment;
use crate::findings::SegmentKind;

/// A time in which a waiter has waited.
#[derive(Debug)]
pub(crate) struct Wait<'t> {
    pub waiter: Waiter,
    pub rank: Rank,
    pub place: PlaceId,
    pub from: Time,
    pub to: Time,
    /// The operation whose completion ended the wait; `None`: the waiter whose turn it was ended it in another way.
    pub operation: Option<OperationId>,
    /// The end of the waiter's own chain.
    pub own: &'t ChainEnd,
    /// The end of the chain of the cause. If that is not known, the kind of time that the wait becomes.
    pub cause: Result<&'t ChainEnd, SegmentKind>,
}

/// Is told of waits, and of the callbacks that say more of them. A callback reaches it before the chains are changed.
pub(crate) trait WaitListener: Observer {
    /// Whether the listener needs the waits.
    const LISTENS: bool;

    /// A wait has ended.
    fn waited(&mut self, tree: &mut Causes, wait: &Wait);

    /// The turn of a waiter begins.
    fn takes_turn(&mut self, tree: &mut Causes, waiter: Waiter);
}

impl WaitListener for () {
    const LISTENS: bool = false;

    fn waited(&mut self, _: &mut Causes, _: &Wait) {}

    fn takes_turn(&mut self, _: &mut Causes, _: Waiter) {}
}

/// The ends of all chains.
#[derive(Debug)]
pub(crate) struct CausalChains<L> {
    tree: Causes,
    pub places: Places,
    /// The names of the programs and loads that share the network.
    parties: Vec<Arc<str>>,
    /// Indexed by kind and number of the waiter.
    waiters: [Vec<Option<WaiterTip>>; 6],
    /// Indexed by transfer id.
    messages: Vec<Option<MessageTip>>,
    /// The place of each send, indexed by transfer id, until the message enters the network.
    sent: Vec<Option<PlaceId>>,
    turn: Turn,
    /// The causes of the operations completed at this instant.
    completed: FxHashMap<OperationId, ChainEnd>,
    /// Kept to be used again.
    shares: Apportionment,
    pub listener: L,
}

#[derive(Debug)]
struct WaiterTip {
    tip: ChainEnd,
    rank: Rank,
    place: PlaceId,
    /// Computing, sleeping and overhead beyond the tip, in picoseconds.
    pending: [u64; 3],
    at: u64,
}

#[derive(Debug)]
struct MessageTip {
    tip: ChainEnd,
    from: Rank,
    place: PlaceId,
    departed: u64,
    unloaded: Unloaded,
    /// Whose messages it has met; empty if no other program shares the network.
    met: Vec<SharedWith>,
}

/// The current cause.
#[derive(Debug)]
enum Turn {
    Nobody,
    Waiter(Waiter),
    /// A message that is delivered, or a waiter that is gone.
    Past(ChainEnd, Rank, PlaceId),
}

impl<L: WaitListener> CausalChains<L> {
    /// The chains of a world of `ranks` ranks, which have no segment yet.
    pub(crate) fn new(ranks: u32, listener: L) -> Self {
        let mut tree = if L::LISTENS { Causes::default() } else { Causes::with_visits() };
        let main = |rank| {
            let (rank, place) = (Rank(rank), PlaceId::default());
            Some(WaiterTip { tip: tree.root(), rank, place, pending: [0; 3], at: 0 })
        };
        let mut waiters: [Vec<Option<WaiterTip>>; 6] = Default::default();
        waiters[0] = (0..ranks).map(main).collect();
        let (places, messages, completed) = (Places::new(), Vec::new(), FxHashMap::default());
        let (parties, sent, shares) = (Vec::new(), Vec::new(), Apportionment::default());
        Self { tree, places, parties, waiters, messages, sent, turn: Turn::Nobody, completed, shares, listener }
    }

    /// The name of a program or load that shares the network.
    pub(crate) fn party(&self, party: Option<JobOrLoadId>) -> Option<Arc<str>> {
        self.parties.get(party?.place()).cloned()
    }

    /// The chain of the thread that is the last to end, when that is, and the chain's visits of ranks.
    pub(crate) fn longest(&self) -> (Time, SegmentSums, Visits) {
        // The first of several causes counts.
        let Some(last) = self.waiters[0].iter().rev().flatten().max_by_key(|thread| thread.at) else {
            return Default::default();
        };
        let mut path = self.tree.path(&last.tip);
        last.spent().into_iter().filter(|(_, sum)| *sum > 0).for_each(|(segment, sum)| path.add(segment, sum));
        let mut visits = self.tree.visits(&last.tip);
        if last.pending.iter().any(|sum| *sum > 0) {
            visits.push(last.rank, self.tree.at(&last.tip));
        }
        (Time(last.at), path, visits)
    }

    /// Makes room for a waiter; an old one of this name is gone.
    fn insert(&mut self, waiter: Waiter, new: WaiterTip) {
        let (kind, number) = slot(waiter);
        let waiters = &mut self.waiters[kind];
        if waiters.len() <= number {
            waiters.resize_with(number + 1, || None);
        }
        if let Some(old) = waiters[number].replace(new) {
            self.tree.release(old.tip);
        }
    }

    fn take_turn(&mut self, turn: Turn) {
        if let Turn::Past(tip, ..) = std::mem::replace(&mut self.turn, turn) {
            self.tree.release(tip);
        }
    }

    /// The chain of the current cause at `now`. `None`: there is no cause, or its clock is ahead of `now`.
    fn cause(&mut self, now: Time) -> Option<ChainEnd> {
        let (mut tip, segment) = match &self.turn {
            Turn::Nobody => return None,
            Turn::Past(tip, rank, place) => (self.tree.share(tip), other(*rank, *place)),
            Turn::Waiter(waiter) => {
                let (kind, number) = slot(*waiter);
                let waiter = self.waiters[kind].get_mut(number)?.as_mut()?;
                if waiter.at <= now.0 {
                    waiter.settle(&mut self.tree);
                }
                (self.tree.share(&waiter.tip), other(waiter.rank, waiter.place))
            }
        };
        let at = self.tree.at(&tip);
        if at > now.0 {
            self.tree.release(tip);
            return None;
        }
        self.tree.extend(&mut tip, segment, now.0 - at);
        Some(tip)
    }

    /// The chain of the current cause at `now`, or a new chain of `rank` with an unknown cause.
    fn cause_or_other(&mut self, now: Time, rank: Rank, place: PlaceId) -> ChainEnd {
        match self.cause(now) {
            Some(tip) => tip,
            None => {
                let mut tip = self.tree.root();
                self.tree.extend(&mut tip, other(rank, place), now.0);
                tip
            }
        }
    }

    /// The place of an action for a rank: the place of the thread whose turn it is, if that thread belongs to the rank.
    fn place_for(&self, rank: Rank) -> PlaceId {
        let turn = match self.turn {
            Turn::Waiter(waiter) => {
                let (kind, number) = slot(waiter);
                self.waiters[kind].get(number).and_then(Option::as_ref)
            }
            Turn::Nobody | Turn::Past(..) => None,
        };
        turn.filter(|waiter| waiter.rank == rank).map_or_else(|| self.places.of(rank), |waiter| waiter.place)
    }

    fn begin(&mut self, now: Time, waiter: Waiter, rank: Rank) {
        let place = self.place_for(rank);
        let tip = self.cause_or_other(now, rank, place);
        self.insert(waiter, WaiterTip { tip, rank, place, pending: [0; 3], at: now.0 });
    }

    fn end(&mut self, waiter: Waiter) {
        let (kind, number) = slot(waiter);
        let Some(mut gone) = self.waiters[kind].get_mut(number).and_then(Option::take) else { return };
        if matches!(self.turn, Turn::Waiter(turn) if turn == waiter) {
            gone.settle(&mut self.tree);
            self.turn = Turn::Past(gone.tip, gone.rank, gone.place);
        } else {
            self.tree.release(gone.tip);
        }
    }

    /// A waiter becomes runnable at `now`, because `operation` is complete or because of the current cause.
    fn release(&mut self, now: Time, waiter: Waiter, operation: Option<OperationId>, cost: u64) {
        let (kind, number) = slot(waiter);
        let Some(at) = self.waiters[kind].get(number).and_then(|waiter| Some(waiter.as_ref()?.at)) else { return };
        let is_late = now.0 > at;
        let cause = match operation {
            _ if !is_late => None,
            Some(operation) => self.completed.get(&operation).map(|tip| self.tree.share(tip)),
            None => self.cause(now),
        };
        let Self { tree, waiters, listener, .. } = self;
        let Some(released) = waiters[kind][number].as_mut() else { return };
        let cause = cause.ok_or(match (waiter, operation) {
            (Waiter::Part(_), _) => SegmentKind::Overhead,
            (_, Some(_)) => SegmentKind::Storage,
            (_, None) => SegmentKind::Other,
        });
        if is_late && L::LISTENS {
            released.settle(tree);
            let &mut WaiterTip { rank, place, tip: ref own, .. } = released;
            let (from, to, cause) = (Time(at), now, cause.as_ref().map_err(|kind| *kind));
            listener.waited(tree, &Wait { waiter, rank, place, from, to, operation, own, cause });
        }
        match cause {
            Ok(cause) => {
                tree.release(std::mem::replace(&mut released.tip, cause));
                released.pending = [0; 3];
            }
            Err(kind) if is_late => {
                released.settle(tree);
                let segment = Segment::new(released.rank, released.place, kind);
                tree.extend(&mut released.tip, segment, now.0 - at);
            }
            Err(_) => {}
        }
        released.at = released.at.max(now.0) + cost;
        released.pending[Work::Overhead as usize] += cost;
    }

    fn message(&mut self, id: TransferId) -> &mut Option<MessageTip> {
        let number = id.0 as usize;
        if self.messages.len() <= number {
            self.messages.resize_with(number + 1, || None);
        }
        &mut self.messages[number]
    }
}

impl WaiterTip {
    /// The pending time by segment.
    fn spent(&self) -> [(Segment, u64); 3] {
        let segment = |kind| Segment::new(self.rank, self.place, kind);
        let [compute, sleep, overhead] = self.pending;
        let (compute, sleep) = ((segment(SegmentKind::Compute), compute), (segment(SegmentKind::Sleep), sleep));
        [compute, sleep, (segment(SegmentKind::Overhead), overhead)]
    }

    /// Puts the pending time into the tree.
    fn settle(&mut self, tree: &mut Causes) {
        for (segment, sum) in self.spent() {
            tree.extend(&mut self.tip, segment, sum);
        }
        self.pending = [0; 3];
    }
}

/// The slot of a waiter: the number of its kind, and its own among these.
fn slot(waiter: Waiter) -> (usize, usize) {
    let (kind, number) = match waiter {
        Waiter::Thread(thread) => (0, thread.0),
        Waiter::Collective(collective) => (1, collective.0),
        Waiter::Synchronisation(call) => (2, call.0),
        Waiter::ActiveMessage(message) => (3, message.0),
        Waiter::FileCall(call) => (4, call.0),
        Waiter::Part(part) => (5, part.0),
    };
    (kind, number as usize)
}

fn other(rank: Rank, place: PlaceId) -> Segment {
    Segment::new(rank, place, SegmentKind::Other)
}

/// The parts of a message's time in transit, in picoseconds: latency, transfer and contention. The flow model rounds to
/// picoseconds twice, and rates to the precision of floats, so a rest within these errors is not contention.
fn split(span: u64, unloaded: Unloaded) -> [(SegmentKind, u64); 3] {
    let latency = Time::from_seconds(unloaded.latency).0.min(span);
    let transfer = Time::from_seconds(unloaded.transfer).0.min(span - latency);
    let rest = span - latency - transfer;
    let (transfer, contention) = if rest <= 2 + span / 1_000_000_000 { (transfer + rest, 0) } else { (transfer, rest) };
    [(SegmentKind::Latency, latency), (SegmentKind::Transfer, transfer), (SegmentKind::Contention, contention)]
}

impl<L: WaitListener> Observer for CausalChains<L> {
    fn queries_network(&self) -> bool {
        true
    }

    fn event_began(&mut self, rank: Rank, event: EventRef<'_>, at: Time) {
        self.listener.event_began(rank, event, at);
    }

    fn mark_passed(&mut self, thread: ThreadIndex, mark: &Mark) {
        self.listener.mark_passed(thread, mark);
        let place = self.places.pass(thread, mark);
        let (kind, number) = slot(Waiter::Thread(thread));
        if let Some(thread) = self.waiters[kind].get_mut(number).and_then(Option::as_mut)
            && thread.place != place
        {
            thread.settle(&mut self.tree);
            thread.place = place;
        }
    }

    fn turn_began(&mut self, now: Time, waiter: Waiter) {
        self.listener.turn_began(now, waiter);
        self.listener.takes_turn(&mut self.tree, waiter);
        self.take_turn(Turn::Waiter(waiter));
    }

    fn thread_began(&mut self, at: Time, waiter: Waiter, rank: Rank, follows: Waiter) {
        self.listener.thread_began(at, waiter, rank, follows);
        let turn = std::mem::replace(&mut self.turn, Turn::Waiter(follows));
        self.begin(at, waiter, rank);
        self.turn = turn;
    }

    fn began(&mut self, now: Time, waiter: Waiter, rank: Rank) {
        self.listener.began(now, waiter, rank);
        self.begin(now, waiter, rank);
    }

    fn ended(&mut self, waiter: Waiter) {
        self.listener.ended(waiter);
        self.end(waiter);
    }

    fn works(&mut self, waiter: Waiter, work: Work, from: Time, to: Time) {
        self.listener.works(waiter, work, from, to);
        let (kind, number) = slot(waiter);
        if let Some(worker) = self.waiters[kind].get_mut(number).and_then(Option::as_mut) {
            if from.0 > worker.at {
                worker.settle(&mut self.tree);
                self.tree.extend(&mut worker.tip, other(worker.rank, worker.place), from.0 - worker.at);
                worker.at = from.0;
            }
            let time = to.0.saturating_sub(worker.at);
            worker.pending[work as usize] += time;
            worker.at += time;
        }
    }

    fn released(&mut self, now: Time, waiter: Waiter, operation: Option<OperationId>, cost: Time) {
        self.listener.released(now, waiter, operation, cost);
        self.release(now, waiter, operation, cost.0);
    }

    fn sent(&mut self, now: Time, message: SentMessage) {
        self.listener.sent(now, message);
        let (number, place) = (message.id.0 as usize, self.place_for(message.from));
        if self.sent.len() <= number {
            self.sent.resize(number + 1, None);
        }
        self.sent[number] = Some(place);
    }

    fn may_depart(&mut self, now: Time, message: TransferId) {
        self.listener.may_depart(now, message);
        // The sender is not known before the message is injected, and needs to be only where there is no cause.
        let (from, place) = (Rank(0), PlaceId::default());
        let tip = self.cause_or_other(now, from, place);
        let unloaded = Unloaded { latency: Seconds(0.0), transfer: Seconds(0.0) };
        let new = MessageTip { tip, from, place, departed: now.0, unloaded, met: Vec::new() };
        if let Some(old) = self.message(message).replace(new) {
            self.tree.release(old.tip);
        }
    }

    fn unloaded(&mut self, message: TransferId, time: Unloaded) {
        self.listener.unloaded(message, time);
        if let Some(message) = self.message(message) {
            message.unloaded = time;
        }
    }

    fn injected(&mut self, now: Time, departure: Departure) {
        self.listener.injected(now, departure);
        let sent = self.sent.get_mut(departure.id.0 as usize).and_then(Option::take);
        let place = sent.unwrap_or_else(|| self.places.of(departure.from));
        if let Some(message) = self.message(departure.id) {
            (message.from, message.place, message.departed) = (departure.from, place, now.0);
        }
    }

    fn shared_by(&mut self, parties: &[Arc<str>]) {
        self.parties = parties.to_vec();
    }

    fn met(&mut self, message: TransferId, met: &[SharedWith]) {
        if let Some(message) = self.message(message) {
            message.met = met.to_vec();
        }
    }

    fn delivered(&mut self, now: Time, id: TransferId) {
        self.listener.delivered(now, id);
        let Some(MessageTip { mut tip, from: rank, place, departed, unloaded, met }) = self.message(id).take() else {
            return;
        };
        for (kind, time) in split(now.0 - departed, unloaded) {
            if kind == SegmentKind::Contention && time > 0 && !met.is_empty() {
                self.shares.compute(time, met.iter().map(|met| met.time.0));
                for (met, part) in met.iter().zip(self.shares.iter()) {
                    self.tree.extend(&mut tip, Segment { rank, place, kind, party: met.party }, part);
                }
            } else {
                self.tree.extend(&mut tip, Segment::new(rank, place, kind), time);
            }
        }
        self.tree.count_message(&mut tip);
        self.take_turn(Turn::Past(tip, rank, place));
    }

    fn completed(&mut self, now: Time, operation: OperationId) {
        self.listener.completed(now, operation);
        // The name may have been another operation's at this instant.
        if let Some(tip) = self.cause(now)
            && let Some(old) = self.completed.insert(operation, tip)
        {
            self.tree.release(old);
        }
    }

    fn collective_entered(&mut self, now: Time, call: CollectiveCall) {
        self.listener.collective_entered(now, call);
        self.begin(now, Waiter::Collective(call.id), call.rank);
    }

    fn collective_left(&mut self, now: Time, id: CollectiveId) {
        self.listener.collective_left(now, id);
        self.end(Waiter::Collective(id));
    }

    fn reached(&mut self, now: Time) {
        self.listener.reached(now);
        self.take_turn(Turn::Nobody);
        for (_, tip) in self.completed.drain() {
            self.tree.release(tip);
        }
    }

    fn posted(&mut self, now: Time, receive: Receive) {
        self.listener.posted(now, receive);
    }

    fn matched(&mut self, now: Time, receive: OperationId, message: TransferId) {
        self.listener.matched(now, receive, message);
    }

    fn window_awaited(&mut self, now: Time, wait: WindowWait) {
        self.listener.window_awaited(now, wait);
    }
}
