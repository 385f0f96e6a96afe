//! The selection of messages of a trace, in a form that both ends of each message can evaluate.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Event, Incoming, MessageCompletion, Outgoing, Rank, RequestId, Tag, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Communicators, Context, Fault};
use titr_common::trace::{Located, Trace, TraceError};

use crate::message_filter::MessageFilter;
use crate::position::Position;
use crate::rewriting::survey;

/// The messages that are selected.
pub(crate) struct Agreement {
    /// The rule that selects the messages.
    pub filter: Arc<MessageFilter>,
    /// The messages of each channel that has a selected one; `None` if receivers know without.
    pub channels: Option<FxHashMap<Channel, ChannelMessages>>,
    /// The contexts of the communicators that each rank has made, in order.
    pub contexts: Vec<Vec<Context>>,
    /// The matches of each rank's receives that leave their source or tag open, in the order in which they are posted;
    /// `None` for one that is cancelled.
    pub matches: Vec<Vec<Option<(Rank, Tag)>>>,
}

impl Agreement {
    /// Surveys a trace.
    ///
    /// # Errors
    /// If the trace cannot be read, or no message is selected.
    pub(crate) fn of(trace: &Trace, filter: &Arc<MessageFilter>) -> Result<Self, TraceError> {
        let mut messages = Survey::of(trace, filter)?;
        survey(trace, &filter.selection, |position, located| messages.see(position, located))?;
        messages.finish()
    }
}

/// Names a channel: messages of one communicator from one rank to another with one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Channel {
    /// The context of the communicator; none for `MPI_COMM_SELF`.
    pub context: Option<Context>,
    pub from: Rank,
    pub to: Rank,
    pub tag: Tag,
}

/// The messages of a channel in order, as the lengths of alternating runs of selected and other ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChannelMessages {
    runs: Vec<(bool, u32)>,
}

impl ChannelMessages {
    fn push(&mut self, is_selected: bool) {
        match self.runs.last_mut() {
            Some((last, count)) if *last == is_selected && *count < u32::MAX => *count += 1,
            Some(_) | None => self.runs.push((is_selected, 1)),
        }
    }

    fn is_any_selected(&self) -> bool {
        self.runs.iter().any(|&(is_selected, _)| is_selected)
    }
}

/// A place in the messages of a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    run: usize,
    /// How many messages of the run are passed.
    passed: u32,
}

impl Cursor {
    /// Whether the next message is selected; a message that the channel does not have is not.
    pub(crate) fn peek(&mut self, messages: &ChannelMessages) -> bool {
        messages.runs.get(self.run).is_some_and(|&(is_selected, _)| is_selected)
    }

    /// Passes the next message; whether it is selected.
    pub(crate) fn pass(&mut self, messages: &ChannelMessages) -> bool {
        let is_selected = self.peek(messages);
        self.passed += 1;
        if messages.runs.get(self.run).is_some_and(|&(_, count)| self.passed >= count) {
            *self = Self { run: self.run + 1, passed: 0 };
        }
        is_selected
    }
}

/// The survey of messages.
pub(crate) struct Survey {
    agreement: Agreement,
    communicators: Communicators,
    /// The persistent requests of the rank.
    persistent: FxHashMap<RequestId, Template>,
    rank: Rank,
    /// The place among the rank's matches of each open receive that is under way.
    open: FxHashMap<RequestId, usize>,
    /// The tags of messages, up to some number.
    tags: BTreeSet<i32>,
    is_any: bool,
}

/// The message of a persistent request.
#[derive(Clone, Copy)]
pub(crate) enum Template {
    /// A send, and whether the sender has selected it.
    Send(Outgoing, bool),
    Receive(Incoming),
}

/// Maximum number of tags that an error message lists.
const LISTED: usize = 20;

impl Survey {
    /// The survey of a trace for a change, before its first event.
    ///
    /// # Errors
    /// Where the trace has not the ranks of the filter.
    pub(crate) fn of(trace: &Trace, filter: &Arc<MessageFilter>) -> Result<Self, TraceError> {
        if let Some(to) = &filter.to {
            filter.selection.has_ranks(to, trace.ranks())?;
        }
        let ranks = trace.ranks() as usize;
        Ok(Self {
            agreement: Agreement {
                filter: Arc::clone(filter),
                channels: (!filter.is_known_to_receivers()).then(FxHashMap::default),
                contexts: vec![Vec::new(); ranks],
                matches: vec![Vec::new(); ranks],
            },
            communicators: Communicators::new(ranks),
            rank: Rank(0),
            persistent: FxHashMap::default(),
            open: FxHashMap::default(),
            tags: BTreeSet::new(),
            is_any: false,
        })
    }

    /// Takes note of an event of the rank that is at `position`.
    pub(crate) fn see(&mut self, position: &Position, located: Located<'_>) -> Result<(), TraceError> {
        if self.rank != position.rank {
            self.rank = position.rank;
            self.persistent.clear();
            self.open.clear();
        }
        let seen = self.note_event(position, located);
        seen.map_err(|fault| self.agreement.filter.selection.mistake(fault.to_string()).into())
    }

    fn note_event(&mut self, position: &Position, Located { event, location }: Located<'_>) -> Result<(), Fault> {
        let (rank, thread) = (position.rank, location.thread);
        let event = match event {
            EventRef::Compute(_) => return Ok(()),
            EventRef::Send(..) | EventRef::Recv(..) => &event.to_event(),
            EventRef::Event(event) => event,
        };
        match event {
            Event::Send(_, message, MessageCompletion::Blocking | MessageCompletion::Request(_)) => {
                self.sent(position, thread, message)
            }
            Event::Send(_, message, MessageCompletion::Persistent(id)) => {
                let is_selected = self.agreement.filter.selects(position, thread, message);
                self.persistent.insert(*id, Template::Send(*message, is_selected));
                Ok(())
            }
            Event::Recv(message, MessageCompletion::Request(id)) => {
                self.posted(rank, message, *id);
                Ok(())
            }
            Event::Recv(message, MessageCompletion::Persistent(id)) => {
                self.persistent.insert(*id, Template::Receive(*message));
                Ok(())
            }
            Event::Sendrecv(Some(message), _) => self.sent(position, thread, message),
            Event::Start(ids) => ids.iter().try_for_each(|id| match self.persistent.get(id).copied() {
                Some(Template::Send(message, is_selected)) => self.note(rank, &message, is_selected),
                Some(Template::Receive(message)) => {
                    self.posted(rank, &message, Some(*id));
                    Ok(())
                }
                None => Ok(()),
            }),
            Event::Matched(id, source, tag) => {
                if let Some(at) = self.open.remove(id) {
                    self.agreement.matches[rank.0 as usize][at] = Some((*source, *tag));
                }
                Ok(())
            }
            Event::RequestFree(id) => {
                self.persistent.remove(id);
                Ok(())
            }
            Event::CommCreate(call, parent, Some(group)) => {
                let index = self.communicators.create(rank, *call, *parent, group)?;
                self.agreement.contexts[rank.0 as usize].push(self.communicators.get(index).context);
                Ok(())
            }
            Event::CommFree(id) => self.communicators.free(rank, *id),
            Event::Recv(_, MessageCompletion::Blocking) | Event::Sendrecv(None, _) => Ok(()),
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Cancel(_) => Ok(()),
            Event::Probe(_) | Event::Iprobe(..) | Event::Partitioned(_) | Event::OneSided(_) => Ok(()),
            Event::Wait(..) | Event::Test(..) | Event::Collective(..) | Event::Neighborhood(..) => Ok(()),
            Event::File(_) | Event::Other(_) | Event::CommCreate(_, _, None) => Ok(()),
            Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => Ok(()),
        }
    }

    /// A message is sent.
    fn sent(&mut self, position: &Position, thread: ThreadId, message: &Outgoing) -> Result<(), Fault> {
        let is_selected = self.agreement.filter.selects(position, thread, message);
        self.note(position.rank, message, is_selected)
    }

    fn note(&mut self, from: Rank, message: &Outgoing, is_selected: bool) -> Result<(), Fault> {
        let &Outgoing { comm, to, tag, .. } = message;
        self.is_any |= is_selected;
        if self.tags.len() < LISTED {
            self.tags.insert(tag.0);
        }
        if let Some(channels) = &mut self.agreement.channels {
            let context = match comm {
                CommId::SELF => None,
                comm => {
                    let index = self.communicators.find(from, comm)?;
                    Some(self.communicators.get(index).context)
                }
            };
            channels.entry(Channel { context, from, to, tag }).or_default().push(is_selected);
        }
        Ok(())
    }

    /// A receive is posted.
    fn posted(&mut self, Rank(rank): Rank, message: &Incoming, request: Option<RequestId>) {
        if message.is_open() {
            let matches = &mut self.agreement.matches[rank as usize];
            if let Some(id) = request {
                self.open.insert(id, matches.len());
            }
            matches.push(None);
        }
    }

    /// Which messages are selected.
    pub(crate) fn finish(mut self) -> Result<Agreement, TraceError> {
        let filter = &self.agreement.filter;
        if self.is_any {
            if let Some(channels) = &mut self.agreement.channels {
                channels.retain(|_, messages| messages.is_any_selected());
            }
            return Ok(self.agreement);
        }
        if let Some(tag) =
            filter.tag.as_ref().filter(|tag| !self.tags.contains(tag.get_ref()) && self.tags.len() < LISTED)
        {
            let tags = self.tags.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
            let message = format!("no message has the tag {}: the tags are {tags}", tag.get_ref());
            return Err(filter.selection.source.mistake(tag.span(), message).into());
        }
        let message = "no message is selected here, or the changes before this one leave none of them";
        Err(filter.selection.mistake(message).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_finds_the_messages_in_order() {
        let messages = [true, true, false, true, false, false, false];
        let mut channel = ChannelMessages::default();
        messages.iter().for_each(|is_selected| channel.push(*is_selected));
        assert!(channel.is_any_selected());
        assert_eq!(channel.runs.len(), 4);
        let mut cursor = Cursor::default();
        assert!(cursor.peek(&channel));
        assert_eq!(messages.map(|_| cursor.pass(&channel)), messages);
        assert!(!cursor.pass(&channel));
    }
}
