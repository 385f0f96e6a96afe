//! What a call says of a message, kept for as long as is needed: the call's own arguments are gone when it returns.

use titr_wrappers::argument::{Comm, Count, Datatype, Place, Request, Status};
use titr_wrappers::signature::{Probe, Recv, Send, Sendrecv, SendrecvReplace};

/// A message as a call sends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offered {
    pub(super) comm: Comm,
    pub(super) dest: i32,
    pub(super) tag: i32,
    pub(super) count: Count,
    pub(super) datatype: Datatype,
}

/// A message as a call asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) comm: Comm,
    pub(super) source: i32,
    pub(super) tag: i32,
    /// None for a probe, which has no buffer.
    pub(super) room: Option<(Count, Datatype)>,
}

/// What a receive that has ended was matched with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) source: i32,
    pub(super) tag: i32,
}

/// The name of a request: a handle, and where the library put it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) handle: Request,
    pub(super) place: usize,
}

impl From<Status<'_>> for Match {
    fn from(status: Status<'_>) -> Self {
        Self { source: status.source(), tag: status.tag() }
    }
}

impl From<&Place<'_, Request>> for Named {
    fn from(place: &Place<'_, Request>) -> Self {
        Self { handle: place.get(), place: place.address() }
    }
}

impl From<&Send<'_>> for Offered {
    fn from(send: &Send<'_>) -> Self {
        let (count, datatype) = (send.count(), send.datatype());
        Self { comm: send.comm(), dest: send.dest(), tag: send.tag(), count, datatype }
    }
}

impl From<&Recv<'_>> for Wanted {
    fn from(recv: &Recv<'_>) -> Self {
        let room = Some((recv.count(), recv.datatype()));
        Self { comm: recv.comm(), source: recv.source(), tag: recv.tag(), room }
    }
}

impl From<&Probe<'_>> for Wanted {
    fn from(probe: &Probe<'_>) -> Self {
        Self { comm: probe.comm(), source: probe.source(), tag: probe.tag(), room: None }
    }
}

pub(super) fn halves(both: &Sendrecv<'_>) -> (Offered, Wanted) {
    let comm = both.comm();
    let (count, datatype, room) = (both.sendcount(), both.sendtype(), (both.recvcount(), both.recvtype()));
    (
        Offered { comm, dest: both.dest(), tag: both.sendtag(), count, datatype },
        Wanted { comm, source: both.source(), tag: both.recvtag(), room: Some(room) },
    )
}

pub(super) fn halves_of_one(both: &SendrecvReplace<'_>) -> (Offered, Wanted) {
    let comm = both.comm();
    let (count, datatype) = (both.count(), both.datatype());
    (
        Offered { comm, dest: both.dest(), tag: both.sendtag(), count, datatype },
        Wanted { comm, source: both.source(), tag: both.recvtag(), room: Some((count, datatype)) },
    )
}
