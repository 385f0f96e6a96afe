//! The calls of a rank that are not in the trace, which are numbered as well.

use super::calls::{Calls, Operation};
use super::correspondence::{Correspondence, CorrespondenceSide};
use super::counterparts::Counterparts;
use crate::event::{Unrecorded, UnrecordedCall};

impl Calls {
    /// Numbers calls that are not in the trace.
    pub(super) fn skip(&mut self, Unrecorded { call, number }: Unrecorded, judge: &mut impl Counterparts) {
        let series = match call {
            UnrecordedCall::Fence(win) => self.windows.fences(win),
            UnrecordedCall::AccessEpoch(win, target) => {
                self.windows.exposures(win, self.rank, target, CorrespondenceSide::SENDER)
            }
            UnrecordedCall::ExposureEpoch(win, origin) => {
                self.windows.exposures(win, origin, self.rank, CorrespondenceSide::RECEIVER)
            }
            UnrecordedCall::File(file) => self.files.series(file),
            UnrecordedCall::Moved(file) => return self.files.moves(file, number),
            UnrecordedCall::Sent(..)
            | UnrecordedCall::Received(..)
            | UnrecordedCall::Collective(_)
            | UnrecordedCall::Start(_) => self.messages_of(call),
        };
        if let Some((meeting, side)) = series {
            judge.skips(meeting, side, number);
        }
    }

    /// The series that messages, collectives and starts outside of the trace are of.
    fn messages_of(&self, call: UnrecordedCall) -> Option<(Correspondence, CorrespondenceSide)> {
        let operation = match call {
            UnrecordedCall::Sent(comm, to, tag) => self.message(comm, self.rank, to, tag, CorrespondenceSide::SENDER),
            UnrecordedCall::Received(comm, from, tag) => {
                self.message(comm, from, self.rank, tag, CorrespondenceSide::RECEIVER)
            }
            UnrecordedCall::Collective(comm) => self.on(comm, Correspondence::Collective),
            UnrecordedCall::Start(id) => self.requests.get(&id).map_or(Operation::Alone, |request| request.operation),
            _ => Operation::Alone,
        };
        if let Operation::Meets(meeting, side, _) = operation { Some((meeting, side)) } else { None }
    }
}
