//! The requests of a rank, by the names that a foreign trace gives them, and the calls that complete them.

use std::collections::hash_map::Entry as Slot;

use rustc_hash::FxHashMap;
use titr_common::dense_slab::DenseSlab;
use titr_common::event::{
    Completed, Completion, Event, MessageCompletion, Quantifier, Rank, RequestId, RequestKey, Tag,
};

/// The message that a receive got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub source: Rank,
    pub tag: Tag,
}

#[derive(Clone, Copy, Debug)]
struct Request<C> {
    /// The communicator of the message, as the format names it.
    comm: C,
    /// The number; `None` for a message to or from `MPI_PROC_NULL`, which no event has.
    id: Option<RequestId>,
    /// The ends of a message, as far as the call that made the request names them.
    key: Option<RequestKey>,
    is_persistent: bool,
    is_active: bool,
    is_cancelled: bool,
}

impl<C> Request<C> {
    fn is_outstanding(&self) -> bool {
        self.is_active && self.id.is_some()
    }
}

/// The requests of a rank. An event numbers a request by the lowest number that was free.
///
/// `C` is the name that the format has for a communicator.
#[derive(Default)]
pub(crate) struct Requests<C> {
    by_name: FxHashMap<u64, Request<C>>,
    numbers: DenseSlab<()>,
    outstanding: u32,
    /// The requests that the current call completes, and how many were outstanding before it.
    completed: Vec<RequestId>,
    key: Option<RequestKey>,
    before: u32,
}

/// A request that a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// No call has made the request, or another call has completed it.
    Unknown,
    /// A request that no event has, or one that is not active.
    Nothing,
    Active,
}

impl<C: Copy + Default> Requests<C> {
    /// Makes a request; `None` if there is one with this name.
    pub(crate) fn make(
        &mut self,
        name: u64,
        comm: C,
        key: Option<RequestKey>,
        is_persistent: bool,
    ) -> Option<RequestId> {
        let Slot::Vacant(vacant) = self.by_name.entry(name) else { return None };
        let id = RequestId(u32::try_from(self.numbers.insert(())).ok()?);
        let is_active = !is_persistent;
        vacant.insert(Request { comm, id: Some(id), key, is_persistent, is_active, is_cancelled: false });
        self.outstanding += u32::from(!is_persistent);
        Some(id)
    }

    /// Makes the request of a message; its completion, or `None` if there is a request with this name.
    pub(crate) fn make_message(
        &mut self,
        name: u64,
        comm: C,
        key: Option<RequestKey>,
        is_persistent: bool,
    ) -> Option<MessageCompletion> {
        let id = self.make(name, comm, key, is_persistent)?;
        Some(if is_persistent { Completion::Persistent(id) } else { Completion::Request(Some(id)) })
    }

    /// Makes a request of a message to or from `MPI_PROC_NULL`. Such a name may be used again.
    pub(crate) fn make_for_nobody(&mut self, name: u64, is_persistent: bool) {
        let (comm, is_active) = (C::default(), !is_persistent);
        let nothing = Request { comm, id: None, key: None, is_persistent, is_active, is_cancelled: false };
        self.by_name.entry(name).or_insert(nothing);
    }

    /// Starts a persistent request; `None` if no event has it.
    pub(crate) fn start(&mut self, name: u64) -> Option<RequestId> {
        let request = self.by_name.get_mut(&name).filter(|request| !request.is_active)?;
        request.is_active = true;
        request.is_cancelled = false;
        self.outstanding += u32::from(request.id.is_some());
        request.id
    }

    /// Marks a request that the program has asked to cancel.
    pub(crate) fn cancel(&mut self, name: u64) {
        if let Some(request) = self.by_name.get_mut(&name) {
            request.is_cancelled = true;
        }
    }

    /// Whether the program has asked to cancel a request.
    pub(crate) fn is_cancelled(&self, name: u64) -> bool {
        self.by_name.get(&name).is_some_and(|request| request.is_cancelled && request.is_active)
    }

    /// Frees a request; `None` if no event has it.
    pub(crate) fn free(&mut self, name: u64) -> Option<RequestId> {
        let request = self.by_name.remove(&name)?;
        self.outstanding -= u32::from(request.is_outstanding());
        let id = request.id?;
        self.numbers.remove(id.0 as usize);
        Some(id)
    }

    /// The number of a request with this name.
    pub(crate) fn number(&self, name: u64) -> Option<RequestId> {
        self.by_name.get(&name)?.id
    }

    pub(crate) fn named(&self, name: u64) -> Named {
        match self.by_name.get(&name) {
            None => Named::Unknown,
            Some(request) if request.is_outstanding() => Named::Active,
            Some(_) => Named::Nothing,
        }
    }

    /// The communicator of an active receive that named no source or no tag.
    pub(crate) fn open(&self, name: u64) -> Option<C> {
        let request = self.by_name.get(&name).filter(|request| request.is_outstanding())?;
        request.key.filter(|key| key.from.is_none() || key.tag.is_none()).map(|_| request.comm)
    }

    /// Begins a call that may complete requests.
    pub(crate) fn begin(&mut self) {
        self.completed.clear();
        self.key = None;
        self.before = self.outstanding;
    }

    /// Completes a request in the call that was begun, and gives `push` the events that precede the call's own: the match
    /// of a receive that named none, and that the request was cancelled.
    pub(crate) fn complete(
        &mut self,
        name: u64,
        matched: Option<Match>,
        is_cancelled: bool,
        mut push: impl FnMut(Event),
    ) -> Named {
        let Slot::Occupied(mut slot) = self.by_name.entry(name) else { return Named::Unknown };
        let request = slot.get_mut();
        let Request { id, key, is_persistent, is_active, .. } = *request;
        request.is_active = false;
        if !is_persistent {
            slot.remove();
        }
        let (Some(id), true) = (id, is_active) else { return Named::Nothing };
        self.outstanding -= 1;
        if !is_persistent {
            self.numbers.remove(id.0 as usize);
        }
        if is_cancelled {
            push(Event::Cancel(id));
        }
        let key = match (key, matched) {
            (Some(key), Some(Match { source, tag })) if key.from.is_none() || key.tag.is_none() => {
                push(Event::Matched(id, source, tag));
                Some(RequestKey { from: Some(source), tag: Some(tag), ..key })
            }
            (key, _) => key,
        };
        self.completed.push(id);
        self.key = key.or(self.key);
        Named::Active
    }

    /// The names of all active requests, by their numbers.
    pub(crate) fn active(&self) -> Vec<u64> {
        let active = self.by_name.iter().filter(|(_, request)| request.is_outstanding());
        let mut active: Vec<_> = active.map(|(&name, request)| (request.id, name)).collect();
        active.sort_unstable();
        active.into_iter().map(|(_, name)| name).collect()
    }

    /// What the call that was begun has waited for; `None` if no event has it.
    pub(crate) fn waited_for(&mut self, ask: Quantifier) -> Option<Completed> {
        if ask == Quantifier::All && !self.completed.is_empty() && self.completed.len() as u32 == self.before {
            return Some(Completed::Outstanding(Some(self.before)));
        }
        self.tested()
    }

    /// What the call that was begun has completed; `None` if no event has it.
    pub(crate) fn tested(&mut self) -> Option<Completed> {
        match (self.completed.as_slice(), self.key) {
            ([], _) => None,
            (&[id], Some(key)) => Some(Completed::One(key, Some(id))),
            (ids, _) => Some(Completed::These(ids.to_vec())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(from: Option<u32>, to: u32, tag: Option<i32>) -> RequestKey {
        RequestKey { from: from.map(Rank), to: Rank(to), tag: tag.map(Tag) }
    }

    #[test]
    fn a_wait_names_one_message_several_requests_or_all() {
        let mut requests = Requests::default();
        for name in [70, 80, 90] {
            assert!(requests.make(name, (), Some(key(Some(1), 0, Some(5))), false).is_some());
        }
        assert_eq!(requests.make(70, (), None, false), None);
        requests.begin();
        assert_eq!(requests.complete(80, None, false, |event| panic!("{event:?}")), Named::Active);
        assert_eq!(
            requests.waited_for(Quantifier::Single),
            Some(Completed::One(key(Some(1), 0, Some(5)), Some(RequestId(1))))
        );
        requests.begin();
        for name in [70, 90, 80] {
            requests.complete(name, None, false, |event| panic!("{event:?}"));
        }
        assert_eq!(requests.waited_for(Quantifier::All), Some(Completed::Outstanding(Some(2))));
        requests.begin();
        assert_eq!(requests.waited_for(Quantifier::All), None);
    }

    #[test]
    fn a_request_has_the_lowest_free_number() {
        let mut requests = Requests::default();
        let mut make = |name| requests.make(name, (), None, false);
        assert_eq!([7, 9, 7].map(&mut make), [Some(RequestId(0)), Some(RequestId(1)), None]);
        assert_eq!((requests.free(7), requests.free(7)), (Some(RequestId(0)), None));
        assert_eq!(
            (requests.make(4, (), None, false), requests.number(9), requests.active()),
            (Some(RequestId(0)), Some(RequestId(1)), vec![4, 9])
        );
    }

    #[test]
    fn a_match_is_told_of_a_receive_that_named_none_and_persistent_requests_stay() {
        let mut requests = Requests::default();
        assert_eq!(requests.make(1, (), Some(key(None, 0, Some(5))), true), Some(RequestId(0)));
        requests.make_for_nobody(2, false);
        let matched = Some(Match { source: Rank(3), tag: Tag(5) });
        for _ in 0..2 {
            assert_eq!(requests.start(1), Some(RequestId(0)));
            let mut events = Vec::new();
            requests.begin();
            requests.complete(2, None, false, |event| events.push(event));
            requests.complete(1, matched, false, |event| events.push(event));
            assert_eq!(events, [Event::Matched(RequestId(0), Rank(3), Tag(5))]);
            let one = Completed::One(key(Some(3), 0, Some(5)), Some(RequestId(0)));
            assert_eq!(requests.tested(), Some(one));
        }
        assert_eq!((requests.free(1), requests.free(1), requests.named(1)), (Some(RequestId(0)), None, Named::Unknown));
    }
}
