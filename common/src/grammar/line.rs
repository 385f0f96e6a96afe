//! Writes a line of text: the format of each argument.
//!
//! The tracer writes lines in every hook, so nothing here allocates once the buffer has grown.

use std::io::Write;

use super::list::write_list;
use crate::event::{
    Actor, CommId, Completed, Group, Incoming, Outgoing, Rank, RequestId, RequestKey, SeekDistance, Span, Tag,
    ThreadId, Wildcard,
};
use crate::units::{Bytes, Instructions};

/// SimGrid's number for `MPI_BYTE`.
pub(super) const BYTE: u64 = 6;

/// A line being written: each argument brings the blank before it.
pub(super) struct Line<'a>(&'a mut Vec<u8>);

impl<'a> Line<'a> {
    /// A line of `actor`, at the end of `out`.
    pub(super) fn start(out: &'a mut Vec<u8>, actor: Actor) -> Self {
        push_actor(out, actor);
        Self(out)
    }

    pub(super) fn end(&mut self) {
        self.0.push(b'\n');
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

    pub(super) fn signed(&mut self, number: i32) -> &mut Self {
        self.0.push(b' ');
        if number < 0 {
            self.0.push(b'-');
        }
        push_number(self.0, u64::from(number.unsigned_abs()));
        self
    }

    pub(super) fn float(&mut self, number: f64) -> &mut Self {
        // Writing to a vector cannot fail.
        let _ = write!(self.0, " {number}");
        self
    }

    pub(super) fn instructions(&mut self, work: Instructions) -> &mut Self {
        let whole = work.0 as u64;
        if whole as f64 == work.0 { self.number(whole) } else { self.float(work.0) }
    }

    pub(super) fn bytes(&mut self, bytes: Bytes) -> &mut Self {
        self.number(bytes.0)
    }

    pub(super) fn rank(&mut self, rank: Rank) -> &mut Self {
        self.number(u64::from(rank.0))
    }

    pub(super) fn tag(&mut self, tag: Tag) -> &mut Self {
        self.signed(tag.0)
    }

    pub(super) fn skip(&mut self, SeekDistance(skip): SeekDistance) -> &mut Self {
        if skip != 0 {
            self.0.extend_from_slice(if skip > 0 { b" +" } else { b" -" });
            push_number(self.0, skip.unsigned_abs());
        }
        self
    }

    pub(super) fn request(&mut self, request: RequestId) -> &mut Self {
        self.number(u64::from(request.0))
    }

    pub(super) fn on(&mut self, comm: CommId) -> &mut Self {
        if comm == CommId::WORLD { self } else { self.word("on").number(u64::from(comm.0)) }
    }

    pub(super) fn outgoing(&mut self, message: &Outgoing) -> &mut Self {
        self.rank(message.to).tag(message.tag).bytes(message.bytes)
    }

    pub(super) fn incoming(&mut self, message: &Incoming) -> &mut Self {
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

    pub(super) fn wildcard(&mut self, wildcard: Wildcard) -> &mut Self {
        match (wildcard.source, wildcard.tag) {
            (false, false) => self,
            (true, false) => self.word("any_source"),
            (false, true) => self.word("any_tag"),
            (true, true) => self.word("any"),
        }
    }

    pub(super) fn span(&mut self, span: Span) -> &mut Self {
        self.number(span.begin.0).number(span.end.0)
    }

    pub(super) fn list(&mut self, list: impl IntoIterator<Item = u32>) -> &mut Self {
        self.0.push(b' ');
        write_list(self.0, list);
        self
    }

    pub(super) fn requests(&mut self, requests: &[RequestId]) -> &mut Self {
        self.list(requests.iter().map(|request| request.0))
    }

    pub(super) fn completed(&mut self, word: &str, completed: &Completed) -> &mut Self {
        self.word(word);
        match completed {
            Completed::Outstanding(None) => self,
            Completed::Outstanding(Some(count)) => self.number(u64::from(*count)),
            Completed::One(RequestKey { from, to, tag }, request) => {
                self.source(*from).rank(*to).maybe_tag(*tag);
                match request {
                    Some(request) => self.request(*request),
                    None => self,
                }
            }
            Completed::These(requests) => {
                self.0.extend_from_slice(b"_of");
                self.requests(requests)
            }
        }
    }

    pub(super) fn group(&mut self, parent: CommId, group: Option<&Group>) -> &mut Self {
        let Some(group) = group else {
            return self.word("-").number(u64::from(parent.0));
        };
        self.number(u64::from(group.id.0)).number(u64::from(parent.0)).word("");
        write_list(self.0, group.members.iter().map(|rank| rank.0));
        if !group.remote.is_empty() {
            self.word("");
            write_list(self.0, group.remote.iter().map(|rank| rank.0));
        }
        match group.tag {
            Some(tag) => self.word("tag").tag(tag),
            None => self,
        }
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

/// Appends `number` in decimal: `write!` is several times slower, and this is most of the work in a hook.
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
