//! The calls that make and free communicators and groups.

use titr_common::event::CommCall;

use crate::input::dumpi::functions::DumpiFunction;
use crate::input::dumpi::records::DumpiRecord;

/// The number of a communicator or a group, as the rank's file has it.
pub(in crate::input::dumpi) type Handle = u16;

/// The communicator that stands for none.
pub(in super::super) const COMM_NULL: Handle = 1;
pub(in super::super) const COMM_WORLD: Handle = 2;
pub(in crate::input::dumpi) const COMM_SELF: Handle = 3;
/// The group without members.
pub(super) const GROUP_EMPTY: Handle = 2;

/// A call with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::input::dumpi) enum DumpiCall {
    /// A call that makes a communicator from `parent`, with the number `new`, or none.
    Make {
        make: Make,
        parent: Handle,
        new: Handle,
    },
    FreeComm(Handle),
    /// The group of a communicator, or the remote group of an inter-communicator.
    GroupOf {
        comm: Handle,
        is_remote: bool,
        new: Handle,
    },
    Combine {
        combine: Combine,
        one: Handle,
        other: Handle,
        new: Handle,
    },
    /// The members of a group at these ranks, or all others.
    Select {
        group: Handle,
        ranks: Vec<RankRange>,
        is_included: bool,
        new: Handle,
    },
    FreeGroup(Handle),
    /// A group of a window or a file, whose members nothing asks for.
    OtherGroup(Handle),
}

/// Ranks of a group, as `MPI_Group_range_incl` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input::dumpi) struct RankRange {
    pub(super) first: i32,
    pub(super) last: i32,
    pub(super) stride: i32,
}

impl RankRange {
    pub(super) fn of(rank: i32) -> Self {
        Self { first: rank, last: rank, stride: 1 }
    }

    /// The ranks, which a damaged file may put anywhere.
    pub(super) fn ranks(self) -> impl Iterator<Item = i64> {
        let [first, last, stride] = [self.first, self.last, self.stride].map(i64::from);
        let is_before_end = move |rank: &i64| if stride > 0 { *rank <= last } else { *rank >= last };
        std::iter::successors(Some(first).filter(|_| stride != 0), move |rank| Some(rank + stride))
            .take_while(is_before_end)
    }
}

/// The way to make a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::input::dumpi) enum Make {
    Dup,
    Create {
        group: Handle,
    },
    Split {
        color: i32,
        key: i32,
    },
    Grid {
        extents: Vec<i32>,
    },
    SubGrid {
        remain: Vec<i32>,
    },
    Graph {
        nodes: i32,
    },
    Between {
        leader: i32,
        through: Handle,
        remote_leader: i32,
        tag: i32,
    },
    Merge {
        is_high: bool,
    },
    /// With processes of other worlds.
    Elsewhere,
}

/// An operation on two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input::dumpi) enum Combine {
    Union,
    Intersection,
    Difference,
}

impl Make {
    /// The MPI function; `None` for those that join worlds.
    pub(super) fn function(&self) -> Option<CommCall> {
        Some(match self {
            Self::Dup => CommCall::Dup,
            Self::Create { .. } => CommCall::Create,
            Self::Split { .. } => CommCall::Split,
            Self::Grid { .. } => CommCall::CartCreate,
            Self::SubGrid { .. } => CommCall::CartSub,
            Self::Graph { .. } => CommCall::GraphCreate,
            Self::Between { .. } => CommCall::IntercommCreate,
            Self::Merge { .. } => CommCall::IntercommMerge,
            Self::Elsewhere => return None,
        })
    }
}

impl DumpiCall {
    /// The call of a record; `None` if the function makes or frees neither, or if arguments are missing.
    pub(in crate::input::dumpi) fn of(record: &DumpiRecord<'_>) -> Option<Self> {
        let mut arguments = record.arguments;
        let bytes = &mut arguments;
        let make = |make, parent, new| Some(Self::Make { make, parent, new });
        match record.function {
            DumpiFunction::COMM_DUP => make(Make::Dup, bytes.u16()?, bytes.u16()?),
            DumpiFunction::COMM_CREATE => {
                let (parent, group) = (bytes.u16()?, bytes.u16()?);
                make(Make::Create { group }, parent, bytes.u16()?)
            }
            DumpiFunction::COMM_SPLIT => {
                let (parent, color, key) = (bytes.u16()?, bytes.i32()?, bytes.i32()?);
                make(Make::Split { color, key }, parent, bytes.u16()?)
            }
            DumpiFunction::CART_CREATE => {
                let (parent, _) = (bytes.u16()?, bytes.i32()?);
                let (extents, _periods, _reorder) = (bytes.integers()?.collect(), bytes.integers()?, bytes.i32()?);
                make(Make::Grid { extents }, parent, bytes.u16()?)
            }
            DumpiFunction::CART_SUB => {
                let (_, parent, remain) = (bytes.i32()?, bytes.u16()?, bytes.integers()?.collect());
                make(Make::SubGrid { remain }, parent, bytes.u16()?)
            }
            DumpiFunction::GRAPH_CREATE => {
                let (_, parent, nodes) = (bytes.i32()?, bytes.u16()?, bytes.i32()?);
                let (_index, _edges, _reorder) = (bytes.integers()?, bytes.integers()?, bytes.i32()?);
                make(Make::Graph { nodes }, parent, bytes.u16()?)
            }
            DumpiFunction::INTERCOMM_CREATE => {
                let (parent, leader, through) = (bytes.u16()?, bytes.i32()?, bytes.u16()?);
                let (remote_leader, tag) = (bytes.i32()?, bytes.i32()?);
                make(Make::Between { leader, through, remote_leader, tag }, parent, bytes.u16()?)
            }
            DumpiFunction::INTERCOMM_MERGE => {
                let (parent, high) = (bytes.u16()?, bytes.i32()?);
                make(Make::Merge { is_high: high != 0 }, parent, bytes.u16()?)
            }
            DumpiFunction::COMM_FREE | DumpiFunction::COMM_DISCONNECT => bytes.u16().map(Self::FreeComm),
            DumpiFunction::COMM_ACCEPT | DumpiFunction::COMM_CONNECT => {
                let (_port, _info, _root) = (bytes.list_of_bytes()?, bytes.u16()?, bytes.i32()?);
                make(Make::Elsewhere, bytes.u16()?, bytes.u16()?)
            }
            DumpiFunction::COMM_GET_PARENT => make(Make::Elsewhere, COMM_WORLD, bytes.u16()?),
            DumpiFunction::COMM_JOIN => {
                let _socket = bytes.i32()?;
                make(Make::Elsewhere, COMM_SELF, bytes.u16()?)
            }
            DumpiFunction::COMM_SPAWN | DumpiFunction::COMM_SPAWN_MULTIPLE => {
                bytes.take(if record.function == DumpiFunction::COMM_SPAWN { 8 } else { 12 })?;
                make(Make::Elsewhere, bytes.u16()?, bytes.u16()?)
            }
            DumpiFunction::COMM_GROUP | DumpiFunction::COMM_REMOTE_GROUP => {
                let is_remote = record.function == DumpiFunction::COMM_REMOTE_GROUP;
                Some(Self::GroupOf { comm: bytes.u16()?, is_remote, new: bytes.u16()? })
            }
            DumpiFunction::GROUP_UNION => Self::combine(Combine::Union, record),
            DumpiFunction::GROUP_INTERSECTION => Self::combine(Combine::Intersection, record),
            DumpiFunction::GROUP_DIFFERENCE => Self::combine(Combine::Difference, record),
            DumpiFunction::GROUP_INCL | DumpiFunction::GROUP_EXCL => {
                let (group, _, ranks) = (bytes.u16()?, bytes.i32()?, bytes.integers()?.map(RankRange::of).collect());
                let is_included = record.function == DumpiFunction::GROUP_INCL;
                Some(Self::Select { group, ranks, is_included, new: bytes.u16()? })
            }
            DumpiFunction::GROUP_RANGE_INCL | DumpiFunction::GROUP_RANGE_EXCL => {
                let (group, _, ranges) = (bytes.u16()?, bytes.i32()?, bytes.i32()?);
                let mut ranks = Vec::new();
                for _ in 0..ranges {
                    let mut range = bytes.integers()?;
                    ranks.push(RankRange { first: range.next()?, last: range.next()?, stride: range.next()? });
                }
                let is_included = record.function == DumpiFunction::GROUP_RANGE_INCL;
                Some(Self::Select { group, ranks, is_included, new: bytes.u16()? })
            }
            DumpiFunction::GROUP_FREE => bytes.u16().map(Self::FreeGroup),
            // Of a window and of a file.
            DumpiFunction(148 | 236) => {
                let _of = bytes.u16()?;
                bytes.u16().map(Self::OtherGroup)
            }
            _ => None,
        }
    }

    fn combine(combine: Combine, record: &DumpiRecord<'_>) -> Option<Self> {
        let mut bytes = record.arguments;
        Some(Self::Combine { combine, one: bytes.u16()?, other: bytes.u16()?, new: bytes.u16()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_up_and_down() {
        let ranks = |first, last, stride| RankRange { first, last, stride }.ranks().collect::<Vec<_>>();
        assert_eq!([ranks(1, 6, 2), ranks(3, 1, -1), ranks(3, 5, 0)], [vec![1, 3, 5], vec![3, 2, 1], vec![]]);
        assert_eq!(RankRange::of(7).ranks().collect::<Vec<_>>(), [7]);
    }
}
