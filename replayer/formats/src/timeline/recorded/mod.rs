//! Recorded time as a timeline: an extended trace has the start and end of each call, and the messages of its
//! collectives.
//!
//! All ranks are read in parallel, in the order of their next calls by the clock of rank 0. A message departs at the
//! start of the call that sends it, and arrives at the end of the call that completes its receive; the trace has both
//! times for the messages of a collective. Memory grows with the ranks and with the messages and collectives in
//! progress.

mod calls;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use titr_common::event::{Completed, Completion, Event, Incoming, Message, MessageEnd, Outgoing, Rank, RequestId};
use titr_common::event_buffer::EventRef;
use titr_common::format::{count, plural};
use titr_common::program::{Communicators, Fault, RequestTable, Template};
use titr_common::time::Time;
use titr_common::timeline::{Arrow, EventSorter, Excerpt, State, Subject, TimelineEvent, TimelineWriter};
use titr_common::trace::Trace;
use titr_common::units::Bytes;

use crate::output::{Channel, ConversionNotes, ConvertError, MessagePairs, set_up};
use calls::{Call, Calls};

/// Writes the recorded times of an extended trace, or an excerpt of them, to `path`, in a file that `begin` begins.
///
/// # Errors
/// If the trace cannot be read or says nothing of time, or the file cannot be written.
pub fn convert(
    trace: &Trace,
    path: &Path,
    excerpt: Excerpt,
    begin: impl FnOnce(&Subject) -> io::Result<Box<dyn TimelineWriter>>,
) -> Result<ConversionNotes, ConvertError> {
    let recording = Recording::open(trace)?;
    let subject = Subject { ranks: trace.ranks(), time: "recorded time", excerpt, jobs: Vec::new() };
    let writer = begin(&subject)?;
    let TimelineStats { calls, messages, lost } = recording.write(EventSorter::new(vec![writer]))?;
    let (path, ranks) = (path.display(), trace.ranks());
    let of = plural(u64::from(ranks), "rank", "ranks");
    let arrows = plural(messages, "message", "messages");
    let written = format!("{path}: {} calls of {ranks} {of}, {} {arrows}", count(calls), count(messages));
    let unreceived = format!("drawn to the end, as the trace has no receive of theirs: {}", count(lost));
    let differences = if lost > 0 { vec![unreceived] } else { Vec::new() };
    Ok(ConversionNotes { written, differences })
}

/// An extended trace about to become a timeline.
struct Recording {
    ranks: Vec<Reading>,
    /// The time of the next call of each rank.
    order: BTreeSet<(Time, u32)>,
    /// The start of each background collective, whose messages are written at its end.
    background: BTreeSet<(Time, u32, RequestId)>,
    communicators: Communicators,
    channels: Channels,
}

/// An operation that continues until its request is completed. Waits for sends are not shown.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Active {
    Receive(Incoming),
    /// A collective, and when it was begun.
    Collective(Time),
}

/// The reading of a rank's stream: its place, and the requests there.
struct Reading {
    calls: Calls,
    /// The call to come.
    next: Option<Call>,
    requests: RequestTable<Active>,
}

/// Counts of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TimelineStats {
    /// Calls of all ranks.
    calls: u64,
    /// Messages of all ranks.
    messages: u64,
    /// Messages without a known receive: they arrive when all is over.
    lost: u64,
}

impl Recording {
    /// The recording in a trace.
    ///
    /// # Errors
    /// If it cannot be read or says nothing of time.
    fn open(source: &Trace) -> Result<Self, ConvertError> {
        let count = source.ranks() as usize;
        let (mut ranks, mut order) = (Vec::with_capacity(count), BTreeSet::new());
        for (rank, stream) in (0..).zip(source.streams()?) {
            let clock = source.manifest().and_then(|manifest| manifest.per_rank.get(rank as usize)?.clock);
            let mut calls = Calls::new(stream, clock);
            let next = calls.next()?;
            order.extend(next.as_ref().map(|call| (call.from, rank)));
            ranks.push(Reading { calls, next, requests: RequestTable::default() });
        }
        if order.is_empty() {
            return Err(ConvertError::NoTimes);
        }
        let (background, communicators) = (BTreeSet::new(), Communicators::new(count));
        Ok(Self { ranks, order, background, communicators, channels: Channels::default() })
    }

    /// Tells all of it.
    ///
    /// # Errors
    /// If the trace cannot be read or is invalid, or the timeline cannot be written.
    fn write(mut self, mut sorter: EventSorter) -> Result<TimelineStats, ConvertError> {
        let mut calls = 0;
        for &(first, rank) in &self.order {
            if first > Time::ZERO {
                sorter.push(Time::ZERO, TimelineEvent::Enter(Rank(rank), State::COMPUTING));
            }
        }
        while let Some((_, rank)) = self.order.pop_first() {
            let reading = &mut self.ranks[rank as usize];
            let Some(call) = reading.next.take() else { continue };
            reading.next = reading.calls.next()?;
            let next = reading.next.as_ref().map(|next| next.from);
            self.order.extend(next.map(|next| (next, rank)));
            calls += 1;
            self.call(Rank(rank), &call, &mut sorter)?;
            match next {
                Some(next) if next > call.to => {
                    sorter.push(call.to, TimelineEvent::Enter(Rank(rank), State::COMPUTING))
                }
                Some(_) => {}
                None => sorter.push(call.to, TimelineEvent::Leave(Rank(rank))),
            }
            let begun = self.background.first().map(|&(begun, ..)| begun);
            let next = self.order.first().map(|&(next, _)| next);
            sorter.flush_until(begun.into_iter().chain(next).min().unwrap_or(call.to));
        }
        let (messages, lost) = (self.channels.messages, self.channels.end(&mut sorter));
        sorter.finish(&[])?;
        Ok(TimelineStats { calls, messages, lost })
    }

    /// Tells a call of `rank`.
    fn call(&mut self, rank: Rank, call: &Call, sorter: &mut EventSorter) -> Result<(), ConvertError> {
        if let Some(state) = call.events.iter().find_map(|event| State::of(EventRef::Event(event))) {
            sorter.push(call.from, TimelineEvent::Enter(rank, state));
        }
        let told = call
            .messages
            .iter()
            .try_for_each(|message| self.message(rank, message, sorter))
            .and_then(|()| call.events.iter().try_for_each(|event| self.event(rank, call, event, sorter)));
        told.map_err(|fault| ConvertError::at(rank, &self.ranks[rank.0 as usize].calls.stream, fault))
    }

    /// A message that a collective was made of.
    fn message(&mut self, rank: Rank, message: &Message, sorter: &mut EventSorter) -> Result<(), Fault> {
        let index = self.communicators.find(rank, message.comm)?;
        let context = self.communicators.get(index).context.of_collectives();
        let (begin, end) = self.ranks[rank.0 as usize].calls.span(message.span);
        let (number, peer) = (message.number, message.peer);
        match message.end {
            MessageEnd::Sent => {
                let channel = Channel { context, from: rank, to: peer, number };
                self.channels.depart(channel, begin, message.bytes, sorter);
            }
            MessageEnd::Received => {
                self.channels.arrive(Channel { context, from: peer, to: rank, number }, end, sorter);
            }
        }
        Ok(())
    }

    fn event(&mut self, rank: Rank, call: &Call, event: &Event, sorter: &mut EventSorter) -> Result<(), Fault> {
        let requests = &mut self.ranks[rank.0 as usize].requests;
        if let Some((id, template)) = set_up(rank, event, &mut self.communicators)? {
            return requests.add_persistent(id, template);
        }
        match event {
            Event::Send(_, message, completion) => match completion {
                Completion::Persistent(_) => {}
                Completion::Request(Some(id)) => {
                    requests.add(*id, None)?;
                    self.send(rank, call, *message, sorter)?;
                }
                Completion::Blocking | Completion::Request(None) => self.send(rank, call, *message, sorter)?,
            },
            Event::Recv(message, completion) => match completion {
                Completion::Request(Some(id)) => requests.add(*id, Some(Active::Receive(*message)))?,
                Completion::Request(None) | Completion::Persistent(_) => {}
                Completion::Blocking => self.receive(rank, call, *message, sorter)?,
            },
            Event::Sendrecv(outgoing, incoming) => {
                if let Some(message) = outgoing {
                    self.send(rank, call, *message, sorter)?;
                }
                if let Some(message) = incoming {
                    self.receive(rank, call, *message, sorter)?;
                }
            }
            Event::Collective(_, Completion::Request(id)) | Event::Neighborhood(_, Completion::Request(id)) => {
                let active = self.begin(rank, call, *id);
                self.ranks[rank.0 as usize].requests.add(*id, Some(active))?;
            }
            Event::OneSided(_) | Event::File(_) => {
                event.starts().iter().try_for_each(|&id| requests.add(id, None))?;
            }
            Event::Start(ids) => ids.iter().try_for_each(|&id| self.start(rank, call, id, sorter))?,
            // A receive that is cancelled brings nothing: that the cancel was too late happens, but is rare.
            Event::Cancel(id) => {
                if let Some(operation @ Some(Active::Receive(_))) = requests.activity_mut(*id) {
                    *operation = None;
                }
            }
            Event::Matched(id, source, tag) => {
                if let Some(Some(Active::Receive(message))) = requests.activity_mut(*id) {
                    (message.from, message.tag) = (Some(*source), Some(*tag));
                }
            }
            Event::RequestFree(id) => {
                let active = requests.free(*id)?;
                self.completed(rank, call, *id, active, sorter)?;
            }
            Event::Wait(_, completed) | Event::Test(_, Some(completed)) => {
                let ids = match completed {
                    Completed::One(_, id) => id.iter().copied().collect(),
                    Completed::These(ids) => ids.clone(),
                    Completed::Outstanding(_) => requests.active(),
                };
                for id in ids {
                    let active = self.ranks[rank.0 as usize].requests.complete(id)?;
                    self.completed(rank, call, id, active, sorter)?;
                }
            }
            Event::CommCreate(call, parent, Some(group)) => {
                self.communicators.create(rank, *call, *parent, group)?;
            }
            Event::CommFree(id) => self.communicators.free(rank, *id)?,
            Event::Collective(..) | Event::Neighborhood(..) | Event::Partitioned(_) => {}
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) => {}
            Event::Probe(_) | Event::Iprobe(..) | Event::Test(_, None) | Event::CommCreate(_, _, None) => {}
            Event::Other(_) | Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, rank: Rank, call: &Call, id: RequestId, sorter: &mut EventSorter) -> Result<(), Fault> {
        let active = match self.ranks[rank.0 as usize].requests.template(id).cloned() {
            Some(Template::Send(_, message)) => {
                self.send(rank, call, message, sorter)?;
                None
            }
            Some(Template::Receive(message)) => Some(Active::Receive(message)),
            Some(Template::Collective(..) | Template::Neighbor(..)) => Some(self.begin(rank, call, id)),
            Some(Template::Partitioned(_)) => None,
            None => return Err(Fault::NotStartable(id)),
        };
        self.ranks[rank.0 as usize].requests.start(id, active)
    }

    /// Starts a background collective.
    fn begin(&mut self, rank: Rank, call: &Call, id: RequestId) -> Active {
        self.background.insert((call.from, rank.0, id));
        Active::Collective(call.from)
    }

    /// Completes a request and its operation.
    fn completed(
        &mut self,
        rank: Rank,
        call: &Call,
        id: RequestId,
        active: Option<Active>,
        sorter: &mut EventSorter,
    ) -> Result<(), Fault> {
        match active {
            Some(Active::Receive(message)) => self.receive(rank, call, message, sorter)?,
            Some(Active::Collective(begun)) => {
                self.background.remove(&(begun, rank.0, id));
            }
            None => {}
        }
        Ok(())
    }

    fn send(&mut self, rank: Rank, call: &Call, message: Outgoing, sorter: &mut EventSorter) -> Result<(), Fault> {
        let Outgoing { comm, to, tag, bytes } = message;
        let channel = Channel::of(&mut self.communicators, rank, comm, [rank, to], tag)?;
        self.channels.depart(channel, call.from, bytes, sorter);
        Ok(())
    }

    /// Tells the channel of a message that its receive is complete.
    fn receive(&mut self, rank: Rank, call: &Call, message: Incoming, sorter: &mut EventSorter) -> Result<(), Fault> {
        if let Incoming { comm, from: Some(from), tag: Some(tag), .. } = message {
            let channel = Channel::of(&mut self.communicators, rank, comm, [from, rank], tag)?;
            self.channels.arrive(channel, call.to, sorter);
        }
        Ok(())
    }
}

/// All messages whose other end is not known yet.
#[derive(Debug, Default)]
struct Channels {
    pairs: MessagePairs<(Arrow, Time), Time>,
    /// The number of messages that have departed.
    messages: u64,
}

impl Channels {
    fn depart(&mut self, channel: Channel, at: Time, bytes: Bytes, sorter: &mut EventSorter) {
        self.messages += 1;
        let Channel { context, from, to, .. } = channel;
        let arrow = Arrow { key: self.messages, from, to, bytes, in_collective: context.is_collective() };
        sorter.push(at, TimelineEvent::Depart(arrow));
        if let Some(((arrow, departed), arrival)) = self.pairs.send(channel, (arrow, at)) {
            // Clocks are never quite alike.
            sorter.push(arrival.max(departed), TimelineEvent::Arrive(arrow));
        }
    }

    fn arrive(&mut self, channel: Channel, at: Time, sorter: &mut EventSorter) {
        if let Some(((arrow, departed), arrival)) = self.pairs.receive(channel, at) {
            sorter.push(arrival.max(departed), TimelineEvent::Arrive(arrow));
        }
    }

    /// Delivers the messages still in transit at the end; returns their number.
    fn end(self, sorter: &mut EventSorter) -> u64 {
        let mut lost: Vec<Arrow> = self.pairs.unreceived().map(|(arrow, _)| arrow).collect();
        // The table's order is no order to rely on.
        lost.sort_by_key(|arrow| arrow.key);
        let end = sorter.end();
        lost.iter().for_each(|&arrow| sorter.push(end, TimelineEvent::Arrive(arrow)));
        lost.len() as u64
    }
}
