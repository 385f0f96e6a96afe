//! Collective operations and their volumes.
//!
//! What is not significant for a rank (MPI 4.0 §6: the receive arguments of a gather away from its root, the send
//! arguments where `MPI_IN_PLACE` stands) is never read. A reduction is counted as one instruction an element.

use titr_common::event::{self, CollectiveKind, Completion, Event, Extent, Volumes};
use titr_common::units::{Bytes, Instructions};
use titr_wrappers::argument::Place;
use titr_wrappers::functions::collective::Collective;
use titr_wrappers::pmpi;

use super::omitted_calls::Omission;
use super::requests::RequestKind;
use super::{Outcome, Recorder};
use crate::collective_call::{Blocks, BufferArgs, CollectiveCall, Start};
use crate::extended::Description;

impl Recorder {
    #[inline(never)]
    pub(super) fn collective(&mut self, call: &Collective<'_>) -> Outcome {
        let call = CollectiveCall::of(call);
        let operation = self.operation(&call);
        let completion = self.begin_collective(&call.start, operation.is_ok());
        let event = Event::Collective(operation?, completion);
        self.emit(&event);
        if let Event::Collective(operation, _) = event {
            self.reclaim(operation);
        }
        Ok(())
    }

    /// Adds the request of a collective that is not over when its call returns; `is_recorded` is whether an event speaks of
    /// the request.
    pub(super) fn begin_collective(&mut self, start: &Start<'_>, is_recorded: bool) -> Completion {
        let Some(request) = start.request() else { return Completion::Blocking };
        let what = if is_recorded { RequestKind::Collective } else { RequestKind::Nothing };
        let is_persistent = matches!(start, Start::Persistent(_));
        let id = self.requests.add(request.get(), request.address(), what, is_persistent);
        if is_persistent { Completion::Persistent(id) } else { Completion::Request(id) }
    }

    /// Describes a collective on an intra-communicator to the extended mode.
    pub(crate) fn describe(&mut self, call: &CollectiveCall<'_>) -> Option<Description> {
        let collective = self.operation(call).ok()?;
        let members = self.known(call.comm).ok()?.members.to_vec();
        Some(Description { comm: call.comm, members, collective, request: call.start.request().map(Place::address) })
    }

    /// The operation that a call asks for. Collectives of inter-communicators are not recorded: no schedule is known for
    /// them.
    fn operation(&mut self, call: &CollectiveCall<'_>) -> Result<event::Collective, Omission> {
        let known = self.known(call.comm)?;
        let root = call.root.map(|root| known.members.get(root).ok_or(Omission::Untraced)).transpose()?;
        let (comm, size) = (known.id, known.members.len());
        if known.remote.is_some() {
            return Err(Omission::Untraced);
        }
        let kind = call.kind;
        let signature = kind.signature();
        let given = (signature.send != Extent::None && call.gives()).then_some(&call.send);
        let gotten = (signature.recv != Extent::None && call.gets()).then_some(&call.recv);
        let (send, send_element) = side(given, gotten, signature.send, call, size, &mut self.sends);
        let (recv, recv_element) = side(gotten, given, signature.recv, call, size, &mut self.recvs);
        let element = match (kind, signature.recv) {
            (CollectiveKind::Gather | CollectiveKind::Gatherv, _) | (_, Extent::None) => send_element,
            _ => recv_element,
        };
        let work = if signature.reduces { call.send.blocks.elements(size) as f64 } else { 0.0 };
        Ok(event::Collective { comm, kind, root, send, recv, element, work: Instructions(work) })
    }

    /// Takes the lists of an operation back, for the next one.
    fn reclaim(&mut self, operation: event::Collective) {
        if let Volumes::PerMember(list) = operation.send {
            self.sends = list;
        }
        if let Volumes::PerMember(list) = operation.recv {
            self.recvs = list;
        }
    }
}

/// The volumes of one buffer, and the size of an element. `args` is `None` where the arguments are not significant; data
/// that is in place has the volumes of the other buffer.
fn side(
    args: Option<&BufferArgs<'_>>,
    other: Option<&BufferArgs<'_>>,
    extent: Extent,
    call: &CollectiveCall<'_>,
    size: usize,
    list: &mut Vec<Bytes>,
) -> (Volumes, Bytes) {
    match (args, other) {
        (Some(args), Some(other)) if args.buffer.is_in_place() => match args.blocks {
            Blocks::One(..) => block(&other.blocks, call),
            _ => volumes(&other.blocks, list),
        },
        (Some(args), _) => volumes(&args.blocks, list),
        (None, _) => {
            let none = match extent {
                Extent::None => Volumes::None,
                Extent::Each => Volumes::Each(Bytes(0)),
                Extent::PerMember => Volumes::PerMember(filled(list, std::iter::repeat_n(Bytes(0), size))),
            };
            (none, Bytes(1))
        }
    }
}

/// The volumes of all blocks of a buffer, in the memory of `list`, and the size of an element.
fn volumes(blocks: &Blocks<'_>, list: &mut Vec<Bytes>) -> (Volumes, Bytes) {
    // The elements of several datatypes have several sizes: a message may be cut anywhere.
    let element = blocks.datatype().map_or(Bytes(1), Recorder::element);
    let volumes = match blocks {
        Blocks::None => Volumes::None,
        Blocks::One(count, _) | Blocks::Equal(count, _) => Volumes::Each(element.times(count.get())),
        Blocks::Packed(counts, _) | Blocks::Displaced(counts, ..) => {
            Volumes::PerMember(filled(list, counts.iter().map(|count| element.times(count.get()))))
        }
        Blocks::Typed(counts, _, datatypes) => {
            let blocks = counts.iter().zip(datatypes.along(counts).iter());
            Volumes::PerMember(filled(list, blocks.map(|(count, datatype)| Recorder::bytes(count, datatype))))
        }
    };
    (volumes, element)
}

/// The volume of this rank's own block in a buffer of blocks, and the size of an element.
fn block(blocks: &Blocks<'_>, call: &CollectiveCall<'_>) -> (Volumes, Bytes) {
    match blocks {
        Blocks::Displaced(counts, _, datatype) => {
            let own = usize::try_from(pmpi::comm_rank(call.comm)).ok().and_then(|me| counts.get(me));
            let element = Recorder::element(*datatype);
            (Volumes::Each(element.times(own.unwrap_or_default().get())), element)
        }
        _ => volumes(blocks, &mut Vec::new()),
    }
}

fn filled(list: &mut Vec<Bytes>, volumes: impl Iterator<Item = Bytes>) -> Vec<Bytes> {
    let mut list = std::mem::take(list);
    list.clear();
    list.extend(volumes);
    list
}
