//! Collectives of inter-communicators (MPI 4.0 §6.2.3): between two groups, made of collectives within each group and of
//! messages between the two.
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
//! members that give data know how much it is, so of Open MPI's gatherv, scatterv and allgatherv the data goes straight to
//! those who need it and not through the first member, who could not say how long such a message is. Non-blocking and
//! persistent ones follow the blocking ones. SimGrid has no inter-communicators, and is taken for MPICH.

use super::call::Call;
use super::library::Library;
use super::selection::Selection;
use super::step::{Buffer, Member, Slice, Step};
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

/// MPICH sends fewer bytes through the first member of a group (`MPIR_CVAR_GATHER_INTER_SHORT_MSG_SIZE`,
/// `MPIR_CVAR_SCATTER_INTER_SHORT_MSG_SIZE`).
const SHORT: u64 = 2048;

impl Selection {
    /// The steps of a call on an inter-communicator whose members are those of two groups, one after the other, so many of
    /// them in the first. None where MPI has no such collective, or where `me` or `root` is no member.
    #[must_use]
    pub fn inter_steps(&self, call: &Call, first_group: u32, role: RootRole) -> Vec<Step> {
        if !call.is_sound() || role == RootRole::Idle {
            return Vec::new();
        }
        let is_low = call.me < first_group;
        let (low, high) =
            (OneGroup { first: 0, size: first_group }, OneGroup { first: first_group, size: call.size - first_group });
        let (local, remote) = if is_low { (low, high) } else { (high, low) };
        let me = call.me - local.first;
        let mut plan = InterPlan { selection: self, call, me, local, remote, is_low, steps: Vec::new() };
        plan.add(role);
        plan.steps
    }
}

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
    steps: Vec<Step>,
}

impl InterPlan<'_> {
    fn add(&mut self, role: RootRole) {
        let (sent, received) = (self.call.send.each().0, self.call.recv.each().0);
        let is_openmpi = matches!(self.selection.library, Library::OpenMpi | Library::SimGridOpenMpi);
        match (self.call.kind, role == RootRole::Root) {
            (CollectiveKind::Bcast, true) => self.send(self.remote.first, sent),
            (CollectiveKind::Bcast, false) => self.receive_broadcast(self.call.root, sent),
            (CollectiveKind::Reduce, true) => self.recv(self.remote.first, sent),
            (CollectiveKind::Reduce, false) => self.reduce_to(self.call.root, sent),
            (CollectiveKind::Gather, true) => {
                let total = received.saturating_mul(u64::from(self.remote.size));
                if is_openmpi || total < SHORT {
                    self.recv(self.remote.first, total);
                } else {
                    self.remote.members().for_each(|from| self.recv(from, received));
                }
            }
            (CollectiveKind::Gather, false) => {
                let total = self.local_total(sent);
                if is_openmpi || total < SHORT {
                    self.within(CollectiveKind::Gather, &Volumes::Each(Bytes(sent)), &Volumes::Each(Bytes(sent)));
                    self.leader_sends(self.call.root, total);
                } else {
                    self.send(self.call.root, sent);
                }
            }
            (CollectiveKind::Scatter, true) => {
                let total = sent.saturating_mul(u64::from(self.remote.size));
                if is_openmpi || total < SHORT {
                    self.send(self.remote.first, total);
                } else {
                    self.remote.members().for_each(|to| self.send(to, sent));
                }
            }
            (CollectiveKind::Scatter, false) => {
                let total = self.local_total(received);
                if is_openmpi || total < SHORT {
                    self.leader_receives(self.call.root, total);
                    let share = Volumes::Each(Bytes(received));
                    self.within(CollectiveKind::Scatter, &share, &share);
                } else {
                    self.recv(self.call.root, received);
                }
            }
            (CollectiveKind::Gatherv, true) => self.receive_each(self.call.recv),
            (CollectiveKind::Gatherv, false) => self.send_if_any(self.call.root, sent),
            (CollectiveKind::Scatterv, true) => {
                let some = self.remote.members().zip(self.call.send.per_member()).filter(|(_, bytes)| bytes.0 > 0);
                self.steps.extend(some.map(|(to, bytes)| Step::Isend { to, data: data(bytes.0) }));
                self.steps.push(Step::WaitAll);
            }
            (CollectiveKind::Scatterv, false) if received == 0 => {}
            (CollectiveKind::Scatterv, false) => self.recv(self.call.root, received),
            (CollectiveKind::Allgather, _) => self.allgather(sent, received, is_openmpi),
            (CollectiveKind::Allgatherv, _) => self.allgatherv(sent),
            (CollectiveKind::Allreduce, _) => self.allreduce(sent),
            (CollectiveKind::Barrier, _) if is_openmpi => {
                // Of one integer, which no algorithm cuts.
                let call = Call { element: Bytes(4), ..*self.call };
                let mut plan = InterPlan { call: &call, steps: Vec::new(), ..*self };
                plan.allreduce(4);
                self.steps = plan.steps;
            }
            (CollectiveKind::Barrier, _) => {
                self.within(CollectiveKind::Barrier, &Volumes::None, &Volumes::None);
                self.low_group_first(
                    |plan| plan.leader_sends(plan.remote.first, 1),
                    |plan| plan.receive_broadcast(plan.remote.first, 1),
                );
            }
            (CollectiveKind::Alltoall, _) => {
                self.all_to_all(is_openmpi, |_| Some(sent), |_| Some(received));
            }
            (CollectiveKind::Alltoallv | CollectiveKind::Alltoallw, _) => {
                let (sends, recvs) = (self.call.send.per_member(), self.call.recv.per_member());
                let bytes = |list: &[Bytes], peer: u32| list.get(peer as usize).map(|bytes| bytes.0);
                let (sent, received) = (|peer| bytes(sends, peer), |peer| bytes(recvs, peer));
                // Open MPI starts nothing for nothing.
                let some = |bytes: &u64| !is_openmpi || *bytes > 0;
                self.all_to_all(is_openmpi, |to| sent(to).filter(some), |from| received(from).filter(some));
            }
            (CollectiveKind::ReduceScatter | CollectiveKind::ReduceScatterBlock, _) => {
                self.reduce_scatter(is_openmpi);
            }
            // MPI has none (MPI 4.0 §6.11).
            (CollectiveKind::Scan | CollectiveKind::Exscan, _) => {}
        }
    }

    fn allgather(&mut self, sent: u64, received: u64, is_openmpi: bool) {
        let (out, back) = (self.local_total(sent), received.saturating_mul(u64::from(self.remote.size)));
        if sent > 0 {
            self.within(CollectiveKind::Gather, &Volumes::Each(Bytes(sent)), &Volumes::Each(Bytes(sent)));
        }
        if is_openmpi {
            self.leaders_exchange(out, back);
            if received > 0 {
                self.broadcast(back);
            }
            return;
        }
        self.low_group_first(
            |plan| {
                if sent > 0 {
                    plan.leader_sends(plan.remote.first, out);
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

    fn allreduce(&mut self, bytes: u64) {
        self.within(CollectiveKind::Reduce, &Volumes::Each(Bytes(bytes)), &Volumes::None);
        self.leaders_exchange(bytes, bytes);
        self.broadcast(bytes);
    }

    /// To and from each member of the other group so many bytes, where there is such a message.
    fn all_to_all(&mut self, at_once: bool, sent: impl Fn(u32) -> Option<u64>, received: impl Fn(u32) -> Option<u64>) {
        let first = self.remote.first;
        if at_once {
            for peer in 0..self.remote.size {
                self.steps.extend(received(peer).map(|len| Step::Irecv { from: first + peer, data: data(len) }));
            }
            for peer in 0..self.remote.size {
                self.steps.extend(sent(peer).map(|len| Step::Isend { to: first + peer, data: data(len) }));
            }
            self.steps.push(Step::WaitAll);
            return;
        }
        let rounds = self.local.size.max(self.remote.size);
        for round in 0..rounds {
            let (from, to) = ((self.me + rounds - round) % rounds, (self.me + round) % rounds);
            let received = if from < self.remote.size { received(from) } else { None };
            let sent = if to < self.remote.size { sent(to) } else { None };
            match (sent, received) {
                (Some(send), Some(recv)) => self.steps.push(Step::Sendrecv {
                    to: first + to,
                    send: data(send),
                    from: first + from,
                    recv: data(recv),
                }),
                (Some(len), None) => self.send(first + to, len),
                (None, Some(len)) => self.recv(first + from, len),
                (None, None) => {}
            }
        }
    }

    fn reduce_scatter(&mut self, is_openmpi: bool) {
        let own = self.call.recv.per_member().get(self.me as usize).copied();
        let total = match self.call.recv {
            Volumes::PerMember(_) => self.call.total().0,
            Volumes::Each(_) | Volumes::None => self.local_total(self.call.recv.each().0),
        };
        if !is_openmpi {
            self.low_group_second(
                |plan| plan.reduce_to(plan.remote.first, total),
                |plan| plan.leader_receives(plan.remote.first, total),
            );
        } else if self.me == 0 {
            self.leaders_exchange(total, total);
            self.remote.members().skip(1).for_each(|from| self.recv(from, total));
        } else {
            self.send(self.remote.first, total);
        }
        match own {
            Some(own) => self.within(CollectiveKind::Scatterv, self.call.recv, &Volumes::Each(own)),
            None => self.within(CollectiveKind::Scatter, self.call.recv, self.call.recv),
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
        let call = Call { kind, send, recv, root: 0, me: self.me, size: self.local.size, ..*self.call };
        let first = self.local.first;
        self.steps.extend(self.selection.steps(&call).into_iter().map(|step| shifted(step, first)));
    }

    fn broadcast(&mut self, bytes: u64) {
        self.within(CollectiveKind::Bcast, &Volumes::Each(Bytes(bytes)), &Volumes::None);
    }

    fn receive_broadcast(&mut self, from: Member, bytes: u64) {
        self.leader_receives(from, bytes);
        self.broadcast(bytes);
    }

    fn reduce_to(&mut self, root: Member, bytes: u64) {
        self.within(CollectiveKind::Reduce, &Volumes::Each(Bytes(bytes)), &Volumes::None);
        self.leader_sends(root, bytes);
    }

    fn leader_sends(&mut self, to: Member, bytes: u64) {
        if self.me == 0 {
            self.send(to, bytes);
        }
    }

    fn leader_receives(&mut self, from: Member, bytes: u64) {
        if self.me == 0 {
            self.recv(from, bytes);
        }
    }

    fn leaders_exchange(&mut self, sent: u64, received: u64) {
        if self.me == 0 {
            let (to, from) = (self.remote.first, self.remote.first);
            self.steps.push(Step::Sendrecv { to, send: data(sent), from, recv: data(received) });
        }
    }

    /// The bytes that all members of the local group give together, if each gives so many.
    fn local_total(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(u64::from(self.local.size))
    }

    fn send(&mut self, to: Member, bytes: u64) {
        self.steps.push(Step::Send { to, data: data(bytes) });
    }

    fn recv(&mut self, from: Member, bytes: u64) {
        self.steps.push(Step::Recv { from, data: data(bytes) });
    }

    fn send_if_any(&mut self, to: Member, bytes: u64) {
        if bytes > 0 {
            self.send(to, bytes);
        }
    }

    /// Receives from each member of the other group that has something, all at once.
    fn receive_each(&mut self, volumes: &Volumes) {
        let some = self.remote.members().zip(volumes.per_member()).filter(|(_, bytes)| bytes.0 > 0);
        self.steps.extend(some.map(|(from, bytes)| Step::Irecv { from, data: data(bytes.0) }));
        self.steps.push(Step::WaitAll);
    }
}

/// So many bytes: these steps are simulated and never executed, so where the data lies does not matter.
fn data(bytes: u64) -> Slice {
    Buffer::Scratch.first(bytes)
}

/// A step of a group whose first member is `first`.
fn shifted(step: Step, first: Member) -> Step {
    match step {
        Step::Send { to, data } => Step::Send { to: first + to, data },
        Step::Recv { from, data } => Step::Recv { from: first + from, data },
        Step::Sendrecv { to, send, from, recv } => Step::Sendrecv { to: first + to, send, from: first + from, recv },
        Step::Isend { to, data } => Step::Isend { to: first + to, data },
        Step::Irecv { from, data } => Step::Irecv { from: first + from, data },
        Step::Wait { .. } | Step::WaitAll => step,
        Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => step,
    }
}
