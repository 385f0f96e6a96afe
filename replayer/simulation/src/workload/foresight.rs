//! The messages of non-blocking collectives, told when these are started.
//!
//! An extended trace has them before the event that completed the collective: only then had all been seen. A replay wants
//! them where the collective starts, where those of blocking ones stand, and so they are moved there.

use std::collections::VecDeque;
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, CommId, Completed, Completion, Event, RequestId, ThreadId};
use titr_common::event_buffer::EventBuffer;
use titr_common::trace::TraceError;

use super::Program;

/// How many events are read ahead at most.
const REACH: usize = 1 << 18;

/// A rank's events with the messages of its collectives moved.
pub struct Foresight<P> {
    program: P,
    /// Whether they are moved at all.
    wanted: bool,
    ahead: VecDeque<Ahead>,
    /// Where the event stood that was given out last.
    given: (ThreadId, Option<u64>),
    /// How many collectives there were on each communicator.
    numbers: FxHashMap<CommId, u64>,
}

/// An event that was read ahead, whose it is, and its line.
struct Ahead {
    event: Event,
    thread: ThreadId,
    line: Option<u64>,
}

impl<P: Program> Foresight<P> {
    /// The events of `program`, changed if that is `wanted`.
    pub fn new(program: P, wanted: bool) -> Self {
        let given = (ThreadId::MAIN, None);
        Self { program, wanted, ahead: VecDeque::new(), given, numbers: FxHashMap::default() }
    }

    /// Reads more; false at the end.
    fn read_on(&mut self) -> Result<bool, TraceError> {
        let mut events = EventBuffer::default();
        let more = self.program.read(&mut events)?;
        let (thread, line) = (self.program.thread(), self.program.line());
        self.ahead.extend(events.iter().map(|moment| Ahead { event: moment.to_event(), thread, line }));
        Ok(more)
    }

    /// Takes the messages of a collective from the events to come, as far as that which completes it.
    fn foresee(
        &mut self,
        comm: CommId,
        number: u64,
        request: RequestId,
        found: &mut EventBuffer,
    ) -> Result<(), TraceError> {
        let mut at = 0;
        while at < REACH {
            let Some(Ahead { event, .. }) = self.ahead.get(at) else {
                if self.read_on()? {
                    continue;
                }
                break;
            };
            if let Event::Annotation(Annotation::Message(message)) = event
                && (message.comm, message.number) == (comm, number)
            {
                self.ahead.remove(at).into_iter().for_each(|ahead| found.push(ahead.event));
                continue;
            }
            if let Event::Wait(_, completed) | Event::Test(_, Some(completed)) = event
                && names(completed, request)
            {
                break;
            }
            at += 1;
        }
        Ok(())
    }

    fn count(&mut self, comm: CommId) -> u64 {
        let number = self.numbers.entry(comm).or_default();
        *number += 1;
        *number - 1
    }
}

fn names(completed: &Completed, request: RequestId) -> bool {
    match completed {
        Completed::Outstanding(_) => true,
        Completed::One(_, one) => *one == Some(request),
        Completed::These(these) => these.contains(&request),
    }
}

impl<P: Program> Program for Foresight<P> {
    fn read(&mut self, events: &mut EventBuffer) -> Result<bool, TraceError> {
        if !self.wanted {
            return self.program.read(events);
        }
        while self.ahead.is_empty() {
            if !self.read_on()? {
                return Ok(false);
            }
        }
        let Some(Ahead { event, thread, line }) = self.ahead.pop_front() else { return Ok(false) };
        self.given = (thread, line);
        if let Event::CommCreate(_, _, Some(group)) = &event {
            self.numbers.remove(&group.id);
        }
        if let Event::Collective(collective, completion) = &event {
            let number = self.count(collective.comm);
            if let Completion::Request(request) = *completion {
                self.foresee(collective.comm, number, request, events)?;
            }
        }
        events.push(event);
        Ok(true)
    }

    fn path(&self) -> Option<PathBuf> {
        self.program.path()
    }

    fn line(&self) -> Option<u64> {
        if self.wanted { self.given.1 } else { self.program.line() }
    }

    fn thread(&self) -> ThreadId {
        if self.wanted { self.given.0 } else { self.program.thread() }
    }

    fn torn(&self) -> Option<String> {
        self.program.torn()
    }
}
