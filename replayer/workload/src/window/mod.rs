//! A rank's events in the order of its trace, with facts that the trace holds only later.
//!
//! A trace records the match of a wildcard receive when the program learnt it, before the event that completes its
//! request. A replay needs it when the receive is posted: the recorded match makes a replay deterministic, and gives the
//! program the messages that it got.
//!
//! A window therefore looks ahead, at each event once, regardless of the number of queries. It keeps a limited number of
//! events in memory: facts that are further away are found by reading the events of the rank a second time.

mod facts;
mod far;
mod lookahead;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;

use titr_common::event::{Annotation, Event, Message, Span, Task, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{EventSource, TraceError};

use crate::prefetch::{Batch, BatchEnd, BatchReader};
use facts::Facts;
pub use facts::Match;
use far::FarFacts;
use lookahead::Unseen;

/// The remaining events of one rank.
///
/// The *next* event is always one that a rank [executes](Event::is_executed): the window passes over the others, and
/// returns their facts on demand.
pub struct Window<S> {
    reader: BatchReader<S>,
    /// The batch that the next event is in, and its index there.
    batch: Batch,
    at: usize,
    /// The index after the last event in the batch that is of the same thread as the next event.
    run_end: usize,
    /// The index in the batch of the event that was given out last; [`LEFT`] if it was in the batch before.
    given: usize,
    /// That event and its line, if it was in the batch before.
    left: Option<(Event, Option<u64>)>,
    /// The batches after this one that were read so far.
    further: VecDeque<Batch>,
    /// The number of events before the next one.
    position: u64,
    /// The number of events, from the next one on, that were examined.
    seen: usize,
    /// The first event that was not examined, if any was.
    unseen: Unseen,
    /// The facts that the events looked at tell.
    facts: Facts,
    /// Those that were out of reach, once one was.
    far: Option<Box<FarFacts>>,
    /// Whether requests may have been cancelled.
    may_cancel: bool,
    /// The messages recorded before the next event; `None` if no annotation has any.
    messages: Option<Vec<Message>>,
    /// The times of the call recorded before the next event, until taken.
    call: Option<Span>,
    /// The tasks recorded before the next event, until taken: the last is the event's, and the others are empty.
    tasks: VecDeque<Task>,
}

/// The index of an event that is not in the batch any more.
const LEFT: usize = usize::MAX;

impl<S: EventSource> Window<S> {
    pub(crate) fn new(reader: BatchReader<S>) -> Self {
        Self {
            reader,
            batch: Batch::default(),
            at: 0,
            run_end: 0,
            given: LEFT,
            left: None,
            further: VecDeque::new(),
            seen: 0,
            position: 0,
            unseen: Unseen::default(),
            facts: Facts::default(),
            far: None,
            may_cancel: true,
            messages: None,
            call: None,
            tasks: VecDeque::new(),
        }
    }

    /// Declares whether requests may have been cancelled.
    pub(crate) fn set_may_cancel(&mut self, may_cancel: bool) {
        self.may_cancel = may_cancel;
    }

    /// The file that the events come from, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&PathBuf> {
        self.reader.path.as_ref()
    }

    /// The line of the event that was given out last.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self.given {
            LEFT => self.left.as_ref().and_then(|(_, line)| *line),
            given => self.batch.events.location(given).line,
        }
    }

    /// The file and the line of the event that was given out last.
    #[must_use]
    pub fn place(&self) -> Option<(PathBuf, u64)> {
        self.path().cloned().zip(self.line())
    }

    /// The event that was given out last, and its line.
    pub fn given(&self) -> Option<(Event, Option<u64>)> {
        if self.given == LEFT {
            return self.left.clone();
        }
        Some((self.batch.events.get(self.given)?.to_event(), self.line()))
    }

    /// The thread of the next event.
    pub fn thread(&self) -> ThreadId {
        self.batch.events.thread(self.at)
    }

    /// The reason why the trace ends before the program did; `None` if it does not, or if the window is not yet at its
    /// end.
    #[must_use]
    pub fn torn(&self) -> Option<String> {
        match &self.batch.then {
            BatchEnd::End(reason) => reason.clone(),
            BatchEnd::More | BatchEnd::Fault(_) => None,
        }
    }

    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn front(&mut self) -> Result<Option<EventRef<'_>>, TraceError> {
        Ok(if self.settle()? { self.give() } else { None })
    }

    /// The times of the next event's call by the rank's clock, if the trace has them and they were not taken yet.
    pub fn take_call(&mut self) -> Option<Span> {
        self.call.take()
    }

    /// The messages of the next event, a collective; `None` if the trace has none.
    pub fn take_messages(&mut self) -> Option<Vec<Message>> {
        self.messages.take()
    }

    /// Whether the next event is of a task that was not taken yet.
    #[must_use]
    pub fn has_task(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Takes the first of the tasks recorded before the next event. The last of them is the task of the event; the others
    /// have none.
    pub fn take_task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    /// Whether the next event is here and needs no more reading.
    #[inline]
    pub fn has_next(&self) -> bool {
        match self.batch.events.get(self.at) {
            None => false,
            Some(EventRef::Event(event)) => event.is_executed(),
            Some(EventRef::Compute(_) | EventRef::Send(..) | EventRef::Recv(..)) => true,
        }
    }

    /// The next event, if it [is here](Self::has_next).
    #[inline]
    pub fn give(&mut self) -> Option<EventRef<'_>> {
        self.given = self.at;
        self.batch.events.get(self.at)
    }

    /// The next events, the annotations before them included, as far as they are in the same batch.
    #[inline]
    pub fn upcoming(&self) -> impl Iterator<Item = EventRef<'_>> {
        let again = if self.batch.again > 0 { 0..self.at } else { 0..0 };
        (self.at..self.batch.events.len()).chain(again).filter_map(|index| self.batch.events.get(index))
    }

    /// The event that was given out last, before it is passed.
    #[inline]
    pub fn current(&self) -> Option<EventRef<'_>> {
        self.batch.events.get(self.at)
    }

    /// Passes over annotations before the next event; false at the end.
    pub fn settle(&mut self) -> Result<bool, TraceError> {
        while !self.has_next() {
            match self.batch.events.get(self.at) {
                Some(EventRef::Event(&Event::Annotation(seen))) => {
                    match seen {
                        Annotation::Call(call) => {
                            self.call = Some(call);
                            self.messages.get_or_insert_default().clear();
                        }
                        Annotation::Message(message) => self.messages.get_or_insert_default().push(message),
                    }
                    self.pass();
                }
                Some(EventRef::Event(Event::Task(task))) => {
                    self.tasks.push_back(task.clone());
                    self.pass();
                }
                Some(_) => {
                    self.pass();
                }
                None => match std::mem::take(&mut self.batch.then) {
                    BatchEnd::More => self.turn(),
                    BatchEnd::Fault(error) => return Err(*error),
                    end @ BatchEnd::End(_) => {
                        self.batch.then = end;
                        return Ok(false);
                    }
                },
            }
        }
        Ok(true)
    }

    /// Goes on to the event after the next one; true if that is of another thread.
    #[inline]
    pub fn pass(&mut self) -> bool {
        self.at += 1;
        self.position += 1;
        if self.at < self.run_end && self.facts.are_none() {
            self.seen = self.seen.saturating_sub(1);
            return false;
        }
        self.pass_with_care()
    }

    /// Goes on where that takes more than a step.
    #[cold]
    fn pass_with_care(&mut self) -> bool {
        self.seen = self.seen.saturating_sub(1);
        let mut of_another = false;
        if self.at == self.run_end {
            let thread = self.batch.events.thread(self.at - 1);
            if self.at == self.batch.events.len() && !self.begin_round() && matches!(self.batch.then, BatchEnd::More) {
                self.turn();
            }
            self.run_end = self.batch.events.end_of_run(self.at);
            of_another = self.at < self.run_end && self.thread() != thread;
        }
        if self.seen == 0 {
            self.facts.forget_requests();
        } else if let Some(next) = self.batch.events.get(self.at) {
            self.facts.reach(next);
        }
        of_another
    }

    /// Goes back to the first event of the batch, if it comes again.
    fn begin_round(&mut self) -> bool {
        let mut again = self.batch.again;
        let is_again = self.batch.begin_round(&mut self.at, &mut again);
        self.batch.again = again;
        is_again
    }

    /// Goes on to the next batch.
    #[cold]
    fn turn(&mut self) {
        if let Some(event) = self.batch.events.get(self.given) {
            self.left = Some((event.to_event(), self.line()));
            self.given = LEFT;
        }
        match self.further.pop_front() {
            Some(next) => self.batch = next,
            None => self.reader.turn(&mut self.batch),
        }
        self.unseen = match self.unseen.batch.checked_sub(1) {
            Some(batch) => Unseen { batch, ..self.unseen },
            None => Unseen { batch: 0, index: 0, again: self.batch.again },
        };
        self.at = 0;
        self.run_end = self.batch.events.end_of_run(0);
    }
}
