//! Random choices of one of several replays, for everything that [varies](titr_platform::Spread) from run to run.
//!
//! A choice is a function of the seed, of the replay's number and of its subject: a key of the platform, a computation or a
//! message. It does not depend on the order in which choices are made.

use std::any::Any;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_network::topology::HostId;
use titr_network::{Connection, LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable, chance};
use titr_platform::{Detours, Spread};

use crate::ranks::Interruptions;

/// One of several replays that differ by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The seed of all replays.
    pub seed: u64,
    /// The number of the replay.
    pub number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// The value of a key of the platform.
    Key,
    /// The recorded volumes of computation.
    Volumes,
    Detours,
    Message,
    /// The choices that a run makes itself: its placement, and the packets of its network.
    Run,
    /// The error of the models.
    Model,
}

impl Draw {
    /// The factor on a key of the platform whose value has the relative standard deviation `deviation`. Its median is 1.
    #[must_use]
    pub fn factor(self, key: &str, deviation: f64) -> f64 {
        let which = key.bytes().fold(0, |hash, byte| chance(hash, u64::from(byte), 0));
        (deviation * self.chances(Subject::Key, which).normal()).exp()
    }

    /// The factor on the recorded volumes of computation, which have this relative standard deviation.
    pub(crate) fn factor_on_volumes(self, deviation: f64) -> f64 {
        (deviation * self.chances(Subject::Volumes, 0).normal()).exp()
    }

    /// The factors on the uncertain keys of a platform.
    #[must_use]
    pub fn factors(self, spread: &Spread) -> Vec<(String, f64)> {
        let factor = |(key, deviation): (&String, &f64)| (key.clone(), self.factor(key, *deviation));
        spread.uncertainty.iter().map(factor).collect()
    }

    /// The factor on a predicted time of a model with the relative standard deviation `deviation`. Its median is 1.
    #[must_use]
    pub fn factor_on_time(self, deviation: f64) -> f64 {
        (deviation * self.chances(Subject::Model, 0).normal()).exp()
    }

    /// The number of the run, for its own random choices.
    pub(crate) fn run(self) -> u32 {
        self.chances(Subject::Run, 0).next() as u32
    }

    pub(crate) fn detours(self, detours: Detours, rank: Rank) -> CoreDetours {
        CoreDetours { detours, seed: self.chances(Subject::Detours, rank.0.into()).next() }
    }

    fn chances(self, subject: Subject, which: u64) -> Chances {
        let replay = chance(self.seed, u64::from(self.number), 0);
        Chances { seed: chance(replay, subject as u64, which), used: 0 }
    }
}

/// Random numbers in sequence.
#[derive(Clone, Debug)]
struct Chances {
    seed: u64,
    used: u64,
}

impl Chances {
    fn next(&mut self) -> u64 {
        self.used += 1;
        chance(self.seed, 0, self.used)
    }

    /// Uniform in (0, 1), both ends excluded.
    fn uniform(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Exponentially distributed, with the mean 1.
    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Normally distributed, with the mean 0 and the deviation 1 (Box and Muller, 1958).
    fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CoreDetours {
    detours: Detours,
    seed: u64,
}

/// The number of detours from which on their sum is drawn from a normal distribution, by the central limit theorem.
const MANY: f64 = 1000.0;

impl Interruptions for CoreDetours {
    /// Detours are a Poisson process in the time of the computation.
    fn during(&self, time: Seconds, from: Time) -> Seconds {
        let Detours { length, rate } = self.detours;
        let expected = time.0 * rate;
        if !(expected > 0.0 && expected.is_finite()) {
            return Seconds(0.0);
        }
        let mut chances = Chances { seed: chance(self.seed, from.0, time.0.to_bits()), used: 0 };
        if expected > MANY {
            // A sum of N exponential lengths, N from a Poisson distribution, has the variance 2 × expected × length².
            let sum = expected + (2.0 * expected).sqrt() * chances.normal();
            return Seconds(length.0 * sum.max(0.0));
        }
        let (mut passed, mut sum) = (chances.exponential(), 0.0);
        while passed < expected {
            sum += chances.exponential();
            passed += chances.exponential();
        }
        Seconds(length.0 * sum)
    }
}

type Ends = (HostId, HostId, Option<Connection>);

/// A network in which the time of each message is multiplied by a random factor, whose mean is 1.
pub(crate) struct VaryingNetwork {
    network: Box<dyn Network>,
    draw: Draw,
    /// The standard deviation of the logarithm of the factor.
    deviation: f64,
    /// The number of messages so far between two ends.
    sent: FxHashMap<Ends, u64>,
}

impl VaryingNetwork {
    /// A network whose messages take times of the relative standard deviation `deviation`.
    pub(crate) fn new(network: Box<dyn Network>, draw: Draw, deviation: f64) -> Self {
        let deviation = deviation.powi(2).ln_1p().sqrt();
        Self { network, draw, deviation, sent: FxHashMap::default() }
    }

    /// The network whose times vary, if `network` is such a network, and otherwise `network`.
    pub(crate) fn within(network: Box<dyn Network>) -> Box<dyn Network> {
        if !(&*network as &dyn Any).is::<Self>() {
            return network;
        }
        let network: Box<dyn Any> = network;
        match network.downcast::<Self>() {
            Ok(varying) => varying.network,
            Err(_) => unreachable!("the network was found to be one whose times vary"),
        }
    }

    /// The factor on the next message between two ends.
    fn stretch(&mut self, ends: Ends) -> f64 {
        let sent = self.sent.entry(ends).or_default();
        *sent += 1;
        let (from, to, connection) = ends;
        let pair = |one: u32, other: u32| u64::from(one) << 32 | u64::from(other);
        let ends = match connection {
            Some(Connection { sender, receiver }) => pair(sender, receiver),
            None => pair(from.0, to.0),
        };
        let ends = self.draw.chances(Subject::Message, ends).next();
        let mut chances = self.draw.chances(Subject::Message, ends ^ *sent);
        (self.deviation * chances.normal() - self.deviation.powi(2) / 2.0).exp()
    }
}

impl Network for VaryingNetwork {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        let stretch = transfer.stretch * self.stretch((transfer.from, transfer.to, transfer.connection));
        self.network.inject(now, Transfer { stretch, ..transfer });
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        self.network.unloaded(transfer)
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        self.network.unreachable(now, transfer)
    }

    fn first_unreachable(&self) -> Unreachable {
        self.network.first_unreachable()
    }

    fn next_event(&mut self) -> Option<Time> {
        self.network.next_event()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.network.advance(now, delivered);
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.network.link_loads()
    }
}

#[cfg(test)]
mod tests {
    use titr_common::statistics::{deviation, mean};

    use super::*;

    /// Draws of a number by each of 4,000 replays.
    fn draws(of: impl Fn(Draw) -> f64) -> Vec<f64> {
        (0..4000).map(|number| of(Draw { seed: 7, number })).collect()
    }

    /// The mean of a sample is within four standard errors of `expected`, and its deviation within 6 %.
    fn assert_distributed(sample: &[f64], expected: f64, spread: f64) {
        let error = spread / (sample.len() as f64).sqrt();
        assert!((mean(sample) - expected).abs() < 4.0 * error, "{} is not {expected} ± {error}", mean(sample));
        assert!((deviation(sample) / spread - 1.0).abs() < 0.06, "{} is not {spread}", deviation(sample));
    }

    /// `T` of computation at the rate `r` of detours of the mean length `d` has the mean `T r d` and the variance `2 T r d²`: for
    /// few detours, which are drawn one by one, and for many.
    #[test]
    fn detours_have_the_moments_of_a_compound_poisson_process() {
        let detours = Detours { length: Seconds(0.001), rate: 10.0 };
        for seconds in [0.05_f64, 2.0, 99.0, 300.0] {
            let sample = draws(|draw| draw.detours(detours, Rank(3)).during(Seconds(seconds), Time(5)).0);
            assert_distributed(&sample, seconds * 0.01, (2.0 * seconds * 10.0).sqrt() * 0.001);
        }
    }

    #[test]
    fn factors_are_lognormal_with_the_median_one() {
        let sample = draws(|draw| draw.factor("network.bandwidth", 0.1).ln());
        assert_distributed(&sample, 0.0, 0.1);
    }

    #[test]
    fn a_choice_depends_on_seed_replay_and_subject_alone() {
        let draw = Draw { seed: 1, number: 2 };
        let key = |draw: Draw, key| draw.factor(key, 0.1).to_bits();
        assert_eq!(key(draw, "hosts.speed"), key(draw, "hosts.speed"));
        for other in [Draw { seed: 2, ..draw }, Draw { number: 3, ..draw }] {
            assert_ne!(key(draw, "hosts.speed"), key(other, "hosts.speed"));
        }
        assert_ne!(key(draw, "hosts.speed"), key(draw, "network.latency"));
        assert_eq!(draw.factor("hosts.speed", 0.0).to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn no_rate_and_no_time_have_no_detours() {
        let during = |rate, seconds| {
            let detours = Detours { length: Seconds(1.0), rate };
            Draw { seed: 0, number: 0 }.detours(detours, Rank(0)).during(Seconds(seconds), Time::ZERO).0
        };
        assert_eq!([during(0.0, 5.0), during(5.0, 0.0), during(5.0, f64::INFINITY)], [0.0; 3]);
    }
}
