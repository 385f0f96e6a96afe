//! `titr convert --to simgrid`: the output means the same as the input to titr and, if SimGrid is installed, to
//! SimGrid.

mod every_kind;
mod live;
mod program;
use std::fs;
use std::path::Path;

use crate::support::command::{Folder, TITR, here};
use every_kind::EVERY_KIND;
use program::{Program, RANKS, happening};
use proptest::prelude::*;
use titr_common::collectives::{Library, Selection};
use titr_common::event::Event;
use titr_common::trace::Trace;
use titr_formats::output::Rules;
use titr_formats::output::simgrid::{self, Differences};
use titr_platform::{EagerTransfer, Mpi};
use titr_test_machine::{events, mpi, run};
use titr_workload::Workload;

/// A trace converted: what each rank does in it, and what SimGrid cannot be told.
fn converted(trace: &str, mpi: &Mpi, folder: &Path) -> (Vec<Vec<Event>>, Differences) {
    let rules = Rules { collectives: mpi.collectives.clone(), eager_threshold: mpi.eager_threshold, hosts: Vec::new() };
    let written =
        simgrid::convert(Workload::new(events(RANKS, trace).into_iter().map(Vec::into_iter).collect()), &rules, folder)
            .unwrap();
    let source = Trace::open(&written.index).unwrap();
    let all = source
        .streams()
        .unwrap()
        .into_iter()
        .map(|mut stream| std::iter::from_fn(|| stream.next_event().unwrap()).collect());
    (all.collect(), written.differences)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What comes out moves the same messages, and takes the same time to the picosecond unless that is said.
    #[test]
    fn it_replays_like_what_went_in(
        happenings in prop::collection::vec(happening(), 0..40),
        library in prop::sample::select(Library::ALL),
        on_match in any::<bool>(),
    ) {
        let trace = Program::of(&happenings);
        let mpi = Mpi {
            eager_transfer: if on_match { EagerTransfer::OnMatch } else { EagerTransfer::AtOnce },
            collectives: Selection::from(library),
            ..mpi()
        };
        let before = run(events(RANKS, &trace), &mpi);
        let before = before.map_err(|error| TestCaseError::fail(format!("{error}\n{trace}")))?;
        let folder = Folder::new();
        let (after, differences) = converted(&trace, &mpi, folder.path());
        let after = run(after, &mpi).map_err(|error| TestCaseError::fail(format!("{error}\n{trace}")))?;
        prop_assert_eq!(after.warnings.as_slice(), [""; 0]);
        prop_assert_eq!((after.messages, after.bytes), (before.messages, before.bytes));
        if differences == Differences::default() {
            prop_assert_eq!(after.simulated_time, before.simulated_time, "{}", trace);
        }
    }
}

#[test]
fn every_kind_of_event() {
    let folder = Folder::new();
    folder.trace(&EVERY_KIND);
    let mut shown = folder.run(TITR, &["convert", "--to", "simgrid", "traces", "-o", "out"]);
    for file in ["index.txt", "rank-000000.txt", "rank-000001.txt", "rank-000002.txt"] {
        shown += &format!("\n── {file}\n{}", fs::read_to_string(folder.path().join("out").join(file)).unwrap());
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 finalize\n"]);
    folder.file("full/something", "");
    folder.file("a-file", "");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let convert = |to: &str| folder.run(TITR, &["convert", "--to", "simgrid", "traces", "--output", to]);
    insta::assert_snapshot!(["full", "a-file", "empty", "empty", "new/one"].map(convert).join("\n"));
}

#[test]
fn nothing_is_left_of_an_attempt_that_failed() {
    let folder = Folder::new();
    folder.file("trace", "0 init\n0 wait_of 3\n");
    insta::assert_snapshot!(folder.run(TITR, &["convert", "--to", "simgrid", "trace", "-o", "out"]));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn the_same_bytes_every_time() {
    let folder = Folder::new();
    folder.trace(&EVERY_KIND);
    let convert = |to: &str| {
        folder.run(TITR, &["convert", "--to", "simgrid", "traces", "-o", to, "--collectives", "openmpi"]);
        (0..3)
            .map(|rank| fs::read(folder.path().join(format!("{to}/rank-00000{rank}.txt"))).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(convert("one"), convert("another"));
}

/// The threshold that decides how a large buffered send is said.
#[test]
fn rules_come_from_the_platform() {
    let folder = Folder::new();
    folder.trace(&[
        "0 init\n0 bsend 1 0 1000\n0 barrier\n0 finalize\n",
        "1 init\n1 recv 0 0 1000\n1 barrier\n1 finalize\n",
    ]);
    let platform = fs::read_to_string(here("../examples/cluster16.toml")).unwrap();
    let platform = platform.replace("64 KiB", "1 kB").replace("collectives = \"simgrid\"", "collectives = \"mpich\"");
    folder.file("cluster.toml", platform);
    folder.run(TITR, &["convert", "--to", "simgrid", "traces", "-o", "out", "--platform", "cluster.toml"]);
    let text = fs::read_to_string(folder.path().join("out/rank-000000.txt")).unwrap();
    insta::assert_snapshot!(text);
}

/// What goes through one rank of each host does so in the messages that are written, too.
#[test]
fn hosts_come_from_the_platform() {
    let folder = Folder::new();
    let ranks = (0..8).map(|rank| format!("{rank} init\n{rank} allreduce 8 0\n{rank} barrier\n{rank} finalize\n"));
    folder.file("trace", ranks.collect::<String>());
    let platform = ["--platform", "star:2 1Gbit/s 1us host:4"];
    folder.run(TITR, &[&["convert", "--to", "simgrid", "trace", "-o", "out"], platform.as_slice()].concat());
    let replay = |trace: &str| {
        let shown = folder.run(TITR, &[&["replay", "--json", trace], platform.as_slice()].concat());
        let json: serde_json::Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
        (json["messages"].as_u64().unwrap(), json["simulated_time"].as_f64().unwrap())
    };
    // Each of both goes up and down the trees of four ranks, but a barrier has three exchanges of four there.
    assert_eq!(replay("trace").0, (6 + 2 + 6) + (16 + 2 + 6));
    assert_eq!(replay("out/index.txt"), replay("trace"));
}
