//! Events that concern processes without a trace: they cannot be simulated, and become calls that are counted in a
//! warning. The rest of the rank's events keep their meaning.

use rustc_hash::FxHashSet;

use super::numbering::Numbering;
use crate::event::{
    CommCall, CommId, CommUse, Completed, Event, FileId, FileUse, Other, Partitioned, RequestId, RequestUse, WinId,
    WindowUse,
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
        event.communicators(|id, usage| match usage {
            CommUse::Makes => _ = self.comms.remove(id),
            CommUse::Messages | CommUse::Collective | CommUse::Frees => is_unknown |= self.comms.contains(id),
        });
        event.windows(|id, usage| match usage {
            WindowUse::Makes => _ = self.windows.remove(id),
            WindowUse::Accesses | WindowUse::Synchronises | WindowUse::Frees => is_unknown |= self.windows.contains(id),
        });
        if let Event::File(file) = &mut event {
            match file.file() {
                Some((id, FileUse::Opens)) => _ = self.files.remove(id),
                Some((id, FileUse::Accesses | FileUse::Collective | FileUse::Closes)) => {
                    is_unknown |= self.files.contains(id);
                }
                None => {}
            }
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
        event.communicators(|id, usage| match usage {
            CommUse::Makes => _ = self.comms.insert(*id),
            CommUse::Frees => _ = self.comms.remove(id),
            CommUse::Messages | CommUse::Collective => {}
        });
        event.windows(|id, usage| match usage {
            WindowUse::Makes => _ = self.windows.insert(*id),
            WindowUse::Frees => _ = self.windows.remove(id),
            WindowUse::Accesses | WindowUse::Synchronises => {}
        });
        if let Event::File(file) = &mut event {
            match file.file() {
                Some((id, FileUse::Opens)) => _ = self.files.insert(*id),
                Some((id, FileUse::Closes)) => _ = self.files.remove(id),
                Some((_, FileUse::Accesses | FileUse::Collective)) | None => {}
            }
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

/// The name of the MPI function of an event, derived from the event's word.
fn call(event: &Event) -> Other {
    let word = event.word();
    let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
    let transfers = event.transfers();
    let (mut sent, mut received) =
        (transfers.sent.map_or(Bytes(0), |it| it.bytes), transfers.received.map_or(Bytes(0), |it| it.bytes));
    if let Event::Collective(call, _) = event {
        let total =
            |each: Bytes, list: &[Bytes]| list.iter().fold(each, |sum, &bytes| Bytes(sum.0.saturating_add(bytes.0)));
        sent = total(call.send.each(), call.send.per_member());
        received = total(call.recv.each(), call.recv.per_member());
    }
    Other { function: format!("MPI_{}{rest}", first.to_ascii_uppercase()).into(), sent, received }
}
