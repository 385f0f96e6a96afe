//! The times and messages that hosts offer.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{RngCore, SeedableRng};

/// The cycles in which hosts offer messages, if each host does so in each cycle with the same probability.
///
/// Counted cycle by cycle, and in a cycle host by host, this is a sequence of independent trials, and the number of
/// trials from one success to the next is geometrically distributed: a host that offers nothing costs nothing.
#[derive(Clone, Debug)]
pub(super) struct OpenLoop {
    hosts: u64,
    /// ln (1 − probability).
    log_failure: f64,
    trial: u64,
    /// The next offer: its cycle and host.
    pub next: (u64, u32),
}

impl OpenLoop {
    /// Every one of `hosts` offers a message in a cycle with this probability, above 0 and up to 1.
    pub(crate) fn new(hosts: u32, probability: f64, random: &mut impl RngCore) -> Self {
        let mut this = Self { hosts: hosts.into(), log_failure: (-probability).ln_1p(), trial: 0, next: (0, 0) };
        this.trial = this.failures(random);
        this.next = this.place();
        this
    }

    fn place(&self) -> (u64, u32) {
        (self.trial / self.hosts, (self.trial % self.hosts) as u32)
    }

    /// Goes on to the one after.
    pub(crate) fn go_on(&mut self, random: &mut impl RngCore) {
        self.trial = self.trial.saturating_add(1).saturating_add(self.failures(random));
        self.next = self.place();
    }

    /// Trials before the next success.
    fn failures(&self, random: &mut impl RngCore) -> u64 {
        // 1 − u is above 0, and its logarithm finite. `as` saturates.
        ((1.0 - unit(random)).ln() / self.log_failure) as u64
    }
}

/// Bursts: every host offers this many messages at once, and the same number again when all of them have arrived.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    hosts: u32,
    messages: u32,
    /// The cycle in which the last burst began.
    began: u64,
    /// The cycle in which the next burst begins; `None` while the last is in transit.
    next: Option<u64>,
    /// The bursts that are over: the cycle in which each ended, and how many cycles it took.
    pub over: Vec<(u64, u64)>,
}

impl Bursts {
    /// The first one is in cycle 0.
    pub(crate) fn new(hosts: u32, messages: u32) -> Self {
        Self { hosts, messages, began: 0, next: Some(0), over: Vec::new() }
    }
}

/// The schedule of the hosts' offers.
#[derive(Clone, Debug)]
pub(super) enum Offers {
    Steady(OpenLoop),
    Bursts(Bursts),
}

impl Offers {
    /// The cycle of the next offer, unless it depends on messages in transit.
    pub(crate) fn next(&self) -> Option<u64> {
        match self {
            Self::Steady(offers) => Some(offers.next.0),
            Self::Bursts(bursts) => bursts.next,
        }
    }

    /// Nothing is in transit at `now`.
    pub(crate) fn drained(&mut self, now: u64) {
        if let Self::Bursts(bursts) = self
            && bursts.next.is_none()
        {
            bursts.over.push((now, now - bursts.began));
            (bursts.began, bursts.next) = (now + 1, Some(now + 1));
        }
    }

    /// Consumes the offers of cycle `now`, and passes the host of each to `offer`.
    pub(crate) fn take<R: RngCore>(&mut self, now: u64, random: &mut R, mut offer: impl FnMut(u32, &mut R)) {
        match self {
            Self::Steady(offers) => {
                while offers.next.0 == now {
                    let host = offers.next.1;
                    offers.go_on(random);
                    offer(host, random);
                }
            }
            Self::Bursts(bursts) if bursts.next == Some(now) => {
                for _ in 0..bursts.messages {
                    (0..bursts.hosts).for_each(|host| offer(host, random));
                }
                bursts.next = None;
            }
            Self::Bursts(_) => {}
        }
    }
}

/// The generator of a run. Its algorithm is fixed, so that a seed always means the same.
pub fn generator(seed: u64, run: u32) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed ^ u64::from(run).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A number from 0 up to but not 1.
pub(super) fn unit(random: &mut impl RngCore) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// A whole number below `end`.
pub fn below(random: &mut impl RngCore, end: u64) -> u64 {
    // The high half of a product scales a random number without division (Lemire, ACM TOMACS 29(1), 2019).
    ((u128::from(random.next_u64()) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_offers_as_often_as_asked() {
        let mut random = generator(3, 0);
        let mut offers = OpenLoop::new(7, 0.03, &mut random);
        let mut by_host = [0_u32; 7];
        let mut last = None;
        while offers.next.0 < 100_000 {
            assert!(last < Some(offers.next), "a host offers once a cycle, and cycles follow one another");
            last = Some(offers.next);
            by_host[offers.next.1 as usize] += 1;
            offers.go_on(&mut random);
        }
        // 3000 expected, with a standard deviation of 54.
        assert!(by_host.iter().all(|&count| count.abs_diff(3000) < 250), "{by_host:?}");
    }

    #[test]
    fn at_most_one_a_cycle() {
        let mut random = generator(3, 0);
        let mut offers = OpenLoop::new(2, 1.0, &mut random);
        for expected in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_eq!(offers.next, expected);
            offers.go_on(&mut random);
        }
    }
}
