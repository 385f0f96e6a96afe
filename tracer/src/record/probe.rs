//! Probes, and receives of the messages that a matched probe has found.

use titr_common::event::{Completion, Event, Incoming, Wildcard};
use titr_common::units::Bytes;
use titr_wrappers::argument::{Message, Place, Status};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::pmpi;
use titr_wrappers::signature::{Mrecv, Probe};

use super::Outcome;
use super::communicator_table::CommunicatorTable;
use super::matched_message::MatchedMessage;
use super::message::Messages;
use super::message_args::{Match, RecvArgs};
use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::request_table::{RequestKind, RequestTable};
use super::stream::EventStream;

impl Messages {
    /// Records a probe, or a receive of a message that a matched probe has found.
    #[inline(never)]
    pub(super) fn probe(
        &mut self,
        call: &PointToPoint<'_>,
        overwritten: Overwritten,
        communicators: &mut CommunicatorTable,
        requests: &mut RequestTable,
        stream: &mut EventStream,
    ) -> Outcome {
        match call {
            MPI_Probe(probe, status) => {
                let message = self.probed(probe, status.get(), communicators)?;
                stream.write(&Event::Probe(message));
                Ok(())
            }
            MPI_Iprobe(probe, flag, status) => {
                self.iprobe(probe, flag.get(), status.get(), communicators, stream).map(drop)
            }
            MPI_Mprobe(probe, handle, status) => {
                let message = self.probed(probe, status.get(), communicators)?;
                stream.write(&Event::Probe(message));
                self.found(handle, &message);
                Ok(())
            }
            MPI_Improbe(probe, flag, handle, status) => {
                if let Some(message) = self.iprobe(probe, flag.get(), status.get(), communicators, stream)? {
                    self.found(handle, &message);
                }
                Ok(())
            }
            MPI_Mrecv(recv, ..) => {
                let message = self.received(overwritten.message()?, recv);
                stream.write_unowning(Event::Recv(message, Completion::Blocking));
                Ok(())
            }
            MPI_Imrecv(recv, _, request) => {
                let taken = overwritten.message().map(|message| self.received(message, recv));
                let what = match &taken {
                    Ok(message) => self.receiving(message, None),
                    Err(_) => RequestKind::Nothing,
                };
                let id = requests.add(request.get(), request.address(), what, false);
                stream.write_unowning(Event::Recv(taken?, Completion::Request(Some(id))));
                Ok(())
            }
            _ => Err(Omission::Untraced),
        }
    }

    /// A message found by a probe: its size is its own, not that of any buffer.
    fn probed(
        &mut self,
        probe: &Probe<'_>,
        status: Option<Status<'_>>,
        communicators: &mut CommunicatorTable,
    ) -> Result<Incoming, Omission> {
        let bytes = Bytes(status.as_ref().map_or(0, pmpi::message_bytes));
        Ok(Incoming { bytes, ..self.incoming(&RecvArgs::from(probe), status.map(Match::from), communicators)? })
    }

    #[inline(never)]
    fn iprobe(
        &mut self,
        probe: &Probe<'_>,
        flag: i32,
        status: Option<Status<'_>>,
        communicators: &mut CommunicatorTable,
        stream: &mut EventStream,
    ) -> Result<Option<Incoming>, Omission> {
        let found = flag != 0;
        let message = if found {
            self.probed(probe, status, communicators)?
        } else {
            self.incoming(&RecvArgs::from(probe), None, communicators)?
        };
        stream.write(&Event::Iprobe(message, found));
        Ok(found.then_some(message))
    }

    fn found(&mut self, handle: &Place<'_, Message>, message: &Incoming) {
        if let (Some(from), Some(tag)) = (message.from, message.tag) {
            self.matched.insert(handle.get(), MatchedMessage { comm: message.comm, from, tag });
        }
    }

    /// The message of a handle, which is about to be received, and the handle to be free for another one.
    pub(super) fn hold(&mut self, handle: Message) -> Overwritten {
        Overwritten::Message(match handle == self.abi.message_no_proc {
            true => Err(Omission::NullPeer),
            false => self.matched.remove(&handle).ok_or(Omission::Untraced),
        })
    }

    /// A receive of a message that is matched already: nothing is left open.
    fn received(&mut self, message: MatchedMessage, recv: &Mrecv<'_>) -> Incoming {
        let MatchedMessage { comm, from, tag } = message;
        let bytes = self.type_sizes.volume(recv.count(), recv.datatype());
        Incoming { comm, from: Some(from), tag: Some(tag), bytes, wildcard: Wildcard::default() }
    }
}
