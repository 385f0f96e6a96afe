//! Calls of a rank outside the traced part of its program: calls that the trace contains nevertheless, and counts of
//! the others, for the ranks with the corresponding calls.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use titr_common::event::{
    Collective, CommId, Completion, Event, FileEvent, Incoming, Mark, OneSided, Partitioned, Phase, RequestId,
    Synchronisation, Unrecorded, UnrecordedCall, WinSync,
};

/// The calls of a rank outside of the part that is in the trace.
#[derive(Debug, Default)]
pub(super) struct UnrecordedCalls {
    numbers: BTreeMap<UnrecordedCall, u64>,
    /// Requests of receives that left their source or tag open.
    open: FxHashMap<RequestId, OpenReceive>,
}

/// A receive that left its source or tag open.
#[derive(Clone, Copy, Debug)]
struct OpenReceive {
    comm: CommId,
    /// Whether the call that created the request is in the trace.
    is_recorded: bool,
}

impl UnrecordedCalls {
    /// Records a call that is in the trace. It may name the match of a call that is not.
    pub(super) fn recorded(&mut self, event: &Event) {
        match event {
            Event::Recv(message, Completion::Request(Some(id)) | Completion::Persistent(id)) => {
                self.note(*id, message, true);
            }
            Event::Matched(id, from, tag) => {
                if let Some(OpenReceive { comm, is_recorded: false }) = self.open.get(id) {
                    self.count(UnrecordedCall::Received(*comm, *from, *tag));
                }
            }
            Event::Recv(_, Completion::Blocking | Completion::Request(None))
            | Event::Send(..)
            | Event::Sendrecv(..)
            | Event::Start(_)
            | Event::Collective(..)
            | Event::Neighborhood(..)
            | Event::Init
            | Event::Finalize
            | Event::Compute(_)
            | Event::Sleep(_)
            | Event::Probe(_)
            | Event::Iprobe(..)
            | Event::Partitioned(_)
            | Event::RequestFree(_)
            | Event::Cancel(_)
            | Event::Wait(..)
            | Event::Test(..)
            | Event::OneSided(_)
            | Event::File(_)
            | Event::Other(_)
            | Event::CommCreate(..)
            | Event::CommFree(_)
            | Event::Mark(_)
            | Event::Task(_)
            | Event::Annotation(_) => {}
        }
    }

    /// The rank has made a call that is not in the trace.
    pub(super) fn unrecorded(&mut self, event: &Event) {
        use UnrecordedCall::{Received, Sent, Start};
        match event {
            Event::Send(_, message, Completion::Blocking | Completion::Request(_)) => {
                self.count(Sent(message.comm, message.to, message.tag));
            }
            Event::Recv(message, Completion::Blocking) => self.receive(message),
            Event::Recv(message, Completion::Request(id)) => {
                if let Some(id) = id {
                    self.note(*id, message, false);
                }
                self.receive(message);
            }
            Event::Sendrecv(sent, received) => {
                if let Some(message) = sent {
                    self.count(Sent(message.comm, message.to, message.tag));
                }
                received.iter().for_each(|message| self.receive(message));
            }
            Event::Matched(id, from, tag) => {
                if let Some(&OpenReceive { comm, .. }) = self.open.get(id) {
                    self.count(Received(comm, *from, *tag));
                }
            }
            Event::Start(ids) => ids.iter().for_each(|&id| self.count(Start(id))),
            Event::Collective(Collective { comm, .. }, Completion::Blocking | Completion::Request(_)) => {
                self.count(UnrecordedCall::Collective(*comm));
            }
            Event::Neighborhood(call, Completion::Blocking | Completion::Request(_)) => {
                self.count(UnrecordedCall::Collective(call.comm));
            }
            Event::OneSided(OneSided::Sync(Synchronisation { call, win, ranks, .. })) => match call {
                WinSync::Fence => self.count(UnrecordedCall::Fence(*win)),
                WinSync::Start => ranks.iter().for_each(|&rank| self.count(UnrecordedCall::AccessEpoch(*win, rank))),
                WinSync::Post => ranks.iter().for_each(|&rank| self.count(UnrecordedCall::ExposureEpoch(*win, rank))),
                // Calls that end an epoch, or are of its origin alone.
                _ => {}
            },
            Event::File(event) => self.call_on_file(event),
            // Calls that set up a request, that belong with no call of another rank, or that are in the trace anyhow.
            Event::Send(.., Completion::Persistent(_))
            | Event::Recv(_, Completion::Persistent(_))
            | Event::Collective(_, Completion::Persistent(_))
            | Event::Neighborhood(_, Completion::Persistent(_))
            | Event::Init
            | Event::Finalize
            | Event::Compute(_)
            | Event::Sleep(_)
            | Event::Probe(_)
            | Event::Iprobe(..)
            | Event::Partitioned(_)
            | Event::RequestFree(_)
            | Event::Cancel(_)
            | Event::Wait(..)
            | Event::Test(..)
            | Event::OneSided(OneSided::Create(..) | OneSided::Free(_) | OneSided::Access(_))
            | Event::Other(_)
            | Event::CommCreate(..)
            | Event::CommFree(_)
            | Event::Mark(_)
            | Event::Task(_)
            | Event::Annotation(_) => {}
        }
    }

    /// Whether the call is in the trace for any part of the program: it creates or frees objects that later calls may
    /// name.
    #[must_use]
    pub(super) fn is_definition(event: &Event) -> bool {
        match event {
            Event::Init | Event::Finalize | Event::CommCreate(..) | Event::CommFree(_) | Event::RequestFree(_) => true,
            Event::Send(.., completion) | Event::Recv(_, completion) => matches!(completion, Completion::Persistent(_)),
            Event::Collective(_, completion) | Event::Neighborhood(_, completion) => {
                matches!(completion, Completion::Persistent(_))
            }
            Event::Partitioned(event) => matches!(event, Partitioned::SendInit(..) | Partitioned::RecvInit(..)),
            Event::OneSided(event) => matches!(event, OneSided::Create(..) | OneSided::Free(_)),
            Event::File(event) => matches!(event, FileEvent::Open(..) | FileEvent::Close(_)),
            Event::Mark(mark) => matches!(mark, Mark::CallStack(..)),
            Event::Compute(_) | Event::Sleep(_) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => false,
            Event::Start(_) | Event::Cancel(_) | Event::Matched(..) | Event::Wait(..) | Event::Test(..) => false,
            Event::Other(_) | Event::Task(_) | Event::Annotation(_) => false,
        }
    }

    /// The calls since this was asked last, if there were any.
    pub(super) fn take(&mut self) -> Option<Mark> {
        let numbers = std::mem::take(&mut self.numbers);
        let calls: Box<[Unrecorded]> = numbers.into_iter().map(|(call, number)| Unrecorded { call, number }).collect();
        (!calls.is_empty()).then_some(Mark::Unrecorded(calls))
    }

    fn note(&mut self, id: RequestId, message: &Incoming, is_recorded: bool) {
        if message.is_open() {
            self.open.insert(id, OpenReceive { comm: message.comm, is_recorded });
        }
    }

    fn receive(&mut self, message: &Incoming) {
        if let (Some(from), Some(tag)) = (message.from, message.tag) {
            self.count(UnrecordedCall::Received(message.comm, from, tag));
        }
    }

    fn call_on_file(&mut self, event: &FileEvent) {
        let access = if let FileEvent::Access(access) = event { Some(access) } else { None };
        let is_end = access.is_some_and(|access| access.phase == Phase::End);
        if let Some(file) = event.id().filter(|_| event.is_collective() && !is_end) {
            self.count(UnrecordedCall::File(file));
        }
        if let Some(access) = access.filter(|access| access.reach.is_own_place() && !is_end) {
            let moved = self.numbers.entry(UnrecordedCall::Moved(access.file)).or_default();
            *moved = moved.wrapping_add(access.distance());
        }
    }

    fn count(&mut self, call: UnrecordedCall) {
        *self.numbers.entry(call).or_default() += 1;
    }
}
