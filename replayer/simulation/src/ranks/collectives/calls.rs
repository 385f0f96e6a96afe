//! Calls of collectives, and calls that create communicators: each starts the messages of one member, and makes its
//! thread wait for them or attaches them to a request.

use std::rc::Rc;

use titr_common::collectives::{Call, CallMode, Member, RootRole, neighborhood_steps};
use titr_common::event::{
    Collective, CollectiveKind, CommCall, CommId, Completion, Group, Message, Neighborhood, Rank,
};
use titr_common::program::{CommIndex, Fault, Participation, Template, agreement};
use titr_common::units::Instructions;

use super::steps::{CollectiveSteps, MemberPart};
use super::{CollectiveEnvironment, CollectiveStart, Collectives, recorded};
use crate::observe::{CollectiveFlow, Observer, OperationId};
use crate::ranks::library::Library;
use crate::ranks::thread::Thread;

impl<O: Observer> Library<'_, O> {
    /// Starts a collective with the `recorded` messages, or else with those of its schedule.
    pub(in crate::ranks) fn collective(
        &mut self,
        thread: &mut Thread,
        call: &Collective,
        completion: Completion,
        recorded: Option<Vec<Message>>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let index = self.communicators.find(rank, call.comm)?;
        let members = &self.communicators.get(index).members;
        if members.is_inter() && matches!(call.kind, CollectiveKind::Scan | CollectiveKind::Exscan) {
            return Err(Fault::InterCollective { word: call.kind.word(), on: members.describe() });
        }
        let part = self.communicators.enter(index, rank, call)?;
        if let Completion::Persistent(id) = completion {
            return self.requests(rank).add_persistent(id, Template::Collective(Rc::new(call.clone()), part));
        }
        self.warnings.redecomposed += u64::from(self.recorded_collectives && recorded.is_none());
        let operation = self.start_collective(rank, index, call, completion.into(), part, recorded)?;
        self.complete_collective(thread, operation, completion)
    }

    pub(in crate::ranks) fn neighborhood(
        &mut self,
        thread: &mut Thread,
        call: &Neighborhood,
        completion: Completion,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let index = self.communicators.find(rank, call.comm)?;
        let part = self.communicators.enter_neighborhood(index, rank, call.op.word())?;
        if let Completion::Persistent(id) = completion {
            return self.requests(rank).add_persistent(id, Template::Neighbor(Rc::new(call.clone()), part));
        }
        let operation = self.start_neighborhood(rank, index, call, part)?;
        self.complete_collective(thread, operation, completion)
    }

    /// Lets the thread wait for a collective, or another call by its request.
    fn complete_collective(
        &mut self,
        thread: &mut Thread,
        operation: OperationId,
        completion: Completion,
    ) -> Result<(), Fault> {
        match completion {
            Completion::Blocking => self.wait_for(thread, Some(operation)),
            Completion::Request(id) => self.requests(thread.actor.rank).add(id, Some(operation))?,
            Completion::Persistent(_) => {}
        }
        Ok(())
    }

    pub(in crate::ranks) fn start_collective(
        &mut self,
        rank: Rank,
        index: CommIndex,
        call: &Collective,
        mode: CallMode,
        Participation { me, root, number }: Participation,
        recorded: Option<Vec<Message>>,
    ) -> Result<OperationId, Fault> {
        let members = &self.communicators.get(index).members;
        let steps = match recorded {
            Some(messages) => {
                let steps: Rc<[_]> = recorded::steps(&messages, |rank| members.place(rank))
                    .map_err(|rank| Fault::NotAMember { rank, on: members.describe() })?
                    .into();
                steps.into()
            }
            None if members.is_inter() => {
                let form = Call::of(call, me, members.len() as u32, root).in_mode(mode);
                self.algorithms.inter_steps(&form, members.first_group(), RootRole::of(call, me == root)).into()
            }
            None => {
                let part = MemberPart { mode, me, size: members.len() as u32, root };
                self.collectives.schedules.steps(call, part, self.algorithms)
            }
        };
        let flow = (call.kind.into(), self.root(index, call, root));
        Ok(self.start_steps(call.kind.word(), rank, (index, number), flow, steps, call.work))
    }

    /// Starts a collective of all members as part of another call, which has this `word`. For an inter-communicator,
    /// the members of both groups take part.
    pub(in crate::ranks) fn start_collective_as(
        &mut self,
        word: &'static str,
        rank: Rank,
        index: CommIndex,
        call: &Collective,
    ) -> Result<OperationId, Fault> {
        let Participation { me, root, number } = self.communicators.enter(index, rank, call)?;
        let size = self.communicators.get(index).members.len() as u32;
        let part = MemberPart { mode: CallMode::Blocking, me, size, root };
        let steps = self.collectives.schedules.steps(call, part, self.algorithms);
        let flow = (call.kind.into(), self.root(index, call, root));
        Ok(self.start_steps(word, rank, (index, number), flow, steps, call.work))
    }

    pub(in crate::ranks) fn start_neighborhood(
        &mut self,
        rank: Rank,
        index: CommIndex,
        call: &Neighborhood,
        Participation { number, .. }: Participation,
    ) -> Result<OperationId, Fault> {
        let members = &self.communicators.get(index).members;
        let steps = neighborhood_steps(call, |rank| members.member(rank))?;
        let flow = (CollectiveFlow::Neighborhood, None);
        Ok(self.start_steps(call.op.word(), rank, (index, number), flow, steps.into(), Instructions(0.0)))
    }

    /// Starts the steps of a member in a collective with this number on a communicator.
    fn start_steps(
        &mut self,
        word: &'static str,
        rank: Rank,
        (index, number): (CommIndex, u64),
        (flow, root): (CollectiveFlow, Option<Rank>),
        steps: CollectiveSteps,
        work: Instructions,
    ) -> OperationId {
        let communicator = self.communicators.get(index);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        let (collectives, mut environment) = self.collectives();
        let start = CollectiveStart { rank, word, context, members, number, flow, root, steps, work };
        collectives.start(start, &mut environment)
    }

    /// The root of a collective among the members of one group.
    fn root(&self, index: CommIndex, call: &Collective, root: Member) -> Option<Rank> {
        let members = &self.communicators.get(index).members;
        (call.kind.signature().is_rooted && !members.is_inter()).then(|| members.rank(root))
    }

    /// The collectives, and the context in which they advance.
    pub(in crate::ranks) fn collectives(&mut self) -> (&mut Collectives, CollectiveEnvironment<'_, O>) {
        let Self { now, collectives, exchange, scheduler, cores, algorithms, observer, .. } = self;
        (collectives, CollectiveEnvironment { now: *now, exchange, scheduler, cores, algorithms, observer })
    }

    /// Makes a communicator, over which or over whose parent its members agree.
    pub(in crate::ranks) fn create_communicator(
        &mut self,
        thread: &mut Thread,
        call: CommCall,
        parent: CommId,
        group: Option<&Group>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        self.communicators.find(rank, parent)?;
        if let Some(group) = group.filter(|_| thread.started == 0) {
            self.communicators.create(rank, call, parent, group)?;
        }
        if let Some(agreement) = agreement(call, parent, group) {
            let on = self.communicators.find(rank, agreement.comm)?;
            let operation = self.start_collective_as(agreement.kind.word(), rank, on, &agreement)?;
            self.wait_for(thread, Some(operation));
        }
        Ok(())
    }
}
