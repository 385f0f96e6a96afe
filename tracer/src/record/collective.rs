//! Collective operations and their volumes.
//!
//! Arguments that are not significant for a rank (MPI 4.0 §6: the receive arguments of a gather away from its root, the
//! send arguments with `MPI_IN_PLACE`) are never read. A reduction is counted as one instruction per element.

use titr_common::event::{
    self, CollectiveKind, CommId, Completion, Event, Extent, Neighborhood, Rank, RequestId, Volumes,
};
use titr_common::units::{Bytes, Instructions};
use titr_wrappers::Abi;
use titr_wrappers::argument::{Comm, Place, Request};
use titr_wrappers::functions::collective::Collective;
use titr_wrappers::functions::topology::Topology;

use super::message_args::TypeSizes;
use super::omitted_calls::Omission;
use super::request_table::RequestKind;
use super::{Outcome, RankTrace};
use crate::collective_call::{AnyCollective, Blocks, CollectiveCall, NeighborBlocks, NeighborhoodCall, Start};
use crate::extended::{Description, Operation};
use crate::pmpi::{self, ErrorCode, Neighbors};
use crate::ranks::Ranks;

#[derive(Clone, Copy)]
struct Members {
    comm: CommId,
    /// The number of members that a list has an entry for.
    number: usize,
    root: Option<Rank>,
    /// Whether the rank gives data, and whether it receives some.
    gives: bool,
    gets: bool,
    /// Whether the rank reduces data.
    computes: bool,
}

pub(super) struct Collectives {
    pub(super) abi: &'static Abi,
    me: Rank,
    pub(super) type_sizes: TypeSizes,
    /// Lists that events are made of, kept for their memory.
    sends: Vec<Bytes>,
    recvs: Vec<Bytes>,
}

impl Collectives {
    pub(super) fn new(abi: &'static Abi, me: Rank) -> Self {
        Self { abi, me, type_sizes: TypeSizes::default(), sends: Vec::new(), recvs: Vec::new() }
    }

    /// A datatype is about to be freed, and its handle may be reused for another datatype.
    pub(super) fn datatype_freed(&mut self) {
        self.type_sizes.forget();
    }

    #[inline(never)]
    pub(super) fn call(&mut self, call: &Collective<'_>, trace: &mut RankTrace) -> Outcome {
        let call = CollectiveCall::of(call);
        let members = self.members(&call, trace);
        let completion = begin(&call.start, members.is_ok(), trace);
        let event = Event::Collective(self.operation(&call, members?), completion);
        trace.stream.write(&event);
        if let Event::Collective(operation, _) = event {
            self.reclaim(operation);
        }
        Ok(())
    }

    /// Records a collective that returned an error to this rank, and perhaps to no other one. The request of one that was only
    /// started is not there.
    #[cold]
    pub(super) fn failed(&mut self, call: &Collective<'_>, error: ErrorCode, trace: &mut RankTrace) -> Outcome {
        if !pmpi::has_taken_place(self.abi, error) {
            return Err(Omission::Untraced);
        }
        let call = CollectiveCall::of(call);
        let members = self.members(&call, trace)?;
        let event = Event::Collective(self.operation(&call, members), Completion::Blocking);
        trace.stream.write(&event);
        Ok(())
    }

    /// Describes a collective to the extended mode.
    pub(super) fn describe(&mut self, call: &AnyCollective<'_>, trace: &mut RankTrace) -> Option<Description> {
        let (comm, start, members, operation) = match call {
            AnyCollective::OfAll(call) => {
                let members = self.members(call, trace).ok()?;
                let collective = self.operation(call, members);
                let (members, first_group) = trace.communicators.get(call.comm)?.all();
                (call.comm, call.start, members, Operation::Collective(collective, first_group))
            }
            AnyCollective::OfNeighbors(call) => {
                let neighbors = pmpi::neighbors(self.abi, call.comm);
                let neighborhood = self.among_neighbors(call, &neighbors, trace).ok()?;
                let members = trace.communicators.get(call.comm)?.members.clone();
                (call.comm, call.start, members, Operation::Neighborhood { neighborhood, neighbors })
            }
        };
        let id = trace.communicators.get(comm)?.id;
        Some(Description { comm, id, members, is_blocking: matches!(start, Start::Blocking), operation })
    }

    /// The members of a call's collective, and this rank's part in it.
    #[inline]
    fn members(&self, call: &CollectiveCall<'_>, trace: &mut RankTrace) -> Result<Members, Omission> {
        let known = trace.communicators.known(call.comm)?;
        if let Some(remote) = &known.remote {
            return between(self.abi, self.me, known.id, &known.members, remote, call);
        }
        let root = match call.root {
            None => None,
            Some(root) => Some(known.members.get(root).ok_or(Omission::Untraced)?),
        };
        // Without a root, all members are equal.
        let is_root = root.is_none_or(|root| root == self.me);
        let (gives, gets) = (is_root || call.gives_everywhere(), is_root || call.gets_everywhere());
        Ok(Members { comm: known.id, number: known.members.len(), root, gives, gets, computes: true })
    }

    /// The operation that a call requests.
    // Inlined always, though there are two callers: an event is then made where it stays.
    #[inline(always)]
    fn operation(&mut self, call: &CollectiveCall<'_>, members: Members) -> event::Collective {
        let Self { type_sizes: sizes, sends, recvs, .. } = self;
        let Members { comm, number, root, gives, gets, computes } = members;
        let kind = call.kind;
        let signature = kind.signature();
        let (send, send_element) = match signature.send {
            Extent::None => (Volumes::None, Bytes(1)),
            extent if !gives => nothing(extent, number, sends),
            _ if call.send.buffer.is_in_place && signature.recv != Extent::None && gets => {
                in_place(&call.send.blocks, &call.recv.blocks, call.comm, sizes, sends)
            }
            _ => volumes(&call.send.blocks, sizes, sends),
        };
        let (recv, recv_element) = match signature.recv {
            Extent::None => (Volumes::None, send_element),
            extent if !gets => nothing(extent, number, recvs),
            _ if call.recv.buffer.is_in_place && signature.send != Extent::None && gives => {
                in_place(&call.recv.blocks, &call.send.blocks, call.comm, sizes, recvs)
            }
            _ => volumes(&call.recv.blocks, sizes, recvs),
        };
        let element = match kind {
            CollectiveKind::Gather | CollectiveKind::Gatherv => send_element,
            _ => recv_element,
        };
        let work = if signature.reduces && computes { call.send.blocks.elements(number) as f64 } else { 0.0 };
        // There may be no operation where there is nothing to reduce.
        let is_commutative = work == 0.0 || call.op.is_none_or(pmpi::op_is_commutative);
        event::Collective { comm, kind, root, send, recv, element, work: Instructions(work), is_commutative }
    }

    /// Takes the lists of an operation back, for the next one.
    fn reclaim(&mut self, operation: event::Collective) {
        if let Volumes::PerMember(list) = operation.send {
            self.sends = list;
        }
        if let Volumes::PerMember(list) = operation.recv {
            self.recvs = list;
        }
    }
}

/// Adds the request of a collective that is not over when its call returns; `is_recorded` is whether an event speaks of
/// the request.
#[inline]
pub(super) fn begin(start: &Start<'_>, is_recorded: bool, trace: &mut RankTrace) -> Completion {
    match start {
        Start::Blocking => Completion::Blocking,
        Start::Nonblocking(request) => Completion::Request(add(request, is_recorded, false, trace)),
        Start::Persistent(request) => Completion::Persistent(add(request, is_recorded, true, trace)),
    }
}

fn add(request: &Place<'_, Request>, is_recorded: bool, is_persistent: bool, trace: &mut RankTrace) -> RequestId {
    let kind = if is_recorded { RequestKind::Collective } else { RequestKind::Nothing };
    trace.requests.add(request.get(), request.address(), kind, is_persistent)
}

/// The members of a collective between two groups, and this rank's part in it (MPI 4.0 §6.2.3).
#[cold]
fn between(
    abi: &Abi,
    me: Rank,
    comm: CommId,
    local: &Ranks,
    remote: &Ranks,
    call: &CollectiveCall<'_>,
) -> Result<Members, Omission> {
    let number = if call.kind.is_shared_out() { local.len() } else { remote.len() };
    let equal = Members { comm, number, root: None, gives: true, gets: true, computes: true };
    let Some(root) = call.root else { return Ok(equal) };
    if root == abi.proc_null {
        return Ok(Members { gives: false, gets: false, computes: false, ..equal });
    }
    if root == abi.root {
        let gives = !matches!(call.kind, CollectiveKind::Gather | CollectiveKind::Gatherv);
        let gets = !matches!(call.kind, CollectiveKind::Scatter | CollectiveKind::Scatterv);
        return Ok(Members { root: Some(me), gives, gets, computes: false, ..equal });
    }
    let root = Some(remote.get(root).ok_or(Omission::Untraced)?);
    Ok(Members { root, gives: call.gives_everywhere(), gets: call.gets_everywhere(), ..equal })
}

/// The volumes where the arguments of a buffer are not significant, and the size of an element.
fn nothing(extent: Extent, members: usize, list: &mut Vec<Bytes>) -> (Volumes, Bytes) {
    let volumes = match extent {
        Extent::None => Volumes::None,
        Extent::Each => Volumes::Each(Bytes(0)),
        Extent::PerMember => Volumes::PerMember(filled(list, std::iter::repeat_n(Bytes(0), members))),
    };
    (volumes, Bytes(1))
}

/// The volumes of data that is in place, described by the arguments of the `other` buffer, and the size of an element.
fn in_place(
    blocks: &Blocks<'_>,
    other: &Blocks<'_>,
    comm: Comm,
    sizes: &mut TypeSizes,
    list: &mut Vec<Bytes>,
) -> (Volumes, Bytes) {
    match (blocks, other) {
        // The rank's own block.
        (Blocks::One(..), Blocks::Displaced(counts, _, datatype)) => {
            let own = usize::try_from(pmpi::comm_rank(comm)).ok().and_then(|me| counts.get(me));
            let element = sizes.element(*datatype);
            (Volumes::Each(element.times(own.unwrap_or_default().get())), element)
        }
        _ => volumes(other, sizes, list),
    }
}

/// The volumes of all blocks of a buffer, in the memory of `list`, and the size of an element.
#[inline]
fn volumes(blocks: &Blocks<'_>, sizes: &mut TypeSizes, list: &mut Vec<Bytes>) -> (Volumes, Bytes) {
    match blocks {
        Blocks::None => (Volumes::None, Bytes(1)),
        Blocks::One(count, datatype) | Blocks::Equal(count, datatype) => {
            let element = sizes.element(*datatype);
            (Volumes::Each(element.times(count.get())), element)
        }
        Blocks::Packed(counts, datatype) | Blocks::Displaced(counts, _, datatype) => {
            let element = sizes.element(*datatype);
            let volumes = counts.iter().map(|count| element.times(count.get()));
            (Volumes::PerMember(filled(list, volumes)), element)
        }
        // The elements of several datatypes have several sizes: a message may be cut anywhere.
        Blocks::Typed(counts, _, datatypes) => {
            let blocks = counts.iter().zip(datatypes.along(counts).iter());
            let volumes = blocks.map(|(count, datatype)| sizes.volume(count, datatype));
            (Volumes::PerMember(filled(list, volumes)), Bytes(1))
        }
    }
}

fn filled(list: &mut Vec<Bytes>, volumes: impl Iterator<Item = Bytes>) -> Vec<Bytes> {
    let mut list = std::mem::take(list);
    list.clear();
    list.extend(volumes);
    list
}

impl Collectives {
    pub(super) fn neighborhood(&mut self, call: &Topology<'_>, trace: &mut RankTrace) -> Outcome {
        // The rest makes communicators, see `communicators`.
        let call = NeighborhoodCall::of(call).ok_or(Omission::Untraced)?;
        let collective = self.among_neighbors(&call, &pmpi::neighbors(self.abi, call.comm), trace);
        let completion = begin(&call.start, collective.is_ok(), trace);
        trace.stream.write(&Event::Neighborhood(collective?, completion));
        Ok(())
    }

    fn among_neighbors(
        &mut self,
        call: &NeighborhoodCall<'_>,
        neighbors: &Neighbors,
        trace: &mut RankTrace,
    ) -> Result<Neighborhood, Omission> {
        let known = trace.communicators.known(call.comm)?;
        let mut volumes = |ranks, blocks| neighbor_volumes(ranks, blocks, &known.members, &mut self.type_sizes);
        let sends = volumes(&neighbors.destinations, &call.send);
        let recvs = volumes(&neighbors.sources, &call.recv);
        Ok(Neighborhood { comm: known.id, op: call.op, sends, recvs })
    }
}

/// The volumes of the blocks of these neighbours.
fn neighbor_volumes(
    neighbors: &[i32],
    blocks: &NeighborBlocks<'_>,
    members: &Ranks,
    sizes: &mut TypeSizes,
) -> Vec<(Rank, Bytes)> {
    let there = neighbors.iter().enumerate();
    let volume = |(place, &neighbor)| {
        let rank = members.get(neighbor)?;
        let volume = blocks.elements(place).map_or(Bytes(0), |(count, datatype)| sizes.volume(count, datatype));
        Some((rank, volume))
    };
    there.filter_map(volume).collect()
}
