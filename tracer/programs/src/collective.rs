//! Collectives that have volumes and no data (MPI 4.0 §6).

use std::ffi::c_int;

use titr_common::event::{Collective, CollectiveKind, Volumes};
use titr_common::units::Bytes;
use titr_wrappers::argument::HandleCell;
use titr_wrappers::symbol::{Forward, Word};

use crate::communicator::Comm;
use crate::function::{Function, MpiError, ended, functions, int};
use crate::request::Request;

functions! { CollectiveKind:
    Barrier: "MPI_Barrier" "MPI_Ibarrier" "MPI_Barrier_init";
    Bcast: "MPI_Bcast" "MPI_Ibcast" "MPI_Bcast_init";
    Reduce: "MPI_Reduce" "MPI_Ireduce" "MPI_Reduce_init";
    Allreduce: "MPI_Allreduce" "MPI_Iallreduce" "MPI_Allreduce_init";
    Scan: "MPI_Scan" "MPI_Iscan" "MPI_Scan_init";
    Exscan: "MPI_Exscan" "MPI_Iexscan" "MPI_Exscan_init";
    ReduceScatter: "MPI_Reduce_scatter" "MPI_Ireduce_scatter" "MPI_Reduce_scatter_init";
    ReduceScatterBlock: "MPI_Reduce_scatter_block" "MPI_Ireduce_scatter_block" "MPI_Reduce_scatter_block_init";
    Gather: "MPI_Gather" "MPI_Igather" "MPI_Gather_init";
    Scatter: "MPI_Scatter" "MPI_Iscatter" "MPI_Scatter_init";
    Allgather: "MPI_Allgather" "MPI_Iallgather" "MPI_Allgather_init";
    Alltoall: "MPI_Alltoall" "MPI_Ialltoall" "MPI_Alltoall_init";
    Gatherv: "MPI_Gatherv" "MPI_Igatherv" "MPI_Gatherv_init";
    Scatterv: "MPI_Scatterv" "MPI_Iscatterv" "MPI_Scatterv_init";
    Allgatherv: "MPI_Allgatherv" "MPI_Iallgatherv" "MPI_Allgatherv_init";
    Alltoallv: "MPI_Alltoallv" "MPI_Ialltoallv" "MPI_Alltoallv_init";
    Alltoallw: "MPI_Alltoallw" "MPI_Ialltoallw" "MPI_Alltoallw_init";
}

/// The arguments of a collective as words, and the lists that some of them point to.
type Arguments = (Vec<usize>, Vec<Vec<c_int>>);

/// Whether the library has persistent collectives of a kind, which came with MPI 4.0.
pub(crate) fn has_persistent(kind: CollectiveKind) -> bool {
    functions(kind).persistent.exists()
}

/// The largest count or displacement among the arguments of a collective.
pub(crate) fn largest_argument(collective: &Collective) -> u64 {
    let unit = if collective.kind.signature().reduces { unit(collective.element) } else { 1 };
    let largest = |volumes: &Volumes| match volumes {
        Volumes::None => 0,
        Volumes::Each(bytes) => bytes.0 / unit,
        Volumes::PerMember(all) => {
            let end =
                all.iter().take(all.len().saturating_sub(1)).fold(0_u64, |sum, bytes| sum.saturating_add(bytes.0));
            all.iter().map(|bytes| bytes.0).fold(end, u64::max) / unit
        }
    };
    largest(&collective.send).max(largest(&collective.recv))
}

/// The bytes of the elements that are reduced, given the size of the program's elements.
fn unit(element: Bytes) -> u64 {
    if element == Bytes(8) { 8 } else { 1 }
}

impl<'m> Comm<'m> {
    /// Takes part in a collective; `root` is the root's rank in the communicator, where there is one.
    pub(crate) fn collective(&self, collective: &Collective, root: Option<u32>) -> Result<(), MpiError> {
        let function = &functions(collective.kind).blocking;
        let (words, lists) = self.arguments(function, collective, root)?;
        // SAFETY: `arguments` made them for this function, and keeps their targets until here.
        let code = unsafe { forward(function, &words) };
        drop(lists);
        ended(function, code)
    }

    /// Starts a collective.
    pub(crate) fn icollective(&self, collective: &Collective, root: Option<u32>) -> Result<Request<'m>, MpiError> {
        self.begin(&functions(collective.kind).nonblocking, None, collective, root)
    }

    /// Sets up a collective.
    pub(crate) fn collective_init(&self, collective: &Collective, root: Option<u32>) -> Result<Request<'m>, MpiError> {
        let info = Some(self.mpi.abi.info_null.word());
        Ok(self.begin(&functions(collective.kind).persistent, info, collective, root)?.persistent())
    }

    fn begin(
        &self,
        function: &'static Function,
        info: Option<usize>,
        collective: &Collective,
        root: Option<u32>,
    ) -> Result<Request<'m>, MpiError> {
        let (mut words, lists) = self.arguments(function, collective, root)?;
        let mut request = HandleCell::empty();
        words.extend(info.into_iter().chain([request.address()]));
        // SAFETY: the arguments of the blocking function, then MPI_Info of a persistent one, and (MPI_Request *); the request
        // keeps their targets.
        let code = unsafe { forward(function, &words) };
        let request = Request::new(self.mpi, request).with_lists(lists);
        ended(function, code).map(|()| request)
    }

    /// The arguments of the blocking function, in C's order.
    fn arguments(
        &self,
        function: &'static Function,
        collective: &Collective,
        root: Option<u32>,
    ) -> Result<Arguments, MpiError> {
        let (abi, comm, size) = (self.mpi.abi, self.handle.word(), u64::from(self.size));
        let root = root.map_or(abi.proc_null, |root| root as c_int).word();
        let int = |bytes: Bytes| int(function.name(), bytes.0);
        let mut lists = Vec::new();
        let mut list = |volumes: &Volumes| -> Result<[usize; 2], MpiError> {
            let mut counts = volumes.per_member().iter().map(|bytes| int(*bytes)).collect::<Result<Vec<_>, _>>()?;
            // Only the root has them; the others pass values that are not read.
            counts.resize(size as usize, 0);
            let ends = counts.iter().scan(0_u64, |end, count| Some(std::mem::replace(end, *end + *count as u64)));
            let starts = ends.map(|start| int(Bytes(start))).collect::<Result<Vec<_>, _>>()?;
            let words = [counts.as_ptr().word(), starts.as_ptr().word()];
            lists.extend([counts, starts]);
            Ok(words)
        };
        let total = |volumes: &Volumes, times: u64| match volumes {
            Volumes::None => 0,
            Volumes::Each(bytes) => bytes.0.saturating_mul(times),
            Volumes::PerMember(all) => all.iter().map(|bytes| bytes.0).sum(),
        };
        let Collective { kind, send, recv, element, .. } = collective;
        let (byte, given) = (abi.byte.word(), self.mpi.outgoing.of(total(send, size).max(total(recv, size))));
        let got = self.mpi.incoming.of(total(recv, size).max(total(send, size)));
        // Elements of other sizes are reduced as bytes.
        let unit = unit(*element);
        let (datatype, op) = if unit == 8 { (abi.int64, abi.max) } else { (abi.byte, abi.band) };
        let (datatype, op) = (datatype.word(), op.word());
        let elements = |bytes: Bytes| int(Bytes(bytes.0 / unit));
        let words = match kind {
            CollectiveKind::Barrier => vec![comm],
            CollectiveKind::Bcast => vec![given, int(send.each())?.word(), byte, root, comm],
            CollectiveKind::Reduce => vec![given, got, elements(send.each())?.word(), datatype, op, root, comm],
            CollectiveKind::Allreduce | CollectiveKind::Scan | CollectiveKind::Exscan => {
                vec![given, got, elements(send.each())?.word(), datatype, op, comm]
            }
            CollectiveKind::ReduceScatter => {
                let parts = recv.per_member().iter().map(|bytes| Bytes(bytes.0 / unit)).collect();
                let [counts, _] = list(&Volumes::PerMember(parts))?;
                vec![given, got, counts, datatype, op, comm]
            }
            CollectiveKind::ReduceScatterBlock => vec![given, got, elements(recv.each())?.word(), datatype, op, comm],
            CollectiveKind::Gather | CollectiveKind::Scatter => {
                vec![given, int(send.each())?.word(), byte, got, int(recv.each())?.word(), byte, root, comm]
            }
            CollectiveKind::Allgather | CollectiveKind::Alltoall => {
                vec![given, int(send.each())?.word(), byte, got, int(recv.each())?.word(), byte, comm]
            }
            CollectiveKind::Gatherv => {
                let [counts, starts] = list(recv)?;
                vec![given, int(send.each())?.word(), byte, got, counts, starts, byte, root, comm]
            }
            CollectiveKind::Scatterv => {
                let [counts, starts] = list(send)?;
                vec![given, counts, starts, byte, got, int(recv.each())?.word(), byte, root, comm]
            }
            CollectiveKind::Allgatherv => {
                let [counts, starts] = list(recv)?;
                vec![given, int(send.each())?.word(), byte, got, counts, starts, byte, comm]
            }
            CollectiveKind::Alltoallv => {
                let ([sent, from], [received, to]) = (list(send)?, list(recv)?);
                vec![given, sent, from, byte, got, received, to, byte, comm]
            }
            CollectiveKind::Alltoallw => {
                let ([sent, from], [received, to]) = (list(send)?, list(recv)?);
                let types = self.mpi.bytes_of_each(self.size);
                vec![given, sent, from, types, got, received, to, types, comm]
            }
        };
        Ok((words, lists))
    }
}

/// Calls a function with as many words as there are.
///
/// # Safety
/// `words` are arguments that the function may be called with.
unsafe fn forward(function: &Function, words: &[usize]) -> Option<c_int> {
    /// # Safety
    /// As for [`forward`].
    unsafe fn with<const N: usize>(function: &Function, words: &[usize]) -> Option<c_int>
    where
        [usize; N]: Forward,
    {
        let words = words.try_into().ok()?;
        // SAFETY: the caller's promise.
        unsafe { function.call::<N>(words) }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match words.len() {
            1 => with::<1>(function, words),
            2 => with::<2>(function, words),
            3 => with::<3>(function, words),
            5 => with::<5>(function, words),
            6 => with::<6>(function, words),
            7 => with::<7>(function, words),
            8 => with::<8>(function, words),
            9 => with::<9>(function, words),
            10 => with::<10>(function, words),
            11 => with::<11>(function, words),
            _ => None,
        }
    }
}
