//! A rank's numbers of communicators and groups.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use titr_common::event::Rank;

use super::DumpiCommunicator;
use super::call::{COMM_SELF, COMM_WORLD, Combine, DumpiCall, GROUP_EMPTY, Handle, RankRange};

/// The communicators and groups that a rank has.
pub(in crate::input::dumpi) struct Handles {
    me: Rank,
    comms: FxHashMap<Handle, Arc<DumpiCommunicator>>,
    groups: FxHashMap<Handle, Arc<[Rank]>>,
}

/// The number of `MPI_COMM_WORLD` among the communicators of the program.
pub(super) const WORLD_IDENTITY: u32 = 0;
/// The number of every `MPI_COMM_SELF`: of its two ends, one rank is both.
pub(super) const SELF_IDENTITY: u32 = 1;

impl Handles {
    pub(in crate::input::dumpi) fn new(me: Rank, world: &Arc<[Rank]>) -> Self {
        let comm = |identity, members| {
            Arc::new(DumpiCommunicator { identity, members, remote: Arc::default(), grid: Arc::default() })
        };
        let own: Arc<[Rank]> = Arc::new([me]);
        let world = (COMM_WORLD, comm(WORLD_IDENTITY, Arc::clone(world)));
        let comms = [world, (COMM_SELF, comm(SELF_IDENTITY, own))].into_iter().collect();
        Self { me, comms, groups: [(GROUP_EMPTY, Arc::default())].into_iter().collect() }
    }

    pub(in crate::input::dumpi) fn comm(&self, comm: Handle) -> Result<&Arc<DumpiCommunicator>, String> {
        self.comms.get(&comm).ok_or_else(|| format!("communicator {comm}, which no call before has made"))
    }

    pub(in crate::input::dumpi) fn group(&self, group: Handle) -> Result<&Arc<[Rank]>, String> {
        self.groups.get(&group).ok_or_else(|| format!("group {group}, which no call before has made"))
    }

    pub(in crate::input::dumpi) fn add(&mut self, new: Handle, comm: Arc<DumpiCommunicator>) {
        self.comms.insert(new, comm);
    }

    pub(in crate::input::dumpi) fn remove(&mut self, comm: Handle) {
        self.comms.remove(&comm);
    }

    /// Carries out a call that makes no communicator.
    pub(in crate::input::dumpi) fn apply(&mut self, call: &DumpiCall) -> Result<(), String> {
        match call {
            DumpiCall::Make { .. } => {}
            DumpiCall::FreeComm(comm) => self.remove(*comm),
            DumpiCall::GroupOf { comm, is_remote, new } => {
                // Of a communicator with another world there is no group.
                if let Some(comm) = self.comms.get(comm) {
                    let group = if *is_remote { &comm.remote } else { &comm.members };
                    self.groups.insert(*new, Arc::clone(group));
                }
            }
            DumpiCall::Combine { combine, one, other, new } => {
                let group = combine.of(self.group(*one)?, self.group(*other)?);
                self.groups.insert(*new, group.into());
            }
            DumpiCall::Select { group, ranks, is_included, new } => {
                let selected = select(self.group(*group)?, ranks, *is_included)?;
                self.groups.insert(*new, selected.into());
            }
            DumpiCall::FreeGroup(group) => _ = self.groups.remove(group),
            DumpiCall::OtherGroup(_) => {}
        }
        Ok(())
    }

    /// The rank that the handles belong to.
    pub(super) fn me(&self) -> Rank {
        self.me
    }
}

impl Combine {
    fn of(self, one: &[Rank], other: &[Rank]) -> Vec<Rank> {
        let [in_one, in_other] = [one, other].map(|group| group.iter().copied().collect::<FxHashSet<Rank>>());
        let first = one.iter().copied();
        match self {
            Self::Union => first.chain(other.iter().copied().filter(|rank| !in_one.contains(rank))).collect(),
            Self::Intersection => first.filter(|rank| in_other.contains(rank)).collect(),
            Self::Difference => first.filter(|rank| !in_other.contains(rank)).collect(),
        }
    }
}

fn select(group: &[Rank], ranks: &[RankRange], is_included: bool) -> Result<Vec<Rank>, String> {
    let mut places = Vec::new();
    for rank in ranks.iter().flat_map(|range| range.ranks()) {
        let place = usize::try_from(rank).ok().filter(|&place| place < group.len());
        places.push(place.ok_or_else(|| format!("a rank that is not in a group of {}", group.len()))?);
        if places.len() > group.len() {
            return Err(format!("more ranks than there are in a group of {}", group.len()));
        }
    }
    if is_included {
        return Ok(places.into_iter().map(|at| group[at]).collect());
    }
    let left_out: FxHashSet<usize> = places.into_iter().collect();
    let kept = group.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    Ok(kept.map(|(_, &rank)| rank).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_combined_in_the_order_that_mpi_says() {
        let group = |ranks: &[u32]| ranks.iter().map(|&rank| Rank(rank)).collect::<Vec<_>>();
        let (one, other) = (group(&[4, 1, 2]), group(&[2, 3, 4]));
        assert_eq!(Combine::Union.of(&one, &other), group(&[4, 1, 2, 3]));
        assert_eq!(Combine::Intersection.of(&one, &other), group(&[4, 2]));
        assert_eq!(Combine::Difference.of(&one, &other), group(&[1]));
        let ends = RankRange { first: 2, last: 0, stride: -2 };
        assert_eq!(select(&one, &[ends], true), Ok(group(&[2, 4])));
        assert_eq!(select(&one, &[ends], false), Ok(group(&[1])));
        assert!(select(&one, &[RankRange::of(3)], true).is_err());
    }

    /// A damaged file may name two billion ranks.
    #[test]
    fn no_more_ranks_are_selected_than_there_are() {
        let group = [Rank(0), Rank(1)];
        let endless = RankRange { first: 0, last: i32::MAX, stride: 1 };
        assert!(select(&group, &[endless], true).unwrap_err().contains("not in a group of 2"));
        assert!(select(&group, &[RankRange::of(1); 3], true).unwrap_err().contains("more ranks"));
    }
}
