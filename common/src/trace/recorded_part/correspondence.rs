//! Corresponding calls: a send and its receive, a collective of all members. Each rank numbers the calls that it makes,
//! in the trace or not, so that the *n*-th of one rank corresponds to the *n*-th of the others.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::event::{CommCall, CommId, Group, Rank, Tag};
use crate::program::CommIndex;

/// A communicator, the same for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CommKey {
    /// The world, or a communicator that was made.
    Made(CommIndex),
    /// The `MPI_COMM_SELF` of a rank.
    Itself(Rank),
}

/// A communicator and the number of its members.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizedComm {
    pub(super) key: CommKey,
    pub(super) size: u32,
}

/// A series of calls that correspond to calls of other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Correspondence {
    Message(Envelope),
    /// The starts of a partitioned message: the *n*-th that was set up with this envelope.
    Partitioned(Envelope, u32),
    Collective(CommKey),
    /// The starts of the *n*-th persistent collective that was set up.
    PersistentCollective(CommKey, u32),
    /// The agreements of the members in calls that make communicators.
    Agreement(CommKey),
    Fence(WinKey),
    /// The epochs in which one rank accesses the memory of another that exposes it.
    Exposure(Exposure),
    /// The collective calls on a file.
    File(FileKey),
}

/// A window, the rank that accesses it, and the rank whose memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exposure {
    pub(super) win: WinKey,
    pub(super) origin: Rank,
    pub(super) target: Rank,
}

/// A window, the same for all its members: the communicator on which it was created, and its number among that
/// communicator's windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WinKey(pub(super) CommKey, pub(super) u32);

/// A file, the same for all its members: the communicator that opened it, and its number among that communicator's
/// files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileKey(pub(super) CommKey, pub(super) u32);

/// The properties that a message and its receive have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Envelope {
    pub(super) comm: CommKey,
    pub(super) from: Rank,
    pub(super) to: Rank,
    pub(super) tag: Tag,
}

/// A rank's place in a series: whether it sends or receives, or its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CorrespondenceSide(pub(super) u32);

impl CorrespondenceSide {
    pub(super) const SENDER: Self = Self(0);
    pub(super) const RECEIVER: Self = Self(1);
    /// The sides of a message.
    pub(super) const OF_MESSAGE: u32 = 2;
}

/// The calls of one side, numbered from 0.
#[derive(Clone, Debug, Default)]
struct NumberedCalls {
    next: u64,
    /// The calls that are in the trace.
    recorded: Ranges,
}

/// Disjoint ranges of numbers, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    fn push(&mut self, number: u64) {
        match self.0.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => self.0.push(number..number + 1),
        }
    }

    fn pop(&mut self, number: u64) {
        if let Some(last) = self.0.last_mut().filter(|last| last.end == number + 1) {
            last.end = number;
        }
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        let after = self.0.partition_point(|range| range.start <= number);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|range| range.contains(&number))
    }

    pub(super) fn len(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// The numbers in both lists.
    fn and(&self, other: &Self) -> Self {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            let common = a.start.max(b.start)..a.end.min(b.end);
            if a.end <= b.end {
                mine.next();
            } else {
                theirs.next();
            }
            if !common.is_empty() {
                both.push(common);
            }
        }
        Self(both)
    }
}

/// All series of a program.
#[derive(Default)]
pub(super) struct Correspondences {
    numbers: FxHashMap<(Correspondence, CorrespondenceSide), NumberedCalls>,
    /// The number of sides of a series.
    sides: FxHashMap<Correspondence, u32>,
}

/// The calls that all sides have in their traces.
pub(super) type Common = FxHashMap<Correspondence, Ranges>;

impl Correspondences {
    /// A side makes its next call, which is in the trace. Returns the number of the call.
    pub(super) fn add(&mut self, meeting: Correspondence, side: CorrespondenceSide, sides: u32) -> u64 {
        self.sides.insert(meeting, sides);
        let NumberedCalls { next, recorded } = self.numbers.entry((meeting, side)).or_default();
        recorded.push(*next);
        *next += 1;
        *next - 1
    }

    /// A side makes its next `number` calls, which are not in the trace.
    pub(super) fn skip(&mut self, meeting: Correspondence, side: CorrespondenceSide, number: u64) {
        let numbers = self.numbers.entry((meeting, side)).or_default();
        numbers.next = numbers.next.saturating_add(number);
    }

    /// The last call of a side was withdrawn.
    pub(super) fn withdraw(&mut self, meeting: Correspondence, side: CorrespondenceSide) {
        if let Some(numbers) = self.numbers.get_mut(&(meeting, side)) {
            numbers.next = numbers.next.saturating_sub(1);
            numbers.recorded.pop(numbers.next);
        }
    }

    /// The calls that all sides have, and for each side how many of its calls are not among them.
    pub(super) fn common(self) -> (Common, Vec<(Correspondence, CorrespondenceSide, u64)>) {
        let mut common: FxHashMap<Correspondence, (u32, Ranges)> = FxHashMap::default();
        for (&(meeting, _), NumberedCalls { recorded, .. }) in &self.numbers {
            let (sides, both) = common.entry(meeting).or_insert_with(|| (0, recorded.clone()));
            *sides += 1;
            *both = both.and(recorded);
        }
        let complete = |meeting: &Correspondence, sides: u32| self.sides.get(meeting).is_some_and(|&all| sides >= all);
        let common: Common = common
            .into_iter()
            .map(|(meeting, (sides, both))| (meeting, if complete(&meeting, sides) { both } else { Ranges::default() }))
            .collect();
        let left = self.numbers.iter().map(|(&(meeting, side), NumberedCalls { recorded, .. })| {
            (meeting, side, recorded.len() - common.get(&meeting).map_or(0, Ranges::len))
        });
        let left = left.filter(|(.., number)| *number > 0).collect();
        (common, left)
    }
}

/// The next number of a kind.
pub(super) fn next<K: std::hash::Hash + Eq>(numbers: &mut FxHashMap<K, u32>, key: K) -> u32 {
    let number = numbers.entry(key).or_default();
    *number += 1;
    *number - 1
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(list: &[Range<u64>]) -> Ranges {
        Ranges(list.to_vec())
    }

    #[test]
    fn what_both_have_is_common() {
        let (a, b) = (ranges(&[0..3, 5..9, 12..13]), ranges(&[2..6, 8..20]));
        assert_eq!(a.and(&b).0, [2..3, 5..6, 8..9, 12..13]);
        assert_eq!(b.and(&a).0, a.and(&b).0);
        assert!(a.contains(5) && a.contains(8) && !a.contains(9) && !a.contains(3) && !ranges(&[]).contains(0));
        assert_eq!(a.len(), 8);
    }

    /// A message that was sent before the sender's part began, and one whose receive was posted after the receiver's ended.
    #[test]
    fn calls_meet_by_their_numbers() {
        let comm = CommKey::Made(CommIndex::WORLD);
        let meeting = Correspondence::Message(Envelope { comm, from: Rank(0), to: Rank(1), tag: Tag(7) });
        let mut meetings = Correspondences::default();
        meetings.skip(meeting, CorrespondenceSide::SENDER, 1);
        let sent: Vec<u64> =
            (0..3).map(|_| meetings.add(meeting, CorrespondenceSide::SENDER, CorrespondenceSide::OF_MESSAGE)).collect();
        let received: Vec<u64> = (0..3)
            .map(|_| meetings.add(meeting, CorrespondenceSide::RECEIVER, CorrespondenceSide::OF_MESSAGE))
            .collect();
        assert_eq!((sent, received), (vec![1, 2, 3], vec![0, 1, 2]));
        let (common, left) = meetings.common();
        let of_both = std::slice::from_ref(&(1..3));
        assert_eq!(common[&meeting].0, of_both);
        assert!(
            left.contains(&(meeting, CorrespondenceSide::SENDER, 1))
                && left.contains(&(meeting, CorrespondenceSide::RECEIVER, 1))
        );
    }

    #[test]
    fn a_side_that_is_missing_has_nothing_in_common() {
        let meeting = Correspondence::Collective(CommKey::Made(CommIndex::WORLD));
        let mut meetings = Correspondences::default();
        meetings.add(meeting, CorrespondenceSide(0), 3);
        meetings.add(meeting, CorrespondenceSide(2), 3);
        assert_eq!(meetings.common().0[&meeting].len(), 0);
    }
}
