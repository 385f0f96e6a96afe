//! The neighbours of a rank in a process topology.

use std::ffi::c_int;

use super::comm_rank;
use crate::abi::Abi;
use crate::argument::Comm;

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
#[must_use]
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
