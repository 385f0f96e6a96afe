//! One-sided communication takes as long as its messages, on every network.

use std::path::Path;

use proptest::prelude::*;
use titr_common::units::{Bytes, Speed};
use titr_network::topology::HostId;
use titr_platform::{ActiveTarget, Implementation, LockAll, OneSided, PassiveProgress, Platform};
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::{Core, ReplayError};
use titr_simulation::replay::{Options, Outcome, replay};
use titr_test_machine::events;
use titr_workload::Workload;

const NETWORKS: [&str; 3] = ["ideal", "flow", "packet"];

/// Sixteen hosts on a torus with one core each. Whatever only synchronises has as many bytes as an empty message.
fn platform(model: &str, settings: &[&str]) -> Platform {
    let text = format!(
        "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.torus]\ndims = [4, 4]\n[network]\nmodel = \"{model}\"\n\
         bandwidth = \"10 Gbit/s\"\nlatency = \"1 us\"\n[mpi.one_sided]\ncontrol = \"0 B\"\nheader = \"0 B\"\n"
    );
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    Platform::parse(Path::new("cluster.toml"), text, &settings).unwrap()
}

fn run(platform: &Platform, ranks: u32, trace: &str) -> Result<Outcome<Breakdown>, ReplayError> {
    let speed = Speed { per_second: 1e9 };
    let cores = (0..ranks).map(|host| Core::new(HostId(host), speed)).collect();
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let mut network = platform.network(0);
    replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(ranks), Options::default())
}

/// How long `trace` takes of four ranks after they have met in a barrier.
fn time(platform: &Platform, before: &str, trace: &str) -> f64 {
    let all = |text: &str| -> String { (0..4).map(|rank| format!("{rank} {text}\n")).collect() };
    let before = all(before) + &all("barrier");
    let took = |trace: &str| {
        let outcome = run(platform, 4, trace).unwrap_or_else(|error| panic!("{error}\n{trace}"));
        assert_eq!(outcome.warnings, [""; 0]);
        outcome.simulated_time.seconds().0
    };
    took(&(before.clone() + trace)) - took(&before)
}

/// Two programs that move the same bytes in the same order, one with windows and one with messages.
struct Pair {
    name: &'static str,
    settings: &'static [&'static str],
    /// Which members `MPI_Win_lock_all` asks, if not those of the preset.
    lock_all: Option<LockAll>,
    one_sided: String,
    messages: String,
}

fn pairs(bytes: u64) -> Vec<Pair> {
    let rdma: &[&str] = &["mpi.one_sided.preset=openmpi-rdma"];
    let counted: &[&str] = &["mpi.one_sided.preset=mpich", "mpi.one_sided.passive_progress=hardware"];
    let all = |text: &str| -> String { (0..4).map(|rank| format!("{rank} {text}\n")).collect() };
    vec![
        Pair {
            name: "put and fence",
            settings: rdma,
            lock_all: Some(LockAll::Each),
            one_sided: format!("0 put 0 1 {bytes} 0\n{}", all("win_fence 0")),
            messages: format!(
                "0 ssend 1 0 {bytes}\n1 recv 0 0 {bytes}\n1 send 0 0 0\n0 recv 1 0 0\n{}",
                all("barrier")
            ),
        },
        Pair {
            name: "get and fence",
            settings: rdma,
            lock_all: Some(LockAll::Each),
            one_sided: format!("0 get 0 1 0 {bytes}\n{}", all("win_fence 0")),
            messages: format!(
                "0 send 1 0 0\n1 recv 0 0 0\n1 ssend 0 0 {bytes}\n0 recv 1 0 {bytes}\n{}",
                all("barrier")
            ),
        },
        Pair {
            name: "post, start, put, complete, wait",
            settings: rdma,
            lock_all: Some(LockAll::Each),
            one_sided: format!(
                "1 win_post 0 0\n0 win_start 0 1\n0 put 0 1 {bytes} 0\n0 win_complete 0\n1 win_wait 0\n"
            ),
            messages: format!(
                "1 send 0 0 0\n0 recv 1 0 0\n0 ssend 1 0 {bytes}\n1 recv 0 0 {bytes}\n1 send 0 1 0\n0 recv 1 1 0\n\
                 0 send 1 1 0\n1 recv 0 1 0\n"
            ),
        },
        Pair {
            name: "lock, put, unlock",
            settings: counted,
            lock_all: None,
            one_sided: format!("0 win_lock 0 1\n0 put 0 1 {bytes} 0\n0 win_unlock 0 1\n"),
            messages: format!(
                "0 send 1 0 0\n1 recv 0 0 0\n1 send 0 0 0\n0 recv 1 0 0\n0 ssend 1 0 {bytes}\n1 recv 0 0 {bytes}\n\
                 1 send 0 0 0\n0 recv 1 0 0\n0 send 1 0 0\n1 recv 0 0 0\n1 send 0 0 0\n0 recv 1 0 0\n"
            ),
        },
        Pair {
            name: "lock_all, fetch, flush, unlock_all",
            settings: rdma,
            lock_all: None,
            one_sided: format!(
                "1 win_lock_all 0\n1 get_accumulate 0 2 {bytes} {bytes}\n1 win_flush 0 2\n1 win_unlock_all 0\n"
            ),
            messages: format!(
                "1 send 0 0 0\n0 recv 1 0 0\n0 send 1 0 0\n1 recv 0 0 0\n1 ssend 2 0 {bytes}\n2 recv 1 0 {bytes}\n\
                 2 ssend 1 0 {bytes}\n1 recv 2 0 {bytes}\n"
            ),
        },
        Pair {
            name: "request forms",
            settings: rdma,
            lock_all: Some(LockAll::Each),
            one_sided: format!(
                "0 win_lock_all 0 nocheck\n0 get 0 2 0 {bytes} 4\n0 put 0 1 {bytes} 0 3\n0 waitall_of 3-4\n"
            ),
            messages: format!(
                "0 send 2 0 0\n0 irecv 2 0 {bytes} 6 4\n0 issend 1 0 {bytes} 6 3\n0 waitall_of 3-4\n1 recv 0 0 {bytes}\n\
                 2 recv 0 0 0\n2 ssend 0 0 {bytes}\n"
            ),
        },
    ]
}

#[test]
fn one_sided_communication_takes_as_long_as_its_messages() {
    for model in NETWORKS {
        for bytes in [100_000, 1_000_000, 4_000_000] {
            for Pair { name, settings, lock_all, one_sided, messages } in pairs(bytes) {
                let mut platform = platform(model, settings);
                platform.mpi.one_sided.lock_all = lock_all.unwrap_or(platform.mpi.one_sided.lock_all);
                let (windows, plain) =
                    (time(&platform, "win_create 0 8", &one_sided), time(&platform, "win_create 0 8", &messages));
                let off = windows / plain - 1.0;
                assert!(off.abs() < 0.01, "{name}, {bytes} bytes, {model}: {windows} s, {plain} s as messages");
            }
        }
    }
}

/// Puts share a link as messages do.
#[test]
fn accesses_contend_for_the_network() {
    for model in ["flow", "packet"] {
        let platform = platform(model, &["mpi.one_sided.preset=openmpi-rdma"]);
        let fence: String = (0..4).map(|rank| format!("{rank} win_fence 0\n")).collect();
        let one = time(&platform, "win_create 0 8", &format!("0 put 0 1 4000000 0\n{fence}"));
        let two = time(&platform, "win_create 0 8", &format!("0 put 0 1 4000000 0\n0 put 0 1 4000000 0\n{fence}"));
        assert!((two / one - 2.0).abs() < 0.02, "{model}: {one} s and {two} s");
    }
}

const RANKS: u32 = 4;

/// An epoch of a program, as one sees it who sees all ranks.
#[derive(Clone, Debug)]
enum Epoch {
    Fence(Vec<Put>),
    /// Every rank exposes its memory to the one before it, and accesses that of the one after it.
    Ring(Vec<Put>, bool),
    Lock(u32, u32, bool, Vec<Put>),
    LockAll(u32, Vec<Put>, u8),
    Compute(u32, u16),
}

#[derive(Clone, Debug)]
struct Put {
    origin: u32,
    target: u32,
    op: &'static str,
    bytes: u32,
    request: bool,
}

fn put() -> impl Strategy<Value = Put> {
    let ops = ["put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"];
    (0..RANKS, 0..RANKS, prop::sample::select(ops.to_vec()), 0..100_000u32, any::<bool>())
        .prop_map(|(origin, target, op, bytes, request)| Put { origin, target, op, bytes, request })
}

fn epoch() -> impl Strategy<Value = Epoch> {
    let puts = || prop::collection::vec(put(), 0..5);
    prop_oneof![
        puts().prop_map(Epoch::Fence),
        (puts(), any::<bool>()).prop_map(|(puts, test)| Epoch::Ring(puts, test)),
        (0..RANKS, 0..RANKS, any::<bool>(), puts())
            .prop_map(|(origin, target, shared, puts)| Epoch::Lock(origin, target, shared, puts)),
        (0..RANKS, puts(), 0..4u8).prop_map(|(origin, puts, flush)| Epoch::LockAll(origin, puts, flush)),
        (0..RANKS, any::<u16>()).prop_map(|(rank, work)| Epoch::Compute(rank, work)),
    ]
}

impl Put {
    fn line(&self, origin: u32, target: u32, requests: &mut u32, scale: u64) -> String {
        let bytes = u64::from(self.bytes) * scale;
        let (there, back) = match self.op {
            "put" | "accumulate" => (bytes, 0),
            "get" => (0, bytes),
            _ => (bytes, bytes),
        };
        let access = format!("{origin} {} 0 {target} {there} {back}", self.op);
        if !self.request {
            return access + "\n";
        }
        *requests += 1;
        format!("{access} {requests}\n{origin} wait_of {requests}\n")
    }

    fn volume(&self) -> u64 {
        let both = !matches!(self.op, "put" | "accumulate" | "get");
        u64::from(self.bytes) * if both { 2 } else { 1 }
    }
}

/// The text of a program; accesses move nothing if `scale` is 0.
fn program(epochs: &[Epoch], scale: u64) -> String {
    let all = |text: &str| -> String { (0..RANKS).map(|rank| format!("{rank} {text}\n")).collect() };
    let mut text = all("win_create 0 100000");
    let requests = &mut 0;
    for epoch in epochs {
        match epoch {
            Epoch::Fence(puts) => {
                text += &all("win_fence 0");
                // A request may be waited for within any epoch but one that a fence begins (MPI 4.0 §12.3.5).
                let plain = |put: &Put| Put { request: false, ..put.clone() };
                text.extend(puts.iter().map(|put| plain(put).line(put.origin, put.target, requests, scale)));
                text += &all("win_fence 0");
            }
            Epoch::Ring(puts, test) => {
                let (next, last) = (|rank| (rank + 1) % RANKS, |rank| (rank + RANKS - 1) % RANKS);
                (0..RANKS).for_each(|rank| text += &format!("{rank} win_post 0 {}\n", last(rank)));
                (0..RANKS).for_each(|rank| text += &format!("{rank} win_start 0 {}\n", next(rank)));
                let plain = |put: &Put| Put { request: false, ..put.clone() };
                text.extend(puts.iter().map(|put| plain(put).line(put.origin, next(put.origin), requests, scale)));
                text += &all("win_complete 0");
                text += &all(if *test { "win_test 0" } else { "win_wait 0" });
            }
            Epoch::Lock(origin, target, shared, puts) => {
                let word = if *shared { "win_lock_shared" } else { "win_lock" };
                text += &format!("{origin} {word} 0 {target}\n");
                text.extend(puts.iter().map(|put| put.line(*origin, *target, requests, scale)));
                text += &format!("{origin} win_unlock 0 {target}\n");
            }
            Epoch::LockAll(origin, puts, flush) => {
                text += &format!("{origin} win_lock_all 0\n");
                for put in puts {
                    text += &put.line(*origin, put.target, requests, scale);
                    text += &match flush {
                        0 => String::new(),
                        1 => format!("{origin} win_flush 0 {}\n", put.target),
                        2 => format!("{origin} win_flush_local 0 {}\n", put.target),
                        _ => format!("{origin} win_flush_all 0\n"),
                    };
                }
                text += &format!("{origin} win_unlock_all 0\n");
            }
            Epoch::Compute(rank, work) => text += &format!("{rank} compute {work}\n"),
        }
    }
    text + &all("win_free 0") + &all("finalize")
}

impl Epoch {
    fn volume(&self) -> u64 {
        match self {
            Self::Fence(puts) | Self::Ring(puts, _) | Self::Lock(.., puts) | Self::LockAll(_, puts, _) => {
                puts.iter().map(Put::volume).sum()
            }
            Self::Compute(..) => 0,
        }
    }
}

fn implementation() -> impl Strategy<Value = OneSided> {
    let details = (
        prop::sample::select(vec![LockAll::Each, LockAll::Leader]),
        prop::sample::select(vec![ActiveTarget::Acknowledged, ActiveTarget::Counted]),
        any::<bool>(),
        prop::sample::select(vec![PassiveProgress::Hardware, PassiveProgress::Target]),
    );
    details.prop_map(|(lock_all, active_target, await_unlock, passive_progress)| {
        let (control, header) = (Bytes(0), Bytes(0));
        let preset = OneSided::from(Implementation::Mpich);
        OneSided { lock_all, active_target, await_unlock, passive_progress, control, header, ..preset }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A legal program comes to its end under every implementation, and the network carries all that it accesses and nothing
    /// else.
    #[test]
    fn legal_programs_end_and_move_their_bytes(
        epochs in prop::collection::vec(epoch(), 0..12),
        one_sided in implementation(),
        model in prop::sample::select(vec!["ideal", "flow"]),
    ) {
        let mut platform = platform(model, &[]);
        platform.mpi.one_sided = one_sided;
        let outcome = |scale| {
            let trace = program(&epochs, scale);
            let outcome = run(&platform, RANKS, &trace);
            let outcome = outcome.map_err(|error| TestCaseError::fail(format!("{error}\n{trace}")))?;
            prop_assert_eq!(outcome.warnings.as_slice(), [""; 0]);
            Ok(outcome.bytes.0)
        };
        prop_assert_eq!(outcome(1)? - outcome(0)?, epochs.iter().map(Epoch::volume).sum::<u64>());
    }
}
