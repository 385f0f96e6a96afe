//! Scales the sizes of messages and collectives. The computation of reductions scales with them.

use titr_common::event::{Collective, Incoming, Outgoing, Volumes};
use titr_common::units::{Bytes, Instructions};

use super::channel::Turn;
use super::collectives::{CollectiveFilter, CollectiveTreatment, Collectives};
use super::filter::MessageFilter;
use super::rewrite::{Messages, Treatment};
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::source::Mistake;

/// The bytes of messages are multiplied with a factor, and rounded to whole ones.
pub const SCALE_MESSAGES: Kind = Kind { name: "scale-messages", read: scale };

fn scale(keys: &mut Keys<'_>) -> Result<Effect, Mistake> {
    let factor = keys.factor("factor")?;
    let treatment = MessageScaling { factor: keys.required("factor", factor)? };
    if let Some(filter) = CollectiveFilter::read(keys)? {
        return Ok(Effect::program(Collectives::new(filter, treatment)));
    }
    Ok(Effect::program(Messages { filter: MessageFilter::read(keys)?.into(), treatment }))
}

#[derive(Clone, Copy)]
struct MessageScaling {
    factor: f64,
}

impl MessageScaling {
    fn of(self, Bytes(bytes): Bytes) -> Bytes {
        // A factor of 1 preserves sizes that no float can represent.
        if self.factor.to_bits() == 1.0_f64.to_bits() {
            Bytes(bytes)
        } else {
            Bytes((bytes as f64 * self.factor).round() as u64)
        }
    }
}

impl Treatment for MessageScaling {
    fn outgoing(self, message: Outgoing, _: Turn) -> Option<Outgoing> {
        Some(Outgoing { bytes: self.of(message.bytes), ..message })
    }

    fn incoming(self, message: Incoming, _: Turn) -> Option<Incoming> {
        Some(Incoming { bytes: self.of(message.bytes), ..message })
    }
}

impl CollectiveTreatment for MessageScaling {
    fn collective(self, call: Collective) -> Option<Collective> {
        let scaled = |volumes: &Volumes| match volumes {
            Volumes::None => Volumes::None,
            Volumes::Each(bytes) => Volumes::Each(self.of(*bytes)),
            Volumes::PerMember(list) => Volumes::PerMember(list.iter().map(|bytes| self.of(*bytes)).collect()),
        };
        let work = Instructions(call.work.0 * self.factor);
        Some(Collective { send: scaled(&call.send), recv: scaled(&call.recv), work, ..call })
    }
}
