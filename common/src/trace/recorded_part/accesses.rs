//! Positions of one-sided and file calls among the other calls of a rank.

use super::calls::{Calls, Decision, Operation, TracedRequest};
use super::correspondence::{Counterparts, Omission};
use crate::event::{Event, FileEvent, OneSided, Phase, RequestId};

impl Calls {
    pub(super) fn one_sided(&mut self, call: OneSided, judge: &mut impl Counterparts) -> Decision {
        let kept = match call {
            OneSided::Create(_, comm, win, _) => {
                let comm = self.comms.get(&comm);
                comm.map(|comm| self.windows.create(win, *comm)).map(|()| call)
            }
            OneSided::Free(win) => self.windows.free(win).then_some(call),
            OneSided::Sync(sync) => self.windows.synchronise(sync, judge).map(OneSided::Sync),
            OneSided::Access(access) => {
                let kept = self.windows.accesses(&access);
                self.begins_alone(access.request, kept);
                kept.then_some(call)
            }
        };
        decide(kept.map(Event::OneSided), Omission::OneSided, judge)
    }

    pub(super) fn file(&mut self, call: FileEvent, judge: &mut impl Counterparts) -> Decision {
        let kept = match call {
            FileEvent::Delete => Some(call),
            FileEvent::Open(comm, id) => {
                let comm = self.comms.get(&comm);
                comm.map(|comm| self.files.open(id, *comm)).map(|()| call)
            }
            FileEvent::Close(id) => self.files.close(id).then_some(call),
            FileEvent::Manage(..) => self.files.calls(&call, judge).then_some(call),
            FileEvent::Access(access) => {
                let kept = self.files.access(access, judge);
                if let Phase::Nonblocking(id) = access.phase {
                    self.begins_alone(Some(id), kept.is_some());
                }
                kept.map(FileEvent::Access)
            }
        };
        decide(kept.map(Event::File), Omission::File, judge)
    }

    /// Starts the request of an operation that is kept or not, independent of other requests.
    fn begins_alone(&mut self, id: Option<RequestId>, kept: bool) {
        let operation = Operation::Alone;
        let request = TracedRequest { operation, is_persistent: false, active: Some(kept), any: None };
        self.requests.extend(id.map(|id| (id, request)));
    }
}

fn decide(kept: Option<Event>, what: Omission, judge: &mut impl Counterparts) -> Decision {
    if kept.is_none() {
        judge.leaves_out(what);
    }
    kept.map_or(Decision::Drop, Decision::Keep)
}
