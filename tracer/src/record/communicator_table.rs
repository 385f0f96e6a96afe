//! The communicators that a rank knows, and their members as ranks of the world.

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Rank};
use titr_wrappers::argument::Comm;

use super::id_pool::IdPool;
use super::omitted_calls::Omission;
use crate::ranks::Ranks;

#[derive(Clone, Debug)]
pub(super) struct Communicator {
    pub(super) id: CommId,
    pub(super) members: Ranks,
    /// The remote group of an inter-communicator.
    pub(super) remote: Option<Ranks>,
}

impl Communicator {
    /// Whom its point-to-point calls name.
    pub(super) fn peers(&self) -> &Ranks {
        self.remote.as_ref().unwrap_or(&self.members)
    }

    /// All members; for an inter-communicator those of both groups, in the order that both agree on, and the number of
    /// them in the first group.
    pub(super) fn all(&self) -> (Ranks, Option<u32>) {
        let Some(remote) = &self.remote else { return (self.members.clone(), None) };
        let (mut first, mut second) = (self.members.to_vec(), remote.to_vec());
        if second < first {
            std::mem::swap(&mut first, &mut second);
        }
        let group = first.len() as u32;
        first.extend(second);
        (Ranks::These(first.into()), Some(group))
    }
}

/// All communicators of a rank.
#[derive(Debug)]
pub(super) struct CommunicatorTable {
    known: Vec<Option<Communicator>>,
    ids: IdPool,
    by_handle: FxHashMap<Comm, CommId>,
    world: Comm,
    /// The last handle that was looked up, as the next call often uses the same communicator.
    last: (Comm, CommId),
}

impl CommunicatorTable {
    /// The communicators of the world and of this rank alone, which exist from the beginning.
    pub(super) fn new(world: Comm, itself: Comm, me: Rank, size: u32) -> Self {
        let mut all = Self {
            known: Vec::new(),
            ids: IdPool::default(),
            by_handle: FxHashMap::default(),
            world,
            last: (world, CommId::WORLD),
        };
        let everybody = all.add(Ranks::World(size), None);
        all.bind(world, everybody);
        let only_me = all.add(Ranks::These([me].into()), None);
        all.bind(itself, only_me);
        all
    }

    /// A new communicator, which takes the lowest free number.
    pub(super) fn add(&mut self, members: Ranks, remote: Option<Ranks>) -> CommId {
        let id = CommId(self.ids.take());
        let new = Some(Communicator { id, members, remote });
        match self.known.get_mut(id.0 as usize) {
            Some(free) => *free = new,
            None => self.known.push(new),
        }
        id
    }

    /// Makes `handle` denote `id` from now on.
    pub(super) fn bind(&mut self, handle: Comm, id: CommId) {
        self.by_handle.insert(handle, id);
        self.last = (handle, id);
    }

    pub(super) fn get(&mut self, handle: Comm) -> Option<&Communicator> {
        if self.last.0 != handle {
            self.last = (handle, *self.by_handle.get(&handle)?);
        }
        self.known.get(self.last.1.0 as usize)?.as_ref()
    }

    /// The communicator of a call; a communicator that titr did not see being made leaves the call untraced.
    #[inline]
    pub(super) fn known(&mut self, handle: Comm) -> Result<&Communicator, Omission> {
        self.get(handle).ok_or(Omission::Untraced)
    }

    /// The communicator is gone; its number, if it was known. Its handle may have been given to a new one by now.
    pub(super) fn remove(&mut self, handle: Comm, id: CommId) {
        if self.by_handle.get(&handle) == Some(&id) {
            self.by_handle.remove(&handle);
        }
        if let Some(known) = self.known.get_mut(id.0 as usize) {
            *known = None;
            self.ids.give(id.0);
        }
        self.last = (self.world, CommId::WORLD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: usize = 0x44;
    const ITSELF: usize = 0x45;

    fn communicators() -> CommunicatorTable {
        CommunicatorTable::new(Comm::from_raw(WORLD), Comm::from_raw(ITSELF), Rank(3), 8)
    }

    fn id(all: &mut CommunicatorTable, handle: usize) -> Option<CommId> {
        all.get(Comm::from_raw(handle)).map(|comm| comm.id)
    }

    #[test]
    fn world_and_self_are_known() {
        let mut all = communicators();
        assert_eq!((id(&mut all, WORLD), id(&mut all, ITSELF)), (Some(CommId::WORLD), Some(CommId::SELF)));
        assert_eq!(all.get(Comm::from_raw(WORLD)).unwrap().peers().get(7), Some(Rank(7)));
        assert_eq!(all.get(Comm::from_raw(WORLD)).unwrap().peers().get(8), None);
        assert_eq!(all.get(Comm::from_raw(ITSELF)).unwrap().peers().get(0), Some(Rank(3)));
    }

    #[test]
    fn ranks_are_those_of_the_remote_group_if_there_is_one() {
        let mut all = communicators();
        let (ours, theirs) = ([Some(3), Some(1)], [Some(6), Some(5), Some(4)]);
        let id = all.add(Ranks::new(&ours, 8).unwrap(), Ranks::new(&theirs, 8));
        all.bind(Comm::from_raw(9), id);
        let inter = all.get(Comm::from_raw(9)).unwrap();
        assert_eq!((inter.peers().get(0), inter.peers().get(-1)), (Some(Rank(6)), None));
        assert_eq!(inter.members.to_vec(), [Rank(3), Rank(1)]);
    }

    #[test]
    fn numbers_and_handles_are_used_again() {
        let mut all = communicators();
        for _ in 0..3 {
            let first = all.add(Ranks::World(8), None);
            all.bind(Comm::from_raw(9), first);
            assert_eq!((first, id(&mut all, 9)), (CommId(2), Some(CommId(2))));
            all.remove(Comm::from_raw(9), first);
            assert_eq!(id(&mut all, 9), None);
        }
        // Another thread got the handle for a new communicator before the old one was known to be gone.
        let old = all.add(Ranks::World(8), None);
        all.bind(Comm::from_raw(9), old);
        let new = all.add(Ranks::World(8), None);
        all.bind(Comm::from_raw(9), new);
        all.remove(Comm::from_raw(9), old);
        assert_eq!(id(&mut all, 9), Some(new));
    }
}
