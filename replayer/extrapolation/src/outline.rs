//! The outline of a group's calls: single calls, and *stages*, in which each rank exchanges data with the ranks whose coordinate in
//! one dimension differs from its own in the lowest bit, the next, and so on up to the highest, or the other way round, as
//! butterflies, recursive doubling and recursive halving do. There are as many stages as the coordinate has bits.
//!
//! The largest recording has the outline; other recordings are then read along with it.

use titr_common::event::Rank;

use crate::grid::{Grid, MOST_DIMENSIONS};
use crate::group::{ColumnId, Columns};
use crate::peer::differ_in_bit;
use crate::recording::Calls;

/// The largest number of calls in a stage.
const LONGEST_STAGE: usize = 12;

/// Stages along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stages {
    pub dimension: usize,
    /// Whether the highest bit comes first.
    pub is_descending: bool,
    /// The number of calls in a stage.
    pub calls: usize,
}

/// A part of an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Call,
    /// All stages along a dimension.
    Stages(Stages),
}

/// The calls of a group in one recording.
pub(crate) struct GroupCalls<'r> {
    pub grid: &'r Grid,
    pub columns: Columns,
    calls: &'r Calls,
    /// For each column and each of its peers the dimension and the bit in which all ranks differ from their peer.
    bits: Vec<Vec<Option<(usize, u32)>>>,
}

impl Stages {
    /// The number of stages in a grid; `None` if the side is no power of two.
    pub(crate) fn number(self, grid: &Grid) -> Option<usize> {
        grid.stages(self.dimension).map(|stages| stages as usize)
    }

    /// The bit of a stage, of so many stages.
    pub(crate) fn bit(self, stage: usize, stages: usize) -> u32 {
        (if self.is_descending { stages - 1 - stage } else { stage }) as u32
    }
}

impl<'r> GroupCalls<'r> {
    pub(crate) fn new(grid: &'r Grid, ranks: &[Rank], columns: Columns, calls: &'r Calls) -> Self {
        let bits = columns.ids().map(|id| bits(grid, ranks, &columns, id, calls)).collect();
        Self { grid, columns, calls, bits }
    }

    fn column(&self, step: usize) -> Option<ColumnId> {
        self.columns.steps.get(step).copied()
    }

    /// The outline, each item with its first step.
    pub(crate) fn outline(&self) -> Vec<(usize, Item)> {
        let (mut outline, mut step) = (Vec::new(), 0);
        while step < self.columns.steps.len() {
            let stages = self.stages_from(step);
            outline.push((step, stages.map_or(Item::Call, Item::Stages)));
            let steps = stages.and_then(|stages| Some(stages.calls * stages.number(self.grid)?));
            step += steps.unwrap_or(1);
        }
        outline
    }

    /// The stages that begin at `step`, at least two.
    fn stages_from(&self, step: usize) -> Option<Stages> {
        for calls in 1..=LONGEST_STAGE {
            let in_stage = (step..step + calls).map(|step| self.column(step)).collect::<Option<Vec<_>>>()?;
            let mut differing = in_stage.iter().flat_map(|column| &self.bits[column.0 as usize]).flatten();
            let Some(&(dimension, bit)) = differing.next() else { continue };
            let stages = self.grid.stages(dimension).filter(|&stages| stages > 1);
            let found = Stages { dimension, is_descending: bit > 0, calls };
            let fits = |stages| found.bit(0, stages) == bit && self.are_stages(step, found, stages);
            if stages.is_some_and(|stages| fits(stages as usize)) {
                return Some(found);
            }
        }
        None
    }

    /// Whether all these stages begin at `step`.
    pub(crate) fn are_stages(&self, step: usize, stages: Stages, number: usize) -> bool {
        (0..stages.calls).all(|call| {
            let column = |stage: usize| self.column(step + stage * stages.calls + call);
            let Some(first) = column(0) else { return false };
            (0..number)
                .all(|stage| column(stage).is_some_and(|column| self.is_in_stage(column, first, stages, stage, number)))
        })
    }

    /// Whether a call is the call `first` of the first stage, in another stage: its peers differ in the bit of the stage, or are
    /// those of the first.
    fn is_in_stage(&self, column: ColumnId, first: ColumnId, stages: Stages, stage: usize, number: usize) -> bool {
        let bits = |column: ColumnId| &self.bits[column.0 as usize];
        if self.columns.skeleton(column, self.calls) != self.columns.skeleton(first, self.calls) {
            return false;
        }
        let is_stage =
            |found: Option<(usize, u32)>, stage| found == Some((stages.dimension, stages.bit(stage, number)));
        bits(column).iter().zip(bits(first)).enumerate().all(|(peer, (&here, &there))| {
            if is_stage(there, 0) {
                is_stage(here, stage)
            } else {
                let peers =
                    |column| self.columns.calls(column).iter().map(move |&call| self.calls.parts(call).peers[peer]);
                peers(column).eq(peers(first))
            }
        })
    }

    /// Whether the call at a step has the skeleton of the call at a step of another recording.
    pub(crate) fn has_skeleton(&self, step: usize, other: &Self, there: usize) -> bool {
        let here = self.column(step).map(|column| self.columns.skeleton(column, self.calls));
        here.is_some() && here == other.column(there).map(|column| other.columns.skeleton(column, other.calls))
    }
}

/// For each peer of a column the dimension and the bit in which all ranks differ from it.
fn bits(grid: &Grid, ranks: &[Rank], columns: &Columns, column: ColumnId, calls: &Calls) -> Vec<Option<(usize, u32)>> {
    let column = columns.calls(column);
    let peers = column.first().map_or(0, |&call| calls.parts(call).peers.len());
    let bit_of = |peer: usize| {
        let pairs = || ranks.iter().zip(column).map(|(&rank, &call)| (rank, calls.parts(call).peers[peer]));
        let (rank, other) = pairs().next()?;
        let (own, place) = (grid.coordinates(rank), grid.coordinates(other));
        let dimension = (0..MOST_DIMENSIONS).find(|&dimension| own[dimension] != place[dimension])?;
        let bit = (own[dimension] ^ place[dimension]).trailing_zeros();
        pairs().all(|(rank, peer)| differ_in_bit(grid, rank, peer, dimension, bit)).then_some((dimension, bit))
    };
    (0..peers).map(bit_of).collect()
}
