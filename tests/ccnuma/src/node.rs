//! A node's processor with its cache: hits, outstanding misses, and the answers to homes.
//!
//! Messages may overtake each other. A home's question that overtakes its answer waits for it ([`Miss::deferred`]); a
//! copy that is invalidated before it arrives is used once ([`Miss::invalidated`]); an evicted line is not requested
//! again before its home has seen the eviction.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use titr_common::time::Time;

use crate::cache::{Cache, State};
use crate::causes::Causes;
use crate::directory::Outgoing;
use crate::message::{Line, Message, MessageKind, Trigger};
use crate::processor::{Processor, Step};
use crate::programs::{Op, Script};

/// Misses that a processor can have in its load and store queue, which they leave in order.
const MISSES: usize = 8;

/// Picoseconds that a cache takes to answer a home.
const ANSWER: u64 = 20_000;

/// Picoseconds that a processor runs ahead of the others at most, while it hits.
const AHEAD: u64 = 100_000;

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    number: u32,
    cache: Cache,
    pub processor: Processor,
    misses: Vec<Miss>,
    /// The load and store queue: lines that were missed, and when they came and why then.
    queue: VecDeque<(Line, Option<(Time, Causes)>)>,
    /// Lines given up whose homes have not seen that.
    given_up: FxHashSet<Line>,
    stalled: Option<Stall>,
    /// The completion of the last write since the last barrier, and its causes.
    written: (Time, Causes),
    /// Misses so far.
    pub missed: u64,
}

/// An outstanding miss.
#[derive(Debug)]
struct Miss {
    line: Line,
    writes: bool,
    /// Whether the line will be written after it was read.
    then_writes: bool,
    invalidated: bool,
    deferred: Option<(Message, Causes)>,
}

/// Reasons for a processor to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stall {
    /// The end of a read or, at the end of its script, of all accesses.
    Access,
    /// Room in the load and store queue.
    Full,
    /// The home of a line that was given up.
    GivenUp(Line),
    /// All other processors.
    Barrier,
}

/// The progress of a processor.
pub(crate) enum Progress {
    /// It waits for a message.
    Waits,
    /// It continues at this time.
    Until(Time),
}

impl Node {
    pub(crate) fn new(number: u32) -> Self {
        Self {
            number,
            cache: Cache::new(),
            processor: Processor::new(),
            misses: Vec::new(),
            queue: VecDeque::new(),
            given_up: FxHashSet::default(),
            stalled: Some(Stall::Barrier),
            written: (Time::ZERO, Causes::default()),
            missed: 0,
        }
    }

    /// Whether it waits for the other processors.
    pub(crate) fn is_at_barrier(&self) -> bool {
        self.stalled == Some(Stall::Barrier)
    }

    /// Releases the processor from the barrier that the others have reached.
    pub(crate) fn release(&mut self, script: Script, now: Time, causes: &Causes) {
        self.processor.load(script);
        self.processor.wait_until(now, causes);
        self.stalled = None;
    }

    /// Goes on until the processor has to wait, or is too far ahead of `now`.
    pub(crate) fn run(&mut self, now: Time, out: &mut Vec<Outgoing>) -> Progress {
        self.stalled = None;
        loop {
            if self.processor.time().0 > now.0 + AHEAD {
                return Progress::Until(self.processor.time());
            }
            let stall = match self.processor.step() {
                Step::Stalled => Stall::Access,
                Step::Over if !self.misses.is_empty() => Stall::Access,
                Step::Over => {
                    let (at, causes) = std::mem::take(&mut self.written);
                    self.processor.wait_until(at, &causes);
                    let here = Message { kind: MessageKind::Arrive, from: self.number, to: 0, line: Line(0) };
                    let delay = self.processor.time().0.saturating_sub(now.0);
                    out.push(Outgoing { delay, message: here, causes: self.processor.causes() });
                    Stall::Barrier
                }
                Step::Access(Op::Compute(_)) => continue,
                Step::Access(Op::Read(address)) => match self.access(Line::of(address), false, now, out) {
                    Ok(()) => continue,
                    Err(Some(stall)) => stall,
                    Err(None) => return Progress::Until(self.processor.time()),
                },
                Step::Access(Op::Write(address)) => match self.access(Line::of(address), true, now, out) {
                    Ok(()) => continue,
                    Err(Some(stall)) => stall,
                    Err(None) => return Progress::Until(self.processor.time()),
                },
            };
            self.stalled = Some(stall);
            return Progress::Waits;
        }
    }

    /// Makes an access, or says why not: the processor has to wait, or the time of the access has not come.
    fn access(&mut self, line: Line, writes: bool, now: Time, out: &mut Vec<Outgoing>) -> Result<(), Option<Stall>> {
        if let Some(miss) = self.misses.iter_mut().find(|miss| miss.line == line) {
            miss.then_writes |= writes && !miss.writes;
            if writes {
                self.processor.accessed()
            } else {
                self.processor.missed(line)
            };
            return Ok(());
        }
        let kind = match self.cache.used(line) {
            Some(State::Modified) => None,
            Some(State::Exclusive) if writes => {
                self.cache.change(line, Some(State::Modified));
                None
            }
            Some(State::Shared) if writes => Some(MessageKind::Upgrade),
            Some(State::Exclusive | State::Shared) => None,
            None if writes => Some(MessageKind::Write),
            None => Some(MessageKind::Read),
        };
        let Some(kind) = kind else {
            self.processor.accessed();
            return Ok(());
        };
        if self.processor.time() > now {
            return Err(None);
        }
        if self.given_up.contains(&line) {
            return Err(Some(Stall::GivenUp(line)));
        }
        if self.queue.len() == MISSES {
            let Some((_, Some((at, causes)))) = self.queue.pop_front_if(|(_, come)| come.is_some()) else {
                return Err(Some(Stall::Full));
            };
            self.processor.wait_until(at, &causes);
        }
        self.queue.push_back((line, None));
        let causes = self.processor.causes();
        self.miss(kind, line, causes, out);
        if writes {
            self.processor.accessed()
        } else {
            self.processor.missed(line)
        };
        Ok(())
    }

    /// Asks the home for a line.
    fn miss(&mut self, kind: MessageKind, line: Line, causes: Causes, out: &mut Vec<Outgoing>) {
        let writes = kind != MessageKind::Read;
        self.misses.push(Miss { line, writes, then_writes: false, invalidated: false, deferred: None });
        self.missed += 1;
        let message = Message { kind, from: self.number, to: line.home(), line };
        out.push(Outgoing { delay: 0, message, causes });
    }

    /// A message to the cache; returns whether the waiting processor may continue.
    pub(crate) fn receive(&mut self, message: Message, now: Time, causes: Causes, out: &mut Vec<Outgoing>) -> bool {
        let line = message.line;
        match message.kind {
            MessageKind::Data { exclusive, .. } => self.filled(line, exclusive, now, causes, out),
            MessageKind::Grant { .. } => self.filled(line, true, now, causes, out),
            MessageKind::WrittenBack => {
                self.given_up.remove(&line);
                let waited = self.stalled == Some(Stall::GivenUp(line));
                if waited {
                    self.processor.wait_until(now, &causes);
                }
                waited
            }
            MessageKind::Invalidate { because } => {
                self.cache.change(line, None);
                if let Some(miss) = self.misses.iter_mut().find(|miss| miss.line == line) {
                    miss.invalidated = true;
                }
                self.answer(MessageKind::Acknowledge { own: because == Trigger::Own }, message, causes, out);
                false
            }
            MessageKind::Forward { .. } => {
                let owns = matches!(self.cache.state(line), Some(State::Exclusive | State::Modified));
                let miss = self.misses.iter_mut().find(|miss| miss.line == line);
                match miss {
                    Some(miss) if !owns && !self.given_up.contains(&line) => miss.deferred = Some((message, causes)),
                    Some(_) | None => self.give(message, causes, out),
                }
                false
            }
            MessageKind::Read
            | MessageKind::Write
            | MessageKind::Upgrade
            | MessageKind::Acknowledge { .. }
            | MessageKind::OwnerData { .. }
            | MessageKind::WriteBack { .. }
            | MessageKind::Arrive
            | MessageKind::Release => false,
        }
    }

    fn answer(&self, kind: MessageKind, question: Message, causes: Causes, out: &mut Vec<Outgoing>) {
        let message = Message { kind, from: self.number, to: question.from, line: question.line };
        out.push(Outgoing { delay: ANSWER, message, causes: causes.after(ANSWER) });
    }

    /// Gives the home a requested line.
    fn give(&mut self, question: Message, causes: Causes, out: &mut Vec<Outgoing>) {
        let exclusive = matches!(question.kind, MessageKind::Forward { exclusive: true, .. });
        let own = matches!(question.kind, MessageKind::Forward { because: Trigger::Own, .. });
        self.cache.change(question.line, (!exclusive).then_some(State::Shared));
        self.answer(MessageKind::OwnerData { own }, question, causes, out);
    }

    /// A line has come, or may be written.
    fn filled(&mut self, line: Line, exclusive: bool, now: Time, causes: Causes, out: &mut Vec<Outgoing>) -> bool {
        let Some(place) = self.misses.iter().position(|miss| miss.line == line) else { return false };
        let miss = self.misses.remove(place);
        let state = match exclusive {
            true if miss.writes || miss.then_writes => State::Modified,
            true => State::Exclusive,
            false => State::Shared,
        };
        if exclusive || !miss.invalidated {
            let misses = &self.misses;
            let kept = |other| misses.iter().any(|miss| miss.line == other);
            if let Some((victim, state)) = self.cache.take_in(line, state, kept) {
                self.give_up(victim, state, &causes, out);
            }
        }
        self.processor.complete(line, now, &causes);
        if let Some((_, come)) = self.queue.iter_mut().find(|(other, come)| *other == line && come.is_none()) {
            *come = Some((now, causes.clone()));
        }
        if miss.writes {
            self.written.0 = now;
            self.written.1.join(&causes);
        }
        if let Some((question, asked)) = miss.deferred {
            let mut both = asked;
            both.join(&causes);
            self.give(question, both, out);
        }
        let waited = matches!(self.stalled, Some(Stall::Access | Stall::Full));
        if !exclusive && miss.then_writes {
            let kind = if miss.invalidated { MessageKind::Write } else { MessageKind::Upgrade };
            self.miss(kind, line, causes, out);
        }
        waited
    }

    /// Gives up a line to make room; a home need not know of copies that are gone.
    fn give_up(&mut self, line: Line, state: State, causes: &Causes, out: &mut Vec<Outgoing>) {
        let dirty = match state {
            State::Shared => return,
            State::Exclusive => false,
            State::Modified => true,
        };
        self.given_up.insert(line);
        let message = Message { kind: MessageKind::WriteBack { dirty }, from: self.number, to: line.home(), line };
        out.push(Outgoing { delay: 0, message, causes: causes.clone() });
    }
}
