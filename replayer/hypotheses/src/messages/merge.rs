//! Merges several messages into one.
//!
//! A number of consecutive messages of a channel become one. It is sent in place of the last of them, because only then
//! all of its data exists, and received in place of the first of them, because then the receiver needs it. If the
//! receiver's answer to one message influences the next, they cannot be merged, and the replay ends in a deadlock.

use titr_common::event::{Incoming, Outgoing};
use titr_document::Mistake;

use super::channel::Turn;
use super::rewrite::{Messages, Treatment};
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::message_filter::MessageFilter;

/// Messages become fewer and larger.
pub const MERGE_MESSAGES: Kind = Kind { name: "merge-messages", read: merge };

fn merge(keys: &mut Keys) -> Result<Effect, Mistake> {
    let filter = MessageFilter::read(keys)?.into();
    let count = keys.whole("count", 1)?;
    let count = keys.required("count", count)?.into_inner().unsigned_abs();
    Ok(Effect::program(Messages { filter, treatment: Merging { count } }))
}

#[derive(Clone, Copy)]
struct Merging {
    count: u32,
}

impl Treatment for Merging {
    fn group(self) -> Option<u32> {
        Some(self.count)
    }

    fn outgoing(self, message: Outgoing, turn: Turn) -> Option<Outgoing> {
        turn.is_last.then_some(Outgoing { bytes: turn.bytes, ..message })
    }

    fn incoming(self, message: Incoming, turn: Turn) -> Option<Incoming> {
        turn.is_first.then_some(Incoming { bytes: turn.bytes, ..message })
    }
}
