//! The arguments of calls.

use titr_common::event::{CollectiveKind, SendMode};

use crate::input::rank_events::is_local;

use super::line::{Arguments, LiballprofComm, LiballprofLine};

/// The call of a line, as far as titr has an event for it.
pub(super) enum LiballprofCall {
    Init,
    Finalize,
    Send(SendMode, Sent),
    /// The address of the request, and whether it is persistent.
    StartSend(SendMode, Sent, u64, bool),
    Recv(Received),
    StartRecv(Received, u64, bool),
    Sendrecv(Sent, Received),
    Probe(Received, LiballprofIsBlocking),
    /// The address of the request, of an array of them, and how many there are.
    Complete(Complete, u64, u64),
    Start(u64, u64),
    RequestFree(u64),
    Collective(Collective),
    MakeComm(MakeComm),
    /// A call that communicates and has no event.
    Untranslated,
    /// A call that moves no data, and the communicator that it names.
    Local(Option<LiballprofComm>),
}

/// Whether a probe waits for a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct LiballprofIsBlocking(pub bool);

/// A message as its sender describes it.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub bytes: u64,
    pub to: i64,
    pub tag: i64,
    pub comm: LiballprofComm,
}

/// A message as its receiver describes it.
#[derive(Clone, Copy)]
pub(super) struct Received {
    pub bytes: u64,
    pub from: i64,
    pub tag: i64,
    pub comm: LiballprofComm,
}

/// The function that completes requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Complete {
    Wait,
    Waitall,
    Waitany,
    Waitsome,
    Test,
    Testall,
    Testany,
    Testsome,
}

pub(super) struct Collective {
    pub kind: CollectiveKind,
    pub send: Block,
    pub recv: Block,
    pub root: Option<i64>,
    pub comm: LiballprofComm,
}

/// The data of a buffer.
pub(super) enum Block {
    None,
    /// The number of elements, and the size of one.
    Equal(i64, u64),
    /// The numbers of elements for each member; `None` if only their address is in the trace.
    Each(Option<Vec<u64>>, u64),
}

/// A call that makes a communicator from another one.
#[derive(Clone, Copy, Debug)]
pub(super) enum MakeComm {
    Dup(LiballprofComm),
    /// With the colour and the key.
    Split(LiballprofComm, i64, i64),
    /// By another function, of whose arguments the trace has only addresses.
    Create(LiballprofComm),
    CartCreate(LiballprofComm),
    GraphCreate(LiballprofComm),
    CartSub(LiballprofComm),
    /// With processes or groups that the trace does not describe.
    Between,
}

impl LiballprofCall {
    /// The call of a line; `None` if arguments are missing or wrong.
    pub(super) fn of(line: &LiballprofLine<'_>) -> Option<Self> {
        let mut a = line.arguments;
        let a = &mut a;
        Some(match line.function {
            b"Init" | b"Init_thread" => Self::Init,
            b"Finalize" => Self::Finalize,
            b"Send" => Self::Send(SendMode::Standard, sent(a)?),
            b"Bsend" => Self::Send(SendMode::Buffered, sent(a)?),
            b"Ssend" => Self::Send(SendMode::Synchronous, sent(a)?),
            b"Rsend" => Self::Send(SendMode::Ready, sent(a)?),
            b"Isend" => Self::StartSend(SendMode::Standard, sent(a)?, a.address()?, false),
            b"Ibsend" => Self::StartSend(SendMode::Buffered, sent(a)?, a.address()?, false),
            b"Issend" => Self::StartSend(SendMode::Synchronous, sent(a)?, a.address()?, false),
            b"Irsend" => Self::StartSend(SendMode::Ready, sent(a)?, a.address()?, false),
            b"Send_init" => Self::StartSend(SendMode::Standard, sent(a)?, a.address()?, true),
            b"Bsend_init" => Self::StartSend(SendMode::Buffered, sent(a)?, a.address()?, true),
            b"Ssend_init" => Self::StartSend(SendMode::Synchronous, sent(a)?, a.address()?, true),
            b"Rsend_init" => Self::StartSend(SendMode::Ready, sent(a)?, a.address()?, true),
            b"Recv" => Self::Recv(received(a)?),
            b"Irecv" => Self::StartRecv(received(a)?, a.address()?, false),
            b"Recv_init" => Self::StartRecv(received(a)?, a.address()?, true),
            b"Sendrecv" => {
                let (to, from) = (half(a)?, half(a)?);
                let comm = a.comm()?;
                Self::Sendrecv(to.sent(comm), from.received(comm))
            }
            b"Sendrecv_replace" => {
                let to = half(a)?;
                let (from, tag, comm) = (a.integer()?, a.integer()?, a.comm()?);
                Self::Sendrecv(to.sent(comm), Received { bytes: to.bytes, from, tag, comm })
            }
            b"Probe" | b"Iprobe" => {
                let (from, tag, comm) = (a.integer()?, a.integer()?, a.comm()?);
                Self::Probe(Received { bytes: 0, from, tag, comm }, LiballprofIsBlocking(line.function == b"Probe"))
            }
            b"Wait" => Self::Complete(Complete::Wait, a.address()?, 1),
            b"Test" => Self::Complete(Complete::Test, a.address()?, 1),
            b"Waitall" => several(Complete::Waitall, a)?,
            b"Waitany" => several(Complete::Waitany, a)?,
            b"Waitsome" => several(Complete::Waitsome, a)?,
            b"Testall" => several(Complete::Testall, a)?,
            b"Testany" => several(Complete::Testany, a)?,
            b"Testsome" => several(Complete::Testsome, a)?,
            b"Start" => Self::Start(a.address()?, 1),
            b"Startall" => {
                let number = number(a)?;
                Self::Start(a.address()?, number)
            }
            b"Request_free" => Self::RequestFree(a.address()?),
            b"Comm_dup" => Self::MakeComm(MakeComm::Dup(a.comm()?)),
            b"Comm_split" => Self::MakeComm(MakeComm::Split(a.comm()?, a.integer()?, a.integer()?)),
            b"Comm_create" => Self::MakeComm(MakeComm::Create(a.comm()?)),
            b"Cart_create" => Self::MakeComm(MakeComm::CartCreate(a.comm()?)),
            b"Graph_create" => Self::MakeComm(MakeComm::GraphCreate(a.comm()?)),
            b"Cart_sub" => Self::MakeComm(MakeComm::CartSub(a.comm()?)),
            b"Intercomm_create"
            | b"Intercomm_merge"
            | b"Comm_spawn"
            | b"Comm_spawn_multiple"
            | b"Comm_accept"
            | b"Comm_connect"
            | b"Comm_join" => Self::MakeComm(MakeComm::Between),
            b"Barrier" | b"Bcast" | b"Reduce" | b"Allreduce" | b"Scan" | b"Exscan" | b"Reduce_scatter" | b"Gather"
            | b"Scatter" | b"Allgather" | b"Alltoall" | b"Gatherv" | b"Scatterv" | b"Allgatherv" | b"Alltoallv"
            | b"Alltoallw" => Self::Collective(collective(line.function, a)?),
            b"Comm_rank" | b"Comm_size" => Self::Local(a.comm()),
            name if is_local(&String::from_utf8_lossy(name)) => Self::Local(None),
            _ => Self::Untranslated,
        })
    }

    /// The communicator that the call communicates on.
    pub(super) fn comm(&self) -> Option<LiballprofComm> {
        match self {
            Self::Send(_, sent) | Self::StartSend(_, sent, ..) | Self::Sendrecv(sent, _) => Some(sent.comm),
            Self::Recv(received) | Self::StartRecv(received, ..) | Self::Probe(received, _) => Some(received.comm),
            Self::Collective(collective) => Some(collective.comm),
            Self::MakeComm(make) => make.parent(),
            Self::Init | Self::Finalize | Self::Complete(..) | Self::Start(..) | Self::RequestFree(_) => None,
            Self::Untranslated => None,
            Self::Local(comm) => *comm,
        }
    }
}

impl MakeComm {
    /// The communicator that the new one is made of.
    pub(super) fn parent(self) -> Option<LiballprofComm> {
        match self {
            Self::Dup(comm) | Self::Split(comm, ..) | Self::Create(comm) => Some(comm),
            Self::CartCreate(comm) | Self::GraphCreate(comm) | Self::CartSub(comm) => Some(comm),
            Self::Between => None,
        }
    }
}

/// One direction of a message: the volume, the peer and the tag.
struct Half {
    bytes: u64,
    peer: i64,
    tag: i64,
}

impl Half {
    fn sent(&self, comm: LiballprofComm) -> Sent {
        Sent { bytes: self.bytes, to: self.peer, tag: self.tag, comm }
    }

    fn received(&self, comm: LiballprofComm) -> Received {
        Received { bytes: self.bytes, from: self.peer, tag: self.tag, comm }
    }
}

/// A buffer, a count, a datatype, a peer and a tag.
fn half(a: &mut Arguments<'_>) -> Option<Half> {
    let (_buffer, count, size) = (a.text()?, a.integer()?, a.datatype()?);
    Some(Half { bytes: volume(count, size), peer: a.integer()?, tag: a.integer()? })
}

/// The bytes of a number of elements.
pub(super) fn volume(count: i64, size: u64) -> u64 {
    u64::try_from(count).unwrap_or(0).saturating_mul(size)
}

fn sent(a: &mut Arguments<'_>) -> Option<Sent> {
    let half = half(a)?;
    Some(half.sent(a.comm()?))
}

fn received(a: &mut Arguments<'_>) -> Option<Received> {
    let half = half(a)?;
    Some(half.received(a.comm()?))
}

fn number(a: &mut Arguments<'_>) -> Option<u64> {
    u64::try_from(a.integer()?).ok()
}

fn several(complete: Complete, a: &mut Arguments<'_>) -> Option<LiballprofCall> {
    let number = number(a)?;
    Some(LiballprofCall::Complete(complete, a.address()?, number))
}

fn collective(function: &[u8], a: &mut Arguments<'_>) -> Option<Collective> {
    use CollectiveKind as Kind;
    let (mut send, mut recv, mut root) = (Block::None, Block::None, None);
    let kind = match function {
        b"Barrier" => Kind::Barrier,
        b"Bcast" => {
            send = equal(a)?;
            root = Some(a.integer()?);
            Kind::Bcast
        }
        b"Reduce" | b"Allreduce" | b"Scan" | b"Exscan" => {
            let _send = a.text()?;
            send = equal(a)?;
            let _operation = a.text()?;
            match function {
                b"Reduce" => {
                    root = Some(a.integer()?);
                    Kind::Reduce
                }
                b"Allreduce" => Kind::Allreduce,
                b"Scan" => Kind::Scan,
                _ => Kind::Exscan,
            }
        }
        b"Reduce_scatter" => {
            let (_send, _recv) = (a.text()?, a.text()?);
            let has_list = a.number_left() > 4;
            let counts = counts(a, has_list)?;
            recv = Block::Each(counts, a.datatype()?);
            let _operation = a.text()?;
            Kind::ReduceScatter
        }
        b"Gather" | b"Scatter" => {
            (send, recv, root) = (equal(a)?, equal(a)?, Some(a.integer()?));
            if function == b"Gather" { Kind::Gather } else { Kind::Scatter }
        }
        b"Allgather" | b"Alltoall" => {
            (send, recv) = (equal(a)?, equal(a)?);
            if function == b"Allgather" { Kind::Allgather } else { Kind::Alltoall }
        }
        b"Gatherv" | b"Allgatherv" => {
            let is_rooted = function == b"Gatherv";
            send = equal(a)?;
            let _recv = a.text()?;
            let has_list = a.number_left() > 4 + usize::from(is_rooted);
            recv = displaced(a, has_list)?;
            if is_rooted {
                root = Some(a.integer()?);
                Kind::Gatherv
            } else {
                Kind::Allgatherv
            }
        }
        b"Scatterv" => {
            let _send = a.text()?;
            let has_list = a.number_left() > 8;
            (send, recv, root) = (displaced(a, has_list)?, equal(a)?, Some(a.integer()?));
            Kind::Scatterv
        }
        _ => {
            let _send = a.text()?;
            let has_list = a.number_left() > 8;
            send = displaced(a, has_list)?;
            let _recv = a.text()?;
            recv = displaced(a, has_list)?;
            if function == b"Alltoallv" { Kind::Alltoallv } else { Kind::Alltoallw }
        }
    };
    Some(Collective { kind, send, recv, root, comm: a.comm()? })
}

/// A buffer, a count and a datatype.
fn equal(a: &mut Arguments<'_>) -> Option<Block> {
    let _buffer = a.text()?;
    Some(Block::Equal(a.integer()?, a.datatype()?))
}

/// The address of counts, and the counts if they follow it.
fn counts(a: &mut Arguments<'_>, has_list: bool) -> Option<Option<Vec<u64>>> {
    let _address = a.text()?;
    if !has_list {
        return Some(None);
    }
    // Where the argument is not significant, the list may be empty.
    let mut list = *a;
    _ = a.text()?;
    Some(list.list())
}

/// Counts, places, and a datatype, whose size is 0 where it is an array of datatypes.
fn displaced(a: &mut Arguments<'_>, has_list: bool) -> Option<Block> {
    let (counts, _places) = (counts(a, has_list)?, counts(a, has_list)?);
    match a.datatype() {
        Some(size) => Some(Block::Each(counts, size)),
        None => Some(Block::Each(None, 0)),
    }
}
