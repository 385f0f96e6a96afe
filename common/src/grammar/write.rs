//! Writing a line. The tracer does this in every hook, so nothing here allocates once the buffer has grown.

use std::io::Write;

use super::list::write_list;
use super::words::{nonblocking_word, persistent_word, suffix};
use super::{file, neighborhood, one_sided};
use crate::event::{
    Actor, Collective, CollectiveOp, CommId, Event, Group, Incoming, Key, Other, Outgoing, Rank, RequestId, Requests,
    Seen, Span, Tag, ThreadId, Wildcard,
};
use crate::units::{Bytes, Instructions};

/// SimGrid's number for `MPI_BYTE`.
const BYTE: u64 = 6;

/// Appends `event` of a rank or of one of its threads to `out` as one line, newline included.
///
/// Collectives: `barrier`; `bcast BYTES ROOT`; `reduce BYTES WORK ROOT`; `allreduce`, `scan`, `exscan`,
/// `reducescatter_block BYTES WORK`; `reducescatter COUNTS… WORK`; `gather`, `scatter SEND RECV ROOT`; `allgather`,
/// `alltoall SEND RECV`; `gatherv SEND RECVS… ROOT`; `scatterv SENDS… RECV ROOT`; `allgatherv SEND RECVS…`;
/// `alltoallv`, `alltoallw TOTAL SENDS… TOTAL RECVS…`.
pub fn write_event(out: &mut Vec<u8>, actor: impl Into<Actor>, event: &Event) {
    Line::start(out, actor.into()).event(event);
}

/// A line being written: each argument brings the blank before it.
pub(super) struct Line<'a>(&'a mut Vec<u8>);

impl<'a> Line<'a> {
    fn start(out: &'a mut Vec<u8>, actor: Actor) -> Self {
        push_actor(out, actor);
        Self(out)
    }

    fn event(&mut self, event: &Event) {
        self.body(event);
        self.0.push(b'\n');
    }

    fn body(&mut self, event: &Event) -> &mut Self {
        match event {
            Event::Init => self.word("init"),
            Event::Finalize => self.word("finalize"),
            Event::Compute(work) => self.word("compute").instructions(*work),
            Event::Sleep(span) => self.word("sleep").float(span.0),
            Event::Send(mode, message) => self.on(message.comm).word(mode.word()).outgoing(message),
            Event::Recv(message) => {
                self.on(message.comm).word("recv").incoming(message);
                if message.wildcard != Wildcard::default() {
                    self.number(BYTE).wildcard(message.wildcard);
                }
                self
            }
            Event::Isend(mode, message, request) => {
                self.on(message.comm).word(mode.nonblocking_word()).outgoing(message);
                self.typed_request(*request)
            }
            Event::Irecv(message, request) => {
                self.on(message.comm).word("irecv").incoming(message);
                match request {
                    Some(request) => self.typed_request(Some(*request)).wildcard(message.wildcard),
                    // SimGrid's line has no place for it, and `*` says as much.
                    None => self,
                }
            }
            Event::Sendrecv(send, recv) => {
                let comm = send.map(|message| message.comm).or(recv.map(|message| message.comm));
                self.on(comm.unwrap_or(CommId::WORLD)).word("sendrecv");
                match send {
                    Some(message) => self.outgoing(message),
                    None => self.word("-").word("-").word("-"),
                };
                match recv {
                    Some(message) => self.incoming(message).wildcard(message.wildcard),
                    None => self.word("-").word("-").word("-"),
                }
            }
            Event::Probe(message) => self.on(message.comm).word("probe").incoming(message).wildcard(message.wildcard),
            Event::Iprobe(message, found) => self
                .on(message.comm)
                .word("iprobe")
                .word(if *found { "found" } else { "none" })
                .incoming(message)
                .wildcard(message.wildcard),
            Event::SendInit(mode, message, request) => {
                self.on(message.comm).word(mode.persistent_word()).outgoing(message).request(*request)
            }
            Event::RecvInit(message, request) => {
                self.on(message.comm).word("recv_init").incoming(message).request(*request).wildcard(message.wildcard)
            }
            Event::Start(requests) => self.word("start").requests(requests),
            Event::RequestFree(request) => self.word("request_free").request(*request),
            Event::Cancel(request) => self.word("cancel").request(*request),
            Event::Matched(request, source, tag) => self.word("matched").request(*request).rank(*source).tag(*tag),
            Event::Wait(ask, requests) => self.asked(ask.wait_word(), requests),
            Event::Test(ask, Some(requests)) => self.asked(ask.test_word(), requests),
            Event::Test(ask, None) => self.word(ask.test_word()).word("-"),
            Event::Collective(collective) => self.on(collective.comm).word(collective.op.word()).collective(collective),
            Event::Icollective(collective, request) => {
                self.on(collective.comm).word(nonblocking_word(&collective.op)).request(*request).collective(collective)
            }
            Event::CollectiveInit(collective, request) => {
                self.on(collective.comm).word(persistent_word(&collective.op)).request(*request).collective(collective)
            }
            Event::Neighbor(call) => neighborhood::write(self.on(call.comm).word(call.op.word()), call),
            Event::Ineighbor(call, request) => {
                neighborhood::write(self.on(call.comm).word(call.op.nonblocking_word()).request(*request), call)
            }
            Event::NeighborInit(call, request) => {
                neighborhood::write(self.on(call.comm).word(call.op.persistent_word()).request(*request), call)
            }
            Event::PsendInit(message, parts, request) => {
                self.on(message.comm).word("psend_init").outgoing(message).request(*request).number(u64::from(*parts))
            }
            Event::PrecvInit(message, parts, request) => {
                self.on(message.comm).word("precv_init").incoming(message).request(*request).number(u64::from(*parts));
                self.wildcard(message.wildcard)
            }
            Event::Pready(request, parts) => self.word("pready").request(*request).list(parts.iter().copied()),
            Event::OneSided(event) => one_sided::write(self, event),
            Event::File(event) => file::write(self, event),
            Event::Other(Other { function, sent, received }) => {
                self.word("call").word(function).bytes(*sent).bytes(*received)
            }
            Event::CommCreate(call, parent, group) => self.word(call.word()).group(*parent, group.as_ref()),
            Event::CommFree(comm) => self.word("comm_free").number(u64::from(comm.0)),
            Event::Seen(Seen::Call(span)) => self.word("called").span(*span),
            Event::Seen(Seen::Message(message)) => {
                self.on(message.comm).word(message.end.word()).number(message.number);
                self.rank(message.peer).bytes(message.bytes).span(message.span)
            }
        }
    }

    pub(super) fn word(&mut self, word: &str) -> &mut Self {
        self.0.push(b' ');
        self.0.extend_from_slice(word.as_bytes());
        self
    }

    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.0.push(b' ');
        push_number(self.0, number);
        self
    }

    fn float(&mut self, number: f64) -> &mut Self {
        // Writing to a vector cannot fail.
        let _ = write!(self.0, " {number}");
        self
    }

    fn instructions(&mut self, work: Instructions) -> &mut Self {
        let whole = work.0 as u64;
        if whole as f64 == work.0 { self.number(whole) } else { self.float(work.0) }
    }

    pub(super) fn bytes(&mut self, bytes: Bytes) -> &mut Self {
        self.number(bytes.0)
    }

    fn all_bytes(&mut self, all: &[Bytes]) -> &mut Self {
        all.iter().fold(self, |line, &bytes| line.bytes(bytes))
    }

    /// The size of a whole buffer: SimGrid reads it as a C `int`, and only to have one that is large enough.
    fn total(&mut self, all: &[Bytes]) -> &mut Self {
        self.bytes(all.iter().copied().sum::<Bytes>().min(Bytes(i32::MAX as u64)))
    }

    pub(super) fn rank(&mut self, rank: Rank) -> &mut Self {
        self.number(u64::from(rank.0))
    }

    fn tag(&mut self, tag: Tag) -> &mut Self {
        self.0.push(b' ');
        if tag.0 < 0 {
            self.0.push(b'-');
        }
        push_number(self.0, u64::from(tag.0.unsigned_abs()));
        self
    }

    pub(super) fn request(&mut self, request: RequestId) -> &mut Self {
        self.number(u64::from(request.0))
    }

    pub(super) fn on(&mut self, comm: CommId) -> &mut Self {
        if comm == CommId::WORLD { self } else { self.word("on").number(u64::from(comm.0)) }
    }

    fn outgoing(&mut self, message: &Outgoing) -> &mut Self {
        self.rank(message.to).tag(message.tag).bytes(message.bytes)
    }

    fn incoming(&mut self, message: &Incoming) -> &mut Self {
        self.source(message.from).maybe_tag(message.tag).bytes(message.bytes)
    }

    fn source(&mut self, source: Option<Rank>) -> &mut Self {
        match source {
            Some(rank) => self.rank(rank),
            None => self.word("*"),
        }
    }

    fn maybe_tag(&mut self, tag: Option<Tag>) -> &mut Self {
        match tag {
            Some(tag) => self.tag(tag),
            None => self.word("*"),
        }
    }

    fn wildcard(&mut self, wildcard: Wildcard) -> &mut Self {
        match (wildcard.source, wildcard.tag) {
            (false, false) => self,
            (true, false) => self.word("any_source"),
            (false, true) => self.word("any_tag"),
            (true, true) => self.word("any"),
        }
    }

    fn span(&mut self, span: Span) -> &mut Self {
        self.number(span.begin.0).number(span.end.0)
    }

    fn typed_request(&mut self, request: Option<RequestId>) -> &mut Self {
        match request {
            Some(request) => self.number(BYTE).request(request),
            None => self,
        }
    }

    pub(super) fn list(&mut self, list: impl IntoIterator<Item = u32>) -> &mut Self {
        self.0.push(b' ');
        write_list(self.0, list);
        self
    }

    fn requests(&mut self, requests: &[RequestId]) -> &mut Self {
        self.list(requests.iter().map(|request| request.0))
    }

    fn asked(&mut self, word: &str, requests: &Requests) -> &mut Self {
        self.word(word);
        self.0.extend_from_slice(suffix(requests).as_bytes());
        match requests {
            Requests::Outstanding(None) => self,
            Requests::Outstanding(Some(count)) => self.number(u64::from(*count)),
            Requests::One(Key { from, to, tag }, request) => {
                self.source(*from).rank(*to).maybe_tag(*tag);
                match request {
                    Some(request) => self.request(*request),
                    None => self,
                }
            }
            Requests::These(requests) => self.requests(requests),
        }
    }

    fn group(&mut self, parent: CommId, group: Option<&Group>) -> &mut Self {
        let Some(group) = group else {
            return self.word("-").number(u64::from(parent.0));
        };
        self.number(u64::from(group.id.0)).number(u64::from(parent.0)).word("");
        write_list(self.0, group.members.iter().map(|rank| rank.0));
        if !group.remote.is_empty() {
            self.word("");
            write_list(self.0, group.remote.iter().map(|rank| rank.0));
        }
        self
    }

    fn collective(&mut self, collective: &Collective) -> &mut Self {
        // How many datatypes SimGrid reads after the volumes, and has to find before anything of ours.
        let datatypes = match &collective.op {
            // SimGrid takes a number after an allgatherv's datatypes for a displacement.
            CollectiveOp::Barrier => return self,
            CollectiveOp::Bcast { bytes, root } => {
                self.bytes(*bytes).rank(*root);
                1
            }
            CollectiveOp::Reduce { bytes, work, root } => {
                self.bytes(*bytes).instructions(*work).rank(*root);
                1
            }
            CollectiveOp::Allreduce { bytes, work }
            | CollectiveOp::Scan { bytes, work }
            | CollectiveOp::Exscan { bytes, work }
            | CollectiveOp::ReduceScatterBlock { bytes, work } => {
                self.bytes(*bytes).instructions(*work);
                1
            }
            CollectiveOp::ReduceScatter { counts, work } => {
                self.all_bytes(counts).instructions(*work);
                1
            }
            CollectiveOp::Gather { send, recv, root } | CollectiveOp::Scatter { send, recv, root } => {
                self.bytes(*send).bytes(*recv).rank(*root);
                2
            }
            CollectiveOp::Allgather { send, recv } | CollectiveOp::Alltoall { send, recv } => {
                self.bytes(*send).bytes(*recv);
                2
            }
            CollectiveOp::Gatherv { send, recvs, root } => {
                self.bytes(*send).all_bytes(recvs).rank(*root);
                2
            }
            CollectiveOp::Scatterv { sends, recv, root } => {
                self.all_bytes(sends).bytes(*recv).rank(*root);
                2
            }
            CollectiveOp::Allgatherv { send, recvs } => return self.bytes(*send).all_bytes(recvs),
            CollectiveOp::Alltoallv { sends, recvs } | CollectiveOp::Alltoallw { sends, recvs } => {
                self.total(sends).all_bytes(sends);
                self.total(recvs).all_bytes(recvs);
                2
            }
        };
        if collective.element == Bytes(1) {
            return self;
        }
        (0..datatypes).fold(&mut *self, |line, _| line.number(BYTE)).bytes(collective.element)
    }
}

/// Appends the first column of a line: `RANK`, and `.THREAD` where it is not the main thread.
pub(super) fn push_actor(out: &mut Vec<u8>, Actor { rank, thread }: Actor) {
    push_number(out, u64::from(rank.0));
    if thread != ThreadId::MAIN {
        out.push(b'.');
        push_number(out, u64::from(thread.0));
    }
}

/// Appends `number` in decimal: `write!` costs several times as much, and this is most of what a hook does.
pub(super) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}
