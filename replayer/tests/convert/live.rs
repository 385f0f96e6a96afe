//! SimGrid itself, if installed, predicts the same for the output as titr for the input.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use titr_common::trace::Trace;
use titr_platform::Platform;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_support::cannot_run;
use titr_workload::Workload;

use super::program::{Happening, Program, happening};
use crate::support::command::{Folder, TITR, here};

/// A platform of 16 hosts, as SimGrid describes it and both read it.
fn platform(name: &str) -> PathBuf {
    here("platform/tests/data/simgrid/platforms").join(name)
}

/// The simulated time of a trace. Messages of `eager` bytes and more wait for their receives.
fn titr_says(trace: &Path, platform: &Path, collectives: &str, eager: Option<u32>) -> f64 {
    let mut settings = vec![format!("mpi.collectives=\"{collectives}\"")];
    settings.extend(eager.map(|bytes| format!("mpi.eager_threshold=\"{bytes} B\"")));
    let platform = Platform::load(platform, &settings).unwrap();
    let source = Trace::open(trace).unwrap();
    let hosts = platform.place(source.ranks()).unwrap().0.into_iter();
    let cores = hosts.map(|host| Core::on(&platform, host)).collect();
    let workload = Workload::new(source.streams().unwrap());
    let mut network = platform.network(0);
    let outcome = replay(workload, cores, &platform.mpi, network.as_mut(), (), Options::default());
    outcome.unwrap_or_else(|error| panic!("{}: {error}", trace.display())).simulated_time.seconds().0
}

/// Whether SimGrid is here; if not, the test says that it compares nothing.
fn has_simgrid() -> bool {
    let found = Command::new("smpirun").arg("-version").output().is_ok();
    if !found {
        cannot_run("smpirun is not installed: run ci/install test");
    }
    found
}

/// The simulated time of an index that SimGrid is given. Messages of `eager` bytes and more wait for their receives.
fn simgrid_says(index: &Path, platform: &Path, ranks: u32, eager: Option<u32>) -> f64 {
    let folder = Folder::new();
    let hosts: String = (0..16).map(|host| format!("node-{host}\n")).collect();
    let mut command = Command::new("smpirun");
    command.arg("-np").arg(ranks.to_string()).arg("-platform").arg(platform);
    command.arg("-hostfile").arg(folder.file("hosts", hosts));
    command.args(eager.map(|bytes| format!("--cfg=smpi/send-is-detached-thresh:{bytes}")));
    // All digits of the time that a message is said at.
    let output = command.arg("-replay").arg(index).arg("--log=root.fmt:%.12r%e%m%n").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let time = said.lines().find_map(|line| line.split_once(" Simulation time")?.0.parse().ok());
    time.unwrap_or_else(|| panic!("{}: {said}{}", index.display(), String::from_utf8_lossy(&output.stdout)))
}

/// titr's time of a trace, SimGrid's of what it is converted to, and whether that is told to be something else.
fn both(trace: &Path, platform: &Path, collectives: &str, eager: Option<u32>) -> (f64, f64, bool) {
    let folder = Folder::new();
    let out = folder.path().join("out");
    let paths = [trace, &out].map(|path| path.to_str().unwrap());
    let arguments = ["convert", "--to", "simgrid", paths[0], "--output", paths[1], "--collectives", collectives];
    let said = folder.run(TITR, &arguments);
    assert!(said.ends_with("[0]"), "{said}");
    let ranks = Trace::open(trace).unwrap().ranks();
    let simgrid = simgrid_says(&out.join("index.txt"), platform, ranks, eager);
    (titr_says(trace, platform, collectives, eager), simgrid, said.lines().count() > 2)
}

fn agree(titr: f64, simgrid: f64) -> bool {
    (titr - simgrid).abs() <= 1e-3 * simgrid
}

fn assert_agreement(trace: &Path, platform: &Path, collectives: &str) {
    let (titr, simgrid, _) = both(trace, platform, collectives, None);
    assert!(agree(titr, simgrid), "{} with {collectives}: titr says {titr}, SimGrid {simgrid}", trace.display());
}

/// The golden traces of real programs that call each function of MPI, as text files in `folder`.
fn recorded(folder: &Folder) -> Vec<PathBuf> {
    let mut traces = Vec::new();
    for entry in fs::read_dir(here("../tests/tests/snapshots")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_prefix("calls__").and_then(|name| name.strip_suffix(".snap")) {
            let snapshot =
                fs::read_to_string(here("../tests/tests/snapshots").join(format!("calls__{name}.snap"))).unwrap();
            let (_, text) = snapshot.trim_start_matches("---\n").split_once("---\n").unwrap();
            traces.push(folder.file(name, text));
        }
    }
    traces.sort();
    traces
}

#[test]
fn simgrid_agrees_on_recorded_programs() {
    if !has_simgrid() {
        return;
    }
    let folder = Folder::new();
    let recorded = recorded(&folder);
    assert!(recorded.len() >= 15, "{recorded:?}");
    // SimGrid does not go on after a receive whose buffer is too small, and has no collectives of inter-communicators.
    let beyond_simgrid = ["truncated", "collective_errors", "groups"];
    let (left_out, compared): (Vec<_>, Vec<_>) =
        recorded.iter().partition(|trace| beyond_simgrid.iter().any(|name| trace.ends_with(name)));
    assert_eq!(left_out.len(), beyond_simgrid.len(), "{recorded:?}");
    for trace in compared {
        for collectives in ["simgrid", "openmpi", "mpich"] {
            // Several collectives at once in the background, which SimGrid carries out one after the other.
            let one_by_one = trace.ends_with("persistent_order")
                || (collectives != "simgrid"
                    && ["nonblocking_collectives", "communicator_order"].iter().any(|name| trace.ends_with(name)));
            if !one_by_one {
                assert_agreement(trace, &platform("cluster16.xml"), collectives);
            }
        }
    }
}

#[test]
fn simgrid_agrees_on_its_own_traces() {
    if !has_simgrid() {
        return;
    }
    assert_agreement(&here("../examples/ring.txt"), &platform("cluster16.xml"), "simgrid");
    for (program, on) in [("cg.S.4", "cluster16.xml"), ("ft.S.4", "fattree16_loop.xml"), ("mg.S.4", "torus16_loop.xml")]
    {
        let trace = here("tests/data/simgrid/traces").join(format!("{program}.idx"));
        for collectives in ["simgrid", "openmpi"] {
            assert_agreement(&trace, &platform(on), collectives);
        }
    }
}

#[test]
fn simgrid_agrees_where_every_message_waits_for_its_receive() {
    if !has_simgrid() {
        return;
    }
    let folder = Folder::new();
    let collectives = "barrier|bcast 100000|reduce 1000 1000|allreduce 1000 0|alltoall 1000 1000|allgather 1000 1000|\
                       gather 1000 1000|scatter 1000 1000|scan 1000 0";
    let mut traces: Vec<PathBuf> = (5..7)
        .flat_map(|ranks| collectives.split('|').map(move |call| (ranks, call)))
        .map(|(ranks, call)| {
            let lines: String =
                (0..ranks).map(|rank| format!("{rank} init\n{rank} {call}\n{rank} finalize\n")).collect();
            folder.file(&format!("{}-{ranks}", call.replace(' ', "-")), lines)
        })
        .collect();
    traces.extend(
        ["cg.S.4", "ft.S.4", "mg.S.4"].map(|name| here("tests/data/simgrid/traces").join(format!("{name}.idx"))),
    );
    for trace in traces {
        let (titr, simgrid, _) = both(&trace, &platform("cluster16.xml"), "simgrid", Some(0));
        let apart = (titr - simgrid).abs() / simgrid;
        assert!(apart <= 1e-5, "{}: titr says {titr}, SimGrid {simgrid}", trace.display());
    }
}

#[test]
fn simgrid_agrees_on_programs_made_up() {
    if !has_simgrid() {
        return;
    }
    let mut runner = TestRunner::deterministic();
    let mut alike = 0;
    for on in ["cluster16.xml", "fattree16.xml", "torus16.xml"].iter().cycle().take(12) {
        let happenings = prop::collection::vec(happening(), 5..25).new_tree(&mut runner).unwrap().current();
        let has_word = |happening: &Happening| {
            !matches!(happening, Happening::Background(_) | Happening::Message { sent: "issend", .. })
        };
        let happenings: Vec<Happening> = happenings.into_iter().filter(has_word).collect();
        let (folder, program) = (Folder::new(), Program::of(&happenings));
        let (titr, simgrid, told) = both(&folder.file("trace", &program), &platform(on), "simgrid", None);
        alike += u32::from(!told);
        assert!(told || agree(titr, simgrid), "titr says {titr}, SimGrid {simgrid}:\n{program}");
    }
    assert!(alike >= 6, "{alike}");
}

/// SimGrid waits for whatever was started, and gets a message for each receive that nothing comes for.
#[test]
fn simgrid_ends_where_receives_are_left() {
    if !has_simgrid() {
        return;
    }
    let folder = Folder::new();
    let trace = "\
0 send 1 7 100\n0 compute 1000000\n\
1 irecv 0 8 100 6 0\n1 cancel 0\n1 wait_of 0\n1 irecv 0 9 100 6 0\n1 irecv * * 8 6 1\n1 cancel 1\n1 wait_of 1\n1 recv 0 7 100\n";
    let (titr, simgrid, _) = both(&folder.file("trace", trace), &platform("cluster16.xml"), "simgrid", None);
    assert!((0.0..1e-3).contains(&(simgrid - titr)), "titr says {titr}, SimGrid {simgrid}");
}
