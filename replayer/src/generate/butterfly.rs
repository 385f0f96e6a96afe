//! Exchanges with partners at distance 1, 2, 4, …, as in a fast Fourier transform.

use titr_common::units::Bytes;

use super::{Impossible, Kernel, Script};

/// In stage k, ranks that differ in bit k exchange messages.
#[derive(Clone, Debug)]
pub struct Butterfly {
    ranks: u32,
    bytes: Bytes,
}

impl Butterfly {
    /// Between as many ranks as a power of two.
    ///
    /// # Errors
    /// If there are not.
    pub fn new(ranks: u32, bytes: Bytes) -> Result<Self, Impossible> {
        if ranks.is_power_of_two() { Ok(Self { ranks, bytes }) } else { Err(Impossible::NotAPowerOfTwo(ranks)) }
    }
}

impl Kernel for Butterfly {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn phase(&self, me: u32, _: u64, script: &mut Script) {
        for stage in 0..self.ranks.ilog2() {
            let partner = me ^ 1 << stage;
            script.pause();
            script.sendrecv(partner, self.bytes, partner, self.bytes);
        }
    }
}
