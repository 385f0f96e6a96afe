//! Executes a rank's events: each call when it is due, with the recorded outcome.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use thiserror::Error;
use titr_common::event::{
    Activity, Collective, CollectiveKind, CommCall, Completion, Event, Incoming, MessageCompletion, Outgoing, RequestId,
};
use titr_common::trace::{EventSource, TraceError};
use titr_workload::{Match, Window};

use super::calls::{self, CallTimes, Times};
use super::communicators::{CommunicatorTable, Fault};
use super::requests::RequestTable;
use super::tags::TagMap;
use crate::{Comm, Mpi, Peer, Request, TagChoice};

/// An error that ends a reenactment early.
#[derive(Debug, Error)]
pub(crate) enum ReenactmentError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("line {line} of its trace: {reason}")]
    Event { line: u64, reason: Fault },
}

/// A request that a call starts, and its recorded match or cancellation.
type RequestOutcome = (RequestId, Option<Match>);

/// The part of one rank.
pub(crate) struct Reenactment<'m> {
    mpi: &'m Mpi,
    communicators: CommunicatorTable<'m>,
    requests: RequestTable<'m>,
    /// The request of a duplication that was begun, which the barrier that follows in the trace stands for.
    duplication: Option<Request<'m>>,
    pace: Pace,
    calls: CallTimes,
    tags: TagMap,
}

/// The elapsed time of a rank.
pub(crate) struct Reenacted {
    /// The seconds until its last call returned.
    pub seconds: f64,
    pub calls: CallTimes,
}

impl<'m> Reenactment<'m> {
    /// A part that begins `delay` seconds from now, in which computation of a volume of `rate` takes a second.
    pub(crate) fn new(mpi: &'m Mpi, rate: f64, delay: f64, tags: TagMap) -> Self {
        let communicators = CommunicatorTable::new(mpi.world(), mpi.alone());
        let mut pace = Pace::new(rate);
        pace.pass(delay);
        let (requests, calls) = (RequestTable::default(), CallTimes::default());
        Self { mpi, communicators, requests, duplication: None, pace, calls, tags }
    }

    pub(crate) fn run(mut self, events: &mut Window<impl EventSource>) -> Result<Reenacted, ReenactmentError> {
        while let Some(event) = events.front()? {
            let event = event.to_event();
            let recorded = events.take_call().map(calls::seconds);
            let mut outcomes = Vec::new();
            for &id in event.starts() {
                outcomes.push((id, events.matched(id)?));
            }
            if let Event::Compute(volume) = event {
                self.pace.compute(volume.0);
            } else if let Event::Sleep(time) = event {
                self.pace.pass(time.0);
            } else if event.activity().is_some_and(|activity| activity != Activity::Compute) {
                let made = self.call(&event, &outcomes, recorded);
                made.map_err(|reason| ReenactmentError::Event { line: events.line().unwrap_or(0), reason })?;
            }
            events.pass();
        }
        self.pace.await_call();
        self.pace.call_returned();
        Ok(Reenacted { seconds: self.pace.seconds(), calls: self.calls })
    }

    /// Makes a call when it is due; `recorded` are the seconds that it took in the program.
    fn call(&mut self, event: &Event, outcomes: &[RequestOutcome], recorded: Option<f64>) -> Result<(), Fault> {
        let [due, waited] = self.pace.await_call();
        let made = self.make(event, outcomes);
        let reenacted = self.pace.call_returned();
        if let (Some(recorded), Some(activity)) = (recorded, event.activity()) {
            self.calls.add(Activity::Compute, Times { recorded: due, reenacted: waited });
            self.calls.add(activity, Times { recorded, reenacted });
        }
        match made {
            // As in the program, which went on.
            Err(Fault::Mpi(error)) if self.mpi.is_truncation(&error) => Ok(()),
            made => made,
        }
    }

    /// Makes a call, with the recorded outcomes of the requests that it starts. What was cancelled exchanges no message.
    fn make(&mut self, event: &Event, outcomes: &[RequestOutcome]) -> Result<(), Fault> {
        // A trace of an older tracer does not say when a duplication is complete.
        if !matches!(event, Event::Collective(..))
            && let Some(mut request) = self.duplication.take()
        {
            request.complete()?;
        }
        let matched = outcomes.first().and_then(|(_, outcome)| *outcome);
        let or_nobody = |peer| if matched == Some(Match::Cancelled) { Peer::Nobody } else { peer };
        match event {
            Event::Finalize | Event::Init | Event::Compute(_) | Event::Sleep(_) => Ok(()),
            Event::Matched(..) | Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => Ok(()),
            Event::Send(mode, message, completion) => {
                let (comm, (to, tag, bytes)) = self.outgoing(message)?;
                match completion {
                    Completion::Blocking => comm.send(*mode, to, tag, bytes)?,
                    MessageCompletion::Request(Some(id)) => {
                        self.requests.add(*id, comm.isend(*mode, or_nobody(to), tag, bytes)?);
                    }
                    MessageCompletion::Request(None) => return Err(Fault::Infeasible),
                    Completion::Persistent(id) => self.requests.add(*id, comm.send_init(*mode, to, tag, bytes)?),
                }
                Ok(())
            }
            Event::Recv(message, completion) => {
                let (comm, (from, tag, bytes)) = self.incoming(&resolved(message, matched))?;
                match completion {
                    Completion::Blocking => comm.recv(from, tag, bytes).map(drop)?,
                    MessageCompletion::Request(Some(id)) => {
                        self.requests.add(*id, comm.irecv(or_nobody(from), tag, bytes)?)
                    }
                    MessageCompletion::Request(None) => return Err(Fault::Infeasible),
                    Completion::Persistent(id) => self.requests.add(*id, comm.recv_init(from, tag, bytes)?),
                }
                Ok(())
            }
            Event::Sendrecv(sent, received) => self.sendrecv(sent.as_ref(), received.as_ref()),
            // The message was there when the program asked: here it may come a little later.
            Event::Probe(message) | Event::Iprobe(message, true) => {
                let (comm, (from, tag, _)) = self.incoming(message)?;
                Ok(comm.probe(from, tag).map(drop)?)
            }
            Event::Iprobe(message, false) => {
                let (comm, (from, tag, _)) = self.incoming(message)?;
                Ok(comm.iprobe(from, tag).map(drop)?)
            }
            Event::Start(_) => {
                let is_started = |(_, outcome): &&RequestOutcome| *outcome != Some(Match::Cancelled);
                let ids: Vec<_> = outcomes.iter().filter(is_started).map(|(id, _)| *id).collect();
                self.requests.start(&ids)
            }
            Event::RequestFree(id) => self.requests.free(*id),
            Event::Cancel(id) => self.requests.cancel(*id),
            Event::Wait(_, completed) | Event::Test(_, Some(completed)) => self.requests.complete(completed),
            Event::Test(_, None) => Ok(self.requests.poll()?),
            Event::Collective(call, completion) => self.collective(call, *completion),
            Event::CommCreate(CommCall::Idup, parent, Some(group)) => {
                self.duplication = Some(self.communicators.duplicate(*parent, group)?);
                Ok(())
            }
            Event::CommCreate(call, parent, group) => self.communicators.create(*call, *parent, group.as_ref()),
            Event::CommFree(id) => self.communicators.free(*id),
            Event::Neighborhood(..) | Event::Partitioned(_) | Event::OneSided(_) => Err(Fault::Infeasible),
            Event::Other(call) if call.awaits_buffered() => Ok(self.mpi.empty_buffer()?),
            Event::File(_) | Event::Other(_) => Err(Fault::Infeasible),
        }
    }

    fn sendrecv(&self, sent: Option<&Outgoing>, received: Option<&Incoming>) -> Result<(), Fault> {
        let outgoing = sent.map(|message| self.outgoing(message)).transpose()?;
        let incoming = received.map(|message| self.incoming(message)).transpose()?;
        let Some(comm) = outgoing.as_ref().map(|of| of.0).or(incoming.as_ref().map(|of| of.0)) else { return Ok(()) };
        let sent = outgoing.map_or((Peer::Nobody, 0, 0), |of| of.1);
        let received = incoming.map_or((Peer::Nobody, TagChoice::Tag(0), 0), |of| of.1);
        Ok(comm.sendrecv(sent, received).map(drop)?)
    }

    fn collective(&mut self, call: &Collective, completion: Completion<RequestId>) -> Result<(), Fault> {
        if let (CollectiveKind::Barrier, Completion::Request(id), Some(_)) = (call.kind, completion, &self.duplication)
        {
            self.duplication.take().into_iter().for_each(|request| self.requests.add(id, request));
            return Ok(());
        }
        let comm = self.communicators.get(call.comm)?;
        let root = call.root.map(|root| self.communicators.member(call.comm, root)).transpose()?;
        match completion {
            Completion::Blocking => comm.collective(call, root)?,
            Completion::Request(id) => self.requests.add(id, comm.icollective(call, root)?),
            Completion::Persistent(id) => self.requests.add(id, comm.collective_init(call, root)?),
        }
        Ok(())
    }

    /// The communicator of a message that is sent, and its peer, tag and bytes.
    fn outgoing(&self, message: &Outgoing) -> Result<(Comm<'m>, (Peer, u32, u64)), Fault> {
        let to = Peer::Rank(self.communicators.member(message.comm, message.to)?);
        Ok((self.communicators.get(message.comm)?, (to, self.tags.of(message.tag), message.bytes.0)))
    }

    /// The communicator of a message that is received, and its peer, tag and room.
    fn incoming(&self, message: &Incoming) -> Result<(Comm<'m>, (Peer, TagChoice, u64)), Fault> {
        let from = match message.from {
            Some(from) => Peer::Rank(self.communicators.member(message.comm, from)?),
            None => Peer::Any,
        };
        let tag = message.tag.map_or(TagChoice::Any, |tag| TagChoice::Tag(self.tags.of(tag)));
        Ok((self.communicators.get(message.comm)?, (from, tag, message.bytes.0)))
    }
}

/// A receive with the recorded source and tag; one without a match keeps its wildcards.
fn resolved(message: &Incoming, matched: Option<Match>) -> Incoming {
    match matched {
        Some(Match::With(from, tag)) => Incoming { from: Some(from), tag: Some(tag), ..*message },
        Some(Match::Cancelled) | None => *message,
    }
}

/// The times at which calls are due.
pub(crate) struct Pace {
    began: Instant,
    /// The return of the last call.
    returned: Instant,
    /// The start of the last call.
    called: Instant,
    /// The computation since then, in seconds.
    computed: f64,
    /// The time, in seconds, by which calls were made later than they were due, and that no computation has made up for yet.
    late: f64,
    /// Seconds that computation takes for a unit of its volume.
    seconds_per_unit: f64,
}

impl Pace {
    /// A pace that begins now, at which computation of a volume of `rate` takes a second.
    pub(crate) fn new(rate: f64) -> Self {
        let now = Instant::now();
        Self { began: now, returned: now, called: now, computed: 0.0, late: 0.0, seconds_per_unit: 1.0 / rate }
    }

    /// Adds computation before the next call, by its volume.
    pub(crate) fn compute(&mut self, volume: f64) {
        self.computed += volume * self.seconds_per_unit;
    }

    /// Adds time before the next call.
    pub(crate) fn pass(&mut self, seconds: f64) {
        self.computed += seconds;
    }

    /// Waits until the next call is due. Returns the computation before it, as it was due and as it took, in seconds.
    #[inline]
    pub(crate) fn await_call(&mut self) -> [f64; 2] {
        let due = self.computed - self.late;
        let mut passed = self.returned.elapsed();
        if due > 0.0 {
            let due = Duration::from_secs_f64(due);
            while passed < due {
                spin_loop();
                passed = self.returned.elapsed();
            }
        }
        let waited = passed.as_secs_f64();
        self.called = self.returned + passed;
        self.late = waited - due;
        [std::mem::take(&mut self.computed), waited]
    }

    /// The call has returned. Returns the seconds that it took.
    #[inline]
    pub(crate) fn call_returned(&mut self) -> f64 {
        self.returned = Instant::now();
        (self.returned - self.called).as_secs_f64()
    }

    /// Seconds since the pace began, until the last call returned.
    pub(crate) fn seconds(&self) -> f64 {
        (self.returned - self.began).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computation_takes_its_time_in_pieces_of_any_length() {
        for pieces in [1, 1000, 100_000] {
            let mut pace = Pace::new(1e9);
            for _ in 0..pieces {
                pace.compute(20e6 / f64::from(pieces));
                pace.await_call();
                pace.call_returned();
            }
            // Never less; how much more is up to the machine.
            let seconds = pace.seconds();
            assert!(seconds >= 0.0199, "{pieces}: {seconds}");
        }
    }
}
