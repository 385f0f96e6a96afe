//! Packets over unequal links: thin links, long links, and links that both directions share. Times are computed by
//! hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use support::{message, run, spec};
use titr_common::units::Seconds;
use titr_network::packet::{Message, PacketParameters};
use titr_network::topology::{Cable, Duplex, Explicit, Grid, Link, LinkId, Piece, Routes, Sharing, Star, Topology};

/// Phits of a packet.
const L: u64 = 16;

/// A link of 1/`part` of the fastest link's bandwidth and a latency of `cycles` cycles of 4 ns.
fn link(part: f64, cycles: f64) -> Link {
    Link { bandwidth: 1e9 / part, latency: Seconds(cycles * 4e-9), sharing: Sharing::Shared }
}

fn half_duplex(part: f64) -> Cable {
    Cable { bandwidth: 1e9 / part, latency: Seconds(0.0), duplex: Duplex::Half }
}

/// Host 0 and host 1 with some links between them, one after the other, and as many others back.
fn chain(links: &[Link]) -> Explicit {
    let nodes = links.len() as u32 + 1;
    let node = |place: u32| {
        if place == 0 {
            0
        } else if place + 1 == nodes {
            1
        } else {
            place + 1
        }
    };
    let all = (0..).zip([links, links].concat()).map(|(number, link)| (format!("link {number}"), link)).collect();
    let pieces = (0..nodes - 1).flat_map(|place| {
        let (here, there) = (node(place), node(place + 1));
        let back = LinkId(place + nodes - 1);
        [
            Piece { from: here, to: there, links: vec![LinkId(place)] },
            Piece { from: there, to: here, links: vec![back] },
        ]
    });
    Explicit::new(2, nodes - 2, all, &pieces.collect::<Vec<_>>(), Routes::Floyd)
}

/// The same chain, whose links are each for both directions.
fn half_duplex_chain(links: &[Link]) -> Explicit {
    let route: Vec<LinkId> = (0..links.len() as u32).map(LinkId).collect();
    let back: Vec<LinkId> = route.iter().rev().copied().collect();
    let all = (0..).zip(links).map(|(number, &link)| (format!("link {number}"), link)).collect();
    let pieces = [Piece { from: 0, to: 1, links: route }, Piece { from: 1, to: 0, links: back }];
    Explicit::new(2, 0, all, &pieces, Routes::Full)
}

fn times(topology: &dyn Topology, messages: &[Message]) -> Vec<u64> {
    run(&spec(topology, PacketParameters::default()), messages).iter().map(|delivery| delivery.at).collect()
}

/// P packets over a link that passes a phit every k cycles take k·L·P cycles and the latency w; one cycle more to reach the
/// router of the host, and one for the last phit to be consumed.
#[test]
fn a_message_over_a_thin_link() {
    for (k, w, packets) in [(2, 0, 1), (2, 7, 10), (10, 300, 1000)] {
        for output_queue in [0, 2] {
            let topology = chain(&[link(k as f64, w as f64)]);
            let parameters = PacketParameters { output_queue, ..PacketParameters::default() };
            let [delivery] = run(&spec(&topology, parameters), &[message(0, 0, 1, packets)])[..] else {
                panic!("not delivered once")
            };
            assert_eq!(delivery.at, 1 + k * L * packets + w + 1, "{k} {w} {packets}");
        }
    }
}

/// In a chain, the thinnest link determines the time of the message, wherever it is; each link adds the cycles of a
/// phit and its latency to the time of the first one.
#[test]
fn the_thinnest_link_of_a_chain_counts() {
    for ks in [[1_u32, 4, 1], [4, 1, 1], [1, 1, 4], [4, 2, 1], [1, 2, 4]] {
        let links = ks.map(|k| link(f64::from(k), 5.0));
        let phits: u64 = ks.iter().map(|&k| u64::from(k)).sum();
        let packets = 100;
        assert_eq!(times(&chain(&links), &[message(0, 0, 1, packets)]), [1 + phits + 15 + 4 * (L * packets - 1) + 1]);
    }
}

/// The rate of 3/10 is no whole number of cycles for a phit. 3,000 packets take 3,000·L·10/3 cycles, without rounding.
#[test]
fn a_rate_that_is_no_whole_part_is_exact() {
    let [time] = times(&chain(&[link(10.0 / 3.0, 0.0)]), &[message(0, 0, 1, 3000)])[..] else { panic!("not once") };
    let expected = 1 + 3000 * L * 10 / 3 + 1;
    assert!(time.abs_diff(expected) <= 1, "{time} is not {expected}");
}

/// A backbone of four times the bandwidth of cables carries four messages at once, and of half the bandwidth a half.
#[test]
fn a_backbone_divides_its_bandwidth() {
    let cable = |part: f64| Cable { bandwidth: 1e9 / part, latency: Seconds(0.0), duplex: Duplex::Full };
    let packets = 400;
    let messages: Vec<_> = (0..4).map(|pair| message(pair.into(), 2 * pair, 2 * pair + 1, packets)).collect();
    let last = |star: Star| *times(&star, &messages).last().unwrap();
    let close = |time: u64, expected: u64| {
        assert!(time >= expected && time < expected + expected / 50, "{time} is not {expected}");
    };
    close(last(Star::new(8, cable(4.0), Some(link(1.0, 0.0)))), 4 * L * packets);
    close(last(Star::new(8, cable(1.0), Some(link(2.0, 0.0)))), 4 * 2 * L * packets);
}

/// Two messages in opposite directions over one link take as long as one after the other, and are served packet by
/// packet in turn: they end within a packet's time of each other. This holds on a cable, over two hops, in a star, and
/// on a bus.
#[test]
fn opposite_messages_share_a_half_duplex_link() {
    let packets = 500;
    let both = [message(0, 0, 1, packets), message(1, 1, 0, packets)];
    for k in [1_u32, 3] {
        let thin = link(f64::from(k), 0.0);
        let cases: [Box<dyn Topology>; 4] = [
            Box::new(half_duplex_chain(&[thin])),
            Box::new(half_duplex_chain(&[link(1.0, 0.0), thin])),
            Box::new(Star::new(2, half_duplex(f64::from(k)), None)),
            Box::new(Star::new(6, half_duplex(f64::from(k)), None)),
        ];
        for topology in cases {
            let alone = times(&*topology, &both[..1])[0];
            let [one, other] = times(&*topology, &both)[..] else { panic!("not both") };
            let expected = 2 * u64::from(k) * L * packets;
            assert!(alone >= expected / 2 && alone < expected / 2 + 100, "{alone} is not {}", expected / 2);
            assert!(other >= expected && other < expected + 200, "{other} is not {expected}");
            assert!(one + 200 >= other, "{one} is much earlier than {other}");
        }
    }
}

/// A bus is one link between all hosts: three messages of six hosts take it in turn.
#[test]
fn hosts_share_a_bus() {
    let hosts = 6;
    let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let pieces: Vec<Piece> = pairs.map(|(from, to)| Piece { from, to, links: vec![LinkId(0)] }).collect();
    let bus = Explicit::new(hosts, 0, vec![("bus".to_owned(), link(1.0, 0.0))], &pieces, Routes::Full);
    let packets = 100;
    let messages: Vec<_> = (0..3).map(|pair| message(pair.into(), 2 * pair, 2 * pair + 1, packets)).collect();
    // The bus carries a phit in each cycle from cycle 1 on; the last phits of the messages are a packet apart.
    let all = 3 * L * packets;
    assert_eq!(times(&bus, &messages), [2 + all - 2 * L, 2 + all - L, 2 + all]);
}

/// A limiter of a host limits the sum of the data that the host sends and receives.
#[test]
fn a_limiter_counts_both_ways() {
    let cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };
    let (packets, star) = (500, Star::new(4, cable, None).limited(0.5e9));
    let both = [message(0, 0, 1, packets), message(1, 2, 0, packets)];
    let last = *times(&star, &both).last().unwrap();
    let expected = 2 * 2 * L * packets;
    assert!(last >= expected && last < expected + 200, "{last} is not {expected}");
}

/// A torus whose cables are half-duplex carries an exchange between neighbours in twice the time.
#[test]
fn a_half_duplex_torus() {
    let packets = 500;
    let exchange = [message(0, 0, 1, packets), message(1, 1, 0, packets)];
    let last = |duplex| {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex };
        *times(&Grid::torus(&[4, 4], cable), &exchange).last().unwrap()
    };
    let (full, half) = (last(Duplex::Full), last(Duplex::Half));
    assert!(full < L * packets + 100 && half >= 2 * L * packets && half < 2 * L * packets + 100, "{full}, {half}");
}

/// A long link keeps its bandwidth, because the queue at its end has room for all packets that are on their way.
#[test]
fn a_long_link_is_never_idle() {
    for k in [1.0, 2.0] {
        let topology = chain(&[link(1.0, 0.0), link(k, 10_000.0)]);
        let [time] = times(&topology, &[message(0, 0, 1, 5000)])[..] else { panic!("not once") };
        assert!(time < 10_000 + k as u64 * L * 5000 + 100, "{time}");
    }
}
