//! Some consecutive events of a rank: what programs are read in, so that an event is written once and used where it
//! lies, and so that another thread can read.

use titr_common::event::{CollectiveOp, Event, Requests};
use titr_common::trace::TraceError;

use super::Program;

/// Consecutive events of one rank.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    /// The line of each, where there are lines.
    lines: Vec<u64>,
    pub(super) then: Then,
}

/// What comes after a batch's last event.
#[derive(Debug, Default)]
pub(super) enum Then {
    /// More events, or nothing.
    #[default]
    More,
    /// The end; why it is not the program's, where it is not.
    End(Option<String>),
    /// An event that cannot be read.
    Fault(TraceError),
}

impl Batch {
    /// The next events of `program`, of about `size` bytes, instead of those there are.
    pub(super) fn fill(&mut self, program: &mut impl Program, size: usize) {
        self.clear(Then::More);
        let mut filled = 0;
        while filled < size {
            match program.next_event() {
                Ok(Some(event)) => {
                    filled += size_of::<Event>() + lists(&event);
                    self.events.push(event);
                    self.lines.extend(program.line());
                }
                Ok(None) => {
                    self.then = Then::End(program.torn());
                    return;
                }
                Err(error) => {
                    self.then = Then::Fault(error);
                    return;
                }
            }
        }
    }

    /// No event but an error.
    pub(super) fn fault(&mut self, error: TraceError) {
        self.clear(Then::Fault(error));
    }

    fn clear(&mut self, then: Then) {
        self.events.clear();
        self.lines.clear();
        self.then = then;
    }

    /// Drops the first `count` events.
    pub(super) fn forget(&mut self, count: usize) {
        self.events.drain(..count);
        self.lines.drain(..count.min(self.lines.len()));
    }

    /// Goes on with `more`.
    pub(super) fn append(&mut self, mut more: Self) {
        self.events.append(&mut more.events);
        self.lines.append(&mut more.lines);
        self.then = more.then;
    }

    /// The line of the event at `index`.
    pub(super) fn line(&self, index: usize) -> Option<u64> {
        self.lines.get(index).copied()
    }
}

/// Bytes in an event's lists: there may be one entry for each rank in the world.
fn lists(event: &Event) -> usize {
    match event {
        Event::Collective(collective) | Event::Icollective(collective, _) => match &collective.op {
            CollectiveOp::ReduceScatter { counts: list, .. }
            | CollectiveOp::Gatherv { recvs: list, .. }
            | CollectiveOp::Scatterv { sends: list, .. }
            | CollectiveOp::Allgatherv { recvs: list, .. } => size_of_val(list.as_slice()),
            CollectiveOp::Alltoallv { sends, recvs } | CollectiveOp::Alltoallw { sends, recvs } => {
                size_of_val(sends.as_slice()) + size_of_val(recvs.as_slice())
            }
            _ => 0,
        },
        Event::CommCreate(_, _, Some(group)) => {
            size_of_val(group.members.as_slice()) + size_of_val(group.remote.as_slice())
        }
        Event::Wait(_, Requests::These(list)) | Event::Test(_, Some(Requests::These(list))) | Event::Start(list) => {
            size_of_val(list.as_slice())
        }
        _ => 0,
    }
}
