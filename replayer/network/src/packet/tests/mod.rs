//! Tests of the packet model: times computed by hand, delivery of every message exactly once, and equality with the
//! reference in every cycle.

pub(super) mod sample_networks;
mod uneven;

use proptest::prelude::*;

use super::reference::Reference;
use super::*;
use crate::topology::{Grid, RoutePeriod, Routing, RoutingOptions, RoutingVisitor, Topology};
use sample_networks::{
    ASCENTS, CABLE, any_network, canonical, dragonfly, hyperx, jellyfish, one_way_ring, routing, star, tree,
    up_and_down,
};

fn spec_of(topology: &dyn Topology, parameters: PacketParameters) -> PacketSpec {
    PacketSpec::new(topology.router_graph().unwrap(), parameters).unwrap()
}

/// Lives until nothing happens any more. Messages come with the cycle in which they are offered.
pub(super) fn run(spec: &PacketSpec, messages: &[(u64, Message)]) -> Vec<Delivery> {
    live(&mut *engine(spec), messages)
}

/// Lives until nothing happens any more in a network.
pub(super) fn live(engine: &mut dyn Engine, messages: &[(u64, Message)]) -> Vec<Delivery> {
    let mut deliveries = Vec::new();
    let mut messages = messages.iter().peekable();
    loop {
        let offer = messages.peek().map(|&&(at, _)| at);
        let Some(now) = engine.next_cycle().into_iter().chain(offer).min() else { break };
        while let Some((_, message)) = messages.next_if(|&&(at, _)| at == now) {
            engine.offer(now, *message);
        }
        engine.advance(now, &mut deliveries);
    }
    deliveries.sort_by_key(|delivery| (delivery.at, delivery.message.tag));
    deliveries
}

/// Runs the reference until nothing happens any more, or for a number of cycles.
struct ReferenceRun<'a> {
    spec: &'a PacketSpec,
    messages: &'a [(u64, Message)],
    most_cycles: u64,
}

impl RoutingVisitor for ReferenceRun<'_> {
    type Output = Vec<Delivery>;

    fn visit<R: Routing>(self, routing: &R) -> Vec<Delivery> {
        let (mut reference, mut deliveries) = (Reference::new(self.spec, routing), Vec::new());
        let mut messages = self.messages.iter().peekable();
        for now in 0..self.most_cycles {
            if now > 0 {
                reference.tick(&mut deliveries);
            }
            while let Some((_, message)) = messages.next_if(|&&(at, _)| at == now) {
                reference.offer(*message);
            }
            if messages.peek().is_none() && reference.is_idle() {
                break;
            }
        }
        deliveries.sort_by_key(|delivery| (delivery.at, delivery.message.tag));
        deliveries
    }
}

pub(super) fn run_reference(spec: &PacketSpec, messages: &[(u64, Message)], most_cycles: u64) -> Vec<Delivery> {
    spec.routing.visit(ReferenceRun { spec, messages, most_cycles })
}

/// A message of an even number of packets takes the connection of its hosts, any other message a separate one.
pub(super) fn message(from: u32, to: u32, packets: u64) -> Message {
    let connection = packets.is_multiple_of(2).then_some(Connection { sender: from, receiver: to });
    let period = RoutePeriod(0);
    Message { tag: from.into(), from: HostId(from), to: HostId(to), packets, last_phits: None, connection, period }
}

/// Channels between routers on a shortest way: the links of the topology's own route but the hosts' cables.
fn channels(topology: &dyn Topology, from: u32, to: u32) -> u64 {
    let mut route = Vec::new();
    topology.route(HostId(from), HostId(to), &mut route);
    let cables = if topology.router_graph().unwrap().has_host_cables() { 2 } else { 0 };
    route.len() as u64 - cables
}

/// Every kind of network with every routing that it has and that takes paths as long as those of flows, two virtual channels,
/// and routers of some delays and queues.
fn all_networks() -> Vec<(Box<dyn Topology>, PacketSpec)> {
    let grids: [fn() -> Box<dyn Topology>; 4] = [
        || Box::new(Grid::torus(&[8, 8], CABLE)),
        || Box::new(Grid::torus(&[4, 3, 2], CABLE)),
        || Box::new(Grid::mesh(&[5, 3], CABLE)),
        || Box::new(Grid::twisted_torus(&[8, 4], CABLE)),
    ];
    let trees: [fn() -> Box<dyn Topology>; 3] = [
        || Box::new(tree(&[4, 4, 4], &[1, 4, 4])),
        || Box::new(tree(&[2, 3, 4], &[1, 2, 2])),
        || Box::new(tree(&[4, 2, 2], &[1, 1, 2])),
    ];
    let dragonflies: [fn() -> Box<dyn Topology>; 1] = [|| Box::new(dragonfly(2, 1))];
    let fabrics: [fn() -> Box<dyn Topology>; 2] = [|| Box::new(hyperx([3, 3], 2)), || Box::new(jellyfish(6, 2, 1))];
    let stars: [fn() -> Box<dyn Topology>; 3] =
        [|| Box::new(star(5, false)), || Box::new(star(4, true)), || Box::new(one_way_ring(3))];
    let routed = [
        (&grids[..], vec![routing("dor"), routing("adaptive")]),
        (&trees, ASCENTS.map(up_and_down).to_vec()),
        (&dragonflies, vec![routing("minimal")]),
        (&fabrics, vec![routing("minimal"), routing("adaptive")]),
        (&stars, vec![RoutingOptions::default()]),
    ];
    let mut all = Vec::new();
    for (topologies, routings) in routed {
        for (make, routing) in topologies.iter().flat_map(|make| routings.iter().map(move |routing| (make, *routing))) {
            for (router_delay, wire_delay, output_queue) in [(0, 0, 0), (3, 5, 0), (1, 2, 2)] {
                let parameters = PacketParameters {
                    routing: RoutingOptions { virtual_channels: Some(2), ..routing },
                    router_delay,
                    wire_delay,
                    output_queue,
                    ..PacketParameters::default()
                };
                let topology = make();
                let spec = spec_of(&*topology, parameters);
                all.push((topology, spec));
            }
        }
    }
    all
}

/// One packet of L = 16 phits that nothing is in the way of: a cycle to the router, 1 + r + w for each of h channels, r
/// in the first router, and L to be consumed; where hosts have cables, w for each of them too.
#[test]
fn a_packet_alone_takes_what_the_formula_says() {
    for (topology, spec) in all_networks() {
        let (r, w) = (u64::from(spec.parameters.router_delay), u64::from(spec.parameters.wire_delay));
        let cables = if spec.graph().has_host_cables() { 2 } else { 0 };
        for (from, to) in (0..topology.hosts()).flat_map(|from| (0..topology.hosts()).map(move |to| (from, to))) {
            if from == to {
                continue;
            }
            let h = channels(&*topology, from, to);
            let expected = 1 + r + h * (1 + r + w) + 16 + cables * w;
            let [delivery] = run(&spec, &[(7, message(from, to, 1))])[..] else { panic!("not delivered once") };
            assert_eq!(delivery.at - 7, expected, "{} from {from} to {to}", topology.name());
            assert_eq!(u64::from(delivery.hops), h);
            assert_eq!(delivery.injected - 7, 1 + r + cables / 2 * w);
            assert_eq!(Delays::of(&spec).alone(h), expected);
        }
    }
}

/// Packets that decide by queues take the minimal path if there are none. Valiant's take one link more between groups, and at
/// most one more within each of the three groups.
#[test]
fn a_packet_alone_takes_the_path_of_its_routing() {
    let topology = canonical(5, 2, 2);
    for name in ["minimal", "ugal", "ugal-g", "par", "valiant"] {
        let spec = spec_of(&topology, PacketParameters { routing: routing(name), ..PacketParameters::default() });
        for (from, to) in (0..20).flat_map(|from| (0..20).map(move |to| (from, to))).filter(|(from, to)| from != to) {
            let [delivery] = run(&spec, &[(7, message(from, to, 1))])[..] else { panic!("not delivered once") };
            let (hops, minimal) = (u64::from(delivery.hops), channels(&topology, from, to));
            if name == "valiant" && from / 4 != to / 4 {
                assert!((2..=5).contains(&hops), "{hops} from {from} to {to}");
            } else {
                assert_eq!(hops, minimal, "{name} from {from} to {to}");
            }
            assert_eq!(delivery.at - 7, Delays::of(&spec).alone(hops));
        }
    }
}

/// Three routers, each with a cable to each other. Four hosts of one send to another router at once, and decide for its cable,
/// at which no packet is. One packet takes it in cycle 1. In cycle 2, each of the others sees this packet and two that await the
/// cable: 3 packets at 1 hop cost more than 0 at 2 hops and the bias. One takes the detour, and arrives a cycle later than alone.
/// Then the last two see two packets, and wait for the cable.
#[test]
fn packets_that_wait_decide_anew() {
    let spec =
        spec_of(&hyperx([3, 1], 4), PacketParameters { routing: routing("ugal"), ..PacketParameters::default() });
    let messages = [0, 1, 2, 3].map(|host| (0, message(host, 4 + host, 1)));
    let times: Vec<_> = run(&spec, &messages).iter().map(|delivery| (delivery.at, delivery.hops)).collect();
    let alone = |hops| Delays::of(&spec).alone(hops);
    assert_eq!(times, [(alone(1), 1), (alone(2) + 1, 2), (alone(1) + 16, 1), (alone(1) + 32, 1)]);
}

/// Two packets from the same distance meet somewhere on their ways to a host, at its consumption port at the latest.
/// The one that has to wait there continues when the tail of the other has left, L = 16 cycles later, and keeps this
/// distance.
#[test]
fn two_that_contend_arrive_a_packet_apart() {
    for (topology, spec) in all_networks() {
        let hosts = topology.hosts();
        for to in [0, hosts / 2 + 1, hosts - 1] {
            for (one, other) in (0..hosts).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let h = channels(&*topology, one, to);
                if one == to || other == to || channels(&*topology, other, to) != h {
                    continue;
                }
                let times: Vec<_> = run(&spec, &[(0, message(one, to, 1)), (0, message(other, to, 1))])
                    .iter()
                    .map(|delivery| delivery.at)
                    .collect();
                let alone = Delays::of(&spec).alone(h);
                assert_eq!(times, [alone, alone + 16], "{} from {one} and {other} to {to}", topology.name());
            }
        }
    }
}

/// In a row of six, 0 and 1 send to 4 at once. 1's packet is in its router in cycle 1 and takes the channel to 2 then. 0's
/// header gets there in cycle 2, and has the channel when the other's tail has left it, in cycle 17: 15 late. From there both
/// go at a phit a cycle, so the delay stays: 1 + 3 + 16 = 20 for the one, and 1 + 4 + 15 + 16 = 36 for the other.
#[test]
fn the_second_of_two_waits_for_the_first_tail() {
    let spec = spec_of(&Grid::mesh(&[6], CABLE), PacketParameters::default());
    let deliveries = run(&spec, &[(0, message(0, 4, 1)), (0, message(1, 4, 1))]);
    let times: Vec<_> = deliveries.iter().map(|delivery| (delivery.message.from.0, delivery.at)).collect();
    assert_eq!(times, [(1, 20), (0, 36)]);
}

/// Two that reach 2 from both sides in one cycle: the consumption port serves first the queue that comes first, which
/// is that of the channel from the lower router, and the other 16 cycles after.
#[test]
fn two_that_meet_are_consumed_one_after_the_other() {
    let topology = Grid::mesh(&[5], CABLE);
    let messages = [(0, message(0, 2, 1)), (0, message(4, 2, 1))];
    let times = |consumption_ports| -> Vec<_> {
        let spec = spec_of(&topology, PacketParameters { consumption_ports, ..PacketParameters::default() });
        run(&spec, &messages).iter().map(|delivery| (delivery.message.from.0, delivery.at)).collect()
    };
    assert_eq!(times(1), [(0, 19), (4, 35)]);
    assert_eq!(times(2), [(0, 19), (4, 19)]);
}

/// A message of three packets leaves its host at a phit a cycle: its last tail is 2 · 16 cycles after the first; with three
/// injection ports, and as many at its destination, the packets still share the one channel between.
#[test]
fn packets_of_a_message_follow_each_other() {
    for ports in [1, 3] {
        let parameters =
            PacketParameters { injection_ports: ports, consumption_ports: ports, ..PacketParameters::default() };
        let spec = spec_of(&Grid::mesh(&[4], CABLE), parameters);
        let [delivery] = run(&spec, &[(0, message(0, 3, 3))])[..] else { panic!("not delivered once") };
        assert_eq!(delivery.at, 1 + 3 + 16 + 32);
    }
}

/// A ring of four queues of two packets, and every host sends two packets half round at once. Each has room for the first
/// packet of its host only if it has room for two, so that a place stays free, and all arrive.
#[test]
fn a_bubble_keeps_a_ring_moving() {
    for queue_packets in [2, 3] {
        let spec =
            spec_of(&Grid::torus(&[4], CABLE), PacketParameters { queue_packets, ..PacketParameters::default() });
        let messages: Vec<_> = (0..4).flat_map(|from| [(0, message(from, (from + 2) % 4, 200))]).collect();
        assert_eq!(run(&spec, &messages).len(), 4);
    }
}

#[test]
fn what_would_deadlock_is_refused() {
    let refused =
        |topology: &dyn Topology, parameters| PacketSpec::new(topology.router_graph().unwrap(), parameters).is_err();
    let on_one_channel = |name| RoutingOptions { virtual_channels: Some(1), ..routing(name) };
    let defaults = PacketParameters::default;
    assert!(refused(&Grid::torus(&[4], CABLE), PacketParameters { queue_packets: 1, ..defaults() }));
    assert!(!refused(&Grid::mesh(&[4], CABLE), PacketParameters { queue_packets: 1, ..defaults() }));
    assert!(refused(&Grid::torus(&[4], CABLE), PacketParameters { routing: on_one_channel("adaptive"), ..defaults() }));
    assert!(refused(&dragonfly(1, 1), PacketParameters { routing: on_one_channel("minimal"), ..defaults() }));
}

pub(super) fn any_parameters() -> impl Strategy<Value = PacketParameters> {
    let arbitration = prop::sample::select(vec![
        Arbitration::RoundRobin,
        Arbitration::Fifo,
        Arbitration::Random,
        Arbitration::Longest,
    ]);
    let order = prop::sample::select(vec![InjectionOrder::Fifo, InjectionOrder::RoundRobin]);
    let orders = (arbitration, order);
    let shape = (1_u32..6, 1_u32..4, 2_u32..5, 1_u32..3, 1_u32..4, 1_u32..3);
    let output_queue = prop_oneof![Just(0_u32), 1_u32..4];
    (shape, output_queue, 0_u32..3, 0_u32..3, orders, any::<u64>()).prop_map(
        |(
            (packet_phits, virtual_channels, queue_packets, injection_ports, injection_queues, consumption_ports),
            output_queue,
            r,
            w,
            (arbitration, injection_order),
            seed,
        )| {
            PacketParameters {
                packet_phits,
                routing: RoutingOptions { virtual_channels: Some(virtual_channels), ..RoutingOptions::default() },
                queue_packets,
                output_queue,
                injection_order,
                injection_ports,
                injection_queues,
                consumption_ports,
                router_delay: r,
                wire_delay: w,
                arbitration,
                seed,
                ..PacketParameters::default()
            }
        },
    )
}

/// Messages between `hosts` hosts in order of cycles, with their numbers as tags: cycle, from and to, packets.
pub(super) fn between(hosts: u32, messages: Vec<(u64, (u32, u32), u64)>) -> Vec<(u64, Message)> {
    let mut messages: Vec<_> = messages
        .into_iter()
        .map(|(at, (from, to), packets)| (at, message(from % hosts, to % hosts, packets)))
        .collect();
    messages.sort_by_key(|&(at, _)| at);
    messages.iter_mut().zip(0..).for_each(|((_, message), tag)| message.tag = tag);
    messages
}

/// A network, and messages between its hosts in the order of their cycles, each with its number as tag.
pub(super) fn any_run(
    messages: std::ops::Range<usize>,
    span: u64,
) -> impl Strategy<Value = (PacketSpec, Vec<(u64, Message)>)> {
    let messages = prop::collection::vec((0..span, any::<(u32, u32)>(), 1_u64..6), messages);
    (any_network(), any_parameters(), messages).prop_map(|((topology, routing), mut parameters, messages)| {
        let more = routing.name.map_or(0, |name| match &*name.to_string() {
            "adaptive" | "minimal" | "table" => 1,
            "valiant" | "ugal" | "ugal-g" => 2,
            "par" => 3,
            _ => 0,
        });
        let drawn = parameters.routing.virtual_channels.map(|channels| channels + more);
        parameters.routing = RoutingOptions { virtual_channels: routing.virtual_channels.or(drawn), ..routing };
        (spec_of(&*topology, parameters), between(topology.hosts(), messages))
    })
}

/// Whether packets decide anew.
struct Reconsiders;

impl RoutingVisitor for Reconsiders {
    type Output = bool;

    fn visit<R: Routing>(self, routing: &R) -> bool {
        routing.reconsiders()
    }
}

/// A network in which packets decide anew, and messages enough for packets to wait.
fn any_run_with_decisions() -> impl Strategy<Value = (PacketSpec, Vec<(u64, Message)>)> {
    any_run(20..120, 40).prop_filter("packets decide anew", |(spec, _)| spec.routing.visit(Reconsiders))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Every message, in every network: created, injected and delivered in the same cycles over as many channels.
    #[test]
    fn the_engine_is_the_reference((spec, messages) in any_run(1..40, 60)) {
        prop_assert_eq!(run(&spec, &messages), run_reference(&spec, &messages, 20_000));
    }

    /// The same where packets decide anew: the engine does not miss the cycle in which a decision changes.
    #[test]
    fn packets_change_their_decisions_when_the_reference_says((spec, messages) in any_run_with_decisions()) {
        prop_assert_eq!(run(&spec, &messages), run_reference(&spec, &messages, 20_000));
    }

    /// After any saturation, the network drains, and each message arrives once.
    #[test]
    fn saturating_traffic_drains((spec, messages) in any_run(500..1000, 20)) {
        let mut tags: Vec<_> = run(&spec, &messages).iter().map(|delivery| delivery.message.tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, Vec::from_iter(0..messages.len() as u64));
    }
}

/// In every network, the packets of one message follow each other without a gap, unless routers delay them.
#[test]
fn packets_of_one_message_alone_take_their_unloaded_time() {
    for (topology, spec) in all_networks() {
        let mut route = Vec::new();
        for to in 1..topology.hosts() {
            route.clear();
            topology.route(HostId(0), HostId(to), &mut route);
            let (latency, transfer) = Delays::of(&spec).unloaded(&spec, &route, 1, None);
            let [delivery] = run(&spec, &[(7, message(0, to, 1))])[..] else { panic!("not delivered once") };
            assert_eq!((delivery.at - 7) as f64, latency + transfer, "{} to {to}", topology.name());
            let (latency, transfer) = Delays::of(&spec).unloaded(&spec, &route, 5, None);
            let [delivery] = run(&spec, &[(7, message(0, to, 5))])[..] else { panic!("not delivered once") };
            assert!((delivery.at - 7) as f64 >= latency + transfer, "{} to {to}", topology.name());
        }
    }
}
