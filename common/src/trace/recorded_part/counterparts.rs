//! Decides whether all corresponding calls of a call are in the trace: assumed during the survey, and known after it.

use super::correspondence::{Correspondence, CorrespondenceSide, SizedComm};
use crate::event::{CommCall, CommId, Group, Rank};

/// Decides whether all counterparts of a call are in the trace.
pub(super) trait Counterparts {
    /// The communicator that a call creates; `None` if it is unknown.
    fn makes(&mut self, rank: Rank, call: CommCall, parent: CommId, group: &Group) -> Option<SizedComm>;
    /// Records that a side of `sides` makes its next call. Returns whether all other sides have the corresponding call.
    fn meets(&mut self, meeting: Correspondence, side: CorrespondenceSide, sides: u32) -> bool;
    /// Whether all other sides have the counterpart of a side's next call.
    fn would_meet(&mut self, meeting: Correspondence, side: CorrespondenceSide) -> bool;
    /// Records that a side makes its next calls, which are not in the trace.
    fn skips(&mut self, meeting: Correspondence, side: CorrespondenceSide, number: u64);
    /// Records that a side's last call was withdrawn.
    fn withdraws(&mut self, meeting: Correspondence, side: CorrespondenceSide);
    /// Records the rank's next receive with a wildcard source or tag. Returns its number among these receives, and
    /// whether its message is in the trace.
    fn receives_any(&mut self, rank: Rank) -> (usize, bool);
    /// Records the match of a receive with a wildcard source or tag.
    fn received(&mut self, rank: Rank, number: usize, meeting: Correspondence);
    /// Records that a call is left out, independent of other calls.
    fn leaves_out(&mut self, what: Omission);
}

/// A kind of call that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Omission {
    /// The completion of a request that was made or started outside of the part.
    Completion,
    /// A call of one-sided communication.
    OneSided,
    /// A call on a file.
    File,
}
