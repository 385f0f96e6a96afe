//! The requests of one rank, which waits can name.
//!
//! titr's traces number requests. SimGrid's identify them by `(source, destination, tag)`, and mean the oldest
//! outstanding one.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::communicators::Participation;
use super::fault::Fault;
use crate::event::{Collective, CommId, Incoming, Neighborhood, Outgoing, RequestId, RequestKey, SendMode};
use crate::units::Bytes;

/// The requests of one rank. Each has an operation of type `O` that continues until the request is completed, or `None`
/// if the operation was complete at its creation.
pub struct RequestTable<O> {
    /// The requests with numbers below [`DENSE`], each at its number: contiguous, as a number is the lowest that is free.
    dense: Vec<Option<Request<O>>>,
    sparse: FxHashMap<RequestId, Request<O>>,
    /// Requests without a number: the oldest of each key, and those after it.
    keyed: FxHashMap<RequestKey, (Option<O>, VecDeque<Option<O>>)>,
}

/// The limit is low, as a call on all requests looks at all places below the highest number so far.
const DENSE: u32 = 1 << 8;

enum Request<O> {
    /// Gone once it is completed.
    Once(Option<O>),
    /// Can be started again; the inner operation is there while it is active.
    Persistent(Box<Template>, Option<Option<O>>),
}

impl<O> Default for RequestTable<O> {
    fn default() -> Self {
        Self { dense: Vec::new(), sparse: FxHashMap::default(), keyed: FxHashMap::default() }
    }
}

/// The operation that starting a persistent request starts.
#[derive(Clone, Debug)]
pub enum Template {
    /// A send.
    Send(SendMode, Outgoing),
    /// A receive.
    Receive(Incoming),
    /// A collective, and this rank's part in it: members set up their persistent collectives in one order, and may start
    /// them in another (MPI 4.0 §6.13).
    Collective(Rc<Collective>, Participation),
    /// A neighbourhood collective, and this rank's part in it.
    Neighbor(Rc<Neighborhood>, Participation),
    /// A partitioned message of this many bytes.
    Partitioned(Bytes),
}

impl Template {
    /// The communicator of the operation, if it is known.
    pub(crate) fn comm(&self) -> Option<CommId> {
        match self {
            Self::Send(_, message) => Some(message.comm),
            Self::Receive(message) => Some(message.comm),
            Self::Collective(call, _) => Some(call.comm),
            Self::Neighbor(call, _) => Some(call.comm),
            Self::Partitioned(_) => None,
        }
    }
}

/// A request with a number.
#[derive(Clone, Copy, Debug)]
pub struct OpenRequest {
    /// The number of the request.
    pub id: RequestId,
    /// The communicator of a persistent request, if it is known.
    pub comm: Option<CommId>,
    /// Whether the request is persistent.
    pub is_persistent: bool,
    /// Whether the request has to be completed.
    pub is_active: bool,
}

impl<O: Copy> RequestTable<O> {
    /// Whether there is a request with the number 0, the first to be used.
    #[inline]
    pub fn has_first(&self) -> bool {
        self.dense.first().is_some_and(Option::is_some)
    }

    fn get(&self, id: RequestId) -> Option<&Request<O>> {
        if id.0 < DENSE { self.dense.get(id.0 as usize)?.as_ref() } else { self.sparse.get(&id) }
    }

    fn get_mut(&mut self, id: RequestId) -> Option<&mut Request<O>> {
        if id.0 < DENSE { self.dense.get_mut(id.0 as usize)?.as_mut() } else { self.sparse.get_mut(&id) }
    }

    fn remove(&mut self, id: RequestId) {
        if id.0 >= DENSE {
            self.sparse.remove(&id);
        } else if let Some(request) = self.dense.get_mut(id.0 as usize) {
            *request = None;
        }
    }

    fn iter(&self) -> impl Iterator<Item = (RequestId, &Request<O>)> {
        let dense = (0..).map(RequestId).zip(&self.dense).filter_map(|(id, request)| Some((id, request.as_ref()?)));
        dense.chain(self.sparse.iter().map(|(&id, request)| (id, request)))
    }

    /// Enters a request that was made.
    ///
    /// # Errors
    /// If its number is in use.
    pub fn add(&mut self, id: RequestId, operation: Option<O>) -> Result<(), Fault> {
        self.make(id, Request::Once(operation))
    }

    /// Enters a request without a number.
    pub fn add_keyed(&mut self, key: RequestKey, operation: Option<O>) {
        match self.keyed.entry(key) {
            Entry::Vacant(entry) => _ = entry.insert((operation, VecDeque::new())),
            Entry::Occupied(mut entry) => entry.get_mut().1.push_back(operation),
        }
    }

    /// Enters a persistent request that was set up.
    ///
    /// # Errors
    /// If its number is in use.
    pub fn add_persistent(&mut self, id: RequestId, template: Template) -> Result<(), Fault> {
        self.make(id, Request::Persistent(Box::new(template), None))
    }

    fn make(&mut self, id: RequestId, request: Request<O>) -> Result<(), Fault> {
        let other = if id.0 >= DENSE {
            self.sparse.insert(id, request)
        } else {
            if self.dense.len() <= id.0 as usize {
                self.dense.resize_with(id.0 as usize + 1, || None);
            }
            self.dense[id.0 as usize].replace(request)
        };
        match other {
            None => Ok(()),
            Some(_) => Err(Fault::RequestInUse(id)),
        }
    }

    /// The operation that a persistent and inactive request starts.
    pub fn template(&self, id: RequestId) -> Option<&Template> {
        match self.get(id) {
            Some(Request::Persistent(template, None)) => Some(template.as_ref()),
            _ => None,
        }
    }

    /// Records that a persistent request was started.
    ///
    /// # Errors
    /// If it is not persistent, or active.
    pub fn start(&mut self, id: RequestId, operation: Option<O>) -> Result<(), Fault> {
        match self.get_mut(id) {
            Some(Request::Persistent(_, current @ None)) => {
                *current = Some(operation);
                Ok(())
            }
            _ => Err(Fault::NotStartable(id)),
        }
    }

    /// Completes a request, and gives the operation that it stood for. A persistent request that is not active completes at
    /// once (MPI 4.0 §3.7.3).
    pub fn complete(&mut self, id: RequestId) -> Result<Option<O>, Fault> {
        match self.get_mut(id) {
            Some(&mut Request::Once(activity)) => {
                self.remove(id);
                Ok(activity)
            }
            Some(Request::Persistent(_, activity)) => Ok(activity.take().flatten()),
            None => Err(Fault::NoSuchRequest(id)),
        }
    }

    /// Completes the oldest outstanding request with `key`; `None` if there is none.
    pub fn complete_keyed(&mut self, key: &RequestKey) -> Option<Option<O>> {
        let (oldest, others) = self.keyed.get_mut(key)?;
        match others.pop_front() {
            Some(next) => Some(std::mem::replace(oldest, next)),
            None => self.keyed.remove(key).map(|(oldest, _)| oldest),
        }
    }

    /// Completes all requests that are outstanding; gives their operations in ascending order.
    pub fn complete_all(&mut self) -> Vec<O>
    where
        O: Ord,
    {
        self.complete_where(|_| true)
    }

    /// Completes the requests whose numbers are `asked` for, and those without a number; gives their operations in ascending
    /// order.
    pub fn complete_where(&mut self, asked: impl Fn(RequestId) -> bool) -> Vec<O>
    where
        O: Ord,
    {
        let keyed = self.keyed.drain().flat_map(|(_, (oldest, others))| std::iter::once(oldest).chain(others));
        let mut all: Vec<O> = keyed.flatten().collect();
        let mut stays = |id, request: &mut Request<O>| match request {
            _ if !asked(id) => true,
            Request::Once(activity) => {
                all.extend(activity.take());
                false
            }
            Request::Persistent(_, activity) => {
                all.extend(activity.take().flatten());
                true
            }
        };
        for (id, request) in (0..).zip(&mut self.dense) {
            request.take_if(|request| !stays(RequestId(id), request));
        }
        self.sparse.retain(|&id, request| stays(id, request));
        // The table's order is no order to rely on.
        all.sort_unstable();
        all
    }

    /// The current operation of a request.
    pub fn activity(&self, id: RequestId) -> Result<Option<O>, Fault> {
        match self.get(id) {
            Some(&Request::Once(activity)) => Ok(activity),
            Some(Request::Persistent(_, activity)) => Ok(activity.flatten()),
            None => Err(Fault::NoSuchRequest(id)),
        }
    }

    /// Frees a request; its operation continues.
    pub fn free(&mut self, id: RequestId) -> Result<Option<O>, Fault> {
        let activity = self.activity(id)?;
        self.remove(id);
        Ok(activity)
    }

    /// Mutable access to the current operation of a request; `None` if there is no such request or it has no operation.
    pub fn activity_mut(&mut self, id: RequestId) -> Option<&mut Option<O>> {
        match self.get_mut(id)? {
            Request::Once(operation) => Some(operation),
            Request::Persistent(_, operation) => operation.as_mut(),
        }
    }

    /// The numbers of the requests that have to be completed, in order.
    pub fn active(&self) -> Vec<RequestId> {
        let mut all: Vec<RequestId> = self.open().filter(|open| open.is_active).map(|open| open.id).collect();
        all.sort_unstable();
        all
    }

    /// The requests with a number that there are.
    pub fn open(&self) -> impl Iterator<Item = OpenRequest> {
        self.iter().map(|(id, request)| match request {
            Request::Once(_) => OpenRequest { id, comm: None, is_persistent: false, is_active: true },
            Request::Persistent(template, activity) => {
                OpenRequest { id, comm: template.comm(), is_persistent: true, is_active: activity.is_some() }
            }
        })
    }

    /// The number of requests that have to be completed.
    pub fn outstanding(&self) -> usize {
        let keyed = self.keyed.values().map(|(_, others)| 1 + others.len());
        keyed.sum::<usize>() + self.open().filter(|open| open.is_active).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Rank, Tag};

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Operation(u32);

    #[test]
    fn a_number_is_free_again_once_its_request_is_complete() {
        let mut table = RequestTable::default();
        table.add(RequestId(0), Some(Operation(5))).unwrap();
        assert!(matches!(table.add(RequestId(0), None), Err(Fault::RequestInUse(_))));
        let mut table = RequestTable::default();
        table.add(RequestId(0), Some(Operation(5))).unwrap();
        assert_eq!(table.complete(RequestId(0)).unwrap(), Some(Operation(5)));
        assert!(matches!(table.complete(RequestId(0)), Err(Fault::NoSuchRequest(_))));
        table.add(RequestId(0), None).unwrap();
    }

    #[test]
    fn a_persistent_one_starts_again_after_it_is_complete() {
        let mut table = RequestTable::default();
        let message = Outgoing { comm: CommId::WORLD, to: Rank(0), tag: Tag(0), bytes: Bytes(1) };
        table.add_persistent(RequestId(3), Template::Send(SendMode::Standard, message)).unwrap();
        assert_eq!(table.complete(RequestId(3)).unwrap(), None);
        for _ in 0..2 {
            assert!(table.template(RequestId(3)).is_some());
            table.start(RequestId(3), Some(Operation(1))).unwrap();
            assert!(matches!(table.start(RequestId(3), None), Err(Fault::NotStartable(_))));
            assert_eq!(table.outstanding(), 1);
            assert_eq!(table.complete(RequestId(3)).unwrap(), Some(Operation(1)));
        }
        assert_eq!(table.free(RequestId(3)).unwrap(), None);
        assert!(table.template(RequestId(3)).is_none());
    }

    #[test]
    fn requests_without_a_number_complete_in_the_order_they_were_made() {
        let key = |tag| RequestKey { from: Some(Rank(1)), to: Rank(0), tag: Some(Tag(tag)) };
        let mut table = RequestTable::default();
        for (operation, tag) in [(0, 7), (1, 7), (2, 8), (3, 8)] {
            table.add_keyed(key(tag), Some(Operation(operation)));
        }
        assert_eq!(table.complete_keyed(&key(7)), Some(Some(Operation(0))));
        assert_eq!(table.complete_keyed(&key(7)), Some(Some(Operation(1))));
        assert_eq!(table.complete_keyed(&key(7)), None);
        table.add(RequestId(0), Some(Operation(1))).unwrap();
        assert_eq!(table.complete_all(), [1, 2, 3].map(Operation));
        assert_eq!(table.outstanding(), 0);
    }
}
