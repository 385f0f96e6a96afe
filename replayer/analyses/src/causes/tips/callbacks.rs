//! The callbacks that keep the tips up to date.

use std::sync::Arc;

use titr_common::event::{Mark, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_network::{Met, TransferId, Unloaded};

use super::super::segment::{PlaceId, Segment};
use super::{MessageTip, Tips, Turn, WaitListener, other, slot};
use crate::findings::SegmentKind;
use titr_simulation::observe::{
    CollectiveCall, CollectiveId, Departure, Observer, OperationId, Receive, SentMessage, WindowWait,
};
use titr_simulation::observe::{ThreadIndex, Waiter, Work};

/// The parts of a message's time in transit, in picoseconds: latency, transfer and contention. The flow model rounds to
/// picoseconds twice, and rates to the precision of floats, so a rest within these errors is not contention.
fn split(span: u64, unloaded: Unloaded) -> [(SegmentKind, u64); 3] {
    let latency = Time::from_seconds(unloaded.latency).0.min(span);
    let transfer = Time::from_seconds(unloaded.transfer).0.min(span - latency);
    let rest = span - latency - transfer;
    let (transfer, contention) = if rest <= 2 + span / 1_000_000_000 { (transfer + rest, 0) } else { (transfer, rest) };
    [(SegmentKind::Latency, latency), (SegmentKind::Transfer, transfer), (SegmentKind::Contention, contention)]
}

impl<L: WaitListener> Observer for Tips<L> {
    fn queries_network(&self) -> bool {
        true
    }

    fn entered(&mut self, rank: Rank, event: EventRef<'_>, at: Time) {
        self.listener.entered(rank, event, at);
    }

    fn passed(&mut self, thread: ThreadIndex, mark: &Mark) {
        self.listener.passed(thread, mark);
        let place = self.places.pass(thread, mark);
        let (kind, number) = slot(Waiter::Thread(thread));
        if let Some(thread) = self.waiters[kind].get_mut(number).and_then(Option::as_mut)
            && thread.place != place
        {
            thread.settle(&mut self.tree);
            thread.place = place;
        }
    }

    fn goes_on(&mut self, now: Time, waiter: Waiter) {
        self.listener.goes_on(now, waiter);
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

    fn worked(&mut self, waiter: Waiter, work: Work, from: Time, to: Time) {
        self.listener.worked(waiter, work, from, to);
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

    fn let_go(&mut self, now: Time, message: TransferId) {
        self.listener.let_go(now, message);
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

    fn met(&mut self, message: TransferId, met: &[Met]) {
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
