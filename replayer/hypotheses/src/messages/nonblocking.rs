//! Turns blocking sends and receives into non-blocking ones.
//!
//! A send returns at once. It is waited for before the rank's next selected send to the same receiver with the same tag
//! and communicator, because the program then reuses the buffer, and before a blocking collective, a call that creates
//! a communicator, and `MPI_Finalize`. A receive is posted before the preceding computation, and waited for where the
//! program receives. Requests that the change adds have numbers that no program reaches, because a program's request
//! has the lowest number that is free.

use std::sync::Arc;

use titr_common::event::{
    CommId, Completed, Completion, Event, Incoming, MessageCompletion, Outgoing, Quantifier, Rank, RequestId, SendMode,
    Tag,
};
use titr_common::trace::{Located, LocatedEvents, Location, Trace, TraceError, Transformation};
use titr_document::Mistake;

use super::agreement::Agreement;
use super::follower::Follower;
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::message_filter::MessageFilter;
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten};

/// Sends and receives no longer block.
pub(crate) const NONBLOCKING: Kind = Kind { name: "nonblocking", read: nonblocking };

/// The first number of a request that the change adds.
const FIRST: u32 = 1 << 31;

/// The calls that become non-blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    Sends,
    Receives,
    Both,
}

fn nonblocking(keys: &mut Keys) -> Result<Effect, Mistake> {
    let filter = MessageFilter::read(keys)?.into();
    let words = [("sends", Calls::Sends), ("receives", Calls::Receives), ("both", Calls::Both)];
    let calls = keys.choice("calls", &words)?.unwrap_or(Calls::Both);
    Ok(Effect::program(Nonblocking { filter, calls }))
}

/// The change of a trace.
struct Nonblocking {
    filter: Arc<MessageFilter>,
    calls: Calls,
}

impl Transformation for Nonblocking {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let agreement = Arc::new(Agreement::of(&trace, &self.filter)?);
        let calls = self.calls;
        Ok(rewritten(trace, &self.filter.selection, move |rank| NonblockingRewrite {
            follower: Follower::new(&agreement, rank),
            calls,
            held: Vec::new(),
            sends: Vec::new(),
            is_task: false,
        }))
    }
}

/// The change of one rank's events.
struct NonblockingRewrite {
    follower: Follower,
    calls: Calls,
    /// Computation and marks since the last call, which a receive may overtake, and annotations of the next event.
    held: Vec<(Event, Location)>,
    /// Sends that are not waited for yet.
    sends: Vec<OpenSend>,
    /// Whether the next event is the one of a task.
    is_task: bool,
}

/// A send in progress.
struct OpenSend {
    request: RequestId,
    to: (CommId, Rank, Tag),
}

impl Rewrite for NonblockingRewrite {
    fn rewrite(&mut self, position: &Position, Located { event, location }: Located<'_>, out: &mut LocatedEvents) {
        let event = event.to_event();
        // The event of a task does not delay the events after it.
        if let Event::Task(_) = event {
            self.finish(out);
            self.is_task = true;
            return out.push(event, location);
        }
        if std::mem::take(&mut self.is_task) {
            self.follower.pass(position, location.thread, &event);
            return out.push(event, location);
        }
        if matches!(event, Event::Compute(_) | Event::Sleep(_) | Event::Mark(_) | Event::Annotation(_)) {
            if self.held.last().is_some_and(|(_, last)| last.thread != location.thread) {
                self.finish(out);
            }
            return self.held.push((event, location));
        }
        let selected = self.follower.pass(position, location.thread, &event);
        if let Event::Send(mode, message, Completion::Blocking) = event
            && selected.sent
            && self.calls != Calls::Receives
        {
            return self.send(mode, message, location, out);
        }
        if let Event::Recv(message, Completion::Blocking) = event
            && selected.received
            && self.calls != Calls::Sends
        {
            return self.receive(message, location, out);
        }
        self.finish(out);
        if synchronises(&event) {
            self.wait_for(out, location, |_| true);
        }
        out.push(event, location);
    }

    fn finish(&mut self, out: &mut LocatedEvents) {
        self.held.drain(..).for_each(|(event, location)| out.push(event, location));
    }
}

impl NonblockingRewrite {
    fn send(&mut self, mode: SendMode, message: Outgoing, location: Location, out: &mut LocatedEvents) {
        self.finish(out);
        let to = (message.comm, message.to, message.tag);
        self.wait_for(out, location, |open| open.to == to);
        let request = self.free_number();
        self.sends.push(OpenSend { request, to });
        out.push(Event::Send(mode, message, MessageCompletion::Request(Some(request))), location);
    }

    fn receive(&mut self, message: Incoming, location: Location, out: &mut LocatedEvents) {
        if self.held.iter().any(|(_, held)| held.thread != location.thread) {
            self.finish(out);
        }
        let request = self.free_number();
        out.push(Event::Recv(message, MessageCompletion::Request(Some(request))), location);
        self.finish(out);
        out.push(wait(vec![request]), location);
    }

    /// Waits for the open sends that are `asked` for.
    fn wait_for(&mut self, out: &mut LocatedEvents, location: Location, asked: impl Fn(&OpenSend) -> bool) {
        let requests: Vec<RequestId> = self.sends.extract_if(.., |open| asked(open)).map(|open| open.request).collect();
        if !requests.is_empty() {
            out.push(wait(requests), location);
        }
    }

    /// The lowest number that no open send has.
    fn free_number(&self) -> RequestId {
        let is_free = |number: &u32| self.sends.iter().all(|open| open.request.0 != *number);
        RequestId((FIRST..).find(is_free).unwrap_or(FIRST))
    }
}

fn wait(requests: Vec<RequestId>) -> Event {
    Event::Wait(Quantifier::All, Completed::These(requests))
}

/// Whether all open sends are waited for before an event.
fn synchronises(event: &Event) -> bool {
    match event {
        Event::Collective(_, Completion::Blocking) | Event::Neighborhood(_, Completion::Blocking) => true,
        Event::CommCreate(..) | Event::CommFree(_) | Event::Finalize => true,
        Event::Collective(..) | Event::Neighborhood(..) | Event::OneSided(_) | Event::File(_) => false,
        Event::Init | Event::Compute(_) | Event::Sleep(_) | Event::Send(..) | Event::Recv(..) => false,
        Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) | Event::Partitioned(_) => false,
        Event::Start(_) | Event::RequestFree(_) | Event::Cancel(_) | Event::Matched(..) => false,
        Event::Wait(..) | Event::Test(..) | Event::Other(_) | Event::Mark(_) | Event::Task(_) => false,
        Event::Annotation(_) => false,
    }
}
