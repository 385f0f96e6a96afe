//! Neighbourhood collectives: a message to each destination and one from each source, in the order of the topology and
//! all at once. Both libraries do it so (Open MPI 4.1, `coll/basic`; MPICH 4.0, the linear algorithms).

use titr_common::collectives::{Buffer, Step};
use titr_common::event::{Neighborhood, Rank};
use titr_common::units::Instructions;

use super::Ranks;
use super::collective::Begun;
use super::communicator::Members;
use super::error::Fault;
use super::operation::OperationId;
use crate::observe::Observer;
use titr_common::trace::EventSource;

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// `rank` starts one.
    pub(super) fn start_neighborhood(&mut self, rank: Rank, call: &Neighborhood) -> Result<OperationId, Fault> {
        let index = self.communicators.find(rank, call.comm)?;
        let word = call.op.word();
        let number = self.communicators.enter_neighborhood(index, rank, word)?.number;
        let steps = steps(call, &self.communicators.get(index).members)?;
        Ok(self.start_run(rank, index, Begun { word, number, steps, work: Instructions(0.0) }))
    }
}

/// What one member does.
pub(crate) fn steps(call: &Neighborhood, members: &Members) -> Result<Vec<Step>, Fault> {
    let place = |rank| members.place(rank).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() });
    let receives = call
        .recvs
        .iter()
        .map(|&(rank, bytes)| Ok(Step::Irecv { from: place(rank)?, data: Buffer::Recv.first(bytes.0) }));
    let sends =
        call.sends.iter().map(|&(rank, bytes)| Ok(Step::Isend { to: place(rank)?, data: Buffer::Send.first(bytes.0) }));
    receives.chain(sends).chain([Ok(Step::WaitAll)]).collect()
}
