//! Collectives of all members of a communicator.

use titr_common::event::{Collective, CollectiveKind, Completion, Event, Extent, Volumes};
use titr_common::units::{Bytes, Instructions};

use super::messages::peer;
use super::{DumpiSink, DumpiTranslation, NoEvent, Translated, argument};
use crate::input::dumpi::bytes::Cursor;
use crate::input::dumpi::datatypes::Datatypes;
use crate::input::dumpi::functions::DumpiFunction;

/// `MPI_ROOT`, which the root of a collective between two groups names.
const ROOT: i32 = -2;

/// The data in one of the two buffers.
#[derive(Clone)]
enum Blocks {
    None,
    /// One block, or equal ones.
    Equal(i32, u16),
    /// A block for each member.
    Each(Vec<i32>, u16),
    /// A block for each member, each with a datatype of its own.
    Typed(Vec<i32>, Vec<u16>),
}

struct DumpiCollectiveCall {
    kind: CollectiveKind,
    send: Blocks,
    recv: Blocks,
    operation: Option<u8>,
    root: Option<i32>,
    comm: u16,
}

impl DumpiTranslation {
    pub(super) fn collective(
        &mut self,
        function: DumpiFunction,
        bytes: &mut Cursor<'_>,
        sink: &mut DumpiSink<'_>,
    ) -> Translated {
        let call = argument(DumpiCollectiveCall::read(function, bytes))?;
        let operation = self.operation(call)?;
        self.push(sink, Event::Collective(operation, Completion::Blocking));
        Ok(())
    }

    /// The operation that a call asks for.
    fn operation(&self, call: DumpiCollectiveCall) -> Translated<Collective> {
        let (comm, sides) = self.sides(call.comm)?;
        let is_between = !sides.remote.is_empty();
        let (root, is_root, has_part) = match call.root {
            None => (None, true, true),
            Some(root) if !is_between => {
                let root = peer(&sides.members, root)
                    .map_err(|_| format!("root {root}, which is no rank of its communicator"))?;
                (Some(root), root == self.me, true)
            }
            Some(ROOT) => (Some(self.me), true, true),
            Some(root) if root < 0 => (None, false, false),
            Some(root) => (Some(peer(&sides.remote, root)?), false, true),
        };
        let kind = call.kind;
        let members = if is_between && !kind.is_shared_out() { sides.remote.len() } else { sides.members.len() };
        let only_root_gives = matches!(kind, CollectiveKind::Scatter | CollectiveKind::Scatterv);
        let only_root_gets = matches!(kind, CollectiveKind::Gather | CollectiveKind::Gatherv);
        let gives = has_part && (is_root || !only_root_gives) && !(is_between && is_root && only_root_gets);
        let gets = has_part && (is_root || !only_root_gets) && !(is_between && is_root && only_root_gives);
        let signature = kind.signature();
        // A datatype that is none says that the data is in the other buffer.
        let (send, recv) = match (call.send.is_in_place(), call.recv.is_in_place()) {
            (true, false) => {
                (call.recv.own(sides.members.iter().position(|&rank| rank == self.me), signature.send), call.recv)
            }
            (false, true) if only_root_gives => (
                call.send.clone(),
                call.send.own(sides.members.iter().position(|&rank| rank == self.me), signature.recv),
            ),
            _ => (call.send, call.recv),
        };
        let (send, send_element) = self.volumes(&send, signature.send, gives, members)?;
        let (recv, recv_element) = self.volumes(&recv, signature.recv, gets, members)?;
        let element = match (signature.recv, only_root_gets) {
            (Extent::None, _) | (_, true) => send_element,
            _ => recv_element,
        };
        let computes = signature.reduces && has_part && !(is_between && is_root && call.root.is_some());
        let all = recv.per_member().iter().fold(send.each().0, |all, bytes| all.saturating_add(bytes.0));
        let elements = if computes { all.checked_div(element.0).unwrap_or(0) } else { 0 };
        let is_commutative = call.operation.is_none_or(|operation| !self.ordered_operations.contains(&operation));
        let work = Instructions(elements as f64);
        let element = Bytes(element.0.max(1));
        Ok(Collective { comm, kind, root, send, recv, element, work, is_commutative })
    }

    /// The volumes in a buffer, and the size of an element.
    fn volumes(&self, blocks: &Blocks, extent: Extent, is_used: bool, members: usize) -> Translated<(Volumes, Bytes)> {
        let types = &self.datatypes;
        let blocks = if is_used { blocks } else { &Blocks::None };
        Ok(match (blocks, extent) {
            (_, Extent::None) => (Volumes::None, Bytes(1)),
            (&Blocks::Equal(count, datatype), Extent::Each) => {
                (Volumes::Each(Bytes(types.volume(count, datatype)?)), Bytes(element(types, datatype)))
            }
            (&Blocks::Equal(count, datatype), Extent::PerMember) => {
                let volume = Bytes(types.volume(count, datatype)?);
                (Volumes::PerMember(vec![volume; members]), Bytes(element(types, datatype)))
            }
            (Blocks::Each(counts, datatype), _) => {
                let list = counts.iter().map(|&count| types.volume(count, *datatype).map(Bytes));
                (listed(list.collect::<Result<_, _>>()?, members)?, Bytes(element(types, *datatype)))
            }
            (Blocks::Typed(counts, datatypes), _) => {
                let list = counts.iter().zip(datatypes).map(|(&count, &of)| types.volume(count, of).map(Bytes));
                (listed(list.collect::<Result<_, _>>()?, members)?, Bytes(1))
            }
            (Blocks::None, Extent::Each) => (Volumes::Each(Bytes(0)), Bytes(1)),
            (Blocks::None, Extent::PerMember) => (Volumes::PerMember(vec![Bytes(0); members]), Bytes(1)),
        })
    }
}

fn element(types: &Datatypes, datatype: u16) -> u64 {
    types.size(datatype).unwrap_or(1)
}

fn listed(list: Vec<Bytes>, members: usize) -> Translated<Volumes> {
    if list.len() == members {
        Ok(Volumes::PerMember(list))
    } else {
        Err(NoEvent::Wrong(format!("{} counts on a communicator of {members}", list.len())))
    }
}

impl Blocks {
    fn is_in_place(&self) -> bool {
        match self {
            Self::Equal(_, datatype) | Self::Each(_, datatype) => Datatypes::is_none(*datatype),
            Self::Typed(_, datatypes) => datatypes.iter().all(|&datatype| Datatypes::is_none(datatype)),
            Self::None => false,
        }
    }

    /// The data of the other buffer, which is in this one: all of it, or the own block.
    fn own(&self, me: Option<usize>, extent: Extent) -> Self {
        match (self, extent) {
            (Self::Each(counts, datatype), Extent::Each) => {
                Self::Equal(me.and_then(|me| counts.get(me)).copied().unwrap_or(0), *datatype)
            }
            _ => self.clone(),
        }
    }
}

impl DumpiCollectiveCall {
    /// The arguments of a function in the order of its record.
    fn read(function: DumpiFunction, bytes: &mut Cursor<'_>) -> Option<Self> {
        use CollectiveKind as Kind;
        let empty = |kind| Self { kind, send: Blocks::None, recv: Blocks::None, operation: None, root: None, comm: 0 };
        let bytes = &mut *bytes;
        Some(match function {
            DumpiFunction::BARRIER => Self { comm: bytes.u16()?, ..empty(Kind::Barrier) },
            DumpiFunction::BCAST => {
                let send = equal(bytes)?;
                Self { send, root: Some(bytes.i32()?), comm: bytes.u16()?, ..empty(Kind::Bcast) }
            }
            DumpiFunction::REDUCE => {
                let (send, operation) = (equal(bytes)?, Some(bytes.u8()?));
                Self { send, operation, root: Some(bytes.i32()?), comm: bytes.u16()?, ..empty(Kind::Reduce) }
            }
            DumpiFunction::ALLREDUCE | DumpiFunction::SCAN | DumpiFunction::EXSCAN => {
                let kind = match function {
                    DumpiFunction::ALLREDUCE => Kind::Allreduce,
                    DumpiFunction::SCAN => Kind::Scan,
                    _ => Kind::Exscan,
                };
                Self { send: equal(bytes)?, operation: Some(bytes.u8()?), comm: bytes.u16()?, ..empty(kind) }
            }
            DumpiFunction::REDUCE_SCATTER => {
                let (_size, counts) = (bytes.i32()?, bytes.integers()?.collect());
                let recv = Blocks::Each(counts, bytes.u16()?);
                Self { recv, operation: Some(bytes.u8()?), comm: bytes.u16()?, ..empty(Kind::ReduceScatter) }
            }
            DumpiFunction::GATHER | DumpiFunction::SCATTER => {
                let (own, block, root) = (bytes.i32()?, equal(bytes)?, bytes.i32()?);
                let comm = bytes.u16()?;
                let at_root = if own == root { equal(bytes)? } else { Blocks::None };
                let (kind, send, recv) = match function {
                    DumpiFunction::GATHER => (Kind::Gather, block, at_root),
                    _ => (Kind::Scatter, at_root, block),
                };
                Self { send, recv, root: Some(root), comm, ..empty(kind) }
            }
            DumpiFunction::GATHERV => {
                let (own, _size, send, root) = (bytes.i32()?, bytes.i32()?, equal(bytes)?, bytes.i32()?);
                let comm = bytes.u16()?;
                let counts = if own == root { displaced(bytes)? } else { Vec::new() };
                let recv = Blocks::Each(counts, bytes.u16()?);
                Self { send, recv, root: Some(root), comm, ..empty(Kind::Gatherv) }
            }
            DumpiFunction::SCATTERV => {
                let (own, _size, datatype, recv) = (bytes.i32()?, bytes.i32()?, bytes.u16()?, equal(bytes)?);
                let (root, comm) = (bytes.i32()?, bytes.u16()?);
                let counts = if own == root { displaced(bytes)? } else { Vec::new() };
                Self { send: Blocks::Each(counts, datatype), recv, root: Some(root), comm, ..empty(Kind::Scatterv) }
            }
            DumpiFunction::ALLGATHER | DumpiFunction::ALLTOALL => {
                let kind = if function == DumpiFunction::ALLGATHER { Kind::Allgather } else { Kind::Alltoall };
                Self { send: equal(bytes)?, recv: equal(bytes)?, comm: bytes.u16()?, ..empty(kind) }
            }
            DumpiFunction::ALLGATHERV => {
                let (_size, send, counts) = (bytes.i32()?, equal(bytes)?, displaced(bytes)?);
                let recv = Blocks::Each(counts, bytes.u16()?);
                Self { send, recv, comm: bytes.u16()?, ..empty(Kind::Allgatherv) }
            }
            DumpiFunction::ALLTOALLV => {
                let _size = bytes.i32()?;
                let send = Blocks::Each(displaced(bytes)?, bytes.u16()?);
                let recv = Blocks::Each(displaced(bytes)?, bytes.u16()?);
                Self { send, recv, comm: bytes.u16()?, ..empty(Kind::Alltoallv) }
            }
            DumpiFunction::ALLTOALLW => {
                let _size = bytes.i32()?;
                let send = Blocks::Typed(displaced(bytes)?, bytes.handles()?.collect());
                let recv = Blocks::Typed(displaced(bytes)?, bytes.handles()?.collect());
                Self { send, recv, comm: bytes.u16()?, ..empty(Kind::Alltoallw) }
            }
            _ => return None,
        })
    }
}

/// A count and a datatype.
fn equal(bytes: &mut Cursor<'_>) -> Option<Blocks> {
    Some(Blocks::Equal(bytes.i32()?, bytes.u16()?))
}

/// The counts of blocks, and their places, which are passed over.
fn displaced(bytes: &mut Cursor<'_>) -> Option<Vec<i32>> {
    let counts = bytes.integers()?.collect();
    let _places = bytes.integers()?;
    Some(counts)
}
