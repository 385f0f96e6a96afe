//! Messages: sending, receiving, probing.

use titr_common::event::{CommId, Completion, Event, Incoming, Outgoing, Rank, SendMode, Tag, Wildcard};
use titr_common::units::Bytes;
use titr_wrappers::argument::{Comm, Message, Place, Request, Status};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::pmpi::{self, ErrorCode};
use titr_wrappers::signature::{Mrecv, Probe, Recv, Send};

use super::matched_message::MatchedMessage;
use super::message_args::{Match, RecvArgs, RequestRef, SendArgs, halves, halves_of_one};
use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::requests::RequestKind;
use super::{Outcome, Recorder};
use crate::ranks::Ranks;

/// Whom a rank argument names.
enum Peer {
    /// `MPI_ANY_SOURCE`.
    Any,
    /// A rank of the world.
    Rank(Rank),
}

/// Gives a receive or a probe with a wildcard a status to write to.
pub fn keep_status(call: &PointToPoint<'_>) {
    match call {
        MPI_Recv(_, status)
        | MPI_Sendrecv(_, status)
        | MPI_Sendrecv_replace(_, status)
        | MPI_Probe(_, status)
        | MPI_Iprobe(_, _, status)
        | MPI_Mprobe(_, _, status)
        | MPI_Improbe(_, _, _, status) => status.keep(),
        _ => {}
    }
}

impl Recorder {
    pub(super) fn message(&mut self, call: &PointToPoint<'_>, overwritten: Overwritten) -> Outcome {
        use SendMode::{Buffered, Ready, Standard, Synchronous};
        match call {
            MPI_Send(send) => self.send(Standard, &SendArgs::from(send)),
            MPI_Bsend(send) => self.send(Buffered, &SendArgs::from(send)),
            MPI_Rsend(send) => self.send(Ready, &SendArgs::from(send)),
            MPI_Ssend(send) => self.send(Synchronous, &SendArgs::from(send)),
            MPI_Isend(send, request) => self.isend(Standard, &SendArgs::from(send), RequestRef::from(request)),
            MPI_Ibsend(send, request) => self.isend(Buffered, &SendArgs::from(send), RequestRef::from(request)),
            MPI_Irsend(send, request) => self.isend(Ready, &SendArgs::from(send), RequestRef::from(request)),
            MPI_Issend(send, request) => self.isend(Synchronous, &SendArgs::from(send), RequestRef::from(request)),
            MPI_Send_init(send, request) => self.send_init(Standard, send, request),
            MPI_Bsend_init(send, request) => self.send_init(Buffered, send, request),
            MPI_Rsend_init(send, request) => self.send_init(Ready, send, request),
            MPI_Ssend_init(send, request) => self.send_init(Synchronous, send, request),
            MPI_Recv(recv, status) => self.recv(&RecvArgs::from(recv), status.get().map(Match::from)),
            MPI_Irecv(recv, request) => self.irecv(&RecvArgs::from(recv), RequestRef::from(request)),
            MPI_Recv_init(recv, request) => self.recv_init(recv, request),
            MPI_Sendrecv(both, status) => {
                let (send, recv) = halves(both);
                self.sendrecv(&send, &recv, status.get().map(Match::from))
            }
            MPI_Sendrecv_replace(both, status) => {
                let (send, recv) = halves_of_one(both);
                self.sendrecv(&send, &recv, status.get().map(Match::from))
            }
            MPI_Isendrecv(both, request) => {
                let (send, recv) = halves(both);
                self.isendrecv(&send, &recv, request)
            }
            MPI_Isendrecv_replace(both, request) => {
                let (send, recv) = halves_of_one(both);
                self.isendrecv(&send, &recv, request)
            }
            MPI_Probe(probe, status) => {
                let message = self.probed(probe, status.get())?;
                self.emit(&Event::Probe(message));
                Ok(())
            }
            MPI_Iprobe(probe, flag, status) => self.iprobe(probe, flag.get(), status.get()).map(drop),
            MPI_Mprobe(probe, handle, status) => {
                let message = self.probed(probe, status.get())?;
                self.emit(&Event::Probe(message));
                self.found(handle, &message);
                Ok(())
            }
            MPI_Improbe(probe, flag, handle, status) => {
                if let Some(message) = self.iprobe(probe, flag.get(), status.get())? {
                    self.found(handle, &message);
                }
                Ok(())
            }
            MPI_Mrecv(recv, ..) => {
                let message = self.received(overwritten.message()?, recv);
                self.emit_unowning(Event::Recv(message, Completion::Blocking));
                Ok(())
            }
            MPI_Imrecv(recv, _, request) => {
                let taken = overwritten.message().map(|message| self.received(message, recv));
                let what = match &taken {
                    Ok(message) => self.receiving(message, None),
                    Err(_) => RequestKind::Nothing,
                };
                let id = self.requests.add(request.get(), request.address(), what, false);
                self.emit_unowning(Event::Recv(taken?, Completion::Request(Some(id))));
                Ok(())
            }
            MPI_Psend_init(call, _, request) => self.psend_init(call, request),
            MPI_Precv_init(call, _, request) => self.precv_init(call, request),
            MPI_Pready(part, request) => self.pready(*request, std::iter::once(*part)),
            MPI_Pready_range(first, last, request) => self.pready(*request, *first..=*last),
            MPI_Pready_list(list, request) => self.pready(*request, list.array_of_partitions().iter()),
            MPI_Parrived(request, part, flag) => self.parrived(*request, *part, flag.get() != 0),
            MPI_Start(_) | MPI_Startall(_) | MPI_Request_free(_) | MPI_Cancel(_) | MPI_Request_get_status(..) => {
                self.request_call(call, overwritten)
            }
            // Completion calls have a function of their own.
            MPI_Wait(..) | MPI_Waitall(_) | MPI_Waitany(..) | MPI_Waitsome(_) | MPI_Test(..) | MPI_Testall(_)
            | MPI_Testany(..) | MPI_Testsome(_) => Err(Omission::Untraced),
        }
    }

    /// Whether a call that returned `error` has received a message that is larger than its buffer. The sender is not
    /// notified.
    #[cold]
    pub(crate) fn is_truncated(&self, call: &PointToPoint<'_>, error: ErrorCode) -> bool {
        matches!(call, MPI_Recv(..) | MPI_Mrecv(..) | MPI_Sendrecv(..) | MPI_Sendrecv_replace(..))
            && pmpi::is_truncation(self.abi, error)
    }

    #[inline]
    pub(crate) fn send(&mut self, mode: SendMode, args: &SendArgs) -> Outcome {
        let message = self.outgoing(args)?;
        self.emit_unowning(Event::Send(mode, message, Completion::Blocking));
        Ok(())
    }

    // Inlined always, though there are two callers, one for deferred calls: this is the hottest path of all.
    #[inline(always)]
    pub(crate) fn isend(&mut self, mode: SendMode, args: &SendArgs, request: RequestRef) -> Outcome {
        let message = self.outgoing(args);
        let what = message.map_or(RequestKind::Nothing, |message| self.sending(&message));
        let id = self.requests.add(request.handle, request.place, what, false);
        self.emit_unowning(Event::Send(mode, message?, Completion::Request(Some(id))));
        Ok(())
    }

    fn send_init(&mut self, mode: SendMode, send: &Send<'_>, request: &Place<'_, Request>) -> Outcome {
        let message = self.outgoing(&SendArgs::from(send));
        let what = message.map_or(RequestKind::Nothing, |message| self.sending(&message));
        let id = self.requests.add(request.get(), request.address(), what, true);
        self.emit_unowning(Event::Send(mode, message?, Completion::Persistent(id)));
        Ok(())
    }

    #[inline]
    pub(crate) fn recv(&mut self, args: &RecvArgs, matched: Option<Match>) -> Outcome {
        let message = self.incoming(args, matched)?;
        self.emit_unowning(Event::Recv(message, Completion::Blocking));
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn irecv(&mut self, args: &RecvArgs, request: RequestRef) -> Outcome {
        let message = self.incoming(args, None);
        let what = self.received_later(&message, args.comm);
        let id = self.requests.add(request.handle, request.place, what, false);
        self.emit_unowning(Event::Recv(message?, Completion::Request(Some(id))));
        Ok(())
    }

    fn recv_init(&mut self, recv: &Recv<'_>, request: &Place<'_, Request>) -> Outcome {
        let args = RecvArgs::from(recv);
        let message = self.incoming(&args, None);
        let what = self.received_later(&message, args.comm);
        let id = self.requests.add(request.get(), request.address(), what, true);
        self.emit_unowning(Event::Recv(message?, Completion::Persistent(id)));
        Ok(())
    }

    #[inline(never)]
    fn sendrecv(&mut self, send: &SendArgs, recv: &RecvArgs, matched: Option<Match>) -> Outcome {
        let send = present(self.outgoing(send))?;
        let recv = present(self.incoming(recv, matched))?;
        if send.is_none() && recv.is_none() {
            return Err(Omission::NullPeer);
        }
        self.emit_unowning(Event::Sendrecv(send, recv));
        Ok(())
    }

    /// Two requests with one handle: the send, and the receive as its companion.
    #[inline(never)]
    fn isendrecv(&mut self, send: &SendArgs, recv: &RecvArgs, request: &Place<'_, Request>) -> Outcome {
        let outgoing = present(self.outgoing(send))?;
        let incoming = self.incoming(recv, None);
        let receiving = self.received_later(&incoming, recv.comm);
        let incoming = present(incoming)?;
        let Some(outgoing) = outgoing else {
            let id = self.requests.add(request.get(), request.address(), receiving, false);
            let message = incoming.ok_or(Omission::NullPeer)?;
            self.emit_unowning(Event::Recv(message, Completion::Request(Some(id))));
            return Ok(());
        };
        let id = self.requests.add(request.get(), request.address(), self.sending(&outgoing), false);
        self.emit_unowning(Event::Send(SendMode::Standard, outgoing, Completion::Request(Some(id))));
        if let Some(incoming) = incoming {
            let companion = self.requests.add_unnamed(receiving, false);
            if let Some(entry) = self.requests.get_mut(id) {
                entry.companion = Some(companion);
            }
            self.emit_unowning(Event::Recv(incoming, Completion::Request(Some(companion))));
        }
        Ok(())
    }

    /// A message found by a probe: its size is its own, not that of any buffer.
    fn probed(&mut self, probe: &Probe<'_>, status: Option<Status<'_>>) -> Result<Incoming, Omission> {
        let bytes = Bytes(status.as_ref().map_or(0, pmpi::message_bytes));
        Ok(Incoming { bytes, ..self.incoming(&RecvArgs::from(probe), status.map(Match::from))? })
    }

    #[inline(never)]
    fn iprobe(
        &mut self,
        probe: &Probe<'_>,
        flag: i32,
        status: Option<Status<'_>>,
    ) -> Result<Option<Incoming>, Omission> {
        let found = flag != 0;
        let message = if found { self.probed(probe, status)? } else { self.incoming(&RecvArgs::from(probe), None)? };
        self.emit(&Event::Iprobe(message, found));
        Ok(found.then_some(message))
    }

    fn found(&mut self, handle: &Place<'_, Message>, message: &Incoming) {
        if let (Some(from), Some(tag)) = (message.from, message.tag) {
            self.messages.insert(handle.get(), MatchedMessage { comm: message.comm, from, tag });
        }
    }

    /// The message of a handle, which is about to be received, and the handle to be free for another one.
    pub(crate) fn hold_message(&mut self, handle: Message) -> Overwritten {
        Overwritten::Message(match handle == self.abi.message_no_proc {
            true => Err(Omission::NullPeer),
            false => self.messages.remove(&handle).ok_or(Omission::Untraced),
        })
    }

    /// A receive of a message that is matched already: nothing is left open.
    fn received(&mut self, message: MatchedMessage, recv: &Mrecv<'_>) -> Incoming {
        let MatchedMessage { comm, from, tag } = message;
        let bytes = self.type_sizes.volume(recv.count(), recv.datatype());
        Incoming { comm, from: Some(from), tag: Some(tag), bytes, wildcard: Wildcard::default() }
    }

    fn outgoing(&mut self, args: &SendArgs) -> Result<Outgoing, Omission> {
        let (comm, peer) = self.peer(args.comm, args.dest)?;
        match peer {
            Peer::Rank(to) => {
                let bytes = self.type_sizes.volume(args.count, args.datatype);
                Ok(Outgoing { comm, to, tag: Tag(args.tag), bytes })
            }
            Peer::Any => Err(Omission::Untraced),
        }
    }

    /// The message of a receive or a probe, with its match if it has ended.
    #[inline(always)]
    fn incoming(&mut self, args: &RecvArgs, matched: Option<Match>) -> Result<Incoming, Omission> {
        let (comm, peer) = self.peer(args.comm, args.source)?;
        let wildcard = Wildcard { source: matches!(peer, Peer::Any), tag: args.tag == self.abi.any_tag };
        let from = match peer {
            Peer::Rank(from) => Some(from),
            Peer::Any => matched.map(|matched| self.source(args.comm, matched)).transpose()?,
        };
        let tag = if wildcard.tag { matched.map(|matched| Tag(matched.tag)) } else { Some(Tag(args.tag)) };
        let bytes = match args.buffer {
            Some((count, datatype)) => self.type_sizes.volume(count, datatype),
            None => Bytes(0),
        };
        Ok(Incoming { comm, from, tag, bytes, wildcard })
    }

    fn source(&mut self, comm: Comm, matched: Match) -> Result<Rank, Omission> {
        self.known(comm)?.peers().get(matched.source).ok_or(Omission::Untraced)
    }

    fn peer(&mut self, comm: Comm, rank: i32) -> Result<(CommId, Peer), Omission> {
        let (null, any) = (self.abi.proc_null, self.abi.any_source);
        if rank == null {
            return Err(Omission::NullPeer);
        }
        let comm = self.known(comm)?;
        let peer = match comm.peers().get(rank) {
            _ if rank == any => Peer::Any,
            Some(rank) => Peer::Rank(rank),
            None => return Err(Omission::Untraced),
        };
        Ok((comm.id, peer))
    }

    /// A rank that may not be left open.
    pub(super) fn rank_in(&mut self, comm: Comm, rank: i32) -> Result<(CommId, Rank), Omission> {
        match self.peer(comm, rank)? {
            (comm, Peer::Rank(rank)) => Ok((comm, rank)),
            (_, Peer::Any) => Err(Omission::Untraced),
        }
    }

    fn sending(&self, message: &Outgoing) -> RequestKind {
        RequestKind::Message { from: Some(self.me), to: message.to, tag: Some(message.tag), open: None }
    }

    fn receiving(&self, message: &Incoming, open: Option<Ranks>) -> RequestKind {
        RequestKind::Message { from: message.from, to: self.me, tag: message.tag, open }
    }

    /// A receive whose match will be known when its request is completed; the communicator may be freed by then.
    fn received_later(&mut self, message: &Result<Incoming, Omission>, comm: Comm) -> RequestKind {
        let Ok(message) = message else { return RequestKind::Nothing };
        let open = message.wildcard != Wildcard::default();
        let ranks = if open { self.known(comm).ok().map(|comm| comm.peers().clone()) } else { None };
        self.receiving(message, ranks)
    }
}

/// A side of a call with `MPI_PROC_NULL` is absent.
fn present<M>(side: Result<M, Omission>) -> Result<Option<M>, Omission> {
    match side {
        Ok(message) => Ok(Some(message)),
        Err(Omission::NullPeer) => Ok(None),
        Err(why) => Err(why),
    }
}
