//! Point-to-point messages (MPI 4.0 §3): which receive takes which message, when a message travels, and when its send completes.

pub(super) mod exchange;
mod half_duplex;
mod matching;
pub(super) mod protocol;
mod queues;

use titr_common::event::{Rank, Tag};
use titr_common::program::Context;

use crate::observe::CommunicatorId;

pub(in crate::ranks) fn communicator(context: Context) -> CommunicatorId {
    CommunicatorId(context.0 >> 1)
}

/// The properties of a message that receives select it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ranks) struct Envelope {
    pub(in crate::ranks) context: Context,
    pub(in crate::ranks) source: Rank,
    pub(in crate::ranks) tag: Tag,
}

/// The properties of the messages that a receive or a probe selects; `None` is a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ranks) struct Selector {
    pub(in crate::ranks) context: Context,
    pub(in crate::ranks) source: Option<Rank>,
    pub(in crate::ranks) tag: Option<Tag>,
}

impl Selector {
    pub(in crate::ranks) fn is_wild(&self) -> bool {
        self.source.is_none() || self.tag.is_none()
    }
}

impl From<Envelope> for Selector {
    fn from(Envelope { context, source, tag }: Envelope) -> Self {
        Self { context, source: Some(source), tag: Some(tag) }
    }
}

/// A selector in two words, so that hashing it costs two multiplications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::ranks) struct Key(u32, u64);

impl From<Selector> for Key {
    fn from(selector: Selector) -> Self {
        let source = selector.source.map_or(u32::MAX, |source| source.0);
        // 33 bits for a tag or none, which leaves 31 for the context.
        let tag = selector.tag.map_or(0, |tag| 1 << 32 | u64::from(tag.0.cast_unsigned()));
        Self(source, u64::from(selector.context.0) << 33 | tag)
    }
}

impl Key {
    /// The envelope of a message that waits under this key, which must be one without wildcards.
    pub(in crate::ranks) fn envelope(self) -> Envelope {
        Envelope {
            context: Context((self.1 >> 33) as u32),
            source: Rank(self.0),
            tag: Tag((self.1 as u32).cast_signed()),
        }
    }

    /// The keys of the wildcard receives that take a message with `envelope`.
    pub(in crate::ranks) fn wild(envelope: Envelope) -> [Self; 3] {
        let exact = Selector::from(envelope);
        [
            Selector { source: None, ..exact },
            Selector { tag: None, ..exact },
            Selector { source: None, tag: None, ..exact },
        ]
        .map(Self::from)
    }
}
