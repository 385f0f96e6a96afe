//! The ends of all chains in a replay, kept up to date by its callbacks.
//!
//! * A waiter that works makes its chain longer. Its computing and overhead are kept beside the tree until somebody else's chain
//!   begins there; if the waiter waits instead, they are forgotten with its chain.
//! * Whoever goes on, or the message that is delivered, is the cause of all that is begun, let go or completed meanwhile.
//! * A waiter that is released later than its own time goes on with the chain of the cause. At the same time it keeps its own: it
//!   has not waited. Of several causes at one instant the first one counts.
//! * Where no cause is known, the time until then becomes a segment of its own. So every chain adds up to the time of its end,
//!   always: for accesses to files this is [`SegmentKind::Storage`], for the sides of partitioned messages, which do one part
//!   after another, [`SegmentKind::Overhead`], and for anything else [`SegmentKind::Other`].

use titr_common::event::{Event, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_network::{TransferId, Unloaded};

use super::regions::Regions;
use super::segment::{RegionName, Segment, SegmentKind, SegmentSums};
use super::tree::{Causes, Tip};
use crate::observe::waiter::{Waiter, Work};
use crate::observe::{CollectiveCall, CollectiveId, Departure, Observer, OperationId};

/// The ends of all chains.
#[derive(Debug)]
pub(in crate::observe) struct Tips {
    tree: Causes,
    pub regions: Regions,
    /// By the kind of the waiter, and by its number.
    waiters: [Vec<Option<WaiterTip>>; 6],
    /// By the names that the network has for messages.
    messages: Vec<Option<MessageTip>>,
    turn: Turn,
    /// The causes of what was completed at this instant.
    completed: Vec<(OperationId, Tip)>,
}

#[derive(Debug)]
struct WaiterTip {
    tip: Tip,
    rank: Rank,
    region: RegionName,
    /// Computing and overhead beyond the tip, in picoseconds.
    pending: [u64; 2],
    at: u64,
}

#[derive(Debug)]
struct MessageTip {
    tip: Tip,
    from: Rank,
    region: RegionName,
    departed: u64,
    unloaded: Unloaded,
}

/// Whoever is the cause of what happens.
#[derive(Debug)]
enum Turn {
    Nobody,
    Waiter(Waiter),
    /// A message that is delivered, or a waiter that is gone.
    Past(Tip, Rank, RegionName),
}

impl Tips {
    /// The chains of a world of `ranks` ranks, which have no segment yet.
    pub fn new(ranks: u32) -> Self {
        let mut tree = Causes::default();
        let main = |rank| {
            let (rank, region) = (Rank(rank), RegionName::default());
            Some(WaiterTip { tip: tree.root(), rank, region, pending: [0; 2], at: 0 })
        };
        let mut waiters: [Vec<Option<WaiterTip>>; 6] = Default::default();
        waiters[0] = (0..ranks).map(main).collect();
        let (regions, messages, completed) = (Regions::new(ranks), Vec::new(), Vec::new());
        Self { tree, regions, waiters, messages, turn: Turn::Nobody, completed }
    }

    /// The chain of the thread that is the last to end, and when that is.
    pub fn longest(&self) -> (Time, SegmentSums) {
        // Of several, the first.
        let Some(last) = self.waiters[0].iter().rev().flatten().max_by_key(|thread| thread.at) else {
            return Default::default();
        };
        let mut path = self.tree.path(&last.tip);
        last.spent().into_iter().filter(|(_, sum)| *sum > 0).for_each(|(segment, sum)| path.add(segment, sum));
        (Time(last.at), path)
    }

    /// Makes room for a waiter; an old one of this name is gone.
    fn insert(&mut self, waiter: Waiter, new: WaiterTip) {
        let (kind, number) = place(waiter);
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

    /// The chain of whoever is the cause of what happens at `now`. `None`: nobody is, or somebody who is ahead of that.
    fn cause(&mut self, now: Time) -> Option<Tip> {
        let (mut tip, segment) = match &self.turn {
            Turn::Nobody => return None,
            Turn::Past(tip, rank, region) => (self.tree.share(tip), other(*rank, *region)),
            Turn::Waiter(waiter) => {
                let (kind, number) = place(*waiter);
                let waiter = self.waiters[kind].get_mut(number)?.as_mut()?;
                if waiter.at <= now.0 {
                    waiter.settle(&mut self.tree);
                }
                (self.tree.share(&waiter.tip), other(waiter.rank, waiter.region))
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

    /// The chain of whoever is the cause of what happens at `now` to a rank, or one of its own that nothing is known of.
    fn cause_or_other(&mut self, now: Time, rank: Rank, region: RegionName) -> Tip {
        match self.cause(now) {
            Some(tip) => tip,
            None => {
                let mut tip = self.tree.root();
                self.tree.extend(&mut tip, other(rank, region), now.0);
                tip
            }
        }
    }

    fn begin(&mut self, now: Time, waiter: Waiter, rank: Rank) {
        let region = self.regions.of(rank);
        let tip = self.cause_or_other(now, rank, region);
        self.insert(waiter, WaiterTip { tip, rank, region, pending: [0; 2], at: now.0 });
    }

    fn end(&mut self, waiter: Waiter) {
        let (kind, number) = place(waiter);
        let Some(mut gone) = self.waiters[kind].get_mut(number).and_then(Option::take) else { return };
        if matches!(self.turn, Turn::Waiter(turn) if turn == waiter) {
            gone.settle(&mut self.tree);
            self.turn = Turn::Past(gone.tip, gone.rank, gone.region);
        } else {
            self.tree.release(gone.tip);
        }
    }

    /// A waiter may go on from `now`, as `operation` is complete or because of whoever goes on.
    fn release(&mut self, now: Time, waiter: Waiter, operation: Option<OperationId>, cost: u64) {
        let (kind, number) = place(waiter);
        let Some(at) = self.waiters[kind].get(number).and_then(|waiter| Some(waiter.as_ref()?.at)) else { return };
        let is_late = now.0 > at;
        let cause = match operation {
            _ if !is_late => None,
            Some(operation) => {
                let found = self.completed.iter().find(|(completed, _)| *completed == operation);
                found.map(|(_, tip)| self.tree.share(tip))
            }
            None => self.cause(now),
        };
        let Self { tree, waiters, .. } = self;
        let Some(released) = waiters[kind][number].as_mut() else { return };
        let cause = cause.ok_or(match (waiter, operation) {
            (Waiter::Part(_), _) => SegmentKind::Overhead,
            (_, Some(_)) => SegmentKind::Storage,
            (_, None) => SegmentKind::Other,
        });
        match cause {
            Ok(cause) => {
                tree.release(std::mem::replace(&mut released.tip, cause));
                released.pending = [0; 2];
            }
            Err(kind) if is_late => {
                released.settle(tree);
                let segment = Segment { rank: released.rank, region: released.region, kind };
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
    fn spent(&self) -> [(Segment, u64); 2] {
        let segment = |kind| Segment { rank: self.rank, region: self.region, kind };
        let [compute, overhead] = self.pending;
        [(segment(SegmentKind::Compute), compute), (segment(SegmentKind::Overhead), overhead)]
    }

    /// Puts the pending time into the tree.
    fn settle(&mut self, tree: &mut Causes) {
        for (segment, sum) in self.spent() {
            tree.extend(&mut self.tip, segment, sum);
        }
        self.pending = [0; 2];
    }
}

/// The place of a waiter: the number of its kind, and its own among these.
fn place(waiter: Waiter) -> (usize, usize) {
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

fn other(rank: Rank, region: RegionName) -> Segment {
    Segment { rank, region, kind: SegmentKind::Other }
}

/// The parts of the time that a message was under way, in picoseconds: latency, transfer and contention. The flow model
/// rounds to picoseconds twice, and rates to the precision of floats, so a rest that could be of that is no contention.
fn split(span: u64, unloaded: Unloaded) -> [(SegmentKind, u64); 3] {
    let latency = Time::from_seconds(unloaded.latency).0.min(span);
    let transfer = Time::from_seconds(unloaded.transfer).0.min(span - latency);
    let rest = span - latency - transfer;
    let (transfer, contention) = if rest <= 2 + span / 1_000_000_000 { (transfer + rest, 0) } else { (transfer, rest) };
    [(SegmentKind::Latency, latency), (SegmentKind::Transfer, transfer), (SegmentKind::Contention, contention)]
}

impl Observer for Tips {
    fn wants_unloaded(&self) -> bool {
        true
    }

    fn entered(&mut self, rank: Rank, event: EventRef<'_>, _: Time) {
        if let EventRef::Event(Event::Region(mark)) = event
            && let Some(main) = self.waiters[0].get_mut(rank.0 as usize).and_then(Option::as_mut)
        {
            main.settle(&mut self.tree);
            main.region = self.regions.pass(rank, mark);
        }
    }

    fn goes_on(&mut self, _: Time, waiter: Waiter) {
        self.take_turn(Turn::Waiter(waiter));
    }

    fn thread_began(&mut self, at: Time, waiter: Waiter, rank: Rank, follows: Waiter) {
        let turn = std::mem::replace(&mut self.turn, Turn::Waiter(follows));
        self.begin(at, waiter, rank);
        self.turn = turn;
    }

    fn began(&mut self, now: Time, waiter: Waiter, rank: Rank) {
        self.begin(now, waiter, rank);
    }

    fn ended(&mut self, waiter: Waiter) {
        self.end(waiter);
    }

    fn worked(&mut self, waiter: Waiter, work: Work, from: Time, to: Time) {
        let (kind, number) = place(waiter);
        if let Some(worker) = self.waiters[kind].get_mut(number).and_then(Option::as_mut) {
            if from.0 > worker.at {
                worker.settle(&mut self.tree);
                self.tree.extend(&mut worker.tip, other(worker.rank, worker.region), from.0 - worker.at);
                worker.at = from.0;
            }
            let time = to.0.saturating_sub(worker.at);
            worker.pending[work as usize] += time;
            worker.at += time;
        }
    }

    fn released(&mut self, now: Time, waiter: Waiter, operation: Option<OperationId>, cost: Time) {
        self.release(now, waiter, operation, cost.0);
    }

    fn let_go(&mut self, now: Time, message: TransferId) {
        // The sender is not known before the message is injected, and needs to be only where there is no cause.
        let (from, region) = (Rank(0), RegionName::default());
        let tip = self.cause_or_other(now, from, region);
        let unloaded = Unloaded { latency: Seconds(0.0), transfer: Seconds(0.0) };
        let new = MessageTip { tip, from, region, departed: now.0, unloaded };
        if let Some(old) = self.message(message).replace(new) {
            self.tree.release(old.tip);
        }
    }

    fn unloaded(&mut self, message: TransferId, time: Unloaded) {
        if let Some(message) = self.message(message) {
            message.unloaded = time;
        }
    }

    fn injected(&mut self, now: Time, departure: Departure) {
        let region = self.regions.of(departure.from);
        if let Some(message) = self.message(departure.id) {
            (message.from, message.region, message.departed) = (departure.from, region, now.0);
        }
    }

    fn delivered(&mut self, now: Time, id: TransferId) {
        let Some(MessageTip { mut tip, from: rank, region, departed, unloaded }) = self.message(id).take() else {
            return;
        };
        for (kind, time) in split(now.0 - departed, unloaded) {
            self.tree.extend(&mut tip, Segment { rank, region, kind }, time);
        }
        self.tree.count_message(&mut tip);
        self.take_turn(Turn::Past(tip, rank, region));
    }

    fn completed(&mut self, now: Time, operation: OperationId) {
        if let Some(tip) = self.cause(now) {
            self.completed.push((operation, tip));
        }
    }

    fn collective_entered(&mut self, now: Time, call: CollectiveCall) {
        self.begin(now, Waiter::Collective(call.id), call.rank);
    }

    fn collective_left(&mut self, _: Time, id: CollectiveId) {
        self.end(Waiter::Collective(id));
    }

    fn reached(&mut self, _: Time) {
        self.take_turn(Turn::Nobody);
        for (_, tip) in self.completed.drain(..) {
            self.tree.release(tip);
        }
    }
}
