//! Traces on the routers of `examples/packet.toml`, in cycles computed by hand.
//!
//! A message of P packets over h channels without contention takes 1 + h + 16 P cycles: one to the router, one per
//! channel for the first header, and 16 per packet for the tails to be consumed one after the other.

use std::fmt::Write;
use std::path::Path;

use crate::packet_links::file;
use titr_network::topology::HostId;
use titr_platform::Platform;
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, Outcome, replay};
use titr_test_machine::events;
use titr_workload::Workload;

/// Picoseconds: 4 bytes at 10 Gbit/s.
const CYCLE: u64 = 3200;

fn machine(overrides: &[&str]) -> Platform {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/packet.toml");
    let overrides = ["hosts.speed=2.5 Ginstr/s"].iter().chain(overrides).map(ToString::to_string).collect::<Vec<_>>();
    Platform::load(&path, &overrides).unwrap()
}

/// Two switches of 4 hosts with two cores each.
fn tree(overrides: &[&str]) -> Platform {
    let folder = tempfile::tempdir().unwrap();
    let path = file(
        &folder,
        "tree.toml",
        "schema = 1\nhosts.speed = \"1 Ginstr/s\"\nhosts.cores = 2\ntopology.xgft = { m = [4, 2], w = [1, 1] }\n\
         network.model = \"packet\"\nnetwork.bandwidth = \"10 Gbit/s\"\n",
    );
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Platform::load(&path, &overrides).unwrap()
}

fn outcome(platform: &Platform, ranks: u32, trace: &str) -> Outcome<Breakdown> {
    let core = |host| Core::on(platform, host);
    let cores = platform.place(ranks).unwrap().0.into_iter().map(core).collect();
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let mut network = platform.network(0);
    replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(ranks), Options::default()).unwrap()
}

/// How many cycles a trace takes.
fn cycles(platform: &Platform, ranks: u32, trace: &str) -> u64 {
    let time = outcome(platform, ranks, trace).simulated_time.0;
    assert_eq!(time % CYCLE, 0, "{time} ps are no whole number of cycles");
    time / CYCLE
}

fn alone(channels: u64, packets: u64) -> u64 {
    1 + channels + 16 * packets
}

/// Steps from host to host in a torus of 8 × 8.
fn distance(from: HostId, to: HostId) -> u64 {
    let along = |from: u32, to: u32| u64::from(from.abs_diff(to).min(8 - from.abs_diff(to)));
    along(from.0 % 8, to.0 % 8) + along(from.0 / 8, to.0 / 8)
}

/// Of 64 hosts two have a rank.
#[test]
fn a_ping_pong_is_as_often_one_message_alone() {
    let rounds = 5;
    for (bytes, packets) in [(0, 1), (1, 1), (64, 1), (65, 2), (1000, 16), (200_000, 3125)] {
        let ping = format!("0 send 1 0 {bytes}\n0 recv 1 0 {bytes}\n1 recv 0 0 {bytes}\n1 send 0 0 {bytes}\n");
        assert_eq!(
            cycles(&machine(&[]), 2, &ping.repeat(rounds)),
            2 * rounds as u64 * alone(1, packets),
            "{bytes} bytes"
        );
    }
}

#[test]
fn a_header_takes_its_part_of_each_packet() {
    let trace = "0 send 1 0 120\n1 recv 0 0 120";
    for (header, packets) in [("0 B", 2), ("4 B", 2), ("8 B", 3)] {
        let platform = machine(&[&format!("network.packet.header={header}")]);
        assert_eq!(cycles(&platform, 2, trace), alone(1, packets), "{header}");
    }
}

/// Four hosts on one switch, in titr's words, in SimGrid's, and with each link and route by name. A message alone goes over
/// both cables at a phit a cycle; three that meet at one host's cable take as long as one of three times the size.
#[test]
fn stars_of_every_kind_are_one_switch() {
    let folder = tempfile::tempdir().unwrap();
    let star = file(
        &folder,
        "star.toml",
        "schema = 1\nhosts = { count = 4, speed = \"1 Ginstr/s\" }\ntopology.star = {}\n\
         network = { model = \"packet\", bandwidth = \"10 Gbit/s\" }\nmpi.eager_transfer = \"at-once\"\n",
    );
    let cluster = file(
        &folder,
        "cluster.xml",
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\
         <cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"10Gbps\" lat=\"0s\"/></platform>",
    );
    let (mut links, mut routes, mut hosts) = (String::new(), String::new(), String::new());
    for host in 0..4 {
        writeln!(hosts, "<host id=\"h{host}\" speed=\"1Gf\"/>").unwrap();
        writeln!(links, "<link id=\"l{host}\" bandwidth=\"10Gbps\" latency=\"0s\" sharing_policy=\"SPLITDUPLEX\"/>")
            .unwrap();
        writeln!(routes, "<route src=\"h{host}\" dst=\"switch\"><link_ctn id=\"l{host}\" direction=\"UP\"/></route>")
            .unwrap();
    }
    let zone = file(
        &folder,
        "zone.xml",
        &format!(
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\
             <zone id=\"z\" routing=\"Floyd\">{hosts}<router id=\"switch\"/>{links}{routes}</zone></platform>"
        ),
    );
    for path in [star, cluster, zone] {
        let overrides = ["network.model=packet", "mpi.eager_transfer=at-once"].map(str::to_owned);
        let platform = Platform::load(&path, &overrides).unwrap();
        let one = "0 send 3 0 640\n3 recv 0 0 640\n";
        assert_eq!(cycles(&platform, 4, one), alone(0, 10), "{}", path.display());
        let three =
            (0..3).fold(String::new(), |trace, from| trace + &format!("{from} send 3 0 640\n3 recv {from} 0 640\n"));
        assert_eq!(cycles(&platform, 4, &three), alone(0, 30), "{}", path.display());
    }
}

/// A token goes from rank to rank and back to the first.
fn ring(ranks: u32, bytes: u64) -> String {
    let mut trace = String::new();
    for rank in 0..ranks {
        let (before, after) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        let (send, recv) = (format!("{rank} send {after} 0 {bytes}\n"), format!("{rank} recv {before} 0 {bytes}\n"));
        trace += &if rank == 0 { send + &recv } else { recv + &send };
    }
    trace
}

/// With one rank a host and with several, in order, in turn and at random. Within a host, 150 bytes take 12 cycles: 32 ns, and
/// 6.4 ns at 23.4375 GB/s.
#[test]
fn a_ring_is_the_sum_of_its_steps() {
    let placements: [&[&str]; 5] = [
        &[],
        &["hosts.cores=2"],
        &["hosts.cores=4", "placement.policy=round-robin"],
        &["placement.policy=random", "placement.seed=7"],
        &["hosts.cores=3", "placement.policy=random", "placement.seed=7"],
    ];
    for overrides in placements {
        let memory = ["network.loopback.latency=32 ns", "network.loopback.bandwidth=23.4375 GB/s"];
        let platform = machine(&[&memory, overrides].concat());
        for ranks in [3, 64] {
            let hosts = platform.place(ranks).unwrap().0;
            let nexts = hosts.iter().cycle().skip(1);
            let step = |from, to| if from == to { 12 } else { alone(distance(from, to), 3) };
            let expected: u64 = hosts.iter().zip(nexts).map(|(&from, &to)| step(from, to)).sum();
            assert_eq!(cycles(&platform, ranks, &ring(ranks, 150)), expected, "{ranks} ranks, {overrides:?}");
        }
    }
}

/// All send at once, one step along the rows: nothing is in anybody's way.
#[test]
fn neighbours_do_not_disturb_each_other() {
    let mut trace = String::new();
    for rank in 0..64 {
        let row = rank / 8 * 8;
        let (after, before) = (row + (rank + 1) % 8, row + (rank + 7) % 8);
        writeln!(trace, "{rank} isend {after} 0 640\n{rank} recv {before} 0 640\n{rank} wait {rank} {after} 0")
            .unwrap();
    }
    assert_eq!(cycles(&machine(&[]), 64, &trace), alone(1, 10));
}

/// Over the host's own memory: 100 ns, and 640 bytes at 4 GB/s. Or, where hosts hang by cables, to the switch and back.
#[test]
fn a_message_to_oneself_or_a_rank_beside() {
    let own = ["network.loopback.bandwidth=4 GB/s", "network.loopback.latency=100 ns"];
    let beside = "0 send 1 0 640\n1 recv 0 0 640";
    let oneself = "0 isend 0 0 640\n0 recv 0 0 640\n0 wait 0 0 0\n1 init";
    for trace in [beside, oneself] {
        let platform = machine(&[&own, &["hosts.cores=2"][..]].concat());
        assert_eq!(outcome(&platform, 2, trace).simulated_time.0, 100_000 + 160_000);
        assert_eq!(cycles(&tree(&["network.loopback.through=switch"]), 2, trace), alone(0, 10));
    }
}

/// A receiver that computes for 10,000 cycles first: a message below the threshold arrives meanwhile, one from there on sets
/// out then.
#[test]
fn small_messages_are_eager_and_large_ones_wait() {
    let instructions = 10_000.0 * CYCLE as f64 * 1e-12 * 2.5e9;
    let trace = format!("0 send 1 0 6400\n1 compute {instructions}\n1 recv 0 0 6400");
    let time = |threshold: &str| cycles(&machine(&[&format!("mpi.eager_threshold={threshold}")]), 2, &trace);
    assert_eq!(time("6401 B"), 10_000);
    assert_eq!(time("6400 B"), 10_000 + alone(1, 100));
}

/// A broadcast between two is a message, and an all-to-all between four on one row one of each to each.
#[test]
fn collectives_are_their_messages() {
    let bcast = "0 bcast 640 0\n1 bcast 640 0";
    assert_eq!(cycles(&machine(&[]), 2, bcast), alone(1, 10));
    let barrier: String = (0..64).map(|rank| format!("{rank} barrier\n")).collect();
    let outcome = outcome(&machine(&[]), 64, &barrier);
    assert_eq!(outcome.messages, 64 * 6);
}
