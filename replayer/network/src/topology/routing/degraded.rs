//! Routing around failed links and routers, with an escape channel.
//!
//! Packets keep the routing of the whole network and its virtual channels, except that they do not request ports that have
//! failed, nor ports to routers that the failures have made farther from their destination. A packet that compares a shortest
//! path with a detour takes the detour if the shortest path begins with such a port. A packet that meets such a port and finds
//! room at no other may **escape**: it takes a further virtual channel, and stays on it up to its destination. On the escape
//! channel, packets follow shortest [up*/down* paths](UpDownOrder) of the network that is left, and take the roomiest of
//! several next channels. (F. Silla, J. Duato, "High-Performance Routing in Networks of Workstations with Irregular Topology",
//! IEEE Trans. Parallel Distrib. Syst. 11(7), 2000, escape by up*/down* routing; V. Puente, J. A. Gregorio, F. Vallejo, R.
//! Beivide, "Immunet: A Cheap and Robust Fault-Tolerant Packet Routing Mechanism", ISCA 2004, around failures by a ring.)
//!
//! # Freedom from deadlock
//!
//! A packet that meets a failure can always request the escape channel. Other packets wait for channels of the whole network's
//! routing alone, whose dependences have no cycle. Escape channels depend on escape channels only, in the order of
//! up*/down* paths.
//!
//! Packets of several periods may be in the network at once. One order of the routers serves all periods if the channels that
//! never fail join the same routers as those of each period do. Otherwise, the periods are divided into **layers** of which
//! this holds, each with an escape channel.

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Header, OutputVc, PacketAt, Routing, RoutingFunction, roomiest};
use crate::topology::{
    ChannelIndex, HopTable, HopsLeft, PortIndex, RoutePeriod, RouterGraph, RouterId, UpDownOrder, UpDownPlace,
};

/// The packets behind a port that a packet must not take: more than any queue has, and few enough to be added and multiplied.
const BLOCKED: u32 = 1 << 20;

/// Entries of rows that are kept at most.
const MOST_KEPT: usize = 1 << 27;

/// Pairs of routers of which it is noted at most that failures have made one farther from the other.
const MOST_PAIRS: u64 = 1 << 26;

/// The place of a packet's router in its state, behind the state of the whole network's routing.
const AT: usize = 0;

/// The place, there, of its phase: [`FOLLOWS_WHOLE`], [`ASCENDS`] or [`DESCENDS`].
const PHASE: usize = 1;

/// The packet follows the whole network's routing.
const FOLLOWS_WHOLE: i32 = 0;

/// The packet escapes, and has not gone down.
const ASCENDS: i32 = 1;

/// The packet escapes, and has gone down.
const DESCENDS: i32 = 2;

/// The routing of a network some of whose links have failed, or differ from others. The state of a packet is that of the
/// whole network's routing, its router, and its phase.
#[derive(Clone, Debug)]
pub(crate) struct DegradedRouting {
    /// The routing of the whole network.
    pub(super) whole: Arc<RoutingFunction>,
    failures: Option<Arc<Failures>>,
}

/// What packets have to know of failures.
#[derive(Debug)]
struct Failures {
    graph: RouterGraph,
    periods: Vec<Period>,
    /// The order of the routers in each layer.
    orders: Vec<UpDownOrder>,
    rows: Mutex<Rows>,
}

/// A period of routes.
#[derive(Debug)]
struct Period {
    layer: usize,
    farther: Option<Farther>,
}

/// The hops of up*/down* paths to routers in some periods, from each router.
type Rows = FxHashMap<(RoutePeriod, RouterId), Arc<[HopsLeft]>>;

/// A layer that is being made.
struct Layer {
    /// The ports that fail in one of its periods.
    failed: Vec<bool>,
    order: UpDownOrder,
}

impl DegradedRouting {
    /// The routing of the whole network around the failures of a graph.
    pub(super) fn new(graph: &RouterGraph, whole: RoutingFunction) -> Self {
        let failures = (!graph.failed.is_empty()).then(|| Arc::new(Failures::new(graph)));
        Self { whole: Arc::new(whole), failures }
    }

    /// A packet's state for the whole network's routing, and the rest.
    fn split<'s>(&self, state: &'s [i32]) -> (&'s [i32], &'s [i32]) {
        state.split_at(self.whole.state_words())
    }

    fn split_mut<'s>(&self, state: &'s mut [i32]) -> (&'s mut [i32], &'s mut [i32]) {
        state.split_at_mut(self.whole.state_words())
    }

    /// The channel that a packet requests by the whole network's routing: of the port that it gives the packet, or of any that
    /// it could give if this port is not open.
    fn choose_in_whole(
        &self,
        packet: PacketAt,
        is_open: impl Fn(PortIndex) -> bool,
        room: &dyn Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        match self.whole.fixed_output(packet.at, packet.header, packet.state).filter(|port| is_open(*port)) {
            Some(port) => self.whole.choose_channel(port, packet.arrival, room),
            None => self.whole.choose(packet, room),
        }
    }
}

impl Routing for DegradedRouting {
    const DECIDES: bool = true;

    fn virtual_channels(&self) -> u32 {
        let layers = self.failures.as_ref().map_or(0, |failures| failures.orders.len());
        self.whole.virtual_channels() + layers as u32
    }

    fn state_words(&self) -> usize {
        self.whole.state_words() + 2
    }

    fn has_rings(&self) -> bool {
        self.whole.has_rings()
    }

    fn has_alternatives(&self) -> bool {
        self.failures.is_some() || self.whole.has_alternatives()
    }

    fn reconsiders(&self) -> bool {
        self.whole.reconsiders()
    }

    fn watches_other_routers(&self) -> bool {
        self.whole.watches_other_routers()
    }

    fn depart(&self, from: RouterId, header: &Header, state: &mut [i32]) {
        let (of_whole, own) = self.split_mut(state);
        self.whole.depart(from, header, of_whole);
        (own[AT], own[PHASE]) = (from.0 as i32, FOLLOWS_WHOLE);
    }

    fn is_undecided(&self, state: &[i32]) -> bool {
        let (of_whole, own) = self.split(state);
        own[PHASE] == FOLLOWS_WHOLE && self.whole.is_undecided(of_whole)
    }

    fn is_on_detour(&self, state: &[i32]) -> bool {
        self.whole.is_on_detour(self.split(state).0)
    }

    fn decide(
        &self,
        at: RouterId,
        header: &Header,
        state: &mut [i32],
        queued: impl Fn(RouterId, PortIndex, Range<u32>) -> u32,
        awaiting: impl Fn(RouterId, PortIndex) -> u32,
    ) {
        let (state, _) = self.split_mut(state);
        let awaiting: &dyn Fn(RouterId, PortIndex) -> u32 = &awaiting;
        let decide = |state: &mut [i32], queued: &dyn Fn(RouterId, PortIndex, Range<u32>) -> u32| {
            self.whole.decide(at, header, state, queued, awaiting);
        };
        let Some(failures) = &self.failures else { return decide(state, &queued) };
        let before: SmallVec<[i32; 4]> = state.iter().copied().collect();
        let blocked: Cell<Option<OutputVc>> = Cell::new(None);
        let queued = |router: RouterId, port: PortIndex, channels: Range<u32>| {
            let is_blocked = |vc: OutputVc| router == at && vc.port == port && channels.contains(&vc.channel.0);
            match failures.has_failed(header.period, router, port) || blocked.get().is_some_and(is_blocked) {
                true => BLOCKED,
                false => queued(router, port, channels),
            }
        };
        decide(state, &queued);
        let first = self.choose_in_whole(PacketAt { at, header, state, arrival: None }, |_| true, &|_, _| 1);
        if let Some(first) = first.filter(|vc| !failures.is_open(at, vc.port, header, self.whole.is_on_detour(state))) {
            blocked.set(Some(first));
            state.copy_from_slice(&before);
            decide(state, &queued);
        }
    }

    fn awaited(&self, state: &[i32]) -> Option<PortIndex> {
        let (of_whole, own) = self.split(state);
        self.whole.awaited(of_whole).filter(|_| own[PHASE] == FOLLOWS_WHOLE)
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { at, header, state, .. } = packet;
        let (of_whole, own) = self.split(state);
        let in_whole = PacketAt { state: of_whole, ..packet };
        let Some(failures) = &self.failures else { return self.choose_in_whole(in_whole, |_| true, &room) };
        let layer = failures.periods[header.period.index()].layer as u32;
        let channel = ChannelIndex(self.whole.virtual_channels() + layer);
        if own[PHASE] != FOLLOWS_WHOLE {
            return failures.escape(UpDownPlace { at, is_descending: own[PHASE] == DESCENDS }, header, channel, room);
        }
        let (met_failure, is_on_detour) = (Cell::new(false), self.whole.is_on_detour(of_whole));
        let is_open = |port| {
            let is_open = failures.is_open(at, port, header, is_on_detour);
            met_failure.set(met_failure.get() | !is_open);
            is_open
        };
        let room_left = |port, channel| if is_open(port) { room(port, channel) } else { 0 };
        let found = self.choose_in_whole(in_whole, is_open, &room_left);
        if found.is_some() || !met_failure.get() {
            return found;
        }
        failures.escape(UpDownPlace { at, is_descending: false }, header, channel, room)
    }

    fn hop(&self, taken: OutputVc, to: RouterId, state: &mut [i32]) {
        let (of_whole, own) = self.split_mut(state);
        let Some(layer) = taken.channel.0.checked_sub(self.whole.virtual_channels()) else {
            self.whole.hop(taken, to, of_whole);
            own[AT] = to.0 as i32;
            return;
        };
        if let Some(failures) = &self.failures {
            let leads_down = failures.orders[layer as usize].leads_down(RouterId(own[AT] as u32), to);
            (own[AT], own[PHASE]) = (to.0 as i32, if leads_down { DESCENDS } else { ASCENDS });
        }
    }
}

impl Failures {
    fn new(graph: &RouterGraph) -> Self {
        let mut layers: Vec<Layer> = Vec::new();
        let mut layer_of = |failed: &Vec<bool>| {
            let parts = order(graph, failed).parts;
            for (number, layer) in layers.iter_mut().enumerate().filter(|(_, layer)| layer.order.parts == parts) {
                let common: Vec<bool> = layer.failed.iter().zip(failed).map(|(one, other)| one | other).collect();
                let order = order(graph, &common);
                if order.parts == parts {
                    *layer = Layer { failed: common, order };
                    return number;
                }
            }
            layers.push(Layer { failed: failed.clone(), order: order(graph, failed) });
            layers.len() - 1
        };
        let routers = graph.routers().count() as u64;
        let notes_farther = routers * routers * graph.failed.len() as u64 <= MOST_PAIRS;
        let whole = notes_farther.then(|| graph.hops(&vec![false; graph.all_ports().len()]).ok()).flatten();
        let period = |failed: &Vec<bool>| Period {
            layer: layer_of(failed),
            farther: whole.as_ref().and_then(|whole| Some(Farther::new(whole, &graph.hops(failed).ok()?))),
        };
        let periods = graph.failed.iter().map(period).collect();
        let orders = layers.into_iter().map(|layer| layer.order).collect();
        Self { graph: graph.clone(), periods, orders, rows: Mutex::default() }
    }

    fn has_failed(&self, period: RoutePeriod, at: RouterId, port: PortIndex) -> bool {
        self.graph.failed[period.index()][self.graph.port_numbers(at).start + port.index()]
    }

    /// Whether a packet may take a port, as far as failures are concerned.
    fn is_open(&self, at: RouterId, port: PortIndex, header: &Header, is_on_detour: bool) -> bool {
        if self.has_failed(header.period, at, port) {
            return false;
        }
        let farther = self.periods[header.period.index()].farther.as_ref().filter(|_| !is_on_detour);
        let next = self.graph.port(at, port).and_then(|port| port.to);
        !farther.zip(next).is_some_and(|(farther, next)| farther.contains(next, header.destination))
    }

    /// The escape channel that a packet requests.
    fn escape(
        &self,
        place: UpDownPlace,
        header: &Header,
        channel: ChannelIndex,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let row = self.row(header);
        let order = &self.orders[self.periods[header.period.index()].layer];
        let nearer = row[place.at.index()].at(place.is_descending).wrapping_sub(1);
        let leads_nearer =
            |next| order.next(place, next).is_some_and(|next| row[next.at.index()].at(next.is_descending) == nearer);
        let failed = &self.graph.failed[header.period.index()][self.graph.port_numbers(place.at)];
        let ports = (0..).map(PortIndex).zip(self.graph.ports(place.at)).zip(failed);
        let ports = ports.filter(|((_, port), failed)| !**failed && port.to.is_some_and(leads_nearer));
        roomiest(ports.map(|((port, _), _)| port), channel.0..channel.0 + 1, room)
    }

    /// The hops of up*/down* paths to the destination of a packet, from each router.
    fn row(&self, header: &Header) -> Arc<[HopsLeft]> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (header.period, header.destination);
        if let Some(row) = rows.get(&key) {
            return Arc::clone(row);
        }
        let order = &self.orders[self.periods[header.period.index()].layer];
        let failed = &self.graph.failed[header.period.index()];
        let row: Arc<[HopsLeft]> = order.hops_to(header.destination, |at| neighbours(&self.graph, failed, at)).into();
        if (rows.len() + 1) * row.len() > MOST_KEPT {
            rows.clear();
        }
        rows.insert(key, Arc::clone(&row));
        row
    }
}

/// The routers that the ports of a router lead to which have not failed.
fn neighbours<'a>(
    graph: &'a RouterGraph,
    failed: &'a [bool],
    at: RouterId,
) -> impl Iterator<Item = RouterId> + use<'a> {
    let ports = graph.port_numbers(at).filter(|&port| !failed[port]);
    ports.filter_map(|port| graph.all_ports()[port].to)
}

/// The order of the routers, where the router with the most channels left is the root.
fn order(graph: &RouterGraph, failed: &[bool]) -> UpDownOrder {
    let channels = |at: &RouterId| neighbours(graph, failed, *at).count();
    let root = graph.routers().max_by_key(|at| (channels(at), Reverse(at.0))).unwrap_or_default();
    UpDownOrder::new(graph.routers().count() as u32, root, |at| neighbours(graph, failed, at))
}

/// The pairs of routers that are farther from each other than in the whole network, a bit each.
#[derive(Debug)]
struct Farther {
    /// The place of each router with hosts among them.
    rows: Vec<u32>,
    bits: Vec<u64>,
}

impl Farther {
    fn new(whole: &HopTable, left: &HopTable) -> Self {
        let routers = whole.routers();
        let mut bits = vec![0; (whole.ends.len() * routers as usize).div_ceil(64)];
        let rows = (0..routers).map(|router| whole.place(RouterId(router))).collect();
        for (row, &end) in whole.ends.iter().enumerate() {
            for at in (0..routers).map(RouterId).filter(|&at| left.hops(at, end) != whole.hops(at, end)) {
                let bit = row * routers as usize + at.index();
                bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        Self { rows, bits }
    }

    /// Whether a router is farther from a router with hosts.
    #[inline]
    fn contains(&self, at: RouterId, end: RouterId) -> bool {
        let bit = self.rows[end.index()] as usize * self.rows.len() + at.index();
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }
}
