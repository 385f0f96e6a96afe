//! Groups of ranks that make the same calls, apart from peers, volumes and tags.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;

use crate::failure::{Failure, StepPlace};
use crate::grid::{Grid, Role};
use crate::recording::{CallId, Calls, Recording, SkeletonId};

/// The ranks of some roles, in each recording. They make the same calls.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub roles: Vec<Role>,
    /// The ranks in each recording, in order.
    pub ranks: Vec<Vec<Rank>>,
}

/// The calls of a group's ranks in one step: one for each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ColumnId(pub u32);

/// The calls of a group's ranks in a recording, step by step; each different column once.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub steps: Vec<ColumnId>,
    distinct: Vec<Box<[CallId]>>,
    /// The first step with each column.
    pub first: Vec<usize>,
}

impl Columns {
    /// The columns of these ranks, which make the same number of calls.
    pub(crate) fn of(recording: &Recording, ranks: &[Rank]) -> Self {
        let steps = ranks.first().map_or(0, |rank| recording.ranks[rank.0 as usize].len());
        let mut columns = Self::default();
        let mut known: FxHashMap<Box<[CallId]>, ColumnId> = FxHashMap::default();
        for step in 0..steps {
            let column: Box<[CallId]> = ranks.iter().map(|rank| recording.ranks[rank.0 as usize][step].call).collect();
            let next = ColumnId(columns.distinct.len() as u32);
            let id = *known.entry(column).or_insert_with_key(|column| {
                columns.distinct.push(column.clone());
                columns.first.push(step);
                next
            });
            columns.steps.push(id);
        }
        columns
    }

    /// The call of each rank.
    pub(crate) fn calls(&self, ColumnId(id): ColumnId) -> &[CallId] {
        &self.distinct[id as usize]
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = ColumnId> {
        (0..self.distinct.len() as u32).map(ColumnId)
    }

    pub(crate) fn skeleton(&self, column: ColumnId, calls: &Calls) -> Option<SkeletonId> {
        self.calls(column).first().map(|&call| calls.parts(call).skeleton)
    }
}

/// The groups of the ranks of all recordings in these grids. Of roles that the largest recording has, those with the same calls
/// and tags in all recordings are a group.
pub(crate) fn groups(recordings: &[Recording], grids: &[Grid], calls: &Calls) -> Result<Vec<Group>, Failure> {
    let mut roles: BTreeMap<Role, Vec<Vec<Rank>>> = BTreeMap::new();
    for (number, grid) in grids.iter().enumerate() {
        for rank in (0..grid.places()).map(Rank) {
            let ranks = roles.entry(grid.role(rank)).or_insert_with(|| vec![Vec::new(); grids.len()]);
            ranks[number].push(rank);
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    // Roles that the largest recording does not have come last.
    let is_in_largest = |ranks: &Vec<Vec<Rank>>| ranks.last().is_some_and(|ranks| !ranks.is_empty());
    let (first, last): (Vec<_>, Vec<_>) = roles.into_iter().partition(|(_, ranks)| is_in_largest(ranks));
    for (role, ranks) in first.into_iter().chain(last) {
        for (number, ranks) in ranks.iter().enumerate() {
            same_calls(&recordings[number], number, ranks, calls)?;
        }
        let joined = groups.iter_mut().find(|group| {
            let pairs = group.ranks.iter().zip(&ranks).enumerate();
            let mut compared = pairs.filter_map(|(number, (ours, theirs))| {
                let (&one, &other) = ours.first().zip(theirs.first())?;
                Some(have_same_tags(&recordings[number], one, other, calls))
            });
            compared.next() == Some(true) && compared.all(|is_same| is_same)
        });
        match joined {
            Some(group) => {
                group.roles.push(role);
                group.ranks.iter_mut().zip(ranks).for_each(|(ours, theirs)| ours.extend(theirs));
            }
            None if is_in_largest(&ranks) => groups.push(Group { roles: vec![role], ranks }),
            // If all ranks make the same calls, their roles do not matter.
            None => {
                let [group] = &mut groups[..] else { return Err(Failure::Short) };
                if group.ranks.iter().zip(&ranks).any(|(ours, theirs)| !ours.is_empty() && !theirs.is_empty()) {
                    return Err(Failure::Short);
                }
                group.ranks.iter_mut().zip(ranks).for_each(|(ours, theirs)| ours.extend(theirs));
            }
        }
    }
    Ok(groups)
}

/// The ranks of each role in a grid of a recording; `None` if those of a role make different calls.
pub(crate) fn roles(recording: &Recording, grid: &Grid, calls: &Calls) -> Option<Vec<Vec<Rank>>> {
    let mut roles: BTreeMap<Role, Vec<Rank>> = BTreeMap::new();
    for rank in (0..grid.places()).map(Rank) {
        roles.entry(grid.role(rank)).or_default().push(rank);
    }
    let have_same_calls = roles.values().all(|ranks| same_calls(recording, 0, ranks, calls).is_ok());
    have_same_calls.then(|| roles.into_values().collect())
}

/// Checks that ranks with one role make the same calls.
fn same_calls(recording: &Recording, number: usize, ranks: &[Rank], calls: &Calls) -> Result<(), Failure> {
    let Some((&first, others)) = ranks.split_first() else { return Ok(()) };
    for &other in others {
        if let Some(step) = difference(recording, first, other, calls) {
            let place = |rank| StepPlace { recording: number, rank, step };
            return Err(Failure::Ranks(place(first), place(other)));
        }
    }
    Ok(())
}

/// The first step in which two ranks make different calls.
fn difference(recording: &Recording, one: Rank, other: Rank, calls: &Calls) -> Option<usize> {
    let steps = |rank: Rank| recording.ranks[rank.0 as usize].as_slice();
    let (one, other) = (steps(one), steps(other));
    let skeleton = |call| calls.parts(call).skeleton;
    let differs = |(one, other): (_, _)| skeleton(one) != skeleton(other);
    let pairs = one.iter().zip(other).map(|(one, other)| (one.call, other.call));
    let found = pairs.into_iter().position(differs);
    found.or((one.len() != other.len()).then_some(one.len().min(other.len())))
}

/// Whether two ranks make the same calls with the same tags.
fn have_same_tags(recording: &Recording, one: Rank, other: Rank, calls: &Calls) -> bool {
    let tags = |rank: Rank| recording.ranks[rank.0 as usize].iter().map(|step| &calls.parts(step.call).tags);
    difference(recording, one, other, calls).is_none() && tags(one).eq(tags(other))
}
