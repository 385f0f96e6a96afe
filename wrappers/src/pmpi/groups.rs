//! The ranks of the members of one group in another.

use std::ffi::c_int;

use super::{ErrorCode, comm_is_inter, comm_rank, comm_remote_size, comm_size};
use crate::abi::Abi;
use crate::argument::{Comm, Group, HandleCell};
use crate::handle::GroupKind;

/// The ranks of the members of a communicator in another one, in order. `None` stands for a member that the other one
/// does not have.
pub struct Translation {
    /// The members of its own (or local) group.
    pub local: Vec<Option<u32>>,
    /// The members of the remote group of an inter-communicator.
    pub remote: Vec<Option<u32>>,
}

/// The ranks of the members of `comm` in `base`; `None` if MPI does not tell.
pub fn translate(abi: &Abi, comm: Comm, base: Comm) -> Option<Translation> {
    translate_to(abi, comm, &KnownGroup::of(base)?)
}

/// The ranks of the members of `comm` in a group; `None` if MPI does not tell.
pub fn translate_to(abi: &Abi, comm: Comm, base: &KnownGroup) -> Option<Translation> {
    // The communicators are asked how many members they have: MPICH 5.0.2 says that the group of a communicator that
    // MPI_Cart_create has made smaller than its parent is as large as the parent.
    let local = KnownGroup::of(comm)?.ranks_in(abi, comm_size(comm), base)?;
    let remote = if comm_is_inter(comm) {
        KnownGroup::remote_of(comm)?.ranks_in(abi, comm_remote_size(comm), base)?
    } else {
        Vec::new()
    };
    Some(Translation { local, remote })
}

/// The ranks of the members of `group` in `base`; `None` if MPI does not tell.
pub fn translate_group(abi: &Abi, group: Group, base: Comm) -> Option<Vec<Option<u32>>> {
    let size = usize::try_from(int_of!(MPI_Group_size(group))?).ok()?;
    ranks_in(abi, group, size, KnownGroup::of(base)?.0.get(abi))
}

/// A group to find the members of communicators in. It is freed when the value is dropped.
#[derive(Debug)]
pub struct KnownGroup(HandleCell<GroupKind>);

impl KnownGroup {
    fn of(comm: Comm) -> Option<Self> {
        // SAFETY: (MPI_Comm, MPI_Group *).
        Self::filled(|cell| unsafe { call!(MPI_Comm_group(comm, cell.address())) })
    }

    /// The remote group of an inter-communicator.
    pub fn remote_of(comm: Comm) -> Option<Self> {
        // SAFETY: (MPI_Comm, MPI_Group *).
        Self::filled(|cell| unsafe { call!(MPI_Comm_remote_group(comm, cell.address())) })
    }

    fn filled(fill: impl FnOnce(&mut HandleCell<GroupKind>) -> Result<(), ErrorCode>) -> Option<Self> {
        let mut cell = HandleCell::empty();
        // Owned only if it was made.
        fill(&mut cell).ok().map(|()| Self(cell))
    }

    /// The ranks of its first `size` members. A size of 0 means that MPI did not tell how many there are.
    fn ranks_in(&self, abi: &Abi, size: usize, base: &Self) -> Option<Vec<Option<u32>>> {
        (size > 0).then(|| ranks_in(abi, self.0.get(abi), size, base.0.get(abi))).flatten()
    }
}

impl Drop for KnownGroup {
    fn drop(&mut self) {
        // SAFETY: (MPI_Group *), a group that MPI has made.
        let _ = unsafe { call!(MPI_Group_free(self.0.address())) };
    }
}

/// The ranks that the first `size` members of a group have in another.
fn ranks_in(abi: &Abi, group: Group, size: usize, base: Group) -> Option<Vec<Option<u32>>> {
    let count = c_int::try_from(size).ok()?;
    let ranks: Vec<c_int> = (0..count).collect();
    let mut in_base: Vec<c_int> = vec![abi.undefined; size];
    // SAFETY: (MPI_Group, int n, const int ranks1[n], MPI_Group, int ranks2[n]).
    unsafe { call!(MPI_Group_translate_ranks(group, count, ranks.as_ptr(), base, in_base.as_mut_ptr())) }.ok()?;
    Some(in_base.iter().map(|&rank| u32::try_from(rank).ok()).collect())
}

/// The neighbours of this rank in a topology, by their ranks there; `MPI_PROC_NULL` where a side has none.
#[derive(Clone, Debug, Default)]
pub struct Neighbors {
    /// The ranks that this rank receives from.
    pub sources: Vec<i32>,
    /// The ranks that this rank sends to.
    pub destinations: Vec<i32>,
    /// Whether the topology is a Cartesian one, with a neighbour before and one behind in each dimension.
    pub is_cartesian: bool,
}

/// The neighbours of this rank in the order of neighbourhood collectives (MPI 4.0 §8.6); none without a topology.
pub fn neighbors(abi: &Abi, comm: Comm) -> Neighbors {
    let known = match int_of!(MPI_Topo_test(comm)) {
        Some(kind) if kind == abi.cart => cartesian(comm),
        Some(kind) if kind == abi.graph => graph(comm),
        Some(kind) if kind == abi.dist_graph => adjacent(comm),
        _ => None,
    };
    known.unwrap_or_default()
}

/// In each dimension the neighbour before and the neighbour behind.
fn cartesian(comm: Comm) -> Option<Neighbors> {
    let mut all = Vec::new();
    for dimension in 0..int_of!(MPI_Cartdim_get(comm))? {
        let (mut before, mut behind): (c_int, c_int) = (0, 0);
        // SAFETY: (MPI_Comm, int direction, int disp, int *, int *).
        unsafe { call!(MPI_Cart_shift(comm, dimension, 1, &raw mut before, &raw mut behind)) }.ok()?;
        all.extend([before, behind]);
    }
    Some(Neighbors { sources: all.clone(), destinations: all, is_cartesian: true })
}

fn graph(comm: Comm) -> Option<Neighbors> {
    let (rank, mut count): (c_int, c_int) = (comm_rank(comm), 0);
    // SAFETY: (MPI_Comm, int rank, int *).
    unsafe { call!(MPI_Graph_neighbors_count(comm, rank, &raw mut count)) }.ok()?;
    let mut all: Vec<c_int> = vec![0; usize::try_from(count).ok()?];
    // SAFETY: (MPI_Comm, int rank, int max, int neighbors[max]).
    unsafe { call!(MPI_Graph_neighbors(comm, rank, count, all.as_mut_ptr())) }.ok()?;
    Some(Neighbors { sources: all.clone(), destinations: all, is_cartesian: false })
}

fn adjacent(comm: Comm) -> Option<Neighbors> {
    let (mut from, mut to, mut weighted): (c_int, c_int, c_int) = (0, 0, 0);
    // SAFETY: (MPI_Comm, int *, int *, int *).
    unsafe { call!(MPI_Dist_graph_neighbors_count(comm, &raw mut from, &raw mut to, &raw mut weighted)) }.ok()?;
    let list = |count| Some(vec![0; usize::try_from(count).ok()?]);
    let (mut sources, mut destinations): (Vec<c_int>, Vec<c_int>) = (list(from)?, list(to)?);
    let (mut weights_in, mut weights_out): (Vec<c_int>, Vec<c_int>) = (list(from)?, list(to)?);
    let [sources_at, weights_in_at] = [&mut sources, &mut weights_in].map(|list| list.as_mut_ptr());
    let [destinations_at, weights_out_at] = [&mut destinations, &mut weights_out].map(|list| list.as_mut_ptr());
    // SAFETY: (MPI_Comm, int in, int sources[in], int weights[in], int out, int destinations[out], int weights[out]).
    unsafe {
        call!(MPI_Dist_graph_neighbors(comm, from, sources_at, weights_in_at, to, destinations_at, weights_out_at))
    }
    .ok()?;
    Some(Neighbors { sources, destinations, is_cartesian: false })
}
