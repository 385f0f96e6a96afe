//! The platforms in `examples/` have their intended meaning.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use titr_common::time::Time;
use titr_common::units::{Bytes, Instructions, Seconds, Speed};
use titr_network::topology::HostId;
use titr_network::{Network, Transfer, TransferId};
use titr_platform::{EagerTransfer, Platform};

fn example(name: &str, overrides: &[&str]) -> Platform {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Platform::load(&path, &overrides).unwrap()
}

/// When the only message arrives.
fn alone(network: &mut dyn Network, from: u32, to: u32, bytes: u64) -> f64 {
    let transfer = Transfer::new(TransferId(0), HostId(from), HostId(to), Bytes(bytes));
    network.inject(Time::ZERO, transfer);
    let mut delivered = Vec::new();
    while delivered.is_empty() {
        let now = network.next_event().unwrap();
        network.advance(now, &mut delivered);
        if !delivered.is_empty() {
            return now.seconds().0;
        }
    }
    unreachable!("the message never arrives")
}

#[test]
fn torus() {
    let platform = example("torus.toml", &[]);
    assert_eq!(platform.topology.name(), "torus 4×4×4");
    assert_eq!((platform.topology.hosts(), platform.cores), (64, 4));
    assert_eq!(
        platform.speed(HostId(63)).for_recorded(Speed { per_second: 2.5e9 }).time_for(Instructions(5e9)),
        Seconds(2.0)
    );
    assert_eq!(platform.place(256).unwrap().0[255], HostId(63));
    assert!(platform.place(257).is_err());
}

#[test]
fn fat_tree() {
    let platform = example("fat-tree.toml", &[]);
    assert_eq!(platform.topology.name(), "fat-tree, 2 levels, 8×8, 1:1");
    assert_eq!((platform.topology.hosts(), platform.cores), (64, 4));
}

#[test]
fn dragonfly() {
    let platform = example("dragonfly.toml", &[]);
    assert_eq!(platform.topology.name(), "dragonfly of 4 groups × 3 chassis × 4 blades × 3 nodes");
    assert_eq!((platform.topology.hosts(), platform.cores), (144, 4));
    // By seven links: neither blade has the blue link, and neither chassis is the first of its group.
    let mut ideal = example("dragonfly.toml", &["network.model=ideal"]).network(0);
    let seconds = alone(&mut *ideal, 4 * 3 * 2 + 6, 36 + 4 * 3 * 2 + 9, 1_250_000);
    assert!((seconds - (7.0 * 1e-6 + 1e-3)).abs() < 1e-7, "{seconds}");
}

#[test]
fn canonical_dragonfly() {
    let platform = example("canonical-dragonfly.toml", &[]);
    assert_eq!(platform.topology.name(), "dragonfly of 9 groups × 4 routers × 2 hosts, 2 global links a router");
    for routing in ["minimal", "valiant", "ugal-g", "par"] {
        example("canonical-dragonfly.toml", &[&format!("network.packet.routing={routing}")]);
    }
}

/// A message to another leaf passes four cables, and gets 10 of the 20 Gbit/s that the middle ones have.
#[test]
fn graph() {
    let platform = example("graph.toml", &[]);
    assert_eq!(platform.topology.name(), "graph of 5 routers and 6 hosts");
    assert_eq!((platform.topology.host_name(HostId(4)), platform.cores), ("node5".to_owned(), 4));
    let seconds = alone(&mut *platform.network(0), 0, 5, 1_250_000);
    assert!((seconds - (4.0 * 1e-6 + 1e-3)).abs() < 1e-7, "{seconds}");
    example("graph.toml", &["network.model=packet"]);
}

/// The cluster of the paper, where SimGrid 3.32 gives these times.
#[test]
fn cluster16() {
    let platform = example("cluster16.toml", &[]);
    assert_eq!(platform.mpi.eager_transfer, EagerTransfer::OnMatch);
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    close(alone(&mut *platform.network(0), 0, 1, 1_000_000), 0.009_028_457_617);
    close(alone(&mut *platform.network(0), 0, 1, 1000), 0.000_111_530_485);
    let plain = example("cluster16.toml", &["network.flow.preset=cm02"]);
    close(alone(&mut *plain.network(0), 0, 1, 1000), 0.000_053_128);
    let ideal = example("cluster16.toml", &["network.model=ideal"]);
    close(alone(&mut *ideal.network(0), 0, 1, 1000), 0.000_053);
}
