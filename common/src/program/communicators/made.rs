//! Communicators that are being created: which of those created by different ranks are the same.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::CommIndex;
use crate::collectives::Member;
use crate::event::{CommCall, Rank, Tag};

/// The members; the groups of an inter-communicator, the one with the smaller first rank first.
type Groups = (Vec<Rank>, Vec<Rank>);

/// The way in which the members of a new communicator find each other. All members create the communicators of one
/// origin, one parent and the same groups in one order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// All members of the parent make the call.
    Parent,
    /// Only the members of the new communicator make the call, with a tag.
    Group(Option<Tag>),
    /// Two groups without a parent in common make the call, with a tag.
    TwoGroups(Option<Tag>),
    /// Two groups that may be of different worlds make two different calls.
    TwoWorlds,
}

impl Origin {
    pub(super) fn of(call: CommCall, tag: Option<Tag>) -> Self {
        match call {
            CommCall::IntercommCreate => Self::TwoGroups(tag),
            _ if call.joins_worlds() => Self::TwoWorlds,
            _ if call.is_collective_on_parent() => Self::Parent,
            _ => Self::Group(tag),
        }
    }
}

/// The communicators that were made of one parent.
#[derive(Default)]
pub(super) struct Made(FxHashMap<(Origin, Groups), Siblings>);

/// The communicators of one origin, parent and groups, one after another.
#[derive(Default)]
struct Siblings {
    /// The number of the communicators that each member has made.
    made: Vec<u64>,
    /// The communicators that some members have made and others have not, with how many members still have to.
    open: VecDeque<(CommIndex, usize)>,
    /// The number of the communicators that all members have made.
    closed: u64,
}

impl Made {
    /// The communicator that a member of the origin's next one, which has `size` members, makes; `insert` makes it if the
    /// member is the first.
    pub(super) fn next(
        &mut self,
        origin: (Origin, Groups),
        member: Member,
        size: usize,
        insert: impl FnOnce() -> CommIndex,
    ) -> CommIndex {
        let Siblings { made, open, closed } = self.0.entry(origin).or_default();
        made.resize(size, 0);
        let nth = (made[member as usize] - *closed) as usize;
        made[member as usize] += 1;
        let index = match open.get_mut(nth) {
            Some((index, missing)) => {
                *missing -= 1;
                *index
            }
            None => {
                let index = insert();
                open.push_back((index, size - 1));
                index
            }
        };
        while open.front().is_some_and(|(_, missing)| *missing == 0) {
            open.pop_front();
            *closed += 1;
        }
        index
    }
}
