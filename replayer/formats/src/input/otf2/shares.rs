//! The bytes of each member in collectives whose members give or get different amounts. The record of a call has only the
//! sums of its rank, so the records of all members are read once, before the first such call is translated.
//!
//! The sums of all members determine the lists of a gather and a scatter. Those of an alltoall only limit it: what a member
//! gives another is taken to be in proportion to what the one gives and the other gets.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use titr_common::event::{CollectiveKind, Rank};
use titr_common::trace::TraceError;
use titr_common::units::Bytes;

use super::Archive;
use super::communicators::{Members, rank_at};
use super::functions::kind_of;
use super::local::Otf2Kind;
use super::threads::ThreadRecords;
use crate::input::functions::has_lists;

/// The most numbers that are kept. If there are more, sums are divided into equal parts.
const LIMIT: usize = 1 << 23;

/// Such collectives of an archive, by the numbers of communicators, in order.
#[derive(Default)]
pub(super) struct Shares(FxHashMap<u32, Vec<Otf2Shared>>);

/// A collective call, of all members.
pub(super) struct Otf2Shared {
    kind: CollectiveKind,
    /// The sums of each member.
    pub sent: Vec<u64>,
    pub received: Vec<u64>,
    /// The bytes that are left of each sum if all members give in proportion, rounded down; added up from the first member
    /// to each.
    rests: OnceLock<(Vec<u64>, Vec<u64>)>,
}

impl Shares {
    /// Reads the records of all ranks.
    pub(super) fn read(archive: &Archive) -> Self {
        let mut this = Self::default();
        let mut room = LIMIT;
        for rank in 0..archive.definitions.locations.len() {
            // A rank whose file cannot be read has its own error.
            match this.add_rank(archive, rank_at(rank), &mut room) {
                Ok(true) => {}
                Ok(false) | Err(_) => return Self::default(),
            }
        }
        this
    }

    /// Adds the calls of a rank; false if there are too many.
    fn add_rank(&mut self, archive: &Archive, rank: Rank, room: &mut usize) -> Result<bool, TraceError> {
        let locations = archive.locations(rank);
        let locals = archive.locals(locations)?;
        let mut records = ThreadRecords::open(archive, locations, &locals)?;
        let mut calls: FxHashMap<u32, usize> = FxHashMap::default();
        // The communicator, the rank in it and its size, by what a thread calls it.
        let mut places = FxHashMap::default();
        while let Some((thread, record)) = records.next()? {
            if record.kind != 23 {
                continue;
            }
            let mut f = record.fields;
            let Some(kind) = f.byte().and_then(kind_of).filter(|&kind| has_lists(kind)) else { continue };
            let (Some(comm), Some(_root), Some(sent), Some(received)) = (f.u32(), f.u32(), f.u64(), f.u64()) else {
                continue;
            };
            let place = *places.entry((thread, comm)).or_insert_with(|| {
                let global = locals.get(thread.0 as usize)?.global(Otf2Kind::Communicator, comm);
                let (me, members) = place(archive, global, rank)?;
                Some((global, me, members))
            });
            let Some((comm, me, members)) = place else { continue };
            let call = calls.entry(comm).or_default();
            let of_comm = self.0.entry(comm).or_default();
            if *call == of_comm.len() {
                let Some(left) = room.checked_sub(2 * members) else { return Ok(false) };
                *room = left;
                let none = vec![0; members];
                of_comm.push(Otf2Shared { kind, sent: none.clone(), received: none, rests: OnceLock::new() });
            }
            if let Some(shared) = of_comm.get_mut(*call).filter(|shared| shared.kind == kind) {
                (shared.sent[me], shared.received[me]) = (sent, received);
            }
            *call += 1;
        }
        Ok(true)
    }

    /// The call of this number on a communicator.
    pub(super) fn get(&self, comm: u32, number: usize, kind: CollectiveKind) -> Option<&Otf2Shared> {
        self.0.get(&comm)?.get(number).filter(|shared| shared.kind == kind)
    }
}

/// The place of a rank in a communicator of one group, and its size.
fn place(archive: &Archive, comm: u32, rank: Rank) -> Option<(usize, usize)> {
    let communicators = &archive.definitions.communicators;
    let members: &Arc<[Rank]> = match &communicators.get(comm)?.members {
        Members::World => return Some((rank.0 as usize, archive.definitions.locations.len())),
        Members::Group(members) => members,
        Members::Itself | Members::Between(..) => return None,
    };
    Some((members.iter().position(|&member| member == rank)?, members.len()))
}

impl Otf2Shared {
    /// The bytes that a member gives each other in an alltoall.
    pub(super) fn given(&self, me: usize) -> Vec<Bytes> {
        (0..self.sent.len()).map(|to| self.between(me, to)).collect()
    }

    /// The bytes that a member gets from each other.
    pub(super) fn got(&self, me: usize) -> Vec<Bytes> {
        (0..self.sent.len()).map(|from| self.between(from, me)).collect()
    }

    /// The bytes from one member to another: in proportion, rounded down, and a part of the rests. The rests of givers and
    /// of getters lie side by side on a line, and two members have in common where they overlap.
    fn between(&self, from: usize, to: usize) -> Bytes {
        let (givers, getters) = self.rests.get_or_init(|| self.rests());
        let ends = |ends: &[u64], at: usize| (at.checked_sub(1).map_or(0, |before| ends[before]), ends[at]);
        let ((begin, end), (other_begin, other_end)) = (ends(givers, from), ends(getters, to));
        let rest = end.min(other_end).saturating_sub(begin.max(other_begin));
        Bytes(self.proportion(from, to).saturating_add(rest))
    }

    fn total(&self) -> u128 {
        self.sent.iter().map(|&sent| u128::from(sent)).sum()
    }

    fn proportion(&self, from: usize, to: usize) -> u64 {
        let product = u128::from(self.sent[from]) * u128::from(self.received[to]);
        u64::try_from(product.checked_div(self.total()).unwrap_or_default()).unwrap_or(u64::MAX)
    }

    fn rests(&self) -> (Vec<u64>, Vec<u64>) {
        let (mut givers, mut getters) = (self.sent.clone(), self.received.clone());
        for (from, giver) in givers.iter_mut().enumerate() {
            for (to, getter) in getters.iter_mut().enumerate() {
                let part = self.proportion(from, to);
                *giver = giver.saturating_sub(part);
                *getter = getter.saturating_sub(part);
            }
        }
        for rests in [&mut givers, &mut getters] {
            let mut sum = 0_u64;
            for rest in rests {
                sum = sum.saturating_add(*rest);
                *rest = sum;
            }
        }
        (givers, getters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_members_give_and_get_adds_up() {
        let shared = Otf2Shared {
            kind: CollectiveKind::Alltoallv,
            sent: vec![10, 0, 7, 100],
            received: vec![1, 50, 60, 6],
            rests: OnceLock::new(),
        };
        for member in 0..4 {
            let sum = |list: Vec<Bytes>| list.iter().map(|bytes| bytes.0).sum::<u64>();
            assert_eq!(sum(shared.given(member)), shared.sent[member]);
            assert_eq!(sum(shared.got(member)), shared.received[member]);
        }
        assert_eq!(shared.given(3)[1], shared.got(1)[3]);
    }
}
