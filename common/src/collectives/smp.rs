//! Collectives that know which members share a node: they consist of collectives of each node, and of one among the first
//! members of all nodes.
//!
//! Sources: MPICH 4.0 `barrier_intra_smp.c`, `bcast_intra_smp.c`, `reduce_intra_smp.c`, `allreduce_intra_smp.c`; and
//! `ch4_coll_impl.h`, where `MPIDI_Reduce_intra_composition_alpha` is one more.

use super::algorithms::schedule::Schedule;
use super::algorithms::{Algorithm, Bcast, Reduce};
use super::call::Call;
use super::nodes::{NodeMap, NodePlace};
use super::step::{Buffer, Member};
use super::subcall::{PartBuffers, Subcall};
use crate::event::{CollectiveKind, Volumes};
use crate::units::Bytes;

/// The steps of one member while they are written down.
struct SmpPlan<'c> {
    call: &'c Call<'c>,
    /// The steps of a part.
    plan: &'c dyn Fn(&Call) -> Schedule,
    nodes: &'c NodeMap,
    /// The place of the member itself.
    me: NodePlace,
    steps: Schedule,
}

/// The steps of a sound call by an algorithm that knows the `nodes` of its members, with parts as `plan` has them.
pub(super) fn smp(algorithm: Algorithm, call: &Call, nodes: &NodeMap, plan: &dyn Fn(&Call) -> Schedule) -> Schedule {
    let [me, root] = [call.me, call.root].map(|member| nodes.places[member as usize]);
    let mut parts = SmpPlan { call, plan, nodes, me, steps: Schedule::new() };
    match algorithm {
        Algorithm::Barrier(_) => parts.barrier(),
        Algorithm::Bcast(Bcast::SmpFromRoot) => parts.bcast_from_root(root),
        Algorithm::Bcast(_) => parts.bcast(root),
        Algorithm::Reduce(Reduce::SmpToFirst) => parts.reduce_to_first(),
        Algorithm::Reduce(_) => parts.reduce(root),
        _ => parts.allreduce(),
    }
    parts.steps
}

impl SmpPlan<'_> {
    /// A collective of the member's node, with the member in place `root` there as its root.
    fn in_node(&mut self, kind: CollectiveKind, root: u32, buffers: PartBuffers) {
        let nodes = self.nodes;
        self.part(&nodes.nodes[self.me.node as usize], (self.me.place, root), kind, buffers);
    }

    /// A collective of the first members of all nodes, with that of node `root` as its root.
    fn among_leaders(&mut self, kind: CollectiveKind, root: u32, buffers: PartBuffers) {
        let nodes = self.nodes;
        if self.me.place == 0 {
            self.part(&nodes.leaders, (self.me.node, root), kind, buffers);
        }
    }

    fn part(&mut self, group: &[Member], (me, root): (u32, u32), kind: CollectiveKind, buffers: PartBuffers) {
        let send = &match kind {
            CollectiveKind::Barrier => Volumes::None,
            _ => Volumes::Each(Bytes(self.len())),
        };
        let part = Subcall { kind, group, me, root, send, recv: &Volumes::None, buffers };
        self.steps.extend(part.steps(self.call, self.plan));
    }

    /// The bytes of the vector.
    fn len(&self) -> u64 {
        self.call.vector().bytes
    }

    /// Buffers of a part whose result is at the beginning of the scratch space.
    fn to_scratch(&self) -> PartBuffers {
        PartBuffers { recv: (Buffer::Scratch, 0), scratch: self.len(), ..PartBuffers::OWN }
    }

    /// MPICH's last broadcast is of one byte, because it does nothing in an empty one.
    fn barrier(&mut self) {
        self.in_node(CollectiveKind::Barrier, 0, PartBuffers::OWN);
        self.among_leaders(CollectiveKind::Barrier, 0, PartBuffers::OWN);
        self.in_node(CollectiveKind::Bcast, 0, PartBuffers::OWN);
    }

    fn bcast(&mut self, root: NodePlace) {
        let (leader, data) = (self.nodes.leaders[root.node as usize], Buffer::Recv.first(self.len()));
        if root.place > 0 && self.call.me == self.call.root {
            self.steps.send(leader, data);
        } else if root.place > 0 && self.call.me == leader {
            self.steps.recv(self.call.root, data);
        }
        self.among_leaders(CollectiveKind::Bcast, root.node, PartBuffers::OWN);
        self.in_node(CollectiveKind::Bcast, 0, PartBuffers::OWN);
    }

    fn bcast_from_root(&mut self, root: NodePlace) {
        let is_first = self.me.node == root.node && root.place > 0;
        if is_first {
            self.in_node(CollectiveKind::Bcast, root.place, PartBuffers::OWN);
        }
        self.among_leaders(CollectiveKind::Bcast, root.node, PartBuffers::OWN);
        if !is_first {
            self.in_node(CollectiveKind::Bcast, 0, PartBuffers::OWN);
        }
    }

    /// The root's node comes last.
    fn reduce(&mut self, root: NodePlace) {
        let (own, is_last) = (self.to_scratch(), self.me.node == root.node);
        let held = own.recv;
        if !is_last {
            self.in_node(CollectiveKind::Reduce, 0, own);
        }
        let send = if is_last { own.send } else { held };
        self.among_leaders(CollectiveKind::Reduce, root.node, PartBuffers { send, ..own });
        if is_last {
            let send = if self.me.place == 0 { held } else { own.send };
            let buffers = PartBuffers { send, recv: (Buffer::Recv, 0), ..own };
            self.in_node(CollectiveKind::Reduce, root.place, buffers);
        }
    }

    fn reduce_to_first(&mut self) {
        let (len, root) = (self.len(), self.call.root);
        self.in_node(CollectiveKind::Reduce, 0, self.to_scratch());
        let recv = if root == 0 { (Buffer::Recv, 0) } else { (Buffer::Scratch, len) };
        let scratch = len.saturating_mul(2);
        self.among_leaders(CollectiveKind::Reduce, 0, PartBuffers { send: (Buffer::Scratch, 0), recv, scratch });
        if root != 0 && self.call.me == 0 {
            self.steps.send(root, Buffer::Scratch.at(len, len));
        } else if root != 0 && self.call.me == root {
            self.steps.recv(0, Buffer::Recv.first(len));
        }
    }

    fn allreduce(&mut self) {
        let own = PartBuffers { scratch: self.len(), ..PartBuffers::OWN };
        self.in_node(CollectiveKind::Reduce, 0, self.to_scratch());
        self.among_leaders(CollectiveKind::Allreduce, 0, PartBuffers { send: (Buffer::Scratch, 0), ..own });
        self.in_node(CollectiveKind::Bcast, 0, own);
    }
}
