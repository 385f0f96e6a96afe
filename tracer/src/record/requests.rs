//! The requests that a rank has made and not yet seen completed.
//!
//! A program names a request by its handle. Libraries hand out one handle for many requests at once where nothing is left
//! to do: Open MPI's `ompi_request_empty` for small sends, both libraries' for communication with `MPI_PROC_NULL`. Such
//! requests stand in a chain; which of them is meant is told by where the program keeps the handle, if it is still where
//! the library put it, and is otherwise the oldest. So that the chain is right, requests that no event speaks of are in
//! the table, too.

use titr_common::event::{CommId, Rank, RequestId, Tag};
use titr_wrappers::argument::{Later, Request};

use super::communicators::Ranks;
use super::numbers::LowestFree;

/// How far into a chain to look for a request's place. Programs complete requests mostly in the order they made them.
const LOOK: usize = 8;

/// No request.
const NONE: u32 = u32::MAX;

/// What a request stands for.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Communication with nobody.
    Nothing,
    /// A message.
    Message {
        /// The sender and the tag, where they are known.
        from: Option<Rank>,
        to: Rank,
        tag: Option<Tag>,
        /// For a receive that leaves one of them open: the communicator's ranks, to translate the match.
        open: Option<Ranks>,
    },
    /// A collective operation, an access to a window or a file, a partitioned message.
    Collective,
    /// The duplication of a communicator, which is where the library puts it when the request is completed.
    Duplicate(CommId, Later),
}

/// One request.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) what: What,
    /// Whether it is there to be started again.
    pub(super) persistent: bool,
    /// Whether it is under way.
    pub(super) active: bool,
    pub(super) cancelled: bool,
    /// The receive of an `MPI_Isendrecv`, which has one handle for both.
    pub(super) companion: Option<RequestId>,
    handle: Request,
    /// Where the library put the handle.
    place: usize,
    older: u32,
    newer: u32,
}

impl Entry {
    fn new(what: What, persistent: bool) -> Self {
        let handle = Request::default();
        let active = !persistent;
        Self { what, persistent, active, cancelled: false, companion: None, handle, place: 0, older: NONE, newer: NONE }
    }

    /// Whether events speak of it.
    pub(super) fn is_visible(&self) -> bool {
        matches!(self.what, What::Message { .. } | What::Collective)
    }

    /// Whether its status will tell what the request itself leaves open.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.what, What::Message { open: Some(_), .. })
    }

    fn is_outstanding(&self) -> bool {
        self.active && self.is_visible()
    }
}

/// Requests with one handle, by age.
#[derive(Clone, Copy, Debug)]
struct Chain {
    handle: Request,
    oldest: u32,
    newest: u32,
}

impl Chain {
    const fn empty(handle: Request) -> Self {
        Self { handle, oldest: NONE, newest: NONE }
    }

    fn is_empty(self) -> bool {
        self.oldest == NONE
    }

    /// Which of its requests is the one kept at `place`.
    #[inline]
    fn find(self, entries: &[Entry], place: usize) -> Option<RequestId> {
        if self.oldest == self.newest {
            return (!self.is_empty()).then_some(RequestId(self.oldest));
        }
        let mut at = self.oldest;
        for _ in 0..LOOK {
            let Some(entry) = entries.get(at as usize) else { break };
            if entry.place == place {
                return Some(RequestId(at));
            }
            at = entry.newer;
        }
        Some(RequestId(self.oldest))
    }
}

/// The chain of each handle: a hash table with linear probing, half empty at the least.
///
/// A chain stays when it has become empty, for libraries hand out the same handles again and again. Only when there is no
/// room for a new one are those left out that are empty.
#[derive(Debug, Default)]
struct Chains {
    places: Vec<Option<Chain>>,
    /// How many of them are taken.
    taken: usize,
}

impl Chains {
    const FEWEST: usize = 64;

    /// The chain of `handle`, if there ever was one.
    #[inline]
    fn get(&mut self, handle: Request) -> Option<&mut Chain> {
        let at = self.place(handle)?;
        self.places.get_mut(at)?.as_mut()
    }

    /// The same, with an empty one if there was none.
    #[inline]
    fn get_or_begin(&mut self, handle: Request) -> Option<&mut Chain> {
        let known = self.place(handle).filter(|&at| self.places.get(at).is_some_and(Option::is_some));
        let at = match known {
            Some(at) => at,
            None => self.begin(handle)?,
        };
        self.places.get_mut(at)?.as_mut()
    }

    /// Where `handle` is, or would be; nowhere if there is no table.
    #[inline]
    fn place(&self, handle: Request) -> Option<usize> {
        /// 2⁶⁴ divided by the golden ratio (Knuth, The Art of Computer Programming, vol. 3, §6.4).
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mask = self.places.len().checked_sub(1)?;
        let mut at = ((handle.raw() as u64).wrapping_mul(SPREAD) >> 32) as usize & mask;
        while self.places.get(at)?.is_some_and(|chain| chain.handle != handle) {
            at = (at + 1) & mask;
        }
        Some(at)
    }

    #[cold]
    fn begin(&mut self, handle: Request) -> Option<usize> {
        if 2 * (self.taken + 1) > self.places.len() {
            self.make_room();
        }
        let at = self.place(handle)?;
        *self.places.get_mut(at)? = Some(Chain::empty(handle));
        self.taken += 1;
        Some(at)
    }

    fn make_room(&mut self) {
        let before = std::mem::take(&mut self.places);
        let kept = || before.iter().flatten().filter(|chain| !chain.is_empty());
        self.taken = kept().count();
        self.places = vec![None; (4 * self.taken).next_power_of_two().max(Self::FEWEST)];
        for chain in kept() {
            if let Some(place) = self.place(chain.handle).and_then(|at| self.places.get_mut(at)) {
                *place = Some(*chain);
            }
        }
    }
}

/// All requests of a rank.
#[derive(Debug, Default)]
pub(super) struct Requests {
    entries: Vec<Entry>,
    numbers: LowestFree,
    chains: Chains,
    outstanding: u32,
}

impl Requests {
    /// A new request that the library has given `handle` and put at `place`: one that is under way, or a persistent one
    /// that is yet to be started.
    #[inline]
    pub(super) fn add(&mut self, handle: Request, place: usize, what: What, persistent: bool) -> RequestId {
        let id = self.insert(Entry { handle, place, ..Entry::new(what, persistent) });
        self.put_back(id, End::Newest);
        id
    }

    /// A new request that the program has no handle of, but that goes with one that it has.
    pub(super) fn add_unnamed(&mut self, what: What, persistent: bool) -> RequestId {
        self.insert(Entry::new(what, persistent))
    }

    #[inline]
    fn insert(&mut self, entry: Entry) -> RequestId {
        let id = self.numbers.take();
        self.outstanding += u32::from(entry.is_outstanding());
        match self.entries.get_mut(id as usize) {
            Some(free) => *free = entry,
            None => self.entries.push(entry),
        }
        RequestId(id)
    }

    #[inline]
    pub(super) fn get(&self, id: RequestId) -> Option<&Entry> {
        self.entries.get(id.0 as usize)
    }

    pub(super) fn get_mut(&mut self, id: RequestId) -> Option<&mut Entry> {
        self.entries.get_mut(id.0 as usize)
    }

    /// How many are under way and visible.
    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// The request that `handle`, kept at `place`, stands for.
    pub(super) fn find(&mut self, handle: Request, place: usize) -> Option<RequestId> {
        self.chains.get(handle)?.find(&self.entries, place)
    }

    /// The same, and takes it out of its chain: as long as a call may complete it, no other one means it.
    #[inline]
    pub(super) fn take_out(&mut self, handle: Request, place: usize) -> Option<RequestId> {
        let chain = self.chains.get(handle)?;
        let id = chain.find(&self.entries, place)?;
        if chain.oldest == chain.newest {
            *chain = Chain::empty(handle);
            return Some(id);
        }
        let entry = self.entries.get_mut(id.0 as usize)?;
        let (older, newer) = (std::mem::replace(&mut entry.older, NONE), std::mem::replace(&mut entry.newer, NONE));
        match self.entries.get_mut(older as usize) {
            Some(entry) => entry.newer = newer,
            None => chain.oldest = newer,
        }
        match self.entries.get_mut(newer as usize) {
            Some(entry) => entry.older = older,
            None => chain.newest = older,
        }
        Some(id)
    }

    /// Puts a request that was taken out back, as the oldest of its chain.
    pub(super) fn put_in(&mut self, id: RequestId) {
        self.put_back(id, End::Oldest);
    }

    #[inline]
    fn put_back(&mut self, id: RequestId, end: End) {
        let Some(entry) = self.entries.get_mut(id.0 as usize) else { return };
        let Some(chain) = self.chains.get_or_begin(entry.handle) else { return };
        if chain.is_empty() {
            (chain.oldest, chain.newest) = (id.0, id.0);
            return;
        }
        match end {
            End::Newest => {
                let before = std::mem::replace(&mut chain.newest, id.0);
                entry.older = before;
                if let Some(before) = self.entries.get_mut(before as usize) {
                    before.newer = id.0;
                }
            }
            End::Oldest => {
                let after = std::mem::replace(&mut chain.oldest, id.0);
                entry.newer = after;
                if let Some(after) = self.entries.get_mut(after as usize) {
                    after.older = id.0;
                }
            }
        }
    }

    /// A persistent request is under way again.
    pub(super) fn start(&mut self, id: RequestId) {
        let Some(entry) = self.entries.get_mut(id.0 as usize) else { return };
        let before = entry.is_outstanding();
        entry.active = true;
        entry.cancelled = false;
        self.outstanding += u32::from(!before && entry.is_outstanding());
    }

    /// A request that was taken out is completed: a persistent one waits to be started, any other one is gone.
    #[inline]
    pub(super) fn complete(&mut self, id: RequestId) {
        let Some(entry) = self.entries.get_mut(id.0 as usize) else { return };
        if entry.persistent {
            self.outstanding -= u32::from(entry.is_outstanding());
            entry.active = false;
            self.put_in(id);
        } else {
            self.remove(id);
        }
    }

    /// A request that was taken out is gone, completed or not.
    #[inline]
    pub(super) fn remove(&mut self, id: RequestId) {
        let Some(entry) = self.entries.get_mut(id.0 as usize) else { return };
        self.outstanding -= u32::from(entry.is_outstanding());
        entry.what = What::Nothing;
        self.numbers.give(id.0);
    }
}

/// An end of a chain.
#[derive(Clone, Copy)]
enum End {
    Oldest,
    Newest,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: usize = 0x1000;

    fn message(tag: i32) -> What {
        What::Message { from: Some(Rank(0)), to: Rank(1), tag: Some(Tag(tag)), open: None }
    }

    fn add(requests: &mut Requests, handle: usize, place: usize) -> u32 {
        requests.add(Request::from_raw(handle), place, message(0), false).0
    }

    fn take(requests: &mut Requests, handle: usize, place: usize) -> Option<u32> {
        requests.take_out(Request::from_raw(handle), place).map(|id| id.0)
    }

    #[test]
    fn a_handle_is_used_again_after_its_request() {
        let mut requests = Requests::default();
        for _ in 0..3 {
            assert_eq!(add(&mut requests, 7, 0), 0);
            assert_eq!(add(&mut requests, 8, 0), 1);
            assert_eq!(requests.outstanding(), 2);
            for handle in [7, 8] {
                let id = take(&mut requests, handle, 99).unwrap();
                requests.complete(RequestId(id));
            }
            assert_eq!(requests.outstanding(), 0);
            assert_eq!(take(&mut requests, 7, 0), None);
        }
    }

    #[test]
    fn requests_with_one_handle_are_told_apart_by_place_and_else_by_age() {
        let mut requests = Requests::default();
        for place in 0..20 {
            add(&mut requests, SHARED, place);
        }
        assert_eq!(take(&mut requests, SHARED, 3), Some(3));
        assert_eq!(take(&mut requests, SHARED, 777), Some(0));
        assert_eq!(take(&mut requests, SHARED, 19), Some(1), "too far to look");
        // What a failed test took out is again where it was.
        requests.put_in(RequestId(1));
        requests.put_in(RequestId(0));
        let rest: Vec<u32> = std::iter::from_fn(|| take(&mut requests, SHARED, 777)).collect();
        assert_eq!(rest, [0, 1, 2].into_iter().chain(4..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_persistent_request_stays_until_it_is_removed() {
        let mut requests = Requests::default();
        let id = requests.add(Request::from_raw(5), 0, message(1), true);
        assert_eq!(requests.outstanding(), 0);
        for _ in 0..2 {
            requests.start(id);
            assert_eq!(requests.outstanding(), 1);
            assert_eq!(take(&mut requests, 5, 0), Some(id.0));
            requests.complete(id);
            assert_eq!(requests.outstanding(), 0);
        }
        assert_eq!(requests.find(Request::from_raw(5), 0), Some(id));
        requests.take_out(Request::from_raw(5), 0);
        requests.remove(id);
        assert_eq!(requests.find(Request::from_raw(5), 0), None);
        assert_eq!(add(&mut requests, 6, 0), id.0);
    }

    #[test]
    fn a_million_at_once_leave_nothing_behind() {
        let mut requests = Requests::default();
        const MANY: usize = 1_000_000;
        for round in 0..2 {
            for i in 0..MANY {
                let handle = if i % 2 == 0 { SHARED } else { i };
                assert_eq!(add(&mut requests, handle, 8 * i), i as u32, "round {round}");
            }
            assert_eq!(requests.outstanding() as usize, MANY);
            for i in 0..MANY {
                let handle = if i % 2 == 0 { SHARED } else { i };
                let id = take(&mut requests, handle, 8 * i).unwrap();
                requests.complete(RequestId(id));
            }
            assert!(requests.chains.places.iter().flatten().all(|chain| chain.is_empty()));
            assert!(requests.chains.places.len() <= 4 * MANY);
            assert_eq!((requests.outstanding(), requests.entries.len()), (0, MANY));
        }
    }
}
