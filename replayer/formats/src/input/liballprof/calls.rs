//! The arguments of calls.

use titr_common::event::{CollectiveKind, CommCall, Quantifier, SendMode};

use crate::input::functions::{self, MessageForm};
use crate::input::rank_events::is_local;

use super::line::{Arguments, LiballprofComm, LiballprofLine};

/// The call of a line, as far as titr has an event for it.
pub(super) enum LiballprofCall {
    Init,
    Finalize,
    Send(SendMode, LiballprofMessage, Option<RequestMade>),
    Recv(LiballprofMessage, Option<RequestMade>),
    /// What is sent, and what is received.
    Sendrecv(LiballprofMessage, LiballprofMessage),
    /// And whether it waits for the message.
    Probe(LiballprofMessage, bool),
    /// Which of the requests are asked for, whether they are only tested; the address of the request, of an array of them, and
    /// how many there are.
    Complete(Quantifier, bool, u64, u64),
    Start(u64, u64),
    RequestFree(u64),
    Collective(Collective),
    MakeComm(MakeComm),
    /// A call that communicates and has no event.
    Untranslated,
    /// A call that moves no data, and the communicator that it names.
    Local(Option<LiballprofComm>),
}

/// A message as one of its ends describes it.
#[derive(Clone, Copy)]
pub(super) struct LiballprofMessage {
    pub bytes: u64,
    pub peer: i64,
    pub tag: i64,
    pub comm: LiballprofComm,
}

/// The request that a call makes: its address.
#[derive(Clone, Copy)]
pub(super) struct RequestMade {
    pub address: u64,
    pub is_persistent: bool,
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
pub(super) struct MakeComm {
    pub function: CommCall,
    /// The communicator that the new one is made of; `None` for processes or groups that the trace does not describe.
    pub parent: Option<LiballprofComm>,
    /// The colour and the key of a split. Of the arguments of other functions, the trace has only addresses.
    pub split: Option<(i64, i64)>,
}

impl LiballprofCall {
    /// The call of a line; `None` if arguments are missing or wrong.
    pub(super) fn of(line: &LiballprofLine<'_>) -> Option<Self> {
        let mut a = line.arguments;
        let a = &mut a;
        let name = std::str::from_utf8(line.function).unwrap_or_default();
        if let Some((mode, form)) = functions::send(name) {
            return Some(Self::Send(mode, message(a)?, request(form, a)?));
        }
        if let Some(form) = functions::receive(name) {
            return Some(Self::Recv(message(a)?, request(form, a)?));
        }
        if let Some((quantifier, is_test)) = functions::completion(name) {
            let number = if quantifier == Quantifier::Single { 1 } else { number(a)? };
            return Some(Self::Complete(quantifier, is_test, a.address()?, number));
        }
        if let Some(kind) = functions::collective(name).filter(|&kind| kind != CollectiveKind::ReduceScatterBlock) {
            return Some(Self::Collective(collective(kind, a)?));
        }
        Some(match line.function {
            b"Init" | b"Init_thread" => Self::Init,
            b"Finalize" => Self::Finalize,
            b"Sendrecv" => {
                let (sent, received) = (half(a)?, half(a)?);
                let comm = a.comm()?;
                let message = |(bytes, peer, tag)| LiballprofMessage { bytes, peer, tag, comm };
                Self::Sendrecv(message(sent), message(received))
            }
            b"Sendrecv_replace" => {
                let (bytes, to, sent_tag) = half(a)?;
                let (peer, tag, comm) = (a.integer()?, a.integer()?, a.comm()?);
                let received = LiballprofMessage { bytes, peer, tag, comm };
                Self::Sendrecv(LiballprofMessage { peer: to, tag: sent_tag, ..received }, received)
            }
            b"Probe" | b"Iprobe" => {
                let (peer, tag, comm) = (a.integer()?, a.integer()?, a.comm()?);
                Self::Probe(LiballprofMessage { bytes: 0, peer, tag, comm }, name == "Probe")
            }
            b"Start" => Self::Start(a.address()?, 1),
            b"Startall" => {
                let number = number(a)?;
                Self::Start(a.address()?, number)
            }
            b"Request_free" => Self::RequestFree(a.address()?),
            b"Comm_dup" => made_of(CommCall::Dup, a)?,
            b"Comm_split" => {
                let (parent, split) = (Some(a.comm()?), Some((a.integer()?, a.integer()?)));
                Self::MakeComm(MakeComm { function: CommCall::Split, parent, split })
            }
            b"Comm_create" => made_of(CommCall::Create, a)?,
            b"Cart_create" => made_of(CommCall::CartCreate, a)?,
            b"Graph_create" => made_of(CommCall::GraphCreate, a)?,
            b"Cart_sub" => made_of(CommCall::CartSub, a)?,
            b"Intercomm_create"
            | b"Intercomm_merge"
            | b"Comm_spawn"
            | b"Comm_spawn_multiple"
            | b"Comm_accept"
            | b"Comm_connect"
            | b"Comm_join" => Self::MakeComm(MakeComm { function: CommCall::Create, parent: None, split: None }),
            b"Comm_rank" | b"Comm_size" => Self::Local(a.comm()),
            _ if is_local(name) => Self::Local(None),
            _ => Self::Untranslated,
        })
    }

    /// The communicator that the call communicates on.
    pub(super) fn comm(&self) -> Option<LiballprofComm> {
        match self {
            Self::Send(_, message, _) | Self::Recv(message, _) => Some(message.comm),
            Self::Sendrecv(message, _) | Self::Probe(message, _) => Some(message.comm),
            Self::Collective(collective) => Some(collective.comm),
            Self::MakeComm(make) => make.parent,
            Self::Init | Self::Finalize | Self::Complete(..) | Self::Start(..) | Self::RequestFree(_) => None,
            Self::Untranslated => None,
            Self::Local(comm) => *comm,
        }
    }
}

/// A call that makes a communicator of its first argument.
fn made_of(function: CommCall, a: &mut Arguments<'_>) -> Option<LiballprofCall> {
    Some(LiballprofCall::MakeComm(MakeComm { function, parent: Some(a.comm()?), split: None }))
}

/// A buffer, a count, a datatype, a peer and a tag: the volume, the peer and the tag.
fn half(a: &mut Arguments<'_>) -> Option<(u64, i64, i64)> {
    let (_buffer, count, size) = (a.text()?, a.integer()?, a.datatype()?);
    Some((volume(count, size), a.integer()?, a.integer()?))
}

/// The bytes of a number of elements.
pub(super) fn volume(count: i64, size: u64) -> u64 {
    u64::try_from(count).unwrap_or(0).saturating_mul(size)
}

fn message(a: &mut Arguments<'_>) -> Option<LiballprofMessage> {
    let (bytes, peer, tag) = half(a)?;
    Some(LiballprofMessage { bytes, peer, tag, comm: a.comm()? })
}

/// The request of a function of this form; none of a blocking one.
fn request(form: MessageForm, a: &mut Arguments<'_>) -> Option<Option<RequestMade>> {
    if form == MessageForm::Blocking {
        return Some(None);
    }
    Some(Some(RequestMade { address: a.address()?, is_persistent: form == MessageForm::Persistent }))
}

fn number(a: &mut Arguments<'_>) -> Option<u64> {
    u64::try_from(a.integer()?).ok()
}

fn collective(kind: CollectiveKind, a: &mut Arguments<'_>) -> Option<Collective> {
    use CollectiveKind as Kind;
    let (mut send, mut recv) = (Block::None, Block::None);
    let is_rooted = kind.signature().is_rooted;
    match kind {
        Kind::Barrier => {}
        Kind::Bcast => send = equal(a)?,
        Kind::Reduce | Kind::Allreduce | Kind::Scan | Kind::Exscan => {
            let _send = a.text()?;
            send = equal(a)?;
            let _operation = a.text()?;
        }
        Kind::ReduceScatter | Kind::ReduceScatterBlock => {
            let (_send, _recv) = (a.text()?, a.text()?);
            let has_list = a.number_left() > 4;
            let counts = counts(a, has_list)?;
            recv = Block::Each(counts, a.datatype()?);
            let _operation = a.text()?;
        }
        Kind::Gather | Kind::Scatter | Kind::Allgather | Kind::Alltoall => (send, recv) = (equal(a)?, equal(a)?),
        Kind::Gatherv | Kind::Allgatherv => {
            send = equal(a)?;
            let _recv = a.text()?;
            let has_list = a.number_left() > 4 + usize::from(is_rooted);
            recv = displaced(a, has_list)?;
        }
        Kind::Scatterv => {
            let _send = a.text()?;
            let has_list = a.number_left() > 8;
            (send, recv) = (displaced(a, has_list)?, equal(a)?);
        }
        Kind::Alltoallv | Kind::Alltoallw => {
            let _send = a.text()?;
            let has_list = a.number_left() > 8;
            send = displaced(a, has_list)?;
            let _recv = a.text()?;
            recv = displaced(a, has_list)?;
        }
    }
    let root = if is_rooted { Some(a.integer()?) } else { None };
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
