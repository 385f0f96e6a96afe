//! A network whose messages take random times.

use std::any::Any;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_network::topology::HostId;
use titr_network::{Connection, LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};

use super::{Draw, Subject};

/// The ends of a message.
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
