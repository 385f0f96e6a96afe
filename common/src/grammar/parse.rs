//! Reads a line. One parser reads titr's traces, SimGrid's and those of the paper.

use std::collections::HashMap;

use super::ParseError;
use super::fields::Fields;
use super::words::{Form, RECV};
use super::world_of;
use super::{collective, completion, file, mark, message, one_sided, plain, task};
use crate::event::{
    Actor, Annotation, CollectiveKind, CommCall, CommId, Completion, Event, Group, Incoming, Message,
    MessageCompletion, MessageEnd, NeighborOp, Other, Outgoing, Rank, RequestId, SendMode, Tag, Wildcard,
};
use crate::event_buffer::PlainEvent;
use crate::units::{Bytes, Instructions, Seconds};

/// Reads the lines of one rank's stream in order. The meaning of a line depends on a few earlier lines: `init` with an
/// argument makes doubles the default datatype, and the size of a communicator determines the length of its lists.
#[derive(Clone, Debug)]
pub struct Parser {
    /// The ranks that a line may name: those of the world, and the processes of other worlds that lines have introduced.
    world: u32,
    /// Size of an element where the line names no datatype.
    element: Bytes,
    /// Members of the communicators introduced so far.
    sizes: HashMap<CommId, Sizes>,
}

/// The lengths of the lists of a communicator's collectives.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Number of members; for an inter-communicator, of the local group.
    local: usize,
    /// Number of members; for an inter-communicator, of the remote group.
    peers: usize,
}

impl Sizes {
    fn of(members: usize) -> Self {
        Self { local: members, peers: members }
    }
}

impl Parser {
    /// A parser for a stream of a world of `world` ranks.
    #[must_use]
    pub fn new(world: u32) -> Self {
        let sizes = HashMap::from([(CommId::WORLD, Sizes::of(world as usize)), (CommId::SELF, Sizes::of(1))]);
        Self { world, element: Bytes(1), sizes }
    }

    /// The event of `line` (without its newline), and whose it is; `None` for blanks, comments, and words of SimGrid's
    /// that mean nothing for a replay (`comm_size`, `location`).
    ///
    /// # Errors
    /// [`ParseError`] with the column, for a line that is not in the grammar.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<(Actor, Event)>, ParseError> {
        match self.plain_line(line) {
            Some((rank, event)) => Ok(Some((rank.into(), event.into()))),
            None => self.any_line(line),
        }
    }

    /// The event of a line that is plain, and whose it is.
    #[inline]
    pub(super) fn plain_line(&self, line: &[u8]) -> Option<(Rank, PlainEvent)> {
        plain::line(line, self.world, self.element)
    }

    /// Like [`line`](Self::line), for any line.
    pub(super) fn any_line(&mut self, line: &[u8]) -> Result<Option<(Actor, Event)>, ParseError> {
        let line = line.trim_ascii_end();
        let mut fields = Fields::of(line);
        if line.trim_ascii_start().first().is_none_or(|&first| first == b'#') {
            return Ok(None);
        }
        let actor = fields.actor()?;
        let on = fields.column();
        let comm = if fields.accept("on") { Some(self.introduced(&mut fields)?) } else { None };
        let column = fields.column();
        let word = fields.word("a word")?;
        match self.event(word, comm.unwrap_or(CommId::WORLD), &mut fields) {
            Ok(Some(mut event)) => {
                fields.end()?;
                if comm.is_some_and(|comm| !runs_on(&mut event, comm)) {
                    return Err(ParseError { column: on, what: "this event is on no communicator".into() });
                }
                Ok(Some((actor, event)))
            }
            Ok(None) => Ok(None),
            Err(Refused::Line(error)) => Err(error),
            Err(Refused::Word) => {
                let word = String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned();
                Err(ParseError { column, what: format!("the grammar has no word '{word}'") })
            }
        }
    }

    /// A communicator that an earlier line introduced.
    fn introduced(&self, fields: &mut Fields) -> Result<CommId, ParseError> {
        let column = fields.column();
        let unknown = || ParseError { column, what: "no line before introduces this communicator".into() };
        let comm = fields.comm()?;
        if self.sizes.contains_key(&comm) { Ok(comm) } else { Err(unknown()) }
    }

    fn event(&mut self, word: &[u8], comm: CommId, f: &mut Fields) -> Result<Option<Event>, Refused> {
        let event = match word {
            b"compute" => Event::Compute(Instructions(f.volume("a number of instructions")?)),
            b"matched" => Event::Matched(f.request()?, f.rank("a source rank")?, f.tag()?),
            b"sendrecv" => {
                let send = if absent(f)? { None } else { Some(message::outgoing(comm, self.world, f)?) };
                let recv = if absent(f)? { None } else { Some(self.open_incoming(comm, f)?) };
                Event::Sendrecv(send, recv)
            }
            b"sendRecv" => self.simgrid_sendrecv(f)?,
            b"probe" => Event::Probe(self.open_incoming(comm, f)?),
            b"iprobe" => {
                let found = f.accept("found");
                if !found && !f.accept("none") {
                    return Err(f.error("'found' or 'none' is expected").into());
                }
                Event::Iprobe(self.open_incoming(comm, f)?, found)
            }
            b"start" => Event::Start(f.list("a list of requests", RequestId)?),
            b"request_free" => Event::RequestFree(f.request()?),
            b"cancel" => Event::Cancel(f.request()?),
            b"init" => {
                self.element = if f.at_end() { Bytes(1) } else { Bytes(8) };
                f.skip_all();
                Event::Init
            }
            b"finalize" => Event::Finalize,
            b"sleep" => Event::Sleep(Seconds(f.volume("a number of seconds")?)),
            b"comm_free" => Event::CommFree(f.comm()?),
            b"task" => Event::Task(task::read(f)?),
            b"called" => Event::Annotation(Annotation::Call(f.span()?)),
            b"call" => Event::Other(Other {
                function: f.name("the name of an MPI function")?.into(),
                sent: f.bytes("a number of bytes", Bytes(1))?,
                received: f.bytes("a number of bytes", Bytes(1))?,
            }),
            // SimGrid writes these with no more than a word, and its replay passes over them.
            b"comm_split" | b"comm_dup" if f.at_end() => return Ok(None),
            b"comm_size" | b"location" => {
                f.skip_all();
                return Ok(None);
            }
            _ => return self.event_of_family(word, comm, f).map(Some),
        };
        Ok(Some(event))
    }

    /// An event whose word is in a table.
    fn event_of_family(&mut self, word: &[u8], comm: CommId, f: &mut Fields) -> Result<Event, Refused> {
        if let Some(event) = completion::read(word, f)? {
            return Ok(event);
        }
        if let Some((mode, form)) = SendMode::of_word(word) {
            return Ok(self.send(mode, form, comm, f)?);
        }
        if let Some(form) = RECV.find(word) {
            return Ok(self.receive(form, comm, f)?);
        }
        if let Some((kind, form)) = CollectiveKind::of_word(word) {
            let completion = form_of_collective(form, f)?;
            let sizes = self.sizes.get(&comm).copied().unwrap_or(Sizes::of(0));
            let members = if kind.is_shared_out() { sizes.local } else { sizes.peers };
            let call = collective::read(kind, comm, members, self.element, f)?;
            return Ok(Event::Collective(call, completion));
        }
        if let Some((op, form)) = NeighborOp::of_word(word) {
            let completion = form_of_collective(form, f)?;
            return Ok(Event::Neighborhood(collective::read_neighborhood(op, comm, self.world, f)?, completion));
        }
        if let Some(end) = MessageEnd::of_word(word) {
            return Ok(self.message(comm, end, f)?);
        }
        if let Some(call) = CommCall::of_word(word) {
            return Ok(self.comm_create(call, f)?);
        }
        if let Some(event) = message::read(word, comm, self.world, f)? {
            return Ok(Event::Partitioned(event));
        }
        if let Some(event) = one_sided::read(word, comm, self.world, f)? {
            return Ok(Event::OneSided(event));
        }
        if let Some(event) = mark::read(word, f)? {
            return Ok(Event::Mark(event));
        }
        file::read(word, comm, f)?.map(Event::File).ok_or(Refused::Word)
    }

    fn send(&self, mode: SendMode, form: Form, comm: CommId, f: &mut Fields) -> Result<Event, ParseError> {
        let mut message = message::outgoing(comm, self.world, f)?;
        let completion = self.completion(form, &mut message.bytes, f)?;
        Ok(Event::Send(mode, message, completion))
    }

    fn receive(&self, form: Form, comm: CommId, f: &mut Fields) -> Result<Event, ParseError> {
        let mut message = message::incoming(comm, self.world, f)?;
        let completion = self.completion(form, &mut message.bytes, f)?;
        Ok(Event::Recv(Incoming { wildcard: message::wildcard(&message, f)?, ..message }, completion))
    }

    /// What follows the volume of a message, which counts elements of a datatype unless the request is persistent.
    fn completion(&self, form: Form, volume: &mut Bytes, f: &mut Fields) -> Result<MessageCompletion, ParseError> {
        if form == Form::Persistent {
            return Ok(Completion::Persistent(f.request()?));
        }
        *volume = self.scaled(*volume, f)?;
        Ok(if form == Form::Blocking { Completion::Blocking } else { Completion::Request(f.optional_request()?) })
    }

    fn comm_create(&mut self, call: CommCall, f: &mut Fields) -> Result<Event, ParseError> {
        if f.accept("-") {
            return Ok(Event::CommCreate(call, self.introduced(f)?, None));
        }
        let id = f.comm()?;
        let parent = self.introduced(f)?;
        let members = f.list("a list of members", Rank)?;
        let mut is_tagged = f.accept("tag");
        let column = f.column();
        let remote = if is_tagged || f.at_end() { Vec::new() } else { f.list("a list of members", Rank)? };
        if remote.is_empty() && f.column() > column {
            let what = "an inter-communicator has members in its other group, and any other has no list of them";
            return Err(ParseError { column, what: what.to_owned() });
        }
        is_tagged = is_tagged || f.accept("tag");
        let tag = if is_tagged { Some(f.tag()?) } else { None };
        // Processes of other worlds are numbered on from the world's, in the order in which they appear.
        for member in remote.iter().filter(|_| call.joins_worlds()) {
            self.world += u32::from(member.0 == self.world && self.world < u32::MAX);
        }
        if let Some(stranger) = members.iter().chain(&remote).find(|member| member.0 >= self.world) {
            return Err(f.error(format!("member {} is not in {}", stranger.0, world_of(self.world))));
        }
        let group = Group { id, members, remote, tag };
        self.introduce(&group);
        Ok(Event::CommCreate(call, parent, Some(group)))
    }

    /// Takes note of a communicator that a line introduces.
    pub(super) fn introduce(&mut self, group: &Group) {
        let (local, remote) = (group.members.len(), group.remote.len());
        self.sizes.insert(group.id, Sizes { local, peers: if remote > 0 { remote } else { local } });
    }

    /// `NUMBER PEER BYTES BEGIN END`: a message within a collective.
    fn message(&self, comm: CommId, end: MessageEnd, f: &mut Fields) -> Result<Event, ParseError> {
        let number = f.number("the number of a collective")?;
        let column = f.column();
        let peer = f.rank("a peer")?;
        if peer.0 >= self.world {
            return Err(message::stranger(column, self.world, "peer"));
        }
        let (bytes, span) = (f.bytes("a number of bytes", Bytes(1))?, f.span()?);
        Ok(Event::Annotation(Annotation::Message(Message { comm, number, end, peer, bytes, span })))
    }

    /// `SOURCE TAG BYTES [WILD]`.
    fn open_incoming(&self, comm: CommId, f: &mut Fields) -> Result<Incoming, ParseError> {
        let message = message::incoming(comm, self.world, f)?;
        Ok(Incoming { wildcard: message::wildcard(&message, f)?, ..message })
    }

    /// `count` elements of the datatype in the next field, or of the default one.
    fn scaled(&self, count: Bytes, f: &mut Fields) -> Result<Bytes, ParseError> {
        Ok(f.datatype()?.unwrap_or(self.element).times(count.0))
    }

    /// `sendRecv SCOUNT DESTINATION RCOUNT SOURCE STYPE RTYPE`: SimGrid loses the tags.
    fn simgrid_sendrecv(&self, f: &mut Fields) -> Result<Event, ParseError> {
        let sent = f.bytes("a count", Bytes(1))?;
        let to = f.rank("a destination rank")?;
        let received = f.bytes("a count", Bytes(1))?;
        let from = f.source()?;
        let sent = self.scaled(sent, f)?;
        let received = self.scaled(received, f)?;
        if to.0.max(from.map_or(0, |from| from.0)) >= self.world {
            return Err(f.error(format!("a peer is not in {}", world_of(self.world))));
        }
        let (comm, tag) = (CommId::WORLD, Tag(0));
        let wildcard = Wildcard { source: from.is_none(), tag: false };
        let recv = Incoming { comm, from, tag: Some(tag), bytes: received, wildcard };
        Ok(Event::Sendrecv(Some(Outgoing { comm, to, tag, bytes: sent }), Some(recv)))
    }
}

/// The reason why a line is refused: its word, or something after it.
enum Refused {
    Word,
    Line(ParseError),
}

impl From<ParseError> for Refused {
    fn from(error: ParseError) -> Self {
        Self::Line(error)
    }
}

/// Whether the line of an event names `comm` before its word.
fn runs_on(event: &mut Event, comm: CommId) -> bool {
    let mut found = false;
    event.communicators(|id, _| found |= *id == comm);
    found && !matches!(event, Event::CommCreate(..) | Event::CommFree(_))
}

/// Whether a side of a `sendrecv` is `- - -`: its peer is `MPI_PROC_NULL`.
fn absent(f: &mut Fields) -> Result<bool, ParseError> {
    if !f.accept("-") {
        return Ok(false);
    }
    if f.accept("-") && f.accept("-") { Ok(true) } else { Err(f.error("'-' is expected: a side is absent as a whole")) }
}

/// The request of a collective that starts or sets up one.
fn form_of_collective(form: Form, f: &mut Fields) -> Result<Completion, ParseError> {
    Ok(match form {
        Form::Blocking => Completion::Blocking,
        Form::Nonblocking => Completion::Request(f.request()?),
        Form::Persistent => Completion::Persistent(f.request()?),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The fast parser gives the same result as the full parser, or none.
        #[test]
        fn both_ways_read_the_same(
            word in "compute|send|recv|isend|irecv|wait|ssend|sleep",
            numbers in prop::collection::vec(prop_oneof![0..6_u64, 0..100_000_u64, any::<u64>()], 0..6),
            between in "( |  |\t|x|-){0,1}",
            at in 0..40_usize,
            element in prop_oneof![Just(1_u64), Just(8)],
        ) {
            let mut line = format!("3 {word}");
            numbers.iter().for_each(|number| line += &format!(" {number}"));
            line.insert_str(at.min(line.len()), &between);
            let mut parser = Parser { element: Bytes(element), ..Parser::new(5) };
            if let Some((rank, event)) = plain::line(line.as_bytes(), 5, Bytes(element)) {
                prop_assert_eq!(parser.any_line(line.as_bytes()), Ok(Some((rank.into(), event.into()))), "{}", line);
            }
        }
    }
}
