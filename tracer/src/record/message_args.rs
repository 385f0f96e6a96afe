//! The arguments of a message, kept for as long as they are needed: the call's own arguments no longer exist when it
//! returns.

use titr_common::units::Bytes;
use titr_wrappers::argument::{Comm, Count, Datatype, Place, Request, Status};
use titr_wrappers::signature::{Probe, Recv, Send, Sendrecv, SendrecvReplace};

use crate::pmpi;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SendArgs {
    pub(crate) comm: Comm,
    pub(crate) dest: i32,
    pub(crate) tag: i32,
    pub(crate) count: Count,
    pub(crate) datatype: Datatype,
}

/// The arguments of a receive or a probe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecvArgs {
    pub(crate) comm: Comm,
    pub(crate) source: i32,
    pub(crate) tag: i32,
    /// The buffer; `None` for a probe.
    pub(crate) buffer: Option<(Count, Datatype)>,
}

/// The source and the tag that a receive was matched with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) source: i32,
    pub(crate) tag: i32,
}

/// The program's name for a request: a handle, and the address where the library put it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRef {
    pub(crate) handle: Request,
    pub(crate) place: usize,
}

impl From<Status<'_>> for Match {
    fn from(status: Status<'_>) -> Self {
        Self { source: status.source(), tag: status.tag() }
    }
}

impl From<&Place<'_, Request>> for RequestRef {
    fn from(place: &Place<'_, Request>) -> Self {
        Self { handle: place.get(), place: place.address() }
    }
}

impl From<&Send<'_>> for SendArgs {
    fn from(send: &Send<'_>) -> Self {
        let (count, datatype) = (send.count(), send.datatype());
        Self { comm: send.comm(), dest: send.dest(), tag: send.tag(), count, datatype }
    }
}

impl From<&Recv<'_>> for RecvArgs {
    fn from(recv: &Recv<'_>) -> Self {
        let buffer = Some((recv.count(), recv.datatype()));
        Self { comm: recv.comm(), source: recv.source(), tag: recv.tag(), buffer }
    }
}

impl From<&Probe<'_>> for RecvArgs {
    fn from(probe: &Probe<'_>) -> Self {
        Self { comm: probe.comm(), source: probe.source(), tag: probe.tag(), buffer: None }
    }
}

/// The two messages of a send and receive.
pub(super) fn halves(both: &Sendrecv<'_>) -> (SendArgs, RecvArgs) {
    let comm = both.comm();
    let (count, datatype, buffer) = (both.sendcount(), both.sendtype(), (both.recvcount(), both.recvtype()));
    (
        SendArgs { comm, dest: both.dest(), tag: both.sendtag(), count, datatype },
        RecvArgs { comm, source: both.source(), tag: both.recvtag(), buffer: Some(buffer) },
    )
}

/// The two messages of a send and receive in one buffer.
pub(super) fn halves_of_one(both: &SendrecvReplace<'_>) -> (SendArgs, RecvArgs) {
    let comm = both.comm();
    let (count, datatype) = (both.count(), both.datatype());
    (
        SendArgs { comm, dest: both.dest(), tag: both.sendtag(), count, datatype },
        RecvArgs { comm, source: both.source(), tag: both.recvtag(), buffer: Some((count, datatype)) },
    )
}

impl SendArgs {
    /// The volumes that the message moves.
    pub(crate) fn volumes(&self) -> Volumes {
        (volume(self.count, self.datatype), Bytes(0))
    }
}

impl RecvArgs {
    /// The volumes that the message moves at most.
    pub(crate) fn volumes(&self) -> Volumes {
        let received = self.buffer.map_or(Bytes(0), |(count, datatype)| volume(count, datatype));
        (Bytes(0), received)
    }
}

/// The bytes that a call sends, and those that it receives.
pub(crate) type Volumes = (Bytes, Bytes);

/// The last datatype looked up, and its size.
#[derive(Debug, Default)]
pub(super) struct TypeSizes(Option<(Datatype, Bytes)>);

impl TypeSizes {
    #[inline]
    pub(super) fn volume(&mut self, count: Count, datatype: Datatype) -> Bytes {
        self.element(datatype).times(count.get())
    }

    #[inline]
    pub(super) fn element(&mut self, datatype: Datatype) -> Bytes {
        match self.0 {
            Some((last, element)) if last == datatype => element,
            _ => self.ask(datatype),
        }
    }

    #[cold]
    fn ask(&mut self, datatype: Datatype) -> Bytes {
        let element = element(datatype);
        self.0 = Some((datatype, element));
        element
    }

    /// A datatype is about to be freed, and its handle may be reused for another.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}

pub(super) fn volume(count: Count, datatype: Datatype) -> Bytes {
    element(datatype).times(count.get())
}

pub(super) fn element(datatype: Datatype) -> Bytes {
    Bytes(pmpi::type_size(datatype).unwrap_or(0))
}
