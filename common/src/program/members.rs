//! The members of a communicator.

use rustc_hash::FxHashMap;

use super::fault::Fault;
use crate::collectives::Member;
use crate::event::Rank;

/// The members of a communicator.
#[derive(Clone)]
pub struct Members {
    name: Name,
    /// Whether the members share a window, and this is the communicator of that window.
    of_window: bool,
    /// In order; for an inter-communicator, its two groups in succession.
    ranks: Vec<Rank>,
    /// The number of ranks in the first group.
    first_group: usize,
    /// The place of each; none for the world, where it is the rank.
    places: FxHashMap<Rank, Member>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    World,
    Itself,
    Made,
}

#[allow(clippy::len_without_is_empty, reason = "a communicator has members")]
impl Members {
    /// The members of the world: all ranks in order.
    pub(super) fn world(ranks: Vec<Rank>) -> Self {
        Self { name: Name::World, of_window: false, first_group: ranks.len(), ranks, places: FxHashMap::default() }
    }

    /// The members of the groups `first` and `second`; the second is empty unless there are two.
    ///
    /// # Errors
    /// If a rank is named twice.
    pub(super) fn new(name: Name, first: Vec<Rank>, second: Vec<Rank>) -> Result<Self, Fault> {
        let first_group = first.len();
        let mut ranks = first;
        ranks.extend(second);
        let places: FxHashMap<Rank, Member> = (0..).zip(&ranks).map(|(place, &rank)| (rank, place)).collect();
        if places.len() < ranks.len() {
            let twice = (0..).zip(&ranks).find(|&(place, rank)| places.get(rank) != Some(&place));
            return Err(Fault::NamedTwice(twice.map_or(Rank(0), |(_, &rank)| rank)));
        }
        Ok(Self { name, of_window: false, ranks, first_group, places })
    }

    /// These members as the members of a window.
    pub(super) fn of_window(&self) -> Self {
        Self { of_window: true, ..self.clone() }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// The rank of a member in the world.
    pub fn rank(&self, member: Member) -> Rank {
        self.ranks.get(member as usize).copied().unwrap_or_default()
    }

    /// The member that a rank of the world is.
    pub fn place(&self, rank: Rank) -> Option<Member> {
        match self.name {
            Name::World => ((rank.0 as usize) < self.ranks.len()).then_some(rank.0),
            Name::Itself | Name::Made => self.places.get(&rank).copied(),
        }
    }

    /// The member that a rank of the world is.
    ///
    /// # Errors
    /// If it is none.
    pub fn member(&self, rank: Rank) -> Result<Member, Fault> {
        self.place(rank).ok_or_else(|| Fault::NotAMember { rank, on: self.describe() })
    }

    /// The number of members in the first group; of an inter-communicator, the others are its second group.
    pub fn first_group(&self) -> u32 {
        self.first_group as u32
    }

    /// The number of members with which `member` exchanges data in a collective: for an inter-communicator, those of
    /// the other group.
    pub(crate) fn peers(&self, member: Member) -> usize {
        match (member as usize) < self.first_group {
            true if self.is_inter() => self.len() - self.first_group,
            true | false => self.first_group,
        }
    }

    /// The number of members in the group of the one in `member`'s place.
    pub(crate) fn group(&self, member: Member) -> usize {
        if (member as usize) < self.first_group { self.first_group } else { self.len() - self.first_group }
    }

    /// Whether the communicator is an inter-communicator.
    pub fn is_inter(&self) -> bool {
        self.first_group < self.ranks.len()
    }

    /// The name of the communicator in messages.
    pub fn describe(&self) -> String {
        let list = |ranks: &[Rank]| {
            let shown: Vec<String> = ranks.iter().take(8).map(|rank| rank.0.to_string()).collect();
            let more = if ranks.len() > shown.len() { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        let members = match self.name {
            Name::World => "the world".to_owned(),
            Name::Itself => "MPI_COMM_SELF".to_owned(),
            Name::Made => {
                let (first, second) = self.ranks.split_at(self.first_group);
                if second.is_empty() {
                    format!("the communicator of ranks {}", list(first))
                } else {
                    format!("the communicator between ranks {} and {}", list(first), list(second))
                }
            }
        };
        if self.of_window { format!("a window of {members}") } else { members }
    }
}
