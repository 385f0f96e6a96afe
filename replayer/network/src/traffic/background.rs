//! Background load: traffic of other users of a network, beside that of interest.
//!
//! Each host sends messages at a mean rate, one after another: a message departs when the messages before it, at this
//! rate, would have been sent, but not before the previous one of its host has arrived. A network that is too slow
//! for the load therefore has one message of each host in transit at any time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::str::FromStr;

use rand_pcg::Pcg64Mcg;
use thiserror::Error;
use titr_common::time::Time;
use titr_common::units::{Bandwidth, Bytes};

use super::pattern::Destinations;
use super::size::Sizes;
use super::source::generator;
use crate::topology::HostId;

/// A background load.
#[derive(Clone, Debug)]
pub struct BackgroundLoad {
    /// The hosts that send and receive.
    pub hosts: Vec<HostId>,
    /// The destinations, as places in `hosts`.
    pub destinations: Destinations,
    /// The sizes of messages.
    pub sizes: Sizes,
    /// The mean rate at which each host sends.
    pub rate: Bandwidth,
    /// The time of the first message.
    pub from: Time,
    /// No message departs at this time or later.
    pub until: Time,
    /// The seed of sizes and destinations.
    pub seed: u64,
}

/// The messages of a background load, as they become due.
#[derive(Debug)]
pub struct BackgroundTraffic {
    load: BackgroundLoad,
    random: Pcg64Mcg,
    /// The hosts that have no message in transit, by the time of their next one.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    /// When each host's next message is due by its rate, in picoseconds.
    scheduled: Vec<f64>,
}

/// A message of a background load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundMessage {
    /// The place of the sender in the list of hosts.
    pub sender: u32,
    /// The host that sends it.
    pub from: HostId,
    /// The host that it is sent to.
    pub to: HostId,
    /// The payload.
    pub bytes: Bytes,
}

impl BackgroundTraffic {
    /// The traffic of a load, for one of several runs with different chance. The first messages of the hosts are spread over
    /// the time that a message of each takes at its rate.
    #[must_use]
    pub fn new(load: BackgroundLoad, run: u32) -> Self {
        let mut random = generator(load.seed, run);
        let hosts = load.hosts.len();
        let interval = |bytes: Bytes| picoseconds(bytes, load.rate);
        let first = interval(load.sizes.draw(&mut random));
        let scheduled: Vec<f64> = (0..hosts).map(|at| load.from.0 as f64 + first * at as f64 / hosts as f64).collect();
        let due = (0..).zip(&scheduled).map(|(sender, at)| Reverse((Time(*at as u64), sender))).collect();
        Self { load, random, due, scheduled }
    }

    /// The time of the next message; `None` while all hosts have a message in transit, and at the end of the load.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((at, _))| at)
    }

    /// The next message, if it is due by `now`. The host sends no other one until this has [arrived](Self::arrived).
    pub fn take(&mut self, now: Time) -> Option<BackgroundMessage> {
        while self.next().is_some_and(|at| at <= now) {
            let Reverse((_, sender)) = self.due.pop()?;
            let bytes = self.load.sizes.draw(&mut self.random);
            // A message takes a picosecond at least, so that time passes.
            self.scheduled[sender as usize] += picoseconds(bytes, self.load.rate).max(1.0);
            let Some(to) = self.load.destinations.draw(sender, &mut self.random) else {
                self.arrived(sender, now);
                continue;
            };
            let hosts = &self.load.hosts;
            let (from, to) = (hosts[sender as usize], hosts[to as usize]);
            return Some(BackgroundMessage { sender, from, to, bytes });
        }
        None
    }

    /// The message of a host has arrived at `now`.
    pub fn arrived(&mut self, sender: u32, now: Time) {
        let at = Time(self.scheduled[sender as usize] as u64).max(now);
        if at < self.load.until {
            self.due.push(Reverse((at, sender)));
        }
    }

    /// The number of hosts.
    #[must_use]
    pub fn hosts(&self) -> u32 {
        self.load.hosts.len() as u32
    }
}

/// The time between two messages of this size at a rate.
fn picoseconds(bytes: Bytes, rate: Bandwidth) -> f64 {
    bytes.0 as f64 / rate.bytes_per_second * 1e12
}

/// Loads, in phits a cycle and host.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads(pub Vec<f64>);

/// An error in the text of a list of loads.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NoLoad {
    /// It has another form, or a load that no host can offer.
    #[error(
        "`{0}` is not a load above 0 and up to 1, a list of them (0.1,0.2), or a range with a step (0.05..1.0:0.05)"
    )]
    Text(String),
    /// A range whose first load is the largest.
    #[error("`{0}` falls: a range goes from its smallest load to its largest (0.05..1.0:0.05)")]
    Falling(String),
    /// A range with too many loads.
    #[error("`{0}` has more than {MOST} loads: take a larger step")]
    TooMany(String),
}

/// Loads of a range at most.
const MOST: f64 = 10_000.0;

impl FromStr for Loads {
    type Err = NoLoad;

    fn from_str(text: &str) -> Result<Self, NoLoad> {
        let loads: Vec<Vec<f64>> = text.split(',').map(part).collect::<Result<_, _>>()?;
        Ok(Self(loads.concat()))
    }
}

fn part(text: &str) -> Result<Vec<f64>, NoLoad> {
    let wrong = || NoLoad::Text(text.to_owned());
    let load = |text: &str| text.trim().parse().ok().filter(|&load| load > 0.0 && load <= 1.0).ok_or_else(wrong);
    let Some((from, rest)) = text.split_once("..") else { return Ok(vec![load(text)?]) };
    let (to, step) = rest.split_once(':').ok_or_else(wrong)?;
    let (from, to, step) = (load(from)?, load(to)?, load(step)?);
    // The rounding error of the last step is less than this fraction of it.
    let steps = ((to - from) / step + 1e-9).floor();
    match steps {
        _ if from > to => Err(NoLoad::Falling(text.to_owned())),
        _ if steps >= MOST => Err(NoLoad::TooMany(text.to_owned())),
        _ => Ok((0..=steps as u32).map(|number| from + f64::from(number) * step).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::{Arrangement, Pattern};
    use super::*;

    /// Messages of 1000 bytes at 1 GB/s: one a microsecond, of two hosts at times that are half of this apart. A late arrival
    /// delays the next message, and the ones after it are sent at once until the mean rate is reached again.
    #[test]
    fn messages_depart_at_the_rate_of_the_load() {
        let load = BackgroundLoad {
            hosts: [3, 5].map(HostId).to_vec(),
            destinations: Destinations::new(Pattern::Neighbour, 2, Arrangement::Line).unwrap(),
            sizes: "1000B".parse().unwrap(),
            rate: Bandwidth { bytes_per_second: 1e9 },
            from: Time(7_000_000),
            until: Time(10_000_000),
            seed: 1,
        };
        let mut traffic = BackgroundTraffic::new(load, 0);
        assert_eq!((traffic.next(), traffic.take(Time(6_999_999))), (Some(Time(7_000_000)), None));
        let (from, to, bytes) = (HostId(3), HostId(5), Bytes(1000));
        assert_eq!(traffic.take(Time(7_000_000)), Some(BackgroundMessage { sender: 0, from, to, bytes }));
        assert_eq!(traffic.next(), Some(Time(7_500_000)));
        let other = traffic.take(Time(7_500_000)).unwrap();
        assert_eq!((other.sender, other.from, other.to, traffic.next()), (1, to, from, None));
        traffic.arrived(0, Time(9_100_000));
        assert_eq!(traffic.take(Time(9_100_000)).unwrap().sender, 0);
        traffic.arrived(0, Time(9_200_000));
        assert_eq!(traffic.take(Time(9_200_000)).unwrap().sender, 0, "the message that was due at 9 us");
        traffic.arrived(0, Time(9_300_000));
        traffic.arrived(1, Time(9_300_000));
        assert_eq!(traffic.next(), Some(Time(9_300_000)), "host 5 was to send at 8.5 us, and host 3 has ended");
    }
}

#[cfg(test)]
mod load_tests {
    use super::*;

    #[test]
    fn ranges_include_their_ends() {
        let Loads(loads) = "0.05..1.0:0.05".parse().unwrap();
        assert_eq!(loads.len(), 20);
        assert!((loads[19] - 1.0).abs() < 1e-9);
        assert_eq!("0.3,0.5".parse(), Ok(Loads(vec![0.3, 0.5])));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "0", "-0.1", "1.5", "0.1..0.5", "0.5..0.1:0.1", "0.1..0.5:0", "nan", "0.1..1:1e-9"] {
            assert!(text.parse::<Loads>().is_err(), "{text}");
        }
        let why = |text: &str| text.parse::<Loads>().unwrap_err();
        assert!(matches!(why("0.5..0.1:0.1"), NoLoad::Falling(_)) && matches!(why("0.1..1:1e-9"), NoLoad::TooMany(_)));
    }
}
