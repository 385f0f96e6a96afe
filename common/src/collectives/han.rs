//! Collectives of Open MPI's component `han`, which consist of those of each node, by `tuned`, and of those among the
//! members in the root's place of all nodes: by `tuned` where a call waits for them, and by `libnbc` where the next segment
//! is on its way meanwhile.
//!
//! Source: Open MPI 5.0 `ompi/mca/coll/han/coll_han_{barrier,bcast,reduce,allreduce,gather,scatter,allgather}.c`: the
//! algorithms `simple` of barriers and gathers, and `intra` of the others.

use std::cell::Cell;

use super::algorithms::schedule::{Schedule, relocate};
use super::call::{Call, CallMode};
use super::nodes::NodeMap;
use super::step::{Buffer, Member, Slice, Step};
use super::subcall::{PartBuffers, Subcall};
use crate::event::{CollectiveKind, Volumes};
use crate::units::Bytes;

/// Bytes of the segments that are on their way one after the other (`coll_han_bcast_segsize` and its relatives).
const SEGMENT: u64 = 65_536;

/// The steps of one member while they are written down.
struct HanPlan<'c> {
    call: &'c Call<'c>,
    /// The steps of a part.
    plan: &'c dyn Fn(&Call) -> Schedule,
    nodes: &'c NodeMap,
    /// Member 0 where the call has no root.
    root: Member,
    /// The members in the root's place of all nodes, in their order.
    leaders: Vec<Member>,
    /// The member's place among the leaders, if it is one.
    leading: Option<u32>,
    /// The first free byte of scratch space.
    scratch: Cell<u64>,
    steps: Schedule,
}

/// The steps of a sound call by `han`, with parts as `plan` has them.
pub(super) fn han(call: &Call, nodes: &NodeMap, plan: &dyn Fn(&Call) -> Schedule) -> Schedule {
    let root = if call.kind.signature().is_rooted { call.root } else { 0 };
    let place = nodes.places[root as usize].place as usize;
    let mut leaders: Vec<_> = nodes.nodes.iter().filter_map(|members| members.get(place).copied()).collect();
    leaders.sort_unstable();
    let leading = leaders.binary_search(&call.me).ok().map(|place| place as u32);
    let mut parts =
        HanPlan { call, plan, nodes, root, leaders, leading, scratch: Cell::new(0), steps: Schedule::new() };
    match call.kind {
        CollectiveKind::Bcast => parts.bcast(),
        CollectiveKind::Reduce => parts.reduce(),
        CollectiveKind::Allreduce => parts.allreduce(),
        CollectiveKind::Gather => parts.gather(),
        CollectiveKind::Scatter => parts.scatter(),
        CollectiveKind::Allgather => parts.allgather(),
        _ => parts.barrier(),
    }
    parts.steps
}

impl HanPlan<'_> {
    /// A collective of the member's node, in which each has `len` bytes, with the member in the root's place as its root.
    fn in_node(&self, kind: CollectiveKind, len: u64, send: Slice, recv: Slice) -> Vec<Step> {
        let [me, root] = [self.call.me, self.root].map(|member| self.nodes.places[member as usize]);
        self.part(
            CallMode::Blocking,
            &self.nodes.nodes[me.node as usize],
            (me.place, root.place),
            kind,
            len,
            (send, recv),
        )
    }

    /// A collective of the leaders; nothing for other members.
    fn among_leaders(&self, mode: CallMode, kind: CollectiveKind, len: u64, send: Slice, recv: Slice) -> Vec<Step> {
        let root = self.leaders.binary_search(&self.root).unwrap_or_default() as u32;
        let part = |me| self.part(mode, &self.leaders, (me, root), kind, len, (send, recv));
        self.leading.map_or_else(Vec::new, part)
    }

    fn part(
        &self,
        mode: CallMode,
        group: &[Member],
        (me, root): (u32, u32),
        kind: CollectiveKind,
        len: u64,
        (send, recv): (Slice, Slice),
    ) -> Vec<Step> {
        let len = if kind == CollectiveKind::Barrier { Volumes::None } else { Volumes::Each(Bytes(len)) };
        let blocks = matches!(kind, CollectiveKind::Gather | CollectiveKind::Scatter | CollectiveKind::Allgather);
        let gets = if blocks { &len } else { &Volumes::None };
        let [send, recv] = [send, recv].map(|slice| (slice.buffer, slice.offset.0));
        let buffers = PartBuffers { send, recv, scratch: self.scratch.get() };
        let call = Call { mode, ..*self.call };
        let steps: Vec<_> =
            Subcall { kind, group, me, root, send: &len, recv: gets, buffers }.steps(&call, self.plan).collect();
        for &step in &steps {
            relocate(step, |slice| {
                if slice.buffer == Buffer::Scratch {
                    self.scratch.set(self.scratch.get().max(slice.offset.0.saturating_add(slice.len.0)));
                }
                slice
            });
        }
        steps
    }

    /// Goes on with parts of which those in the background have begun before those in the foreground run, and go on after
    /// them.
    fn run<const N: usize>(&mut self, background: [Vec<Step>; N], foreground: impl IntoIterator<Item = Vec<Step>>) {
        let begun = background.map(begin);
        let mut pending = 0;
        for (first, own, _) in &begun {
            self.steps.extend(first.iter().copied());
            pending += own;
        }
        for part in foreground {
            self.steps.extend(among(part, 0, pending));
        }
        for (_, own, rest) in begun {
            pending -= own;
            self.steps.extend(among(rest, own, pending));
        }
    }

    fn barrier(&mut self) {
        let nothing = Buffer::Scratch.first(0);
        let in_node = self.in_node(CollectiveKind::Barrier, 0, nothing, nothing);
        let among_leaders = self.among_leaders(CallMode::Blocking, CollectiveKind::Barrier, 0, nothing, nothing);
        self.run([], [in_node.clone(), among_leaders, in_node]);
    }

    /// The number of segments of the vector, and one of them in a buffer.
    fn segments(&self) -> (u64, impl Fn(Buffer, u64) -> Slice + use<>) {
        let data = self.call.vector();
        let stride = data.segment_elements(SEGMENT);
        (data.count().div_ceil(stride), move |buffer, index| data.segment(buffer, index, stride))
    }

    fn bcast(&mut self) {
        let (count, segment) = self.segments();
        let data = |index| segment(Buffer::Recv, index);
        for stage in 0..=count {
            self.scratch.set(0);
            let mode = if stage == 0 { CallMode::Blocking } else { CallMode::Nonblocking };
            let up = (stage < count).then(|| data(stage));
            let up = up.map(|it| self.among_leaders(mode, CollectiveKind::Bcast, it.len.0, it, it)).unwrap_or_default();
            let down = stage.checked_sub(1).map(data);
            let down = down.map(|it| self.in_node(CollectiveKind::Bcast, it.len.0, it, it));
            match down {
                None => self.run([], [up]),
                Some(down) => self.run([up], [down]),
            }
        }
    }

    /// The part of the node goes to the scratch space of its leader.
    fn reduce(&mut self) {
        let (count, segment) = self.segments();
        for stage in 0..=count {
            self.scratch.set(self.call.vector().bytes);
            let up = stage.checked_sub(1).map(|index| self.reduce_among_leaders(&segment, index)).unwrap_or_default();
            let low = (stage < count).then(|| self.reduce_in_node(&segment, stage));
            self.run([up], low);
        }
    }

    fn reduce_in_node(&self, segment: &dyn Fn(Buffer, u64) -> Slice, index: u64) -> Vec<Step> {
        let (own, held) = (segment(Buffer::Send, index), segment(Buffer::Scratch, index));
        self.in_node(CollectiveKind::Reduce, own.len.0, own, held)
    }

    fn reduce_among_leaders(&self, segment: &dyn Fn(Buffer, u64) -> Slice, index: u64) -> Vec<Step> {
        let (held, result) = (segment(Buffer::Scratch, index), segment(Buffer::Recv, index));
        self.among_leaders(CallMode::Nonblocking, CollectiveKind::Reduce, held.len.0, held, result)
    }

    fn allreduce(&mut self) {
        let (count, segment) = self.segments();
        let result = |index| segment(Buffer::Recv, index);
        for stage in 0..count + 3 {
            self.scratch.set(self.call.vector().bytes);
            let back = |ago: u64| stage.checked_sub(ago).filter(|&index| index < count);
            let low = back(0).map(|index| self.reduce_in_node(&segment, index));
            let up = back(1).map(|index| self.reduce_among_leaders(&segment, index)).unwrap_or_default();
            let across = back(2).map(result);
            let bcast = CollectiveKind::Bcast;
            let across = across.map(|it| self.among_leaders(CallMode::Nonblocking, bcast, it.len.0, it, it));
            let down = back(3).map(result).map(|it| self.in_node(bcast, it.len.0, it, it));
            self.run([across.unwrap_or_default(), up], low.into_iter().chain(down));
        }
    }

    /// The bytes of the blocks of a node's members, and those of all.
    fn sizes(&self, block: u64) -> (u64, u64) {
        let times = |count: usize| block.saturating_mul(count as u64);
        (times(self.nodes.nodes[0].len()), times(self.nodes.len()))
    }

    /// Where leaders have the blocks of all members, in the order of nodes: in `buffer` itself if that is the order of the
    /// communicator, and else in scratch space, with the place of each block in `buffer`.
    fn ordered(&self, buffer: Buffer, block: u64) -> (Slice, Vec<(Slice, Slice)>) {
        let (_, all) = self.sizes(block);
        let nodes = self.leaders.iter().map(|&leader| self.nodes.places[leader as usize].node as usize);
        let order: Vec<Member> = nodes.flat_map(|node| &self.nodes.nodes[node]).copied().collect();
        if order.is_sorted() {
            return (buffer.first(all), Vec::new());
        }
        let start = self.scratch.replace(self.scratch.get().saturating_add(all));
        let at = |buffer: Buffer, start: u64, place: u64| {
            buffer.at(start.saturating_add(block.saturating_mul(place)), block)
        };
        let places = (0..).zip(order);
        let places =
            places.map(|(place, member)| (at(Buffer::Scratch, start, place), at(buffer, 0, u64::from(member))));
        (Buffer::Scratch.at(start, all), places.collect())
    }

    /// The blocks of a node go to the scratch space of its leader.
    fn gather_in_node(&mut self, block: u64) -> Slice {
        let (of_node, _) = self.sizes(block);
        let held = Buffer::Scratch.first(of_node);
        self.scratch.set(of_node);
        let gather = self.in_node(CollectiveKind::Gather, block, Buffer::Send.first(block), held);
        self.run([], [gather]);
        held
    }

    fn gather(&mut self) {
        let block = self.call.block().0;
        let held = self.gather_in_node(block);
        let (result, places) = self.ordered(Buffer::Recv, block);
        let gather = self.among_leaders(CallMode::Blocking, CollectiveKind::Gather, held.len.0, held, result);
        self.run([], [gather]);
        if self.call.me == self.root {
            self.steps.extend(places.into_iter().map(|(from, to)| Step::Copy { from, to }));
        }
    }

    fn scatter(&mut self) {
        let block = self.call.block().0;
        let (of_node, _) = self.sizes(block);
        let held = Buffer::Scratch.first(of_node);
        self.scratch.set(of_node);
        let (all, places) = self.ordered(Buffer::Send, block);
        if self.call.me == self.root {
            self.steps.extend(places.into_iter().map(|(to, from)| Step::Copy { from, to }));
        }
        let among_leaders = self.among_leaders(CallMode::Blocking, CollectiveKind::Scatter, of_node, all, held);
        let in_node = self.in_node(CollectiveKind::Scatter, block, held, Buffer::Recv.first(block));
        self.run([], [among_leaders, in_node]);
    }

    fn allgather(&mut self) {
        let block = self.call.recv.each().0;
        let held = self.gather_in_node(block);
        let (result, places) = self.ordered(Buffer::Recv, block);
        let among = self.among_leaders(CallMode::Blocking, CollectiveKind::Allgather, held.len.0, held, result);
        self.run([], [among]);
        if self.leading.is_some() {
            self.steps.extend(places.into_iter().map(|(from, to)| Step::Copy { from, to }));
        }
        let all = Buffer::Recv.first(result.len.0);
        let bcast = self.in_node(CollectiveKind::Bcast, all.len.0, all, all);
        self.run([], [bcast]);
    }
}

/// The steps with which a part begins without waiting, the number of messages that are then pending, and the steps with
/// which it goes on.
fn begin(steps: Vec<Step>) -> (Vec<Step>, u32, Vec<Step>) {
    let (mut first, mut pending, mut rest) = (Vec::new(), 0, Vec::new());
    let mut steps = steps.into_iter();
    for step in steps.by_ref() {
        match step {
            Step::Isend { .. } | Step::Irecv { .. } => {
                first.push(step);
                pending += 1;
            }
            Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => first.push(step),
            Step::Send { to, data } => {
                first.push(Step::Isend { to, data });
                rest.push(Step::Wait { nth: pending });
                pending += 1;
                break;
            }
            Step::Recv { from, data } => {
                first.push(Step::Irecv { from, data });
                rest.push(Step::Wait { nth: pending });
                pending += 1;
                break;
            }
            Step::Sendrecv { to, send, from, recv } => {
                first.extend([Step::Irecv { from, data: recv }, Step::Isend { to, data: send }]);
                rest.extend([Step::Wait { nth: pending }; 2]);
                pending += 2;
                break;
            }
            Step::Wait { .. } | Step::WaitAll => {
                rest.push(step);
                break;
            }
        }
    }
    rest.extend(steps);
    (first, pending, rest)
}

/// The steps of a part that has begun `begun` messages, while `others` of other parts, begun after these, are pending.
fn among(steps: Vec<Step>, mut begun: u32, others: u32) -> Vec<Step> {
    let (mut own, mut all) = (0_u32, Vec::new());
    for step in steps.into_iter().chain([Step::WaitAll]) {
        match step {
            Step::Isend { .. } | Step::Irecv { .. } => own += 1,
            Step::Wait { nth } if nth < begun => begun -= 1,
            Step::Wait { nth } => {
                own = own.saturating_sub(1);
                all.push(Step::Wait { nth: nth.saturating_add(others) });
                continue;
            }
            Step::WaitAll if others > 0 => {
                all.extend((0..begun).map(|_| Step::Wait { nth: 0 }));
                all.extend((0..own).map(|_| Step::Wait { nth: others }));
                (begun, own) = (0, 0);
                continue;
            }
            Step::WaitAll if begun + own == 0 => continue,
            Step::WaitAll => (begun, own) = (0, 0),
            _ => {}
        }
        all.push(step);
    }
    all
}
