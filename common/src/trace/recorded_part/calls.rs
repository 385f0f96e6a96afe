//! The calls of one rank in the traced part of a program: the corresponding calls of other ranks, and the remaining
//! call if those are not in the trace.

use rustc_hash::FxHashMap;

use super::correspondence::{
    CommKey, Correspondence, CorrespondenceSide, Counterparts, Envelope, Omission, SizedComm, next,
};
use super::files::Files;
use super::windows::Windows;
use crate::event::{
    CommCall, CommId, Completed, Completion, Event, FileEvent, Group, Incoming, Mark, OneSided, Outgoing, Partitioned,
    Phase, Quantifier, Rank, RequestId, Tag,
};
use crate::program::agreement;

/// The calls of one rank.
pub(super) struct Calls {
    pub(super) rank: Rank,
    is_inside: bool,
    /// Whether the part ever began.
    pub(super) has_begun: bool,
    comms: FxHashMap<CommId, SizedComm>,
    /// The number of persistent collectives that were set up on each communicator, and of partitioned messages with
    /// each envelope.
    persistent: FxHashMap<CommKey, u32>,
    partitioned: FxHashMap<(Envelope, CorrespondenceSide), u32>,
    pub(super) requests: FxHashMap<RequestId, TracedRequest>,
    pub(super) windows: Windows,
    pub(super) files: Files,
}

#[derive(Clone, Copy)]
pub(super) struct TracedRequest {
    pub(super) operation: Operation,
    is_persistent: bool,
    /// Whether its start in the trace is not yet completed there, and if so whether its operation is kept.
    active: Option<bool>,
    /// The number among receives that leave their source or tag open, of an active one.
    any: Option<usize>,
}

#[derive(Clone, Copy)]
pub(super) enum Operation {
    Meets(Correspondence, CorrespondenceSide, u32),
    /// A receive on a communicator that leaves its source or tag open.
    ReceivesAny(CommKey),
    /// An operation that belongs with no other.
    Alone,
}

/// The outcome of a decision.
pub(super) enum Decision {
    Keep(Event),
    /// Like `Keep`, after another event.
    KeepAfter(Event, Event),
    /// Other events take its place.
    Replace(Vec<Event>),
    Drop,
}

impl Calls {
    pub(super) fn new(rank: Rank, ranks: u32) -> Self {
        let world = SizedComm { key: CommKey::Made(crate::program::CommIndex::WORLD), size: ranks };
        let itself = SizedComm { key: CommKey::Itself(rank), size: 1 };
        Self {
            rank,
            is_inside: false,
            has_begun: false,
            comms: [(CommId::WORLD, world), (CommId::SELF, itself)].into_iter().collect(),
            persistent: FxHashMap::default(),
            partitioned: FxHashMap::default(),
            requests: FxHashMap::default(),
            windows: Windows::new(rank),
            files: Files::new(rank),
        }
    }

    /// Decides on the next event, which is not an annotation.
    pub(super) fn decide(&mut self, event: Event, judge: &mut impl Counterparts) -> Decision {
        match event {
            Event::Mark(mark @ (Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_))) => {
                self.mark(&mark, judge);
                match mark {
                    Mark::PartEnd => Decision::Replace(self.windows.end_epochs()),
                    _ => Decision::Drop,
                }
            }
            Event::Send(_, message, completion) => {
                let operation = self.send(&message);
                self.start(event, operation, completion, judge)
            }
            Event::Recv(message, completion) => {
                let operation = self.receive(&message);
                self.start(event, operation, completion, judge)
            }
            Event::Sendrecv(sent, received) => {
                let sent = sent.filter(|message| self.meets(self.send(message), judge));
                let received = received.filter(|message| self.meets(self.receive(message), judge));
                keep_if(sent.is_some() || received.is_some(), Event::Sendrecv(sent, received))
            }
            Event::Probe(message) | Event::Iprobe(message, true) => {
                let kept = match self.receive(&message) {
                    Operation::Meets(meeting, side, _) => judge.would_meet(meeting, side),
                    Operation::ReceivesAny(_) | Operation::Alone => true,
                };
                keep_if(kept, event)
            }
            Event::Collective(ref call, completion) => self.collective(call.comm, event, completion, judge),
            Event::Neighborhood(ref call, completion) => self.collective(call.comm, event, completion, judge),
            Event::Partitioned(call) => self.partitioned(call),
            Event::Start(ids) => self.start_all(ids, judge),
            Event::RequestFree(id) => keep_if(self.requests.remove(&id).is_some(), event),
            Event::Cancel(id) => self.cancel(id, judge, event),
            Event::Matched(id, from, tag) => keep_if(self.matched(id, from, tag, judge), event),
            Event::Wait(ask, completed) => match self.complete(completed, judge) {
                Some(completed) => Decision::Keep(Event::Wait(ask, completed)),
                None => Decision::Drop,
            },
            Event::Test(ask, Some(completed)) => match self.complete(completed, judge) {
                Some(completed) => Decision::Keep(Event::Test(ask, Some(completed))),
                None => Decision::Drop,
            },
            Event::CommCreate(call, parent, made) => self.make(call, parent, made, judge),
            Event::CommFree(id) => keep_if(self.comms.remove(&id).is_some(), event),
            Event::OneSided(call) => self.one_sided(call, judge),
            Event::File(call) => self.file(call, judge),
            // Operations still in progress are completed after the part, and before the program ends.
            Event::Finalize => after(self.kept(), Some(event)),
            Event::Init | Event::Compute(_) | Event::Sleep(_) | Event::Other(_) => Decision::Keep(event),
            Event::Iprobe(_, false) | Event::Test(_, None) | Event::Mark(_) => Decision::Keep(event),
            Event::Task(_) | Event::Annotation(_) => Decision::Keep(event),
        }
    }

    fn mark(&mut self, mark: &Mark, judge: &mut impl Counterparts) {
        match mark {
            Mark::PartBegin => (self.is_inside, self.has_begun) = (true, true),
            Mark::PartEnd => self.is_inside = false,
            Mark::Unrecorded(calls) => calls.iter().for_each(|calls| self.skip(*calls, judge)),
            _ => {}
        }
    }

    pub(super) fn message(&self, comm: CommId, from: Rank, to: Rank, tag: Tag, side: CorrespondenceSide) -> Operation {
        self.comms.get(&comm).map_or(Operation::Alone, |comm| {
            let envelope = Envelope { comm: comm.key, from, to, tag };
            Operation::Meets(Correspondence::Message(envelope), side, CorrespondenceSide::OF_MESSAGE)
        })
    }

    fn send(&self, message: &Outgoing) -> Operation {
        self.message(message.comm, self.rank, message.to, message.tag, CorrespondenceSide::SENDER)
    }

    fn receive(&self, message: &Incoming) -> Operation {
        match (message.from, message.tag) {
            (Some(from), Some(tag)) => self.message(message.comm, from, self.rank, tag, CorrespondenceSide::RECEIVER),
            _ => self.comms.get(&message.comm).map_or(Operation::Alone, |comm| Operation::ReceivesAny(comm.key)),
        }
    }

    /// An operation of all members of a communicator.
    pub(super) fn on(&self, comm: CommId, meeting: impl FnOnce(CommKey) -> Correspondence) -> Operation {
        let Some(&SizedComm { key, size }) = self.comms.get(&comm) else { return Operation::Alone };
        Operation::Meets(meeting(key), CorrespondenceSide(self.rank.0), size)
    }

    fn meets(&self, operation: Operation, judge: &mut impl Counterparts) -> bool {
        match operation {
            Operation::Meets(meeting, side, sides) => judge.meets(meeting, side, sides),
            Operation::ReceivesAny(_) | Operation::Alone => true,
        }
    }

    fn collective(
        &mut self,
        comm: CommId,
        event: Event,
        completion: Completion,
        judge: &mut impl Counterparts,
    ) -> Decision {
        let operation = match completion {
            Completion::Blocking | Completion::Request(_) => self.on(comm, Correspondence::Collective),
            Completion::Persistent(_) => {
                let number = self.comms.get(&comm).map_or(0, |comm| next(&mut self.persistent, comm.key));
                self.on(comm, |key| Correspondence::PersistentCollective(key, number))
            }
        };
        let completion = match completion {
            Completion::Blocking => Completion::Blocking,
            Completion::Request(id) => Completion::Request(Some(id)),
            Completion::Persistent(id) => Completion::Persistent(id),
        };
        self.start(event, operation, completion, judge)
    }

    /// A call of an operation, or one that sets up a persistent one.
    fn start(
        &mut self,
        event: Event,
        operation: Operation,
        completion: Completion<Option<RequestId>>,
        judge: &mut impl Counterparts,
    ) -> Decision {
        match completion {
            Completion::Blocking | Completion::Request(None) => keep_if(self.meets(operation, judge), event),
            Completion::Request(Some(id)) => {
                let (any, kept) = self.begin(operation, judge);
                let request = TracedRequest { operation, is_persistent: false, active: Some(kept), any };
                let before = self.requests.insert(id, request);
                let is_used = before.is_some_and(|before| before.active == Some(true));
                let before = if is_used { vec![id] } else { Vec::new() };
                after(before, kept.then_some(event))
            }
            Completion::Persistent(id) => {
                self.requests.insert(id, TracedRequest { operation, is_persistent: true, active: None, any: None });
                Decision::Keep(event)
            }
        }
    }

    fn begin(&self, operation: Operation, judge: &mut impl Counterparts) -> (Option<usize>, bool) {
        match operation {
            Operation::ReceivesAny(_) => {
                let (number, kept) = judge.receives_any(self.rank);
                (Some(number), kept)
            }
            Operation::Meets(..) | Operation::Alone => (None, self.meets(operation, judge)),
        }
    }

    fn start_all(&mut self, ids: Vec<RequestId>, judge: &mut impl Counterparts) -> Decision {
        let (mut started, mut before) = (Vec::new(), Vec::new());
        for id in ids {
            let Some(&request) = self.requests.get(&id) else { continue };
            let (any, kept) = self.begin(request.operation, judge);
            started.extend(kept.then_some(id));
            before.extend((request.active == Some(true)).then_some(id));
            self.requests.insert(id, TracedRequest { active: Some(kept), any, ..request });
        }
        after(before, (!started.is_empty()).then_some(Event::Start(started)))
    }

    fn partitioned(&mut self, call: Partitioned) -> Decision {
        let (operation, id) = match &call {
            Partitioned::SendInit(message, _, id) => (self.channel(self.send(message)), *id),
            Partitioned::RecvInit(message, _, id) => (self.channel(self.receive(message)), *id),
            Partitioned::Ready(id, _) | Partitioned::Arrived(id, _) => {
                let kept = self.requests.get(id).is_some_and(|request| request.active == Some(true));
                return keep_if(kept, Event::Partitioned(call));
            }
        };
        self.requests.insert(id, TracedRequest { operation, is_persistent: true, active: None, any: None });
        Decision::Keep(Event::Partitioned(call))
    }

    fn channel(&mut self, operation: Operation) -> Operation {
        match operation {
            Operation::Meets(Correspondence::Message(envelope), side, sides) => {
                let number = next(&mut self.partitioned, (envelope, side));
                Operation::Meets(Correspondence::Partitioned(envelope, number), side, sides)
            }
            other => other,
        }
    }

    fn cancel(&mut self, id: RequestId, judge: &mut impl Counterparts, event: Event) -> Decision {
        let Some(request) = self.requests.get(&id) else { return Decision::Drop };
        if let (Operation::Meets(meeting, side, _), Some(_)) = (request.operation, request.active) {
            judge.withdraws(meeting, side);
        }
        keep_if(request.active == Some(true), event)
    }

    /// Records the match of a receive. Returns whether the receive is kept.
    fn matched(&mut self, id: RequestId, from: Rank, tag: Tag, judge: &mut impl Counterparts) -> bool {
        let Some(&TracedRequest { operation: Operation::ReceivesAny(comm), active, any, .. }) = self.requests.get(&id)
        else {
            return false;
        };
        let meeting = Correspondence::Message(Envelope { comm, from, to: self.rank, tag });
        match (active, any) {
            (Some(kept), Some(number)) => {
                judge.received(self.rank, number, meeting);
                kept
            }
            // It was started outside the part.
            _ => {
                judge.skips(meeting, CorrespondenceSide::RECEIVER, 1);
                false
            }
        }
    }

    /// The completions of a call whose operations are kept; `None` if there are none.
    fn complete(&mut self, completed: Completed, judge: &mut impl Counterparts) -> Option<Completed> {
        match completed {
            Completed::These(ids) if !ids.is_empty() => {
                let kept: Vec<RequestId> = ids.into_iter().filter(|&id| self.complete_one(id, judge)).collect();
                (!kept.is_empty()).then_some(Completed::These(kept))
            }
            Completed::One(key, Some(id)) => self.complete_one(id, judge).then_some(Completed::One(key, Some(id))),
            Completed::Outstanding(said) => {
                let open: Vec<RequestId> = self.active().map(|(id, _)| id).collect();
                let unknown = u64::from(said.unwrap_or_default()).saturating_sub(open.len() as u64);
                (0..unknown).for_each(|_| judge.leaves_out(Omission::Completion));
                let kept = open.into_iter().filter(|&id| self.complete_one(id, judge)).count();
                (kept > 0).then_some(Completed::Outstanding(Some(kept as u32)))
            }
            Completed::These(_) | Completed::One(_, None) => Some(completed),
        }
    }

    /// The requests that have to be completed, and whether their operations are kept.
    fn active(&self) -> impl Iterator<Item = (RequestId, bool)> {
        self.requests.iter().filter_map(|(&id, request)| Some((id, request.active?)))
    }

    /// The requests that have to be completed and whose operations are kept, in order.
    fn kept(&self) -> Vec<RequestId> {
        let mut kept: Vec<RequestId> = self.active().filter_map(|(id, kept)| kept.then_some(id)).collect();
        kept.sort_unstable();
        kept
    }

    fn complete_one(&mut self, id: RequestId, judge: &mut impl Counterparts) -> bool {
        let request = self.requests.get_mut(&id);
        let active = request.and_then(|request| {
            request.any = None;
            request.active.take()
        });
        if active.is_none() {
            judge.leaves_out(Omission::Completion);
        }
        if self.requests.get(&id).is_some_and(|request| !request.is_persistent) {
            self.requests.remove(&id);
        }
        active == Some(true)
    }

    /// A call that makes a communicator takes the time of an agreement, if all members make it in the part.
    fn make(&mut self, call: CommCall, parent: CommId, made: Option<Group>, judge: &mut impl Counterparts) -> Decision {
        let comm = made.as_ref().and_then(|group| judge.makes(self.rank, call, parent, group));
        if let Some((group, comm)) = made.as_ref().zip(comm) {
            self.comms.insert(group.id, comm);
        }
        let agreed = agreement(call, parent, made.as_ref()).filter(|_| !call.joins_worlds());
        let operation = agreed.map_or(Operation::Alone, |agreed| self.on(agreed.comm, Correspondence::Agreement));
        let kept = match operation {
            Operation::Meets(meeting, side, _) if !self.is_inside => {
                judge.skips(meeting, side, 1);
                false
            }
            operation => self.meets(operation, judge),
        };
        match (kept, made, comm) {
            (false, Some(group), Some(SizedComm { key: CommKey::Made(index), .. })) => {
                // A communicator that is there without a call, of a name that no other has.
                let group = Group { tag: Some(Tag(index.number() as i32)), ..group };
                Decision::Keep(Event::CommCreate(CommCall::World, CommId::WORLD, Some(group)))
            }
            (false, None, _) => Decision::Drop,
            (_, made, _) => Decision::Keep(Event::CommCreate(call, parent, made)),
        }
    }

    fn one_sided(&mut self, call: OneSided, judge: &mut impl Counterparts) -> Decision {
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

    fn file(&mut self, call: FileEvent, judge: &mut impl Counterparts) -> Decision {
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

/// An event, if it is kept, after requests are completed that the rank has completed outside of the part.
fn after(completed: Vec<RequestId>, event: Option<Event>) -> Decision {
    let wait = (!completed.is_empty()).then_some(Event::Wait(Quantifier::All, Completed::These(completed)));
    match (wait, event) {
        (Some(wait), Some(event)) => Decision::KeepAfter(wait, event),
        (Some(event), None) | (None, Some(event)) => Decision::Keep(event),
        (None, None) => Decision::Drop,
    }
}

fn keep_if(kept: bool, event: Event) -> Decision {
    if kept { Decision::Keep(event) } else { Decision::Drop }
}

fn decide(kept: Option<Event>, what: Omission, judge: &mut impl Counterparts) -> Decision {
    if kept.is_none() {
        judge.leaves_out(what);
    }
    kept.map_or(Decision::Drop, Decision::Keep)
}
