//! Finds the processes behind the numbers that ranks use for processes of other worlds.
//!
//! Each rank numbers the processes that it meets independently. In an encounter the *n*-th process that one side meets
//! is the *n*-th member of the other side, so both sides of each encounter have to be found: by its
//! [link](Encounter::link), which the root of each side knows; a member without it looks for the root's entry of the
//! same encounter. A side may have members that were met before, so encounters are resolved one after another, until no
//! more can be.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::event::{CommCall, CommId, Event, Group, Rank};
use crate::trace::encounter::{Encounter, Side};
use crate::trace::error::TraceError;
use crate::trace::opened::World;

/// An encounter as one rank has it: the world, the rank in it, and which of the rank's encounters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EntryKey {
    pub(super) world: usize,
    pub(super) rank: u32,
    index: usize,
}

/// The encounters of several worlds.
pub(super) struct Encounters<'w> {
    worlds: &'w [World],
    /// The two entries of roots that are of one encounter.
    pairs: FxHashMap<EntryKey, EntryKey>,
    /// The entries of roots whose other side is in none of the worlds.
    pub(super) alone: Vec<EntryKey>,
    /// For each world and rank, the processes behind its numbers for other worlds.
    foreign: Vec<Vec<Foreign>>,
}

/// The processes behind a rank's numbers for processes of other worlds.
pub(super) type Foreign = FxHashMap<u32, Rank>;

impl<'w> Encounters<'w> {
    /// Finds the sides of all encounters.
    ///
    /// # Errors
    /// If one spawn is claimed twice.
    pub(super) fn new(worlds: &'w [World]) -> Result<Self, TraceError> {
        let mut all: FxHashMap<&str, FxHashMap<Side, Vec<EntryKey>>> = FxHashMap::default();
        let mut this = Self { worlds, pairs: FxHashMap::default(), alone: Vec::new(), foreign: Vec::new() };
        let mut order = Vec::new();
        for key in this.keys() {
            let entry = this.entry(key);
            if entry.root != key.rank {
                continue;
            }
            if let Some(link) = entry.link.as_deref() {
                let sides = all.entry(link).or_insert_with(|| {
                    order.push(link);
                    FxHashMap::default()
                });
                sides.entry(entry.side).or_default().push(key);
            } else {
                this.alone.push(key);
            }
        }
        for link in order {
            let Some(mut sides) = all.remove(link) else { continue };
            for side in [Side::Spawn, Side::Accept, Side::Lower] {
                let (one, other) =
                    (sides.remove(&side).unwrap_or_default(), sides.remove(&side.other()).unwrap_or_default());
                this.pair(side, one, other)?;
            }
        }
        Ok(this)
    }

    /// Pairs the entries at both sides of one link.
    fn pair(&mut self, side: Side, mut one: Vec<EntryKey>, mut other: Vec<EntryKey>) -> Result<(), TraceError> {
        if side == Side::Spawn {
            for claims in [&one, &other] {
                if let [first, second, ..] = claims.as_slice() {
                    return Err(self.claimed_twice(*first, *second));
                }
            }
        }
        // At one port, each connection is complete before the next one.
        one.sort_by_key(|&key| self.entry(key).at);
        other.sort_by_key(|&key| self.entry(key).at);
        let count = one.len().min(other.len());
        self.alone.extend(one.drain(count..).chain(other.drain(count..)));
        for (one, other) in one.into_iter().zip(other) {
            self.pairs.insert(one, other);
            self.pairs.insert(other, one);
        }
        Ok(())
    }

    /// Finds the process behind each number.
    ///
    /// # Errors
    /// If the two sides of an encounter do not fit together.
    pub(super) fn resolve(mut self) -> Result<Vec<Vec<Foreign>>, TraceError> {
        self.foreign = self.worlds.iter().map(|world| vec![Foreign::default(); world.ranks() as usize]).collect();
        let mut open: Vec<EntryKey> = self.keys().collect();
        loop {
            let before = open.len();
            let mut left = Vec::new();
            for key in open {
                if !self.understand(key)? {
                    left.push(key);
                }
            }
            if left.is_empty() || left.len() == before {
                return Ok(self.foreign);
            }
            open = left;
        }
    }

    /// Resolves the numbers of an encounter; false if they are not known yet.
    fn understand(&mut self, key: EntryKey) -> Result<bool, TraceError> {
        let Some(root) = self.root_of(key) else { return Ok(false) };
        let Some(&other) = self.pairs.get(&root) else { return Ok(false) };
        let (mine, theirs) = (self.entry(root), self.entry(other));
        let all: u64 = self.worlds.iter().map(|world| u64::from(world.ranks())).sum();
        let are_alike = (mine.members.count(), mine.remote.count()) == (theirs.remote.count(), theirs.members.count());
        if !are_alike || mine.members.count().max(mine.remote.count()) > all {
            return Err(self.unlike(root, other));
        }
        let Some(remote) = self.members(other) else { return Ok(false) };
        for (number, rank) in self.entry(key).remote.iter().zip(remote) {
            let known = match self.own(key.world, number) {
                Some(own) => own,
                None => *self.foreign[key.world][key.rank as usize].entry(number).or_insert(rank),
            };
            if known != rank {
                return Err(self.unlike(root, other));
            }
        }
        Ok(true)
    }

    /// The entry that the root of a rank's encounter has of it.
    fn root_of(&self, key: EntryKey) -> Option<EntryKey> {
        let mine = self.entry(key);
        if mine.root == key.rank {
            return Some(key);
        }
        let (world, rank) = self.place(self.rank(key, mine.root)?)?;
        let members = self.members(key)?;
        let is_alike = |entry: &Encounter| {
            entry.side == mine.side
                && entry.members.count() == mine.members.count()
                && entry.remote.count() == mine.remote.count()
        };
        // This rank and the root have made these calls in one order.
        let before = &self.worlds[key.world].encounters(key.rank)[..key.index];
        let nth =
            before.iter().filter(|entry| is_alike(entry) && entry.root == mine.root && entry.members == mine.members);
        let nth = nth.count();
        let of_root = self.worlds[world].encounters(rank).iter().enumerate();
        let of_root = of_root.filter(|(_, entry)| is_alike(entry) && entry.root == rank);
        let mut keys = of_root.map(|(index, _)| EntryKey { world, rank, index });
        keys.by_ref().filter(|&key| self.members(key).as_ref() == Some(&members)).nth(nth)
    }

    /// The members of a rank's side.
    fn members(&self, key: EntryKey) -> Option<Vec<Rank>> {
        self.entry(key).members.iter().map(|number| self.rank(key, number)).collect()
    }

    /// The process behind a number of a rank; `None` if it is not known yet.
    fn rank(&self, key: EntryKey, number: u32) -> Option<Rank> {
        self.own(key.world, number)
            .or_else(|| self.foreign.get(key.world)?.get(key.rank as usize)?.get(&number).copied())
    }

    /// The rank of a world that has this number in it.
    fn own(&self, world: usize, number: u32) -> Option<Rank> {
        let world = &self.worlds[world];
        (number < world.ranks()).then(|| Rank(world.first.0 + number))
    }

    /// The world of a rank, and its number there.
    fn place(&self, Rank(rank): Rank) -> Option<(usize, u32)> {
        let world = self.worlds.iter().rposition(|world| world.first.0 <= rank)?;
        Some((world, rank - self.worlds[world].first.0))
    }

    pub(super) fn entry(&self, key: EntryKey) -> &'w Encounter {
        &self.worlds[key.world].encounters(key.rank)[key.index]
    }

    fn keys(&self) -> impl Iterator<Item = EntryKey> + use<'w> {
        let worlds = self.worlds;
        worlds.iter().enumerate().flat_map(|(world, of_world)| {
            (0..of_world.ranks()).flat_map(move |rank| {
                (0..of_world.encounters(rank).len()).map(move |index| EntryKey { world, rank, index })
            })
        })
    }

    fn claimed_twice(&self, first: EntryKey, second: EntryKey) -> TraceError {
        let [first_place, path] = [first, second].map(|key| self.worlds[key.world].place.clone());
        let what = format!(
            "its ranks have {} the same processes as those of {}: remove the trace that is a copy",
            self.entry(second).side,
            first_place.display()
        );
        TraceError::Directory { path, what }
    }

    fn unlike(&self, one: EntryKey, other: EntryKey) -> TraceError {
        let [mine, theirs] = [one, other].map(|key| self.entry(key));
        let what = format!(
            "rank {} has {} {} processes, which say otherwise in {}: they are {}, and met {} where {} took part",
            one.rank,
            mine.side,
            mine.remote.count(),
            self.worlds[other.world].place.display(),
            theirs.members.count(),
            theirs.remote.count(),
            mine.members.count(),
        );
        TraceError::Directory { path: self.worlds[one.world].place.clone(), what }
    }
}

/// The processes behind the numbers in a rank's events.
#[derive(Clone)]
pub(super) struct Numbering {
    /// The rank of all worlds that the first of this world is.
    pub(super) first: Rank,
    /// The size of this world.
    pub(super) size: u32,
    /// The processes of other worlds.
    pub(super) foreign: Arc<Foreign>,
    /// Whether there are other worlds.
    pub(super) is_one_of_several: bool,
}

impl Numbering {
    /// The process behind a number; `None` if its trace is missing.
    pub(super) fn rank(&self, Rank(number): Rank) -> Option<Rank> {
        if number < self.size { Some(Rank(self.first.0 + number)) } else { self.foreign.get(&number).copied() }
    }

    /// The global number of a communicator, from the rank's own: several worlds have no common `MPI_COMM_WORLD`, so the
    /// rank's world gets the first number that programs assign.
    fn comm(&self, id: CommId) -> CommId {
        match id {
            _ if !self.is_one_of_several => id,
            CommId::WORLD => CommId(Self::WORLD),
            CommId::SELF => CommId::SELF,
            CommId(made) => CommId(made.saturating_add(1)),
        }
    }

    const WORLD: u32 = CommId::SELF.0 + 1;

    /// The event that introduces the world of the rank.
    pub(super) fn world(&self) -> Event {
        let members = (0..self.size).map(|rank| Rank(self.first.0 + rank)).collect();
        let group = Group { id: CommId(Self::WORLD), members, remote: Vec::new(), tag: None };
        Event::CommCreate(CommCall::World, CommId::WORLD, Some(group))
    }

    /// The event with the numbers of all worlds.
    pub(super) fn renumber(&self, event: &mut Event) {
        event.ranks(|rank| *rank = self.rank(*rank).unwrap_or(*rank));
        event.communicators(|id, _| *id = self.comm(*id));
    }
}
