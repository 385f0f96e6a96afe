//! Phits per second that routers forward, by routing, below and above saturation.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::sync::Arc;

use divan::counter::ItemsCount;
use titr_common::units::{Bytes, Seconds};
use titr_network::packet::{PacketParameters, PacketSpec};
use titr_network::topology::{
    Cable, Dragonfly, Duplex, FatTree, GlobalLinks, Grid, RouteVariant, RoutingOptions, Shape, Stage, Topology,
};
use titr_network::traffic::{Arrangement, Destinations, Injection, Pattern, Plan, Sizes, measure};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

fn main() {
    divan::main();
}

fn run(bencher: divan::Bencher, topology: Arc<dyn Topology>, parameters: PacketParameters, load: f64) {
    let spec = PacketSpec::new(topology.router_graph().unwrap(), parameters).unwrap();
    let plan = Plan {
        destinations: Destinations::new(Pattern::Uniform, topology.hosts(), Arrangement::Line).unwrap(),
        sizes: Sizes::Range(Bytes(64), Bytes(64)),
        warmup: 500,
        cycles: 4000,
        runs: 1,
    };
    let hops = measure(&spec, &plan, Injection::Load(load)).phit_hops;
    bencher.counter(ItemsCount::new(hops)).bench_local(|| measure(&spec, &plan, Injection::Load(load)));
}

fn routing(name: &str) -> RoutingOptions {
    RoutingOptions { name: Some(name.parse().unwrap()), ..RoutingOptions::default() }
}

#[divan::bench(args = [0.2, 0.9])]
fn dimension_order(bencher: divan::Bencher, load: f64) {
    run(bencher, Arc::new(Grid::torus(&[16, 16], CABLE)), PacketParameters::default(), load);
}

#[divan::bench(args = [0.2, 0.9])]
fn adaptive(bencher: divan::Bencher, load: f64) {
    let parameters = PacketParameters { routing: routing("adaptive"), ..PacketParameters::default() };
    run(bencher, Arc::new(Grid::torus(&[8, 8, 8], CABLE)), parameters, load);
}

#[divan::bench(args = [0.2, 0.9])]
fn output_queues(bencher: divan::Bencher, load: f64) {
    let routing = RoutingOptions { virtual_channels: Some(2), ..RoutingOptions::default() };
    let parameters = PacketParameters { routing, output_queue: 2, ..PacketParameters::default() };
    run(bencher, Arc::new(Grid::torus(&[16, 16], CABLE)), parameters, load);
}

#[divan::bench(args = [0.2, 0.9])]
fn tree(bencher: divan::Bencher, load: f64) {
    let stages = [(8, 1), (8, 8), (4, 8)].map(|(down, up)| Stage { down, up, count: 1 });
    let parameters = PacketParameters { routing: routing("adaptive"), ..PacketParameters::default() };
    run(bencher, Arc::new(FatTree::new(&stages, CABLE)), parameters, load);
}

#[divan::bench(args = [0.2, 0.9])]
fn dragonfly(bencher: divan::Bencher, load: f64) {
    let shape =
        Shape { groups: 8, chassis: 2, blades: 8, nodes: 2, green: 1, black: 1, global: GlobalLinks::OfGroups(2) };
    run(bencher, Arc::new(Dragonfly::new(shape, RouteVariant::Minimal, CABLE)), PacketParameters::default(), load);
}

#[divan::bench(args = ["minimal", "valiant", "ugal", "ugal-g", "par"])]
fn canonical_dragonfly(bencher: divan::Bencher, name: &str) {
    let parameters = PacketParameters { routing: routing(name), ..PacketParameters::default() };
    let shape = Shape::canonical(17, 8, 2, 4);
    run(bencher, Arc::new(Dragonfly::new(shape, RouteVariant::Minimal, CABLE)), parameters, 0.2);
}
