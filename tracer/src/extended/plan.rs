//! The plan of one member of a collective: the steps that the algorithm has for it, and the data they move.

use titr_common::collectives::{self, Selection, Step};
use titr_wrappers::Abi;
use titr_wrappers::argument::Comm;
use titr_wrappers::pmpi;
use titr_wrappers::pmpi::exchange::Exchange;
use titr_wrappers::pmpi::region::Region;

use super::Description;
use super::clock::Clock;
use super::data::Data;
use super::execution::{self, Run};
use crate::collective_call::CollectiveCall;

/// A collective that is to be carried out.
pub(super) struct Plan {
    abi: &'static Abi,
    /// The number of the collective on its communicator.
    pub(super) number: u64,
    steps: Vec<Step>,
    data: Data,
}

/// The number of tags that MPI guarantees (MPI 4.0 §3.2.2): more collectives than that are never under way at once.
const TAGS: u64 = 1 << 15;

impl Plan {
    /// The plan for a call; `None` for a call that only sets up, and where MPI itself is to say what is wrong with the
    /// arguments.
    pub(super) fn new(
        abi: &'static Abi,
        selection: &Selection,
        call: &CollectiveCall<'_>,
        description: &Description,
        number: u64,
    ) -> Option<Self> {
        let (me, size) = (u32::try_from(pmpi::comm_rank(description.comm)).ok()?, description.members.len());
        let data = Data::of(call, me as usize, size)?;
        let is_commutative = data.reduction.is_none_or(|reduction| reduction.commutes());
        // The recorder has found the root among the members.
        let root = call.root.map_or(0, |root| u32::try_from(root).unwrap_or(0));
        let call = collectives::Call::of(&description.collective, me, size as u32, root);
        let steps = selection.steps(&collectives::Call { is_commutative, ..call });
        Some(Self { abi, number, steps, data })
    }

    /// Begins to carry it out, with messages on `comm`.
    pub(super) fn begin(self, comm: Comm, clock: Clock) -> Run {
        let tag = (self.number % TAGS) as i32;
        let exchange = Exchange::new(self.abi, comm, tag, self.lens());
        Run::new(exchange, clock, self.steps, self.data)
    }

    /// The lengths of the three buffers: as long as the data, and as the steps' slices need them.
    fn lens(&self) -> [u64; 3] {
        let total = |regions: &[Region]| regions.iter().map(Region::bytes).sum();
        let mut lens = [total(&self.data.send), total(&self.data.recv), 0];
        for slice in self.steps.iter().flat_map(execution::slices) {
            let end = slice.offset.0.saturating_add(slice.len.0);
            if let Some(len) = lens.get_mut(execution::space(slice.buffer) as usize) {
                *len = end.max(*len);
            }
        }
        lens
    }
}
