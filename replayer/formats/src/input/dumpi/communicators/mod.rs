//! Communicators and groups: the calls that make them, and their members.
//!
//! A rank's file has the rank's own arguments and its own numbers. The members of a communicator that `MPI_Comm_split`
//! makes follow from the arguments of all ranks, so these calls are read from all files before the events of any rank.

mod agreement;
mod call;
mod handles;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use titr_common::event::{CommCall, Rank, Tag};
use titr_common::trace::TraceError;

pub(super) use agreement::Agreement;
pub(super) use call::{COMM_NULL, COMM_SELF, COMM_WORLD, DumpiCall, Handle};
pub(super) use handles::Handles;

use super::file::DumpiRankFile;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct DumpiCommunicator {
    /// The number of the communicator among all of the program.
    identity: u32,
    /// The members in their order, by their ranks of the world; of an inter-communicator, the local group.
    pub members: Arc<[Rank]>,
    /// The remote group of an inter-communicator; empty otherwise.
    pub remote: Arc<[Rank]>,
    /// The extents of a Cartesian grid; empty otherwise.
    grid: Arc<[u32]>,
}

/// A communicator that a call has made.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// By this function, and with this tag.
    Known(CommCall, Option<Tag>, Arc<DumpiCommunicator>),
    /// The rank is not a member of any.
    NotMember(CommCall),
    /// A communicator with processes of other worlds, whose traces titr does not join.
    Elsewhere,
}

/// The communicators that each rank makes, in the order of its calls.
pub(super) fn of_all(files: &[DumpiRankFile]) -> Result<Vec<Arc<[Made]>>, TraceError> {
    let mut agreement = Agreement::new(files.len() as u32);
    for (rank, file) in (0..).zip(files) {
        let expected = file.communicator_calls();
        let mut records = file.records()?;
        let mut found = 0;
        while expected != Some(found) {
            let record = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(_) if file.is_cut => break,
                Err(error) => return Err(error),
            };
            if !record.function.changes_communicators() {
                continue;
            }
            found += 1;
            let call = DumpiCall::of(&record);
            let number = records.number();
            let call = call.ok_or_else(|| records.error("a call with fewer arguments than it has".to_owned()))?;
            agreement.add(Rank(rank), call, number);
        }
    }
    agreement.reach(files)
}

/// Lists that are equal share their memory.
#[derive(Default)]
struct DumpiShared(FxHashSet<Arc<[Rank]>>);

impl DumpiShared {
    fn list(&mut self, list: &[Rank]) -> Arc<[Rank]> {
        if let Some(known) = self.0.get(list) {
            return Arc::clone(known);
        }
        let shared: Arc<[Rank]> = list.into();
        self.0.insert(Arc::clone(&shared));
        shared
    }
}

impl DumpiCommunicator {
    /// The members that a rank keeps in a grid without the dimensions that do not `remain`, in their order.
    pub(super) fn row(&self, me: Rank, remain: &[i32]) -> Option<Vec<Rank>> {
        let at = self.members.iter().position(|&rank| rank == me)?;
        if self.grid.is_empty() || remain.len() != self.grid.len() {
            return None;
        }
        let coordinates = |mut at: usize| {
            let mut of = vec![0; self.grid.len()];
            for (coordinate, &extent) in of.iter_mut().zip(&*self.grid).rev() {
                let extent = (extent as usize).max(1);
                *coordinate = at % extent;
                at /= extent;
            }
            of
        };
        let mine = coordinates(at);
        let is_beside = |&(at, _): &(usize, &Rank)| {
            coordinates(at).iter().zip(&mine).zip(remain).all(|((one, other), &remain)| remain != 0 || one == other)
        };
        Some(self.members.iter().enumerate().filter(is_beside).map(|(_, &rank)| rank).collect())
    }
}
