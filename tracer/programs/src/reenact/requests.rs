//! The requests of the program, by the numbers that its trace gives them.

use std::collections::BTreeMap;

use titr_common::event::{Completed, RequestId};

use crate::{MpiError, Request};

/// A request, and whether an operation of it is in progress.
struct Slot<'m> {
    request: Request<'m>,
    is_active: bool,
}

/// The requests of one rank that are not complete, and the persistent ones. Methods give false where the trace has not made
/// a request that it names.
#[derive(Default)]
pub(crate) struct RequestTable<'m> {
    slots: BTreeMap<RequestId, Slot<'m>>,
}

impl<'m> RequestTable<'m> {
    /// A request that was made: active, unless it is persistent and has to be started.
    pub(crate) fn add(&mut self, id: RequestId, request: Request<'m>) {
        let is_active = !request.is_persistent;
        self.slots.insert(id, Slot { request, is_active });
    }

    pub(crate) fn start(&mut self, ids: &[RequestId]) -> Result<bool, MpiError> {
        let Some(mut taken) = self.take(ids) else { return Ok(false) };
        let mut requests: Vec<_> = taken.iter_mut().map(|slot| &mut slot.request).collect();
        Request::start_all(&mut requests)?;
        for (id, slot) in ids.iter().zip(taken) {
            self.slots.insert(*id, Slot { is_active: true, ..slot });
        }
        Ok(true)
    }

    /// Waits for the requests that a wait or a test has completed.
    pub(crate) fn complete(&mut self, completed: &Completed) -> Result<bool, MpiError> {
        let ids = match completed {
            Completed::Outstanding(_) => {
                self.slots.iter().filter(|(_, slot)| slot.is_active).map(|(id, _)| *id).collect()
            }
            Completed::One(_, id) => id.iter().copied().collect(),
            Completed::These(ids) => ids.clone(),
        };
        let Some(taken) = self.take(&ids) else { return Ok(false) };
        let mut requests: Vec<_> = taken.into_iter().map(|slot| slot.request).collect();
        let completed = match requests.as_mut_slice() {
            [only] => only.complete().map(drop),
            several => Request::complete_all(&mut several.iter_mut().collect::<Vec<_>>()),
        };
        for (id, request) in ids.into_iter().zip(requests) {
            if request.is_persistent {
                self.slots.insert(id, Slot { request, is_active: false });
            }
        }
        completed.map(|()| true)
    }

    /// Tests a request in progress, like a test that finds nothing complete.
    pub(crate) fn poll(&self) -> Result<(), MpiError> {
        match self.slots.values().find(|slot| slot.is_active) {
            Some(slot) => slot.request.poll().map(drop),
            None => Ok(()),
        }
    }

    /// Cancels a request, which is completed later. A persistent one that was not started stays as it is.
    pub(crate) fn cancel(&mut self, id: RequestId) -> Result<bool, MpiError> {
        let Some(slot) = self.slots.get_mut(&id) else { return Ok(false) };
        if slot.is_active { slot.request.cancel().map(|()| true) } else { Ok(true) }
    }

    pub(crate) fn free(&mut self, id: RequestId) -> Result<bool, MpiError> {
        let Some(slot) = self.slots.remove(&id) else { return Ok(false) };
        slot.request.free().map(|()| true)
    }

    /// Takes these requests out; `None`, and none taken, if one is missing.
    fn take(&mut self, ids: &[RequestId]) -> Option<Vec<Slot<'m>>> {
        if !ids.iter().all(|id| self.slots.contains_key(id)) {
            return None;
        }
        ids.iter().map(|id| self.slots.remove(id)).collect()
    }
}
