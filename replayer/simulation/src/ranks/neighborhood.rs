//! Neighbourhood collectives: a message to each destination and one from each source, in the order of the topology and
//! all at once. Both libraries do it so (Open MPI 4.1, `coll/basic`; MPICH 4.0, the linear algorithms).

use titr_common::event::{Neighborhood, Rank};
use titr_common::program::{Fault, neighborhood_steps};
use titr_common::units::Instructions;

use super::Ranks;
use super::collective::Begun;
use super::operation::OperationId;
use crate::observe::Observer;
use titr_common::trace::EventSource;

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// `rank` starts one.
    pub(super) fn start_neighborhood(&mut self, rank: Rank, call: &Neighborhood) -> Result<OperationId, Fault> {
        let index = self.communicators.find(rank, call.comm)?;
        let word = call.op.word();
        let number = self.communicators.enter_neighborhood(index, rank, word)?.number;
        let steps = neighborhood_steps(call, &self.communicators.get(index).members)?;
        Ok(self.start_run(rank, index, Begun { word, number, steps, work: Instructions(0.0) }))
    }
}
