//! How much the network was given.

use titr_common::event::Rank;
use titr_common::units::Bytes;

use super::{Activity, Observer};
use crate::time::Time;

/// Messages that entered the network, those within collectives too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many.
    pub messages: u64,
    /// What they carried.
    pub bytes: Bytes,
}

impl Observer for Traffic {
    fn spent(&mut self, _: Rank, _: Activity, _: Time, _: Time) {}

    fn injected(&mut self, _: Time, _: Rank, _: Rank, bytes: Bytes) {
        self.messages += 1;
        self.bytes += bytes;
    }
}
