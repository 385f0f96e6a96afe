//! Messages that are neither sent nor received.

use titr_common::event::{Incoming, Outgoing};

use super::channel::Turn;
use super::filter::MessageFilter;
use super::rewrite::{Messages, Treatment};
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::source::Mistake;

/// Messages go, with what waits for them.
pub const REMOVE_MESSAGES: Kind = Kind { name: "remove-messages", read: remove };

fn remove(keys: &mut Keys<'_>) -> Result<Effect, Mistake> {
    Ok(Effect::program(Messages { filter: MessageFilter::read(keys)?.into(), treatment: Removal }))
}

#[derive(Clone, Copy)]
struct Removal;

impl Treatment for Removal {
    fn removes(self) -> bool {
        true
    }

    fn outgoing(self, _: Outgoing, _: Turn) -> Option<Outgoing> {
        None
    }

    fn incoming(self, _: Incoming, _: Turn) -> Option<Incoming> {
        None
    }
}
