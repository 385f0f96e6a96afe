//! The plan of one member of a collective: the steps of the algorithm, and the data that they move.

use titr_common::collectives::{self, RootRole, Step, neighborhood_steps};
use titr_common::event::{CollectiveKind, Rank};
use titr_wrappers::Abi;
use titr_wrappers::pmpi;

use super::data::{Data, Groups};
use super::neighborhood::Ordered;
use super::refusal::{is_aliased, refused_datatype};
use super::{Description, Engine, Operation};
use crate::collective_call::CollectiveCall;
use crate::neighborhood_call::NeighborhoodCall;
use crate::ranks::Ranks;

/// A collective to execute. It is always in a box: the stack may be a coroutine's.
pub(super) struct Plan {
    pub(super) abi: &'static Abi,
    pub(super) members: Ranks,
    pub(super) steps: Vec<Step>,
    pub(super) data: Data,
}

impl Plan {
    /// The plan for a call; `None` if MPI itself has to report an error in the arguments.
    #[inline(never)]
    pub(super) fn new(engine: &Engine, call: &CollectiveCall<'_>, description: &Description) -> Option<Box<Self>> {
        let Description { members, operation: Operation::Collective(collective, first_group), .. } = description else {
            return None;
        };
        let (selection, first_group) = (&engine.selection, *first_group);
        let size = members.len() as u32;
        let rank = u32::try_from(pmpi::comm_rank(description.comm)).ok()?;
        let (me, root, role) = match first_group {
            None => {
                // The recorder has found the root among the members.
                let root = call.root.map_or(0, |root| u32::try_from(root).unwrap_or(0));
                (rank, root, RootRole::of(collective, root == rank))
            }
            // MPI has no such collectives of two groups (MPI 4.0 §6.11).
            Some(_) if matches!(call.kind, CollectiveKind::Scan | CollectiveKind::Exscan) => return None,
            Some(_) => {
                let me = members.place(Rank(engine.rank))?;
                let root = collective.root.map_or(Some(0), |root| members.place(root))?;
                (me, root, RootRole::of(collective, root == me))
            }
        };
        let groups = Groups::of(size, first_group, me);
        let data = Data::of(call, rank as usize, groups, role, refused_datatype(engine.abi))?;
        let is_aliased = first_group.is_none() && is_aliased(engine.abi, call, rank as usize, rank == root);
        if is_aliased || data.reduction.is_some_and(|reduction| !engine.allows(&reduction)) {
            return None;
        }
        let call = collectives::Call::of(collective, me, size, root);
        let steps = match first_group {
            None => selection.steps(&call),
            Some(first_group) => selection.inter_steps(&call, first_group, role),
        };
        Some(Box::new(Self { abi: engine.abi, members: members.clone(), steps, data }))
    }

    /// The plan for a call of a neighbourhood collective; `None` as for the others.
    #[inline(never)]
    pub(super) fn among_neighbors(
        engine: &Engine,
        call: &NeighborhoodCall<'_>,
        description: &Description,
    ) -> Option<Box<Self>> {
        let Description { members, operation: Operation::Neighborhood { neighborhood, neighbors }, .. } = description
        else {
            return None;
        };
        if refused_datatype(engine.abi).is_some_and(|datatype| call.send.have(datatype) || call.recv.have(datatype)) {
            return None;
        }
        let ordered = Ordered::of(engine.selection.library, call, neighborhood, neighbors)?;
        let steps = neighborhood_steps(&ordered.neighborhood, |rank| members.place(rank).ok_or(())).ok()?;
        Some(Box::new(Self { abi: engine.abi, members: members.clone(), steps, data: ordered.data }))
    }

    /// Whether the host can read all data of the program that the plan moves.
    pub(super) fn is_readable(&self) -> bool {
        self.data.is_readable()
    }
}
