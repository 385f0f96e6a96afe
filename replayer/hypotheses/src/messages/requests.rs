//! The requests of one rank whose messages are removed.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use titr_common::event::{Completed, Event, Quantifier, RequestId, RequestKey};

/// The requests that a changed program does not have, and those that only their order tells apart from them.
#[derive(Default)]
pub(crate) struct RemovedRequests {
    numbered: FxHashSet<RequestId>,
    /// Requests without a number, oldest first: whether each is removed.
    keyed: FxHashMap<RequestKey, VecDeque<bool>>,
}

impl RemovedRequests {
    /// A message was started, with the request `id` or else `key`.
    pub(crate) fn start(&mut self, id: Option<RequestId>, key: RequestKey, is_removed: bool) {
        match id {
            Some(id) => self.start_numbered(id, is_removed),
            None => self.keyed.entry(key).or_default().push_back(is_removed),
        }
    }

    /// A persistent request was started.
    pub(crate) fn start_numbered(&mut self, id: RequestId, is_removed: bool) {
        if is_removed {
            self.numbered.insert(id);
        }
    }

    /// Whether the request is removed.
    pub(crate) fn has(&self, id: RequestId) -> bool {
        self.numbered.contains(&id)
    }

    /// The request is complete or freed; whether it was removed.
    pub(crate) fn end(&mut self, id: RequestId) -> bool {
        self.numbered.remove(&id)
    }

    /// An event of the program in the changed one, without the requests that are removed; `None` if it is about these alone.
    pub(crate) fn without(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Wait(quantifier, completed) => {
                self.complete(quantifier, completed).map(|completed| Event::Wait(quantifier, completed))
            }
            Event::Test(quantifier, Some(completed)) => {
                let completed = self.complete(quantifier, completed);
                completed.map(|completed| Event::Test(quantifier, Some(completed)))
            }
            Event::RequestFree(id) => (!self.end(id)).then_some(event),
            Event::Cancel(id) | Event::Matched(id, ..) => (!self.has(id)).then_some(event),
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Start(_) => Some(event),
            Event::Send(..) | Event::Recv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => {
                Some(event)
            }
            Event::Partitioned(_) | Event::Test(_, None) | Event::Collective(..) | Event::Neighborhood(..) => {
                Some(event)
            }
            Event::OneSided(_) | Event::File(_) | Event::Other(_) | Event::CommCreate(..) => Some(event),
            Event::CommFree(_) | Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => Some(event),
        }
    }

    /// The requests that are complete in the changed program too; `None` if the call has none any more.
    fn complete(&mut self, quantifier: Quantifier, mut completed: Completed) -> Option<Completed> {
        let is_left = match &mut completed {
            Completed::These(ids) => {
                let was_empty = ids.is_empty();
                ids.retain(|id| !self.end(*id));
                was_empty || !ids.is_empty()
            }
            Completed::One(_, Some(id)) => !self.end(*id),
            Completed::One(key, None) => !self.keyed.get_mut(key).and_then(VecDeque::pop_front).unwrap_or(false),
            Completed::Outstanding(count) => {
                let keyed = self.keyed.drain().flat_map(|(_, requests)| requests).filter(|is_removed| *is_removed);
                let removed = self.numbered.drain().count() + keyed.count();
                let left = count.map(|count| count.saturating_sub(removed as u32));
                let is_left = removed == 0 || left != Some(0) || quantifier != Quantifier::All;
                *count = left;
                is_left
            }
        };
        is_left.then_some(completed)
    }
}
