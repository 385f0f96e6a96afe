//! Collectives: as SimGrid's own, or as the messages they are made of.

use std::collections::VecDeque;
use std::rc::Rc;

use titr_common::collectives::{Call, Library, Member, Selection, Slice, Step};
use titr_common::event::{Collective, CollectiveOp, CommId, Event, Rank, Tag};
use titr_common::units::{Bytes, Instructions};

use super::messages::LONGEST;
use super::store::Posted;
use super::translation::{Operation, Translation};
use crate::ranks::{CommIndex, Context, Fault, Members, OperationId, Part, work};
use crate::workload::Program;

/// How many collectives of a communicator are told apart by their tags: more than are under way at one time.
const UNDER_WAY: u64 = 1 << 10;

/// What is left of one member's part in a collective.
pub(super) struct Run {
    context: Context,
    /// Which collective of the communicator it is.
    number: u64,
    members: Rc<Members>,
    tag: Tag,
    steps: Vec<Step>,
    next: usize,
    /// What has to be waited for before the next step.
    owed: Vec<Posted>,
    /// Sends and receives that were started, in order.
    started: VecDeque<Posted>,
    work: Instructions,
}

/// How far a part is carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// As far as it goes without waiting.
    Background,
    /// To its end.
    Blocking,
}

impl<P: Program> Translation<'_, P> {
    /// A blocking collective.
    pub(super) fn collective(
        &mut self,
        rank: Rank,
        index: CommIndex,
        op: CollectiveOp,
        element: Bytes,
    ) -> Result<(), Fault> {
        let part = self.communicators.begin(index, rank, &op)?;
        let members = Rc::clone(&self.communicators.get(index).members);
        if is_world(&members, self.ranks.len()) && self.rules.is_simgrids(&part, members.len(), &op, element) {
            let op = action(op, members.len());
            self.emit(rank, &Event::Collective(Collective { comm: CommId::WORLD, op, element }));
        } else {
            let mut run = self.run(index, &part, &op, element);
            self.go_on(rank, &mut run, Pace::Blocking);
        }
        Ok(())
    }

    /// Starts a non-blocking collective; what completing it waits for.
    pub(super) fn icollective(
        &mut self,
        rank: Rank,
        index: CommIndex,
        op: &CollectiveOp,
        element: Bytes,
    ) -> Result<Option<OperationId>, Fault> {
        let part = self.communicators.begin(index, rank, op)?;
        let mut run = self.run(index, &part, op, element);
        self.losses.background += 1;
        self.go_on(rank, &mut run, Pace::Background);
        Ok(Some(self.operation(rank, Operation::Collective(Some(Box::new(run))))))
    }

    /// Carries these out to their ends, and before each what was started before it on its communicator: all members
    /// start them in one order, but may complete them in another.
    pub(super) fn complete_collectives(&mut self, rank: Rank, mut runs: Vec<Box<Run>>) {
        let earlier = |this: &mut Self, run: &Run| {
            let is_earlier = |other: &Box<Run>| other.context == run.context && other.number < run.number;
            this.background(rank).filter_map(|other| other.take_if(|other| is_earlier(other))).collect::<Vec<_>>()
        };
        let before: Vec<Box<Run>> = runs.iter().flat_map(|run| earlier(self, run)).collect();
        runs.extend(before);
        runs.sort_by_key(|run| (run.context, run.number));
        for mut run in runs {
            self.go_on(rank, &mut run, Pace::Blocking);
        }
    }

    /// Carries out what `rank` never completed.
    pub(super) fn finish_collectives(&mut self, rank: Rank) {
        let runs = self.background(rank).filter_map(Option::take).collect();
        self.complete_collectives(rank, runs);
    }

    fn run(&mut self, index: CommIndex, part: &Part, op: &CollectiveOp, element: Bytes) -> Run {
        let &Part { me, root, number } = part;
        let communicator = self.communicators.get(index);
        let (context, members) = (communicator.context.of_collectives(), Rc::clone(&communicator.members));
        let steps = self.rules.collectives.schedule(me, members.len() as u32, root, op, element);
        let tag = self.tags.of(context, Tag((number % UNDER_WAY) as i32));
        let (owed, started) = (Vec::new(), VecDeque::new());
        Run { context, number, members, tag, steps, next: 0, owed, started, work: work(op) }
    }

    fn go_on(&mut self, rank: Rank, run: &mut Run, pace: Pace) {
        self.wait(rank, &std::mem::take(&mut run.owed));
        while let Some(&step) = run.steps.get(run.next) {
            let waits = matches!(step, Step::Recv { .. } | Step::Sendrecv { .. });
            match (step, pace) {
                (Step::Wait { .. } | Step::WaitAll, Pace::Background) => return,
                (Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. }, _) => {}
                (Step::Isend { to, data }, _) => run.started.push_back(self.isend_step(rank, run, to, data)),
                (Step::Irecv { from, data }, _) => run.started.push_back(self.irecv_step(rank, run, from, data)),
                (Step::Send { to, data }, Pace::Background) => run.owed.push(self.isend_step(rank, run, to, data)),
                (Step::Recv { from, data }, Pace::Background) => run.owed.push(self.irecv_step(rank, run, from, data)),
                (Step::Sendrecv { to, send, from, recv }, Pace::Background) => {
                    run.owed.push(self.isend_step(rank, run, to, send));
                    run.owed.push(self.irecv_step(rank, run, from, recv));
                }
                (Step::Send { to, data }, Pace::Blocking) => {
                    self.emit_send(rank, run.members.rank(to), run.tag, data.len);
                }
                (Step::Recv { from, data }, Pace::Blocking) => {
                    self.emit_recv(rank, run.members.rank(from), run.tag, data.len);
                }
                (Step::Sendrecv { to, send, from, recv }, Pace::Blocking) => {
                    let sent = self.isend_step(rank, run, to, send);
                    self.emit_recv(rank, run.members.rank(from), run.tag, recv.len);
                    self.wait(rank, &[sent]);
                }
                (Step::Wait { nth }, Pace::Blocking) => {
                    let posted = run.started.remove(nth as usize);
                    self.wait(rank, posted.as_slice());
                }
                (Step::WaitAll, Pace::Blocking) => self.wait_started(rank, run),
            }
            run.next += 1;
            if waits && pace == Pace::Background {
                return;
            }
        }
        if pace == Pace::Blocking {
            self.wait_started(rank, run);
            if run.work.0 > 0.0 {
                self.emit(rank, &Event::Compute(run.work));
            }
        }
    }

    fn wait_started(&mut self, rank: Rank, run: &mut Run) {
        self.wait(rank, std::mem::take(&mut run.started).make_contiguous());
    }

    fn isend_step(&mut self, rank: Rank, run: &Run, to: Member, data: Slice) -> Posted {
        self.emit_isend(rank, run.members.rank(to), run.tag, data.len)
    }

    fn irecv_step(&mut self, rank: Rank, run: &Run, from: Member, data: Slice) -> Posted {
        self.emit_irecv(rank, run.members.rank(from), run.tag, data.len)
    }
}

/// Whether these are all ranks, in their order.
fn is_world(members: &Members, ranks: usize) -> bool {
    members.len() == ranks && (0..ranks as u32).all(|member| members.rank(member) == Rank(member))
}

impl super::Rules {
    /// Whether SimGrid carries out a collective of the world with the algorithm that titr simulates. All members
    /// have to come to one conclusion.
    fn is_simgrids(&self, part: &Part, size: usize, op: &CollectiveOp, element: Bytes) -> bool {
        let simgrid = Selection::from(Library::SimGrid);
        let call = Call { me: part.me, size: size as u32, root: part.root, op, element, is_commutative: true };
        // It is told of bytes, and counts those where its rules count elements.
        let told = Call { element: Bytes(1), ..call };
        self.collectives == simgrid && simgrid.choose(&call) == simgrid.choose(&told) && is_countable(op, size as u64)
    }
}

/// Whether SimGrid, which counts in C's `int`, can add up what a collective moves. Where only the root knows the volumes,
/// others cannot tell.
fn is_countable(op: &CollectiveOp, size: u64) -> bool {
    let sum = |counts: &[Bytes]| counts.iter().copied().sum();
    LONGEST
        >= match op {
            CollectiveOp::Bcast { bytes, .. }
            | CollectiveOp::Reduce { bytes, .. }
            | CollectiveOp::Allreduce { bytes, .. }
            | CollectiveOp::Scan { bytes, .. }
            | CollectiveOp::Exscan { bytes, .. } => *bytes,
            CollectiveOp::Gather { send, recv, .. }
            | CollectiveOp::Scatter { send, recv, .. }
            | CollectiveOp::Allgather { send, recv }
            | CollectiveOp::Alltoall { send, recv } => *send.max(recv),
            CollectiveOp::ReduceScatterBlock { bytes, .. } => bytes.times(size),
            CollectiveOp::ReduceScatter { counts, .. } => sum(counts),
            CollectiveOp::Allgatherv { recvs, .. } => sum(recvs),
            CollectiveOp::Barrier
            | CollectiveOp::Gatherv { .. }
            | CollectiveOp::Scatterv { .. }
            | CollectiveOp::Alltoallv { .. }
            | CollectiveOp::Alltoallw { .. } => Bytes(0),
        }
}

/// A collective in SimGrid's words: those it lacks are special cases of others, with the same messages.
fn action(op: CollectiveOp, size: usize) -> CollectiveOp {
    match op {
        CollectiveOp::ReduceScatterBlock { bytes, work } => {
            CollectiveOp::ReduceScatter { counts: vec![bytes; size], work }
        }
        CollectiveOp::Alltoallw { sends, recvs } => CollectiveOp::Alltoallv { sends, recvs },
        op => op,
    }
}
