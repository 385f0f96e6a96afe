//! Calls of collectives, and calls that create communicators: each starts the messages of one member, and makes its
//! thread wait for them or attaches them to a request.

use std::rc::Rc;

use titr_common::collectives::{Call, CallMode, Member, RootRole, neighborhood_steps};
use titr_common::event::{
    Collective, CollectiveKind, CommCall, CommId, Completion, Group, Message, Neighborhood, Rank, Volumes,
};
use titr_common::program::{CommIndex, Fault, Participation, Template, agreement};
use titr_common::units::Bytes;

use super::steps::{CollectiveSteps, MemberPart};
use super::{Collectives, MemberMessages, recorded};
use crate::observe::{CollectiveFlow, Observer, OperationId};
use crate::ranks::mpi::Mpi;
use crate::ranks::thread::Thread;

impl Collectives<'_> {
    /// Starts a collective with the `recorded` messages, or else with those of its schedule.
    pub(in crate::ranks) fn call(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        thread: &mut Thread,
        call: &Collective,
        completion: Completion,
        recorded: Option<Vec<Message>>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let index = mpi.communicators.find(rank, call.comm)?;
        let members = &mpi.communicators.get(index).members;
        if members.is_inter() && matches!(call.kind, CollectiveKind::Scan | CollectiveKind::Exscan) {
            return Err(Fault::InterCollective { word: call.kind.word(), on: members.describe() });
        }
        let part = mpi.communicators.enter(index, rank, call)?;
        if let Completion::Persistent(id) = completion {
            return mpi.requests(rank).add_persistent(id, Template::Collective(Rc::new(call.clone()), part));
        }
        mpi.warnings.redecomposed += u64::from(self.recorded && recorded.is_none());
        let operation = self.start_call(mpi, (rank, index), call, completion.into(), part, recorded)?;
        complete(mpi, thread, operation, completion)
    }

    pub(in crate::ranks) fn neighborhood(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        thread: &mut Thread,
        call: &Neighborhood,
        completion: Completion,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let index = mpi.communicators.find(rank, call.comm)?;
        let part = mpi.communicators.enter_neighborhood(index, rank, call.op.word())?;
        if let Completion::Persistent(id) = completion {
            return mpi.requests(rank).add_persistent(id, Template::Neighbor(Rc::new(call.clone()), part));
        }
        let operation = self.start_neighborhood(mpi, (rank, index), call, part)?;
        complete(mpi, thread, operation, completion)
    }

    /// Starts the part of a rank in a collective with the `recorded` messages, or else with those of its schedule.
    pub(in crate::ranks) fn start_call(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        (rank, index): (Rank, CommIndex),
        call: &Collective,
        mode: CallMode,
        Participation { me, root, number }: Participation,
        recorded: Option<Vec<Message>>,
    ) -> Result<OperationId, Fault> {
        let members = &mpi.communicators.get(index).members;
        let steps = match recorded {
            Some(messages) => {
                let steps: Rc<[_]> = recorded::steps(&messages, |rank| members.place(rank))
                    .map_err(|rank| Fault::NotAMember { rank, on: members.describe() })?
                    .into();
                steps.into()
            }
            None if members.is_inter() => {
                let form = Call { mode, ..Call::of(call, me, members.len() as u32, root) };
                self.algorithms
                    .selection
                    .inter_steps(&form, members.first_group(), RootRole::of(call, me == root))
                    .into()
            }
            None => self.scheduled(mpi, index, call, mode, (me, root)),
        };
        let flow = (call.kind.into(), root_of(mpi, index, call, root), false);
        Ok(self.start_steps(mpi, call.kind.word(), (rank, index, number), flow, steps, Some(call)))
    }

    /// Starts a collective of all members as part of another call, which has this `word`. For an inter-communicator,
    /// the members of both groups take part.
    pub(in crate::ranks) fn start_as(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        word: &'static str,
        rank: Rank,
        index: CommIndex,
        call: &Collective,
    ) -> Result<OperationId, Fault> {
        let Participation { me, root, number } = mpi.communicators.enter(index, rank, call)?;
        let steps = self.scheduled(mpi, index, call, CallMode::Blocking, (me, root));
        let flow = (call.kind.into(), root_of(mpi, index, call, root), false);
        Ok(self.start_steps(mpi, word, (rank, index, number), flow, steps, Some(call)))
    }

    /// The steps of member `me` by the library's algorithms.
    fn scheduled(
        &mut self,
        mpi: &Mpi<impl Observer>,
        index: CommIndex,
        call: &Collective,
        mode: CallMode,
        (me, root): (Member, Member),
    ) -> CollectiveSteps {
        let nodes = self.algorithms.nodes.of(&mpi.communicators, index, call.kind);
        let size = mpi.communicators.get(index).members.len() as u32;
        self.schedules.steps(call, MemberPart { mode, me, size, root, nodes }, &self.algorithms)
    }

    pub(in crate::ranks) fn start_neighborhood(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        (rank, index): (Rank, CommIndex),
        call: &Neighborhood,
        Participation { number, .. }: Participation,
    ) -> Result<OperationId, Fault> {
        let members = &mpi.communicators.get(index).members;
        let steps = neighborhood_steps(call, |rank| members.member(rank))?;
        // Libraries pair the messages of a member that is a neighbour twice in ways of their own.
        let mut from: Vec<Rank> = call.recvs.iter().map(|&(rank, _)| rank).collect();
        from.sort_unstable();
        let has_rooms = from.windows(2).all(|pair| pair[0] != pair[1]);
        let flow = (CollectiveFlow::Neighborhood, None, has_rooms);
        Ok(self.start_steps(mpi, call.op.word(), (rank, index, number), flow, steps.into(), None))
    }

    /// Starts the steps of a member in a collective with this number on a communicator.
    fn start_steps(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        word: &'static str,
        (rank, index, number): (Rank, CommIndex, u64),
        (flow, root, has_rooms): (CollectiveFlow, Option<Rank>, bool),
        steps: CollectiveSteps,
        call: Option<&Collective>,
    ) -> OperationId {
        let communicator = mpi.communicators.get(index);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        let mut messages = MemberMessages { has_rooms, ..MemberMessages::new(rank, word, members, steps) };
        if let Some(call) = call {
            messages.working_set = working_set(call, messages.members.len() as u64);
            messages.factors = self.factors.get(&call.kind).map(|factors| factors.of(size_of(call)));
            messages.computation = call.work;
        }
        self.start(mpi, (context, number), (flow, root), messages)
    }

    /// Makes a communicator, over which or over whose parent its members agree.
    pub(in crate::ranks) fn create_communicator(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        thread: &mut Thread,
        call: CommCall,
        parent: CommId,
        group: Option<&Group>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        mpi.communicators.find(rank, parent)?;
        if let Some(group) = group.filter(|_| thread.started == 0) {
            mpi.communicators.create(rank, call, parent, group)?;
        }
        if let Some(agreement) = agreement(call, parent, group) {
            let on = mpi.communicators.find(rank, agreement.comm)?;
            let operation = self.start_as(mpi, agreement.kind.word(), rank, on, &agreement)?;
            mpi.wait_for(thread, Some(operation));
        }
        Ok(())
    }
}

/// The size of a call: of the data of a member, or for each member where that differs, in the mean.
fn size_of(call: &Collective) -> Bytes {
    let each = |volumes: &Volumes| match volumes {
        Volumes::None => Bytes(0),
        Volumes::Each(bytes) => *bytes,
        Volumes::PerMember(each) => Bytes(each.iter().copied().sum::<Bytes>().0 / each.len().max(1) as u64),
    };
    each(&call.send).max(each(&call.recv))
}

/// The size of a member's buffers in a collective of this many members.
fn working_set(call: &Collective, members: u64) -> Bytes {
    let all = |volumes: &Volumes, is_each: bool| match volumes {
        Volumes::None => Bytes(0),
        Volumes::Each(bytes) => bytes.times(if is_each { members } else { 1 }),
        Volumes::PerMember(each) => each.iter().copied().sum(),
    };
    let exchanges = call.kind == CollectiveKind::Alltoall;
    let received = all(&call.recv, exchanges || call.kind == CollectiveKind::Allgather);
    let sent = all(&call.send, exchanges);
    // The result of a reduction has the size of what is reduced.
    if received == Bytes(0) { sent + sent } else { sent + received }
}

/// Lets the thread wait for a collective, or another call by its request.
fn complete(
    mpi: &mut Mpi<impl Observer>,
    thread: &mut Thread,
    operation: OperationId,
    completion: Completion,
) -> Result<(), Fault> {
    match completion {
        Completion::Blocking => mpi.wait_for(thread, Some(operation)),
        Completion::Request(id) => mpi.requests(thread.actor.rank).add(id, Some(operation))?,
        Completion::Persistent(_) => {}
    }
    Ok(())
}

/// The root of a collective among the members of one group.
fn root_of(mpi: &Mpi<impl Observer>, index: CommIndex, call: &Collective, root: Member) -> Option<Rank> {
    let members = &mpi.communicators.get(index).members;
    (call.kind.signature().is_rooted && !members.is_inter()).then(|| members.rank(root))
}
