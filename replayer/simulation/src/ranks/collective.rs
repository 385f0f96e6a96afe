//! Collectives in progress: each member of each follows its schedule, blocking or in the background.
//!
//! A collective is the messages its schedule says (`titr_common::collectives`), in a context of the communicator's own
//! and with its number there as their tag. A member's part in it is a [`Run`]: an agent with a clock of its own that
//! its rank waits for, at once or later. The arithmetic of a reduction is computed once, when the messages are through, as
//! in SimGrid.

use std::collections::VecDeque;
use std::rc::Rc;

use titr_common::collectives::{Call, Member, Slice, Step};
use titr_common::event::{Collective, Message, Rank, SendMode, Tag};
use titr_common::program::{CommIndex, Context, Fault, Members, Participation};
use titr_common::units::{Instructions, Seconds};

use super::envelope::{Envelope, Selector};
use super::exchange::Outbound;
use super::operation::{OperationId, What};
use super::{Agent, Ranks, Timeline, recorded};
use crate::observe::Observer;
use titr_common::trace::EventSource;

/// A collective in progress at one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunId(pub(super) u32);

/// One member's part in one collective.
pub(super) struct Run {
    pub(super) rank: Rank,
    pub(super) word: &'static str,
    pub(super) context: Context,
    members: Rc<Members>,
    /// Which collective of the communicator it is.
    tag: Tag,
    steps: Vec<Step>,
    next: usize,
    /// Whether the software cost of the next step is paid.
    paid: bool,
    /// Sends and receives that were started, in order; `None`: complete at once.
    started: VecDeque<Option<OperationId>>,
    /// What is to be computed in the end.
    work: Instructions,
    pub(super) timeline: Timeline,
    /// What the rank waits for.
    pub(super) operation: OperationId,
}

/// What a member has begun to do.
pub(super) struct Begun {
    pub(super) word: &'static str,
    /// Which collective of the communicator it is.
    pub(super) number: u64,
    pub(super) steps: Vec<Step>,
    /// What is to be computed in the end.
    pub(super) work: Instructions,
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// `rank` starts a collective, which is the messages recorded or else those of its schedule.
    pub(super) fn start_collective(
        &mut self,
        rank: Rank,
        collective: &Collective,
        recorded: Option<Vec<Message>>,
    ) -> Result<OperationId, Fault> {
        let index = self.communicators.find(rank, collective.comm)?;
        let members = &self.communicators.get(index).members;
        if members.is_inter() {
            return Err(Fault::InterCollective { word: collective.kind.word(), on: members.describe() });
        }
        self.start_collective_on(rank, index, collective, recorded)
    }

    pub(super) fn start_collective_on(
        &mut self,
        rank: Rank,
        index: CommIndex,
        collective: &Collective,
        recorded: Option<Vec<Message>>,
    ) -> Result<OperationId, Fault> {
        let Participation { me, root, number } = self.communicators.enter(index, rank, collective)?;
        let size = self.communicators.get(index).members.len();
        let steps = match recorded {
            Some(messages) => {
                let members = &self.communicators.get(index).members;
                recorded::steps(&messages, |rank| members.place(rank))
                    .map_err(|rank| Fault::NotAMember { rank, on: members.describe() })?
            }
            None => self.mpi.collectives.steps(&Call::of(collective, me, size as u32, root)),
        };
        Ok(self.start_run(rank, index, Begun { word: collective.kind.word(), number, steps, work: collective.work }))
    }

    /// Takes the first steps of what a member has begun.
    pub(super) fn start_run(&mut self, rank: Rank, index: CommIndex, begun: Begun) -> OperationId {
        let Begun { word, number, steps, work } = begun;
        let communicator = self.communicators.get(index);
        let members = Rc::clone(&communicator.members);
        let context = communicator.context.of_collectives();
        let id = RunId(self.runs.vacant_key() as u32);
        let operation = self.exchange.operations.open(What::Collective);
        self.runs.insert(Run {
            rank,
            word,
            context,
            members,
            // Only to tell apart those that are open at one time: it may wrap around.
            tag: Tag((number as u32).cast_signed()),
            steps,
            next: 0,
            paid: false,
            started: VecDeque::new(),
            work,
            timeline: Timeline { clock: self.now, awaited: 0 },
            operation,
        });
        self.advance_collective(id);
        operation
    }

    /// Takes steps until one has to wait.
    pub(super) fn advance_collective(&mut self, id: RunId) {
        let agent = Agent::Run(id);
        loop {
            let run = &mut self.runs[id.0 as usize];
            if run.timeline.awaited > 0 {
                return;
            }
            if run.timeline.clock > self.now {
                return self.agenda.set_alarm(run.timeline.clock, agent);
            }
            let Some(&step) = run.steps.get(run.next) else {
                if !run.started.is_empty() {
                    self.claim_started(id);
                } else if run.work.0 > 0.0 {
                    let work = std::mem::take(&mut run.work);
                    run.timeline.clock = run.timeline.clock + self.places[run.rank.0 as usize].speed.time_for(work);
                } else {
                    let run = self.runs.remove(id.0 as usize);
                    return self.exchange.operations.complete(run.operation);
                }
                continue;
            };
            if !run.paid {
                run.paid = true;
                let cost = match step {
                    Step::Send { data, .. } if self.exchange.is_eager(SendMode::Standard, data.len) => {
                        self.mpi.send_overhead.of(data.len)
                    }
                    Step::Isend { data, .. } | Step::Sendrecv { send: data, .. } => {
                        self.mpi.isend_overhead.of(data.len)
                    }
                    _ => Seconds(0.0),
                };
                run.timeline.clock = run.timeline.clock + cost;
                continue;
            }
            run.paid = false;
            run.next += 1;
            self.take_step(id, step);
        }
    }

    fn take_step(&mut self, id: RunId, step: Step) {
        match step {
            Step::Send { to, data } => {
                let sent = self.send_step(id, to, data);
                self.claim(Agent::Run(id), sent);
            }
            Step::Recv { from, .. } => {
                let received = self.receive_step(id, from);
                self.claim(Agent::Run(id), received);
            }
            Step::Sendrecv { to, send, from, .. } => {
                let sent = self.send_step(id, to, send);
                let received = self.receive_step(id, from);
                self.claim(Agent::Run(id), sent);
                self.claim(Agent::Run(id), received);
            }
            Step::Isend { to, data } => {
                let sent = self.send_step(id, to, data);
                self.runs[id.0 as usize].started.push_back(sent);
            }
            Step::Irecv { from, .. } => {
                let received = self.receive_step(id, from);
                self.runs[id.0 as usize].started.push_back(received);
            }
            Step::Wait { nth } => {
                if let Some(operation) = self.runs[id.0 as usize].started.remove(nth as usize) {
                    self.claim(Agent::Run(id), operation);
                }
            }
            Step::WaitAll => self.claim_started(id),
            Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => {}
        }
    }

    fn claim_started(&mut self, id: RunId) {
        while let Some(operation) = self.runs[id.0 as usize].started.pop_front() {
            self.claim(Agent::Run(id), operation);
        }
    }

    fn send_step(&mut self, id: RunId, to: Member, data: Slice) -> Option<OperationId> {
        let run = &self.runs[id.0 as usize];
        let envelope = Envelope { context: run.context, source: run.rank, tag: run.tag };
        let message = Outbound { to: run.members.rank(to), envelope, bytes: data.len, mode: SendMode::Standard };
        self.exchange.send(message)
    }

    fn receive_step(&mut self, id: RunId, from: Member) -> Option<OperationId> {
        let run = &self.runs[id.0 as usize];
        let source = Some(run.members.rank(from));
        let selector = Selector { context: run.context, source, tag: Some(run.tag) };
        self.exchange.receive(run.rank, selector)
    }
}
