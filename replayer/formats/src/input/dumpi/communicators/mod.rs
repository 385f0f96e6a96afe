//! Communicators and groups: the calls that make them, and their members.
//!
//! A rank's file has the rank's own arguments and its own numbers. The members of a communicator that `MPI_Comm_split`
//! makes follow from the arguments of all ranks, so these calls are read from all files before the events of any rank.

mod agreement;
mod call;
mod handles;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CommCall, Rank, Tag};
use titr_common::trace::TraceError;

pub(super) use agreement::Agreement;
pub(super) use call::{COMM_NULL, COMM_SELF, COMM_WORLD, Call, Handle};
pub(super) use handles::Handles;

use super::file::RankFile;

/// A communicator.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Communicator {
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
    Known(CommCall, Option<Tag>, Arc<Communicator>),
    /// The rank is not a member of any.
    NotMember(CommCall),
    /// A communicator with processes of other worlds, whose traces titr does not join.
    Elsewhere,
}

/// The communicators that each rank makes, in the order of its calls.
pub(super) fn of_all(files: &[RankFile]) -> Result<Vec<Arc<[Made]>>, TraceError> {
    let mut agreement = Agreement::new(files.len() as u32);
    for (rank, file) in (0..).zip(files) {
        let expected = file.communicator_calls();
        let mut records = file.records()?;
        let mut found = 0;
        while expected != Some(found) {
            let Some(record) = records.next()? else { break };
            if !record.function.changes_communicators() {
                continue;
            }
            found += 1;
            let call = Call::of(&record);
            let number = records.number();
            let call = call.ok_or_else(|| records.error("a call with fewer arguments than it has".to_owned()))?;
            agreement.add(Rank(rank), call, number);
        }
    }
    agreement.reach(files)
}

/// Values that are equal share their memory.
#[derive(Default)]
struct Shared {
    lists: FxHashMap<Arc<[Rank]>, ()>,
}

impl Shared {
    fn list(&mut self, list: &[Rank]) -> Arc<[Rank]> {
        if let Some((known, ())) = self.lists.get_key_value(list) {
            return Arc::clone(known);
        }
        let shared: Arc<[Rank]> = list.into();
        self.lists.insert(Arc::clone(&shared), ());
        shared
    }
}
