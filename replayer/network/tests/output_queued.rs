//! Output-queued switches against closed forms: waiting times, saturation, and bursts that fill their memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;
use support::{message, run, spec};
use titr_common::units::{Bytes, Seconds};
use titr_network::packet::{
    Buffer, BufferSharing, Delivery, Message, PacketParameters, PacketSpec, Switch, WhenFull, engine,
};
use titr_network::topology::{Ascent, Cable, Duplex, FatTree, Grid, PortChoice, Stage, Star, Topology};
use titr_network::traffic::{Arrangement, Destinations, Injection, Pattern, Plan, Sizes, measure};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

/// Phits of a packet.
const LENGTH: u32 = 64;

fn parameters(switch: Switch) -> PacketParameters {
    PacketParameters { packet_phits: LENGTH, switch, ..PacketParameters::default() }
}

/// A memory of so many packets.
fn memory(packets: u64, sharing: BufferSharing, when_full: WhenFull) -> Switch {
    let size = Bytes(4 * u64::from(LENGTH) * packets);
    Switch::OutputQueued(Some(Buffer { size, sharing, when_full }))
}

const UNLIMITED: Switch = Switch::OutputQueued(None);
const SHARED: BufferSharing = BufferSharing::Shared { alpha: 1.0 };
/// A packet that is lost is sent again after 100 packet times.
const DROP: WhenFull = WhenFull::Drop { retransmit_after: Seconds(100.0 * LENGTH as f64 * 4e-9) };

/// Deliveries in their order, and the packets that the links carried in all.
fn live(spec: &PacketSpec, messages: &[(u64, Message)]) -> (Vec<Delivery>, u64) {
    let (mut engine, mut deliveries, mut messages) = (engine(spec), Vec::new(), messages.iter().peekable());
    loop {
        let offer = messages.peek().map(|&&(at, _)| at);
        let Some(now) = engine.next_cycle().into_iter().chain(offer).min() else { break };
        while let Some((_, message)) = messages.next_if(|&&(at, _)| at == now) {
            engine.offer(now, *message);
        }
        engine.advance(now, &mut deliveries);
    }
    let carried = engine.carried(spec.graph()).iter().map(|(_, carried)| carried.packets).sum();
    (deliveries, carried)
}

/// A number from 0 up to but not 1.
fn unit(random: &mut impl RngCore) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Packets from many hosts to one are Poisson arrivals at its port, which serves each in the same time. They wait for
/// ρ/(2(1 − ρ)) packet times on average (M/D/1, the formula of Pollaczek and Khinchine).
#[test]
fn packets_to_one_host_wait_as_in_m_d_1() {
    const HOSTS: u32 = 400;
    let spec = spec(&Star::new(HOSTS, CABLE, None), parameters(UNLIMITED));
    let alone = 1 + u64::from(LENGTH);
    for tenths in 1_u32..=8 {
        let (load, mut random, mut time) = (f64::from(tenths) / 10.0, Pcg64Mcg::new(tenths.into()), 0.0);
        let messages: Vec<_> = (0..200_000)
            .map(|tag| {
                time -= (1.0 - unit(&mut random)).ln() * f64::from(LENGTH) / load;
                let from = 1 + (random.next_u64() % u64::from(HOSTS - 1)) as u32;
                (time as u64, message(tag, from, 0, 1))
            })
            .collect();
        let (deliveries, _) = live(&spec, &messages);
        let waits: u64 = deliveries.iter().map(|delivery| delivery.at - delivery.created - alone).sum();
        let mean = waits as f64 / deliveries.len() as f64 / f64::from(LENGTH);
        let expected = load / (2.0 * (1.0 - load));
        println!("load {load}: mean wait {mean:.4} packet times, M/D/1 {expected:.4}");
        assert!((mean / expected - 1.0).abs() < 0.05, "load {load}: {mean} is not {expected}");
    }
}

/// The load that hosts can send under uniform traffic when each offers all that its cable carries.
fn saturation(topology: &dyn Topology, switch: Switch) -> f64 {
    let spec = spec(topology, PacketParameters { packet_phits: 16, ..parameters(switch) });
    let destinations = Destinations::new(Pattern::Uniform, topology.hosts(), Arrangement::of(spec.graph())).unwrap();
    let sizes = Sizes::Range(Bytes(64), Bytes(64));
    let plan = Plan { destinations, sizes, warmup: 20_000, cycles: 60_000, runs: 1 };
    measure(&spec, &plan, Injection::Load(1.0)).figures.accepted
}

/// A switch of output queues passes all of its bandwidth, and one of input queues about 0.6 of it (Karol, Hluchyj and Morgan,
/// 1987: 0.618 with 8 ports).
#[test]
fn a_switch_passes_all_of_uniform_traffic() {
    let star = Star::new(8, CABLE, None);
    let [output, input] = [UNLIMITED, Switch::InputQueued].map(|switch| saturation(&star, switch));
    println!("a star of 8: output-queued {output:.4}, input-queued {input:.4}");
    assert!(output > 0.98, "{output}");
    assert!((input / 0.618 - 1.0).abs() < 0.05, "{input}");
}

/// So does a tree that has as many cables up as down, with random ports upwards.
#[test]
fn a_tree_of_switches_passes_all_of_uniform_traffic() {
    let stage = |up| Stage { down: 4, up, count: 1 };
    let choice = PortChoice { ascent: Ascent::Random, ..PortChoice::default() };
    let tree = FatTree::new(&[stage(1), stage(4)], CABLE).choosing(choice);
    let found = saturation(&tree, UNLIMITED);
    println!("a tree of 16: {found:.4}");
    assert!(found > 0.97, "{found}");
}

/// Seven hosts send four packets each to the eighth at once. A memory of 64 packets in equal parts has room for 8 of these 28,
/// and if shared for 32: α/(1 + α) of it with α = 1.
#[test]
fn a_shared_memory_takes_a_burst_that_a_part_does_not() {
    let star = Star::new(8, CABLE, None);
    let burst: Vec<_> = (1..8).map(|from| (0, message(from.into(), from, 0, 4))).collect();
    let last = |sharing| {
        let (deliveries, carried) = live(&spec(&star, parameters(memory(64, sharing, DROP))), &burst);
        assert_eq!(deliveries.len(), 7);
        // Each packet once down, and at least once up.
        assert!(carried >= 2 * 28);
        (deliveries.iter().map(|delivery| delivery.at).max().unwrap(), carried - 2 * 28)
    };
    let without_loss = 1 + 28 * u64::from(LENGTH);
    assert_eq!(last(SHARED), (without_loss, 0));
    let (partitioned, losses) = last(BufferSharing::Partitioned);
    println!("a burst of 28: {losses} losses in a part, the last packet in cycle {partitioned}");
    assert!(losses > 0 && partitioned > 100 * u64::from(LENGTH), "{losses} losses, {partitioned}");
}

/// Without losses, the port to the host of an incast sends one packet after the other, whether there is much memory, or so
/// little that senders pause.
#[test]
fn an_incast_fills_its_port() {
    let star = Star::new(8, CABLE, None);
    let incast: Vec<_> = (1..8).map(|from| (0, message(from.into(), from, 0, 100))).collect();
    for switch in
        [UNLIMITED, memory(16, SHARED, WhenFull::Pause), memory(16, BufferSharing::Partitioned, WhenFull::Pause)]
    {
        let (deliveries, carried) = live(&spec(&star, parameters(switch)), &incast);
        assert_eq!(carried, 2 * 700);
        assert_eq!(deliveries.last().unwrap().at, 1 + 700 * u64::from(LENGTH), "{switch:?}");
    }
}

/// A packet to an idle host waits behind packets to a busy host if senders pause, and passes them if there is memory: the
/// blocking of the head of a line, which priority flow control brings back.
#[test]
fn a_pause_delays_packets_to_other_hosts() {
    let star = Star::new(8, CABLE, None);
    let mut messages: Vec<_> = (1..8).map(|from| message(from.into(), from, 0, 20)).collect();
    messages.push(message(99, 1, 2, 1));
    let at = |switch| {
        let deliveries = run(&spec(&star, parameters(switch)), &messages);
        deliveries.iter().find(|delivery| delivery.message.tag == 99).unwrap().at
    };
    let length = u64::from(LENGTH);
    assert_eq!(at(UNLIMITED), 1 + 21 * length);
    let paused = at(memory(16, BufferSharing::Partitioned, WhenFull::Pause));
    assert!(paused > 100 * length, "{paused}");
}

/// What would wait for ever, and memories that have no room for a packet.
#[test]
fn what_cannot_work_is_refused() {
    let refusal = |topology: &dyn Topology, switch| {
        PacketSpec::new(topology.router_graph().unwrap(), parameters(switch)).err().map(|why| why.to_string())
    };
    let (ring, star) = (Grid::torus(&[4], CABLE), Star::new(8, CABLE, None));
    let why = refusal(&ring, memory(64, SHARED, WhenFull::Pause)).unwrap();
    assert!(why.contains("wait for ever"), "{why}");
    assert_eq!(refusal(&ring, memory(64, SHARED, DROP)), None);
    let why = refusal(&star, memory(7, SHARED, WhenFull::Pause)).unwrap();
    assert!(why.contains("room for 7 packets") && why.contains("8 inputs"), "{why}");
    assert_eq!(refusal(&star, memory(8, SHARED, WhenFull::Pause)), None);
    assert_eq!(refusal(&star, memory(1, SHARED, DROP)), None);
}
