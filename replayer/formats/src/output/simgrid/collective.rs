//! Collectives: as SimGrid's own, or as their messages.

use std::collections::VecDeque;
use std::rc::Rc;

use titr_common::collectives::{Call, CallMode, Library, Member, Selection, Slice, Step, neighborhood_steps};
use titr_common::event::{Collective, CollectiveKind, CommId, Completion, Event, Neighborhood, Rank, Tag, Volumes};
use titr_common::program::{CommIndex, Fault, Members, Participation};
use titr_common::trace::EventSource;
use titr_common::units::{Bytes, Instructions};

use super::Collectives;
use super::request_storage::{RequestState, StoredRequest};
use super::translation::{CollectiveProgress, LONGEST, Operation, OperationId, Translation};

/// Number of collectives of a communicator with different tags; it exceeds the number in progress at one time.
const UNDER_WAY: u64 = 1 << 10;

impl<S: EventSource> Translation<'_, S> {
    /// Translates a blocking collective.
    pub(super) fn collective(&mut self, rank: Rank, index: CommIndex, call: Collective) -> Result<(), Fault> {
        let part = self.communicators.begin(index, rank, &call)?;
        let members = Rc::clone(&self.communicators.get(index).members);
        if self.collectives == Collectives::Kept
            && is_world(&members, self.ranks.len())
            && self.rules.is_simgrids(&part, members.len(), &call)
        {
            let action = self.action(call, members.len());
            self.emit(rank, &Event::Collective(action, Completion::Blocking));
        } else {
            let mut run = self.run(index, &part, &call, CallMode::Blocking);
            self.go_on(rank, &mut run);
        }
        Ok(())
    }

    /// A collective of the world in SimGrid's words: those it lacks are special cases of others, with the same messages.
    fn action(&mut self, call: Collective, size: usize) -> Collective {
        let comm = CommId::WORLD;
        // SimGrid knows only operations that commute.
        let call = Collective { is_commutative: true, ..call };
        match call.kind {
            CollectiveKind::ReduceScatterBlock => {
                let recv = Volumes::PerMember(vec![call.recv.each(); size]);
                Collective { comm, kind: CollectiveKind::ReduceScatter, recv, ..call }
            }
            CollectiveKind::Alltoallv | CollectiveKind::Alltoallw => {
                let (send, recv) = (self.sent(call.send), received(call.recv));
                Collective { comm, kind: CollectiveKind::Alltoallv, send, recv, ..call }
            }
            CollectiveKind::Gatherv | CollectiveKind::Scatterv => {
                let (send, recv) = (self.sent(call.send), received(call.recv));
                Collective { comm, send, recv, ..call }
            }
            CollectiveKind::Barrier
            | CollectiveKind::Bcast
            | CollectiveKind::Reduce
            | CollectiveKind::Allreduce
            | CollectiveKind::Scan
            | CollectiveKind::Exscan
            | CollectiveKind::ReduceScatter
            | CollectiveKind::Gather
            | CollectiveKind::Scatter
            | CollectiveKind::Allgather
            | CollectiveKind::Alltoall
            | CollectiveKind::Allgatherv => Collective { comm, ..call },
        }
    }

    /// Limits the volumes sent to the numbers that SimGrid can count, and records any limitation.
    fn sent(&mut self, volumes: Volumes) -> Volumes {
        map(volumes, |bytes| self.cut(bytes))
    }

    /// Starts a collective in which the rank has this part; returns the operation to complete.
    pub(super) fn start_collective(
        &mut self,
        rank: Rank,
        index: CommIndex,
        part: &Participation,
        call: &Collective,
    ) -> OperationId {
        let run = self.run(index, part, call, CallMode::Nonblocking);
        self.in_background(rank, run)
    }

    fn in_background(&mut self, rank: Rank, mut run: CollectiveProgress) -> OperationId {
        self.differences.background += 1;
        self.go_on_in_background(rank, &mut run);
        self.operation(rank, Operation::Collective(Box::new(run)))
    }

    /// Translates a blocking neighbourhood collective.
    pub(super) fn neighborhood(&mut self, rank: Rank, call: &Neighborhood) -> Result<(), Fault> {
        let index = self.communicators.find(rank, call.comm)?;
        let part = self.communicators.begin_neighborhood(index, rank)?;
        let mut run = self.run_of_neighborhood(index, &part, call)?;
        self.go_on(rank, &mut run);
        Ok(())
    }

    /// Starts a neighbourhood collective in which the rank has this part; returns the operation to complete.
    pub(super) fn start_neighborhood(
        &mut self,
        rank: Rank,
        index: CommIndex,
        part: &Participation,
        call: &Neighborhood,
    ) -> Result<OperationId, Fault> {
        let run = self.run_of_neighborhood(index, part, call)?;
        Ok(self.in_background(rank, run))
    }

    fn run_of_neighborhood(
        &mut self,
        index: CommIndex,
        part: &Participation,
        call: &Neighborhood,
    ) -> Result<CollectiveProgress, Fault> {
        let members = &self.communicators.get(index).members;
        let steps = neighborhood_steps(call, |rank| members.member(rank))?;
        Ok(self.run_of(index, part, steps, Instructions(0.0)))
    }

    /// Executes these collectives to their ends, and before them those started earlier on their communicators: all
    /// members start collectives in one order, but may complete them in another.
    pub(super) fn complete_collectives(&mut self, rank: Rank, mut runs: Vec<CollectiveProgress>) {
        let last: Vec<_> = runs.iter().map(|run| (run.context, run.number)).collect();
        let is_before = |run: &CollectiveProgress| {
            last.iter().any(|&(context, number)| run.context == context && run.number < number)
        };
        runs.extend(self.background(rank, is_before));
        runs.sort_by_key(|run| (run.context, run.number));
        for mut run in runs {
            self.wait(rank, &std::mem::take(&mut run.owed));
            self.go_on(rank, &mut run);
        }
    }

    /// Executes the collectives that `rank` never completed.
    pub(super) fn finish_collectives(&mut self, rank: Rank) {
        let runs = self.background(rank, |_| true);
        self.complete_collectives(rank, runs);
    }

    fn run(&mut self, index: CommIndex, part: &Participation, call: &Collective, mode: CallMode) -> CollectiveProgress {
        let &Participation { me, root, .. } = part;
        let size = self.communicators.get(index).members.len();
        let nodes = self.nodes.of(&self.communicators, index, call.kind);
        let on_nodes = Call { mode, nodes: self.nodes.get(nodes), ..Call::of(call, me, size as u32, root) };
        let steps = self.rules.collectives.steps(&on_nodes);
        self.run_of(index, part, steps, call.work)
    }

    fn run_of(
        &mut self,
        index: CommIndex,
        &Participation { number, .. }: &Participation,
        steps: Vec<Step>,
        work: Instructions,
    ) -> CollectiveProgress {
        let communicator = self.communicators.get(index);
        let (context, members) = (communicator.context.of_collectives(), Rc::clone(&communicator.members));
        let tag = self.tags.of(context, Tag((number % UNDER_WAY) as i32));
        let (owed, started) = (Vec::new(), VecDeque::new());
        CollectiveProgress { context, number, members, tag, steps, next: 0, owed, started, work }
    }

    /// Carries out steps to the end, waiting wherever that takes it.
    fn go_on(&mut self, rank: Rank, run: &mut CollectiveProgress) {
        for step in run.steps.split_off(run.next) {
            match step {
                Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => {}
                Step::Isend { to, data } => run.started.push_back(self.post_send(rank, run, to, data)),
                Step::Irecv { from, data } => run.started.push_back(self.post_receive(rank, run, from, data)),
                Step::Send { to, data } => self.emit_send(rank, run.members.rank(to), run.tag, data.len),
                Step::Recv { from, data } => self.emit_recv(rank, run.members.rank(from), run.tag, data.len),
                Step::Sendrecv { to, send, from, recv } => {
                    let sent = self.post_send(rank, run, to, send);
                    self.emit_recv(rank, run.members.rank(from), run.tag, recv.len);
                    self.wait(rank, &[sent]);
                }
                Step::Wait { nth } => {
                    let posted = run.started.remove(nth as usize);
                    self.wait(rank, posted.as_slice());
                }
                Step::WaitAll => self.wait(rank, std::mem::take(&mut run.started).make_contiguous()),
            }
        }
        self.wait(rank, std::mem::take(&mut run.started).make_contiguous());
        if run.work.0 > 0.0 {
            self.emit(rank, &Event::Compute(run.work));
        }
    }

    /// Executes steps up to the first wait, and records the operations that it waits for.
    fn go_on_in_background(&mut self, rank: Rank, run: &mut CollectiveProgress) {
        while let Some(&step) = run.steps.get(run.next) {
            run.next += 1;
            match step {
                Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => {}
                Step::Isend { to, data } => run.started.push_back(self.post_send(rank, run, to, data)),
                Step::Irecv { from, data } => run.started.push_back(self.post_receive(rank, run, from, data)),
                Step::Send { to, data } if data.len < self.rules.eager_threshold => {
                    self.emit_send(rank, run.members.rank(to), run.tag, data.len);
                }
                Step::Send { to, data } => run.owed.push(self.post_send(rank, run, to, data)),
                Step::Recv { from, data } => run.owed.push(self.post_receive(rank, run, from, data)),
                Step::Sendrecv { to, send, from, recv } => {
                    run.owed.push(self.post_send(rank, run, to, send));
                    run.owed.push(self.post_receive(rank, run, from, recv));
                }
                Step::Wait { nth } => run.owed.extend(run.started.remove(nth as usize)),
                Step::WaitAll => run.owed.extend(run.started.drain(..)),
            }
            if !run.owed.is_empty() {
                return;
            }
        }
    }

    fn post_send(&mut self, rank: Rank, run: &CollectiveProgress, to: Member, data: Slice) -> StoredRequest {
        self.emit_isend(rank, run.members.rank(to), run.tag, data.len)
    }

    fn post_receive(&mut self, rank: Rank, run: &CollectiveProgress, from: Member, data: Slice) -> StoredRequest {
        self.emit_irecv(rank, run.members.rank(from), run.tag, data.len, RequestState::Matched)
    }
}

/// Whether the members are all ranks, in their order.
fn is_world(members: &Members, ranks: usize) -> bool {
    members.len() == ranks && (0..ranks as u32).all(|member| members.rank(member) == Rank(member))
}

impl super::Rules {
    /// Whether SimGrid executes a collective of the world with the algorithm that titr simulates. All members have to
    /// reach the same decision.
    fn is_simgrids(&self, part: &Participation, size: usize, call: &Collective) -> bool {
        let simgrid = Selection::from(Library::SimGrid);
        let known = Call::of(call, part.me, size as u32, part.root);
        // SimGrid is given bytes, and counts bytes where its rules count elements.
        let told = Call { element: Bytes(1), ..known };
        self.collectives == simgrid
            && simgrid.choose(&known) == simgrid.choose(&told)
            && is_countable(call, size as u64)
    }
}

/// Whether SimGrid, which counts in C's `int`, can add up the data of a collective. If only the root knows the volumes,
/// other members cannot decide this.
fn is_countable(call: &Collective, size: u64) -> bool {
    let sum = |volumes: &Volumes| volumes.per_member().iter().copied().sum();
    LONGEST
        >= match call.kind {
            CollectiveKind::Bcast
            | CollectiveKind::Reduce
            | CollectiveKind::Allreduce
            | CollectiveKind::Scan
            | CollectiveKind::Exscan => call.send.each(),
            CollectiveKind::Gather | CollectiveKind::Scatter | CollectiveKind::Allgather | CollectiveKind::Alltoall => {
                call.send.each().max(call.recv.each())
            }
            CollectiveKind::ReduceScatterBlock => call.recv.each().times(size),
            CollectiveKind::ReduceScatter | CollectiveKind::Allgatherv => sum(&call.recv),
            CollectiveKind::Barrier
            | CollectiveKind::Gatherv
            | CollectiveKind::Scatterv
            | CollectiveKind::Alltoallv
            | CollectiveKind::Alltoallw => Bytes(0),
        }
}

/// Limits the volumes received to the numbers that SimGrid can count; the senders record any limitation.
fn received(volumes: Volumes) -> Volumes {
    map(volumes, |bytes| bytes.min(LONGEST))
}

fn map(volumes: Volumes, mut change: impl FnMut(Bytes) -> Bytes) -> Volumes {
    match volumes {
        Volumes::None => Volumes::None,
        Volumes::Each(bytes) => Volumes::Each(change(bytes)),
        Volumes::PerMember(list) => Volumes::PerMember(list.into_iter().map(change).collect()),
    }
}
