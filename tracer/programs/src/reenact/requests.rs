//! The requests of the program, by the numbers that its trace gives them.

use std::collections::BTreeMap;

use titr_common::event::{Completed, RequestId};

use super::communicators::Fault;
use crate::{MpiError, Request};

/// A request, and whether an operation of it is in progress.
struct Slot<'m> {
    request: Request<'m>,
    is_active: bool,
}

/// The requests of one rank that are not complete, and the persistent ones.
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

    pub(crate) fn start(&mut self, ids: &[RequestId]) -> Result<(), Fault> {
        let mut taken = self.take(ids)?;
        let mut requests: Vec<_> = taken.iter_mut().map(|slot| &mut slot.request).collect();
        Request::start_all(&mut requests)?;
        for (id, slot) in ids.iter().zip(taken) {
            self.slots.insert(*id, Slot { is_active: true, ..slot });
        }
        Ok(())
    }

    /// Waits for the requests that a wait or a test has completed.
    pub(crate) fn complete(&mut self, completed: &Completed) -> Result<(), Fault> {
        let ids = match completed {
            Completed::Outstanding(_) => {
                self.slots.iter().filter(|(_, slot)| slot.is_active).map(|(id, _)| *id).collect()
            }
            Completed::One(_, id) => id.iter().copied().collect(),
            Completed::These(ids) => ids.clone(),
        };
        let mut requests: Vec<_> = self.take(&ids)?.into_iter().map(|slot| slot.request).collect();
        let completed = match requests.as_mut_slice() {
            [only] => only.complete().map(drop),
            several => Request::complete_all(&mut several.iter_mut().collect::<Vec<_>>()),
        };
        for (id, request) in ids.into_iter().zip(requests) {
            if request.is_persistent {
                self.slots.insert(id, Slot { request, is_active: false });
            }
        }
        Ok(completed?)
    }

    /// Tests a request in progress, like a test that finds nothing complete.
    pub(crate) fn poll(&self) -> Result<(), MpiError> {
        match self.slots.values().find(|slot| slot.is_active) {
            Some(slot) => slot.request.poll().map(drop),
            None => Ok(()),
        }
    }

    /// Cancels a request, which is completed later. A persistent one that was not started stays as it is.
    pub(crate) fn cancel(&mut self, id: RequestId) -> Result<(), Fault> {
        let slot = self.slots.get_mut(&id).ok_or(Fault::Request)?;
        if slot.is_active { Ok(slot.request.cancel()?) } else { Ok(()) }
    }

    pub(crate) fn free(&mut self, id: RequestId) -> Result<(), Fault> {
        Ok(self.slots.remove(&id).ok_or(Fault::Request)?.request.free()?)
    }

    /// Takes these requests out, or none of them if one is missing.
    fn take(&mut self, ids: &[RequestId]) -> Result<Vec<Slot<'m>>, Fault> {
        if !ids.iter().all(|id| self.slots.contains_key(id)) {
            return Err(Fault::Request);
        }
        ids.iter().map(|id| self.slots.remove(id).ok_or(Fault::Request)).collect()
    }
}
