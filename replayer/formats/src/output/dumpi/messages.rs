//! The records of messages and probes.

use titr_common::event::{
    Completion, Incoming, MessageCompletion, Outgoing, Rank, RequestId, RequestKey, SendMode, Tag,
};
use titr_common::program::{Members, Template};

use super::NotWritten;
use super::file::{DumpiBytes, WrittenStatus};
use super::open::OpenDumpi;
use super::rank::{DumpiRank, request};
use crate::input::dumpi::functions::DumpiFunction;
use crate::output::otf2::place;

/// `MPI_ANY_SOURCE` and `MPI_ANY_TAG`.
const ANY: i32 = -1;
/// `MPI_PROC_NULL`, as Open MPI numbers it.
const NOBODY: i32 = -2;
/// The number in records of the first request that the trace has no number for.
const UNNUMBERED: i32 = 1 << 30;

impl DumpiRank<'_> {
    /// The number of a rank in its group of a communicator.
    pub(super) fn place(&self, members: &Members, rank: Rank) -> Result<i32, NotWritten> {
        Ok(place(members, rank)?.cast_signed())
    }

    /// Count, datatype, destination, tag and communicator of a message.
    fn outgoing(&mut self, message: &Outgoing) -> Result<DumpiBytes, NotWritten> {
        let (comm, members) = self.comm(message.comm)?;
        let (count, datatype) = self.types.of_bytes(message.bytes, &mut self.file, self.span)?;
        let to = self.place(&members, message.to)?;
        Ok(DumpiBytes::default().int(count).handle(datatype).int(to).int(message.tag.0).handle(comm))
    }

    /// The source and the tag that a receive asks for.
    fn wanted(&self, message: &Incoming, members: &Members) -> Result<(i32, i32), NotWritten> {
        let source = match message.from.filter(|_| !message.wildcard.source) {
            Some(from) => self.place(members, from)?,
            None => ANY,
        };
        let tag = message.tag.filter(|_| !message.wildcard.tag).map_or(ANY, |tag| tag.0);
        Ok((source, tag))
    }

    /// Count, datatype, source, tag and communicator of a receive.
    fn incoming(&mut self, message: &Incoming) -> Result<DumpiBytes, NotWritten> {
        let (comm, members) = self.comm(message.comm)?;
        let (count, datatype) = self.types.of_bytes(message.bytes, &mut self.file, self.span)?;
        let (source, tag) = self.wanted(message, &members)?;
        Ok(DumpiBytes::default().int(count).handle(datatype).int(source).int(tag).handle(comm))
    }

    /// The status of a receive that is complete; `None` if its message is not known.
    pub(super) fn status(&mut self, message: &Incoming) -> Result<Option<WrittenStatus>, NotWritten> {
        let Incoming { comm, from: Some(from), tag: Some(tag), bytes, .. } = *message else { return Ok(None) };
        let (_, members) = self.comm(comm)?;
        let source = self.place(&members, from)?;
        let bytes = i32::try_from(bytes.0).unwrap_or(i32::MAX);
        Ok(Some(WrittenStatus { bytes, source, is_cancelled: false, tag: tag.0 }))
    }

    pub(super) fn send(
        &mut self,
        mode: SendMode,
        message: &Outgoing,
        completion: &MessageCompletion,
    ) -> Result<(), NotWritten> {
        use DumpiFunction as F;
        use SendMode::{Buffered, Ready, Standard, Synchronous};
        let arguments = self.outgoing(message)?;
        let (function, arguments) = match completion {
            Completion::Blocking => {
                let function = match mode {
                    Standard => F::SEND,
                    Synchronous => F::SSEND,
                    Buffered => F::BSEND,
                    Ready => F::RSEND,
                };
                (function, arguments)
            }
            Completion::Request(id) => {
                let function = match mode {
                    Standard => F::ISEND,
                    Synchronous => F::ISSEND,
                    Buffered => F::IBSEND,
                    Ready => F::IRSEND,
                };
                let key = RequestKey { from: Some(self.rank), to: message.to, tag: Some(message.tag) };
                (function, arguments.int(self.begin(*id, key, None)?))
            }
            Completion::Persistent(id) => {
                let function = match mode {
                    Standard => F::SEND_INIT,
                    Synchronous => F::SSEND_INIT,
                    Buffered => F::BSEND_INIT,
                    Ready => F::RSEND_INIT,
                };
                self.requests.add_persistent(*id, Template::Send(mode, *message))?;
                (function, arguments.int(request(*id)))
            }
        };
        self.record(function, &arguments)
    }

    pub(super) fn receive(&mut self, message: &Incoming, completion: &MessageCompletion) -> Result<(), NotWritten> {
        let arguments = self.incoming(message)?;
        let (function, arguments) = match completion {
            Completion::Blocking => {
                let status = self.status(message)?;
                (DumpiFunction::RECV, arguments.statuses(status.as_slice()))
            }
            Completion::Request(id) => {
                let key = RequestKey { from: message.from, to: self.rank, tag: message.tag };
                (DumpiFunction::IRECV, arguments.int(self.begin(*id, key, Some(*message))?))
            }
            Completion::Persistent(id) => {
                self.requests.add_persistent(*id, Template::Receive(*message))?;
                (DumpiFunction::RECV_INIT, arguments.int(request(*id)))
            }
        };
        self.record(function, &arguments)
    }

    /// Enters the request of a message; returns its number in records.
    fn begin(&mut self, id: Option<RequestId>, key: RequestKey, receive: Option<Incoming>) -> Result<i32, NotWritten> {
        let name = match id {
            Some(id) => request(id),
            None => UNNUMBERED.saturating_add(self.unnumbered),
        };
        let operation = Some(OpenDumpi { name, receive, is_cancelled: false });
        match id {
            Some(id) => self.requests.add(id, operation)?,
            None => {
                self.unnumbered = self.unnumbered.saturating_add(1);
                self.requests.add_keyed(key, operation);
            }
        }
        Ok(name)
    }

    pub(super) fn exchange(&mut self, sent: Option<&Outgoing>, received: Option<&Incoming>) -> Result<(), NotWritten> {
        let Some(comm) = sent.map(|message| message.comm).or(received.map(|message| message.comm)) else {
            return Ok(());
        };
        let (comm, members) = self.comm(comm)?;
        let mut arguments = DumpiBytes::default();
        let (mut peer, mut tag) = (NOBODY, Tag::default().0);
        let mut bytes = Default::default();
        if let Some(message) = sent {
            (peer, tag, bytes) = (self.place(&members, message.to)?, message.tag.0, message.bytes);
        }
        let (count, datatype) = self.types.of_bytes(bytes, &mut self.file, self.span)?;
        arguments = arguments.int(count).handle(datatype).int(peer).int(tag);
        let (mut wanted, mut status) = ((NOBODY, ANY), None);
        bytes = Default::default();
        if let Some(message) = received {
            wanted = self.wanted(message, &members)?;
            (status, bytes) = (self.status(message)?, message.bytes);
        }
        let (count, datatype) = self.types.of_bytes(bytes, &mut self.file, self.span)?;
        arguments = arguments.int(count).handle(datatype).int(wanted.0).int(wanted.1).handle(comm);
        self.record(DumpiFunction::SENDRECV, &arguments.statuses(status.as_slice()))
    }

    /// A probe, or with whether it found a message, one that does not wait.
    pub(super) fn probe(&mut self, message: &Incoming, found: Option<bool>) -> Result<(), NotWritten> {
        let (comm, members) = self.comm(message.comm)?;
        let (source, tag) = self.wanted(message, &members)?;
        let arguments = DumpiBytes::default().int(source).int(tag).handle(comm);
        let status = if found == Some(false) { None } else { self.status(message)? };
        match found {
            None => self.record(DumpiFunction::PROBE, &arguments.statuses(status.as_slice())),
            Some(found) => {
                let arguments = arguments.int(i32::from(found)).statuses(status.as_slice());
                self.record(DumpiFunction::IPROBE, &arguments)
            }
        }
    }
}
