//! The records of calls that start, complete, cancel and free requests.

use titr_common::event::{Completed, Quantifier, Rank, RequestId, Tag};
use titr_common::program::{Fault, Template};

use super::NotWritten;
use super::file::{DumpiBytes, WrittenStatus};
use super::open::OpenDumpi;
use super::rank::{DumpiRank, request};
use crate::input::dumpi::functions::DumpiFunction;
use crate::input::notes::Notes;

/// The request that stands for none.
const REQUEST_NULL: i32 = 1;
/// `MPI_UNDEFINED`, as Open MPI numbers it.
pub(super) const UNDEFINED: i32 = -32_766;

/// The requests that a call has completed, and their statuses.
#[derive(Default)]
struct DumpiCompleted {
    names: Vec<i32>,
    statuses: Vec<WrittenStatus>,
}

impl DumpiRank<'_> {
    /// The source and the tag of a receive with a wildcard.
    pub(super) fn matched(&mut self, id: RequestId, source: Rank, tag: Tag) {
        if let Some(Some(OpenDumpi { receive: Some(message), .. })) = self.requests.activity_mut(id) {
            (message.from, message.tag) = (Some(source), Some(tag));
        }
    }

    pub(super) fn cancel(&mut self, id: RequestId) -> Result<(), NotWritten> {
        let Some(Some(open)) = self.requests.activity_mut(id) else { return Ok(()) };
        open.is_cancelled = true;
        let name = open.name;
        self.record_before(DumpiFunction::CANCEL, &DumpiBytes::default().int(name))
    }

    pub(super) fn start(&mut self, ids: &[RequestId]) -> Result<(), NotWritten> {
        let mut names = Vec::new();
        for &id in ids {
            let operation = match self.requests.template(id) {
                Some(Template::Send(..)) => Some(None),
                Some(Template::Receive(message)) => Some(Some(*message)),
                Some(Template::Collective(..) | Template::Neighbor(..) | Template::Partitioned(_)) => None,
                None => return Err(Fault::NotStartable(id).into()),
            };
            let name = request(id);
            let open = operation.map(|receive| OpenDumpi { name, receive, is_cancelled: false });
            names.extend(open.map(|open| open.name));
            self.requests.start(id, open)?;
        }
        match names.as_slice() {
            [] => Ok(()),
            [name] => self.record(DumpiFunction::START, &DumpiBytes::default().int(*name)),
            names => {
                let arguments = DumpiBytes::default().int(names.len() as i32).integers(names);
                self.record(DumpiFunction::STARTALL, &arguments)
            }
        }
    }

    pub(super) fn free_request(&mut self, id: RequestId) -> Result<(), NotWritten> {
        let is_message = matches!(self.requests.template(id), Some(Template::Send(..) | Template::Receive(_)));
        let operation = self.requests.free(id)?;
        if !is_message && operation.is_none() {
            return Ok(());
        }
        self.record(DumpiFunction::REQUEST_FREE, &DumpiBytes::default().int(request(id)))
    }

    /// Completes requests; those without a record are left out. `None` if that leaves none.
    fn complete(&mut self, completed: &Completed, notes: &mut Notes) -> Result<Option<DumpiCompleted>, NotWritten> {
        let mut open = Vec::new();
        match completed {
            Completed::One(_, Some(id)) => open.extend(self.requests.complete(*id)?),
            Completed::One(key, None) => open.extend(self.requests.complete_keyed(key).flatten()),
            Completed::These(ids) => {
                for &id in ids {
                    open.extend(self.requests.complete(id)?);
                }
            }
            Completed::Outstanding(_) => open = self.requests.complete_all(),
        }
        let mut done = DumpiCompleted::default();
        for OpenDumpi { name, receive, is_cancelled } in open {
            let status = match receive {
                Some(message) if !is_cancelled => self.status(&message)?.unwrap_or(WrittenStatus::EMPTY),
                Some(_) | None => WrittenStatus { is_cancelled, ..WrittenStatus::EMPTY },
            };
            done.names.push(name);
            done.statuses.push(status);
        }
        if done.names.is_empty() {
            notes.add("waits and tests are left out, whose requests have no record");
            return Ok(None);
        }
        Ok(Some(done))
    }

    pub(super) fn wait(
        &mut self,
        quantifier: Quantifier,
        completed: &Completed,
        notes: &mut Notes,
    ) -> Result<(), NotWritten> {
        let Some(DumpiCompleted { names, statuses }) = self.complete(completed, notes)? else { return Ok(()) };
        let number = names.len() as i32;
        let list = || DumpiBytes::default().int(number).integers(&names);
        let (function, arguments) = match (quantifier, names.as_slice()) {
            (Quantifier::Single, &[name]) => (DumpiFunction::WAIT, DumpiBytes::default().int(name)),
            (Quantifier::Any, [_]) => (DumpiFunction::WAITANY, list().int(0)),
            (Quantifier::Some, _) => (DumpiFunction::WAITSOME, list().int(number).integers(&places(number))),
            (Quantifier::Single | Quantifier::Any | Quantifier::All, _) => (DumpiFunction::WAITALL, list()),
        };
        self.record(function, &arguments.statuses(&statuses))
    }

    pub(super) fn test(
        &mut self,
        quantifier: Quantifier,
        completed: Option<&Completed>,
        notes: &mut Notes,
    ) -> Result<(), NotWritten> {
        let Some(completed) = completed else { return self.test_in_vain(quantifier) };
        let Some(DumpiCompleted { names, statuses }) = self.complete(completed, notes)? else { return Ok(()) };
        let number = names.len() as i32;
        let list = || DumpiBytes::default().int(number).integers(&names);
        let (function, arguments) = match (quantifier, names.as_slice()) {
            (Quantifier::Single, &[name]) => (DumpiFunction::TEST, DumpiBytes::default().int(name).int(1)),
            (Quantifier::Any, [_]) => (DumpiFunction::TESTANY, list().int(0).int(1)),
            (Quantifier::Some, _) => (DumpiFunction::TESTSOME, list().int(number).integers(&places(number))),
            (Quantifier::Single | Quantifier::Any | Quantifier::All, _) => (DumpiFunction::TESTALL, list().int(1)),
        };
        self.record(function, &arguments.statuses(&statuses))
    }

    /// A test that completed nothing. The trace does not say of which requests; the record names one that is active.
    fn test_in_vain(&mut self, quantifier: Quantifier) -> Result<(), NotWritten> {
        let active = self.requests.active().into_iter();
        let name = active.filter_map(|id| self.requests.activity(id).ok().flatten()).map(|open| open.name).next();
        let name = name.unwrap_or(REQUEST_NULL);
        let list = DumpiBytes::default().int(1).integers(&[name]);
        let (function, arguments) = match quantifier {
            Quantifier::Single => (DumpiFunction::TEST, DumpiBytes::default().int(name).int(0)),
            Quantifier::All => (DumpiFunction::TESTALL, list.int(0)),
            Quantifier::Any => (DumpiFunction::TESTANY, list.int(UNDEFINED).int(0)),
            Quantifier::Some => (DumpiFunction::TESTSOME, list.int(0).integers(&[])),
        };
        self.record(function, &arguments.statuses(&[]))
    }
}

/// The places of all requests in their list.
fn places(number: i32) -> Vec<i32> {
    (0..number).collect()
}
