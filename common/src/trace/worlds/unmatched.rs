//! Events that concern processes without a trace: they cannot be simulated, and become calls that are counted in a
//! warning. The rest of the rank's events keep their meaning.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::numbers::Numbering;
use crate::event::{
    CommCall, CommId, Completed, Event, FileId, ObjectUse, Other, Partitioned, RequestId, RequestUse, Volumes, WinId,
};
use crate::units::Bytes;

/// The communicators, windows, files and requests of a rank that involve processes whose trace is missing.
#[derive(Default)]
pub(super) struct Unmatched {
    comms: FxHashSet<CommId>,
    windows: FxHashSet<WinId>,
    files: FxHashSet<FileId>,
    /// The requests of events that are left out.
    requests: FxHashSet<RequestId>,
}

impl Unmatched {
    /// The event, or the remaining part of it; `None` if nothing remains.
    pub(super) fn pass(&mut self, event: Event, numbering: &Numbering) -> Option<Event> {
        let event = if self.requests.is_empty() { event } else { self.without_requests(event)? };
        if self.concerns(event.clone(), numbering) { self.omit(event) } else { Some(event) }
    }

    /// Whether an event concerns a process without a trace. Numbers that the event assigns change their meaning from
    /// here on.
    fn concerns(&mut self, mut event: Event, numbering: &Numbering) -> bool {
        let mut is_unknown = false;
        event.ranks(|rank| is_unknown |= numbering.rank(*rank).is_none());
        event.communicators(|id, usage| is_unknown |= is_in(&mut self.comms, id, usage));
        if let Event::OneSided(call) = &mut event {
            let (id, usage) = call.window();
            is_unknown |= is_in(&mut self.windows, id, usage);
        }
        if let Event::File(call) = &mut event
            && let Some((id, usage)) = call.file()
        {
            is_unknown |= is_in(&mut self.files, id, usage);
        }
        event.requests(|id, usage| {
            if let RequestUse::Makes { .. } = usage {
                self.requests.remove(id);
            }
        });
        is_unknown
    }

    /// The call that replaces an event which concerns a process without a trace.
    fn omit(&mut self, mut event: Event) -> Option<Event> {
        event.communicators(|id, usage| omit_in(&mut self.comms, *id, usage));
        if let Event::OneSided(call) = &mut event {
            let (id, usage) = call.window();
            omit_in(&mut self.windows, *id, usage);
        }
        if let Event::File(call) = &mut event
            && let Some((id, usage)) = call.file()
        {
            omit_in(&mut self.files, *id, usage);
        }
        event.requests(|id, usage| {
            if let RequestUse::Makes { .. } = usage {
                self.requests.insert(*id);
            }
        });
        // None of these is a call that communicates.
        let is_local = matches!(
            event,
            Event::CommFree(_)
                | Event::CommCreate(CommCall::Parent, ..)
                | Event::Mark(_)
                | Event::Task(_)
                | Event::Annotation(_)
        );
        (!is_local).then(|| Event::Other(call(&event)))
    }

    /// An event without the requests of events that are left out; `None` if it concerns only such requests.
    fn without_requests(&mut self, mut event: Event) -> Option<Event> {
        let requests = &mut self.requests;
        let is_kept = match &mut event {
            Event::Start(ids) => {
                ids.retain(|id| !requests.contains(id));
                !ids.is_empty()
            }
            Event::Cancel(id) | Event::Matched(id, ..) => !requests.contains(id),
            Event::Partitioned(Partitioned::Ready(id, _) | Partitioned::Arrived(id, _)) => !requests.contains(id),
            Event::RequestFree(id) => !requests.remove(id),
            Event::Wait(_, completed) | Event::Test(_, Some(completed)) => match completed {
                Completed::One(_, Some(id)) => !requests.contains(id),
                Completed::These(ids) => {
                    let was_empty = ids.is_empty();
                    ids.retain(|id| !requests.contains(id));
                    was_empty || !ids.is_empty()
                }
                Completed::One(_, None) | Completed::Outstanding(_) => true,
            },
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Sendrecv(..) => true,
            Event::Send(..) | Event::Recv(..) | Event::Probe(_) | Event::Iprobe(..) | Event::Test(_, None) => true,
            Event::Partitioned(Partitioned::SendInit(..) | Partitioned::RecvInit(..)) => true,
            Event::Collective(..) | Event::Neighborhood(..) | Event::OneSided(_) | Event::File(_) => true,
            Event::Other(_) | Event::CommCreate(..) | Event::CommFree(_) => true,
            Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => true,
        };
        is_kept.then_some(event)
    }
}

/// Whether an event uses one of the `unmatched` objects. A number that it assigns is none of them from here on.
fn is_in<I: Eq + Hash>(unmatched: &mut FxHashSet<I>, id: &I, usage: ObjectUse) -> bool {
    if usage == ObjectUse::Makes {
        unmatched.remove(id);
    }
    unmatched.contains(id)
}

/// Takes note of the object of an event that is left out.
fn omit_in<I: Eq + Hash>(unmatched: &mut FxHashSet<I>, id: I, usage: ObjectUse) {
    match usage {
        ObjectUse::Makes => _ = unmatched.insert(id),
        ObjectUse::Frees => _ = unmatched.remove(&id),
        ObjectUse::Accesses | ObjectUse::Orders => {}
    }
}

/// The name of the MPI function of an event, derived from the event's word.
fn call(event: &Event) -> Other {
    let word = event.word();
    let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
    let transfers = event.transfers();
    let mut sent = transfers.sent.map_or(Bytes(0), |it| it.bytes);
    let mut received = transfers.received.map_or(Bytes(0), |it| it.bytes);
    if let Event::Collective(call, _) = event {
        let total = |volumes: &Volumes| volumes.each() + volumes.per_member().iter().copied().sum();
        (sent, received) = (total(&call.send), total(&call.recv));
    }
    Other { function: format!("MPI_{}{rest}", first.to_ascii_uppercase()).into(), sent, received }
}
