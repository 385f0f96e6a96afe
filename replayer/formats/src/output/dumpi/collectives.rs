//! The records of collectives.

use std::io::Error;

use titr_common::event::{Collective, CollectiveKind, Volumes};
use titr_common::units::Bytes;

use super::NotWritten;
use super::datatypes::unit;
use super::file::DumpiBytes;
use super::rank::DumpiRank;
use crate::input::dumpi::functions::DumpiFunction;

/// `MPI_ROOT`, and what the other ranks of the root's group name in a collective between two groups.
const ROOT: i32 = -2;
const NO_ROOT: i32 = -1;
/// `MPI_SUM`, which stands for all operations that are commutative, and an operation of the program, which is not.
const SUM: u8 = 3;
const ORDERED: u8 = 15;

impl DumpiRank<'_> {
    pub(super) fn collective(&mut self, call: &Collective) -> Result<(), NotWritten> {
        use CollectiveKind as K;
        use DumpiFunction as F;
        let (comm, members) = self.comm(call.comm)?;
        let me = self.place(&members, self.rank)?;
        let root = match call.root {
            Some(root) if root == self.rank && members.is_inter() => ROOT,
            Some(root) => self.place(&members, root)?,
            None => NO_ROOT,
        };
        let is_root = me == root;
        let Some(unit) = unit([&call.send, &call.recv], call.element) else {
            let what = format!("rank {}: volumes of {} that are no counts of one datatype", self.rank.0, call.kind);
            return Err(Error::other(what).into());
        };
        let datatype = self.types.of_size(unit, &mut self.file, self.span)?;
        let count = |bytes: Bytes| (bytes.0 / unit) as i32;
        let counts = |volumes: &Volumes| volumes.per_member().iter().copied().map(count).collect::<Vec<i32>>();
        let (send, recv) = (count(call.send.each()), count(call.recv.each()));
        let (sends, recvs) = (counts(&call.send), counts(&call.recv));
        let size = sends.len().max(recvs.len()) as i32;
        let block = |bytes: DumpiBytes, count: i32| bytes.int(count).handle(datatype);
        let list = |bytes: DumpiBytes, counts: &[i32]| bytes.integers(counts).integers(&displacements(counts));
        let operation = if call.kind.signature().reduces { self.operation(call.is_commutative)? } else { SUM };
        let start = DumpiBytes::default();
        let (function, arguments) = match call.kind {
            K::Barrier => (F::BARRIER, start.handle(comm)),
            K::Bcast => (F::BCAST, block(start, send).int(root).handle(comm)),
            K::Reduce => (F::REDUCE, block(start, send).byte(operation).int(root).handle(comm)),
            K::Allreduce => (F::ALLREDUCE, block(start, send).byte(operation).handle(comm)),
            K::Scan => (F::SCAN, block(start, send).byte(operation).handle(comm)),
            K::Exscan => (F::EXSCAN, block(start, send).byte(operation).handle(comm)),
            K::ReduceScatter => {
                (F::REDUCE_SCATTER, start.int(size).integers(&recvs).handle(datatype).byte(operation).handle(comm))
            }
            // DUMPI has no function with equal blocks.
            K::ReduceScatterBlock => {
                let group = if members.is_inter() { self.own_group(&members)? } else { members.len() };
                let arguments = start.int(group as i32).integers(&vec![recv; group]);
                (F::REDUCE_SCATTER, arguments.handle(datatype).byte(operation).handle(comm))
            }
            K::Gather | K::Scatter => {
                let (function, given, at_root) =
                    if call.kind == K::Gather { (F::GATHER, send, recv) } else { (F::SCATTER, recv, send) };
                let arguments = block(start.int(me), given).int(root).handle(comm);
                (function, if is_root { block(arguments, at_root) } else { arguments })
            }
            K::Gatherv => {
                let arguments = block(start.int(me).int(size), send).int(root).handle(comm);
                let arguments = if is_root { list(arguments, &recvs) } else { arguments };
                (F::GATHERV, arguments.handle(datatype))
            }
            K::Scatterv => {
                let arguments = block(start.int(me).int(size).handle(datatype), recv).int(root).handle(comm);
                (F::SCATTERV, if is_root { list(arguments, &sends) } else { arguments })
            }
            K::Allgather => (F::ALLGATHER, block(block(start, send), recv).handle(comm)),
            K::Alltoall => (F::ALLTOALL, block(block(start, send), recv).handle(comm)),
            K::Allgatherv => (F::ALLGATHERV, list(block(start.int(size), send), &recvs).handle(datatype).handle(comm)),
            K::Alltoallv => {
                let arguments = list(start.int(size), &sends).handle(datatype);
                (F::ALLTOALLV, list(arguments, &recvs).handle(datatype).handle(comm))
            }
            K::Alltoallw => {
                let arguments = list(start.int(size), &sends).handles(&vec![datatype; sends.len()]);
                (F::ALLTOALLW, list(arguments, &recvs).handles(&vec![datatype; recvs.len()]).handle(comm))
            }
        };
        self.record(function, &arguments)
    }

    /// The operation of a reduction.
    fn operation(&mut self, is_commutative: bool) -> Result<u8, NotWritten> {
        if is_commutative {
            return Ok(SUM);
        }
        if !std::mem::replace(&mut self.has_ordered_operation, true) {
            self.record_before(DumpiFunction::OP_CREATE, &DumpiBytes::default().int(0).byte(ORDERED))?;
        }
        Ok(ORDERED)
    }
}

/// The places of blocks that follow each other.
fn displacements(counts: &[i32]) -> Vec<i32> {
    let before = counts.iter().scan(0_i32, |next, &count| Some(std::mem::replace(next, next.saturating_add(count))));
    before.collect()
}
