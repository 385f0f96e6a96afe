//! Decides whether all corresponding calls of a call are in the trace: assumed during the survey, and known after it.

use super::meetings::{Meeting, MeetingSide, SizedComm};
use crate::event::{CommCall, CommId, Group, Rank};

/// Decides whether a call has all that belongs with it.
pub(super) trait Judge {
    /// The communicator that a call creates; `None` if it is unknown.
    fn makes(&mut self, rank: Rank, call: CommCall, parent: CommId, group: &Group) -> Option<SizedComm>;
    /// A side of `sides` makes its next call. Whether all others have theirs.
    fn meets(&mut self, meeting: Meeting, side: MeetingSide, sides: u32) -> bool;
    /// Whether all other sides have the counterpart of a side's next call.
    fn would_meet(&mut self, meeting: Meeting, side: MeetingSide) -> bool;
    /// A side makes its next calls, which are not in the trace.
    fn skips(&mut self, meeting: Meeting, side: MeetingSide, number: u64);
    /// A side's last call was withdrawn.
    fn withdraws(&mut self, meeting: Meeting, side: MeetingSide);
    /// The rank's next receive leaves its source or tag open. Its number among these, and whether it is there.
    fn receives_any(&mut self, rank: Rank) -> (usize, bool);
    /// Records the match of a receive with a wildcard source or tag.
    fn received(&mut self, rank: Rank, number: usize, meeting: Meeting);
    /// Records that a call is left out, independent of other calls.
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
