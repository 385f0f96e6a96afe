//! The number and size of the messages that enter the network.

use titr_common::time::Time;
use titr_common::units::Bytes;

use super::{Departure, Observer};

/// Messages that entered the network, those within collectives too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of messages.
    pub messages: u64,
    /// Payload of these messages.
    pub bytes: Bytes,
}

impl Observer for Traffic {
    fn injected(&mut self, _: Time, message: Departure) {
        self.messages += 1;
        self.bytes += message.bytes;
    }
}
