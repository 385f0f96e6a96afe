//! The communicators of the program, created again in the same way.

use rustc_hash::FxHashMap;
use thiserror::Error;
use titr_common::event::{CommCall, CommId, Group, Rank};

use crate::{Comm, Duplicate, MpiError, Request};

/// The reason why an event is not reenacted.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Mpi(#[from] MpiError),
    #[error("communicator {} has not been made", .0.0)]
    Communicator(CommId),
    #[error("rank {} is not in communicator {}", .1.0, .0.0)]
    Member(CommId, Rank),
    #[error("it names a request that was not made")]
    Request,
    #[error("this cannot be reenacted")]
    Infeasible,
}

/// A communicator, and the numbers that its members have in it.
struct Known<'m> {
    comm: Handle<'m>,
    numbers: FxHashMap<Rank, u32>,
}

/// The library's communicator.
enum Handle<'m> {
    Made(Comm<'m>),
    /// It is made when its request is complete, after which the program uses it.
    Duplicate(Duplicate<'m>),
}

/// The communicators of one rank, by the numbers that its trace gives them.
pub(crate) struct CommunicatorTable<'m> {
    me: Rank,
    by_id: FxHashMap<CommId, Known<'m>>,
}

impl<'m> CommunicatorTable<'m> {
    /// The communicators that no event introduces: the world, and the communicator of this rank alone.
    pub(crate) fn new(world: Comm<'m>, alone: Comm<'m>) -> Self {
        let me = Rank(world.rank);
        let numbers = (0..world.size).map(|rank| (Rank(rank), rank)).collect();
        let world = Known { comm: Handle::Made(world), numbers };
        let alone = Known { comm: Handle::Made(alone), numbers: FxHashMap::from_iter([(me, 0)]) };
        Self { me, by_id: FxHashMap::from_iter([(CommId::WORLD, world), (CommId::SELF, alone)]) }
    }

    /// The communicator of a number.
    pub(crate) fn get(&self, id: CommId) -> Result<Comm<'m>, Fault> {
        Ok(self.known(id)?.comm.get())
    }

    /// The number of a rank of the world in a communicator.
    pub(crate) fn member(&self, id: CommId, rank: Rank) -> Result<u32, Fault> {
        self.known(id)?.numbers.get(&rank).copied().ok_or(Fault::Member(id, rank))
    }

    fn known(&self, id: CommId) -> Result<&Known<'m>, Fault> {
        self.by_id.get(&id).ok_or(Fault::Communicator(id))
    }

    /// Creates a communicator with the same members in the same order as in `call`. Processes that become no member take part as
    /// well.
    pub(crate) fn create(&mut self, call: CommCall, parent: CommId, group: Option<&Group>) -> Result<(), Fault> {
        let parent = self.get(parent)?;
        let comm = match (call, group) {
            (CommCall::Dup, Some(_)) => Some(parent.duplicate()?),
            (_, Some(group)) => {
                let color = group.members.iter().min().map(|first| first.0);
                let key = group.members.iter().position(|member| *member == self.me).unwrap_or(0);
                parent.split(color, key as u32)?
            }
            (_, None) => parent.split(None, 0)?,
        };
        if let (Some(comm), Some(group)) = (comm, group) {
            self.add(group, Handle::Made(comm));
        }
        Ok(())
    }

    /// Begins to duplicate a communicator, and returns the request.
    pub(crate) fn duplicate(&mut self, of: CommId, group: &Group) -> Result<Request<'m>, Fault> {
        let (duplicate, request) = self.get(of)?.iduplicate()?;
        self.add(group, Handle::Duplicate(duplicate));
        Ok(request)
    }

    fn add(&mut self, group: &Group, comm: Handle<'m>) {
        let numbers = (0..).zip(&group.members).map(|(number, rank)| (*rank, number)).collect();
        self.by_id.insert(group.id, Known { comm, numbers });
    }

    /// Frees a communicator.
    pub(crate) fn free(&mut self, id: CommId) -> Result<(), Fault> {
        let known = self.by_id.remove(&id).ok_or(Fault::Communicator(id))?;
        Ok(known.comm.get().free()?)
    }
}

impl<'m> Handle<'m> {
    fn get(&self) -> Comm<'m> {
        match self {
            Self::Made(comm) => *comm,
            Self::Duplicate(duplicate) => duplicate.comm(),
        }
    }
}
