//! Shows the steps of a collective.
//!
//! A schedule (`titr_common::collectives`) is a function of the call. An [`Example`] is a call with the same amount of
//! data for every member; its schedule is shown as each member's steps ([`steps`]) or as the exchanges of each pair
//! ([`matrix`]).

pub mod catalogue;
pub mod matrix;
pub mod steps;

use thiserror::Error;
use titr_common::collectives::{Call, CallMode, Choice, Member, Selection, Step};
use titr_common::event::{CollectiveKind, Extent, Volumes};
use titr_common::units::Bytes;

/// A collective call, the same for all members.
#[derive(Clone, Debug)]
pub struct Example {
    selection: Selection,
    ranks: u32,
    root: Member,
    element: Bytes,
    is_commutative: bool,
    mode: CallMode,
    kind: CollectiveKind,
    send: Volumes,
    recv: Volumes,
}

/// The arguments that an [`Example`] is made from.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The selection of algorithms.
    pub selection: Selection,
    /// The collective that is called.
    pub collective: CollectiveKind,
    /// Whether the call returns when it is done.
    pub mode: CallMode,
    /// Members of the communicator.
    pub ranks: u32,
    /// The whole vector of a broadcast or a reduction, which reduce_scatter shares out as evenly as it can, the first
    /// members' parts being an element longer; one member's block of all others.
    pub bytes: Bytes,
    /// The root, where there is one.
    pub root: Member,
    /// The size of an element of the datatype.
    pub element: Bytes,
    /// Whether the operation is commutative.
    pub is_commutative: bool,
}

/// An error of an [`Outline`] that describes no call that MPI allows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Uncallable {
    /// The communicator has no members.
    #[error("a collective needs a rank")]
    NoRanks,
    /// The root is not a member.
    #[error("the root is one of the ranks 0 to {last}, not {root}")]
    Root {
        /// The requested root.
        root: Member,
        /// The last member.
        last: Member,
    },
    /// The volume ends inside an element.
    #[error("{} bytes are no whole number of elements of {} bytes", .bytes.0, .element.0)]
    Fraction {
        /// The volume in bytes.
        bytes: Bytes,
        /// The size of an element in bytes.
        element: Bytes,
    },
}

impl Example {
    /// The call of this outline.
    ///
    /// # Errors
    /// The collective that cannot be called.
    pub fn new(outline: Outline) -> Result<Self, Uncallable> {
        let Outline { selection, collective, mode, ranks, bytes, root, element, is_commutative } = outline;
        let last = ranks.checked_sub(1).ok_or(Uncallable::NoRanks)?;
        if root > last {
            return Err(Uncallable::Root { root, last });
        }
        match bytes.0.checked_rem(element.0) {
            Some(0) => {}
            _ => return Err(Uncallable::Fraction { bytes, element }),
        }
        let signature = collective.signature();
        let volumes = |extent| match extent {
            Extent::None => Volumes::None,
            Extent::Each => Volumes::Each(bytes),
            Extent::PerMember if collective == CollectiveKind::ReduceScatter => {
                Volumes::PerMember(shares(ranks, bytes, element))
            }
            Extent::PerMember => Volumes::PerMember(vec![bytes; ranks as usize]),
        };
        let (kind, send, recv) = (collective, volumes(signature.send), volumes(signature.recv));
        Ok(Self { selection, ranks, root, element, is_commutative, mode, kind, send, recv })
    }

    /// All members.
    #[must_use]
    pub(crate) fn members(&self) -> std::ops::Range<Member> {
        0..self.ranks
    }

    /// The steps of one member.
    #[must_use]
    pub(crate) fn steps(&self, me: Member) -> Vec<Step> {
        self.selection.steps(&self.call(me))
    }

    /// The algorithm that is used.
    #[must_use]
    pub(crate) fn choice(&self) -> Choice {
        self.selection.choose(&self.call(self.root))
    }

    /// Whether another algorithm was requested, which is impossible here.
    #[must_use]
    pub(crate) fn replaced(&self) -> Option<Choice> {
        let taken = self.choice();
        let mut forced = self.selection.forced();
        forced.find(|asked| {
            asked.algorithm.collective() == taken.algorithm.collective() && asked.algorithm != taken.algorithm
        })
    }

    /// The selection of algorithms that are used.
    #[must_use]
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Whether the call returns when it is done.
    #[must_use]
    pub(crate) fn mode(&self) -> CallMode {
        self.mode
    }

    fn call(&self, me: Member) -> Call<'_> {
        let Self { ranks, root, kind, ref send, ref recv, element, mode, is_commutative, .. } = *self;
        Call { me, size: ranks, root, kind, send, recv, element, mode, is_commutative }
    }
}

/// A vector in as even parts as its elements allow, the longer ones first.
fn shares(ranks: u32, bytes: Bytes, element: Bytes) -> Vec<Bytes> {
    let (count, ranks) = (bytes.0 / element.0.max(1), u64::from(ranks.max(1)));
    (0..ranks).map(|rank| element.times(count / ranks + u64::from(rank < count % ranks))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parts_are_longer() {
        assert_eq!(shares(4, Bytes(80), Bytes(8)), [24, 24, 16, 16].map(Bytes));
        assert_eq!(shares(3, Bytes(8), Bytes(8)), [8, 0, 0].map(Bytes));
    }
}
