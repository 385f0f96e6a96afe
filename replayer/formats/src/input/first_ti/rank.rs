//! The events of a rank.

use std::path::PathBuf;

use titr_common::event::CommId;
use titr_common::event::{
    Completed, Completion, Event, Incoming, Outgoing, Quantifier, Rank, RequestKey, SendMode, Tag, Wildcard,
};
use titr_common::trace::{EventSource, Lines, LocatedEvents, Location, TraceError};

use super::event::{FirstTiIsBlocking, FirstTiLine, parse, rank_of};
use crate::input::requests::Requests;

/// The tag of every message.
const TAG: Tag = Tag(0);
/// The size of an element in a program whose `init` has an argument.
const DOUBLE: u64 = 8;

/// The events of a rank.
pub(super) struct FirstTiRankSource {
    lines: Lines,
    me: Rank,
    ranks: u32,
    /// Whether all lines of the file are of this rank.
    is_alone: bool,
    requests: Requests<()>,
    /// The names of requests that are active, the newest last.
    active: Vec<u64>,
    made: u64,
    element: u64,
    stage: FirstTiStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstTiStage {
    Start,
    Running,
    Finalized,
    Ended,
}

impl FirstTiRankSource {
    pub(super) fn new(lines: Lines, me: Rank, ranks: u32, is_alone: bool) -> Self {
        let (requests, active) = (Requests::default(), Vec::new());
        Self { lines, me, ranks, is_alone, requests, active, made: 0, element: 1, stage: FirstTiStage::Start }
    }

    fn step(&mut self, events: &mut LocatedEvents) -> Result<(), TraceError> {
        let Some(text) = self.lines.next()? else {
            // The programs of the oldest traces have neither.
            if self.stage == FirstTiStage::Start {
                events.push(Event::Init, Location::default());
            }
            if self.stage != FirstTiStage::Finalized {
                events.push(Event::Finalize, Location::default());
            }
            self.stage = FirstTiStage::Ended;
            return Ok(());
        };
        let text = text.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            return Ok(());
        }
        let rank = text.split(u8::is_ascii_whitespace).next().and_then(rank_of);
        if !self.is_alone && rank.is_some_and(|rank| rank != self.me) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(text).into_owned();
        let line = self.lines.line();
        let event = match rank {
            None => Err("a line of no rank".to_owned()),
            Some(rank) if rank != self.me => Err(format!("rank {} in the file of rank {}", rank.0, self.me.0)),
            Some(_) => parse(&text, self.ranks, self.element),
        };
        let location = Location { line: Some(line), ..Location::default() };
        event.and_then(|event| self.event(event, &text, events, location)).map_err(|what| {
            let (path, place) = (self.lines.path().to_owned(), format!("line {line}"));
            let text: String = text.chars().take(80).collect();
            TraceError::Foreign { path, place, what: format!("{what} (in '{text}')") }
        })
    }

    fn event(
        &mut self,
        line: FirstTiLine,
        text: &str,
        events: &mut LocatedEvents,
        location: Location,
    ) -> Result<(), String> {
        if self.stage == FirstTiStage::Finalized || (line == FirstTiLine::Init && self.stage == FirstTiStage::Running) {
            return Err("an event after 'finalize', or a second 'init'".to_owned());
        }
        if self.stage == FirstTiStage::Start && line != FirstTiLine::Init {
            events.push(Event::Init, location);
        }
        self.stage = if line == FirstTiLine::Finalize { FirstTiStage::Finalized } else { FirstTiStage::Running };
        let (comm, me, tag) = (CommId::WORLD, self.me, TAG);
        let event = match line {
            FirstTiLine::Init => {
                if text.split_ascii_whitespace().count() > 2 {
                    self.element = DOUBLE;
                }
                Event::Init
            }
            FirstTiLine::Finalize => Event::Finalize,
            FirstTiLine::CommSize(size) if size == self.ranks => return Ok(()),
            FirstTiLine::CommSize(size) => return Err(format!("{size} ranks, and the trace has {}", self.ranks)),
            FirstTiLine::Compute(volume) => Event::Compute(volume),
            FirstTiLine::Sleep(time) => Event::Sleep(time),
            FirstTiLine::Send(to, bytes, FirstTiIsBlocking(is_blocking)) => {
                let key = RequestKey { from: Some(me), to, tag: Some(tag) };
                let completion = self.completion(is_blocking, key);
                Event::Send(SendMode::Standard, Outgoing { comm, to, tag, bytes }, completion)
            }
            FirstTiLine::Recv(from, bytes, FirstTiIsBlocking(is_blocking)) => {
                let key = RequestKey { from: Some(from), to: me, tag: Some(tag) };
                let completion = self.completion(is_blocking, key);
                let (from, tag) = (Some(from), Some(tag));
                Event::Recv(Incoming { comm, from, tag, bytes, wildcard: Wildcard::NONE }, completion)
            }
            FirstTiLine::Wait => {
                let name = self.active.pop().ok_or("a wait, and no request is active")?;
                self.requests.begin();
                self.requests.complete(name, None, false, |_| {});
                let completed = self.requests.waited_for(Quantifier::Single);
                Event::Wait(Quantifier::Single, completed.ok_or("a wait, and no request is active")?)
            }
            FirstTiLine::WaitAll => {
                self.requests.begin();
                for name in self.active.drain(..) {
                    self.requests.complete(name, None, false, |_| {});
                }
                match self.requests.waited_for(Quantifier::All) {
                    Some(completed @ Completed::Outstanding(_)) => Event::Wait(Quantifier::All, completed),
                    _ => return Ok(()),
                }
            }
            FirstTiLine::Collective(collective) => Event::Collective(collective, Completion::Blocking),
        };
        events.push(event, location);
        Ok(())
    }

    /// The completion of a message: by a request, if the call does not wait.
    fn completion(&mut self, is_blocking: bool, key: RequestKey) -> titr_common::event::MessageCompletion {
        if is_blocking {
            return Completion::Blocking;
        }
        self.made += 1;
        self.active.push(self.made);
        Completion::Request(self.requests.make(self.made, (), Some(key), false))
    }
}

impl EventSource for FirstTiRankSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let before = events.len();
        while self.stage != FirstTiStage::Ended && events.len() == before {
            self.step(events)?;
        }
        Ok(events.len() > before)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.lines.path().to_owned())
    }
}
