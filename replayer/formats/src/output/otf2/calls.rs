//! The records between the beginning and the end of a call: its messages, collectives and requests.

use std::cmp::Ordering;
use std::rc::Rc;

use titr_common::event::{
    Collective, CollectiveKind, CommId, Completed, Completion, Event, Incoming, Outgoing, Quantifier, Rank, RequestId,
    RequestKey, Tag, Volumes, Wildcard,
};
use titr_common::program::{Communicators, Fault, Members, RequestTable, Template};

use super::chunks::RecordBody;
use super::definitions::{ArchiveDefinitions, ITSELF, UNDEFINED, WORLD};
use crate::input::otf2::functions::number_of;
use crate::input::otf2::volumes::{Amounts, describes};
use crate::output::{add_request, set_up};

/// The root of a collective between two groups: the rank itself, and a rank of the own group.
const MYSELF: u32 = 0xffff_fffe;
const OWN_GROUP: u32 = 0xffff_fffd;

/// The number in records of the first request that the trace has no number for.
const UNNUMBERED: u64 = 1 << 32;

#[derive(Default)]
pub(super) struct CallRecords {
    /// Their types and fields.
    pub records: Vec<(u8, RecordBody)>,
    /// Whether the name of the function and the records say all that the event does.
    pub is_described: bool,
}

impl CallRecords {
    fn add(&mut self, kind: u8, body: RecordBody) {
        self.records.push((kind, body));
    }
}

/// An operation with a request.
#[derive(Clone, Copy)]
struct OpenOperation {
    /// The number of the request in records.
    name: u64,
    operation: PendingOperation,
}

#[derive(Clone, Copy)]
enum PendingOperation {
    Send,
    Receive(Incoming),
    Cancelled,
    Collective(CollectiveEnd),
}

impl PartialEq for OpenOperation {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OpenOperation {}

// Operations are completed in the order in which they began.
impl Ord for OpenOperation {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl PartialOrd for OpenOperation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The fields of the record of the end of a collective.
#[derive(Clone, Copy)]
struct CollectiveEnd {
    operation: u8,
    comm: u32,
    root: u32,
    amounts: Amounts,
}

impl CollectiveEnd {
    fn body(&self) -> RecordBody {
        let Self { operation, comm, root, amounts } = self;
        RecordBody::default().byte(*operation).u32(*comm).u32(*root).u64(amounts.sent).u64(amounts.received)
    }
}

/// The state of a rank between its calls.
pub(super) struct CallTranslation<'a> {
    rank: Rank,
    communicators: &'a mut Communicators,
    requests: RequestTable<OpenOperation>,
    unnumbered: u64,
}

impl<'a> CallTranslation<'a> {
    pub(super) fn new(rank: Rank, communicators: &'a mut Communicators) -> Self {
        Self { rank, communicators, requests: RequestTable::default(), unnumbered: UNNUMBERED }
    }

    /// The source and the tag of a receive with a wildcard.
    pub(super) fn matched(&mut self, id: RequestId, source: Rank, tag: Tag) {
        if let Some(Some(OpenOperation { operation: PendingOperation::Receive(message), .. })) =
            self.requests.activity_mut(id)
        {
            (message.from, message.tag) = (Some(source), Some(tag));
        }
    }

    pub(super) fn cancelled(&mut self, id: RequestId) {
        if let Some(Some(active)) = self.requests.activity_mut(id) {
            active.operation = PendingOperation::Cancelled;
        }
    }

    pub(super) fn call(&mut self, event: &Event, definitions: &mut ArchiveDefinitions) -> Result<CallRecords, Fault> {
        let mut call = CallRecords::default();
        if let Some((id, template)) = set_up(self.rank, event, self.communicators)? {
            self.requests.add_persistent(id, template)?;
            return Ok(call);
        }
        match event {
            Event::Init | Event::Finalize | Event::Test(_, None) => call.is_described = true,
            Event::Send(_, message, completion) => match completion {
                Completion::Blocking => {
                    call.add(14, self.outgoing(message, definitions)?);
                    call.is_described = true;
                }
                Completion::Request(id) => {
                    let key = RequestKey { from: Some(self.rank), to: message.to, tag: Some(message.tag) };
                    let active = self.begin(*id, key, PendingOperation::Send)?;
                    call.add(15, self.outgoing(message, definitions)?.u64(active));
                    call.is_described = id.is_some();
                }
                Completion::Persistent(_) => {}
            },
            Event::Recv(message, completion) => match completion {
                Completion::Blocking => call.is_described = self.receive(message, None, &mut call, definitions)?,
                Completion::Request(id) => {
                    let key = RequestKey { from: message.from, to: self.rank, tag: message.tag };
                    let active = self.begin(*id, key, PendingOperation::Receive(*message))?;
                    call.add(17, RecordBody::default().u64(active));
                }
                Completion::Persistent(_) => {}
            },
            Event::Sendrecv(sent, received) => {
                call.is_described = sent.is_some() || received.is_some();
                if let Some(message) = sent {
                    call.add(14, self.outgoing(message, definitions)?);
                }
                if let Some(message) = received {
                    call.is_described &= self.receive(message, None, &mut call, definitions)?;
                }
            }
            Event::Start(ids) => ids.iter().try_for_each(|&id| self.start(id, &mut call, definitions))?,
            Event::RequestFree(id) => _ = self.requests.free(*id)?,
            Event::Wait(quantifier, completed) | Event::Test(quantifier, Some(completed)) => {
                self.complete(*quantifier, completed, &mut call, definitions)?;
            }
            Event::Collective(collective, completion) => match completion {
                Completion::Blocking => {
                    let ended = self.ended(collective, definitions)?;
                    call.add(22, RecordBody::default());
                    call.add(23, ended.body());
                    call.is_described = describes(ended.amounts, collective);
                }
                Completion::Request(id) => {
                    let operation = PendingOperation::Collective(self.ended(collective, definitions)?);
                    let name = name_of(*id);
                    self.requests.add(*id, Some(OpenOperation { name, operation }))?;
                    call.add(85, RecordBody::default().u64(name));
                }
                Completion::Persistent(_) => {}
            },
            Event::Neighborhood(_, Completion::Request(id)) => self.requests.add(*id, None)?,
            Event::Neighborhood(..) | Event::Partitioned(_) => {}
            Event::OneSided(_) | Event::File(_) | Event::Other(_) => {
                event.starts().iter().try_for_each(|&id| self.requests.add(id, None))?;
            }
            Event::CommCreate(function, parent, Some(group)) => {
                self.communicators.create(self.rank, *function, *parent, group)?;
                let (number, _) = self.communicator(group.id, definitions)?;
                call.add(87, RecordBody::of(&[number]));
            }
            Event::CommFree(id) => {
                let (number, _) = self.communicator(*id, definitions)?;
                call.add(88, RecordBody::of(&[number]));
                self.communicators.free(self.rank, *id)?;
            }
            Event::CommCreate(_, _, None) | Event::Probe(_) | Event::Iprobe(..) => {}
            Event::Compute(_) | Event::Sleep(_) | Event::Matched(..) | Event::Cancel(_) => {}
            Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => {}
        }
        Ok(call)
    }

    /// The number of a communicator in records, and its members.
    fn communicator(&mut self, id: CommId, definitions: &mut ArchiveDefinitions) -> Result<(u32, Rc<Members>), Fault> {
        let index = self.communicators.find(self.rank, id)?;
        let communicator = self.communicators.get(index);
        let number = match id {
            CommId::WORLD => WORLD,
            CommId::SELF => ITSELF,
            _ => definitions.communicator(communicator.context, &communicator.members),
        };
        Ok((number, Rc::clone(&communicator.members)))
    }

    fn outgoing(&mut self, message: &Outgoing, definitions: &mut ArchiveDefinitions) -> Result<RecordBody, Fault> {
        let (comm, members) = self.communicator(message.comm, definitions)?;
        let numbers = [place(&members, message.to)?, comm, message.tag.0.cast_unsigned()];
        Ok(RecordBody::of(&numbers).u64(message.bytes.0))
    }

    /// Adds the record of a receive that has completed, if its message is known; returns whether the record says all of it.
    fn receive(
        &mut self,
        message: &Incoming,
        request: Option<u64>,
        call: &mut CallRecords,
        definitions: &mut ArchiveDefinitions,
    ) -> Result<bool, Fault> {
        let Incoming { comm, from: Some(from), tag: Some(tag), bytes, wildcard } = *message else { return Ok(false) };
        let (comm, members) = self.communicator(comm, definitions)?;
        let body = RecordBody::of(&[place(&members, from)?, comm, tag.0.cast_unsigned()]).u64(bytes.0);
        match request {
            None => call.add(18, body),
            Some(name) => call.add(19, body.u64(name)),
        }
        Ok(wildcard == Wildcard::NONE)
    }

    /// Enters the request of an operation; returns its number in records.
    fn begin(&mut self, id: Option<RequestId>, key: RequestKey, operation: PendingOperation) -> Result<u64, Fault> {
        let name = id.map_or(self.unnumbered, name_of);
        self.unnumbered += u64::from(id.is_none());
        add_request(&mut self.requests, id, key, Some(OpenOperation { name, operation }))?;
        Ok(name)
    }

    /// Starts a persistent request.
    fn start(
        &mut self,
        id: RequestId,
        call: &mut CallRecords,
        definitions: &mut ArchiveDefinitions,
    ) -> Result<(), Fault> {
        let name = name_of(id);
        let operation = match self.requests.template(id).cloned() {
            Some(Template::Send(_, message)) => {
                call.add(15, self.outgoing(&message, definitions)?.u64(name));
                Some(PendingOperation::Send)
            }
            Some(Template::Receive(message)) => {
                call.add(17, RecordBody::default().u64(name));
                Some(PendingOperation::Receive(message))
            }
            Some(Template::Collective(collective, _)) => {
                call.add(85, RecordBody::default().u64(name));
                Some(PendingOperation::Collective(self.ended(&collective, definitions)?))
            }
            Some(Template::Neighbor(..) | Template::Partitioned(_)) => None,
            None => return Err(Fault::NotStartable(id)),
        };
        self.requests.start(id, operation.map(|operation| OpenOperation { name, operation }))
    }

    /// Adds the records of the requests that a wait or a test completed.
    fn complete(
        &mut self,
        quantifier: Quantifier,
        completed: &Completed,
        call: &mut CallRecords,
        definitions: &mut ArchiveDefinitions,
    ) -> Result<(), Fault> {
        let (ids, is_listed) = match completed {
            Completed::One(_, Some(id)) => (vec![*id], false),
            Completed::One(key, None) => {
                let active = self.requests.complete_keyed(key).flatten();
                return active.map_or(Ok(()), |active| self.completed(active, call, definitions).map(drop));
            }
            Completed::These(ids) => (ids.clone(), true),
            Completed::Outstanding(_) => (self.requests.active(), false),
        };
        let is_fitting = match quantifier {
            Quantifier::Single | Quantifier::Any => ids.len() == 1,
            Quantifier::All | Quantifier::Some => !ids.is_empty(),
        };
        call.is_described = is_listed && is_fitting;
        for id in ids {
            call.is_described &= match self.requests.complete(id)? {
                Some(active) => self.completed(active, call, definitions)?,
                None => false,
            };
        }
        if matches!(completed, Completed::Outstanding(_)) {
            let unnumbered = self.requests.complete_where(|_| false);
            unnumbered.into_iter().try_for_each(|active| self.completed(active, call, definitions).map(drop))?;
        }
        Ok(())
    }

    /// Adds the record of an operation that has completed; returns whether it has one.
    fn completed(
        &mut self,
        OpenOperation { name, operation }: OpenOperation,
        call: &mut CallRecords,
        definitions: &mut ArchiveDefinitions,
    ) -> Result<bool, Fault> {
        let before = call.records.len();
        match operation {
            PendingOperation::Send => call.add(16, RecordBody::default().u64(name)),
            PendingOperation::Receive(message) => _ = self.receive(&message, Some(name), call, definitions)?,
            PendingOperation::Cancelled => call.add(21, RecordBody::default().u64(name)),
            PendingOperation::Collective(ended) => call.add(86, ended.body().u64(name)),
        }
        Ok(call.records.len() > before)
    }

    /// The record of the end of a collective.
    fn ended(&mut self, call: &Collective, definitions: &mut ArchiveDefinitions) -> Result<CollectiveEnd, Fault> {
        let (comm, members) = self.communicator(call.comm, definitions)?;
        let me = members.member(self.rank)?;
        let first = members.first_group();
        let both = members.len() as u64;
        let mine = if me < first { first.into() } else { both - u64::from(first) };
        let partners = if members.is_inter() && !call.kind.is_shared_out() { both - mine } else { mine };
        let root = match call.root {
            None if call.kind.signature().is_rooted => OWN_GROUP,
            None => UNDEFINED,
            Some(root) if root == self.rank && members.is_inter() => MYSELF,
            Some(root) => place(&members, root)?,
        };
        let me = if me < first { me } else { me - first };
        let amounts = amounts(call, partners, me.into(), call.root == Some(self.rank));
        Ok(CollectiveEnd { operation: number_of(call.kind), comm, root, amounts })
    }
}

/// The number of a request in records.
fn name_of(id: RequestId) -> u64 {
    u64::from(id.0) + 1
}

/// The place of a rank among the members of its group.
pub(in crate::output) fn place(members: &Members, rank: Rank) -> Result<u32, Fault> {
    let member = members.member(rank)?;
    Ok(member.checked_sub(members.first_group()).unwrap_or(member))
}

/// The bytes in the record of a collective, by Score-P's convention: a rank counts what it exchanges with each member, itself
/// included. It is the one in the place `me` among as many members.
pub(super) fn amounts(call: &Collective, members: u64, me: u64, is_root: bool) -> Amounts {
    use CollectiveKind as K;
    let (send, recv) = (sum(&call.send), sum(&call.recv));
    let of_root = |bytes: u64| if is_root { bytes } else { 0 };
    let times = |bytes: u64, number: u64| bytes.saturating_mul(number);
    let (sent, received) = match call.kind {
        K::Barrier => (0, 0),
        K::Bcast => (of_root(times(send, members)), send),
        K::Reduce => (send, of_root(times(send, members))),
        K::Allreduce => (times(send, members), times(send, members)),
        K::Scan => (times(send, members.saturating_sub(me)), times(send, me + 1)),
        K::Exscan => (times(send, members.saturating_sub(me + 1)), times(send, me)),
        K::ReduceScatter => {
            let mine = call.recv.per_member().get(me as usize).map_or(0, |bytes| bytes.0);
            (recv, times(mine, members))
        }
        K::ReduceScatterBlock => (times(recv, members), times(recv, members)),
        K::Gather => (send, of_root(times(recv, members))),
        K::Scatter => (of_root(times(send, members)), recv),
        K::Allgather | K::Alltoall => (times(send, members), times(recv, members)),
        K::Gatherv => (send, of_root(recv)),
        K::Scatterv => (of_root(send), recv),
        K::Allgatherv => (times(send, members), recv),
        K::Alltoallv | K::Alltoallw => (send, recv),
    };
    Amounts { sent, received, members, me, is_root }
}

/// The bytes in one buffer, where it has a number for each member; otherwise the number.
pub(in crate::output) fn sum(volumes: &Volumes) -> u64 {
    match volumes {
        Volumes::None => 0,
        Volumes::Each(bytes) => bytes.0,
        Volumes::PerMember(list) => list.iter().fold(0, |sum, bytes| sum.saturating_add(bytes.0)),
    }
}
