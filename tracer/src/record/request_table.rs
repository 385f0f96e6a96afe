//! The requests that a rank has created and whose completion it has not yet seen.
//!
//! A program refers to a request by its handle. Libraries use one handle for several requests at once if nothing is
//! left to do: Open MPI's `ompi_request_empty` for small sends, both libraries' for communication with `MPI_PROC_NULL`.
//! Such requests form a chain. The one that is meant is identified by the address of the handle, if the handle is still
//! where the library put it. Otherwise it is the oldest of the calling thread, since threads rarely complete each other's
//! requests, or else the oldest of all. Requests without an event are in the table as well, so that
//! the chain is right.

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Rank, RequestId, Tag, ThreadId};
use titr_wrappers::argument::{Later, Request};

use super::id_pool::IdPool;
use crate::ranks::Ranks;

/// The number of requests of a chain to look at for a place. Programs complete requests mostly in the order they made them.
const LOOK: usize = 8;

/// The number of requests of a chain to look at for one of the calling thread.
const LOOK_FOR_OWN: usize = 256;

const NONE: u32 = u32::MAX;

/// The kind of operation of a request.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(super) enum RequestKind {
    /// Communication with `MPI_PROC_NULL`.
    Nothing,
    Message {
        /// The sender and the tag, where they are known.
        from: Option<Rank>,
        to: Rank,
        tag: Option<Tag>,
        /// For a wildcard receive: the communicator's ranks, to translate the match.
        open: Option<Ranks>,
    },
    /// A collective operation, an access to a window or a file, a partitioned message.
    Collective,
    /// The duplication of a communicator, which is where the library puts it when the request is completed.
    Duplicate(CommId, Later),
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) what: RequestKind,
    /// Whether the request can be started again.
    pub(super) persistent: bool,
    /// Whether the request is in progress.
    pub(super) active: bool,
    /// Whether the request is to be cancelled. Its completion says whether it was.
    pub(super) cancelled: bool,
    /// The receive of an `MPI_Isendrecv`, which has one handle for both.
    pub(super) companion: Option<RequestId>,
    handle: Request,
    /// The address where the library put the handle.
    place: usize,
    thread: ThreadId,
    older: u32,
    newer: u32,
}

impl Entry {
    fn new(what: RequestKind, persistent: bool) -> Self {
        let handle = Request::default();
        let active = !persistent;
        let thread = ThreadId::MAIN;
        let (older, newer) = (NONE, NONE);
        Self { what, persistent, active, cancelled: false, companion: None, handle, place: 0, thread, older, newer }
    }

    /// The handle, and the address where the library put it.
    pub(super) fn handle(&self) -> (Request, usize) {
        (self.handle, self.place)
    }

    /// Whether events refer to the request.
    pub(super) fn is_visible(&self) -> bool {
        !matches!(self.what, RequestKind::Nothing)
    }

    /// Whether the status will contain what the request itself leaves open.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.what, RequestKind::Message { open: Some(_), .. })
    }

    fn is_outstanding(&self) -> bool {
        self.active && self.is_visible()
    }
}

/// Requests with one handle, by age.
#[derive(Clone, Copy, Debug)]
struct Chain {
    oldest: u32,
    newest: u32,
}

impl Chain {
    const EMPTY: Self = Self { oldest: NONE, newest: NONE };

    fn is_empty(self) -> bool {
        self.oldest == NONE
    }

    /// The request of the chain that is kept at `place`, or else the oldest of `thread`, or else the oldest.
    #[inline]
    fn find(self, entries: &[Entry], place: usize, thread: ThreadId) -> Option<RequestId> {
        if self.oldest == self.newest {
            return (!self.is_empty()).then_some(RequestId(self.oldest));
        }
        let (mut at, mut own) = (self.oldest, None);
        for looked in 0..LOOK_FOR_OWN {
            let Some(entry) = entries.get(at as usize) else { break };
            if entry.place == place && looked < LOOK {
                return Some(RequestId(at));
            }
            if entry.thread == thread {
                own = own.or(Some(at));
            }
            if looked + 1 >= LOOK && own.is_some() {
                break;
            }
            at = entry.newer;
        }
        Some(RequestId(own.unwrap_or(self.oldest)))
    }
}

/// The chain of each handle.
///
/// A chain stays when it has become empty, for libraries hand out the same handles again and again. Only when there is no
/// room for a new one are those removed that are empty.
#[derive(Debug, Default)]
struct Chains(FxHashMap<Request, Chain>);

impl Chains {
    /// The chain of `handle`, if there ever was one.
    #[inline]
    fn get(&mut self, handle: Request) -> Option<&mut Chain> {
        self.0.get_mut(&handle)
    }

    /// The chain of `handle`, an empty one if there was none.
    #[inline]
    fn get_or_begin(&mut self, handle: Request) -> &mut Chain {
        if self.0.len() == self.0.capacity() {
            self.make_room();
        }
        self.0.entry(handle).or_insert(Chain::EMPTY)
    }

    #[cold]
    fn make_room(&mut self) {
        self.0.retain(|_, chain| !chain.is_empty());
        // Double the size, so that this happens rarely.
        self.0.reserve(self.0.len().max(1));
    }
}

#[derive(Debug, Default)]
pub(super) struct RequestTable {
    entries: Vec<Entry>,
    ids: IdPool,
    chains: Chains,
    outstanding: u32,
    /// The thread whose calls follow.
    thread: ThreadId,
}

impl RequestTable {
    /// The calls that follow are of this thread.
    #[inline]
    pub(super) fn switch_to(&mut self, thread: ThreadId) {
        self.thread = thread;
    }

    /// A new request that the library has given `handle` and put at `place`: one in progress, or a persistent one that
    /// was not started yet.
    #[inline]
    pub(super) fn add(&mut self, handle: Request, place: usize, what: RequestKind, persistent: bool) -> RequestId {
        let id = self.insert(Entry { handle, place, thread: self.thread, ..Entry::new(what, persistent) });
        self.put_back(id, End::Newest);
        id
    }

    /// A new request that the program has no handle of, but that goes with one that it has.
    pub(super) fn add_unnamed(&mut self, what: RequestKind, persistent: bool) -> RequestId {
        self.insert(Entry::new(what, persistent))
    }

    /// The library has put `handle`, of a request that the program had no handle of, at `place`.
    pub(super) fn name(&mut self, id: RequestId, handle: Request, place: usize) {
        let thread = self.thread;
        if let Some(entry) = self.get_mut(id) {
            (entry.handle, entry.place, entry.thread) = (handle, place, thread);
        }
        self.put_back(id, End::Newest);
    }

    // Inlined always, though there are two callers: an entry is then made where it stays.
    #[inline(always)]
    fn insert(&mut self, entry: Entry) -> RequestId {
        let id = self.ids.take();
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

    /// The number of visible requests in progress.
    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// The request with this `handle` at the address `place`.
    pub(super) fn find(&mut self, handle: Request, place: usize) -> Option<RequestId> {
        self.chains.get(handle)?.find(&self.entries, place, self.thread)
    }

    /// Removes the request with this `handle` at the address `place` from its chain: as long as a call may complete the
    /// request, no other call can mean it.
    #[inline]
    pub(super) fn take_out(&mut self, handle: Request, place: usize) -> Option<RequestId> {
        let chain = self.chains.get(handle)?;
        let id = chain.find(&self.entries, place, self.thread)?;
        if chain.oldest == chain.newest {
            *chain = Chain::EMPTY;
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
        let chain = self.chains.get_or_begin(entry.handle);
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

    /// The library has given another handle to the request with this `handle` at the address `place`.
    pub(super) fn rename(&mut self, handle: Request, renamed: Request, place: usize) {
        let Some(id) = self.take_out(handle, place) else { return };
        if let Some(entry) = self.entries.get_mut(id.0 as usize) {
            entry.handle = renamed;
        }
        self.put_back(id, End::Newest);
    }

    /// The requests in progress that have to be cancelled.
    pub(super) fn cancelled(&self) -> impl Iterator<Item = RequestId> {
        let entries = (0..).map(RequestId).zip(&self.entries);
        entries.filter(|(_, entry)| entry.cancelled && entry.active && entry.is_visible()).map(|(id, _)| id)
    }

    /// A persistent request is in progress again.
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
        entry.what = RequestKind::Nothing;
        self.ids.give(id.0);
    }
}

/// An end of a chain.
#[derive(Clone, Copy)]
enum End {
    Oldest,
    Newest,
}

#[cfg(test)]
mod tests;
