//! The header and the lines of a trace.

use titr_common::event::{CommId, Incoming, Outgoing, Tag, Wildcard};
use titr_common::event::{Rank, ThreadId};
use titr_common::units::Bytes;

/// What the first line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The nanoseconds in a unit of time.
    pub unit: u64,
    pub applications: u64,
    pub tasks: u32,
}

/// A line of the trace.
pub(super) enum PrvLine<'l> {
    /// The members of a communicator, in its own order.
    Communicator(u64, Vec<Rank>),
    /// Events of a task at a time: pairs of types and values.
    Events(Rank, ThreadId, u64, PrvFields<'l>),
    Message(Message),
    /// A state, a comment, or a line of another application.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub sender: Rank,
    pub receiver: Rank,
    /// The time at which the sender's call began.
    pub sent: u64,
    /// The time at which the receive was posted.
    pub posted: u64,
    /// The time at which the receive was completed.
    pub completed: u64,
    pub bytes: u64,
    pub tag: i32,
}

/// Numbers with `:` between them.
#[derive(Clone, Copy)]
pub(super) struct PrvFields<'l> {
    rest: &'l [u8],
}

impl Iterator for PrvFields<'_> {
    type Item = Option<u64>;

    /// The next number; `None` in it where there is something else.
    #[inline]
    fn next(&mut self) -> Option<Option<u64>> {
        if self.rest.is_empty() {
            return None;
        }
        let (mut number, mut at) = (Some(0_u64), 0);
        while let Some(&byte) = self.rest.get(at).filter(|&&byte| byte != b':') {
            let digit = byte.wrapping_sub(b'0');
            number = if digit < 10 {
                number.and_then(|number| number.checked_mul(10)?.checked_add(digit.into()))
            } else {
                None
            };
            at += 1;
        }
        self.rest = self.rest.get(at + 1..).unwrap_or_default();
        Some(number.filter(|_| at > 0))
    }
}

impl PrvFields<'_> {
    /// The next number.
    #[inline]
    fn number(&mut self) -> Option<u64> {
        self.next().flatten()
    }
}

impl Header {
    /// Whether a file that begins with this line is of Paraver.
    pub(super) fn is(line: &[u8]) -> bool {
        line.starts_with(b"#Paraver")
    }

    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let (_date, rest) = text.split_once("):")?;
        let mut fields = rest.splitn(4, ':');
        let (length, _nodes, applications) = (fields.next()?, fields.next()?, fields.next()?);
        let tasks = fields.next()?.split('(').next()?;
        let unit = if length.ends_with("_ns") { 1 } else { 1000 };
        Some(Self { unit, applications: applications.trim().parse().ok()?, tasks: tasks.trim().parse().ok()? })
    }
}

/// The line of a trace with so many tasks; `None` for a line that is wrong.
pub(super) fn parse(text: &[u8], tasks: u32) -> Option<PrvLine<'_>> {
    let rank = |task: u64| u32::try_from(task.checked_sub(1)?).ok().filter(|&rank| rank < tasks).map(Rank);
    // Lines may have the ends of Windows.
    match text.trim_ascii_end() {
        [b'2', b':', rest @ ..] => {
            let mut fields = PrvFields { rest };
            let (_cpu, application, task, thread) =
                (fields.number()?, fields.number()?, fields.number()?, fields.number()?);
            if application != 1 {
                return Some(PrvLine::Other);
            }
            let thread = ThreadId(u32::try_from(thread.checked_sub(1)?).ok()?);
            Some(PrvLine::Events(rank(task)?, thread, fields.number()?, fields))
        }
        [b'3', b':', rest @ ..] => {
            let mut f = PrvFields { rest };
            let (_cpu, application, sender, _thread) = (f.number()?, f.number()?, f.number()?, f.number()?);
            let (sent, _left, _to_cpu, to_application) = (f.number()?, f.number()?, f.number()?, f.number()?);
            let (receiver, _thread, posted, completed) = (f.number()?, f.number()?, f.number()?, f.number()?);
            let (bytes, tag) = (f.number()?, f.number()?);
            if (application, to_application) != (1, 1) {
                return Some(PrvLine::Other);
            }
            // Some write a tag that they do not know as the largest number of four bytes.
            let tag = (tag as u32).cast_signed().max(0);
            let (sender, receiver) = (rank(sender)?, rank(receiver)?);
            Some(PrvLine::Message(Message { sender, receiver, sent, posted, completed, bytes, tag }))
        }
        [b'c', b':', rest @ ..] => {
            let mut fields = PrvFields { rest };
            let (application, id, _number) = (fields.number()?, fields.number()?, fields.number()?);
            let members = fields.map(|task| rank(task?)).collect::<Option<_>>()?;
            Some(if application == 1 { PrvLine::Communicator(id, members) } else { PrvLine::Other })
        }
        _ => Some(PrvLine::Other),
    }
}

/// The task of a line of events, or the tasks of a message, without the rest of the line.
pub(super) fn is_of(text: &[u8], me: Rank) -> bool {
    let number = |field: Option<&[u8]>| -> Option<u64> { PrvFields { rest: field? }.number() };
    let mut fields = text.split(|&byte| byte == b':');
    let task = u64::from(me.0) + 1;
    match text.first() {
        Some(b'2') => number(fields.nth(3)) == Some(task),
        Some(b'3') => number(fields.nth(3)) == Some(task) || number(fields.nth(5)) == Some(task),
        _ => false,
    }
}

impl Message {
    /// The message as its sender describes it.
    pub(super) fn outgoing(&self) -> Outgoing {
        let &Message { receiver: to, bytes, tag, .. } = self;
        Outgoing { comm: CommId::WORLD, to, tag: Tag(tag), bytes: Bytes(bytes) }
    }

    /// The message as its receiver describes it.
    pub(super) fn incoming(&self) -> Incoming {
        let &Message { sender, bytes, tag, .. } = self;
        let (from, tag) = (Some(sender), Some(Tag(tag)));
        Incoming { comm: CommId::WORLD, from, tag, bytes: Bytes(bytes), wildcard: Wildcard::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_how_many_tasks_there_are() {
        let line = b"#Paraver (24/11/2026 at 23:09):3805268734_ns:1(9):1:9(1:1,1:1),10";
        assert_eq!(Header::parse(line), Some(Header { unit: 1, applications: 1, tasks: 9 }));
        assert_eq!(
            Header::parse(b"#Paraver (1/1/26 at 1:09):38:0:2:4(1:1),1:3(2:1)").map(|header| header.unit),
            Some(1000)
        );
        assert_eq!(Header::parse(b"#Paraver"), None);
    }

    #[test]
    fn lines_are_of_their_tasks() {
        let message = b"3:1:1:1:1:10:11:2:1:2:1:5:12:512:4294967295";
        assert!(is_of(message, Rank(0)) && is_of(message, Rank(1)) && !is_of(message, Rank(2)));
        let Some(PrvLine::Message(message)) = parse(message, 2) else { panic!() };
        assert_eq!((message.sent, message.posted, message.completed, message.tag), (10, 5, 12, 0));
        assert!(parse(b"2:1:1:3:1:9:1:1", 2).is_none() && parse(b"3:1:1:1:1:x", 2).is_none());
        assert!(matches!(parse(b"1:1:1:1:1:0:5:2", 2), Some(PrvLine::Other)));
    }
}
