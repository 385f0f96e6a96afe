//! GOAL, as text and in binary form.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;
use titr_common::collectives::{Library, Selection};
use titr_common::event::Event;
use titr_common::trace::Trace;
use titr_common::units::Bytes;
use titr_formats::output::{self, Rules};

use crate::graphs::{Counts, counts, fault, nodes};
use crate::samples::{collection, open, sample};

/// The counts of the programs of `tests/data/foreign/goal`.
fn expected(name: &str) -> Counts {
    let counts = |ranks,
                  [sends, receives, times]: [u64; 3],
                  [ended, begun]: [u64; 2],
                  [bytes, nanoseconds]: [u64; 2]| {
        Counts { ranks, sends, receives, times, ended, begun, bytes, nanoseconds, collectives: 0 }
    };
    match name {
        "stencil" => counts(9, [588, 588, 1383], [2658, 960], [246_372, 561_212_000]),
        "lu" => counts(8, [1678, 1678, 3416], [6794, 40], [512_248, 732_484_000]),
        "wildcards" => counts(6, [93, 93, 168], [351, 15], [408_538, 855_540_000]),
        "grammar" => counts(3, [4, 4, 5], [10, 1], [70_124, 6660]),
        "a2a8" => counts(8, [56, 56, 0], [0, 0], [229_376, 0]),
        "diss16" => counts(16, [64, 64, 0], [48, 0], [512, 0]),
        "ring8" => counts(8, [112, 112, 0], [104, 0], [917_504, 0]),
        "binary_tree_32" => counts(32, [31, 31, 0], [26, 0], [31, 0]),
        other => panic!("{other}"),
    }
}

#[test]
fn samples_have_the_operations_and_dependences_that_their_writers_counted() {
    for file in [
        "stencil.goal.gz",
        "stencil.bin",
        "wildcards.goal.gz",
        "grammar.goal",
        "grammar.bin",
        "a2a8.goal",
        "a2a8.bin",
        "diss16.goal",
        "ring8.goal",
    ] {
        let trace = open(&sample("goal").join(file)).unwrap();
        let name = file.split('.').next().unwrap();
        assert_eq!(counts(&trace).unwrap(), expected(name), "{file}");
    }
}

#[test]
#[ignore = "reads the collection that TITR_FOREIGN names"]
fn the_collection_has_the_operations_that_are_known() {
    let Some(directory) = collection() else { return };
    let goal = directory.join("programs-by-seven-tools/goal");
    for name in ["from-liballprof/stencil", "from-liballprof/lu", "from-liballprof/wildcards"] {
        for ending in ["goal.gz", "bin"] {
            let trace = open(&goal.join(format!("{name}.{ending}"))).unwrap();
            assert_eq!(counts(&trace).unwrap(), expected(name.rsplit('/').next().unwrap()), "{name}.{ending}");
        }
    }
    for name in ["schedgen/a2a8", "schedgen/diss16", "schedgen/ring8", "hand-made/grammar"] {
        for ending in ["goal", "bin"] {
            let trace = open(&goal.join(format!("{name}.{ending}"))).unwrap();
            assert_eq!(counts(&trace).unwrap(), expected(name.rsplit('/').next().unwrap()), "{name}.{ending}");
        }
    }
    let tree = open(&directory.join("LogGOPSim/binary_tree_32.goal")).unwrap();
    assert_eq!(counts(&tree).unwrap(), expected("binary_tree_32"));
}

#[test]
fn faults_are_named_with_their_line() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("x.goal");
    let texts = [
        "num_ranks 1\nrank 0 {\na: calc 10\nb: calc 1\na requires b\nb requires a\n}\n",
        "num_ranks 1\nrank 0 {\na: calc 10\na requires b\n}\n",
        "num_ranks 1\nrank 0 {\na: calc 10\na requires a\n}\n",
        "num_ranks 1\nrank 0 {\na: calc 10\na: calc 10\n}\n",
        "num_ranks 1\nrank 0 {\na: calc 10\n",
        "num_ranks 3\nrank 0 {\n}\nrank 2 {\n}\n",
        "num_ranks 2\nrank 0 {\n}\n",
        "num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n",
        "num_ranks 2\nrank 0 {\nsend 8b to 2\n}\nrank 1 {\n}\n",
        "num_ranks 1\nrank 0 {\nsend 8b to 0 nic 1 cpu 1\n}\n",
        "num_ranks 0\n",
        "num_ranks 1\ncalc 5\n",
        "num_ranks 1\nrank 0 {\nrank 1 {\n",
        "num_ranks 1\n/* a comment\nwithout an end\n",
    ];
    let faults: Vec<String> = texts
        .iter()
        .map(|text| {
            fs::write(&path, text).unwrap();
            fault(&path)
        })
        .collect();
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn damaged_binary_files_are_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("x.bin");
    let whole = fs::read(sample("goal/grammar.bin")).unwrap();
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
        fault(&path)
    };
    let faults = [
        damaged(&|bytes| bytes[..8].copy_from_slice(&2342_u64.to_le_bytes())),
        damaged(&|bytes| bytes.truncate(13)),
        damaged(&|bytes| bytes.truncate(40)),
        damaged(&|bytes| bytes.truncate(300)),
        damaged(&|bytes| bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes())),
        damaged(&|bytes| bytes[62..66].copy_from_slice(&u32::MAX.to_le_bytes())),
        damaged(&|bytes| bytes[70..74].copy_from_slice(&77_u32.to_le_bytes())),
    ];
    insta::assert_snapshot!(faults.join("\n"));
}

fn rules() -> Rules {
    Rules { collectives: Selection::from(Library::SimGrid), eager_threshold: Bytes(64 << 10), hosts: Vec::new() }
}

/// Converts a trace.
fn converted(trace: &Trace, format: &str, path: &Path) -> Trace {
    let format = output::FORMATS.iter().find(|known| known.name == format).unwrap();
    (format.convert)(trace, &rules(), path).unwrap();
    open(path).unwrap()
}

#[test]
fn graphs_survive_a_conversion_to_text_and_back() {
    let folder = tempdir().unwrap();
    for name in ["stencil.bin", "wildcards.goal.gz", "grammar.goal", "ring8.goal"] {
        let trace = open(&sample("goal").join(name)).unwrap();
        let text = converted(&trace, "goal", &folder.path().join(format!("{name}.goal")));
        let binary = converted(&text, "goal-binary", &folder.path().join(format!("{name}.bin")));
        let all = [&trace, &text, &binary].map(|trace| counts(trace).unwrap());
        assert_eq!(all, [all[0]; 3], "{name}");
        for rank in 0..trace.ranks() {
            assert_eq!(nodes(&text, rank).unwrap().len(), nodes(&binary, rank).unwrap().len());
        }
    }
}

#[test]
fn a_program_becomes_a_graph() {
    let folder = tempdir().unwrap();
    let place = folder.path().join("traces.txt");
    let text = "0 init\n0 compute 1500\n0 isend 1 3 100 6 0\n0 sleep 0.00000025\n0 irecv 2 3 70000 6 1\n\
                0 wait_of 0-1\n0 send 2 1 8\n0 allreduce 64 0\n0 finalize\n\
                1 init\n1 recv 0 3 100\n1 allreduce 64 0\n1 finalize\n\
                2 init\n2 send 0 3 70000\n2 recv 0 1 8\n2 allreduce 64 0\n2 finalize\n";
    fs::write(&place, text).unwrap();
    let goal = folder.path().join("x.goal");
    let trace = converted(&open(&place).unwrap(), "goal", &goal);
    assert_eq!(counts(&trace).unwrap().sends, counts(&trace).unwrap().receives);
    insta::assert_snapshot!(fs::read_to_string(&goal).unwrap());
}

/// A random graph: for each operation those that it requires, whose ends or beginnings, and where the statement stands.
type Edges = Vec<(usize, usize, bool, u64)>;

fn graphs() -> impl Strategy<Value = (usize, Edges)> {
    (1..60_usize).prop_flat_map(|size| {
        let edge = (0..size, 0..size, any::<bool>(), 0..400_u64);
        let edges = prop::collection::vec(edge, 0..80).prop_map(|edges| {
            // An operation requires those that are lower by the last digits of a product, so that order means nothing.
            let rank = |operation: usize| (operation * 7919) % 10_007;
            let forward = |(one, other, begun, at)| match rank(one) > rank(other) {
                true => (one, other, begun, at),
                false => (other, one, begun, at),
            };
            edges.into_iter().filter(|(one, other, ..)| one != other).map(forward).collect()
        });
        (Just(size), edges)
    })
}

proptest! {
    /// Every operation follows those that it requires, wherever the statements stand.
    #[test]
    fn statements_may_stand_anywhere_after_their_operations((size, edges) in graphs()) {
        let mut lines: Vec<(u64, String)> =
            (0..size).map(|number| (number as u64 * 3, format!("op{number}: calc {number}"))).collect();
        for &(one, other, begun, at) in &edges {
            let word = if begun { "irequires" } else { "requires" };
            lines.push((one.max(other) as u64 * 3 + 1 + at, format!("op{one} {word} op{other}")));
        }
        lines.sort_by_key(|(at, _)| *at);
        let body: String = lines.into_iter().map(|(_, line)| line + "\n").collect();
        let folder = tempdir().unwrap();
        let path = folder.path().join("x.goal");
        fs::write(&path, format!("num_ranks 1\nrank 0 {{\n{body}}}\n")).unwrap();
        let trace = open(&path).unwrap();
        counts(&trace).unwrap();
        let nodes = nodes(&trace, 0).unwrap();
        let operation = |task: usize| match nodes[task].1 {
            Event::Sleep(time) => Some((time.0 * 1e9).round() as usize),
            _ => None,
        };
        let mut found: Vec<(usize, usize, bool)> = Vec::new();
        for (number, (task, _)) in nodes.iter().enumerate() {
            let of = |back: &u32| operation(number - *back as usize).zip(operation(number));
            found.extend(task.ended.iter().filter_map(of).map(|(other, one)| (one, other, false)));
            found.extend(task.begun.iter().filter_map(of).map(|(other, one)| (one, other, true)));
        }
        let mut expected: Vec<_> = edges.iter().map(|&(one, other, begun, _)| (one, other, begun)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(nodes.len(), size + 1);
        prop_assert_eq!(found, expected);
    }

    /// A changed file is read, or refused in words.
    #[test]
    fn changed_files_are_read_or_refused(
        name in prop_oneof![Just("grammar.goal"), Just("grammar.bin"), Just("ring8.goal"), Just("a2a8.bin")],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = fs::read(sample("goal").join(name)).unwrap();
        for (place, byte) in changes {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        let folder = tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        if let Ok(trace) = open(&path) {
            for rank in 0..trace.ranks().min(20) {
                let read = nodes(&trace, rank);
                prop_assert!(read.is_ok() || !read.unwrap_err().to_string().is_empty());
            }
        }
    }
}
