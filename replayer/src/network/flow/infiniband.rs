//! What InfiniBand takes from messages that share an adapter.
//!
//! An InfiniBand switch holds back whom it cannot serve, so that messages slow each other down before their links are
//! full. Vienne ("Prédiction de performances d'applications de calcul haute performance sur réseau InfiniBand", PhD
//! thesis, Grenoble 2010) measured by how much. With, of the messages under way,
//!
//! * *o(i)* that leave host *i*,
//! * *n(j)* that arrive at host *j*, from *s(j)* hosts, *n(i,j)* of them from *i*,
//!
//! a message from *i* to *j* is *p = max(p_in, p_out)* times slower than if it were alone:
//!
//! * *p_in = β_e · n(i,j) · s(j)*, and 1 if n(j) = 1;
//! * *p_out = β_s · o(i)*, and *γ_s* times that if one of the *o(i)* goes to a host where more than two arrive; 1 if
//!   o(i) = 1.
//!
//! A message counts as under way from its start, while it pays its latency. What is left of its bound goes before links
//! are shared (SimGrid 3.32's model `IB`).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::sharing::Demand;
use crate::topology::HostId;

/// Of a network, as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalties {
    /// β_e: for arriving together.
    pub arriving: f64,
    /// β_s: for leaving together.
    pub leaving: f64,
    /// γ_s: for leaving together where one goes to a crowd.
    pub crossing: f64,
}

/// Vienne's, as SimGrid 3.32 has them by default (`smpi/IB-penalty-factors`).
impl Default for Penalties {
    fn default() -> Self {
        Self { arriving: 0.965, leaving: 0.925, crossing: 1.35 }
    }
}

/// More messages than this arrive at one host: a crowd.
const CROWD: usize = 2;

/// What the caller knows a message by.
type Key = u32;

/// The messages under way between hosts, and what that costs each.
#[derive(Debug)]
pub struct Contention {
    penalties: Penalties,
    hosts: FxHashMap<HostId, Host>,
    messages: BTreeMap<Key, Message>,
    /// Messages whose penalty may have changed; in order, so that every run does the same.
    stirred: BTreeSet<Key>,
}

#[derive(Debug)]
struct Message {
    ends: (HostId, HostId),
    /// What it would ask for if it were alone.
    alone: Demand,
    penalty: f64,
}

/// What is under way at a host's adapter.
#[derive(Debug, Default)]
struct Host {
    leaving: BTreeSet<Key>,
    /// How many of them go to a crowd.
    crossing: usize,
    arriving: BTreeSet<Key>,
    /// How many of them come from each host.
    senders: BTreeMap<HostId, usize>,
}

impl Host {
    fn is_crowded(&self) -> bool {
        self.arriving.len() > CROWD
    }
}

impl Contention {
    /// Nothing under way.
    pub fn new(penalties: Penalties) -> Self {
        Self { penalties, hosts: FxHashMap::default(), messages: BTreeMap::new(), stirred: BTreeSet::new() }
    }

    /// A message starts that would ask for `alone` if it were alone. Those within a host never meet the adapter.
    pub fn start(&mut self, key: Key, ends: (HostId, HostId), alone: &Demand) {
        let (from, to) = ends;
        if from == to {
            return;
        }
        self.messages.insert(key, Message { ends, alone: alone.clone(), penalty: 1.0 });
        let sender = self.hosts.entry(from).or_default();
        sender.leaving.insert(key);
        let receiver = self.hosts.entry(to).or_default();
        let was_crowded = receiver.is_crowded();
        receiver.arriving.insert(key);
        *receiver.senders.entry(from).or_default() += 1;
        if was_crowded {
            self.host(from).crossing += 1;
        }
        self.stir(ends, was_crowded);
    }

    /// A message has arrived.
    pub fn finish(&mut self, key: Key) {
        let Some(Message { ends: (from, to), .. }) = self.messages.remove(&key) else { return };
        self.stirred.remove(&key);
        self.host(from).leaving.remove(&key);
        let receiver = self.host(to);
        let was_crowded = receiver.is_crowded();
        receiver.arriving.remove(&key);
        if let Some(count) = receiver.senders.get_mut(&from) {
            *count -= 1;
            if *count == 0 {
                receiver.senders.remove(&from);
            }
        }
        if was_crowded {
            self.host(from).crossing -= 1;
        }
        self.stir((from, to), was_crowded);
    }

    /// Tells each message whose penalty is another now what it asks for with that.
    pub fn settle(&mut self, mut ask: impl FnMut(Key, &Demand)) {
        while let Some(key) = self.stirred.pop_first() {
            let Some(ends) = self.messages.get(&key).map(|message| message.ends) else { continue };
            let penalty = self.penalty(ends);
            if let Some(message) = self.messages.get_mut(&key).filter(|message| message.penalty != penalty) {
                message.penalty = penalty;
                ask(key, &Demand { bound: message.alone.bound / penalty, ..message.alone.clone() });
            }
        }
    }

    fn host(&mut self, host: HostId) -> &mut Host {
        self.hosts.entry(host).or_default()
    }

    /// After a message between these hosts started or finished: it matters to those that leave or arrive with it, and if
    /// a crowd formed or dissolved, to all that leave where one of that crowd comes from.
    fn stir(&mut self, (from, to): (HostId, HostId), was_crowded: bool) {
        let Self { hosts, stirred, .. } = self;
        stirred.extend(hosts.get(&from).iter().flat_map(|sender| &sender.leaving));
        let Some(receiver) = hosts.get(&to) else { return };
        stirred.extend(&receiver.arriving);
        let is_crowded = receiver.is_crowded();
        if is_crowded == was_crowded {
            return;
        }
        for (sender, count) in receiver.senders.clone() {
            let sender = hosts.entry(sender).or_default();
            sender.crossing = if is_crowded { sender.crossing + count } else { sender.crossing - count };
            stirred.extend(&sender.leaving);
        }
    }

    fn penalty(&self, (from, to): (HostId, HostId)) -> f64 {
        let (Some(sender), Some(receiver)) = (self.hosts.get(&from), self.hosts.get(&to)) else { return 1.0 };
        let factors = self.penalties;
        let arriving = match receiver.arriving.len() {
            0 | 1 => 1.0,
            _ => {
                let own = receiver.senders.get(&from).copied().unwrap_or(0);
                factors.arriving * own as f64 * receiver.senders.len() as f64
            }
        };
        let leaving = match sender.leaving.len() {
            0 | 1 => 1.0,
            count if sender.crossing > 0 => factors.leaving * factors.crossing * count as f64,
            count => factors.leaving * count as f64,
        };
        arriving.max(leaving).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network of which messages ask for a rate of 1 if they are alone.
    struct Net {
        contention: Contention,
        penalties: Vec<f64>,
        started: u32,
    }

    impl Net {
        fn with(messages: &[(u32, u32)]) -> Self {
            let mut net = Self { contention: Contention::new(Penalties::default()), penalties: Vec::new(), started: 0 };
            for &(from, to) in messages {
                let alone = Demand { bound: 1.0, penalty: 1.0, uses: Vec::new() };
                net.contention.start(net.started, (HostId(from), HostId(to)), &alone);
                net.penalties.push(1.0);
                net.started += 1;
            }
            net
        }

        fn penalties(&mut self) -> Vec<f64> {
            let Self { contention, penalties, .. } = self;
            contention.settle(|message, demand| penalties[message as usize] = 1.0 / demand.bound);
            penalties.clone()
        }
    }

    #[track_caller]
    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (one, other) in found.iter().zip(expected) {
            assert!((one - other).abs() < 1e-12, "{found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn alone_there_is_no_penalty() {
        assert_close(&Net::with(&[(0, 1)]).penalties(), &[1.0]);
        assert_close(&Net::with(&[(0, 1), (1, 0), (2, 3)]).penalties(), &[1.0; 3]);
        assert_close(&Net::with(&[(0, 0), (0, 0), (0, 1)]).penalties(), &[1.0; 3]);
    }

    #[test]
    fn messages_that_leave_together_share() {
        assert_close(&Net::with(&[(0, 1), (0, 2), (0, 3)]).penalties(), &[0.925 * 3.0; 3]);
    }

    #[test]
    fn messages_that_arrive_together_share() {
        assert_close(&Net::with(&[(1, 0), (2, 0), (3, 0)]).penalties(), &[0.965 * 3.0; 3]);
        // Two of the same host leave together, too, towards a crowd: 2 × 0.925 × 1.35 is less than 2 × 2 × 0.965.
        assert_close(&Net::with(&[(1, 0), (1, 0), (2, 0)]).penalties(), &[0.965 * 4.0, 0.965 * 4.0, 0.965 * 2.0]);
    }

    #[test]
    fn leaving_towards_a_crowd_costs_more() {
        let crossing = 0.925 * 1.35 * 4.0;
        let arriving = 0.965 * 3.0;
        let mut net = Net::with(&[(0, 1), (2, 1), (3, 1), (0, 4), (0, 5), (0, 6)]);
        assert_close(&net.penalties(), &[crossing, arriving, arriving, crossing, crossing, crossing]);
        net.contention.finish(1);
        let leaving = 0.925 * 4.0;
        assert_close(&net.penalties(), &[leaving, arriving, 0.965 * 2.0, leaving, leaving, leaving]);
    }

    /// However messages come and go, penalties are what they are for those that are left.
    #[test]
    fn the_past_is_forgotten() {
        let messages: Vec<(u32, u32)> = (0..60).map(|number| (number * 7 % 5, number * number % 6)).collect();
        let mut net = Net::with(&messages);
        let (gone, left): (Vec<usize>, Vec<usize>) = (0..60).partition(|number| number % 3 != 0);
        for number in gone {
            net.penalties();
            net.contention.finish(number as u32);
        }
        let penalties = net.penalties();
        let found: Vec<f64> = left.iter().map(|&number| penalties[number]).collect();
        let rest: Vec<(u32, u32)> = left.iter().map(|&number| messages[number]).collect();
        assert_close(&found, &Net::with(&rest).penalties());
    }
}
