//! Removes messages at both ends, and collectives.

use titr_common::event::{Collective, Incoming, Outgoing};
use titr_document::Mistake;

use super::channel::Turn;
use super::collectives::{CollectiveFilter, CollectiveTreatment, Collectives};
use super::rewrite::{Messages, Treatment};
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::message_filter::MessageFilter;

/// Removes messages, and the waits for them.
pub const REMOVE_MESSAGES: Kind = Kind { name: "remove-messages", read: remove };

fn remove(keys: &mut Keys) -> Result<Effect, Mistake> {
    if let Some(filter) = CollectiveFilter::read(keys)? {
        return Ok(Effect::program(Collectives::new(filter, Removal)));
    }
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

impl CollectiveTreatment for Removal {
    fn collective(self, _: Collective) -> Option<Collective> {
        None
    }
}
