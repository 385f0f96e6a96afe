//! Collectives of inter-communicators (MPI 4.0 §6.2.3), between two groups: they consist of collectives within each
//! group and of messages between the groups.
//!
//! | collective | MPICH 4.0, `src/mpi/coll/*/*_inter_*.c` | Open MPI 4.1, `ompi/mca/coll/inter/`, `ompi/mca/coll/basic/` |
//! | --- | --- | --- |
//! | bcast | the root sends to the first of the other group, who broadcasts | the same |
//! | reduce | the others reduce to their first, who sends to the root | the same |
//! | gather | likewise with a gather; from 2048 bytes on, each sends to the root | with a gather, whatever the size |
//! | scatter | the root sends all to the first of the others, who scatters; from 2048 bytes on, to each | to the first |
//! | gatherv, scatterv | the root exchanges a message with each | through the first |
//! | allgather | a gather in each group, then two broadcasts to the other one | a gather, the first ones exchange, a broadcast |
//! | allgatherv | two gatherv to the first of the other group, a broadcast | as allgather, with gatherv |
//! | allreduce | a reduction in each group, the first ones exchange, a broadcast | the same |
//! | barrier | a barrier in each group, then two broadcasts of a byte to the other one | an allreduce of four bytes |
//! | alltoall, alltoallv, alltoallw | pairwise, in as many rounds as the larger group has members | all at once |
//! | reduce_scatter | two reductions to the first of the other group, a scatterv | the first one receives from each, a scatterv |
//!
//! In MPICH, the group with the smaller leader goes first (`is_low_group`): here the one that is named first. Only the
//! members that give data know its size. In Open MPI's gatherv, scatterv and allgatherv, the data therefore goes
//! directly to the members that need it, and not through the first member, which does not know the length of such a
//! message. Non-blocking and persistent collectives follow the blocking ones. SimGrid has no inter-communicators, so it
//! is treated as MPICH.
//!
//! Data that a group has gathered or reduced for the other one, and data from there to distribute, is *held* at the
//! beginning of the scratch space. The scratch space of the collectives within the group follows.

use super::algorithms::schedule::translate;
use super::call::Call;
use super::library::Library;
use super::selection::Selection;
use super::step::{Buffer, Member, Slice, Step};
use super::subcall::PartBuffers;
use crate::event::{Collective, CollectiveKind, Volumes};
use crate::units::Bytes;

/// The part of a member in a collective with a root (MPI 4.0 §6.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootRole {
    /// The member is the root: it passes `MPI_ROOT`.
    Root,
    /// The member is in the root's group, and does nothing: it passes `MPI_PROC_NULL`.
    Idle,
    /// The member is in the other group, or the collective has no root.
    Peer,
}

impl RootRole {
    /// The part in `collective` of a member that is the root, or is not.
    #[must_use]
    pub fn of(collective: &Collective, is_root: bool) -> Self {
        match collective.root {
            _ if !collective.kind.signature().is_rooted => Self::Peer,
            None => Self::Idle,
            Some(_) if is_root => Self::Root,
            Some(_) => Self::Peer,
        }
    }
}

impl Selection {
    /// The steps of a call on an inter-communicator whose members are those of two groups in succession, with the given
    /// number in the first. `None` if MPI has no such collective, or if `me` or `root` is not a member.
    pub fn inter_steps(&self, call: &Call, first_group: u32, role: RootRole) -> Vec<Step> {
        if !call.is_sound() || role == RootRole::Idle {
            return Vec::new();
        }
        let is_low = call.me < first_group;
        let (low, high) =
            (OneGroup { first: 0, size: first_group }, OneGroup { first: first_group, size: call.size - first_group });
        let (local, remote) = if is_low { (low, high) } else { (high, low) };
        let mut plan = InterPlan::new(self, call, [local, remote], is_low);
        plan.add(role);
        plan.steps
    }
}

/// MPICH sends fewer bytes through the first member of a group (`MPIR_CVAR_GATHER_INTER_SHORT_MSG_SIZE`,
/// `MPIR_CVAR_SCATTER_INTER_SHORT_MSG_SIZE`).
const SHORT: u64 = 2048;

/// Consecutive members of an inter-communicator.
#[derive(Clone, Copy)]
struct OneGroup {
    first: Member,
    size: u32,
}

impl OneGroup {
    fn members(self) -> impl Iterator<Item = Member> {
        self.first..self.first + self.size
    }
}

/// The steps of one member while they are written down.
struct InterPlan<'c> {
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
    fn new(selection: &'c Selection, call: &'c Call<'c>, groups: [OneGroup; 2], is_low: bool) -> Self {
        let [local, remote] = groups;
        Self { selection, call, me: call.me - local.first, local, remote, is_low, held: 0, steps: Vec::new() }
    }

    /// Writes down the steps of a member with this part.
    fn add(&mut self, role: RootRole) {
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
            self.within_to(CollectiveKind::Gather, &volumes, &volumes, held(0));
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
        self.within_to(CollectiveKind::Reduce, &volumes, &Volumes::None, held(0));
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
                    plan.within_to(CollectiveKind::Reduce, &volumes, &Volumes::None, held(total));
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
        let scattered = PartBuffers { send: (Buffer::Scratch, 0), ..PartBuffers::OWN };
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
        self.within_to(kind, send, recv, PartBuffers::OWN);
    }

    /// Like [`within`](Self::within), on other data than the call's own. The scratch space is behind what is held.
    fn within_to(&mut self, kind: CollectiveKind, send: &Volumes, recv: &Volumes, buffers: PartBuffers) {
        let call = Call { kind, send, recv, root: 0, me: self.me, size: self.local.size, nodes: None, ..*self.call };
        let (first, buffers) = (self.local.first, PartBuffers { scratch: self.held, ..buffers });
        let steps = self.selection.steps(&call).into_iter();
        self.steps.extend(steps.map(|step| translate(step, |member| first + member, |slice| buffers.place(slice))));
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

/// The data that a collective within the group leaves in the receive buffer is held from `start` on.
fn held(start: u64) -> PartBuffers {
    PartBuffers { recv: (Buffer::Scratch, start), ..PartBuffers::OWN }
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
