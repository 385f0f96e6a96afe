//! Messages, collectives, and the requests of those that are not blocking.

use std::sync::Arc;

use titr_common::event::{
    Collective, CollectiveKind, CommId, Completed, Completion, Event, Incoming, MessageCompletion, Outgoing,
    Quantifier, RequestId, SendMode, Tag, Wildcard,
};
use titr_common::trace::LocatedEvents;
use titr_common::units::Bytes;

use super::fields::Otf2Fields;
use super::functions::{Otf2Function, kind_of};
use super::local::Otf2Kind;
use super::own::request_of;
use super::translation::{Fault, Otf2Pending, Otf2Translation};
use super::volumes::{self, Amounts, Convention, Root, is_divided};
use crate::input::functions::has_lists;

/// The fields of a record, or an error.
macro_rules! fields {
    ($f:ident: $($method:ident),+) => {
        ($($f.$method().ok_or(Fault::Malformed)?),+)
    };
}

impl Otf2Translation {
    /// Translates a record of a message, a collective or a request.
    pub(super) fn message(&mut self, kind: u8, mut f: Otf2Fields<'_>, events: &mut LocatedEvents) -> Result<(), Fault> {
        match kind {
            14 | 15 => {
                let (peer, comm, tag, bytes) = fields!(f: u32, u32, u32, u64);
                let request = if kind == 15 { Some(fields!(f: u64)) } else { None };
                let Some(message) = self.outgoing(peer, comm, tag, bytes, events)? else { return Ok(()) };
                let mode = match self.thread.call.map(|call| call.function) {
                    Some(Otf2Function::Send(mode)) => mode,
                    _ => SendMode::Standard,
                };
                let completion = match request {
                    Some(name) => Completion::Request(Some(self.make(name, events))),
                    None => Completion::Blocking,
                };
                self.thread.pending.push(Otf2Pending::Event(Event::Send(mode, message, completion)));
            }
            18 => {
                let (peer, comm, tag, bytes) = fields!(f: u32, u32, u32, u64);
                let message = self.incoming(peer, comm, tag, bytes, events)?;
                self.thread.pending.push(Otf2Pending::Event(Event::Recv(message, Completion::Blocking)));
            }
            19 => {
                let (peer, comm, tag, bytes, name) = fields!(f: u32, u32, u32, u64, u64);
                let message = self.incoming(peer, comm, tag, bytes, events).or_else(|fault| {
                    // EZTrace writes what is in a status that no one filled in.
                    if self.archive.is_score_p() { Err(fault) } else { Ok(unknown_message()) }
                })?;
                self.notes.unknown += u64::from(message.is_open());
                let event = |completion: Completion| {
                    let completion: MessageCompletion = match completion {
                        Completion::Request(id) => Completion::Request(Some(id)),
                        Completion::Blocking | Completion::Persistent(_) => Completion::Blocking,
                    };
                    Event::Recv(message, completion)
                };
                self.complete(name, event, events);
            }
            17 | 85 => {
                let name = fields!(f: u64);
                self.make(name, events);
                self.thread.pending.push(Otf2Pending::Open(name));
            }
            16 => {
                let name = fields!(f: u64);
                // Of a send that began while the measurement was off.
                if let Some(id) = self.release(name) {
                    self.thread.completed.push(id);
                }
            }
            21 => {
                let name = fields!(f: u64);
                if self.is_own {
                    self.thread.completed.push(request_of(name));
                } else if let Some(id) = self.requests.numbers.free(name) {
                    let receive = Event::Recv(unknown_message(), Completion::Request(Some(id)));
                    self.fill(name, Some(receive), events);
                    self.thread.pending.push(Otf2Pending::Event(Event::Cancel(id)));
                    self.thread.completed.push(id);
                }
            }
            23 | 86 => {
                let (operation, comm, root, sent, received) = fields!(f: byte, u32, u32, u64, u64);
                let name = if kind == 86 { Some(fields!(f: u64)) } else { None };
                // The collectives after those of MPI create and destroy windows.
                let Some(operation) = kind_of(operation) else { return Ok(()) };
                let call = self.collective(operation, comm, root, (sent, received), name.is_none(), events)?;
                match name {
                    None => self.thread.pending.push(Otf2Pending::Event(Event::Collective(call, Completion::Blocking))),
                    Some(name) => self.complete(name, |completion| Event::Collective(call, completion), events),
                }
            }
            // A test in vain, of which the function says as much.
            _ => {}
        }
        Ok(())
    }

    fn outgoing(
        &mut self,
        peer: u32,
        comm: u32,
        tag: u32,
        bytes: u64,
        events: &mut LocatedEvents,
    ) -> Result<Option<Outgoing>, Fault> {
        let comm = self.comm(comm, events)?;
        match comm.peers.get(peer as usize) {
            Some(&to) => Ok(Some(Outgoing { comm: comm.id, to, tag: Tag(tag.cast_signed()), bytes: Bytes(bytes) })),
            // EZTrace has sends to `MPI_PROC_NULL`, which libraries represent by negative numbers.
            None if peer.cast_signed() < 0 && !self.archive.is_score_p() => Ok(None),
            None => Err(no_member(peer, comm.peers.len())),
        }
    }

    fn incoming(
        &mut self,
        peer: u32,
        comm: u32,
        tag: u32,
        bytes: u64,
        events: &mut LocatedEvents,
    ) -> Result<Incoming, Fault> {
        let comm = self.comm(comm, events)?;
        let from = comm.peers.get(peer as usize).copied().ok_or_else(|| no_member(peer, comm.peers.len()))?;
        let (from, tag) = (Some(from), Some(Tag(tag.cast_signed())));
        Ok(Incoming { comm: comm.id, from, tag, bytes: Bytes(bytes), wildcard: Wildcard::NONE })
    }

    fn collective(
        &mut self,
        kind: CollectiveKind,
        comm: u32,
        root: u32,
        (sent, received): (u64, u64),
        is_blocking: bool,
        events: &mut LocatedEvents,
    ) -> Result<Collective, Fault> {
        let definition = self.thread.local.global(Otf2Kind::Communicator, comm);
        let comm = self.comm(comm, events)?;
        let signature = kind.signature();
        let root = match Root::of_field(root) {
            _ if !signature.is_rooted => None,
            Root::None if !comm.is_inter => return Err(Fault::new(format!("a {kind} has no root"))),
            Root::None => None,
            Root::Myself => Some(self.rank),
            Root::Member(place) => {
                let root = comm.peers.get(place as usize).copied();
                Some(root.ok_or_else(|| no_member(place, comm.peers.len()))?)
            }
        };
        let members = if kind.is_shared_out() { &comm.mine } else { &comm.peers };
        let is_root = root == Some(self.rank);
        let amounts = Amounts { sent, received, members: members.len() as u64, me: comm.me as u64, is_root };
        let archive = Arc::clone(&self.archive);
        let shared = if is_blocking && has_lists(kind) {
            let number = self.lists.entry(definition).or_default();
            *number += 1;
            archive.shares().get(definition, *number - 1, kind)
        } else {
            None
        };
        let (send, recv) = volumes::volumes(archive.bytes, kind, amounts, shared);
        self.notes.divided += u64::from(is_divided(archive.bytes, kind, amounts, shared.is_some()));
        Ok(volumes::collective(comm.id, kind, root, (send, recv)))
    }

    /// Makes a request. One of the same name that is still active has completed without a record.
    fn make(&mut self, name: u64, events: &mut LocatedEvents) -> RequestId {
        if self.is_own {
            return request_of(name);
        }
        if let Some(old) = self.requests.numbers.free(name)
            && self.leave_open(name, old, events)
        {
            let wait = Event::Wait(Quantifier::Single, Completed::These(vec![old]));
            self.thread.pending.push(Otf2Pending::Event(wait));
        }
        self.requests.numbers.make(name, (), None, false).unwrap_or_default()
    }

    /// The number of a request that has completed, if the request is known.
    fn release(&mut self, name: u64) -> Option<RequestId> {
        if self.is_own { Some(request_of(name)) } else { self.requests.numbers.free(name) }
    }

    /// The operation with the request of this name has completed: it is the event, with the completion that it turns out to
    /// have.
    fn complete(&mut self, name: u64, event: impl FnOnce(Completion) -> Event, events: &mut LocatedEvents) {
        match self.release(name) {
            Some(id) => {
                self.fill(name, Some(event(Completion::Request(id))), events);
                self.thread.completed.push(id);
            }
            None => {
                self.notes.late += 1;
                self.thread.pending.push(Otf2Pending::Event(event(Completion::Blocking)));
            }
        }
    }

    /// Fills in an open operation.
    fn fill(&mut self, name: u64, event: Option<Event>, events: &mut LocatedEvents) {
        if let Some(place) = self.requests.open.remove(&name) {
            self.order.fill(place, event, events);
        } else if let Some(pending) =
            self.thread.pending.iter_mut().find(|pending| matches!(pending, Otf2Pending::Open(other) if *other == name))
        {
            *pending = event.map_or(Otf2Pending::Nothing, Otf2Pending::Event);
        }
    }

    /// Appends a part of a call.
    pub(super) fn append(&mut self, pending: Otf2Pending, events: &mut LocatedEvents) {
        match pending {
            Otf2Pending::Nothing => {}
            Otf2Pending::Event(event) => self.order.push(event, events),
            Otf2Pending::Open(name) => {
                self.requests.open.insert(name, self.order.open());
            }
        }
    }

    /// The messages of `MPI_Sendrecv` are one event.
    pub(super) fn join_messages(&mut self) {
        let (mut sent, mut received) = (None, None);
        for pending in &mut self.thread.pending {
            if let (Otf2Pending::Event(Event::Send(_, message, Completion::Blocking)), None) = (&*pending, sent) {
                sent = Some(*message);
            } else if let (Otf2Pending::Event(Event::Recv(message, Completion::Blocking)), None) = (&*pending, received)
            {
                received = Some(*message);
            } else {
                continue;
            }
            *pending = Otf2Pending::Nothing;
        }
        if sent.is_some() || received.is_some() {
            self.thread.pending.push(Otf2Pending::Event(Event::Sendrecv(sent, received)));
        }
    }

    /// EZTrace records no completions where the program ignores statuses: `MPI_Waitall` completes everything.
    pub(super) fn complete_without_records(&mut self, events: &mut LocatedEvents) {
        if self.archive.convention == Convention::EzTrace {
            self.complete_all(events);
        }
    }

    fn complete_all(&mut self, events: &mut LocatedEvents) {
        for name in self.requests.numbers.active() {
            if let Some(id) = self.requests.numbers.free(name)
                && self.leave_open(name, id, events)
            {
                self.thread.completed.push(id);
            }
        }
    }

    /// The completion of an operation is not in the archive. Returns whether it remains among the rank's events.
    fn leave_open(&mut self, name: u64, id: RequestId, events: &mut LocatedEvents) -> bool {
        if !self.requests.open.contains_key(&name) {
            return true;
        }
        let is_kept = self.archive.convention == Convention::EzTrace;
        let receive = || Event::Recv(unknown_message(), Completion::Request(Some(id)));
        self.fill(name, is_kept.then(receive), events);
        *(if is_kept { &mut self.notes.unknown } else { &mut self.notes.unfinished }) += 1;
        is_kept
    }

    /// The rank ends: no more completions follow.
    pub(super) fn leave_open_requests(&mut self, events: &mut LocatedEvents) {
        let names: Vec<u64> = self.requests.open.keys().copied().collect();
        if self.archive.convention == Convention::EzTrace {
            self.complete_all(events);
            if let Some(wait) = self.thread.completion(Otf2Function::Wait(Quantifier::All)) {
                self.order.push(wait, events);
            }
        }
        for name in names {
            if let Some(id) = self.requests.numbers.number(name) {
                self.leave_open(name, id, events);
            }
        }
    }
}

/// A message from anybody, of unknown size.
fn unknown_message() -> Incoming {
    let wildcard = Wildcard { source: true, tag: true };
    Incoming { comm: CommId::WORLD, from: None, tag: None, bytes: Bytes(0), wildcard }
}

fn no_member(place: u32, members: usize) -> Fault {
    Fault::new(format!("rank {place} of a communicator of {members}"))
}
