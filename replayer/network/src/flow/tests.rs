use std::collections::BTreeSet;

use proptest::prelude::*;
use titr_common::units::Bytes;

use super::*;
use titr_common::step_function::StepFunction;

use crate::topology::{
    Ascent, Cable, Duplex, Failure, FatTree, Grid, HostId, Link, LinkChange, LinkId, Paths, PortChoice, RoutePeriod,
    Sharing, Stage, Star, WithFailures,
};

const CABLE: Cable = Cable { bandwidth: 1.25e8, latency: Seconds(15e-6), duplex: Duplex::Full };

/// SimGrid's `cluster16.xml`: 16 hosts, 1 Gbit/s and 15 µs to a backbone of 10 Gbit/s and 15 µs.
fn cluster16(parameters: impl Into<FlowParameters>) -> Flow {
    let backbone = Link { bandwidth: 1.25e9, latency: Seconds(15e-6), sharing: Sharing::Shared };
    Flow::new(Arc::new(Star::new(16, CABLE, Some(backbone))), parameters.into())
}

/// Messages (from, to, bytes) that are injected at these times, and when each is delivered.
pub(super) fn run(network: &mut dyn Network, messages: &[(f64, u32, u32, u64)]) -> Vec<f64> {
    let mut waiting: Vec<_> = messages.iter().zip(0..).map(|(&message, id)| (message, TransferId(id))).collect();
    waiting.sort_by(|a, b| b.0.0.total_cmp(&a.0.0).then(b.1.cmp(&a.1)));
    let mut deliveries = vec![f64::NAN; messages.len()];
    let mut delivered = Vec::new();
    loop {
        let injection = waiting.last().map(|((start, ..), _)| Time::from_seconds(Seconds(*start)));
        let Some(now) = [injection, network.next_event()].into_iter().flatten().min() else {
            return deliveries;
        };
        network.advance(now, &mut delivered);
        for id in delivered.drain(..) {
            assert!(deliveries[id.0 as usize].is_nan(), "delivered twice");
            deliveries[id.0 as usize] = now.seconds().0;
        }
        while injection == Some(now)
            && let Some(((_, from, to, bytes), id)) =
                waiting.pop_if(|((start, ..), _)| Time::from_seconds(Seconds(*start)) <= now)
        {
            network.inject(
                now,
                Transfer {
                    connection: Some(Connection { sender: from, receiver: to }),
                    ..Transfer::new(id, HostId(from), HostId(to), Bytes(bytes))
                },
            );
        }
    }
}

#[track_caller]
pub(super) fn assert_close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
}

/// `oneway`, `duplex` and `twoflows` of SimGrid 3.32, whose numbers follow from the model by hand: 45 µs of latency
/// times 11.6436, then 1,000,016 bytes at 125 MB/s, of which 0.940694 are left; in both directions at once, at
/// 125/1.05 MB/s; two into one host, at half the rate until the first is there.
#[test]
fn agrees_with_simgrid() {
    let alone = run(&mut cluster16(Preset::Smpi), &[(0.0, 0, 1, 1_000_000)]);
    assert_close(alone[0], 0.009_028_457_617);
    let duplex = run(&mut cluster16(Preset::Smpi), &[(0.0, 0, 1, 1_000_000), (0.0, 1, 0, 1_000_000)]);
    assert_close(duplex[0], 0.009_453_682_398);
    let two = run(&mut cluster16(Preset::Smpi), &[(0.0, 0, 2, 1_000_000), (0.0, 1, 2, 3_000_000)]);
    assert_close(two[1], 0.034_541_672_329);
    let plain = run(&mut cluster16(Preset::Cm02), &[(0.0, 0, 2, 1_000_000), (0.0, 1, 2, 3_000_000)]);
    assert_close(plain[1], 0.032_045_256);
    let bulk = run(&mut cluster16(Preset::Lv08), &[(0.0, 0, 2, 1_000_000), (0.0, 1, 2, 3_000_000)]);
    assert_close(bulk[1], 0.033_575_404_639);
}

/// Two cables of 15 µs and a backbone of 15 µs, then a megabyte at 125 MB/s, regardless of reverse traffic.
#[test]
fn plain_is_bandwidth_and_latency() {
    let both = run(&mut cluster16(Preset::Plain), &[(0.0, 0, 1, 1_000_000), (0.0, 1, 0, 1_000_000)]);
    assert_eq!(both, [0.008_045, 0.008_045]);
    let small = run(&mut cluster16(Preset::Plain), &[(0.0, 0, 1, 1)]);
    assert_eq!(small, [0.000_045_008]);
}

/// Three messages of 125 kB at 125 MB/s, of which two are in a row: 1 ms each alone. In all, the first two share with the third
/// until one is there, and then the second has the link that it shares with none.
#[test]
fn messages_of_a_connection_arrive_one_after_the_other() {
    let in_order = FlowParameters { in_order: true, ..Preset::Plain.into() };
    let together = FlowParameters { in_order: false, ..in_order.clone() };
    let run = |parameters: &FlowParameters, messages: &[(f64, u32, u32, u64)]| {
        run(&mut cluster16(parameters.clone()), messages)
            .iter()
            .map(|at| ((at - 45e-6) * 1e6).round())
            .collect::<Vec<_>>()
    };
    let (there, again, other) = ((0.0, 0, 1, 125_000), (0.0, 0, 1, 125_000), (0.0, 2, 1, 125_000));
    assert_eq!(run(&in_order, &[there, again]), [1000.0, 2000.0]);
    assert_eq!(run(&together, &[there, again]), [2000.0, 2000.0]);
    assert_eq!(run(&in_order, &[there, again, other]), [2000.0, 3000.0, 2000.0]);
    assert_eq!(run(&together, &[there, again, other]), [3000.0, 3000.0, 3000.0]);
}

/// A small message whose latency is a millisecond is followed by one of 125 kB that has hardly any latency.
#[test]
fn no_message_of_a_connection_overtakes_another() {
    let latency_factor = Factor::steps([(0, 1e-3 / 45e-6), (1000, 0.0)]);
    let parameters = FlowParameters { latency_factor, ..Preset::Plain.into() };
    let found = run(&mut cluster16(parameters), &[(0.0, 0, 1, 125), (0.0, 0, 1, 125_000)]);
    assert_close(found[0], 1.001e-3);
    assert_close(found[1], 2.001e-3);
}

/// Four hosts in a square send each neighbour two messages of 125 kB: four of them share each cable, one after the
/// other or not.
#[test]
fn connections_in_order_use_all_of_a_cable() {
    let square = [(0, 1), (0, 2), (1, 0), (1, 3), (2, 3), (2, 0), (3, 2), (3, 1)];
    let messages: Vec<_> = square.iter().chain(&square).map(|&(from, to)| (0.0, from, to, 125_000)).collect();
    for in_order in [false, true] {
        let parameters = FlowParameters { in_order, ..Preset::Plain.into() };
        let last = run(&mut cluster16(parameters), &messages).into_iter().fold(0.0, f64::max);
        assert_close(last, 4e-3 + 45e-6);
    }
}

/// γ = 4 MiB in a round trip of 2 × 0.1 s is 20,971,520 B/s, below the link's 125 MB/s.
#[test]
fn a_window_bounds_a_long_route() {
    let cable = Cable { latency: Seconds(0.05), ..CABLE };
    let mut network = Flow::new(Arc::new(Star::new(2, cable, None)), Preset::Cm02.into());
    assert_close(run(&mut network, &[(0.0, 0, 1, 20_971_504)])[0], 1.1);
}

/// Messages that end at one instant are delivered in the order of injection.
#[test]
fn ties_go_by_injection() {
    let mut network = cluster16(Preset::Smpi);
    for (id, from) in [(7, 3), (5, 1), (6, 2)] {
        let transfer = Transfer::new(TransferId(id), HostId(from), HostId(0), Bytes(1000));
        network.inject(Time::ZERO, transfer);
    }
    let mut delivered = Vec::new();
    while let Some(now) = network.next_event() {
        network.advance(now, &mut delivered);
    }
    assert_eq!(delivered, [7, 5, 6].map(TransferId));
}

#[test]
fn links_know_what_they_carried() {
    let mut network = cluster16(Preset::Smpi);
    run(&mut network, &[(0.0, 0, 2, 10), (0.0, 1, 2, 20), (1.0, 0, 2, 30)]);
    let star = Star::new(16, CABLE, None);
    let loads = network.link_loads();
    let load = |name: &str| {
        let link = (0..32).map(LinkId).find(|&link| star.link_name(link) == name).unwrap();
        (loads[link.index()].bytes.0, loads[link.index()].messages)
    };
    assert_eq!([load("node-0 up"), load("node-1 up"), load("node-2 down")], [(40, 2), (20, 1), (60, 3)]);
    assert_eq!(load("node-2 up"), (0, 0), "acknowledgements are no payload");
}

fn any_topology() -> impl Strategy<Value = Arc<dyn Topology>> {
    let backbone = Link { bandwidth: 2.5e8, latency: Seconds(15e-6), sharing: Sharing::Shared };
    let stages = [Stage { down: 3, up: 1, count: 1 }, Stage { down: 3, up: 2, count: 2 }];
    prop::sample::select(vec![
        Arc::new(Star::new(9, CABLE, Some(backbone))) as Arc<dyn Topology>,
        Arc::new(Star::new(9, Cable { duplex: Duplex::Half, ..CABLE }, None)),
        Arc::new(Grid::torus(&[3, 3], CABLE)),
        Arc::new(Grid::mesh(&[3, 3], CABLE)),
        Arc::new(FatTree::new(&stages, CABLE)),
        Arc::new(FatTree::new(&stages, CABLE).choosing(PortChoice { ascent: Ascent::Adaptive, seed: 0 })),
    ])
}

proptest! {
    /// Every message is delivered, once, when the reference says so; and the same again to the last bit.
    #[test]
    fn agrees_with_the_reference(
        topology in any_topology(),
        preset in prop::sample::select(vec![Preset::Smpi, Preset::Cm02, Preset::Lv08]),
        messages in prop::collection::vec(
            (prop_oneof![Just(0.0), 0.0..0.01], 0_u32..9, 1_u32..9, prop_oneof![Just(100_000), 0_u64..1_000_000]), 1..30),
    ) {
        let parameters = FlowParameters::from(preset);
        let messages: Vec<_> = messages
            .into_iter()
            .map(|(start, from, hop, bytes)| (Time::from_seconds(Seconds(start)).seconds().0, from, (from + hop) % 9, bytes))
            .collect();
        let found = run(&mut Flow::new(Arc::clone(&topology), parameters.clone()), &messages);
        let again = run(&mut Flow::new(Arc::clone(&topology), parameters.clone()), &messages);
        prop_assert_eq!(&found, &again);

        let capacities: Vec<f64> = topology.links().iter().map(|link| link.bandwidth).collect();
        let reference: Vec<_> = messages
            .iter()
            .map(|&(start, from, to, bytes)| {
                let (ends, mut paths) = ((HostId(from), HostId(to)), Paths::default());
                paths.find(&*topology, RoutePeriod::default(), ends);
                let mut cost = RouteCost::default();
                let state =
                    NetworkState { topology: &*topology, links: topology.links(), period: RoutePeriod::default() };
                cost.compute(&state, &parameters, ends, &paths, None);
                let size = Bytes(bytes + 16);
                reference::ReferenceMessage {
                    start,
                    latency: cost.latency * parameters.latency_factor.at(size),
                    demand: cost.demand,
                    bytes: size.0 as f64,
                    factor: parameters.bandwidth_factor.at(size),
                }
            })
            .collect();
        for (found, expected) in found.into_iter().zip(reference::deliveries(&capacities, &reference)) {
            prop_assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        }
    }
}

/// A single message takes the time that the model predicts, with any preset.
#[test]
fn a_message_alone_takes_its_unloaded_time() {
    for preset in [Preset::Smpi, Preset::Cm02, Preset::Lv08, Preset::Plain] {
        for (from, to, bytes) in [(0, 1, 0), (0, 1, 1_000_000), (3, 3, 5000), (2, 9, 70_000)] {
            let mut network = cluster16(preset);
            let (from_host, to_host, id) = (HostId(from), HostId(to), TransferId(0));
            let transfer = Transfer::new(id, from_host, to_host, Bytes(bytes));
            let Unloaded { latency, transfer } = network.unloaded(&transfer);
            assert_eq!(network.link_loads().iter().map(|load| load.messages).sum::<u64>(), 0, "to ask is no load");
            assert_close(1.0 + run(&mut network, &[(0.0, from, to, bytes)])[0], 1.0 + latency.0 + transfer.0);
        }
    }
}

/// A topology, some of whose links change.
#[derive(Debug)]
struct Changing {
    inner: Box<dyn Topology>,
    changes: Vec<LinkChange>,
}

impl Topology for Changing {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn hosts(&self) -> u32 {
        self.inner.hosts()
    }

    fn links(&self) -> &[Link] {
        self.inner.links()
    }

    fn changes(&self) -> &[LinkChange] {
        &self.changes
    }

    fn link_name(&self, link: LinkId) -> String {
        self.inner.link_name(link)
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.inner.route(from, to, route);
    }
}

fn steps(initial: f64, steps: &[(f64, f64)], period: Option<f64>) -> StepFunction {
    let at = |seconds| Time::from_seconds(Seconds(seconds));
    let steps: Vec<_> = steps.iter().map(|&(seconds, value)| (at(seconds), value)).collect();
    StepFunction::new(initial, &steps, period.map(at)).unwrap()
}

/// Hosts with cables of 125 MB/s and no latency, of which the cable that host 0 sends over changes.
fn changing(bandwidth: Option<StepFunction>, latency: Option<StepFunction>) -> Box<dyn Network> {
    let star = Star::new(16, Cable { latency: Seconds(0.0), ..CABLE }, None);
    let mut route = Vec::new();
    star.route(HostId(0), HostId(1), &mut route);
    let changes = vec![LinkChange { link: route[0], bandwidth, latency }];
    Box::new(Flow::new(Arc::new(Changing { inner: Box::new(star), changes }), Preset::Plain.into()))
}

/// 250 MB: 125 MB in the first second, and the rest at half of that, in two.
#[test]
fn a_message_goes_on_at_the_new_bandwidth() {
    let mut network = changing(Some(steps(1.25e8, &[(1.0, 6.25e7)], None)), None);
    assert_eq!(run(&mut *network, &[(0.0, 0, 1, 250_000_000)]), [3.0]);
}

/// The link from node 0 to node 1 of a ring fails after 1 s, and has half of its bandwidth after 2 s. A message of 375 MB,
/// sent before, takes 2 s for 250 MB and 2 s for the rest. A message of 125 MB, sent later on the same connection, waits for
/// the first one, and then takes 1 s over the three other links.
#[test]
fn a_message_keeps_its_failed_route_when_a_link_of_this_route_changes() {
    let ring = Grid::torus(&[4], Cable { latency: Seconds(0.0), ..CABLE });
    let graph = ring.router_graph().unwrap();
    let mut route = Vec::new();
    ring.route(HostId(0), HostId(1), &mut route);
    let at = Time::from_seconds(Seconds(1.0));
    let links = BTreeSet::from([route[0]]);
    let failure = Failure { name: "it".into(), links, routers: BTreeSet::new(), at, until: Time::NEVER };
    let changes =
        vec![LinkChange { link: route[0], bandwidth: Some(steps(1.25e8, &[(2.0, 6.25e7)], None)), latency: None }];
    let changing = Changing { inner: Box::new(ring), changes };
    let topology = WithFailures::new(Arc::new(changing), &graph, vec![failure]);
    let mut network = Flow::new(Arc::new(topology), Preset::Plain.into());
    assert_eq!(run(&mut network, &[(0.0, 0, 1, 375_000_000), (1.5, 0, 1, 125_000_000)]), [4.0, 5.0]);
    let loads = network.link_loads();
    assert_eq!(loads[route[0].index()], LinkLoad { bytes: Bytes(375_000_000), messages: 1 });
    assert_eq!(loads.iter().map(|load| load.bytes.0).sum::<u64>(), 375_000_000 + 3 * 125_000_000);
}

/// Of each 2 s, the cable has 125 MB/s for one and a quarter of that for the other: 625 MB in four times 2 s.
#[test]
fn a_link_changes_again_and_again() {
    let mut network = changing(Some(steps(1.25e8, &[(1.0, 3.125e7), (2.0, 1.25e8)], Some(2.0))), None);
    assert_eq!(run(&mut *network, &[(0.0, 0, 1, 625_000_000)]), [8.0]);
}

/// Two messages to one host share its cable. When the first one's own cable has only a tenth of it, the other has the rest.
#[test]
fn others_have_what_a_slower_link_leaves() {
    let mut network = changing(Some(steps(1.25e8, &[(1.0, 1.25e7)], None)), None);
    let found = run(&mut *network, &[(0.0, 0, 2, 75_000_000), (0.0, 1, 2, 175_000_000)]);
    assert_close(found[0], 2.0);
    assert_close(found[1], 2.0);
}

/// A message keeps the bound of the link as it was when it was sent (as in SimGrid); a later one has all that there is then.
#[test]
fn a_message_is_bounded_by_the_links_of_its_beginning() {
    let mut network = changing(Some(steps(1.25e8, &[(0.5, 6.25e7), (2.0, 1.25e8)], None)), None);
    let found = run(&mut *network, &[(1.0, 0, 1, 125_000_000), (4.0, 0, 1, 125_000_000)]);
    assert_eq!(found, [3.0, 5.0]);
}

/// The latency of a message is that of its beginning; a change while nothing is under way is no event.
#[test]
fn messages_after_a_change_have_the_new_latency() {
    let mut network = changing(None, Some(steps(0.0, &[(0.5, 0.25), (20.0, 1.0)], None)));
    let found = run(&mut *network, &[(0.0, 0, 1, 125_000_000), (5.0, 0, 1, 125_000_000), (30.0, 0, 1, 125_000_000)]);
    assert_eq!(found, [1.0, 6.25, 32.0]);
    assert_eq!(network.next_event(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Links that become others for an instant change nothing, whatever is under way then.
    #[test]
    fn a_change_back_at_once_changes_nothing(
        messages in proptest::collection::vec((0..50_u32, 0..16_u32, 0..15_u32, 1..2_000_000_u64), 1..60),
        times in proptest::collection::btree_set(1..100_u32, 1..8),
    ) {
        let other = |from: u32, to: u32| to + u32::from(to >= from);
        let messages: Vec<_> = messages
            .into_iter()
            .map(|(at, from, to, bytes)| (f64::from(at) * 1e-3, from, other(from, to), bytes))
            .collect();
        let backbone = Link { bandwidth: 2.5e8, latency: Seconds(1e-6), sharing: Sharing::Shared };
        let star = || Star::new(16, CABLE, Some(backbone));
        let changes = (0..).map(LinkId).zip(star().links().to_vec()).map(|(link, Link { bandwidth, .. })| {
            let at = |at: &u32| f64::from(*at) * 1e-3 + 0.5e-3;
            let there_and_back = |at| [(at, bandwidth * 0.5), (at + 1e-12, bandwidth)];
            let bandwidth = steps(bandwidth, &times.iter().map(at).flat_map(there_and_back).collect::<Vec<_>>(), None);
            LinkChange { link, bandwidth: Some(bandwidth), latency: None }
        });
        let topology = Arc::new(Changing { changes: changes.collect(), inner: Box::new(star()) });
        let parameters = FlowParameters { in_order: false, crosstraffic: 0.05, ..Preset::Plain.into() };
        let changing = run(&mut Flow::new(topology, parameters.clone()), &messages);
        let steady = run(&mut Flow::new(Arc::new(star()), parameters), &messages);
        for (one, other) in changing.iter().zip(&steady) {
            prop_assert!((one - other).abs() <= 1e-9, "{one} instead of {other}");
        }
    }
}
