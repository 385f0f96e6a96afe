//! Kernels send what their definitions say, to the message, and their traces are sound.

use crate::support::command::{Folder, TITR, TITR_REPLAY};
use proptest::prelude::*;
use titr_common::collectives::{CallMode, Library, Selection};
use titr_common::event::{CollectiveKind, Event};
use titr_common::units::{Bytes, Instructions};
use titr_network::topology::Edge;
use titr_replayer::generate::{Kernel, Pattern, Pause, grid, program};
use titr_replayer::schedule::{Example, Outline};
use titr_test_machine::{mpi, run};

const BYTES: Bytes = Bytes(20_000); // Sends wait for their receives.

fn kernel(pattern: Pattern, ranks: u32) -> Kernel {
    Kernel::new(pattern, ranks, BYTES).unwrap()
}

fn events(kernel: &Kernel, iterations: u64) -> Vec<Vec<Event>> {
    let pause = Some(Pause::Compute(Instructions(1000.0)));
    (0..kernel.ranks).map(|me| program(kernel, me, iterations, pause).collect()).collect()
}

/// Who sends to whom, in order of their numbers, and how much.
fn sent(kernel: &Kernel) -> Vec<(u32, u32, u64)> {
    let mut sent = Vec::new();
    for (me, events) in (0..).zip(events(kernel, 1)) {
        let messages = events.iter().filter_map(|event| event.transfers().sent);
        sent.extend(messages.map(|message| (me, message.to.0, message.bytes.0)));
    }
    sent.sort_unstable();
    sent
}

/// All pairs that `sends` says something of, as often as it says.
fn expected(ranks: u32, bytes: Bytes, sends: impl Fn(u32, u32) -> u32) -> Vec<(u32, u32, u64)> {
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
    pairs.flat_map(|(from, to)| (0..sends(from, to)).map(move |_| (from, to, bytes.0))).collect()
}

/// Three iterations come to an end on a machine, and all that is sent is received.
fn replays(kernel: &Kernel) -> Result<(), TestCaseError> {
    let outcome = run(events(kernel, 3), &mpi()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(outcome.warnings, [""; 0]);
    Ok(())
}

fn schedule(collective: CollectiveKind, algorithm: &str, ranks: u32, bytes: Bytes) -> Kernel {
    let mut selection = Selection::from(Library::OpenMpi);
    selection.force(collective.name(), algorithm).unwrap();
    let (root, element, is_commutative) = (0, Bytes(1), true);
    let outline =
        Outline { selection, collective, mode: CallMode::Blocking, ranks, bytes, root, element, is_commutative };
    kernel(Pattern::Collective(Example::new(outline).unwrap()), ranks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn stars_and_all_to_all(ranks in 1..20_u32, root in 0..20_u32) {
        let root = root % ranks;
        let out = kernel(Pattern::OneToAll { root }, ranks);
        prop_assert_eq!(sent(&out), expected(ranks, BYTES, |from, to| u32::from(from == root && to != root)));
        replays(&out)?;
        let back = kernel(Pattern::AllToOne { root }, ranks);
        prop_assert_eq!(sent(&back), expected(ranks, BYTES, |from, to| u32::from(to == root && from != root)));
        replays(&back)?;
        let all = kernel(Pattern::AllToAll, ranks);
        prop_assert_eq!(sent(&all), expected(ranks, BYTES, |from, to| u32::from(to != from)));
        replays(&all)?;
    }

    #[test]
    fn butterflies_and_trees(ranks in 1..40_u32, arity in 1..5_u32, bits in 0..6_u32) {
        let butterfly = kernel(Pattern::Butterfly, 1 << bits);
        prop_assert_eq!(sent(&butterfly), expected(1 << bits, BYTES, |a, b| u32::from((a ^ b).count_ones() == 1)));
        replays(&butterfly)?;
        let tree = kernel(Pattern::Tree { arity }, ranks);
        let is_parent = |of: u32, rank: u32| of > 0 && (of - 1) / arity == rank;
        prop_assert_eq!(sent(&tree), expected(ranks, BYTES, |a, b| u32::from(is_parent(a, b) || is_parent(b, a))));
        replays(&tree)?;
    }

    #[test]
    fn grids(sizes in prop::collection::vec(1..5_u32, 1..4)) {
        let ranks = sizes.iter().product();
        let dimensions = sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x").parse().unwrap();
        let place = |mut rank: u32| sizes.iter().map(|size| { let x = rank % size; rank /= size; x }).collect::<Vec<_>>();
        // How many steps up lead along one dimension from one rank to the other, if both are in one row of it.
        let up = |from: u32, to: u32, closed: bool| {
            let (from, to) = (place(from), place(to));
            let mut differing = (0..sizes.len()).filter(|&along| from[along] != to[along]);
            match (differing.next(), differing.next()) {
                (Some(along), None) if closed => (from[along] + 1) % sizes[along] == to[along],
                (Some(along), None) => from[along] + 1 == to[along],
                _ => false,
            }
        };
        for (edge, closed) in [(Edge::Open, false), (Edge::Closed, true)] {
            let grid = grid(ranks, Some(&dimensions), edge).unwrap();
            let stencil = kernel(Pattern::Stencil(grid), ranks);
            let both = |a, b| u32::from(up(a, b, closed)) + u32::from(up(b, a, closed));
            prop_assert_eq!(sent(&stencil), expected(ranks, BYTES, both));
            replays(&stencil)?;
        }
        let wavefront = kernel(Pattern::Wavefront(grid(ranks, Some(&dimensions), Edge::Open).unwrap()), ranks);
        prop_assert_eq!(sent(&wavefront), expected(ranks, BYTES, |from, to| u32::from(up(from, to, false))));
        replays(&wavefront)?;
    }

    /// As many messages as asked for, none to oneself, and no more at a time than a wave.
    #[test]
    fn random_waves(ranks in 2..20_u32, messages in 0..200_u64, wave in 1..50_u64, seed: u64) {
        let random = kernel(Pattern::Random { messages, wave, seed }, ranks);
        let sent = sent(&random);
        prop_assert_eq!(sent.len() as u64, messages);
        prop_assert!(sent.iter().all(|&(from, to, bytes)| from != to && to < ranks && bytes == BYTES.0));
        let waves = events(&random, 1).into_iter().map(|events| -> Vec<u64> {
            let is_barrier = |event: &Event| matches!(event, Event::Collective(call, _) if call.kind == CollectiveKind::Barrier);
            let sends = |wave: &[Event]| wave.iter().filter(|event| matches!(event, Event::Send(..))).count() as u64;
            events.split(is_barrier).map(sends).collect()
        });
        let sizes = waves.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect()).unwrap();
        let last = messages - wave * (sizes.len() as u64 - 1);
        prop_assert!(last <= wave && sizes[..sizes.len() - 1].iter().all(|&size| size == wave) && *sizes.last().unwrap() == last);
        replays(&random)?;
    }

    #[test]
    fn collectives(ranks in 1..20_u32) {
        let empty = Bytes(0);
        let log = ranks.next_power_of_two().ilog2();
        let barrier = schedule(CollectiveKind::Barrier, "dissemination", ranks, empty);
        let signals = |from: u32, to: u32| (0..log).filter(|&k| (from + (1 << k)) % ranks == to).count() as u32;
        prop_assert_eq!(sent(&barrier), expected(ranks, empty, signals));
        let bcast = schedule(CollectiveKind::Bcast, "binomial", ranks, BYTES);
        // Whoever has the data passes it on over the bits above its highest: a child has one bit more.
        let child = |from: u32, to: u32| u32::from(to > 0 && to ^ 1 << to.ilog2() == from);
        prop_assert_eq!(sent(&bcast), expected(ranks, BYTES, child));
        let allgather = schedule(CollectiveKind::Allgather, "ring", ranks, BYTES);
        let next = |from: u32, to: u32| if (from + 1) % ranks == to { ranks - 1 } else { 0 };
        prop_assert_eq!(sent(&allgather), expected(ranks, BYTES, next));
        for kernel in [barrier, bcast, allgather] {
            replays(&kernel)?;
        }
        for collective in CollectiveKind::ALL {
            replays(&schedule(collective, "default", ranks, Bytes(960)))?;
        }
    }
}

/// Pairs are as likely as others, and those of another seed or iteration are others.
#[test]
fn random_pairs_are_uniform() {
    let random = |seed| kernel(Pattern::Random { messages: 12_000, wave: 100, seed }, 4);
    let pairs = sent(&random(1));
    for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(from, to)| from != to) {
        let count = pairs.iter().filter(|&&(a, b, _)| (a, b) == (from, to)).count();
        assert!(count.abs_diff(1000) < 120, "{from} to {to}: {count}"); // A standard deviation is 30.
    }
    assert_eq!(sent(&random(1)), pairs);
    assert_ne!(sent(&random(2)), pairs);
    let twice = events(&random(1), 2);
    let half = (twice[0].len() - 1) / 2;
    assert_ne!(twice[0][1..half], twice[0][half + 2..]);
}

const CALLS: [&str; 10] = [
    "one-to-all --ranks 5 --bytes 1kB --root 2",
    "all-to-one --ranks 5 --bytes 1kB",
    "all-to-all --ranks 5 --bytes 10kB --iterations 3",
    "random --ranks 5 --bytes 1kB --messages 50 --wave 20 --compute 10us",
    "collective allreduce --algorithm ring --ranks 5 --bytes 1MiB",
    "collective barrier --library mpich --algorithm dissemination --ranks 5",
    "stencil --ranks 6 --dimensions 3x2 --torus --bytes 64KiB --iterations 10 --compute 1e6",
    "wavefront --ranks 8 --dimensions 2x2x2 --bytes 8",
    "butterfly --ranks 4 --bytes 100",
    "tree --ranks 5 --bytes 100 --arity 3",
];

fn split(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// What is written is a trace like any other.
#[test]
fn traces_are_sound() {
    for call in CALLS {
        let folder = Folder::new();
        let made = folder.run(TITR, &[&["generate"], &split(call)[..], &["-o", "t"]].concat());
        assert!(made.starts_with("t: ") && made.ends_with("[0]"), "{call}: {made}");
        assert_eq!(folder.run(TITR, &["check", "t"]), "t: sound\n[0]", "{call}");
        let platform = folder.file("p.toml", "schema = 1\nhosts = { count = 8, speed = \"1 Ginstr/s\" }\ntopology.star = {}\n[network]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n");
        let replayed = folder.run(TITR_REPLAY, &["--platform", platform.to_str().unwrap(), "--json", "t"]);
        assert!(replayed.contains("\"warnings\":[]") && replayed.ends_with("[0]"), "{call}: {replayed}");
    }
}

#[test]
fn a_trace_to_look_at() {
    let folder = Folder::new();
    let generate = split("generate stencil --ranks 4 --dimensions 2x2 --bytes 64KiB --iterations 2 --compute 1e6 -o t");
    let shown = [folder.run(TITR, &generate), folder.run(TITR, &["cat", "t"]), folder.run(TITR, &["info", "t"])];
    insta::assert_snapshot!(shown.join("\n── \n").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn all_kernels_by_name() {
    insta::assert_snapshot!(Folder::new().run(TITR, &["generate", "--list"]));
}

#[test]
fn mistakes_are_told() {
    let all = [
        "butterfly --ranks 5 --bytes 1",
        "stencil --ranks 5 --dimensions 2x2 --bytes 1",
        "stencil --ranks 5 --dimensions 2by2 --bytes 1",
        "one-to-all --ranks 5 --root 5 --bytes 1",
        "random --ranks 1 --bytes 1 --messages 5 --wave 1",
        "random --ranks 2 --bytes 1 --messages 5 --wave 0",
        "tree --ranks 2 --bytes 1 --compute -1",
        "tree --ranks 2 --bytes 1 --compute 1h",
        "collective bcast --ranks 2 --algorithm magic",
        "magic --ranks 2",
    ];
    let folder = Folder::new();
    let mut shown = String::new();
    for call in all {
        let arguments = [&["generate"], &split(call)[..], &["-o", "t"]].concat();
        shown += &format!("── {call}\n{}\n", folder.run(TITR, &arguments));
    }
    folder.file("full/notes", "");
    shown += &folder.run(TITR, &split("generate tree --ranks 2 --bytes 1 -o full"));
    insta::assert_snapshot!(shown);
}
