//! Collectives of an extended trace: who carries one out, and what was seen of it.

use titr_common::collectives;
use titr_common::event::{Annotation, CommId, Message};
use titr_wrappers::argument::Comm;
use titr_wrappers::functions::collective::Collective::{self, *};
use titr_wrappers::pmpi;
use titr_wrappers::pmpi::promise::Promise;

use super::background::{Started, Task};
use super::collective::started;
use super::communicators::Ranks;
use super::{Outcome, Recorder};
use crate::extended::{Data, Done, Run, Seat, Sighting, Undertaking};

/// How a collective of an extended trace comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The tracer carries it out.
    Execute,
    /// The library does, on this communicator, and its messages are seen.
    Observe(Comm),
    /// The library does, and nothing is seen.
    Pass,
}

impl Recorder {
    /// How a collective of an extended trace comes about.
    pub(super) fn way(&mut self, call: &Collective<'_>) -> Way {
        if !self.extended.as_ref().is_some_and(|extended| extended.observes) {
            return Way::Execute;
        }
        let Ok((comm, operation)) = self.operation(call) else { return Way::Pass };
        self.reclaim(operation);
        if started(call).is_none() { Way::Observe(comm) } else { Way::Pass }
    }

    /// What is to be done in the library's place; `None`: nothing, it is to do it itself.
    pub(super) fn undertake(&mut self, call: &Collective<'_>) -> Option<Undertaking> {
        let (comm, operation) = self.operation(call).ok()?;
        let me = pmpi::comm_rank(comm);
        let size = self.known(comm).ok()?.members.len() as u32;
        let data = Data::of(call, Seat { me, size: size.into() })?;
        let extended = self.extended.as_mut()?;
        let number = extended.next(operation.comm);
        let is_commutative = data.reduction.is_none_or(|reduction| reduction.commutes());
        let described = collectives::Call::of(&operation, u32::try_from(me).ok()?, size, root(call));
        let steps = extended.selection.steps(&collectives::Call { is_commutative, ..described });
        let private = extended.private(operation.comm);
        self.reclaim(operation);
        Some(Undertaking { abi: self.abi, comm, private, number, steps, data })
    }

    /// Takes over what a call has started in the library's place.
    pub(super) fn entrust(
        &mut self,
        call: &Collective<'_>,
        number: u64,
        run: Run,
        promise: Promise,
    ) -> Option<Started> {
        let (comm, operation) = self.operation(call).ok()?;
        let members = self.known(comm).ok()?.members.clone();
        let comm = operation.comm;
        self.reclaim(operation);
        Some(self.background.add(Task { comm, number, members, run, promise: Some(promise) }))
    }

    /// Takes note of what messages a collective was.
    pub(super) fn note(&mut self, comm: Comm, id: CommId, number: u64, done: &Done) -> Outcome {
        if let (Some(extended), Some(private)) = (&mut self.extended, done.private) {
            extended.keep(id, private);
        }
        let members = self.known(comm)?.members.clone();
        self.seen.extend(messages(id, number, &members, &done.messages));
        Ok(())
    }
}

/// What was seen of a collective whose members these are.
pub(super) fn messages<'a>(
    comm: CommId,
    number: u64,
    members: &'a Ranks,
    messages: &'a [Sighting],
) -> impl Iterator<Item = Annotation> + use<'a> {
    messages.iter().filter_map(move |&Sighting { end, peer, bytes, span }| {
        let peer = members.get(i32::try_from(peer).ok()?)?;
        Some(Annotation::Message(Message { comm, number, end, peer, bytes, span }))
    })
}

/// The root of a rooted collective, as a member of its communicator.
fn root(call: &Collective<'_>) -> u32 {
    let root = match call {
        MPI_Bcast(call) | MPI_Ibcast(call, _) => call.root(),
        MPI_Reduce(call) | MPI_Ireduce(call, _) => call.root(),
        MPI_Gather(call) | MPI_Igather(call, _) | MPI_Scatter(call) | MPI_Iscatter(call, _) => call.root(),
        MPI_Gatherv(call) | MPI_Igatherv(call, _) => call.root(),
        MPI_Scatterv(call) | MPI_Iscatterv(call, _) => call.root(),
        _ => 0,
    };
    // `operation` has found it among the members.
    u32::try_from(root).unwrap_or(0)
}
