//! Collectives of some members as parts of a collective of all.

use super::algorithms::schedule::{Schedule, translate};
use super::call::Call;
use super::step::{Buffer, Member, Slice, Step};
use crate::event::{CollectiveKind, Volumes};

/// Where the buffers of a part begin in those of the whole call.
#[derive(Clone, Copy)]
pub(super) struct PartBuffers {
    pub(super) send: (Buffer, u64),
    pub(super) recv: (Buffer, u64),
    /// The start of the part's scratch space in that of the call.
    pub(super) scratch: u64,
}

impl PartBuffers {
    /// Those of the call itself.
    pub(super) const OWN: Self = Self { send: (Buffer::Send, 0), recv: (Buffer::Recv, 0), scratch: 0 };

    pub(super) fn place(self, slice: Slice) -> Slice {
        let (buffer, start) = match slice.buffer {
            Buffer::Send => self.send,
            Buffer::Recv => self.recv,
            Buffer::Scratch => (Buffer::Scratch, self.scratch),
        };
        buffer.at(slice.offset.0.saturating_add(start), slice.len.0)
    }
}

/// A part of a call: the same operation, or another one, of some of its members.
#[derive(Clone, Copy)]
pub(super) struct Subcall<'p> {
    pub(super) kind: CollectiveKind,
    /// The members, by their numbers in the call.
    pub(super) group: &'p [Member],
    /// The place of the member in the group.
    pub(super) me: u32,
    pub(super) root: u32,
    pub(super) send: &'p Volumes,
    pub(super) recv: &'p Volumes,
    pub(super) buffers: PartBuffers,
}

impl Subcall<'_> {
    /// The steps of the part in a call, whose `plan` has those of a collective on its own.
    pub(super) fn steps(&self, call: &Call, plan: &dyn Fn(&Call) -> Schedule) -> impl Iterator<Item = Step> {
        let &Self { kind, group, me, root, send, recv, buffers } = self;
        let part = Call { kind, send, recv, me, root, size: group.len() as u32, nodes: None, ..*call };
        let steps = plan(&part).into_steps().into_iter();
        steps.map(move |step| translate(step, |place| group[place as usize], |slice| buffers.place(slice)))
    }
}
