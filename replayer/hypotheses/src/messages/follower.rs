//! Follows the selected messages through one rank's events.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Event, Incoming, MessageCompletion, Rank, RequestId, Tag, ThreadId};
use titr_common::program::Context;

use super::agreement::{Agreement, Channel, ChannelMessages, Cursor, Template};
use crate::position::Position;

/// Follows the events of one rank, and knows which of their messages are selected.
pub(crate) struct Follower {
    agreement: Arc<Agreement>,
    rank: Rank,
    communicators: FxHashMap<CommId, Context>,
    /// The number of communicators that the rank has made.
    made: usize,
    /// The number of open receives that the rank has posted.
    open: usize,
    persistent: FxHashMap<RequestId, Template>,
    /// The place of the next message that the rank receives on each channel.
    received: FxHashMap<Channel, Cursor>,
}

/// Which messages of an event are selected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selected {
    /// The message that is sent, or that the persistent request will send each time.
    pub sent: bool,
    /// The message that is received or probed for.
    pub received: bool,
    /// The message of each persistent request that is started.
    pub started: Vec<bool>,
}

impl Follower {
    /// The way of `rank`, from its first event.
    pub(crate) fn new(agreement: &Arc<Agreement>, rank: Rank) -> Self {
        Self {
            agreement: Arc::clone(agreement),
            rank,
            communicators: FxHashMap::from_iter([(CommId::WORLD, Context(0))]),
            made: 0,
            open: 0,
            persistent: FxHashMap::default(),
            received: FxHashMap::default(),
        }
    }

    /// Passes an event; which of its messages are selected.
    pub(crate) fn pass(&mut self, position: &Position, thread: ThreadId, event: &Event) -> Selected {
        let mut selected = Selected::default();
        match event {
            Event::Send(_, message, MessageCompletion::Persistent(id)) => {
                selected.sent = self.agreement.filter.selects(position, thread, message);
                self.persistent.insert(*id, Template::Send(*message, selected.sent));
            }
            Event::Send(_, message, MessageCompletion::Blocking | MessageCompletion::Request(_)) => {
                selected.sent = self.agreement.filter.selects(position, thread, message);
            }
            Event::Recv(message, MessageCompletion::Persistent(id)) => {
                self.persistent.insert(*id, Template::Receive(*message));
            }
            Event::Recv(message, MessageCompletion::Blocking | MessageCompletion::Request(_)) => {
                selected.received = self.receives(position, message);
            }
            Event::Sendrecv(sent, received) => {
                selected.sent = sent.is_some_and(|message| self.agreement.filter.selects(position, thread, &message));
                selected.received = received.is_some_and(|message| self.receives(position, &message));
            }
            Event::Probe(message) | Event::Iprobe(message, true) => {
                selected.received = message
                    .from
                    .zip(message.tag)
                    .is_some_and(|(from, tag)| self.next(position, message.comm, from, tag, Cursor::peek));
            }
            Event::Start(ids) => selected.started = ids.iter().map(|id| self.starts(position, *id)).collect(),
            Event::RequestFree(id) => _ = self.persistent.remove(id),
            Event::CommCreate(_, _, Some(group)) => {
                let context = self.agreement.contexts[self.rank.0 as usize].get(self.made).copied();
                self.made += 1;
                context.map(|context| self.communicators.insert(group.id, context));
            }
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Cancel(_) => {}
            Event::Iprobe(_, false) | Event::Partitioned(_) | Event::OneSided(_) | Event::Matched(..) => {}
            Event::Wait(..) | Event::Test(..) | Event::Collective(..) | Event::Neighborhood(..) => {}
            Event::File(_) | Event::Other(_) | Event::CommCreate(_, _, None) | Event::CommFree(_) => {}
            Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => {}
        }
        selected
    }

    /// Whether a request is persistent and belongs to a message.
    pub(crate) fn is_persistent(&self, id: RequestId) -> bool {
        self.persistent.contains_key(&id)
    }

    fn receives(&mut self, position: &Position, message: &Incoming) -> bool {
        let end = if message.is_open() {
            let matched = self.agreement.matches[self.rank.0 as usize].get(self.open).copied().flatten();
            self.open += 1;
            matched
        } else {
            message.from.zip(message.tag)
        };
        end.is_some_and(|(from, tag)| self.next(position, message.comm, from, tag, Cursor::pass))
    }

    fn starts(&mut self, position: &Position, id: RequestId) -> bool {
        match self.persistent.get(&id).copied() {
            Some(Template::Send(_, is_selected)) => is_selected,
            Some(Template::Receive(message)) => self.receives(position, &message),
            None => false,
        }
    }

    /// Whether the next message that the rank receives on a channel is selected.
    fn next(
        &mut self,
        position: &Position,
        comm: CommId,
        from: Rank,
        tag: Tag,
        step: impl FnOnce(&mut Cursor, &ChannelMessages) -> bool,
    ) -> bool {
        let Some(channels) = &self.agreement.channels else {
            return position.is_on(comm) && self.agreement.filter.has_ends(from, self.rank, tag);
        };
        let channel = Channel { context: self.communicators.get(&comm).copied(), from, to: self.rank, tag };
        let messages = channels.get(&channel);
        messages.is_some_and(|messages| step(self.received.entry(channel).or_default(), messages))
    }
}
