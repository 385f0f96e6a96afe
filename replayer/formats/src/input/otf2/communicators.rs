//! The ranks of an archive, and its communicators. A location is a rank if it is in the group of MPI's locations; other
//! groups name their members by their places in that group.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;

use super::fields::Otf2Fields;

/// MPI among the paradigms.
pub(super) const MPI: u8 = 4;

/// The rank at a place in the world.
pub(super) fn rank_at(place: usize) -> Rank {
    Rank(u32::try_from(place).unwrap_or(u32::MAX))
}

/// A group of locations, of ranks, or of something else.
pub(super) struct RawGroup {
    id: u32,
    kind: GroupKind,
    /// Whether members are locations where they would be ranks otherwise.
    has_locations: bool,
    members: Vec<u64>,
}

/// The kinds of groups that communicators have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupKind {
    /// The locations of all ranks.
    Locations,
    /// Members of a communicator.
    Members,
    /// The rank itself, for each rank.
    Itself,
    /// A group that MPI does not have.
    Other,
}

impl RawGroup {
    /// Reads the fields of a group.
    pub(super) fn read(f: &mut Otf2Fields<'_>) -> Option<Self> {
        let (id, _name, old_type, number) = (f.u32()?, f.u32()?, f.byte()?, f.u32()?);
        let members = (0..number).map_while(|_| f.u64()).collect::<Vec<_>>();
        if members.len() != number as usize {
            return None;
        }
        // Before OTF2 1.2, groups had no paradigm, and other numbers of types.
        let (kind, flags) = if f.is_empty() {
            let kind = match old_type {
                4 => GroupKind::Members,
                5 => GroupKind::Itself,
                6 => GroupKind::Locations,
                _ => GroupKind::Other,
            };
            (kind, 0)
        } else {
            let (kind, paradigm, flags) = (f.byte()?, f.byte()?, f.u32()?);
            let kind = match kind {
                4 => GroupKind::Locations,
                5 => GroupKind::Members,
                6 => GroupKind::Itself,
                _ => GroupKind::Other,
            };
            (if paradigm == MPI { kind } else { GroupKind::Other }, flags)
        };
        Some(Self { id, kind, has_locations: flags & 1 != 0, members })
    }
}

/// A communicator, or one between two groups.
pub(super) struct RawComm {
    id: u32,
    name: u32,
    groups: (u32, Option<u32>),
    parent: u32,
}

impl RawComm {
    /// Reads the fields of a communicator.
    pub(super) fn read(is_inter: bool, f: &mut Otf2Fields<'_>) -> Option<Self> {
        let (id, name, group) = (f.u32()?, f.u32()?, f.u32()?);
        let other = if is_inter { Some(f.u32()?) } else { None };
        Some(Self { id, name, groups: (group, other), parent: f.u32()? })
    }
}

/// A communicator that the archive defines.
#[derive(Debug)]
pub(super) struct Otf2Communicator {
    /// The number of the definition.
    pub id: u32,
    pub members: Members,
}

/// The members of a communicator.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// All ranks: `MPI_COMM_WORLD`.
    World,
    /// The rank itself.
    Itself,
    /// These ranks, in the communicator's order.
    Group(Arc<[Rank]>),
    /// Two groups.
    Between(Arc<[Rank]>, Arc<[Rank]>),
}

/// All communicators of an archive.
pub(super) struct Otf2Communicators {
    all: FxHashMap<u32, Arc<Otf2Communicator>>,
    /// The number of a communicator of each rank alone, of which `MPI_COMM_SELF` is the first.
    itself: Option<u32>,
    /// Whether all communicators that calls make are made of the world.
    are_of_world: bool,
    world: Arc<[Rank]>,
    /// The members of groups, by their numbers.
    groups: FxHashMap<u32, Arc<[Rank]>>,
    /// The communicators that each rank is a member of, except those of all ranks and of one.
    of_rank: Vec<Vec<u32>>,
}

/// The name of the communicator of all ranks.
const WORLD: &str = "MPI_COMM_WORLD";

impl Otf2Communicators {
    /// The locations of all ranks, and the communicators among them.
    ///
    /// # Errors
    /// If there is no MPI, or a definition names something that is not defined.
    pub(super) fn resolve(
        groups: &[RawGroup],
        comms: &[RawComm],
        text: impl Fn(u32) -> String,
    ) -> Result<(Vec<u64>, Self), String> {
        let Some(world) = groups.iter().find(|group| group.kind == GroupKind::Locations && !group.members.is_empty())
        else {
            return Err("the archive has no MPI in it: it defines no group of the locations of MPI's ranks".to_owned());
        };
        let locations = world.members.clone();
        let ranks: FxHashMap<u64, Rank> =
            locations.iter().enumerate().map(|(place, &location)| (location, rank_at(place))).collect();
        if ranks.len() != locations.len() {
            return Err(format!("a location is there twice in group {}, the locations of MPI's ranks", world.id));
        }
        let mut by_id: FxHashMap<u32, (GroupKind, Arc<[Rank]>)> = FxHashMap::default();
        for group in groups {
            if group.kind == GroupKind::Other || group.kind == GroupKind::Locations && by_id.contains_key(&group.id) {
                continue;
            }
            let rank = |&member: &u64| match group.kind {
                GroupKind::Members if !group.has_locations => {
                    usize::try_from(member).ok().filter(|&member| member < locations.len()).map(rank_at)
                }
                _ => ranks.get(&member).copied(),
            };
            let members: Option<Arc<[Rank]>> = group.members.iter().map(rank).collect();
            let members = members.ok_or_else(|| format!("group {} has a member that is no rank of MPI", group.id))?;
            // EZTrace gives the locations of all ranks and the members of a communicator the same number.
            let is_new = by_id.get(&group.id).is_none_or(|&(kind, _)| kind == GroupKind::Locations);
            if is_new {
                by_id.insert(group.id, (group.kind, members));
            }
        }
        let is_world = |members: &[Rank]| {
            members.len() == locations.len() && members.iter().enumerate().all(|(place, &rank)| rank == rank_at(place))
        };
        let is_of_all = |comm: &RawComm| {
            comm.groups.1.is_none()
                && by_id
                    .get(&comm.groups.0)
                    .is_some_and(|(kind, members)| *kind != GroupKind::Itself && is_world(members))
        };
        let named = comms.iter().find(|&comm| is_of_all(comm) && text(comm.name) == WORLD);
        let first = || comms.iter().find(|&comm| is_of_all(comm) && comm.parent == u32::MAX);
        let world = named.or_else(first).map(|comm| comm.id);

        let mut this = Self {
            all: FxHashMap::default(),
            itself: None,
            are_of_world: true,
            world: (0..locations.len()).map(rank_at).collect(),
            groups: FxHashMap::default(),
            of_rank: vec![Vec::new(); locations.len()],
        };
        for comm in comms {
            if this.all.contains_key(&comm.id) {
                continue;
            }
            let group = |id: u32| by_id.get(&id).map(|(kind, members)| (*kind, Arc::clone(members)));
            // A communicator of something else than MPI.
            let Some((kind, first)) = group(comm.groups.0) else { continue };
            let members = match comm.groups.1 {
                Some(other) => {
                    let Some((_, second)) = group(other) else { continue };
                    Members::Between(first, second)
                }
                None if Some(comm.id) == world => Members::World,
                None if kind == GroupKind::Itself => Members::Itself,
                None => Members::Group(first),
            };
            let (first, second): (&[Rank], &[Rank]) = match &members {
                Members::World => (&[], &[]),
                Members::Itself => {
                    this.itself.get_or_insert(comm.id);
                    (&[], &[])
                }
                Members::Group(members) => (members, &[]),
                Members::Between(first, second) => (first, second),
            };
            let is_made = Some(comm.id) != world && this.itself != Some(comm.id);
            this.are_of_world &= !is_made || Some(comm.parent) == world;
            for member in first.iter().chain(second) {
                this.of_rank[member.0 as usize].push(comm.id);
            }
            this.all.insert(comm.id, Arc::new(Otf2Communicator { id: comm.id, members }));
        }
        this.groups = by_id.into_iter().map(|(id, (_, members))| (id, members)).collect();
        Ok((locations, this))
    }

    /// The communicator with this number.
    pub(super) fn get(&self, id: u32) -> Option<&Arc<Otf2Communicator>> {
        self.all.get(&id)
    }

    /// The communicator that is `MPI_COMM_SELF`, if there is one.
    pub(super) fn itself(&self) -> Option<u32> {
        self.itself
    }

    /// Whether all communicators that calls make are made of the world.
    pub(super) fn are_of_world(&self) -> bool {
        self.are_of_world
    }

    pub(super) fn world(&self) -> &Arc<[Rank]> {
        &self.world
    }

    /// The members of a group.
    pub(super) fn group(&self, id: u32) -> Option<&Arc<[Rank]>> {
        self.groups.get(&id)
    }

    /// The numbers of the communicators that a rank is a member of, except the world, and those of one rank each.
    pub(super) fn of_rank(&self, rank: Rank) -> &[u32] {
        self.of_rank.get(rank.0 as usize).map_or(&[], Vec::as_slice)
    }
}
