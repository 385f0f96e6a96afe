//! The plan of one member of a collective: the steps of the algorithm, and the data that they move.

use titr_common::collectives::{self, CallMode, Library, RootRole, Selection, Step, neighborhood_steps};
use titr_common::event::{Collective, CollectiveKind, CommId, Rank, Volumes};
use titr_common::units::Bytes;
use titr_wrappers::Abi;
use titr_wrappers::argument::Comm;
use titr_wrappers::pmpi;
use titr_wrappers::pmpi::exchange::{Exchange, Reduction, Space};
use titr_wrappers::pmpi::region::Region;

use super::clock::Clock;
use super::data::{Data, Groups};
use super::execution::{self, Run};
use super::neighborhood::Ordered;
use super::refusal::{is_aliased, refused_datatype};
use super::{Description, Engine, Operation, Timing};
use crate::collective_call::CollectiveCall;
use crate::neighborhood_call::NeighborhoodCall;
use crate::ranks::Ranks;

/// A collective to execute. It is always in a box: the stack may be a coroutine's.
#[derive(Clone)]
pub(super) struct Plan {
    abi: &'static Abi,
    members: Ranks,
    steps: Vec<Step>,
    data: Data,
    /// The number that the member gives, if that is its data.
    number: Option<u64>,
}

impl Plan {
    /// The plan for a call; `None` if MPI itself has to report an error in the arguments.
    #[inline(never)]
    pub(super) fn new(engine: &Engine, call: &CollectiveCall<'_>, description: &Description) -> Option<Box<Self>> {
        let Description { members, operation: Operation::Collective(collective, first_group), .. } = description else {
            return None;
        };
        let (selection, first_group) = (&engine.settings.selection, *first_group);
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
        let mode = match description.timing {
            Timing::Blocking => CallMode::Blocking,
            Timing::Nonblocking(_) | Timing::Persistent(_) => CallMode::Nonblocking,
        };
        let call = collectives::Call::of(collective, me, size, root).in_mode(mode);
        let steps = match first_group {
            None => selection.steps(&call),
            Some(first_group) => selection.inter_steps(&call, first_group, role),
        };
        Some(Box::new(Self { abi: engine.abi, members: members.clone(), steps, data, number: None }))
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
        let ordered = Ordered::of(engine.settings.selection.library, call, neighborhood, neighbors)?;
        let steps = neighborhood_steps(&ordered.neighborhood, |rank| members.place(rank).ok_or(())).ok()?;
        Some(Box::new(Self { abi: engine.abi, members: members.clone(), steps, data: ordered.data, number: None }))
    }

    /// The plan to find the bits that the numbers of all `members`, including this rank, have in common.
    #[inline(never)]
    pub(super) fn agreement(abi: &'static Abi, rank: u32, members: &Ranks, number: u64) -> Option<Box<Self>> {
        let me = members.place(Rank(rank))?;
        let reduction = Some(Reduction::new(abi.band, abi.int64)?);
        let (kind, send, element) = (CollectiveKind::Allreduce, Volumes::Each(NUMBER), NUMBER);
        let collective = Collective { kind, send, element, ..Collective::barrier(CommId::WORLD) };
        let call = collectives::Call::of(&collective, me, members.len() as u32, 0);
        let steps = Selection::from(Library::Mpich).steps(&call);
        let data = Data { reduction, ..Data::default() };
        Some(Box::new(Self { abi, members: members.clone(), steps, data, number: Some(number) }))
    }

    /// Whether the host can read all data of the program that the plan moves.
    pub(super) fn is_readable(&self) -> bool {
        self.data.is_readable()
    }

    /// Begins to carry it out, with messages of `tag` on a communicator `world` that has the ranks of the world.
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "the stack may be a coroutine's")]
    pub(super) fn begin(self: Box<Self>, world: Comm, tag: i32, clock: Clock) -> Box<Run> {
        let mut exchange = Exchange::new(self.abi, world, tag, self.lens());
        if let Some(number) = self.number {
            // There is room.
            let _ = exchange.put(Space::Send, number);
        }
        let Self { members, steps, data, .. } = *self;
        Box::new(Run::new(exchange, clock, members, steps, data))
    }

    /// The lengths of the three buffers: as long as the data, and as the steps' slices need them.
    fn lens(&self) -> [u64; 3] {
        let total = |regions: &[Region]| regions.iter().map(Region::bytes).sum();
        let number = self.number.map_or(0, |_| NUMBER.0);
        let mut lens = [number.max(total(&self.data.send)), number.max(total(&self.data.recv)), 0];
        for slice in self.steps.iter().flat_map(execution::slices) {
            let end = slice.offset.0.saturating_add(slice.len.0);
            if let Some(len) = lens.get_mut(execution::space(slice.buffer) as usize) {
                *len = end.max(*len);
            }
        }
        lens
    }
}

/// The length of a number.
const NUMBER: Bytes = Bytes(8);
