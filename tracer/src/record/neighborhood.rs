//! Neighbourhood collectives. A neighbour that is `MPI_PROC_NULL`, as at the edge of a grid, moves no data and is left
//! out.

use titr_common::event::{Event, Neighborhood, Rank};
use titr_common::units::Bytes;
use titr_wrappers::functions::topology::Topology;
use titr_wrappers::pmpi::{self, Neighbors};

use super::Outcome;
use super::collective::{Collectives, begin};
use super::communicator_table::CommunicatorTable;
use super::omitted_calls::Omission;
use super::request_table::RequestTable;
use super::stream::EventStream;
use super::type_sizes::TypeSizes;
use crate::collective_call::Start;
use crate::extended::{Description, Operation};
use crate::neighborhood_call::{NeighborBlocks, NeighborhoodCall};
use crate::ranks::Ranks;

impl Collectives {
    /// Records a neighbourhood collective.
    pub(super) fn neighborhood(
        &mut self,
        call: &Topology<'_>,
        communicators: &mut CommunicatorTable,
        requests: &mut RequestTable,
        stream: &mut EventStream,
    ) -> Outcome {
        // The rest makes communicators, see `communicators`.
        let call = NeighborhoodCall::of(call).ok_or(Omission::Untraced)?;
        let collective = self.among_neighbors(&call, &pmpi::neighbors(self.abi, call.comm), communicators);
        let completion = begin(&call.start, collective.is_ok(), requests);
        stream.write(&Event::Neighborhood(collective?, completion));
        Ok(())
    }

    /// Describes a neighbourhood collective to the extended mode.
    pub(super) fn describe_neighborhood(
        &mut self,
        call: &NeighborhoodCall<'_>,
        communicators: &mut CommunicatorTable,
    ) -> Option<Description> {
        let neighbors = pmpi::neighbors(self.abi, call.comm);
        let neighborhood = self.among_neighbors(call, &neighbors, communicators).ok()?;
        let known = communicators.known(call.comm).ok()?;
        Some(Description {
            comm: call.comm,
            id: known.id,
            members: known.members.clone(),
            is_blocking: matches!(call.start, Start::Blocking),
            operation: Operation::Neighborhood { neighborhood, neighbors },
        })
    }

    fn among_neighbors(
        &mut self,
        call: &NeighborhoodCall<'_>,
        neighbors: &Neighbors,
        communicators: &mut CommunicatorTable,
    ) -> Result<Neighborhood, Omission> {
        let known = communicators.known(call.comm)?;
        let mut volumes = |ranks, blocks| volumes(ranks, blocks, &known.members, &mut self.type_sizes);
        let sends = volumes(&neighbors.destinations, &call.send);
        let recvs = volumes(&neighbors.sources, &call.recv);
        Ok(Neighborhood { comm: known.id, op: call.op, sends, recvs })
    }
}

/// The volumes of the blocks of these neighbours.
fn volumes(
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
