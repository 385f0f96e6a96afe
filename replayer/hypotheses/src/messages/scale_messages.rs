//! Messages of another size.

use titr_common::event::{Incoming, Outgoing};
use titr_common::units::Bytes;

use super::channel::Turn;
use super::filter::MessageFilter;
use super::rewrite::{Messages, Treatment};
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::source::Mistake;

/// The bytes of messages are multiplied with a factor, and rounded to whole ones.
pub const SCALE_MESSAGES: Kind = Kind { name: "scale-messages", read: scale };

fn scale(keys: &mut Keys<'_>) -> Result<Effect, Mistake> {
    let filter = MessageFilter::read(keys)?.into();
    let factor = keys.factor("factor")?;
    Ok(Effect::program(Messages { filter, treatment: MessageScaling { factor: keys.required("factor", factor)? } }))
}

#[derive(Clone, Copy)]
struct MessageScaling {
    factor: f64,
}

impl MessageScaling {
    fn of(self, Bytes(bytes): Bytes) -> Bytes {
        // A factor of 1 leaves sizes that no float can hold as they are.
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
