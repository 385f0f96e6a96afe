//! Writes an event as a line of text.

use super::line::{BYTE, Line};
use super::{collective, file, mark, message, one_sided, task};
use crate::event::{Actor, Annotation, CommId, Completion, Event, Incoming, MessageCompletion, Other, Wildcard};

/// Appends `event` of a rank or of one of its threads to `out` as one line, newline included.
pub fn write_event(out: &mut Vec<u8>, actor: impl Into<Actor>, event: &Event) {
    let mut line = Line::start(out, actor.into());
    line.event(event);
    line.end();
}

impl Line<'_> {
    fn event(&mut self, event: &Event) -> &mut Self {
        let word = event.word();
        match event {
            Event::Init | Event::Finalize => self.word(word),
            Event::Compute(work) => self.word(word).instructions(*work),
            Event::Sleep(span) => self.word(word).float(span.0),
            Event::Send(_, message, completion) => {
                self.on(message.comm).word(word).outgoing(message);
                match completion {
                    Completion::Blocking | Completion::Request(None) => self,
                    Completion::Request(Some(request)) => self.number(BYTE).request(*request),
                    Completion::Persistent(request) => self.request(*request),
                }
            }
            Event::Recv(message, completion) => {
                self.on(message.comm).word(word).incoming(message).receive_completion(message, completion)
            }
            Event::Sendrecv(send, recv) => {
                let comm = send.map(|message| message.comm).or(recv.map(|message| message.comm));
                self.on(comm.unwrap_or(CommId::WORLD)).word(word);
                match send {
                    Some(message) => self.outgoing(message),
                    None => self.word("-").word("-").word("-"),
                };
                match recv {
                    Some(message) => self.incoming(message).wildcard(message.wildcard),
                    None => self.word("-").word("-").word("-"),
                }
            }
            Event::Probe(message) => self.on(message.comm).word(word).incoming(message).wildcard(message.wildcard),
            Event::Iprobe(message, found) => {
                self.on(message.comm).word(word).word(if *found { "found" } else { "none" });
                self.incoming(message).wildcard(message.wildcard)
            }
            Event::Partitioned(event) => message::write(self, event),
            Event::Start(requests) => self.word(word).requests(requests),
            Event::RequestFree(request) | Event::Cancel(request) => self.word(word).request(*request),
            Event::Matched(request, source, tag) => self.word(word).request(*request).rank(*source).tag(*tag),
            Event::Wait(_, completed) | Event::Test(_, Some(completed)) => self.completed(word, completed),
            Event::Test(_, None) => self.word(word).word("-"),
            Event::Collective(call, completion) => {
                collective::write(self.on(call.comm).word(word).completion(completion), call)
            }
            Event::Neighborhood(call, completion) => {
                collective::write_neighborhood(self.on(call.comm).word(word).completion(completion), call)
            }
            Event::OneSided(event) => one_sided::write(self, event),
            Event::File(event) => file::write(self, event),
            Event::Other(Other { function, sent, received }) => {
                self.word(word).word(function).bytes(*sent).bytes(*received)
            }
            Event::CommCreate(_, parent, group) => self.word(word).group(*parent, group.as_ref()),
            Event::CommFree(comm) => self.word(word).number(u64::from(comm.0)),
            Event::Mark(event) => mark::write(self, event),
            Event::Task(event) => task::write(self, event),
            Event::Annotation(Annotation::Call(span)) => self.word(word).span(*span),
            Event::Annotation(Annotation::Message(message)) => {
                self.on(message.comm).word(word).number(message.number);
                self.rank(message.peer).bytes(message.bytes).span(message.span)
            }
        }
    }

    /// The request of a collective.
    fn completion(&mut self, completion: &Completion) -> &mut Self {
        match completion {
            Completion::Blocking => self,
            Completion::Request(request) | Completion::Persistent(request) => self.request(*request),
        }
    }

    /// The request and the wildcards of a receive.
    fn receive_completion(&mut self, message: &Incoming, completion: &MessageCompletion) -> &mut Self {
        match completion {
            Completion::Blocking if message.wildcard == Wildcard::NONE => self,
            Completion::Blocking => self.number(BYTE).wildcard(message.wildcard),
            Completion::Request(Some(request)) => self.number(BYTE).request(*request).wildcard(message.wildcard),
            // SimGrid's line has no place for the wildcards, and `*` says as much.
            Completion::Request(None) => self,
            Completion::Persistent(request) => self.request(*request).wildcard(message.wildcard),
        }
    }
}
