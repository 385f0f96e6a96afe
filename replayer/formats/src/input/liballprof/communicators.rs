//! Communicators, from the calls of all ranks.
//!
//! A call names a communicator by a handle, and with the own rank in it and its size. A call that makes a communicator has
//! the address where the new handle will be, so the handle shows only in later calls. A handle that is new to a rank is
//! therefore taken for the oldest communicator that the rank has made, that has no handle yet, and that has the same own
//! rank and size. The members of a communicator are those of its ranks' places in it.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CommCall, Rank};

use super::calls::MakeComm;
use super::line::LiballprofComm;

/// What a rank's calls say about communicators, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Make(MakeComm),
    /// A communicator is named for the first time.
    Use(LiballprofComm),
}

/// A communicator, by its number among all of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity(usize);

/// `MPI_COMM_WORLD`.
pub(super) const WORLD: Identity = Identity(0);
/// `MPI_COMM_SELF` of every rank.
pub(super) const SELF: Identity = Identity(1);

/// The communicators of a rank.
#[derive(Default)]
pub(super) struct OfRank {
    pub known: FxHashMap<LiballprofComm, Identity>,
    /// What each call that makes a communicator has made; `None` for nothing, or for an unknown one.
    pub made: Vec<Option<Identity>>,
}

/// The communicators of a program.
pub(super) struct LiballprofCommunicators {
    pub ranks: Vec<OfRank>,
    members: Vec<Option<Arc<[Rank]>>>,
}

impl LiballprofCommunicators {
    /// The members of a communicator in their order; `None` if not all are known.
    pub(super) fn members(&self, of: Identity) -> Option<&Arc<[Rank]>> {
        self.members.get(of.0)?.as_ref()
    }
}

/// A communicator that a rank has made, and that has no handle yet.
#[derive(Clone, Copy)]
struct LiballprofPending {
    identity: Identity,
    call: usize,
    /// The own rank and the size, as far as they follow from the call.
    rank: Option<u32>,
    size: Option<u32>,
}

/// The communicators while they are worked out.
struct Search {
    ranks: Vec<State>,
    /// The ranks at the places of each communicator; `None` if two ranks have the same place.
    places: Vec<Option<Vec<Option<Rank>>>>,
    /// The communicator of a call, by its parent and the number of calls on that before.
    by_call: FxHashMap<(Identity, u32), Identity>,
    /// Those who have come to a split: their rank in the parent, colour and key.
    splits: FxHashMap<(Identity, u32), Vec<SplitArrival>>,
    /// What a split has made for a rank: the communicator, the rank in it and its size.
    split: FxHashMap<(Identity, u32, Rank), Option<LiballprofPlace>>,
}

/// One who has come to a split: the rank in the parent, the colour and the key.
type SplitArrival = (Rank, u32, i64, i64);

/// A communicator, the rank in it and its size.
type LiballprofPlace = (Identity, u32, u32);

#[derive(Default)]
struct State {
    steps: VecDeque<Step>,
    of: OfRank,
    pending: Vec<LiballprofPending>,
    before: FxHashMap<Identity, u32>,
}

/// Works out the communicators of all ranks. If not all ranks come to a split, the ranks that wait there, as an error.
pub(super) fn of_all(steps: Vec<VecDeque<Step>>) -> Result<LiballprofCommunicators, Vec<Rank>> {
    let size = steps.len() as u32;
    let world = (0..size).map(|rank| Some(Rank(rank))).collect();
    let mut search = Search {
        ranks: steps.into_iter().map(|steps| State { steps, ..State::default() }).collect(),
        places: vec![Some(world), None],
        by_call: FxHashMap::default(),
        splits: FxHashMap::default(),
        split: FxHashMap::default(),
    };
    let mut runnable: VecDeque<Rank> = (0..size).map(Rank).collect();
    while let Some(rank) = runnable.pop_front() {
        search.run(rank, size, &mut runnable);
    }
    let waiting = (0..).map(Rank).zip(&search.ranks).filter(|(_, state)| !state.steps.is_empty());
    let waiting: Vec<Rank> = waiting.map(|(rank, _)| rank).collect();
    if !waiting.is_empty() {
        return Err(waiting);
    }
    let members = search.places.into_iter().map(|places| places?.into_iter().collect()).collect();
    Ok(LiballprofCommunicators { ranks: search.ranks.into_iter().map(|state| state.of).collect(), members })
}

impl Search {
    fn run(&mut self, me: Rank, ranks: u32, runnable: &mut VecDeque<Rank>) {
        while let Some(&step) = self.ranks[me.0 as usize].steps.front() {
            match step {
                Step::Use(comm) => self.name(me, comm, ranks),
                Step::Make(make) => {
                    if !self.make(me, make, runnable) {
                        return;
                    }
                }
            }
            self.ranks[me.0 as usize].steps.pop_front();
        }
    }

    /// A handle that is new to a rank.
    fn name(&mut self, me: Rank, comm: LiballprofComm, ranks: u32) {
        let state = &mut self.ranks[me.0 as usize];
        if state.of.known.is_empty() && comm.size == ranks && comm.rank == me.0 {
            state.of.known.insert(comm, WORLD);
            return;
        }
        let fits = |exactly: bool| {
            move |pending: &LiballprofPending| {
                let is_same = |one: Option<u32>, other: u32| one.map_or(!exactly, |one| one == other);
                is_same(pending.rank, comm.rank) && is_same(pending.size, comm.size)
            }
        };
        let found = state.pending.iter().position(fits(true)).or_else(|| state.pending.iter().position(fits(false)));
        match found {
            Some(at) => {
                let LiballprofPending { identity, call, .. } = state.pending.remove(at);
                state.of.known.insert(comm, identity);
                state.of.made[call] = Some(identity);
                self.place(identity, me, comm.rank, comm.size);
            }
            None if comm.size == 1 => _ = state.of.known.insert(comm, SELF),
            None => {}
        }
    }

    /// Puts a rank at its place in a communicator.
    fn place(&mut self, identity: Identity, me: Rank, rank: u32, size: u32) {
        let Some(Some(places)) = self.places.get_mut(identity.0) else { return };
        if places.is_empty() && size as usize <= self.ranks.len() {
            places.resize(size as usize, None);
        }
        match places.get_mut(rank as usize) {
            Some(place) if place.is_none_or(|there| there == me) => *place = Some(me),
            _ => self.places[identity.0] = None,
        }
    }

    fn new_identity(&mut self) -> Identity {
        self.places.push(Some(Vec::new()));
        Identity(self.places.len() - 1)
    }

    /// Carries out a call that makes a communicator; false if the rank has to wait for others.
    fn make(&mut self, me: Rank, make: MakeComm, runnable: &mut VecDeque<Rank>) -> bool {
        let state = &self.ranks[me.0 as usize];
        let parent = make.parent.and_then(|comm| Some((comm, *state.of.known.get(&comm)?)));
        let Some((comm, parent)) = parent else {
            self.ranks[me.0 as usize].of.made.push(None);
            return true;
        };
        let before = state.before.get(&parent).copied().unwrap_or(0);
        if let Some((color, key)) = make.split {
            let Some(&made) = self.split.get(&(parent, before, me)) else {
                self.come(me, (parent, before), (comm, color, key), runnable);
                return false;
            };
            if let Some((identity, rank, size)) = made {
                self.add(me, identity, Some(rank), Some(size), true);
            } else {
                self.ranks[me.0 as usize].of.made.push(None);
            }
        } else {
            // Calls on a communicator of one rank are of that rank alone.
            let identity = match self.by_call.get(&(parent, before)) {
                Some(&identity) if parent != SELF => identity,
                _ => {
                    let identity = self.new_identity();
                    self.by_call.insert((parent, before), identity);
                    identity
                }
            };
            match make.function {
                CommCall::Dup => {
                    self.place(identity, me, comm.rank, comm.size);
                    self.add(me, identity, Some(comm.rank), Some(comm.size), true);
                }
                CommCall::CartCreate | CommCall::GraphCreate => self.add(me, identity, Some(comm.rank), None, false),
                _ => self.add(me, identity, None, None, false),
            }
        }
        *self.ranks[me.0 as usize].before.entry(parent).or_default() += 1;
        true
    }

    fn add(&mut self, me: Rank, identity: Identity, rank: Option<u32>, size: Option<u32>, is_member: bool) {
        let state = &mut self.ranks[me.0 as usize];
        state.pending.push(LiballprofPending { identity, call: state.of.made.len(), rank, size });
        state.of.made.push(is_member.then_some(identity));
    }

    /// A rank comes to a split; when all have come, they are grouped and go on.
    fn come(
        &mut self,
        me: Rank,
        place: (Identity, u32),
        (comm, color, key): (LiballprofComm, i64, i64),
        runnable: &mut VecDeque<Rank>,
    ) {
        let come = self.splits.entry(place).or_default();
        come.push((me, comm.rank, color, key));
        if come.len() < comm.size as usize {
            return;
        }
        let mut come = self.splits.remove(&place).unwrap_or_default();
        come.sort_unstable_by_key(|&(_, rank, color, key)| (color, key, rank));
        for group in come.chunk_by(|(_, _, one, _), (_, _, other, _)| one == other) {
            // MPI_UNDEFINED is negative, and no colour is.
            let identity = group.first().filter(|&&(_, _, color, _)| color >= 0).map(|_| self.new_identity());
            for (&(rank, ..), at) in group.iter().zip(0..) {
                let size = group.len() as u32;
                if let Some(identity) = identity {
                    self.place(identity, rank, at, size);
                }
                self.split.insert((place.0, place.1, rank), identity.map(|identity| (identity, at, size)));
                runnable.push_back(rank);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comm(handle: u64, rank: u32, size: u32) -> LiballprofComm {
        LiballprofComm { handle, rank, size }
    }

    #[test]
    fn a_handle_is_that_of_the_oldest_communicator_that_fits() {
        let steps = |rank: u32| {
            let world = comm(7, rank, 4);
            let make = |function, split| Step::Make(MakeComm { function, parent: Some(world), split });
            let pair = Step::Use(comm(90 + u64::from(rank), 1 - rank / 2, 2));
            let mut steps = vec![Step::Use(world), make(CommCall::Split, Some(((rank % 2).into(), -i64::from(rank))))];
            steps.extend([make(CommCall::Create, None), make(CommCall::Dup, None), Step::Use(comm(5, rank, 4)), pair]);
            if rank != 1 {
                steps.push(Step::Use(comm(60, rank.saturating_sub(1), 3)));
            }
            steps.into()
        };
        let found = of_all((0..4).map(steps).collect()).unwrap();
        let of = |rank: usize, handle, own, size| {
            let identity = found.ranks[rank].known[&comm(handle, own, size)];
            found.members(identity).unwrap().iter().map(|rank| rank.0).collect::<Vec<_>>()
        };
        assert_eq!((of(0, 90, 1, 2), of(3, 93, 0, 2), of(2, 5, 2, 4)), (vec![2, 0], vec![3, 1], vec![0, 1, 2, 3]));
        assert_eq!(of(3, 60, 2, 3), [0, 2, 3]);
        assert_eq!(found.ranks[1].made.iter().filter(|made| made.is_none()).count(), 1);
    }
}
