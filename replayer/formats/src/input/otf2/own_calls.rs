//! The calls of archives that titr wrote. Where the records of a call do not say all of it, an attribute has the text of its
//! events, in the grammar of titr's traces without the rank.

use std::sync::Arc;

use titr_common::event::{Annotation, Event, Group, Span};
use titr_common::trace::LocatedEvents;
use titr_common::units::{Instructions, Nanoseconds};

use super::fields::Otf2Fields;
use super::functions::Otf2Function;
use super::own::COUNTED;
use super::translation::{Fault, Otf2Call, Otf2Comm, Otf2Stage, Otf2Translation};

impl Otf2Translation {
    /// Reads the attributes of the next record.
    pub(super) fn attributes(&mut self, mut f: Otf2Fields<'_>) -> Option<()> {
        const TEXT: u8 = 11;
        for _ in 0..f.u32()? {
            let (attribute, kind) = (f.u32()?, f.byte()?);
            if Some(attribute) != self.archive.definitions.calls || kind != TEXT {
                // The length of other values depends on their type.
                return Some(());
            }
            self.thread.own.next = Some(f.u32()?);
        }
        Some(())
    }

    /// Appends the events of a text. `counted` is the computation before, and is appended first unless the text has its
    /// place. The last event is that of a call of this `span`, if there is one.
    pub(super) fn push_own_events(
        &mut self,
        text: u32,
        counted: Instructions,
        span: Option<Span>,
        events: &mut LocatedEvents,
    ) -> Result<(), Fault> {
        let archive = Arc::clone(&self.archive);
        let Some(text) = archive.definitions.texts.get(&text) else {
            return Err(Fault::new(format!("no definition of text {text}, the calls of an attribute")));
        };
        let lines = || text.split(|&byte| byte == b'\n');
        if counted.0 > 0.0 && !lines().any(|line| line == COUNTED.as_bytes()) {
            self.order.push(Event::Compute(counted), events);
        }
        let mut lines = lines().peekable();
        while let Some(line) = lines.next() {
            if line == COUNTED.as_bytes() {
                self.order.push(Event::Compute(counted), events);
                continue;
            }
            let whole = [format!("{} ", self.rank.0).as_bytes(), line].concat();
            let event = match self.thread.own.parser.line(&whole) {
                Ok(Some((_, event))) => event,
                Ok(None) => continue,
                Err(error) => {
                    let line = String::from_utf8_lossy(&whole).into_owned();
                    return Err(Fault::new(format!("the text of a call, '{line}': {error}")));
                }
            };
            if let Event::CommCreate(_, _, Some(group)) = &event
                && let Some(number) = self.thread.own.created.take()
            {
                self.introduced.insert(number, Arc::new(self.made(group)));
            }
            if let Some(span) = span.filter(|_| lines.peek().is_none()) {
                self.order.push(Event::Annotation(Annotation::Call(span)), events);
            }
            self.order.push(event, events);
        }
        Ok(())
    }

    /// Appends what an archive of titr's has before a mark: the computation, and events without a record.
    pub(super) fn before_mark(&mut self, own: Option<u32>, events: &mut LocatedEvents) -> Result<(), Fault> {
        if !self.is_own || self.stage != Otf2Stage::Running {
            return Ok(());
        }
        let counted = Instructions(self.thread.counter.latest.saturating_sub(self.thread.counter.returned) as f64);
        self.thread.counter.returned = self.thread.counter.latest;
        match own {
            Some(text) => return self.push_own_events(text, counted, None, events),
            None if counted.0 > 0.0 => self.order.push(Event::Compute(counted), events),
            None => {}
        }
        Ok(())
    }

    /// Appends the events of a call that has a text.
    pub(super) fn finish_own_call(
        &mut self,
        call: Otf2Call,
        text: u32,
        end: Nanoseconds,
        events: &mut LocatedEvents,
    ) -> Result<(), Fault> {
        self.stage = if call.function == Otf2Function::Finalize { Otf2Stage::After } else { Otf2Stage::Running };
        self.thread.counter.returned = self.thread.counter.latest;
        self.thread.returned = self.thread.returned.max(end);
        let (counted, span) = self.thread.times.next(Span { begin: call.begin, end }, Some(Instructions(call.counted)));
        self.push_own_events(text, counted, Some(span), events)
    }

    /// The communicator that the rank has made.
    fn made(&self, group: &Group) -> Otf2Comm {
        let (mine, remote) = (&group.members, &group.remote);
        let is_inter = !remote.is_empty();
        Otf2Comm {
            id: group.id,
            mine: mine.as_slice().into(),
            peers: if is_inter { remote.as_slice().into() } else { mine.as_slice().into() },
            me: mine.iter().position(|&member| member == self.rank).unwrap_or_default(),
            is_inter,
        }
    }
}
