//! The dependences that a send waits for: none, earlier receives, or earlier receives and computation.

use std::path::Path;

use titr_platform::Platform;
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::{Causality, Core};
use titr_simulation::replay::{Options, Outcome, replay};
use titr_test_machine::events;
use titr_workload::Workload;

const ALL: [Causality; 3] = [Causality::None, Causality::Causal, Causality::Timed];

/// A trace on the 64 hosts of `examples/packet.toml`, where a cycle is 3.2 ns.
fn outcome(overrides: &[&str], causality: Causality, ranks: u32, trace: &str) -> Outcome<Breakdown> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/packet.toml");
    let overrides: Vec<String> =
        ["hosts.speed=2.5 Ginstr/s"].iter().chain(overrides).map(ToString::to_string).collect();
    let platform = Platform::load(&path, &overrides).unwrap();
    let core = |host| Core::on(&platform, host);
    let cores = platform.place(ranks).unwrap().0.into_iter().map(core).collect();
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let mut network = platform.network(0);
    let options = Options { causality, ..Options::default() };
    replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(ranks), options).unwrap()
}

fn nanoseconds(overrides: &[&str], causality: Causality, ranks: u32, trace: &str) -> f64 {
    outcome(overrides, causality, ranks, trace).simulated_time.0 as f64 / 1000.0
}

/// Two messages of 1000 bytes, the second an answer to the first, and work, sleep and the overhead of each send, 1.6 µs
/// of each, before it.
#[test]
fn an_answer_waits_for_the_question_and_for_work() {
    let trace = "0 send 1 0 1000\n0 recv 1 0 1000\n1 recv 0 0 1000\n1 compute 4000\n1 sleep 0.0000016\n1 send 0 0 1000";
    let overhead = "mpi.send_overhead=[[0, 0.0000016, 0.0]]";
    // Over one link of 1.25 GB/s without latency; in packets, 1 + 1 + 16 · 16 cycles of 3.2 ns.
    for (model, message) in [("ideal", 800.0), ("packet", 825.6)] {
        let overrides = [overhead, &format!("network.model={model}"), "network.latency=0 s"];
        let times = ALL.map(|causality| nanoseconds(&overrides, causality, 2, trace));
        assert_eq!(times, [message, 2.0 * message, 2.0 * message + 6400.0], "{model}");
    }
    let flow = [overhead, "network.model=flow", "network.latency=0 s"];
    let [none, causal, timed] = ALL.map(|causality| nanoseconds(&flow, causality, 2, trace));
    // Messages that pass each other slow each other down a little.
    assert!(causal / 2.0 <= none && none < 0.55 * causal, "{none} {causal}");
    assert!((causal + 6400.0 - timed).abs() < 1e-6, "{causal} {timed}");
}

/// A thousand messages of a packet each, which is more than a rank may have under way: they leave the host back to back.
#[test]
fn who_waits_for_nothing_sends_as_fast_as_the_network_takes_it() {
    let send = "0 send 1 0 64\n0 recv 1 0 64\n";
    let answer = "1 recv 0 0 64\n1 send 0 0 64\n";
    let time = nanoseconds(&[], Causality::None, 2, &(send.repeat(1000) + &answer.repeat(1000)));
    assert_eq!(time, (1.0 + 1.0 + 16.0 * 1000.0) * 3.2);
}

/// Of whatever kind its sends are: blocking, with a request that is waited for or freed, persistent, in collectives.
#[test]
fn every_message_is_sent_whatever_waits_for_it() {
    let mut trace = String::new();
    for rank in 0..8 {
        let (after, before) = ((rank + 1) % 8, (rank + 7) % 8);
        for _ in 0..300 {
            trace += &format!("{rank} isend {after} 0 70000\n{rank} wait {rank} {after} 0\n");
            trace += &format!("{rank} irecv {before} 0 70000\n{rank} wait {before} {rank} 0\n{rank} barrier\n");
        }
        trace += &format!("{rank} probe {before} 9 1\n{rank} recv {before} 9 1\n{rank} send {after} 9 1\n");
    }
    for model in ["packet", "flow", "ideal"] {
        let overrides = [&format!("network.model={model}"), "network.latency=1 us"];
        // All wait for each other in the end, so that only this one ends.
        let outcome = outcome(&overrides, Causality::None, 8, &trace);
        assert_eq!(outcome.messages, 8 * (300 + 300 * 3 + 1), "{model}");
        assert_eq!(outcome.events, 8 * (300 * 5 + 3));
        assert_eq!(outcome.warnings, Vec::<String>::new());
        let finish = outcome.observer.per_rank().map(|shares| shares.finish.0).fold(0.0, f64::max);
        assert_eq!(finish, outcome.simulated_time.seconds().0);
    }
}
