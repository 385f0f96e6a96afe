//! The data of a neighbourhood collective, and the order in which a member sends it.
//!
//! The order matters if a neighbour occurs several times, as in a periodic dimension of one or two ranks: the messages
//! to it are received in the order in which they are sent. MPI requires those of a Cartesian topology to arrive as if
//! the neighbours before and behind were different ranks (MPI 4.0 §8.6). Not all libraries do so, and the program gets
//! the behaviour of its library (tried with Open MPI 4.1 and MPICH 4.0):
//!
//! | library | function | topology | order |
//! | --- | --- | --- | --- |
//! | Open MPI | all | Cartesian | in each dimension, the neighbour behind before the one before |
//! | MPICH | `MPI_Neighbor_alltoall` | any | the last one first |
//! | both | all others | any | the first one first |

use titr_common::collectives::Library;
use titr_common::event::{NeighborOp, Neighborhood};
use titr_wrappers::pmpi::Neighbors;

use super::data::Data;
use crate::neighborhood_call::NeighborhoodCall;

/// A neighbourhood collective whose destinations are in the order in which they are sent to, and its data in this order.
pub(super) struct Ordered {
    pub(super) neighborhood: Neighborhood,
    pub(super) data: Data,
}

impl Ordered {
    /// The order for a call; `None` if MPI itself has to report an error in the arguments.
    pub(super) fn of(
        library: Library,
        call: &NeighborhoodCall<'_>,
        neighborhood: &Neighborhood,
        neighbors: &Neighbors,
    ) -> Option<Self> {
        let places = |ranks: &[i32]| places(ranks).collect::<Vec<_>>();
        let mut sends: Vec<_> = places(&neighbors.destinations).into_iter().zip(&neighborhood.sends).collect();
        match (library, call.op) {
            (Library::OpenMpi | Library::SimGridOpenMpi, _) if neighbors.is_cartesian => {
                sends.sort_by_key(|&(place, _)| place ^ 1);
            }
            (Library::Mpich | Library::SimGrid, NeighborOp::Alltoall) => sends.reverse(),
            (Library::OpenMpi | Library::SimGridOpenMpi | Library::Mpich | Library::SimGrid, _) => {}
        }
        let send = sends.iter().map(|&(place, _)| call.send.region(place)).collect::<Option<_>>()?;
        let recv =
            places(&neighbors.sources).into_iter().map(|place| call.recv.region(place)).collect::<Option<_>>()?;
        let sends = sends.into_iter().map(|(_, &volume)| volume).collect();
        Some(Self {
            neighborhood: Neighborhood { sends, recvs: neighborhood.recvs.clone(), ..*neighborhood },
            data: Data { send, recv, ..Data::default() },
        })
    }
}

/// The places of those neighbours that are not `MPI_PROC_NULL`.
fn places(ranks: &[i32]) -> impl Iterator<Item = usize> {
    ranks.iter().enumerate().filter(|&(_, &rank)| rank >= 0).map(|(place, _)| place)
}
