//! The criteria that select the messages of a change.

use std::sync::Arc;

use titr_common::event::{Outgoing, Rank, RankSet, Tag, ThreadId};
use titr_common::units::Bytes;
use titr_document::{Mistake, Spanned};

use crate::keys::Keys;
use crate::position::Position;
use crate::selection::Selection;

/// The messages that a change is about, as their senders see them.
pub(crate) struct MessageFilter {
    /// The senders, their region and call site, and the communicator.
    pub selection: Arc<Selection>,
    /// The receivers; all, where there are none.
    pub to: Option<Spanned<RankSet>>,
    /// The tag; any, where there is none.
    pub tag: Option<Spanned<i32>>,
    /// The fewest bytes, and the most.
    bytes: (Option<Bytes>, Option<Bytes>),
}

impl MessageFilter {
    /// Reads the keys that select messages.
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, Mistake> {
        let selection = keys.selection_of_messages()?.into();
        let to = keys.rank_set("to")?;
        let tag = keys.whole("tag")?;
        let bytes = (keys.bytes("min_bytes")?, keys.bytes("max_bytes")?);
        if let (Some(least), Some(most)) = bytes
            && least > most
        {
            return Err(keys.mistake(format!("no message has at least {} and at most {} bytes", least.0, most.0)));
        }
        Ok(Self { selection, to, tag, bytes })
    }

    /// Whether only messages without content can be selected.
    pub(crate) fn is_of_empty_messages(&self) -> bool {
        self.bytes.1 == Some(Bytes(0))
    }

    /// Whether a receiver can evaluate the selection on its own.
    pub(crate) fn is_known_to_receivers(&self) -> bool {
        !self.selection.is_of_places() && self.bytes == (None, None)
    }

    /// Whether messages between two ranks with this tag can be selected.
    pub(crate) fn has_ends(&self, from: Rank, to: Rank, Tag(tag): Tag) -> bool {
        self.selection.has_rank(from)
            && self.to.as_ref().is_none_or(|ranks| ranks.get_ref().contains(to))
            && self.tag.as_ref().is_none_or(|selected| *selected.get_ref() == tag)
    }

    /// Whether a message that its sender sends at `position` is selected.
    pub(crate) fn selects(&self, position: &Position, thread: ThreadId, message: &Outgoing) -> bool {
        let (least, most) = self.bytes;
        position.is_inside(thread)
            && position.is_on(message.comm)
            && self.has_ends(position.rank, message.to, message.tag)
            && least.is_none_or(|least| message.bytes >= least)
            && most.is_none_or(|most| message.bytes <= most)
    }
}
