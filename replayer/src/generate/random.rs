//! Synchronized random traffic: messages between pairs drawn at random, in waves.
//!
//! A wave begins when all messages of the one before have arrived. With small waves, latency dominates the time; with
//! large waves, throughput does.

use titr_common::units::Bytes;
use titr_network::traffic::{below, generator};

use super::{Impossible, Kernel, Script};

/// Random messages, each from any rank to any other one, in waves between which all ranks meet at a barrier.
#[derive(Clone, Debug)]
pub struct Random {
    ranks: u32,
    bytes: Bytes,
    messages: u64,
    wave: u64,
    seed: u64,
}

impl Random {
    /// `messages` messages between `ranks` ranks, in waves of `wave` messages, except perhaps the last.
    ///
    /// # Errors
    /// If a rank has no other rank to send to, or waves are empty.
    pub fn new(ranks: u32, bytes: Bytes, messages: u64, wave: u64, seed: u64) -> Result<Self, Impossible> {
        match () {
            () if ranks < 2 => Err(Impossible::NoPairs),
            () if wave == 0 => Err(Impossible::NoWave),
            () => Ok(Self { ranks, bytes, messages, wave, seed }),
        }
    }

    /// The senders and receivers of a phase: a function of the phase and the seed, so that all ranks know it.
    fn pairs(&self, number: u64) -> impl Iterator<Item = (u32, u32)> + use<> {
        let sent = number % self.phases() * self.wave;
        let (ranks, mut random) = (u64::from(self.ranks), generator(self.seed, number as u32));
        (0..self.wave.min(self.messages - sent)).map(move |_| {
            let from = below(&mut random, ranks) as u32;
            let other = below(&mut random, ranks - 1) as u32;
            (from, other + u32::from(other >= from))
        })
    }
}

impl Kernel for Random {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn phases(&self) -> u64 {
        self.messages.div_ceil(self.wave).max(1)
    }

    fn phase(&self, me: u32, number: u64, script: &mut Script) {
        if number > 0 {
            script.barrier();
        }
        script.pause();
        let mut destinations = Vec::new();
        for (from, to) in self.pairs(number) {
            if to == me {
                script.irecv(from, 0, self.bytes);
            } else if from == me {
                destinations.push(to);
            }
        }
        destinations.into_iter().for_each(|to| script.isend(to, 0, self.bytes));
        script.waitall();
    }
}
