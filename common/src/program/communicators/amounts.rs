//! Compares the amounts of data that the members of a collective give and get: what is sent must be received (MPI 4.0
//! §6.2, "the amount of data sent must be equal to the amount of data received").
//!
//! If MPI requires one amount from all members, each is compared with the first. If members give each other different
//! amounts, both sides add up a hash of giver, receiver and amount for each pair: the sums are equal if all amounts
//! are, and otherwise differ with a probability of 1 − 2⁻⁶⁴. No state is therefore kept for each pair.

use crate::collectives::Member;
use crate::event::{Collective, CollectiveKind, Rank};
use crate::units::Bytes;

/// The amounts of one collective, of the members that have called it so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Amounts {
    alike: Option<(Alike, Rank)>,
    given: Sum,
    got: Sum,
}

/// The arguments that all members pass alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Alike {
    bytes: Bytes,
    /// Tells lists of amounts apart.
    list: u64,
    /// For a reduction, the size of an element, and whether the operation commutes.
    reduction: Option<(Bytes, bool)>,
}

/// The amounts of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    bytes: u64,
    pairs: u64,
}

/// Amounts that do not fit each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unequal {
    /// The amounts of this member and of one that called before it.
    Members { mine: String, theirs: String, other: Rank },
    /// A member's own two buffers.
    Own { given: Bytes, got: Bytes },
    /// All members together.
    Together { given: Bytes, got: Bytes },
}

impl Amounts {
    /// Adds the call of `rank`, which is member number `me`, given the number of members and the `root`.
    pub(super) fn add(
        &mut self,
        call: &Collective,
        rank: Rank,
        (me, root, members): (Member, Member, u32),
    ) -> Result<(), Unequal> {
        let (send, recv) = (call.send.each(), call.recv.each());
        let (sends, recvs) = (call.send.per_member(), call.recv.per_member());
        let reduction = call.kind.signature().reduces.then_some((call.element, call.is_commutative));
        let alike = |bytes, list| Alike { bytes, list, reduction };
        let everyone = (0..members).map(|member| (member, recv));
        match call.kind {
            CollectiveKind::Barrier => {}
            CollectiveKind::Bcast
            | CollectiveKind::Reduce
            | CollectiveKind::Allreduce
            | CollectiveKind::Scan
            | CollectiveKind::Exscan => self.compare(rank, alike(send, 0))?,
            CollectiveKind::ReduceScatterBlock => self.compare(rank, alike(recv, 0))?,
            CollectiveKind::ReduceScatter => self.compare(rank, alike(sum(recvs), digest(recvs)))?,
            CollectiveKind::Allgather | CollectiveKind::Alltoall => {
                self.compare(rank, alike(send, 0))?;
                own(send, recv)?;
            }
            CollectiveKind::Allgatherv => {
                self.compare(rank, alike(sum(recvs), digest(recvs)))?;
                own(send, recvs.get(me as usize).copied().unwrap_or_default())?;
            }
            CollectiveKind::Gather | CollectiveKind::Gatherv => {
                self.given.add(me, root, send);
                if me == root && call.kind == CollectiveKind::Gather {
                    everyone.for_each(|(from, bytes)| self.got.add(from, root, bytes));
                } else if me == root {
                    (0..).zip(recvs).for_each(|(from, &bytes)| self.got.add(from, root, bytes));
                }
            }
            CollectiveKind::Scatter | CollectiveKind::Scatterv => {
                self.got.add(root, me, recv);
                if me == root && call.kind == CollectiveKind::Scatter {
                    (0..members).for_each(|to| self.given.add(root, to, send));
                } else if me == root {
                    (0..).zip(sends).for_each(|(to, &bytes)| self.given.add(root, to, bytes));
                }
            }
            CollectiveKind::Alltoallv | CollectiveKind::Alltoallw => {
                (0..).zip(sends).for_each(|(to, &bytes)| self.given.add(me, to, bytes));
                (0..).zip(recvs).for_each(|(from, &bytes)| self.got.add(from, me, bytes));
            }
        }
        Ok(())
    }

    /// Compares both sides, once all members have called.
    pub(super) fn end(&self) -> Result<(), Unequal> {
        if self.given == self.got {
            return Ok(());
        }
        Err(Unequal::Together { given: Bytes(self.given.bytes), got: Bytes(self.got.bytes) })
    }

    fn compare(&mut self, rank: Rank, mine: Alike) -> Result<(), Unequal> {
        match self.alike {
            None => self.alike = Some((mine, rank)),
            Some((theirs, other)) if theirs != mine => {
                return Err(Unequal::Members { mine: mine.described(&theirs), theirs: theirs.described(&mine), other });
            }
            Some(_) => {}
        }
        Ok(())
    }
}

impl Alike {
    /// The difference from `other`.
    fn described(&self, other: &Self) -> String {
        match self.reduction {
            _ if self.bytes != other.bytes => format!("{} bytes", self.bytes.0),
            _ if self.list != other.list => format!("another share of {} bytes for each member", self.bytes.0),
            Some((element, _)) if other.reduction.is_some_and(|(others, _)| others != element) => {
                format!("elements of {} bytes", element.0)
            }
            Some((_, true)) => "an operation that commutes".to_owned(),
            Some((_, false)) | None => "an operation that does not commute".to_owned(),
        }
    }
}

impl Sum {
    fn add(&mut self, from: Member, to: Member, bytes: Bytes) {
        if bytes > Bytes(0) {
            self.bytes = self.bytes.saturating_add(bytes.0);
            self.pairs = self.pairs.wrapping_add(mixed(mixed(u64::from(from) << 32 | u64::from(to)) ^ bytes.0));
        }
    }
}

/// The two buffers of one member.
fn own(given: Bytes, got: Bytes) -> Result<(), Unequal> {
    if given == got { Ok(()) } else { Err(Unequal::Own { given, got }) }
}

fn sum(list: &[Bytes]) -> Bytes {
    Bytes(list.iter().fold(0, |sum, bytes| sum.saturating_add(bytes.0)))
}

fn digest(list: &[Bytes]) -> u64 {
    list.iter().fold(0, |digest, bytes| mixed(digest ^ bytes.0))
}

/// A permutation of all numbers in which each bit depends on every bit (`splitmix64`, S. Vigna).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
