//! Messages per second that the flow model carries, by how they contend for links.

use std::sync::Arc;

use divan::counter::ItemsCount;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::flow::{Flow, Preset};
use titr_network::topology::{Cable, Duplex, Grid, HostId, Link, Sharing, Star, Topology};
use titr_network::{Network, Transfer, TransferId};

const CABLE: Cable = Cable { bandwidth: 1.25e8, latency: Seconds(15e-6), duplex: Duplex::Full };

fn main() {
    divan::main();
}

fn cluster(hosts: u32) -> Arc<dyn Topology> {
    let backbone = Link { bandwidth: 1.25e9, latency: Seconds(15e-6), sharing: Sharing::Shared };
    Arc::new(Star::new(hosts, CABLE, Some(backbone)))
}

fn torus(sizes: &[u32]) -> Arc<dyn Topology> {
    Arc::new(Grid::torus(sizes, CABLE))
}

/// Keeps `streams` messages in transit, each followed at once by the next of its stream, until there were `total`.
/// `ends` gives the hosts of the nth message of a stream.
fn stream(topology: &Arc<dyn Topology>, streams: u32, total: u32, bytes: u64, ends: impl Fn(u32, u32) -> (u32, u32)) {
    let mut network = Flow::new(Arc::clone(topology), Preset::Smpi.into());
    let mut sent = vec![0; streams as usize];
    let mut inject = |network: &mut Flow, now, stream: u32| {
        let (from, to) = ends(stream, sent[stream as usize]);
        sent[stream as usize] += 1;
        let transfer = Transfer::new(TransferId(stream), HostId(from), HostId(to), Bytes(bytes));
        network.inject(now, transfer);
    };
    for stream in 0..streams {
        inject(&mut network, Time::ZERO, stream);
    }
    let mut injected = streams;
    let mut delivered = Vec::new();
    while let Some(now) = network.next_event() {
        network.advance(now, &mut delivered);
        for TransferId(stream) in delivered.drain(..) {
            if injected < total {
                inject(&mut network, now, stream);
                injected += 1;
            }
        }
    }
}

/// A wavefront's messages: small, one or two at a time.
#[divan::bench(args = [1, 8])]
fn wavefront(bencher: divan::Bencher, streams: u32) {
    let topology = cluster(64);
    bencher.counter(ItemsCount::new(100_000_u32)).bench(|| {
        stream(&topology, streams, 100_000, 200, |stream, sent| {
            let from = (stream * 8 + sent) % 64;
            (from, (from + 1) % 64)
        });
    });
}

/// Each host sends to its neighbour while it receives from the other.
#[divan::bench(args = [64, 1024])]
fn ring(bencher: divan::Bencher, hosts: u32) {
    let topology = torus(&[8, hosts / 8]);
    bencher.counter(ItemsCount::new(50_000_u32)).bench(|| {
        stream(&topology, hosts, 50_000, 10_000, |stream, sent| (stream, (stream + 1 + sent % 2) % hosts));
    });
}

/// Each host sends to all others in turn, starting with its successor.
#[divan::bench(args = [16, 64, 256])]
fn all_to_all_on_a_cluster(bencher: divan::Bencher, hosts: u32) {
    let topology = cluster(hosts);
    bencher.counter(ItemsCount::new(20_000_u32)).bench(|| {
        stream(&topology, hosts, 20_000, 100_000, |stream, sent| (stream, (stream + 1 + sent % (hosts - 1)) % hosts));
    });
}

/// The same on a torus, where routes overlap.
#[divan::bench(args = [16, 64, 256])]
fn all_to_all_on_a_torus(bencher: divan::Bencher, hosts: u32) {
    let topology = torus(&[4, hosts / 4]);
    bencher.counter(ItemsCount::new(5_000_u32)).bench(|| {
        stream(&topology, hosts, 5_000, 100_000, |stream, sent| (stream, (stream + 1 + sent % (hosts - 1)) % hosts));
    });
}

/// Each host sends to all others at once.
#[divan::bench(args = [16, 64, 128])]
fn flood_on_a_torus(bencher: divan::Bencher, hosts: u32) {
    let topology = torus(&[4, hosts / 4]);
    let pairs = hosts * (hosts - 1);
    bencher.counter(ItemsCount::new(pairs)).bench(|| {
        stream(&topology, pairs, pairs, 100_000, |stream, _| {
            let (from, hop) = (stream / (hosts - 1), stream % (hosts - 1) + 1);
            (from, (from + hop) % hosts)
        });
    });
}
