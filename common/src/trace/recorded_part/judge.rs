//! The decision whether a call has all that belongs with it: taken for granted while the trace is surveyed, and known after.

use super::meetings::{Meeting, MeetingSide, SizedComm};
use crate::event::{CommCall, CommId, Group, Rank};

/// Decides whether a call has all that belongs with it.
pub(super) trait Judge {
    /// The communicator that a call makes; `None` if it cannot be told.
    fn makes(&mut self, rank: Rank, call: CommCall, parent: CommId, group: &Group) -> Option<SizedComm>;
    /// A side of `sides` makes its next call. Whether all others have theirs.
    fn meets(&mut self, meeting: Meeting, side: MeetingSide, sides: u32) -> bool;
    /// Whether all others have what belongs with a side's next call.
    fn would_meet(&mut self, meeting: Meeting, side: MeetingSide) -> bool;
    /// A side makes its next calls, which are not in the trace.
    fn skips(&mut self, meeting: Meeting, side: MeetingSide, number: u64);
    /// A side's last call was withdrawn.
    fn withdraws(&mut self, meeting: Meeting, side: MeetingSide);
    /// The rank's next receive leaves its source or tag open. Its number among these, and whether it is there.
    fn receives_any(&mut self, rank: Rank) -> (usize, bool);
    /// Notes what a receive that left its source or tag open has received.
    fn received(&mut self, rank: Rank, number: usize, meeting: Meeting);
    /// A call is left out, whatever others have.
    fn leaves_out(&mut self, what: LeftOut);
}

/// A kind of call that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LeftOut {
    /// The completion of a request that was made or started outside of the part.
    Completion,
    /// A call of one-sided communication.
    OneSided,
    /// A call on a file.
    File,
}
