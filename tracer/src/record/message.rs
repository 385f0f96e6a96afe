//! Messages: sending and receiving.

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Completion, Event, Incoming, Outgoing, Rank, SendMode, Tag, Wildcard};
use titr_common::units::Bytes;
use titr_wrappers::Abi;
use titr_wrappers::argument::{Comm, Message, Place, Request};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::signature::{Recv, Send};

use super::completion_call::CompletionCall;
use super::message_args::TypeSizes;
use super::message_args::{Match, RecvArgs, RequestRef, SendArgs, halves, halves_of_one};
use super::omitted_calls::Omission;
use super::overwritten::{MatchedMessage, Overwritten};
use super::request_table::RequestKind;
use super::requests::Requests;
use super::{Outcome, RankTrace};
use crate::pmpi::ErrorCode;
use crate::ranks::Ranks;

/// Whom a rank argument names.
enum Peer {
    /// `MPI_ANY_SOURCE`.
    Any,
    /// A rank of the world.
    Rank(Rank),
}

/// Gives a receive or a probe with a wildcard a status to write to.
#[inline]
pub(crate) fn keep_status(call: &PointToPoint<'_>) {
    match call {
        MPI_Recv(_, status)
        | MPI_Sendrecv(_, status)
        | MPI_Sendrecv_replace(_, status)
        | MPI_Probe(_, status)
        | MPI_Iprobe(_, _, status)
        | MPI_Mprobe(_, _, status)
        | MPI_Improbe(_, _, _, status) => status.keep(),
        MPI_Request_get_status(..)
        | MPI_Request_get_status_all(_)
        | MPI_Request_get_status_any(..)
        | MPI_Request_get_status_some(_) => {
            CompletionCall::of_status_query(call).iter().for_each(CompletionCall::keep_statuses);
        }
        _ => {}
    }
}

pub(super) struct Messages {
    pub(super) abi: &'static Abi,
    pub(super) me: Rank,
    pub(super) type_sizes: TypeSizes,
    /// Messages that a matched probe has found and that were not received yet.
    pub(super) matched: FxHashMap<Message, MatchedMessage>,
    /// Those among them that no receive takes in the trace yet, and the receive that would.
    pub(super) unposted: Vec<(Message, RecvArgs)>,
}

impl Messages {
    pub(super) fn new(abi: &'static Abi, me: Rank) -> Self {
        Self { abi, me, type_sizes: TypeSizes::default(), matched: FxHashMap::default(), unposted: Vec::new() }
    }

    /// A datatype is about to be freed, and its handle may be reused for another datatype.
    pub(super) fn datatype_freed(&mut self) {
        self.type_sizes.forget();
    }

    /// Records a call that completes no requests.
    pub(super) fn call(
        &mut self,
        call: &PointToPoint<'_>,
        overwritten: Overwritten,
        requests: &mut Requests,
        trace: &mut RankTrace,
    ) -> Outcome {
        if !self.unposted.is_empty() {
            self.take_found_before(call, trace);
        }
        use SendMode::{Buffered, Ready, Standard, Synchronous};
        match call {
            MPI_Send(send) => self.send(Standard, &SendArgs::from(send), trace),
            MPI_Bsend(send) => self.send(Buffered, &SendArgs::from(send), trace),
            MPI_Rsend(send) => self.send(Ready, &SendArgs::from(send), trace),
            MPI_Ssend(send) => self.send(Synchronous, &SendArgs::from(send), trace),
            MPI_Isend(send, request) => self.isend(Standard, &SendArgs::from(send), RequestRef::from(request), trace),
            MPI_Ibsend(send, request) => self.isend(Buffered, &SendArgs::from(send), RequestRef::from(request), trace),
            MPI_Irsend(send, request) => self.isend(Ready, &SendArgs::from(send), RequestRef::from(request), trace),
            MPI_Issend(send, request) => {
                self.isend(Synchronous, &SendArgs::from(send), RequestRef::from(request), trace)
            }
            MPI_Send_init(send, request) => self.send_init(Standard, send, request, trace),
            MPI_Bsend_init(send, request) => self.send_init(Buffered, send, request, trace),
            MPI_Rsend_init(send, request) => self.send_init(Ready, send, request, trace),
            MPI_Ssend_init(send, request) => self.send_init(Synchronous, send, request, trace),
            MPI_Recv(recv, status) => self.recv(&RecvArgs::from(recv), status.get().map(Match::from), trace),
            MPI_Irecv(recv, request) => self.irecv(&RecvArgs::from(recv), RequestRef::from(request), trace),
            MPI_Recv_init(recv, request) => self.recv_init(recv, request, trace),
            MPI_Sendrecv(both, status) => {
                let (send, recv) = halves(both);
                self.sendrecv(&send, &recv, status.get().map(Match::from), trace)
            }
            MPI_Sendrecv_replace(both, status) => {
                let (send, recv) = halves_of_one(both);
                self.sendrecv(&send, &recv, status.get().map(Match::from), trace)
            }
            MPI_Isendrecv(both, request) => {
                let (send, recv) = halves(both);
                self.isendrecv(&send, &recv, request, trace)
            }
            MPI_Isendrecv_replace(both, request) => {
                let (send, recv) = halves_of_one(both);
                self.isendrecv(&send, &recv, request, trace)
            }
            MPI_Probe(..) | MPI_Iprobe(..) | MPI_Mprobe(..) | MPI_Improbe(..) | MPI_Mrecv(..) | MPI_Imrecv(..) => {
                self.probe(call, overwritten, trace)
            }
            MPI_Psend_init(call, _, request) => self.partitioned_init(call, request, true, trace),
            MPI_Precv_init(call, _, request) => self.partitioned_init(call, request, false, trace),
            MPI_Pready(part, request) => Requests::ready(*request, std::iter::once(*part), trace),
            MPI_Pready_range(first, last, request) => Requests::ready(*request, *first..=*last, trace),
            MPI_Pready_list(list, request) => Requests::ready(*request, list.array_of_partitions().iter(), trace),
            MPI_Parrived(request, part, flag) => Requests::arrived(*request, *part, flag.get() != 0, trace),
            MPI_Start(_)
            | MPI_Startall(_)
            | MPI_Request_free(_)
            | MPI_Cancel(_)
            | MPI_Request_get_status(..)
            | MPI_Request_get_status_all(_)
            | MPI_Request_get_status_any(..)
            | MPI_Request_get_status_some(_) => requests.call(call, overwritten, trace),
            // Completion calls have a function of their own.
            MPI_Wait(..) | MPI_Waitall(_) | MPI_Waitany(..) | MPI_Waitsome(_) | MPI_Test(..) | MPI_Testall(_)
            | MPI_Testany(..) | MPI_Testsome(_) => Err(Omission::Untraced),
        }
    }

    #[inline]
    pub(super) fn send(&mut self, mode: SendMode, args: &SendArgs, trace: &mut RankTrace) -> Outcome {
        let message = self.outgoing(args, trace)?;
        trace.stream.write_unowning(Event::Send(mode, message, Completion::Blocking));
        Ok(())
    }

    // Inlined always, though there are two callers, one for deferred calls: this is the hottest path of all.
    #[inline(always)]
    pub(super) fn isend(
        &mut self,
        mode: SendMode,
        args: &SendArgs,
        request: RequestRef,
        trace: &mut RankTrace,
    ) -> Outcome {
        let message = self.outgoing(args, trace);
        let what = message.map_or(RequestKind::Nothing, |message| self.sending(&message));
        let id = trace.requests.add(request.handle, request.place, what, false);
        trace.stream.write_unowning(Event::Send(mode, message?, Completion::Request(Some(id))));
        Ok(())
    }

    fn send_init(
        &mut self,
        mode: SendMode,
        send: &Send<'_>,
        request: &Place<'_, Request>,
        trace: &mut RankTrace,
    ) -> Outcome {
        let message = self.outgoing(&SendArgs::from(send), trace);
        let what = message.map_or(RequestKind::Nothing, |message| self.sending(&message));
        let id = trace.requests.add(request.get(), request.address(), what, true);
        trace.stream.write_unowning(Event::Send(mode, message?, Completion::Persistent(id)));
        Ok(())
    }

    #[inline]
    pub(super) fn recv(&mut self, args: &RecvArgs, matched: Option<Match>, trace: &mut RankTrace) -> Outcome {
        let message = self.incoming(args, matched, trace)?;
        trace.stream.write_unowning(Event::Recv(message, Completion::Blocking));
        Ok(())
    }

    #[inline(always)]
    pub(super) fn irecv(&mut self, args: &RecvArgs, request: RequestRef, trace: &mut RankTrace) -> Outcome {
        let message = self.incoming(args, None, trace);
        let what = self.received_later(&message, args.comm, trace);
        let id = trace.requests.add(request.handle, request.place, what, false);
        trace.stream.write_unowning(Event::Recv(message?, Completion::Request(Some(id))));
        Ok(())
    }

    fn recv_init(&mut self, recv: &Recv<'_>, request: &Place<'_, Request>, trace: &mut RankTrace) -> Outcome {
        let args = RecvArgs::from(recv);
        let message = self.incoming(&args, None, trace);
        let what = self.received_later(&message, args.comm, trace);
        let id = trace.requests.add(request.get(), request.address(), what, true);
        trace.stream.write_unowning(Event::Recv(message?, Completion::Persistent(id)));
        Ok(())
    }

    #[inline(never)]
    fn sendrecv(&mut self, send: &SendArgs, recv: &RecvArgs, matched: Option<Match>, trace: &mut RankTrace) -> Outcome {
        let send = present(self.outgoing(send, trace))?;
        let recv = present(self.incoming(recv, matched, trace))?;
        if send.is_none() && recv.is_none() {
            return Err(Omission::NullPeer);
        }
        trace.stream.write_unowning(Event::Sendrecv(send, recv));
        Ok(())
    }

    /// Two requests with one handle: the send, and the receive as its companion.
    #[inline(never)]
    fn isendrecv(
        &mut self,
        send: &SendArgs,
        recv: &RecvArgs,
        request: &Place<'_, Request>,
        trace: &mut RankTrace,
    ) -> Outcome {
        let outgoing = present(self.outgoing(send, trace))?;
        let incoming = self.incoming(recv, None, trace);
        let receiving = self.received_later(&incoming, recv.comm, trace);
        let incoming = present(incoming)?;
        let Some(outgoing) = outgoing else {
            let id = trace.requests.add(request.get(), request.address(), receiving, false);
            let message = incoming.ok_or(Omission::NullPeer)?;
            trace.stream.write_unowning(Event::Recv(message, Completion::Request(Some(id))));
            return Ok(());
        };
        let id = trace.requests.add(request.get(), request.address(), self.sending(&outgoing), false);
        trace.stream.write_unowning(Event::Send(SendMode::Standard, outgoing, Completion::Request(Some(id))));
        if let Some(incoming) = incoming {
            let companion = trace.requests.add_unnamed(receiving, false);
            if let Some(entry) = trace.requests.get_mut(id) {
                entry.companion = Some(companion);
            }
            trace.stream.write_unowning(Event::Recv(incoming, Completion::Request(Some(companion))));
        }
        Ok(())
    }

    fn outgoing(&mut self, args: &SendArgs, trace: &mut RankTrace) -> Result<Outgoing, Omission> {
        let (comm, peer) = self.peer(args.comm, args.dest, trace)?;
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
    pub(super) fn incoming(
        &mut self,
        args: &RecvArgs,
        matched: Option<Match>,
        trace: &mut RankTrace,
    ) -> Result<Incoming, Omission> {
        let (comm, peer) = self.peer(args.comm, args.source, trace)?;
        let wildcard = Wildcard { source: matches!(peer, Peer::Any), tag: args.tag == self.abi.any_tag };
        let from = match peer {
            Peer::Rank(from) => Some(from),
            Peer::Any => matched.map(|matched| source(args.comm, matched, trace)).transpose()?,
        };
        let tag = if wildcard.tag { matched.map(|matched| Tag(matched.tag)) } else { Some(Tag(args.tag)) };
        let bytes = match args.buffer {
            Some((count, datatype)) => self.type_sizes.volume(count, datatype),
            None => Bytes(0),
        };
        Ok(Incoming { comm, from, tag, bytes, wildcard })
    }

    fn peer(&self, comm: Comm, rank: i32, trace: &mut RankTrace) -> Result<(CommId, Peer), Omission> {
        let (null, any) = (self.abi.proc_null, self.abi.any_source);
        if rank == null {
            return Err(Omission::NullPeer);
        }
        let comm = trace.communicators.known(comm)?;
        let peer = match comm.peers().get(rank) {
            _ if rank == any => Peer::Any,
            Some(rank) => Peer::Rank(rank),
            None => return Err(Omission::Untraced),
        };
        Ok((comm.id, peer))
    }

    /// A rank that may not be left open.
    pub(super) fn rank_in(&self, comm: Comm, rank: i32, trace: &mut RankTrace) -> Result<(CommId, Rank), Omission> {
        match self.peer(comm, rank, trace)? {
            (comm, Peer::Rank(rank)) => Ok((comm, rank)),
            (_, Peer::Any) => Err(Omission::Untraced),
        }
    }

    fn sending(&self, message: &Outgoing) -> RequestKind {
        RequestKind::Message { from: Some(self.me), to: message.to, tag: Some(message.tag), open: None }
    }

    pub(super) fn receiving(&self, message: &Incoming, open: Option<Ranks>) -> RequestKind {
        RequestKind::Message { from: message.from, to: self.me, tag: message.tag, open }
    }

    /// A receive whose match will be known when its request is completed; the communicator may be freed by then.
    fn received_later(
        &mut self,
        message: &Result<Incoming, Omission>,
        comm: Comm,
        trace: &mut RankTrace,
    ) -> RequestKind {
        let Ok(message) = message else { return RequestKind::Nothing };
        let open = message.wildcard != Wildcard::default();
        let ranks = if open { trace.communicators.known(comm).ok().map(|known| known.peers().clone()) } else { None };
        self.receiving(message, ranks)
    }
}

/// Whether a call that returned `error` has received a message that is larger than its buffer. The sender is not
/// notified.
pub(super) fn is_truncated(abi: &Abi, call: &PointToPoint<'_>, error: ErrorCode) -> bool {
    matches!(call, MPI_Recv(..) | MPI_Mrecv(..) | MPI_Sendrecv(..) | MPI_Sendrecv_replace(..))
        && error.class() == Some(abi.err_truncate)
}

/// The rank of the world that a receive was matched with.
fn source(comm: Comm, matched: Match, trace: &mut RankTrace) -> Result<Rank, Omission> {
    trace.communicators.known(comm)?.peers().get(matched.source).ok_or(Omission::Untraced)
}

/// A side of a call with `MPI_PROC_NULL` is absent.
fn present<M>(side: Result<M, Omission>) -> Result<Option<M>, Omission> {
    match side {
        Ok(message) => Ok(Some(message)),
        Err(Omission::NullPeer) => Ok(None),
        Err(why) => Err(why),
    }
}
