//! Messages between two ranks, and probes.

use std::sync::{Arc, OnceLock};

use titr_common::event::{
    Completion, Event, Incoming, MessageCompletion, Outgoing, Rank, RequestKey, SendMode, Tag, Wildcard,
};
use titr_common::trace::TraceError;
use titr_common::units::Bytes;

use super::{DumpiSink, DumpiTranslation, NoEvent, Translated, argument};
use crate::input::dumpi::bytes::Cursor;
use crate::input::dumpi::file::DumpiRankFile;
use crate::input::dumpi::functions::{DumpiFunction, Status, Statuses, statuses};
use crate::input::dumpi::records::DumpiRecord;
use crate::input::functions::{self, MessageForm};

/// `MPI_ANY_SOURCE` and `MPI_ANY_TAG`.
const ANY: i32 = -1;

/// The note on a receive whose match is unknown.
pub(super) const STATUS_IGNORED: &str =
    "receives with a wildcard have no status, as the program ignored it: a replay matches them in the order of arrival";

/// The source and the tag that a receive asks for.
#[derive(Clone, Copy)]
struct Wanted {
    source: i32,
    tag: i32,
}

impl DumpiTranslation {
    #[inline]
    pub(super) fn message(
        &mut self,
        record: &DumpiRecord<'_>,
        bytes: &mut Cursor<'_>,
        sink: &mut DumpiSink<'_>,
    ) -> Translated {
        if let Some((mode, form)) = record.function.bare_name().and_then(functions::send) {
            return match form {
                MessageForm::Blocking => self.send(mode, bytes, sink),
                form => self.start_send(mode, form == MessageForm::Persistent, bytes, sink),
            };
        }
        match record.function {
            DumpiFunction::RECV => self.receive(record, bytes, sink),
            DumpiFunction::IRECV => self.start_receive(false, bytes, sink),
            DumpiFunction::RECV_INIT => self.start_receive(true, bytes, sink),
            DumpiFunction::SENDRECV | DumpiFunction::SENDRECV_REPLACE => self.exchange(record, bytes, sink),
            DumpiFunction::PROBE | DumpiFunction::IPROBE => self.probe(record, bytes, sink),
            _ => Ok(()),
        }
    }

    /// The message that the next arguments describe: count, datatype, destination, tag, communicator.
    #[inline]
    fn outgoing(&mut self, bytes: &mut Cursor<'_>) -> Translated<(Translated<Outgoing>, u16)> {
        let (count, datatype) = (argument(bytes.i32())?, argument(bytes.u16())?);
        let (destination, tag) = (argument(bytes.i32())?, argument(bytes.i32())?);
        let comm = argument(bytes.u16())?;
        Ok((self.sent(comm, destination, tag, count, datatype), comm))
    }

    fn sent(&self, comm: u16, destination: i32, tag: i32, count: i32, datatype: u16) -> Translated<Outgoing> {
        let (comm, peers) = self.peers(comm)?;
        let to = peer(peers, destination)?;
        Ok(Outgoing { comm, to, tag: Tag(tag), bytes: Bytes(self.datatypes.volume(count, datatype)?) })
    }

    /// A message from the receiver's point of view, and of its status where there is one.
    fn incoming(&self, comm: u16, wanted: Wanted, bytes: Bytes, status: Option<Status>) -> Translated<Incoming> {
        let (comm, peers) = self.peers(comm)?;
        let is_any = self.is_any_source(wanted.source, status)?;
        let matched = status.filter(|status| status.source >= 0);
        let from = match matched {
            Some(status) if is_any => Some(peer(peers, status.source)?),
            None if is_any => None,
            _ => Some(peer(peers, wanted.source)?),
        };
        let is_any_tag = wanted.tag == ANY;
        let tag = if is_any_tag { matched.map(|status| Tag(status.tag)) } else { Some(Tag(wanted.tag)) };
        Ok(Incoming { comm, from, tag, bytes, wildcard: Wildcard { source: is_any, tag: is_any_tag } })
    }

    /// Whether a source is `MPI_ANY_SOURCE`.
    ///
    /// Records have -1 for it. MPICH and its relatives have -1 for `MPI_PROC_NULL`, too; the status of such a receive has
    /// no sender.
    fn is_any_source(&self, source: i32, status: Option<Status>) -> Translated<bool> {
        if source != ANY {
            return Ok(false);
        }
        match status {
            Some(status) if status.source < 0 => Err(NoEvent::Needless),
            None if self.nobody.is_minus_one() => Err(NoEvent::Needless),
            _ => Ok(true),
        }
    }

    fn send(&mut self, mode: SendMode, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let message = self.outgoing(bytes)?.0?;
        self.push(sink, Event::Send(mode, message, Completion::Blocking));
        Ok(())
    }

    fn start_send(
        &mut self,
        mode: SendMode,
        is_persistent: bool,
        bytes: &mut Cursor<'_>,
        sink: &mut DumpiSink<'_>,
    ) -> Translated {
        let (message, comm) = self.outgoing(bytes)?;
        let name = argument(bytes.i32())?;
        let key = |message: &Outgoing, me| RequestKey { from: Some(me), to: message.to, tag: Some(message.tag) };
        let me = self.me;
        let (message, completion) = self.start(message, comm, name, is_persistent, |message| key(message, me))?;
        self.push(sink, Event::Send(mode, message, completion));
        Ok(())
    }

    /// Makes the request of a message.
    fn start<M>(
        &mut self,
        message: Translated<M>,
        comm: u16,
        name: i32,
        is_persistent: bool,
        key: impl FnOnce(&M) -> RequestKey,
    ) -> Translated<(M, MessageCompletion)> {
        let name_of = u64::from(name.cast_unsigned());
        let message = match message {
            Ok(message) => message,
            Err(NoEvent::Needless) => {
                self.requests.make_for_nobody(name_of, is_persistent);
                return Err(NoEvent::Needless);
            }
            Err(wrong) => return Err(wrong),
        };
        match self.requests.make_message(name_of, comm, Some(key(&message)), is_persistent) {
            Some(completion) => Ok((message, completion)),
            None => Err(NoEvent::Wrong(format!("request {name} again, before a call has completed it"))),
        }
    }

    fn receive(&mut self, record: &DumpiRecord<'_>, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let (volume, wanted, comm) = self.wanted(bytes)?;
        let status = kept(record, bytes)?.get(0);
        let message = self.incoming(comm, wanted, volume, status)?;
        self.note_open(&message);
        self.push(sink, Event::Recv(message, Completion::Blocking));
        Ok(())
    }

    fn start_receive(&mut self, is_persistent: bool, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let (volume, wanted, comm) = self.wanted(bytes)?;
        let name = argument(bytes.i32())?;
        let message = self.incoming(comm, wanted, volume, None);
        let to = self.me;
        let key = |message: &Incoming| RequestKey { from: message.from, to, tag: message.tag };
        let (message, completion) = self.start(message, comm, name, is_persistent, key)?;
        self.push(sink, Event::Recv(message, completion));
        Ok(())
    }

    /// The next arguments of a receive: count, datatype, source, tag, communicator.
    fn wanted(&self, bytes: &mut Cursor<'_>) -> Translated<(Bytes, Wanted, u16)> {
        let (count, datatype) = (argument(bytes.i32())?, argument(bytes.u16())?);
        let wanted = Wanted { source: argument(bytes.i32())?, tag: argument(bytes.i32())? };
        Ok((Bytes(self.datatypes.volume(count, datatype)?), wanted, argument(bytes.u16())?))
    }

    /// `MPI_Sendrecv` and `MPI_Sendrecv_replace`.
    fn exchange(&mut self, record: &DumpiRecord<'_>, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let (count, datatype) = (argument(bytes.i32())?, argument(bytes.u16())?);
        let (destination, sent_tag) = (argument(bytes.i32())?, argument(bytes.i32())?);
        let (room, room_type) = if record.function == DumpiFunction::SENDRECV {
            (argument(bytes.i32())?, argument(bytes.u16())?)
        } else {
            (count, datatype)
        };
        let wanted = Wanted { source: argument(bytes.i32())?, tag: argument(bytes.i32())? };
        let comm = argument(bytes.u16())?;
        let status = kept(record, bytes)?.get(0);
        let volume = Bytes(self.datatypes.volume(room, room_type)?);
        let send = present(self.sent(comm, destination, sent_tag, count, datatype))?;
        let recv = present(self.incoming(comm, wanted, volume, status))?;
        if send.is_none() && recv.is_none() {
            return Err(NoEvent::Needless);
        }
        if let Some(message) = &recv {
            self.note_open(message);
        }
        self.push(sink, Event::Sendrecv(send, recv));
        Ok(())
    }

    fn probe(&mut self, record: &DumpiRecord<'_>, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let wanted = Wanted { source: argument(bytes.i32())?, tag: argument(bytes.i32())? };
        let comm = argument(bytes.u16())?;
        let found = record.function == DumpiFunction::PROBE || argument(bytes.i32())? != 0;
        let status = kept(record, bytes)?.get(0).filter(|_| found);
        // The size of a probed message is its own.
        let volume = Bytes(status.map_or(0, |status| u64::try_from(status.bytes).unwrap_or(0)));
        let message = self.incoming(comm, wanted, volume, status)?;
        let event =
            if record.function == DumpiFunction::PROBE { Event::Probe(message) } else { Event::Iprobe(message, found) };
        self.push(sink, event);
        Ok(())
    }

    fn note_open(&mut self, message: &Incoming) {
        if message.is_open() {
            self.notes.add(STATUS_IGNORED);
        }
    }
}

/// The statuses of a record; none where the library was to keep none.
pub(super) fn kept<'b>(record: &DumpiRecord<'_>, bytes: &mut Cursor<'b>) -> Translated<Statuses<'b>> {
    if record.keeps_statuses { argument(statuses(bytes)) } else { Ok(Statuses::default()) }
}

/// The rank of the world that a rank of a communicator is; every negative one is `MPI_PROC_NULL`.
#[inline]
pub(super) fn peer(peers: &[Rank], rank: i32) -> Translated<Rank> {
    let at = usize::try_from(rank).map_err(|_| NoEvent::Needless)?;
    let number = peers.len();
    peers.get(at).copied().ok_or_else(|| NoEvent::Wrong(format!("rank {rank} of a communicator of {number}")))
}

/// A side of an exchange, which is absent if its peer is `MPI_PROC_NULL`.
fn present<T>(side: Translated<T>) -> Translated<Option<T>> {
    match side {
        Ok(side) => Ok(Some(side)),
        Err(NoEvent::Needless) => Ok(None),
        Err(wrong) => Err(wrong),
    }
}

/// The files of a trace, and what their sends say about -1.
///
/// Records have -1 for `MPI_ANY_SOURCE`, and for `MPI_PROC_NULL` what the library has: -2 in Open MPI, -1 in MPICH. A
/// receive from -1 whose program ignored the status can therefore be either. As nobody sends to any source, a send to
/// -1 anywhere in the trace shows that -1 is `MPI_PROC_NULL`; receives from -1 without a status are then taken for
/// receives from nobody.
pub(in crate::input::dumpi) struct ProcNullConvention {
    files: Arc<[DumpiRankFile]>,
    is_minus_one: OnceLock<bool>,
}

impl ProcNullConvention {
    /// What the files say, unless the user has chosen.
    pub(in crate::input::dumpi) fn new(files: &Arc<[DumpiRankFile]>, chosen: Option<bool>) -> Self {
        Self { files: Arc::clone(files), is_minus_one: chosen.map_or_else(OnceLock::new, OnceLock::from) }
    }

    /// Whether -1 is `MPI_PROC_NULL`. The first call reads all files.
    pub(super) fn is_minus_one(&self) -> bool {
        // The reader of a rank reports an error in its file.
        *self.is_minus_one.get_or_init(|| self.files.iter().any(|file| sends_to_minus_one(file).unwrap_or(false)))
    }
}

fn sends_to_minus_one(file: &DumpiRankFile) -> Result<bool, TraceError> {
    let mut records = file.records()?;
    while let Some(record) = records.next()? {
        if destination(&record) == Some(-1) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The rank that a call sends to.
fn destination(record: &DumpiRecord<'_>) -> Option<i32> {
    let sends = matches!(record.function, DumpiFunction(0 | 3..=5 | 8..=11 | 26..=29 | 33 | 34));
    let mut bytes = record.arguments;
    if sends { bytes.i32().and(bytes.u16()).and(bytes.i32()) } else { None }
}
