//! The requests of one rank: what a wait can name.
//!
//! titr's traces number requests. SimGrid's name them by what they move, `(source, destination, tag)`, and mean the
//! oldest that is still outstanding.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::event::{Collective, Incoming, Neighborhood, Outgoing, RequestId, RequestKey, SendMode};
use titr_common::units::Bytes;

use super::error::Fault;
use super::operation::OperationId;
use super::queues::Queues;

/// The requests of one rank.
#[derive(Default)]
pub(crate) struct RequestTable {
    numbered: FxHashMap<RequestId, Request>,
    keyed: Queues<RequestKey, Activity>,
}

/// What a request stands for; `None`: it was complete as soon as it was made.
pub(crate) type Activity = Option<OperationId>;

enum Request {
    /// Gone once it is completed.
    Once(Activity),
    /// Can be started again.
    Persistent(Template, Option<Activity>),
}

/// What starting a persistent request does.
#[derive(Clone, Debug)]
pub(crate) enum Template {
    Send(SendMode, Outgoing),
    Receive(Incoming),
    Collective(Rc<Collective>),
    Neighbor(Rc<Neighborhood>),
    /// A partitioned message of so many bytes, which is not simulated.
    Partitioned(Bytes),
}

impl RequestTable {
    /// A numbered request was made.
    pub(crate) fn add(&mut self, id: RequestId, activity: Activity) -> Result<(), Fault> {
        self.make(id, Request::Once(activity))
    }

    /// One without a number was made.
    pub(crate) fn add_keyed(&mut self, key: RequestKey, activity: Activity) {
        self.keyed.push(key, activity);
    }

    /// A persistent one was set up.
    pub(crate) fn add_persistent(&mut self, id: RequestId, template: Template) -> Result<(), Fault> {
        self.make(id, Request::Persistent(template, None))
    }

    fn make(&mut self, id: RequestId, request: Request) -> Result<(), Fault> {
        match self.numbered.insert(id, request) {
            None => Ok(()),
            Some(_) => Err(Fault::RequestInUse(id)),
        }
    }

    /// What a persistent request does when it is started.
    pub(crate) fn template(&self, id: RequestId) -> Option<&Template> {
        match self.numbered.get(&id) {
            Some(Request::Persistent(template, None)) => Some(template),
            _ => None,
        }
    }

    /// A persistent request was started.
    pub(crate) fn start(&mut self, id: RequestId, activity: Activity) -> Result<(), Fault> {
        match self.numbered.get_mut(&id) {
            Some(Request::Persistent(_, current @ None)) => {
                *current = Some(activity);
                Ok(())
            }
            _ => Err(Fault::NotStartable(id)),
        }
    }

    /// What has to be claimed to complete a request. A persistent one that is not active completes at once (MPI 4.0
    /// §3.7.3).
    pub(crate) fn complete(&mut self, id: RequestId) -> Result<Activity, Fault> {
        match self.numbered.get_mut(&id) {
            Some(&mut Request::Once(activity)) => {
                self.numbered.remove(&id);
                Ok(activity)
            }
            Some(Request::Persistent(_, activity)) => Ok(activity.take().flatten()),
            None => Err(Fault::NoSuchRequest(id)),
        }
    }

    /// Likewise for the oldest outstanding request with `key`; `None` if there is none.
    pub(crate) fn complete_keyed(&mut self, key: &RequestKey) -> Option<Activity> {
        self.keyed.pop(key)
    }

    /// Likewise for all that are outstanding.
    pub(crate) fn complete_all(&mut self) -> Vec<OperationId> {
        self.complete_where(|_| true)
    }

    /// Likewise for these, and those without a number.
    pub(crate) fn complete_where(&mut self, asked: impl Fn(RequestId) -> bool) -> Vec<OperationId> {
        let mut all: Vec<OperationId> = self.keyed.drain().flatten().collect();
        self.numbered.retain(|&id, request| match request {
            _ if !asked(id) => true,
            Request::Once(activity) => {
                all.extend(activity.take());
                false
            }
            Request::Persistent(_, activity) => {
                all.extend(activity.take().flatten());
                true
            }
        });
        // The table's order is no order to rely on.
        all.sort_unstable_by_key(|operation| operation.0);
        all
    }

    /// What a request stands for at the moment.
    pub(crate) fn activity(&self, id: RequestId) -> Result<Activity, Fault> {
        match self.numbered.get(&id) {
            Some(&Request::Once(activity)) => Ok(activity),
            Some(Request::Persistent(_, activity)) => Ok(activity.flatten()),
            None => Err(Fault::NoSuchRequest(id)),
        }
    }

    /// The request is gone; what it stood for runs on.
    pub(crate) fn free(&mut self, id: RequestId) -> Result<Activity, Fault> {
        let activity = self.activity(id)?;
        self.numbered.remove(&id);
        Ok(activity)
    }

    /// The requests with a number that there are, whether each is persistent, and whether it is to be completed.
    pub(crate) fn open(&self) -> impl Iterator<Item = (RequestId, bool, bool)> {
        self.numbered.iter().map(|(&id, request)| match request {
            Request::Once(_) => (id, false, true),
            Request::Persistent(_, activity) => (id, true, activity.is_some()),
        })
    }

    /// How many were never completed.
    pub(crate) fn outstanding(&self) -> usize {
        let active = |request: &&Request| matches!(request, Request::Once(_) | Request::Persistent(_, Some(_)));
        self.keyed.len() + self.numbered.values().filter(active).count()
    }
}

#[cfg(test)]
mod tests {
    use titr_common::event::{CommId, Rank, Tag};
    use titr_common::units::Bytes;

    use super::*;

    #[test]
    fn a_number_is_free_again_once_its_request_is_complete() {
        let mut table = RequestTable::default();
        table.add(RequestId(0), Some(OperationId(5))).unwrap();
        assert!(matches!(table.add(RequestId(0), None), Err(Fault::RequestInUse(_))));
        let mut table = RequestTable::default();
        table.add(RequestId(0), Some(OperationId(5))).unwrap();
        assert_eq!(table.complete(RequestId(0)).unwrap(), Some(OperationId(5)));
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
            table.start(RequestId(3), Some(OperationId(1))).unwrap();
            assert!(matches!(table.start(RequestId(3), None), Err(Fault::NotStartable(_))));
            assert_eq!(table.outstanding(), 1);
            assert_eq!(table.complete(RequestId(3)).unwrap(), Some(OperationId(1)));
        }
        assert_eq!(table.free(RequestId(3)).unwrap(), None);
        assert!(table.template(RequestId(3)).is_none());
    }

    #[test]
    fn requests_without_a_number_complete_in_the_order_they_were_made() {
        let key = |tag| RequestKey { from: Some(Rank(1)), to: Rank(0), tag: Some(Tag(tag)) };
        let mut table = RequestTable::default();
        for (operation, tag) in [(0, 7), (1, 7), (2, 8), (3, 8)] {
            table.add_keyed(key(tag), Some(OperationId(operation)));
        }
        assert_eq!(table.complete_keyed(&key(7)), Some(Some(OperationId(0))));
        assert_eq!(table.complete_keyed(&key(7)), Some(Some(OperationId(1))));
        assert_eq!(table.complete_keyed(&key(7)), None);
        table.add(RequestId(0), Some(OperationId(1))).unwrap();
        assert_eq!(table.complete_all(), [1, 2, 3].map(OperationId));
        assert_eq!(table.outstanding(), 0);
    }
}
