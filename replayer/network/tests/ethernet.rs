//! What Ethernet and TCP add to output-queued switches, against closed forms: short frames, token buckets, windows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::sync::Arc;

use proptest::prelude::*;
use support::{message, run, spec};
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::packet::{InjectionOrder, Message, PacketNetwork, PacketParameters, PacketStatistics, Switch};
use titr_network::topology::{Cable, Duplex, FatTree, HostId, Stage, Star, Topology};
use titr_network::{Connection, Network, Transfer, TransferId};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

/// Phits of a packet, cycles of a router and of a cable.
const LENGTH: u32 = 64;
const ROUTER: u32 = 3;
const WIRE: u32 = 2;

fn parameters() -> PacketParameters {
    PacketParameters {
        packet_phits: LENGTH,
        router_delay: ROUTER,
        wire_delay: WIRE,
        injection_order: InjectionOrder::RoundRobin,
        switch: Switch::OutputQueued(None),
        ..PacketParameters::default()
    }
}

fn bucket(phits: u64) -> PacketParameters {
    let burst = parameters().phit.times(phits);
    PacketParameters { burst, ..parameters() }
}

fn window(packets: u32) -> PacketParameters {
    PacketParameters { connection_window: Some(packets), ..parameters() }
}

/// Two switches with four hosts each, and a cable between them.
fn tree() -> FatTree {
    FatTree::new(&[Stage { down: 4, up: 1, count: 1 }, Stage { down: 2, up: 1, count: 1 }], CABLE)
}

/// A message on the connection of its hosts.
fn on_connection(from: u32, to: u32, packets: u64) -> Message {
    Message { connection: Some(Connection { sender: from, receiver: to }), ..message(from.into(), from, to, packets) }
}

/// The cycle in which a message arrives that is alone.
fn alone(topology: &dyn Topology, parameters: PacketParameters, message: Message) -> u64 {
    run(&spec(topology, parameters), &[message])[0].at
}

proptest! {
    /// *n* packets, the last of *l* phits, over buckets of *B* phits: the latency of a header and max(n, (n − 1) L + l − B) cycles,
    /// over one switch or three.
    #[test]
    fn full_buckets_pass_their_phits_at_once(
        packets in 1_u64..40,
        last in 1..LENGTH,
        burst in 0_u64..1500,
        is_far in any::<bool>(),
    ) {
        let (to, channels) = if is_far { (5, 2) } else { (1, 0) };
        let message = Message { last_phits: Some(last), ..message(0, 0, to, packets) };
        let header = u64::from(1 + WIRE + ROUTER) * (1 + channels) + u64::from(WIRE);
        let phits = (packets - 1) * u64::from(LENGTH) + u64::from(last);
        let transfer = if burst == 0 { phits } else { packets.max(phits.saturating_sub(burst)) };
        prop_assert_eq!(alone(&tree(), bucket(burst), message), header + transfer);
    }

    /// With a window of one, each packet leaves when the one before is known to be there: a way there and a way back of a header.
    #[test]
    fn a_window_of_one_takes_turns_with_its_acknowledgements(packets in 1_u64..20) {
        let header = u64::from(1 + WIRE + ROUTER);
        let way = header + u64::from(LENGTH + WIRE);
        let expected = packets * way + (packets - 1) * header;
        prop_assert_eq!(alone(&Star::new(2, CABLE, None), window(1), on_connection(0, 1, packets)), expected);
    }
}

/// A window that the way there and back does not empty costs no time.
#[test]
fn a_wide_window_is_none() {
    let star = Star::new(2, CABLE, None);
    let at = |parameters| alone(&star, parameters, on_connection(0, 1, 100));
    assert_eq!(at(window(3)), at(parameters()));
    assert!(at(window(1)) > at(parameters()));
}

/// A bucket that was emptied gets a phit in each cycle: a second message finds as many as cycles have passed.
#[test]
fn a_bucket_fills_while_nothing_is_sent() {
    let burst = u64::from(LENGTH);
    let two = |connection| Message { connection, ..message(0, 0, 1, 1) };
    let spec = spec(&Star::new(2, CABLE, None), bucket(burst));
    // Both packets need all phits of the bucket: the first takes a cycle, and the second the cycles until the bucket has filled.
    let times: Vec<u64> = run(&spec, &[two(None), two(None)]).iter().map(|delivery| delivery.at).collect();
    assert_eq!(times[1] - times[0], u64::from(LENGTH) - 1);
}

/// Three hosts beside a hot one and four behind another switch. Without windows, the four share a quarter of the hot link. With
/// windows, all get the same.
#[test]
fn windows_share_a_hot_link_by_connections() {
    let incast: Vec<_> = (1..8).map(|from| on_connection(from, 0, 200)).collect();
    let first_and_last = |parameters| {
        let deliveries = run(&spec(&tree(), parameters), &incast);
        [deliveries[0].at, deliveries[6].at].map(|at| at as f64 / f64::from(LENGTH))
    };
    let [first, last] = first_and_last(parameters());
    assert!((780.0..830.0).contains(&first) && (1399.0..1450.0).contains(&last), "{first}, {last}");
    let [first, last] = first_and_last(window(4));
    assert!(first > 1250.0 && (1399.0..1450.0).contains(&last), "{first}, {last}");
}

/// The bytes of links and the phits of statistics are those of the frames.
#[test]
fn short_frames_count_as_they_are() {
    let tree: Arc<dyn Topology> = Arc::new(tree());
    let mut network = PacketNetwork::new(Arc::new(spec(&*tree, parameters())), tree);
    let bytes = Bytes(4 * u64::from(LENGTH) + 9);
    let (id, from, to) = (TransferId(0), HostId(0), HostId(5));
    network.inject(Time::ZERO, Transfer::new(id, from, to, bytes));
    let mut delivered = Vec::new();
    while let Some(at) = network.next_event() {
        network.advance(at, &mut delivered);
    }
    let loads: Vec<u64> = network.link_loads().iter().map(|load| load.bytes.0).filter(|&bytes| bytes > 0).collect();
    // Nine bytes are three phits.
    assert_eq!(loads, [4 * u64::from(LENGTH) + 12; 4]);
    let statistics = PacketStatistics::of(&network, Time::ZERO + Seconds(1e-3)).unwrap();
    assert_eq!(statistics.phit_hops, 2 * u64::from(LENGTH + 3));
}
