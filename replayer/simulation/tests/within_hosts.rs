//! Messages within hosts and the rate of messages of cards, beside times that are computed by hand.

use std::path::Path;

use titr_common::units::{Seconds, Speed};
use titr_network::topology::HostId;
use titr_platform::Platform;
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_machine::events;
use titr_workload::Workload;

/// Two hosts of four cores in two sockets. Copies cost nothing unless a test says so.
const MACHINE: &str = r#"
schema = 1
topology = { star = {} }
hosts = { count = 2, cores = 4, speed = "1 Ginstr/s" }
network = { bandwidth = "1 GB/s", latency = "1 us" }
node.cache = "1 MB"
node.memory = "4 GB/s"
node.send_overhead = []
node.recv_overhead = []
node.level = [
    { name = "socket", cores = 2, latency = "1 us", bandwidth = "10 GB/s", shared = "15 GB/s" },
    { name = "node", latency = "3 us", bandwidth = "5 GB/s" },
]
mpi.eager_threshold = "1 GB"
"#;

/// The microseconds of a program, with four ranks on each host.
fn time(settings: &[&str], trace: &str) -> f64 {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let platform = Platform::parse(Path::new("cluster.toml"), MACHINE.to_owned(), &settings);
    let platform = platform.unwrap_or_else(|error| panic!("{error}"));
    let core = |rank: u32| {
        let mut core = Core::new(HostId(rank / 4), Speed { per_second: 1e9 });
        core.number = rank % 4;
        core
    };
    let workload = Workload::new(events(8, trace).into_iter().map(Vec::into_iter).collect());
    let cores = (0..8).map(core).collect();
    let mut network = platform.network(0);
    let outcome = replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(8), Options::default());
    let Seconds(seconds) = outcome.unwrap_or_else(|error| panic!("{error}\n{trace}")).simulated_time.seconds();
    (seconds * 1e9).round() / 1e3
}

/// A message from each of these ranks to the one after it.
fn messages(pairs: &[(u32, u32)], bytes: u32) -> String {
    let line = |&(from, to): &(u32, u32)| format!("{from} send {to} 0 {bytes}\n{to} recv {from} 0 {bytes}\n");
    pairs.iter().map(line).collect()
}

#[test]
fn a_message_takes_the_innermost_level_that_holds_both_ranks() {
    for model in ["network.model=flow", "network.model=ideal", "network.model=packet"] {
        // 100 kB at 10 and at 5 GB/s.
        assert_eq!(time(&[model], &messages(&[(0, 1)], 100_000)), 1.0 + 10.0, "{model}");
        assert_eq!(time(&[model], &messages(&[(1, 2)], 100_000)), 3.0 + 20.0, "{model}");
        assert_eq!(time(&[model], &messages(&[(6, 7)], 100_000)), 1.0 + 10.0, "{model}");
    }
    assert_eq!(time(&[], &messages(&[(3, 4)], 100_000)), 2.0 + 100.0);
}

/// Two at once have 7.5 GB/s each in one socket, and 10 GB/s in two.
#[test]
fn messages_share_the_bandwidth_of_their_part_of_the_host() {
    let exchange = "0 sendrecv 1 0 150000 1 0 150000\n1 sendrecv 0 0 150000 0 0 150000\n";
    assert_eq!(time(&[], exchange), 1.0 + 20.0);
    assert_eq!(time(&[], &messages(&[(0, 1), (2, 3)], 150_000)), 1.0 + 15.0);
    assert_eq!(time(&["network.model=ideal"], exchange), 1.0 + 15.0);
}

/// What a rank sends and what it receives: 2 MB are more than the cache.
#[test]
fn messages_of_large_buffers_share_the_memory() {
    assert_eq!(time(&[], &messages(&[(0, 1)], 400_000)), 1.0 + 40.0);
    assert_eq!(time(&[], &messages(&[(0, 1)], 1_000_000)), 1.0 + 250.0);
    assert_eq!(time(&[], &messages(&[(0, 1), (2, 3)], 1_000_000)), 1.0 + 500.0);
    assert_eq!(time(&[], &messages(&[(0, 1), (6, 7)], 1_000_000)), 1.0 + 250.0);
}

/// A copy of 100 kB takes 50 us of the sender, while the message is on its way, and of the receiver, of which 10 are over when it
/// is there.
#[test]
fn a_copy_takes_the_longer_of_the_processor_and_the_way() {
    let sends = "node.send_overhead=[[0, 0.0, 5e-10]]";
    let receives = "node.recv_overhead=[[0, 0.0, 5e-10]]";
    assert_eq!(time(&[sends], &messages(&[(0, 1)], 100_000)), 50.0);
    assert_eq!(
        time(
            &[receives, "node.level=[{ name = \"node\", latency = \"1 us\", bandwidth = \"10 GB/s\" }]"],
            &messages(&[(0, 1)], 100_000)
        ),
        1.0 + 50.0
    );
    // Messages between hosts have the costs of `[mpi]`.
    assert_eq!(time(&[sends, receives], &messages(&[(0, 4)], 100_000)), 2.0 + 100.0);
}

#[test]
fn a_card_passes_so_many_messages_a_second() {
    let rate = "network.card.messages_per_second=1e5";
    // All leave at once without a limit; the last of four waits for three others.
    let from_one = messages(&[(0, 4), (1, 5), (2, 6), (3, 7)], 0);
    let to_one = messages(&[(0, 4), (1, 4), (2, 4), (3, 4)], 0);
    for model in ["network.model=flow", "network.model=ideal"] {
        assert_eq!(time(&[model], &from_one), 2.0);
        assert_eq!(time(&[model, rate], &from_one), 2.0 + 30.0);
        assert_eq!(time(&[model, rate], &to_one), 2.0 + 30.0);
        // Each direction has the rate, and messages within a host do not pass the card.
        assert_eq!(time(&[model, rate], "0 sendrecv 4 0 0 4 0 0\n4 sendrecv 0 0 0 0 0 0\n"), 2.0);
        assert_eq!(time(&[model, rate], &messages(&[(0, 1), (2, 3)], 0)), 1.0);
    }
}

#[test]
fn a_message_between_hosts_has_the_bandwidth_of_a_process() {
    let half = "network.card.process_bandwidth='0.5 GB/s'";
    assert_eq!(time(&[half], &messages(&[(0, 4)], 100_000)), 2.0 + 200.0);
    assert_eq!(time(&[half], &messages(&[(0, 4), (1, 5)], 100_000)), 2.0 + 200.0);
}

/// Recursive doubling of two ranks: one exchange, at twice the cost of a message, and a reduction.
#[test]
fn collectives_have_costs_of_their_own() {
    let allreduce: String = (0..8).map(|rank| format!("{rank} allreduce 1000 0\n")).collect();
    let cost = [
        "mpi.collectives={ library = \"openmpi\", allreduce = [[\"0 B\", \"ring\"], [\"500 B\", \"recursive_doubling\"]] }",
        "node.recv_overhead=[[0, 1e-6, 0.0]]",
    ];
    let plain = time(&cost, &allreduce);
    let twice = time(&[cost[0], cost[1], "mpi.collective_factor.allreduce=[[\"0 B\", 2.0, 1.0]]"], &allreduce);
    // Two of the three exchanges are within a host. One microsecond each, less the 0.2 us of a kilobyte between sockets.
    assert_eq!(((twice - plain) * 10.0).round(), 18.0);
    let reduced = time(&[cost[0], cost[1], "mpi.reduction=[[0, 0.0, 1e-9]]"], &allreduce);
    assert_eq!((reduced - plain - 3.0).round(), 0.0);
}
