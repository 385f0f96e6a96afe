//! The steps of one member of a collective between two groups, and the layout of the data.
//!
//! Data that a group has gathered or reduced for the other one, and data from there to distribute, is *held* at the
//! beginning of the scratch space. The scratch space of the collectives within the group follows.

use crate::collectives::algorithms::schedule::translate;
use crate::collectives::call::Call;
use crate::collectives::inter::RootRole;
use crate::collectives::library::Library;
use crate::collectives::selection::Selection;
use crate::collectives::step::{Buffer, Member, Slice, Step};
use crate::event::{CollectiveKind, Volumes};
use crate::units::Bytes;

/// MPICH sends fewer bytes through the first member of a group (`MPIR_CVAR_GATHER_INTER_SHORT_MSG_SIZE`,
/// `MPIR_CVAR_SCATTER_INTER_SHORT_MSG_SIZE`).
const SHORT: u64 = 2048;

/// Consecutive members of an inter-communicator.
#[derive(Clone, Copy)]
pub(super) struct OneGroup {
    pub(super) first: Member,
    pub(super) size: u32,
}

impl OneGroup {
    fn members(self) -> impl Iterator<Item = Member> {
        self.first..self.first + self.size
    }
}

/// The steps of one member while they are written down.
pub(super) struct InterPlan<'c> {
    selection: &'c Selection,
    call: &'c Call<'c>,
    /// The member, by its rank in its group.
    me: Member,
    local: OneGroup,
    remote: OneGroup,
    is_low: bool,
    /// The bytes that are held at the beginning of the scratch space.
    held: u64,
    steps: Vec<Step>,
}

impl<'c> InterPlan<'c> {
    /// No steps yet of the member that makes `call`, of the first of these groups; `is_low` is whether it is the low one.
    pub(super) fn new(selection: &'c Selection, call: &'c Call<'c>, groups: [OneGroup; 2], is_low: bool) -> Self {
        let [local, remote] = groups;
        Self { selection, call, me: call.me - local.first, local, remote, is_low, held: 0, steps: Vec::new() }
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// Writes down the steps of a member with this part.
    pub(super) fn add(&mut self, role: RootRole) {
        let (sent, received) = (self.call.send.each().0, self.call.recv.each().0);
        let is_openmpi = self.selection.library.is_open_mpi() || self.selection.library == Library::SimGridOpenMpi;
        match (self.call.kind, role == RootRole::Root) {
            (CollectiveKind::Bcast, true) => self.send(self.remote.first, Buffer::Recv.first(sent)),
            (CollectiveKind::Bcast, false) => self.receive_broadcast(self.call.root, sent),
            (CollectiveKind::Reduce, true) => self.recv(self.remote.first, Buffer::Recv.first(sent)),
            (CollectiveKind::Reduce, false) => {
                self.within(CollectiveKind::Reduce, &Volumes::Each(Bytes(sent)), &Volumes::None);
                self.leader_sends(self.call.root, Buffer::Recv.first(sent));
            }
            (CollectiveKind::Gather, true) => {
                let total = received.saturating_mul(u64::from(self.remote.size));
                if is_openmpi || total < SHORT {
                    self.recv(self.remote.first, Buffer::Recv.first(total));
                } else {
                    let blocks = (0..).map(|nth| block(Buffer::Recv, received, nth));
                    self.steps.extend(self.remote.members().zip(blocks).map(|(from, data)| Step::Recv { from, data }));
                }
            }
            (CollectiveKind::Gather, false) => {
                let total = self.local_total(sent);
                if is_openmpi || total < SHORT {
                    self.within(CollectiveKind::Gather, &Volumes::Each(Bytes(sent)), &Volumes::Each(Bytes(sent)));
                    self.leader_sends(self.call.root, Buffer::Recv.first(total));
                } else {
                    self.send(self.call.root, Buffer::Send.first(sent));
                }
            }
            (CollectiveKind::Scatter, true) => {
                let total = sent.saturating_mul(u64::from(self.remote.size));
                if is_openmpi || total < SHORT {
                    self.send(self.remote.first, Buffer::Send.first(total));
                } else {
                    let blocks = (0..).map(|nth| block(Buffer::Send, sent, nth));
                    self.steps.extend(self.remote.members().zip(blocks).map(|(to, data)| Step::Send { to, data }));
                }
            }
            (CollectiveKind::Scatter, false) => {
                let total = self.local_total(received);
                if is_openmpi || total < SHORT {
                    self.leader_receives(self.call.root, Buffer::Send.first(total));
                    let share = Volumes::Each(Bytes(received));
                    self.within(CollectiveKind::Scatter, &share, &share);
                } else {
                    self.recv(self.call.root, Buffer::Recv.first(received));
                }
            }
            (CollectiveKind::Gatherv, true) => self.receive_each(self.call.recv),
            (CollectiveKind::Gatherv, false) => self.send_if_any(self.call.root, sent),
            (CollectiveKind::Scatterv, true) => {
                let blocks = consecutive(Buffer::Send, self.call.send.per_member());
                let some = self.remote.members().zip(blocks).filter(|(_, data)| data.len.0 > 0);
                self.steps.extend(some.map(|(to, data)| Step::Isend { to, data }));
                self.steps.push(Step::WaitAll);
            }
            (CollectiveKind::Scatterv, false) if received == 0 => {}
            (CollectiveKind::Scatterv, false) => self.recv(self.call.root, Buffer::Recv.first(received)),
            (CollectiveKind::Allgather, _) => self.allgather(sent, received, is_openmpi),
            (CollectiveKind::Allgatherv, _) => self.allgatherv(sent),
            (CollectiveKind::Allreduce, _) => self.allreduce(sent),
            (CollectiveKind::Barrier, _) if is_openmpi => {
                // Of a single integer, which no algorithm divides.
                let call = Call { element: Bytes(4), ..*self.call };
                let mut plan = InterPlan { call: &call, steps: Vec::new(), ..*self };
                plan.allreduce(4);
                self.steps = plan.steps;
            }
            (CollectiveKind::Barrier, _) => {
                self.within(CollectiveKind::Barrier, &Volumes::None, &Volumes::None);
                self.low_group_first(
                    |plan| plan.leader_sends(plan.remote.first, Buffer::Send.first(1)),
                    |plan| plan.receive_broadcast(plan.remote.first, 1),
                );
            }
            (CollectiveKind::Alltoall, _) => {
                let blocks = |buffer, len| (0..self.remote.size).map(|peer| Some(block(buffer, len, peer))).collect();
                self.all_to_all(is_openmpi, blocks(Buffer::Send, sent), blocks(Buffer::Recv, received));
            }
            (CollectiveKind::Alltoallv | CollectiveKind::Alltoallw, _) => {
                // Open MPI starts nothing for nothing.
                let is_message = |data: &Slice| !is_openmpi || data.len.0 > 0;
                let blocks = |buffer, volumes: &Volumes| {
                    consecutive(buffer, volumes.per_member()).map(|data| Some(data).filter(is_message)).collect()
                };
                let (sends, recvs) = (blocks(Buffer::Send, self.call.send), blocks(Buffer::Recv, self.call.recv));
                self.all_to_all(is_openmpi, sends, recvs);
            }
            (CollectiveKind::ReduceScatter | CollectiveKind::ReduceScatterBlock, _) => {
                self.reduce_scatter(is_openmpi);
            }
            // MPI has none (MPI 4.0 §6.11).
            (CollectiveKind::Scan | CollectiveKind::Exscan, _) => {}
        }
    }

    /// The data of the own group is held until it is sent.
    fn allgather(&mut self, sent: u64, received: u64, is_openmpi: bool) {
        let (out, back) = (self.local_total(sent), received.saturating_mul(u64::from(self.remote.size)));
        self.held = out;
        let gathered = Buffer::Scratch.first(out);
        if sent > 0 {
            let volumes = Volumes::Each(Bytes(sent));
            self.within_to(CollectiveKind::Gather, &volumes, &volumes, |slice| held(slice, 0));
        }
        if is_openmpi {
            self.leaders_exchange(gathered, Buffer::Recv.first(back));
            if received > 0 {
                self.broadcast(back);
            }
            return;
        }
        self.low_group_first(
            |plan| {
                if sent > 0 {
                    plan.leader_sends(plan.remote.first, gathered);
                }
            },
            |plan| {
                if received > 0 {
                    plan.receive_broadcast(plan.remote.first, back);
                }
            },
        );
    }

    fn allgatherv(&mut self, sent: u64) {
        self.low_group_second(
            |plan| plan.send_if_any(plan.remote.first, sent),
            |plan| {
                if plan.me == 0 {
                    plan.receive_each(plan.call.recv);
                }
            },
        );
        self.broadcast(self.call.total().0);
    }

    /// The result of the own group is held until it is sent.
    fn allreduce(&mut self, bytes: u64) {
        self.held = bytes;
        let volumes = Volumes::Each(Bytes(bytes));
        self.within_to(CollectiveKind::Reduce, &volumes, &Volumes::None, |slice| held(slice, 0));
        self.leaders_exchange(Buffer::Scratch.first(bytes), Buffer::Recv.first(bytes));
        self.broadcast(bytes);
    }

    /// Sends to and receives from each member of the other group, if there is such a message.
    fn all_to_all(&mut self, at_once: bool, sends: Vec<Option<Slice>>, recvs: Vec<Option<Slice>>) {
        let first = self.remote.first;
        if at_once {
            let recvs = (first..).zip(recvs).filter_map(|(from, data)| Some(Step::Irecv { from, data: data? }));
            let sends = (first..).zip(sends).filter_map(|(to, data)| Some(Step::Isend { to, data: data? }));
            self.steps.extend(recvs.chain(sends).chain([Step::WaitAll]));
            return;
        }
        let rounds = self.local.size.max(self.remote.size);
        for round in 0..rounds {
            let (from, to) = ((self.me + rounds - round) % rounds, (self.me + round) % rounds);
            let of = |list: &[Option<Slice>], peer: u32| list.get(peer as usize).copied().flatten();
            let (from, to, sent, received) = (first + from, first + to, of(&sends, to), of(&recvs, from));
            match (sent, received) {
                (Some(send), Some(recv)) => self.steps.push(Step::Sendrecv { to, send, from, recv }),
                (Some(data), None) => self.send(to, data),
                (None, Some(data)) => self.recv(from, data),
                (None, None) => {}
            }
        }
    }

    /// The result of the other group is held before it is scattered, followed by the result of the own group or the
    /// data of a member of the other group.
    fn reduce_scatter(&mut self, is_openmpi: bool) {
        let own = self.call.recv.per_member().get(self.me as usize).copied();
        let total = match self.call.recv {
            Volumes::PerMember(_) => self.call.total().0,
            Volumes::Each(_) | Volumes::None => self.local_total(self.call.recv.each().0),
        };
        self.held = total.saturating_mul(2);
        let (theirs, behind) = (Buffer::Scratch.first(total), Buffer::Scratch.at(total, total));
        if !is_openmpi {
            self.low_group_second(
                |plan| {
                    let volumes = Volumes::Each(Bytes(total));
                    plan.within_to(CollectiveKind::Reduce, &volumes, &Volumes::None, |slice| held(slice, total));
                    plan.leader_sends(plan.remote.first, behind);
                },
                |plan| plan.leader_receives(plan.remote.first, theirs),
            );
        } else if self.me == 0 {
            self.leaders_exchange(Buffer::Send.first(total), theirs);
            for from in self.remote.members().skip(1) {
                self.recv(from, behind);
                if total > 0 {
                    self.steps.push(Step::ReduceRight { from: behind, into: theirs });
                }
            }
        } else {
            self.send(self.remote.first, Buffer::Send.first(total));
        }
        let scattered = |slice: Slice| match slice.buffer {
            Buffer::Send => Buffer::Scratch.at(slice.offset.0, slice.len.0),
            Buffer::Recv | Buffer::Scratch => slice,
        };
        match own {
            Some(own) => {
                self.within_to(CollectiveKind::Scatterv, self.call.recv, &Volumes::Each(own), scattered);
            }
            None => self.within_to(CollectiveKind::Scatter, self.call.recv, self.call.recv, scattered),
        }
    }

    /// The low group gives before it takes, the other one takes before it gives.
    fn low_group_first(&mut self, give: impl FnOnce(&mut Self), take: impl FnOnce(&mut Self)) {
        if self.is_low {
            give(self);
            take(self);
        } else {
            take(self);
            give(self);
        }
    }

    /// The low group takes before it gives, the other one gives before it takes.
    fn low_group_second(&mut self, give: impl FnOnce(&mut Self), take: impl FnOnce(&mut Self)) {
        if self.is_low {
            take(self);
            give(self);
        } else {
            give(self);
            take(self);
        }
    }

    /// A collective of the local group, with its first member as the root.
    fn within(&mut self, kind: CollectiveKind, send: &Volumes, recv: &Volumes) {
        self.within_to(kind, send, recv, |slice| slice);
    }

    /// Like [`within`](Self::within), on the data that `place` substitutes for the call's own.
    fn within_to(&mut self, kind: CollectiveKind, send: &Volumes, recv: &Volumes, place: impl Fn(Slice) -> Slice) {
        let call = Call { kind, send, recv, root: 0, me: self.me, size: self.local.size, nodes: None, ..*self.call };
        let (first, behind) = (self.local.first, self.held);
        let place = |slice: Slice| match slice.buffer {
            Buffer::Scratch => Buffer::Scratch.at(slice.offset.0.saturating_add(behind), slice.len.0),
            Buffer::Send | Buffer::Recv => place(slice),
        };
        let steps = self.selection.steps(&call).into_iter();
        self.steps.extend(steps.map(|step| translate(step, |member| first + member, place)));
    }

    fn broadcast(&mut self, bytes: u64) {
        self.within(CollectiveKind::Bcast, &Volumes::Each(Bytes(bytes)), &Volumes::None);
    }

    fn receive_broadcast(&mut self, from: Member, bytes: u64) {
        self.leader_receives(from, Buffer::Recv.first(bytes));
        self.broadcast(bytes);
    }

    fn leader_sends(&mut self, to: Member, data: Slice) {
        if self.me == 0 {
            self.send(to, data);
        }
    }

    fn leader_receives(&mut self, from: Member, data: Slice) {
        if self.me == 0 {
            self.recv(from, data);
        }
    }

    fn leaders_exchange(&mut self, send: Slice, recv: Slice) {
        if self.me == 0 {
            let (to, from) = (self.remote.first, self.remote.first);
            self.steps.push(Step::Sendrecv { to, send, from, recv });
        }
    }

    /// The total bytes of the local group, if each member gives `bytes`.
    fn local_total(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(u64::from(self.local.size))
    }

    fn send(&mut self, to: Member, data: Slice) {
        self.steps.push(Step::Send { to, data });
    }

    fn recv(&mut self, from: Member, data: Slice) {
        self.steps.push(Step::Recv { from, data });
    }

    fn send_if_any(&mut self, to: Member, bytes: u64) {
        if bytes > 0 {
            self.send(to, Buffer::Send.first(bytes));
        }
    }

    /// Receives from each member of the other group that has something, all at once.
    fn receive_each(&mut self, volumes: &Volumes) {
        let blocks = consecutive(Buffer::Recv, volumes.per_member());
        let some = self.remote.members().zip(blocks).filter(|(_, data)| data.len.0 > 0);
        self.steps.extend(some.map(|(from, data)| Step::Irecv { from, data }));
        self.steps.push(Step::WaitAll);
    }
}

/// The data that a collective within the group leaves in the receive buffer, held from `start` on.
fn held(slice: Slice, start: u64) -> Slice {
    match slice.buffer {
        Buffer::Recv => Buffer::Scratch.at(slice.offset.0.saturating_add(start), slice.len.0),
        Buffer::Send | Buffer::Scratch => slice,
    }
}

/// The `nth` block of a buffer with blocks of one length.
fn block(buffer: Buffer, len: u64, nth: u32) -> Slice {
    buffer.at(len.saturating_mul(u64::from(nth)), len)
}

/// Blocks of these lengths, one behind the other.
fn consecutive(buffer: Buffer, lens: &[Bytes]) -> impl Iterator<Item = Slice> {
    lens.iter().scan(0_u64, move |end, len| {
        let start = *end;
        *end = start.saturating_add(len.0);
        Some(buffer.at(start, len.0))
    })
}
