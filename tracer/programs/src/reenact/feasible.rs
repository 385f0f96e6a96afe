//! Checks, before any rank begins, whether a rank's trace can be reenacted, and collects the needs of the reenactment.

use titr_common::event::{
    Annotation, CommCall, Completed, Completion, Event, Group, Incoming, MessageCompletion, OneSided, Outgoing, Rank,
    SendMode, Tag, ThreadId,
};
use titr_common::trace::Trace;
use titr_common::units::{Bytes, Nanoseconds};

use super::tags::UsedTags;
use crate::{has_persistent, largest_argument};

/// The memory that a rank's reenactment needs, and when the rank ended.
#[derive(Default)]
pub(crate) struct Needs {
    /// Bytes of the messages that the library buffers, including its overhead for each; at most 1 GiB.
    pub buffered: u32,
    /// The end of the last call by the rank's clock, in an extended trace.
    pub ended: Option<Nanoseconds>,
    /// The tags of the rank's messages.
    pub tags: UsedTags,
}

/// The most that `MPI_Bsend` may add to a message: `MPI_BSEND_OVERHEAD` is 128 in Open MPI and 96 in MPICH.
const OVERHEAD: u64 = 512;

/// Reads the events of a rank; an error says why it cannot be reenacted.
pub(crate) fn feasible(trace: &Trace, rank: Rank) -> Result<Needs, String> {
    let mut tags = UsedTags::default();
    let mut stream = trace.stream(rank).map_err(|error| error.to_string())?;
    let (mut buffered, mut ended) = (0_u64, None);
    while let Some(event) = stream.next_event().map_err(|error| error.to_string())? {
        let location = stream.location();
        let line = location.line.map_or_else(String::new, |line| format!(" (line {line} of its trace)"));
        if location.thread != ThreadId::MAIN {
            return Err(format!("several of its threads call MPI, and only one is reenacted{line}"));
        }
        tags.add(&event);
        if let Some(obstacle) = obstacle(&event) {
            return Err(format!("{obstacle} cannot be reenacted{line}"));
        }
        if let Event::Annotation(Annotation::Call(span)) = event {
            ended = Some(span.end);
        }
        if let Event::Send(SendMode::Buffered, message, _) = event {
            buffered = buffered.saturating_add(message.bytes.0.saturating_add(OVERHEAD));
        }
        if let Event::Other(call) = &event
            && call.awaits_buffered()
        {
            buffered = buffered.max(OVERHEAD);
        }
    }
    Ok(Needs { buffered: buffered.min(1 << 30) as u32, ended, tags })
}

/// The part of an event that cannot be reenacted, at all or by this process and its MPI library; `None` if all can.
fn obstacle(event: &Event) -> Option<String> {
    let refused = |what: &str| Some(what.to_owned());
    match event {
        Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) => None,
        Event::Mark(_) | Event::Annotation(_) => None,
        Event::Task(_) => refused("a graph of tasks, whose order is free,"),
        Event::Send(_, _, MessageCompletion::Request(None)) | Event::Recv(_, MessageCompletion::Request(None)) => {
            refused("a request without a number")
        }
        Event::Recv(message, Completion::Persistent(_)) if is_open(message) => {
            refused("a persistent receive from any source or with any tag")
        }
        Event::Send(_, message, _) => sent(message),
        Event::Recv(message, _) => received(message),
        Event::Sendrecv(to, from) => to.as_ref().and_then(sent).or_else(|| from.as_ref().and_then(received)),
        Event::Probe(_) | Event::Iprobe(..) => None,
        Event::Start(_) | Event::RequestFree(_) | Event::Cancel(_) | Event::Matched(..) => None,
        Event::Wait(_, completed) | Event::Test(_, Some(completed)) => match completed {
            Completed::One(_, None) => refused("a request without a number"),
            Completed::One(_, Some(_)) | Completed::Outstanding(_) | Completed::These(_) => None,
        },
        Event::Test(_, None) => None,
        Event::Collective(call, Completion::Persistent(_)) if !has_persistent(call.kind) => {
            Some(format!("a persistent {}, which this MPI library does not have,", call.kind.name()))
        }
        Event::Collective(call, _) => {
            let (word, largest) = (call.kind.name(), largest_argument(call));
            (largest > INT).then(|| {
                format!("a {word} with a count or displacement of {largest} (it must fit in an int: {INT} at most)")
            })
        }
        Event::CommCreate(call, _, group) => {
            is_refused(*call, group.as_ref()).then(|| format!("a communicator made by {call:?}"))
        }
        Event::CommFree(_) => None,
        Event::Neighborhood(..) => refused("a collective of neighbours"),
        Event::Partitioned(_) => refused("a partitioned message"),
        Event::OneSided(OneSided::Create(..) | OneSided::Free(_) | OneSided::Sync(_) | OneSided::Access(_)) => {
            refused("one-sided communication")
        }
        Event::File(_) => refused("a call on a file"),
        Event::Other(call) => (!call.awaits_buffered()).then(|| call.function.to_string()),
    }
}

/// The largest number that fits in an `int`.
const INT: u64 = i32::MAX.unsigned_abs() as u64;

/// The part of a message that no library can send.
fn sent(message: &Outgoing) -> Option<String> {
    below(message.tag).or_else(|| too_large("a message", message.bytes))
}

/// The part of a message that no library can receive.
fn received(message: &Incoming) -> Option<String> {
    message.tag.and_then(below).or_else(|| too_large("a receive", message.bytes))
}

fn below(Tag(tag): Tag) -> Option<String> {
    (tag < 0).then(|| format!("a message with the tag {tag}"))
}

fn too_large(what: &str, Bytes(number): Bytes) -> Option<String> {
    (number > INT).then(|| format!("{what} of {number} bytes (the count must fit in an int: {INT} at most)"))
}

/// Whether the trace leaves the source or the tag open, or has the match of a wildcard receive.
fn is_open(message: &Incoming) -> bool {
    message.is_open() || message.wildcard.source || message.wildcard.tag
}

/// Whether the members of the parent cannot create a communicator again: one of two groups, one of other worlds, one
/// that only its members create.
fn is_refused(call: CommCall, group: Option<&Group>) -> bool {
    call.joins_worlds()
        || !call.is_collective_on_parent()
        || group.is_some_and(|group| !group.remote.is_empty())
        || matches!(call, CommCall::IntercommCreate | CommCall::IntercommMerge)
}

#[cfg(test)]
mod tests {
    use titr_common::event::CommId;

    use super::*;

    #[test]
    fn a_request_without_a_number_is_refused() {
        let message = Outgoing { comm: CommId::WORLD, to: Rank(1), tag: Tag(0), bytes: Bytes(8) };
        let sent = |completion| obstacle(&Event::Send(SendMode::Standard, message, completion));
        assert_eq!(sent(Completion::Blocking), None);
        assert_eq!(sent(Completion::Request(None)), Some("a request without a number".to_owned()));
    }

    #[test]
    fn communicators_of_two_groups_or_worlds_are_refused() {
        let group = |remote| Group { id: CommId(2), members: vec![Rank(0)], remote, tag: None };
        assert!(!is_refused(CommCall::Split, Some(&group(vec![]))));
        assert!(!is_refused(CommCall::Split, None));
        assert!(is_refused(CommCall::Split, Some(&group(vec![Rank(1)]))));
        assert!(is_refused(CommCall::Spawn, Some(&group(vec![]))));
        assert!(is_refused(CommCall::CreateGroup, Some(&group(vec![]))));
    }

    #[test]
    fn counts_and_tags_that_no_library_has_are_refused() {
        let message = |tag, bytes| Outgoing { comm: CommId::WORLD, to: Rank(1), tag: Tag(tag), bytes: Bytes(bytes) };
        let refused = |message| obstacle(&Event::Send(SendMode::Standard, message, Completion::Blocking)).is_some();
        assert!(!refused(message(0, i32::MAX as u64)) && !refused(message(i32::MAX, 0)));
        assert!(refused(message(0, 1 << 31)) && refused(message(-1, 0)));
    }
}
