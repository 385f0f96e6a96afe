//! The messages of non-blocking collectives, told when these are started.
//!
//! An extended trace has them before the event that completed the collective: only then had all been seen. A replay wants
//! them where the collective starts, where those of blocking ones stand, and so they are moved there.

use std::collections::VecDeque;
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Event, RequestId, Requests, Seen, ThreadId};
use titr_common::passage::Passage;
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
        let mut events = Passage::default();
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
        found: &mut Passage,
    ) -> Result<(), TraceError> {
        let mut at = 0;
        while at < REACH {
            let Some(Ahead { event, .. }) = self.ahead.get(at) else {
                if self.read_on()? {
                    continue;
                }
                break;
            };
            match event {
                Event::Seen(Seen::Message(message)) if (message.comm, message.number) == (comm, number) => {
                    self.ahead.remove(at).into_iter().for_each(|ahead| found.push(ahead.event));
                    continue;
                }
                Event::Wait(_, requests) | Event::Test(_, Some(requests)) if names(requests, request) => break,
                _ => at += 1,
            }
        }
        Ok(())
    }

    fn count(&mut self, comm: CommId) -> u64 {
        let number = self.numbers.entry(comm).or_default();
        *number += 1;
        *number - 1
    }
}

fn names(requests: &Requests, request: RequestId) -> bool {
    match requests {
        Requests::Outstanding(_) => true,
        Requests::One(_, one) => *one == Some(request),
        Requests::These(these) => these.contains(&request),
    }
}

impl<P: Program> Program for Foresight<P> {
    fn read(&mut self, events: &mut Passage) -> Result<bool, TraceError> {
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
        match &event {
            Event::CommCreate(_, _, Some(group)) => {
                self.numbers.remove(&group.id);
            }
            Event::Collective(collective) | Event::CollectiveInit(collective, _) => {
                self.count(collective.comm);
            }
            Event::Icollective(collective, request) => {
                let number = self.count(collective.comm);
                self.foresee(collective.comm, number, *request, events)?;
            }
            _ => {}
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
