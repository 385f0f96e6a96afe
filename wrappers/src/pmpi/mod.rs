//! The few MPI functions that a tool calls itself, by their profiling names, so that no tool sees them.
//!
//! All but [`allreduce`], [`barrier`], [`split`], [`free`], [`ongoing`] and [`exchange`] are local. Handles must be those of
//! live objects, as everywhere in MPI; an error gives a neutral value (no rank, no size, nothing), and with MPI's default
//! error handler ends the program.

pub mod exchange;
pub mod ongoing;
pub mod promise;
mod reduction;
pub mod region;

use std::ffi::{c_int, c_void};

use crate::Function;
use crate::abi::Abi;
use crate::argument::{Comm, Datatype, Group, Op, load_handle};
use crate::function::Forward;
use crate::functions::{collective, communicator, datatype, point_to_point, topology};
use exchange::Memory;

/// The library's `function` of these arguments, if it has it; whether it succeeded.
///
/// # Safety
/// The arguments are what `function` takes.
pub(crate) unsafe fn call<const N: usize>(function: &Function, words: [usize; N]) -> bool
where
    [usize; N]: Forward,
{
    // SAFETY: the caller's promise.
    unsafe { attempt(function, words) }.is_ok()
}

/// What an MPI function returned that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub c_int);

/// As [`call`], with the error's code.
///
/// # Safety
/// As [`call`].
unsafe fn attempt<const N: usize>(function: &Function, words: [usize; N]) -> Result<(), ErrorCode>
where
    [usize; N]: Forward,
{
    /// Any code but `MPI_SUCCESS`: a library that has no such function has none for that either.
    const MISSING: ErrorCode = ErrorCode(1);
    let real = function.find().ok_or(MISSING)?;
    // SAFETY: the caller's promise.
    match unsafe { <[usize; N]>::forward(real, words.as_ptr()) } as c_int {
        0 => Ok(()),
        code => Err(ErrorCode(code)),
    }
}

/// The `int` that a function of a handle gives in its last argument.
fn int_of(function: &Function, handle: usize) -> Option<c_int> {
    let mut value: c_int = 0;
    // SAFETY: used below for functions of (handle, int *) only.
    unsafe { call(function, [handle, &raw mut value as usize]) }.then_some(value)
}

/// `MPI_Comm_rank`.
#[must_use]
pub fn comm_rank(comm: Comm) -> i32 {
    int_of(&communicator::MPI_Comm_rank, comm.raw()).unwrap_or(-1)
}

/// `MPI_Comm_size`.
#[must_use]
pub fn comm_size(comm: Comm) -> usize {
    int_of(&communicator::MPI_Comm_size, comm.raw()).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// `MPI_Comm_remote_size`.
#[must_use]
pub fn comm_remote_size(comm: Comm) -> usize {
    let size = int_of(&communicator::MPI_Comm_remote_size, comm.raw());
    size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// Whether `root` means this rank: by its number, or on an inter-communicator by `MPI_ROOT`.
#[must_use]
pub fn is_root(root: i32, comm: Comm) -> bool {
    if comm_is_inter(comm) { Abi::current().is_ok_and(|abi| abi.root == root) } else { comm_rank(comm) == root }
}

/// With how many ranks a collective exchanges: of an inter-communicator, those of the remote group.
#[must_use]
pub fn comm_peers(comm: Comm) -> usize {
    if comm_is_inter(comm) { comm_remote_size(comm) } else { comm_size(comm) }
}

/// `MPI_Comm_test_inter`.
#[must_use]
pub fn comm_is_inter(comm: Comm) -> bool {
    int_of(&communicator::MPI_Comm_test_inter, comm.raw()).is_some_and(|flag| flag != 0)
}

/// `MPI_Type_size_x`: the bytes of data in one element, without gaps; `None` if undefined. A call that moves nothing may
/// have got away with `MPI_DATATYPE_NULL`, after which MPI must not be asked.
#[must_use]
pub fn type_size(datatype: Datatype) -> Option<u64> {
    if Abi::current().is_ok_and(|abi| datatype == abi.datatype_null) {
        return None;
    }
    let mut size: i64 = 0;
    // SAFETY: (MPI_Datatype, MPI_Count *); MPI_Count is 64 bits wide in every family.
    unsafe { call(&datatype::MPI_Type_size_x, [datatype.raw(), &raw mut size as usize]) }
        .then(|| u64::try_from(size).ok())
        .flatten()
}

/// `MPI_Test_cancelled`.
///
/// # Safety
/// A status is at `status`.
pub(crate) unsafe fn test_cancelled(status: usize) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: (MPI_Status *, int *), and the caller's promise.
    unsafe { call(&point_to_point::MPI_Test_cancelled, [status, &raw mut flag as usize]) && flag != 0 }
}

/// `MPI_Get_elements_x` of bytes: how long the message is.
///
/// # Safety
/// A status is at `status`.
pub(crate) unsafe fn received_bytes(abi: &Abi, status: usize) -> u64 {
    let mut bytes: i64 = 0;
    // SAFETY: (MPI_Status *, MPI_Datatype, MPI_Count *), and the caller's promise.
    let known = unsafe { call(&datatype::MPI_Get_elements_x, [status, abi.byte.raw(), &raw mut bytes as usize]) };
    if known { u64::try_from(bytes).unwrap_or(0) } else { 0 }
}

/// `MPI_Allreduce` of one 64-bit integer: collective, all members of `comm` must take part.
#[must_use]
pub fn allreduce(abi: &Abi, value: i64, op: Op, comm: Comm) -> Option<i64> {
    let mut result = value;
    let (from, to) = (&raw const value as usize, &raw mut result as usize);
    // SAFETY: (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm), one MPI_INT64_T on either side.
    unsafe { call(&collective::MPI_Allreduce, [from, to, 1, abi.int64.raw(), op.raw(), comm.raw()]) }.then_some(result)
}

/// `MPI_Barrier`: collective.
pub fn barrier(comm: Comm) {
    // SAFETY: (MPI_Comm).
    unsafe { call(&collective::MPI_Barrier, [comm.raw()]) };
}

/// A communicator of the same members in the same order, and nothing else of `comm`'s (`MPI_Comm_dup` would call what the
/// program attached to it): collective.
#[must_use]
pub fn split(abi: &Abi, comm: Comm) -> Option<Comm> {
    let mut place = 0_usize;
    let words = [comm.raw(), 0, comm_rank(comm) as usize, &raw mut place as usize];
    // SAFETY: (MPI_Comm, int, int, MPI_Comm *), and `place` is as large as the largest handle.
    unsafe {
        call(&communicator::MPI_Comm_split, words).then(|| Comm::from_raw(load_handle(abi, &raw const place as usize)))
    }
}

/// The same for an intra-communicator of more than one member: `None` of any other.
#[must_use]
pub fn split_large(comm: Comm) -> Option<Comm> {
    let abi = Abi::current().ok().filter(|abi| comm != abi.comm_null)?;
    if comm_is_inter(comm) || comm_size(comm) < 2 { None } else { split(abi, comm) }
}

/// `MPI_Comm_free`: collective.
pub fn free(comm: Comm) {
    let mut place = comm.raw();
    // SAFETY: (MPI_Comm *); a handle of either size is in the first bytes of a word, least significant first.
    unsafe { call(&communicator::MPI_Comm_free, [&raw mut place as usize]) };
}

/// `MPI_Op_commutative`.
#[must_use]
pub fn is_commutative(op: Op) -> bool {
    int_of(&collective::MPI_Op_commutative, op.raw()).is_some_and(|flag| flag != 0)
}

/// `MPI_Type_get_extent`: how far apart elements lie.
#[must_use]
pub fn type_extent(datatype: Datatype) -> Option<i64> {
    extent_by(&datatype::MPI_Type_get_extent, datatype).map(|(_, extent)| extent)
}

/// The lower bound and the extent that a function of (MPI_Datatype, MPI_Aint *, MPI_Aint *) gives.
fn extent_by(function: &Function, datatype: Datatype) -> Option<(i64, i64)> {
    let (mut lower, mut extent) = (0_i64, 0_i64);
    let words = [datatype.raw(), &raw mut lower as usize, &raw mut extent as usize];
    // SAFETY: as said above; MPI_Aint is 64 bits wide on these platforms.
    unsafe { call(function, words) }.then_some((lower, extent))
}

/// The neighbours of this rank in a topology, by their ranks there; `MPI_PROC_NULL` where a side has none.
#[derive(Clone, Debug, Default)]
pub struct Neighbors {
    /// Whom it receives from.
    pub sources: Vec<i32>,
    /// Whom it sends to.
    pub destinations: Vec<i32>,
}

/// The neighbours of this rank in the order of neighbourhood collectives (MPI 4.0 §8.6); none without a topology.
#[must_use]
pub fn neighbors(abi: &Abi, comm: Comm) -> Neighbors {
    let known = match int_of(&topology::MPI_Topo_test, comm.raw()) {
        Some(kind) if kind == abi.cart => cartesian_neighbors(comm),
        Some(kind) if kind == abi.graph => graph_neighbors(comm),
        Some(kind) if kind == abi.dist_graph => adjacent_neighbors(comm),
        _ => None,
    };
    known.unwrap_or_default()
}

/// In each dimension the one before and the one behind.
fn cartesian_neighbors(comm: Comm) -> Option<Neighbors> {
    let mut all = Vec::new();
    for dimension in 0..int_of(&topology::MPI_Cartdim_get, comm.raw())? {
        let (mut before, mut behind): (c_int, c_int) = (0, 0);
        let words = [comm.raw(), dimension as usize, 1, &raw mut before as usize, &raw mut behind as usize];
        // SAFETY: (MPI_Comm, int direction, int disp, int *, int *).
        unsafe { call(&topology::MPI_Cart_shift, words) }.then_some(())?;
        all.extend([before, behind]);
    }
    Some(Neighbors { sources: all.clone(), destinations: all })
}

fn graph_neighbors(comm: Comm) -> Option<Neighbors> {
    let (rank, mut count): (c_int, c_int) = (comm_rank(comm), 0);
    // SAFETY: (MPI_Comm, int rank, int *).
    unsafe { call(&topology::MPI_Graph_neighbors_count, [comm.raw(), rank as usize, &raw mut count as usize]) }
        .then_some(())?;
    let mut all = vec![0; usize::try_from(count).ok()?];
    let words = [comm.raw(), rank as usize, count as usize, all.as_mut_ptr() as usize];
    // SAFETY: (MPI_Comm, int rank, int max, int neighbors[max]).
    unsafe { call(&topology::MPI_Graph_neighbors, words) }.then_some(())?;
    Some(Neighbors { sources: all.clone(), destinations: all })
}

fn adjacent_neighbors(comm: Comm) -> Option<Neighbors> {
    let (mut from, mut to, mut weighted): (c_int, c_int, c_int) = (0, 0, 0);
    let words = [comm.raw(), &raw mut from as usize, &raw mut to as usize, &raw mut weighted as usize];
    // SAFETY: (MPI_Comm, int *, int *, int *).
    unsafe { call(&topology::MPI_Dist_graph_neighbors_count, words) }.then_some(())?;
    let list = |count| Some(vec![0; usize::try_from(count).ok()?]);
    let (mut sources, mut destinations): (Vec<c_int>, Vec<c_int>) = (list(from)?, list(to)?);
    let (mut source_weights, mut destination_weights): (Vec<c_int>, Vec<c_int>) = (list(from)?, list(to)?);
    let address = |list: &mut Vec<c_int>| list.as_mut_ptr() as usize;
    let words = [
        comm.raw(),
        from as usize,
        address(&mut sources),
        address(&mut source_weights),
        to as usize,
        address(&mut destinations),
        address(&mut destination_weights),
    ];
    // SAFETY: (MPI_Comm, int in, int sources[in], int weights[in], int out, int destinations[out], int weights[out]).
    unsafe { call(&topology::MPI_Dist_graph_neighbors, words) }.then_some(())?;
    Some(Neighbors { sources, destinations })
}

/// Which ranks of `base` the members of `group` are. `None` if MPI does not tell.
#[must_use]
pub fn translate_group(abi: &Abi, group: Group, base: Comm) -> Option<Vec<Option<u32>>> {
    let size = int_of(&communicator::MPI_Group_size, group.raw())?;
    ranks_in(
        abi,
        group,
        usize::try_from(size).ok()?,
        OwnedGroup::of(abi, &communicator::MPI_Comm_group, base)?.handle(),
    )
}

/// The ranks that the members of a communicator have in another one, in its order.
pub struct Translation {
    /// Of its own (or local) group. `None`: is no member of the other one.
    pub local: Vec<Option<u32>>,
    /// Of the remote group of an inter-communicator.
    pub remote: Vec<Option<u32>>,
}

/// Which ranks of `base` the members of `comm` are. `None` if MPI does not tell.
#[must_use]
pub fn translate(abi: &Abi, comm: Comm, base: Comm) -> Option<Translation> {
    let base = OwnedGroup::of(abi, &communicator::MPI_Comm_group, base)?;
    // The communicators are asked how many there are: MPICH 5.0.2 says that the group of one that MPI_Cart_create has made
    // smaller than its parent is as large as that.
    let local = OwnedGroup::of(abi, &communicator::MPI_Comm_group, comm)?.ranks_in(comm_size(comm), &base)?;
    let remote = if comm_is_inter(comm) {
        OwnedGroup::of(abi, &communicator::MPI_Comm_remote_group, comm)?.ranks_in(comm_remote_size(comm), &base)?
    } else {
        Vec::new()
    };
    Some(Translation { local, remote })
}

/// A group handle to be freed.
struct OwnedGroup<'a> {
    abi: &'a Abi,
    /// As MPI stores it: a handle of either size, in the first bytes.
    place: usize,
}

impl<'a> OwnedGroup<'a> {
    fn of(abi: &'a Abi, function: &Function, comm: Comm) -> Option<Self> {
        let mut group = Self { abi, place: 0 };
        // SAFETY: `function` is MPI_Comm_group or MPI_Comm_remote_group: (MPI_Comm, MPI_Group *).
        unsafe { call(function, [comm.raw(), &raw mut group.place as usize]) }.then_some(group)
    }

    fn handle(&self) -> Group {
        // SAFETY: `place` is as large as the largest handle.
        Group::from_raw(unsafe { load_handle(self.abi, &raw const self.place as usize) })
    }

    /// Of a communicator's group of so many, which is none if MPI did not tell.
    fn ranks_in(&self, size: usize, base: &Self) -> Option<Vec<Option<u32>>> {
        (size > 0).then(|| ranks_in(self.abi, self.handle(), size, base.handle())).flatten()
    }
}

/// The ranks that the first `size` members of a group have in another.
fn ranks_in(abi: &Abi, group: Group, size: usize, base: Group) -> Option<Vec<Option<u32>>> {
    let ranks: Vec<c_int> = (0..c_int::try_from(size).ok()?).collect();
    let mut in_base = vec![abi.undefined; size];
    let words = [group.raw(), size, ranks.as_ptr() as usize, base.raw(), in_base.as_mut_ptr() as usize];
    // SAFETY: (MPI_Group, int n, const int ranks1[n], MPI_Group, int ranks2[n]).
    let known = unsafe { call(&communicator::MPI_Group_translate_ranks, words) };
    known.then(|| in_base.iter().map(|&rank| u32::try_from(rank).ok()).collect())
}

impl Drop for OwnedGroup<'_> {
    fn drop(&mut self) {
        if self.place != 0 {
            // SAFETY: (MPI_Group *), a group that `of` has made.
            unsafe { call(&communicator::MPI_Group_free, [&raw mut self.place as *mut c_void as usize]) };
        }
    }
}
