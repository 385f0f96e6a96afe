//! Probes, and receives of the messages that a matched probe has found.

use titr_common::event::{Completed, Completion, Event, Incoming, Quantifier, RequestKey, Wildcard};
use titr_common::units::Bytes;
use titr_wrappers::Function;
use titr_wrappers::argument::{Message, Place, Status, StatusArgument};
use titr_wrappers::functions::point_to_point::{self, PointToPoint, PointToPoint::*};
use titr_wrappers::signature::{Mrecv, Probe};

use super::message::Messages;
use super::message_args::{Match, RecvArgs, halves, halves_of_one};
use super::omitted_calls::Omission;
use super::overwritten::{MatchedMessage, Overwritten};
use super::request_table::RequestKind;
use super::{Outcome, RankTrace};
use crate::pmpi;

impl Messages {
    /// Records a probe, or a receive of a message that a matched probe has found.
    #[inline(never)]
    pub(super) fn probe(
        &mut self,
        call: &PointToPoint<'_>,
        overwritten: Overwritten,
        trace: &mut RankTrace,
    ) -> Outcome {
        match call {
            MPI_Probe(probe, status) => {
                let message = self.probed(probe, status.get(), trace)?;
                trace.stream.write(&Event::Probe(message));
                Ok(())
            }
            MPI_Iprobe(probe, flag, status) => self.iprobe(probe, flag.get(), status.get(), trace).map(drop),
            MPI_Mprobe(probe, handle, status) => {
                let message = self.probed(probe, status.get(), trace)?;
                trace.stream.write(&Event::Probe(message));
                self.found(handle, probe, status, message, &point_to_point::MPI_Mprobe, trace);
                Ok(())
            }
            MPI_Improbe(probe, flag, handle, status) => {
                if let Some(message) = self.iprobe(probe, flag.get(), status.get(), trace)? {
                    self.found(handle, probe, status, message, &point_to_point::MPI_Improbe, trace);
                }
                Ok(())
            }
            MPI_Mrecv(recv, ..) => {
                let matched = overwritten.message()?;
                let Some(id) = matched.receive else {
                    trace.stream.write_unowning(Event::Recv(self.received(matched, recv), Completion::Blocking));
                    return Ok(());
                };
                let Incoming { from, tag, .. } = matched.message;
                trace.requests.remove(id);
                let completed = Completed::One(RequestKey { from, to: self.me, tag }, Some(id));
                trace.stream.write_unowning(Event::Wait(Quantifier::Single, completed));
                Ok(())
            }
            MPI_Imrecv(recv, _, request) => {
                let taken = overwritten.message();
                if let Ok(MatchedMessage { receive: Some(id), .. }) = taken {
                    trace.requests.name(id, request.get(), request.address());
                    return Err(Omission::Local);
                }
                let taken = taken.map(|matched| self.received(matched, recv));
                let what = taken.map_or(RequestKind::Nothing, |message| self.receiving(&message, None));
                let id = trace.requests.add(request.get(), request.address(), what, false);
                trace.stream.write_unowning(Event::Recv(taken?, Completion::Request(Some(id))));
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
        trace: &mut RankTrace,
    ) -> Result<Incoming, Omission> {
        let bytes = Bytes(status.as_ref().map_or(0, pmpi::message_bytes));
        Ok(Incoming { bytes, ..self.incoming(&RecvArgs::from(probe), status.map(Match::from), trace)? })
    }

    #[inline(never)]
    fn iprobe(
        &mut self,
        probe: &Probe<'_>,
        flag: i32,
        status: Option<Status<'_>>,
        trace: &mut RankTrace,
    ) -> Result<Option<Incoming>, Omission> {
        let found = flag != 0;
        let message = if found {
            self.probed(probe, status, trace)?
        } else {
            self.incoming(&RecvArgs::from(probe), None, trace)?
        };
        trace.stream.write(&Event::Iprobe(message, found));
        Ok(found.then_some(message))
    }

    fn found(
        &mut self,
        handle: &Place<'_, Message>,
        probe: &Probe<'_>,
        status: &StatusArgument<'_>,
        message: Incoming,
        function: &'static Function,
        trace: &mut RankTrace,
    ) {
        let message = Incoming { wildcard: Wildcard::default(), ..message };
        self.matched
            .insert(handle.get(), MatchedMessage { message, thread: trace.stream.thread(), function, receive: None });
        let Some(Match { source, tag }) = status.get().map(Match::from) else { return };
        self.unposted.push((handle.get(), RecvArgs { source, tag, ..RecvArgs::from(probe) }));
    }

    /// Takes the messages that a matched probe found and that are not received yet, before a receive or a probe of `args`
    /// can: of messages alike, a replay gives the first one sent to the first receive.
    #[inline]
    pub(super) fn take_found(&mut self, args: &RecvArgs, trace: &mut RankTrace) {
        if !self.unposted.is_empty() {
            self.post(Some(args), trace);
        }
    }

    /// Takes the messages found before a call that receives or probes.
    #[cold]
    pub(super) fn take_found_before(&mut self, call: &PointToPoint<'_>, trace: &mut RankTrace) {
        let args = match call {
            MPI_Recv(recv, _) | MPI_Irecv(recv, _) | MPI_Recv_init(recv, _) => RecvArgs::from(recv),
            MPI_Sendrecv(both, _) | MPI_Isendrecv(both, _) => halves(both).1,
            MPI_Sendrecv_replace(both, _) | MPI_Isendrecv_replace(both, _) => halves_of_one(both).1,
            MPI_Probe(probe, _) | MPI_Iprobe(probe, ..) | MPI_Mprobe(probe, ..) | MPI_Improbe(probe, ..) => {
                RecvArgs::from(probe)
            }
            // Some of the persistent requests may receive.
            MPI_Start(_) | MPI_Startall(_) => return self.post(None, trace),
            _ => return,
        };
        self.post(Some(&args), trace);
    }

    #[cold]
    fn post(&mut self, args: Option<&RecvArgs>, trace: &mut RankTrace) {
        let (any_source, any_tag) = (self.abi.any_source, self.abi.any_tag);
        let is_taken = |found: &RecvArgs| {
            args.is_none_or(|args| {
                args.comm == found.comm
                    && (args.source == found.source || args.source == any_source)
                    && (args.tag == found.tag || args.tag == any_tag)
            })
        };
        for (handle, _) in self.unposted.extract_if(.., |(_, found)| is_taken(found)).collect::<Vec<_>>() {
            let Some(&MatchedMessage { message, thread, function, .. }) = self.matched.get(&handle) else { continue };
            let id = trace.requests.add_unnamed(self.receiving(&message, None), false);
            trace.stream.write_beside(thread, function, &Event::Recv(message, Completion::Request(Some(id))));
            self.matched.insert(handle, MatchedMessage { message, thread, function, receive: Some(id) });
        }
    }

    /// The message of a handle, which is about to be received, and the handle to be free for another one.
    pub(super) fn hold(&mut self, handle: Message) -> Overwritten {
        self.unposted.retain(|&(unposted, _)| unposted != handle);
        Overwritten::Message(match handle == self.abi.message_no_proc {
            true => Err(Omission::NullPeer),
            false => self.matched.remove(&handle).ok_or(Omission::Untraced),
        })
    }

    /// A receive of a message that is matched already.
    fn received(&mut self, matched: MatchedMessage, recv: &Mrecv<'_>) -> Incoming {
        Incoming { bytes: self.type_sizes.volume(recv.count(), recv.datatype()), ..matched.message }
    }
}
