//! The messages of a rank, and the requests of those that do not block.

use titr_common::event::{
    CommId, Completed, Completion, Event, Incoming, Outgoing, Rank, RequestId, RequestKey, Tag, ThreadId,
};
use titr_common::program::{Communicators, Fault, RequestTable, Template};

use crate::output::{Channel, MessagePairs, add_request, set_up};

/// The sender's end of a message: the time of its call.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrvSend {
    pub begin: u64,
    pub end: u64,
    pub thread: ThreadId,
    pub bytes: u64,
    pub tag: Tag,
}

/// The receiver's end of a message: when the receive was posted, and when it was complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrvReceive {
    pub posted: u64,
    pub completed: u64,
    pub thread: ThreadId,
}

/// A message whose two ends are known.
pub(super) struct PrvMessage {
    pub from: Rank,
    pub to: Rank,
    pub send: PrvSend,
    pub receive: PrvReceive,
}

/// A request whose operation continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PrvPosted {
    posted: u64,
    from: Option<Rank>,
    tag: Option<Tag>,
    comm: CommId,
}

/// The time of a call, and its thread.
#[derive(Clone, Copy)]
pub(super) struct PrvSpan {
    pub thread: ThreadId,
    pub begin: u64,
    pub end: u64,
}

/// The requests of a rank.
#[derive(Default)]
pub(super) struct PrvRequests {
    table: RequestTable<PrvPosted>,
}

/// What the calls of all ranks share.
#[derive(Default)]
pub(super) struct PrvMessages {
    pub pairs: MessagePairs<PrvSend, PrvReceive>,
    pub found: Vec<PrvMessage>,
}

impl PrvRequests {
    /// Takes note of an event that describes a call to come.
    pub(super) fn before(&mut self, event: &Event) {
        if let Event::Matched(id, source, tag) = event
            && let Some(Some(posted)) = self.table.activity_mut(*id)
        {
            (posted.from, posted.tag) = (Some(*source), Some(*tag));
        }
        if let Event::Cancel(id) = event
            && let Some(operation) = self.table.activity_mut(*id)
        {
            *operation = None;
        }
    }

    /// Takes note of the messages of a call.
    pub(super) fn call(
        &mut self,
        rank: Rank,
        event: &Event,
        span: PrvSpan,
        communicators: &mut Communicators,
        messages: &mut PrvMessages,
    ) -> Result<(), Fault> {
        if let Some((id, template)) = set_up(rank, event, communicators)? {
            return self.table.add_persistent(id, template);
        }
        let mut ends = PrvEnds { rank, span, communicators, messages };
        match event {
            Event::Send(_, message, completion) => match completion {
                Completion::Persistent(_) => Ok(()),
                Completion::Request(request) => {
                    let key = RequestKey { from: Some(rank), to: message.to, tag: Some(message.tag) };
                    add_request(&mut self.table, *request, key, None)?;
                    ends.send(message)
                }
                Completion::Blocking => ends.send(message),
            },
            Event::Recv(message, completion) => {
                let posted = posted(message, span);
                match completion {
                    Completion::Persistent(_) => Ok(()),
                    Completion::Request(request) => {
                        let key = RequestKey { from: message.from, to: rank, tag: message.tag };
                        add_request(&mut self.table, *request, key, Some(posted))
                    }
                    Completion::Blocking => ends.receive(posted),
                }
            }
            Event::Sendrecv(sent, received) => {
                sent.iter().try_for_each(|message| ends.send(message))?;
                received.iter().try_for_each(|message| ends.receive(posted(message, span)))
            }
            Event::Start(ids) => ids.iter().try_for_each(|&id| self.start(id, &mut ends)),
            Event::RequestFree(id) => {
                let posted = self.table.free(*id)?;
                posted.map_or(Ok(()), |posted| ends.receive(posted))
            }
            Event::Wait(_, completed) | Event::Test(_, Some(completed)) => self.complete(completed, &mut ends),
            Event::Collective(_, Completion::Request(id)) | Event::Neighborhood(_, Completion::Request(id)) => {
                self.table.add(*id, None)
            }
            Event::OneSided(_) | Event::File(_) | Event::Other(_) => {
                event.starts().iter().try_for_each(|&id| self.table.add(id, None))
            }
            Event::Collective(..) | Event::Neighborhood(..) | Event::Partitioned(_) => Ok(()),
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Probe(_) => Ok(()),
            Event::Iprobe(..) | Event::Test(_, None) | Event::Matched(..) | Event::Cancel(_) => Ok(()),
            Event::CommCreate(..) | Event::CommFree(_) | Event::Mark(_) => Ok(()),
            Event::Task(_) | Event::Annotation(_) => Ok(()),
        }
    }

    fn start(&mut self, id: RequestId, ends: &mut PrvEnds<'_>) -> Result<(), Fault> {
        let operation = match self.table.template(id).cloned() {
            Some(Template::Send(_, message)) => {
                ends.send(&message)?;
                None
            }
            Some(Template::Receive(message)) => Some(posted(&message, ends.span)),
            Some(Template::Collective(..) | Template::Neighbor(..) | Template::Partitioned(_)) => None,
            None => return Err(Fault::NotStartable(id)),
        };
        self.table.start(id, operation)
    }

    fn complete(&mut self, completed: &Completed, ends: &mut PrvEnds<'_>) -> Result<(), Fault> {
        let ids = match completed {
            Completed::One(_, Some(id)) => vec![*id],
            Completed::One(key, None) => {
                let posted = self.table.complete_keyed(key).flatten();
                return posted.map_or(Ok(()), |posted| ends.receive(posted));
            }
            Completed::These(ids) => ids.clone(),
            Completed::Outstanding(_) => self.table.active(),
        };
        for id in ids {
            if let Some(posted) = self.table.complete(id)? {
                ends.receive(posted)?;
            }
        }
        if matches!(completed, Completed::Outstanding(_)) {
            self.table.complete_where(|_| false).into_iter().try_for_each(|posted| ends.receive(posted))?;
        }
        Ok(())
    }
}

fn posted(message: &Incoming, span: PrvSpan) -> PrvPosted {
    PrvPosted { posted: span.begin, from: message.from, tag: message.tag, comm: message.comm }
}

/// The place where the ends of messages of a call go.
struct PrvEnds<'e> {
    rank: Rank,
    span: PrvSpan,
    communicators: &'e mut Communicators,
    messages: &'e mut PrvMessages,
}

impl PrvEnds<'_> {
    fn channel(&mut self, comm: CommId, from: Rank, to: Rank, tag: Tag) -> Result<Channel, Fault> {
        Channel::of(self.communicators, self.rank, comm, [from, to], tag)
    }

    fn send(&mut self, message: &Outgoing) -> Result<(), Fault> {
        let &Outgoing { comm, to, tag, bytes } = message;
        let channel = self.channel(comm, self.rank, to, tag)?;
        let PrvSpan { begin, end, thread } = self.span;
        let send = PrvSend { begin, end, thread, bytes: bytes.0, tag };
        let found = self.messages.pairs.send(channel, send);
        self.found(channel, found);
        Ok(())
    }

    /// A receive is complete.
    fn receive(&mut self, PrvPosted { posted, from, tag, comm }: PrvPosted) -> Result<(), Fault> {
        let (Some(from), Some(tag)) = (from, tag) else { return Ok(()) };
        let channel = self.channel(comm, from, self.rank, tag)?;
        let receive = PrvReceive { posted, completed: self.span.end, thread: self.span.thread };
        let found = self.messages.pairs.receive(channel, receive);
        self.found(channel, found);
        Ok(())
    }

    fn found(&mut self, Channel { from, to, .. }: Channel, found: Option<(PrvSend, PrvReceive)>) {
        self.messages.found.extend(found.map(|(send, receive)| PrvMessage { from, to, send, receive }));
    }
}
