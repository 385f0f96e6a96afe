//! Messages and collectives of another size. Collectives that reduce have so much more to reduce.

use titr_common::event::{Collective, Incoming, Outgoing, Volumes};
use titr_common::units::{Bytes, Instructions};
use titr_document::Mistake;

use super::channel::Turn;
use super::collectives::{CollectiveFilter, CollectiveTreatment, Collectives};
use super::rewrite::Treatment;
use crate::keys::Keys;
use crate::kind::{Effect, Kind, MessageScaling};
use crate::message_filter::MessageFilter;

/// The bytes of messages are multiplied by a factor, and rounded to whole ones.
pub const SCALE_MESSAGES: Kind = Kind { name: "scale-messages", read: scale };

fn scale(keys: &mut Keys) -> Result<Effect, Mistake> {
    let factor = keys.factor("factor")?;
    let factor = keys.required("factor", factor)?;
    if let Some(filter) = CollectiveFilter::read(keys)? {
        return Ok(Effect::program(Collectives::new(filter, ByteFactor(factor))));
    }
    Ok(Effect::MessageScaling(MessageScaling { filter: MessageFilter::read(keys)?.into(), factor }))
}

/// The factor that bytes are multiplied with.
#[derive(Clone, Copy)]
pub(crate) struct ByteFactor(pub f64);

impl ByteFactor {
    /// So many times the bytes.
    pub(crate) fn of(self, Bytes(bytes): Bytes) -> Bytes {
        // A factor of 1 leaves sizes that no float can hold as they are.
        if self.0.to_bits() == 1.0_f64.to_bits() { Bytes(bytes) } else { Bytes((bytes as f64 * self.0).round() as u64) }
    }
}

impl Treatment for ByteFactor {
    fn outgoing(self, message: Outgoing, _: Turn) -> Option<Outgoing> {
        Some(Outgoing { bytes: self.of(message.bytes), ..message })
    }

    fn incoming(self, message: Incoming, _: Turn) -> Option<Incoming> {
        Some(Incoming { bytes: self.of(message.bytes), ..message })
    }
}

impl CollectiveTreatment for ByteFactor {
    fn collective(self, call: Collective) -> Option<Collective> {
        let scaled = |volumes: &Volumes| match volumes {
            Volumes::None => Volumes::None,
            Volumes::Each(bytes) => Volumes::Each(self.of(*bytes)),
            Volumes::PerMember(list) => Volumes::PerMember(list.iter().map(|bytes| self.of(*bytes)).collect()),
        };
        let work = Instructions(call.work.0 * self.0);
        Some(Collective { send: scaled(&call.send), recv: scaled(&call.recv), work, ..call })
    }
}
