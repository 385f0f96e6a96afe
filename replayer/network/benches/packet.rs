//! How many phits a second routers pass on, by how they route, below and above saturation.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::sync::Arc;

use divan::counter::ItemsCount;
use titr_common::units::{Bytes, Seconds};
use titr_network::packet::{Ascent, Design, Parameters, Routing};
use titr_network::topology::{Cable, Dragonfly, Duplex, FatTree, Grid, Routing as Faithful, Shape, Stage, Topology};
use titr_network::traffic::{Demand, Destinations, Pattern, Plan, Sizes, measure};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

fn main() {
    divan::main();
}

fn run(bencher: divan::Bencher, topology: Arc<dyn Topology>, parameters: Parameters, load: f64) {
    let design = Design::new(topology.fabric().unwrap(), parameters).unwrap();
    let plan = Plan {
        destinations: Destinations::new(Pattern::Uniform, topology.hosts(), None).unwrap(),
        sizes: Sizes::Range(Bytes(64), Bytes(64)),
        warmup: 500,
        cycles: 4000,
        runs: 1,
    };
    let hops = measure(&design, &plan, Demand::Load(load)).phit_hops;
    bencher.counter(ItemsCount::new(hops)).bench_local(|| measure(&design, &plan, Demand::Load(load)));
}

#[divan::bench(args = [0.2, 0.9])]
fn dimension_order(bencher: divan::Bencher, load: f64) {
    run(bencher, Arc::new(Grid::torus(&[16, 16], CABLE)), Parameters::default(), load);
}

#[divan::bench(args = [0.2, 0.9])]
fn adaptive(bencher: divan::Bencher, load: f64) {
    let parameters = Parameters { routing: Routing::Adaptive, virtual_channels: 3, ..Parameters::default() };
    run(bencher, Arc::new(Grid::torus(&[8, 8, 8], CABLE)), parameters, load);
}

#[divan::bench(args = [0.2, 0.9])]
fn output_queues(bencher: divan::Bencher, load: f64) {
    let parameters = Parameters { virtual_channels: 2, output_queue: 2, ..Parameters::default() };
    run(bencher, Arc::new(Grid::torus(&[16, 16], CABLE)), parameters, load);
}

#[divan::bench(args = [0.2, 0.9])]
fn tree(bencher: divan::Bencher, load: f64) {
    let stages = [(8, 1), (8, 8), (4, 8)].map(|(down, up)| Stage { down, up, count: 1 });
    let parameters = Parameters { routing: Routing::UpDown(Ascent::Adaptive), ..Parameters::default() };
    run(bencher, Arc::new(FatTree::new(&stages, CABLE)), parameters, load);
}

#[divan::bench(args = [0.2, 0.9])]
fn dragonfly(bencher: divan::Bencher, load: f64) {
    let shape = Shape { groups: 8, chassis: 2, blades: 8, nodes: 2, green: 1, black: 1, blue: 2 };
    let parameters = Parameters { routing: Routing::Minimal, virtual_channels: 2, ..Parameters::default() };
    run(bencher, Arc::new(Dragonfly::new(shape, Faithful::Minimal, CABLE)), parameters, load);
}
