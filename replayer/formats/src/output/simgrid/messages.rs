//! Messages and the waits for them.

use titr_common::event::{
    CommId, Completed, Completion, Event, Incoming, Outgoing, Quantifier, Rank, RequestKey, SendMode, Tag, Wildcard,
};
use titr_common::program::Fault;
use titr_common::trace::EventSource;
use titr_common::units::Bytes;
use titr_workload::Match;

use super::request_storage::{Name, RequestState, StoredRequest};
use super::translation::{CollectiveProgress, LONGEST, Operation, OperationId, Translation};

/// A receive with known source and tag, as SimGrid sees it.
struct Expected {
    from: Rank,
    tag: Tag,
    bytes: Bytes,
}

impl<S: EventSource> Translation<'_, S> {
    pub(super) fn send(&mut self, rank: Rank, mode: SendMode, message: Outgoing) -> Result<(), Fault> {
        if mode == SendMode::Buffered && message.bytes >= self.rules.eager_threshold {
            return self.isend(rank, mode, message, None).map(drop);
        }
        let (tag, bytes) = self.outgoing(rank, mode, message)?;
        self.emit_send(rank, message.to, tag, bytes);
        Ok(())
    }

    /// Starts a send, unless it was cancelled; returns the operation to complete.
    pub(super) fn isend(
        &mut self,
        rank: Rank,
        mode: SendMode,
        message: Outgoing,
        recorded: Option<Match>,
    ) -> Result<Option<OperationId>, Fault> {
        if recorded == Some(Match::Cancelled) {
            return Ok(None);
        }
        let (tag, bytes) = self.outgoing(rank, mode, message)?;
        let posted = self.emit_isend(rank, message.to, tag, bytes);
        if mode == SendMode::Buffered && message.bytes >= self.rules.eager_threshold {
            self.state(rank).buffered.push(posted);
            return Ok(None);
        }
        Ok(Some(self.operation(rank, Operation::Message(posted))))
    }

    pub(super) fn receive(&mut self, rank: Rank, message: Incoming) -> Result<(), Fault> {
        if let Some(Expected { from, tag, bytes }) = self.incoming(rank, message, None)? {
            self.emit_recv(rank, from, tag, bytes);
        }
        Ok(())
    }

    /// Starts a receive with its recorded match; returns the operation to complete.
    pub(super) fn irecv(
        &mut self,
        rank: Rank,
        message: Incoming,
        recorded: Option<Match>,
    ) -> Result<Option<OperationId>, Fault> {
        let Some(Expected { from, tag, bytes }) = self.incoming(rank, message, recorded)? else { return Ok(None) };
        let state =
            if matches!(recorded, Some(Match::With(..))) { RequestState::Matched } else { RequestState::Receive };
        let posted = match self.state(rank).storage.reuse(Name { from, to: rank, tag }, state) {
            Some(posted) => posted,
            None => self.emit_irecv(rank, from, tag, bytes, state),
        };
        Ok(Some(self.operation(rank, Operation::Message(posted))))
    }

    /// Sends and receives at once: both are started before either is waited for.
    pub(super) fn sendrecv(
        &mut self,
        rank: Rank,
        outgoing: Option<Outgoing>,
        incoming: Option<Incoming>,
    ) -> Result<(), Fault> {
        let sent = outgoing.map(|message| self.isend(rank, SendMode::Standard, message, None)).transpose()?;
        if let Some(message) = incoming {
            self.receive(rank, message)?;
        }
        self.complete(rank, sent.flatten().into_iter().collect());
        Ok(())
    }

    /// Completes these operations. Collectives come first, because other ranks may need their remaining messages before
    /// they send the messages waited for.
    pub(super) fn complete(&mut self, rank: Rank, operations: Vec<OperationId>) {
        let (mut messages, mut runs) = (Vec::new(), Vec::new());
        for operation in operations {
            match self.state(rank).operations.try_remove(operation.0 as usize) {
                Some(Operation::Message(posted)) => messages.push(posted),
                Some(Operation::Collective(run)) => runs.push(*run),
                Some(Operation::Over) | None => {}
            }
        }
        self.complete_collectives(rank, runs);
        self.wait(rank, &messages);
    }

    /// Waits for all of `messages`.
    pub(super) fn wait(&mut self, rank: Rank, messages: &[StoredRequest]) {
        if messages.len() > 1 && self.state(rank).storage.take_all(messages) {
            return self.emit(rank, &Event::Wait(Quantifier::All, Completed::Outstanding(None)));
        }
        for &posted in messages {
            let Name { from, to, tag } = posted.name;
            let waits = self.state(rank).storage.take(posted);
            for _ in 0..waits {
                let key = RequestKey { from: Some(from), to, tag: Some(tag) };
                self.emit(rank, &Event::Wait(Quantifier::Single, Completed::One(key, None)));
            }
            self.differences.reordered += waits.saturating_sub(1);
        }
    }

    /// Takes those collectives that `rank` has in the background and that are `meant`.
    pub(super) fn background(
        &mut self,
        rank: Rank,
        meant: impl Fn(&CollectiveProgress) -> bool,
    ) -> Vec<CollectiveProgress> {
        let mut taken = Vec::new();
        for (_, operation) in &mut self.state(rank).operations {
            *operation = match std::mem::replace(operation, Operation::Over) {
                Operation::Collective(run) if meant(&run) => {
                    taken.push(*run);
                    continue;
                }
                other => other,
            };
        }
        taken
    }

    /// The tag and size that a send has in SimGrid.
    fn outgoing(&mut self, rank: Rank, mode: SendMode, message: Outgoing) -> Result<(Tag, Bytes), Fault> {
        self.known(message.to)?;
        let small = message.bytes < self.rules.eager_threshold;
        self.differences.synchronous += u64::from(small && mode == SendMode::Synchronous);
        Ok((self.tag(rank, message.comm, message.tag)?, message.bytes))
    }

    /// The message of a receive; `None` if it got nothing, or if the message is unknown.
    fn incoming(&mut self, rank: Rank, message: Incoming, recorded: Option<Match>) -> Result<Option<Expected>, Fault> {
        let (from, tag) = match (recorded, message.from, message.tag) {
            (Some(Match::Cancelled), ..) => return Ok(None),
            (Some(Match::With(from, tag)), ..) | (None, Some(from), Some(tag)) => (from, tag),
            (None, ..) => {
                self.differences.open += 1;
                return Ok(None);
            }
        };
        self.known(from)?;
        Ok(Some(Expected { from, tag: self.tag(rank, message.comm, tag)?, bytes: message.bytes }))
    }

    pub(super) fn emit_send(&mut self, from: Rank, to: Rank, tag: Tag, bytes: Bytes) {
        let bytes = self.cut(bytes);
        self.emit_half(
            Name { from, to, tag },
            &Event::Send(SendMode::Standard, outgoing(to, tag, bytes), Completion::Blocking),
        );
    }

    pub(super) fn emit_isend(&mut self, from: Rank, to: Rank, tag: Tag, bytes: Bytes) -> StoredRequest {
        let bytes = self.cut(bytes);
        let name = Name { from, to, tag };
        self.emit_half(name, &Event::Send(SendMode::Standard, outgoing(to, tag, bytes), Completion::Request(None)));
        let state = if bytes < self.rules.eager_threshold { RequestState::EagerSend } else { RequestState::Send };
        self.state(from).storage.post(name, state)
    }

    pub(super) fn emit_recv(&mut self, to: Rank, from: Rank, tag: Tag, bytes: Bytes) {
        self.emit_half(Name { from, to, tag }, &Event::Recv(expected(from, tag, bytes), Completion::Blocking));
    }

    pub(super) fn emit_irecv(
        &mut self,
        to: Rank,
        from: Rank,
        tag: Tag,
        bytes: Bytes,
        state: RequestState,
    ) -> StoredRequest {
        let name = Name { from, to, tag };
        self.emit_half(name, &Event::Recv(expected(from, tag, bytes), Completion::Request(None)));
        self.state(to).storage.post(name, state)
    }
}

fn outgoing(to: Rank, tag: Tag, bytes: Bytes) -> Outgoing {
    Outgoing { comm: CommId::WORLD, to, tag, bytes }
}

fn expected(from: Rank, tag: Tag, bytes: Bytes) -> Incoming {
    let (comm, wildcard) = (CommId::WORLD, Wildcard::default());
    Incoming { comm, from: Some(from), tag: Some(tag), bytes: bytes.min(LONGEST), wildcard }
}
