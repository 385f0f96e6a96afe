//! What a wildcard receive was matched with when it was recorded, told when it is posted.
//!
//! A trace says so only when the program learnt it: in a `matched` before the event that completes the request. Replaying the
//! recorded match keeps a replay deterministic, and its messages what the program got, so the events between are
//! read ahead. Each event is read once, whatever the number of receives that look; how far one may look is bounded.

use std::collections::VecDeque;
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, Event, Message, Rank, RequestId, Tag, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::TraceError;

use super::Program;
use super::batch::{Batch, Then};
use super::reader::Reader;

/// How many events are read ahead at most. HPCC's RandomAccess asks after a receive 70,000 times before it is matched.
const REACH: usize = 1 << 18;

pub(super) struct LookAhead<P> {
    reader: Reader<P>,
    /// The batch that the next event is in, and its index there.
    batch: Batch,
    at: usize,
    /// The one that was given out last: the same, or the one before.
    given: usize,
    /// The batches after it that were read so far.
    further: VecDeque<Batch>,
    /// How many events, from the next one on, were looked at.
    seen: usize,
    /// The first one that was not, if any was: the batch, counted from this one, and the index there.
    unseen: (usize, usize),
    /// What was seen about each request, in order.
    marks: FxHashMap<RequestId, VecDeque<Mark>>,
    /// What the call of the next event was made of, as far as an extended trace tells.
    messages: Option<Vec<Message>>,
    /// What is done about events of other threads than the main one.
    threads: Threads,
}

/// What to do about events of other threads than the main one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threads {
    /// To stop before a batch that has some: none was met so far.
    Stop,
    /// The next batch has some.
    Met,
    /// To give them out as all others.
    Mixed,
}

/// What became of a receive that left its source or tag open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It got a message from this rank with this tag.
    With(Rank, Tag),
    /// It was cancelled before it got one (MPI 4.0 §3.8.4).
    Cancelled,
}

enum Mark {
    /// It is started, again.
    Started,
    Matched(Rank, Tag),
    Cancelled,
}

impl<P: Program> LookAhead<P> {
    pub(super) fn new(reader: Reader<P>) -> Self {
        let (batch, further, marks) = (Batch::default(), VecDeque::new(), FxHashMap::default());
        let (threads, messages) = (Threads::Stop, None);
        Self { reader, batch, at: 0, given: 0, further, seen: 0, unseen: (0, 0), marks, messages, threads }
    }

    /// The same, giving out the events of all threads in the order of the trace.
    pub(super) fn mixed(self) -> Self {
        Self { threads: Threads::Mixed, ..self }
    }

    /// What is left, if it has stopped where the events of other threads begin; it is at its end then.
    pub(super) fn take_mixed(&mut self) -> Option<Self> {
        (self.threads == Threads::Met).then(|| {
            let mut end = Self::new(self.reader.gone());
            end.batch.then = Then::End(None);
            std::mem::replace(self, end).mixed()
        })
    }

    /// Whether there are events of other threads within so many events of all that was looked at; it stops here then.
    pub(super) fn finds_threads(&mut self, within: usize) -> bool {
        if self.threads != Threads::Stop {
            return false;
        }
        let mut looked = 0;
        for next in 0.. {
            let last = self.further.back().unwrap_or(&self.batch);
            if next == self.further.len() {
                if looked > within || !matches!(last.then, Then::More) {
                    return false;
                }
                self.further.push_back(self.reader.next(Batch::default()));
            }
            let Some(batch) = self.further.get(next) else { return false };
            if batch.has_threads() {
                self.threads = Threads::Met;
                return true;
            }
            looked += batch.events.len();
        }
        false
    }

    /// How many events were passed since it came to its end.
    pub(super) fn take_passed(&mut self) -> usize {
        std::mem::take(&mut self.at)
    }

    /// The file.
    pub(super) fn path(&self) -> Option<&PathBuf> {
        self.reader.path.as_ref()
    }

    /// The line of the event that was given out last.
    pub(super) fn line(&self) -> Option<u64> {
        self.batch.line(self.given)
    }

    /// The thread whose event the next one is.
    pub(super) fn thread(&self) -> ThreadId {
        self.batch.thread(self.at)
    }

    pub(super) fn torn(&self) -> Option<String> {
        match &self.batch.then {
            Then::End(reason) => reason.clone(),
            Then::More | Then::Fault(_) => None,
        }
    }

    /// The next event.
    pub(super) fn front(&mut self) -> Result<Option<EventRef<'_>>, TraceError> {
        Ok(if self.settle()? { self.give() } else { None })
    }

    /// Whether the next event is here.
    #[inline]
    pub(super) fn has_next(&self) -> bool {
        let next = self.batch.events.get(self.at);
        !matches!(next, None | Some(EventRef::Event(Event::Matched(..) | Event::Annotation(_))))
    }

    /// Gives it out.
    #[inline]
    pub(super) fn give(&mut self) -> Option<EventRef<'_>> {
        self.given = self.at;
        self.batch.events.get(self.at)
    }

    /// Sees to it that the next event is here; false at the end.
    pub(super) fn settle(&mut self) -> Result<bool, TraceError> {
        while !self.has_next() {
            match self.batch.events.get(self.at) {
                Some(EventRef::Event(&Event::Annotation(seen))) => {
                    match seen {
                        Annotation::Call(_) => self.messages.get_or_insert_default().clear(),
                        Annotation::Message(message) => self.messages.get_or_insert_default().push(message),
                    }
                    self.pass();
                }
                Some(_) => self.pass(),
                None => {
                    if !self.turn()? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// The messages that the next event, a collective, was made of.
    pub(super) fn take_messages(&mut self) -> Option<Vec<Message>> {
        self.messages.take()
    }

    /// Goes on to the next batch; false if there is none.
    #[cold]
    fn turn(&mut self) -> Result<bool, TraceError> {
        match std::mem::take(&mut self.batch.then) {
            Then::More if self.threads == Threads::Met => Ok(false),
            Then::More => {
                let used = std::mem::take(&mut self.batch);
                let next = self.further.pop_front().unwrap_or_else(|| self.reader.next(used));
                self.at = 0;
                self.unseen = self.unseen.0.checked_sub(1).map_or((0, 0), |batch| (batch, self.unseen.1));
                if next.has_threads() && self.threads == Threads::Stop {
                    self.threads = Threads::Met;
                    self.further.push_front(next);
                    return Ok(false);
                }
                self.batch = next;
                Ok(true)
            }
            Then::Fault(error) => Err(*error),
            end @ Then::End(_) => {
                self.batch.then = end;
                Ok(false)
            }
        }
    }

    /// Goes on to the event after it.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.at += 1;
        self.seen = self.seen.saturating_sub(1);
        if self.marks.is_empty() {
            return;
        }
        if self.seen == 0 {
            self.marks.clear();
            return;
        }
        let next = self.batch.events.get(self.at).or_else(|| self.further.front()?.events.get(0));
        let Some(EventRef::Event(next)) = next else { return };
        for request in next.starts() {
            // A match before this start was out of reach of the start it belongs to.
            while let Some(marks) = self.marks.get_mut(request)
                && !matches!(marks.pop_front(), Some(Mark::Started) | None)
            {}
        }
    }

    /// What becomes of `request`, which the next event starts; `None` if that is not told within reach.
    pub(super) fn matched(&mut self, request: RequestId) -> Result<Option<Match>, TraceError> {
        if self.seen == 0 {
            self.seen = 1;
            self.unseen = (0, self.at + 1);
        }
        loop {
            let marks = self.marks.entry(request).or_default();
            let mut cancelled = None;
            while let Some(mark) = marks.front() {
                match *mark {
                    // A match after a cancel: the message was faster.
                    Mark::Matched(source, tag) => {
                        marks.pop_front();
                        return Ok(Some(Match::With(source, tag)));
                    }
                    Mark::Started => return Ok(cancelled),
                    Mark::Cancelled => {
                        cancelled = Some(Match::Cancelled);
                        if marks.len() == 1 {
                            break;
                        }
                        marks.pop_front();
                    }
                }
            }
            if self.seen > REACH || !self.see()? {
                return Ok(cancelled);
            }
        }
    }

    /// Looks at one more event; false if there is none.
    fn see(&mut self) -> Result<bool, TraceError> {
        let moment = loop {
            let ((at, index), further) = (self.unseen, self.further.len());
            let batch = match at.checked_sub(1) {
                Some(at) => &mut self.further[at],
                None => &mut self.batch,
            };
            if index < batch.events.len() {
                break batch.events.get(index);
            }
            if at < further {
                self.unseen = (at + 1, 0);
                continue;
            }
            match std::mem::take(&mut batch.then) {
                Then::More => self.further.push_back(self.reader.next(Batch::default())),
                Then::Fault(error) => return Err(*error),
                end @ Then::End(_) => {
                    batch.then = end;
                    return Ok(false);
                }
            }
        };
        self.seen += 1;
        self.unseen.1 += 1;
        let Some(EventRef::Event(event)) = moment else { return Ok(true) };
        if let &Event::Matched(request, source, tag) = event {
            self.marks.entry(request).or_default().push_back(Mark::Matched(source, tag));
        }
        if let &Event::Cancel(request) = event {
            self.marks.entry(request).or_default().push_back(Mark::Cancelled);
        }
        for &request in event.starts() {
            self.marks.entry(request).or_default().push_back(Mark::Started);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use titr_common::event::{CommId, Completed, Completion, Incoming, Quantifier, Wildcard};
    use titr_common::units::{Bytes, Instructions};

    use super::*;

    fn irecv(request: u32) -> Event {
        let wildcard = Wildcard { source: true, tag: true };
        let incoming = Incoming { comm: CommId::WORLD, from: None, tag: None, bytes: Bytes(1), wildcard };
        Event::Recv(incoming, Completion::Request(Some(RequestId(request))))
    }

    fn matched(request: u32, source: u32) -> Event {
        Event::Matched(RequestId(request), Rank(source), Tag(0))
    }

    fn wait(request: u32) -> Event {
        Event::Wait(Quantifier::Single, Completed::These(vec![RequestId(request)]))
    }

    fn compute() -> Event {
        Event::Compute(Instructions(1.0))
    }

    /// What a receive is told: the source, that it is cancelled, or nothing.
    type Told = Option<Result<u32, &'static str>>;

    /// Gives out all events, asking at each receive.
    fn sources(events: Vec<Event>) -> (Vec<Told>, Vec<Event>) {
        let mut ahead = LookAhead::new(Reader::new(events.into_iter(), 1000));
        let (mut sources, mut given) = (Vec::new(), Vec::new());
        while let Some(event) = ahead.front().unwrap().map(EventRef::to_event) {
            for &request in event.starts() {
                sources.push(ahead.matched(request).unwrap().map(|found| match found {
                    Match::With(source, _) => Ok(source.0),
                    Match::Cancelled => Err("cancelled"),
                }));
            }
            given.push(event);
            ahead.pass();
        }
        (sources, given)
    }

    #[test]
    fn each_receive_is_told_its_own_match() {
        let events = vec![
            irecv(0),
            irecv(1),
            compute(),
            matched(1, 5),
            wait(1),
            irecv(1),
            matched(0, 6),
            wait(0),
            matched(1, 7),
            wait(1),
        ];
        let (told, given) = sources(events);
        assert_eq!(told, [6, 5, 7].map(|source| Some(Ok(source))));
        assert_eq!(given, [irecv(0), irecv(1), compute(), wait(1), irecv(1), wait(0), wait(1)]);
    }

    #[test]
    fn one_that_never_matched_is_not_told_another_ones() {
        let (told, _) = sources(vec![irecv(0), wait(0), irecv(0), matched(0, 5), wait(0)]);
        assert_eq!(told, [None, Some(Ok(5))]);
    }

    #[test]
    fn a_cancel_counts_unless_the_message_was_faster() {
        let cancel = || Event::Cancel(RequestId(0));
        let (told, _) = sources(vec![irecv(0), cancel(), wait(0), irecv(0), cancel(), matched(0, 5), wait(0)]);
        assert_eq!(told, [Some(Err("cancelled")), Some(Ok(5))]);
        let (told, _) = sources(vec![irecv(0), cancel(), wait(0)]);
        assert_eq!(told, [Some(Err("cancelled"))]);
    }

    #[test]
    fn a_match_out_of_reach_is_nobodys() {
        let mut events = vec![irecv(0)];
        events.extend(std::iter::repeat_n(compute(), REACH));
        events.extend([matched(0, 5), wait(0), irecv(0), matched(0, 6), wait(0)]);
        let (told, given) = sources(events);
        assert_eq!(told, [None, Some(Ok(6))]);
        assert_eq!(given.len(), REACH + 4);
    }
}
