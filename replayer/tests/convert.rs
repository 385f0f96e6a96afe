//! `titr convert --to simgrid`: what comes out means for titr what went in, and SimGrid itself, where it is installed, says
//! the same of it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::command::{Folder, TITR, here};
use support::machine::{events, mpi, run};
use titr_common::collectives::{Library, Selection};
use titr_common::event::Event;
use titr_common::trace::Source;
use titr_replayer::convert::simgrid::{self, Losses, Rules};
use titr_replayer::platform::{EagerTransfer, Mpi, Platform};
use titr_replayer::ranks::Seat;
use titr_replayer::replay::{Options, replay};
use titr_replayer::workload::Workload;

/// Something that all ranks of a program do, or some, while the others wait for their turn.
#[derive(Clone, Debug)]
enum Happening {
    /// A message, by the calls that send and receive it.
    Message {
        from: u32,
        to: u32,
        comm: u32,
        tag: u8,
        bytes: u32,
        sent: &'static str,
        received: &'static str,
    },
    Compute(u32, u16),
    /// A rank completes the request that it has had for so long.
    Wait(u32, prop::sample::Index),
    Waitall(u32),
    Collective(u32, &'static str),
    /// Non-blocking collectives that are under way together.
    Background(Vec<(u32, &'static str)>),
}

const RANKS: u32 = 4;

/// Communicator 2 is a copy of the world, 3 is one of two halves, the first in another order than the world's.
const COMMUNICATORS: &str = "\
0 comm_dup 2 0 0-3\n1 comm_dup 2 0 0-3\n2 comm_dup 2 0 0-3\n3 comm_dup 2 0 0-3\n\
0 comm_split 3 0 2,0\n1 comm_split 3 0 1,3\n2 comm_split 3 0 2,0\n3 comm_split 3 0 1,3\n";

const SENT: [&str; 7] = ["send", "bsend", "isend", "ibsend", "issend", "send_init", "sendrecv"];
const RECEIVED: [&str; 5] = ["recv", "irecv", "wild", "recv_init", "sendrecv"];
/// On any communicator of four, and of two.
const COLLECTIVES: [(&str, &str); 8] = [
    ("barrier", "barrier"),
    ("bcast 30000 ROOT", "bcast 30000 ROOT"),
    ("allreduce 800 100 6 8", "allreduce 800 100 6 8"),
    ("alltoall 700 700", "alltoall 700 700"),
    ("reducescatter 8 16 24 8 50 6 8", "reducescatter 8 16 50 6 8"),
    ("reducescatter_block 80 50 6 8", "reducescatter_block 80 50 6 8"),
    ("allgatherv 10 10 10 10 10", "allgatherv 10 10 10"),
    ("alltoallw 4 1 1 1 1 4 1 1 1 1", "alltoallw 2 1 1 2 1 1"),
];

fn happening() -> impl Strategy<Value = Happening> {
    let message = (
        (0..RANKS, 1..RANKS, 0..4u32, 0..3u8),
        prop_oneof![0..9000u32, 9000..200_000u32],
        prop::sample::select(&SENT[..]),
        prop::sample::select(&RECEIVED[..]),
    );
    let message = message.prop_map(|((from, distance, comm, tag), bytes, sent, received)| {
        let to = (from + distance) % RANKS;
        let comm = match comm {
            0 | 1 => 0,
            3 if distance == 2 => 3,
            _ => 2,
        };
        Happening::Message { from, to, comm, tag, bytes, sent, received }
    });
    let collective = || {
        (prop::sample::select(&[0, 2, 3][..]), prop::sample::select(&COLLECTIVES[..]))
            .prop_map(|(comm, (of_four, of_two))| (comm, if comm == 3 { of_two } else { of_four }))
    };
    prop_oneof![
        8 => message,
        3 => (0..RANKS, any::<u16>()).prop_map(|(rank, work)| Happening::Compute(rank, work)),
        3 => (0..RANKS, any::<prop::sample::Index>()).prop_map(|(rank, which)| Happening::Wait(rank, which)),
        1 => (0..RANKS).prop_map(Happening::Waitall),
        2 => collective().prop_map(|(comm, call)| Happening::Collective(comm, call)),
        1 => prop::collection::vec(collective(), 1..4).prop_map(Happening::Background),
    ]
}

/// The lines of a program in which all that happens is done in one order by all ranks, so that none can wait for another
/// that waits for it.
#[derive(Default)]
struct Program {
    lines: String,
    requests: u32,
    /// What each rank has outstanding, and whether it is persistent.
    outstanding: [Vec<(u32, bool)>; RANKS as usize],
}

impl Program {
    fn of(happenings: &[Happening]) -> String {
        let mut this = Self { lines: COMMUNICATORS.into(), ..Self::default() };
        happenings.iter().for_each(|happening| this.happen(happening));
        (0..RANKS).for_each(|rank| this.complete(rank, 0..));
        this.lines
    }

    fn line(&mut self, line: &str) {
        self.lines += line;
        self.lines.push('\n');
    }

    fn request(&mut self, rank: u32, persistent: bool) -> u32 {
        self.requests += 1;
        self.outstanding[rank as usize].push((self.requests, persistent));
        self.requests
    }

    fn complete(&mut self, rank: u32, which: impl std::ops::RangeBounds<usize>) {
        let done: Vec<_> = self.outstanding[rank as usize].drain(which).collect();
        let list: Vec<String> = done.iter().map(|(id, _)| id.to_string()).collect();
        if !list.is_empty() {
            self.line(&format!("{rank} waitall_of {}", list.join(",")));
        }
        for (id, _) in done.iter().filter(|(_, persistent)| *persistent) {
            self.line(&format!("{rank} request_free {id}"));
        }
    }

    fn happen(&mut self, happening: &Happening) {
        match *happening {
            Happening::Message { from, to, comm, tag, bytes, sent, received } => {
                let on = |rank| if comm == 0 { format!("{rank}") } else { format!("{rank} on {comm}") };
                let message = |peer| format!("{peer} {tag} {bytes}");
                match sent {
                    "sendrecv" => self.line(&format!("{} sendrecv {} - - -", on(from), message(to))),
                    "send_init" => {
                        let id = self.request(from, true);
                        self.line(&format!("{} send_init {} {id}\n{from} start {id}", on(from), message(to)));
                    }
                    call if call.starts_with('i') => {
                        let id = self.request(from, false);
                        self.line(&format!("{} {call} {} 6 {id}", on(from), message(to)));
                    }
                    call => self.line(&format!("{} {call} {}", on(from), message(to))),
                }
                match received {
                    "sendrecv" => self.line(&format!("{} sendrecv - - - {}", on(to), message(from))),
                    "recv" => self.line(&format!("{} recv {}", on(to), message(from))),
                    "irecv" => {
                        let id = self.request(to, false);
                        self.line(&format!("{} irecv {} 6 {id}", on(to), message(from)));
                    }
                    "wild" => {
                        let id = self.request(to, false);
                        self.line(&format!("{} irecv * * {bytes} 6 {id}\n{to} matched {id} {from} {tag}", on(to)));
                    }
                    _ => {
                        let id = self.request(to, true);
                        self.line(&format!("{} recv_init {} {id}\n{to} start {id}", on(to), message(from)));
                    }
                }
            }
            Happening::Compute(rank, work) => self.line(&format!("{rank} compute {work}")),
            Happening::Wait(rank, which) => {
                let count = self.outstanding[rank as usize].len();
                if count > 0 {
                    let at = which.index(count);
                    self.complete(rank, at..=at);
                }
            }
            Happening::Waitall(rank) => self.complete(rank, 0..),
            Happening::Collective(comm, call) => {
                (0..RANKS).for_each(|rank| self.line(&format!("{rank} on {comm} {}", rooted(call, comm, rank))));
            }
            Happening::Background(ref all) => {
                for &(comm, call) in all {
                    for rank in 0..RANKS {
                        let id = self.request(rank, false);
                        let (word, volumes) = call.split_once(' ').unwrap_or((call, ""));
                        let volumes = rooted(volumes, comm, rank);
                        self.line(&format!("{rank} on {comm} i{word} {id} {volumes}"));
                    }
                }
                for rank in 0..RANKS {
                    let before = self.outstanding[rank as usize].len() - all.len();
                    self.complete(rank, before..);
                }
            }
        }
    }
}

/// A call with the rank of its root: one that is a member with `rank`.
fn rooted(call: &str, comm: u32, rank: u32) -> String {
    call.replace("ROOT", if comm == 3 && rank.is_multiple_of(2) { "2" } else { "1" })
}

/// A trace converted: what each rank does in it, and what SimGrid cannot be told.
fn converted(trace: &str, mpi: &Mpi, folder: &Path) -> (Vec<Vec<Event>>, Losses) {
    let rules = Rules { collectives: mpi.collectives.clone(), eager_threshold: mpi.eager_threshold };
    let written = simgrid::convert(Workload::of_lists(events(RANKS, trace)), &rules, folder).unwrap();
    let source = Source::open(&written.index).unwrap();
    let all = source
        .streams()
        .unwrap()
        .into_iter()
        .map(|mut stream| std::iter::from_fn(|| stream.next_event().unwrap()).collect());
    (all.collect(), written.losses)
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
        let (after, losses) = converted(&trace, &mpi, folder.path());
        let after = run(after, &mpi).map_err(|error| TestCaseError::fail(format!("{error}\n{trace}")))?;
        prop_assert_eq!(after.warnings.as_slice(), [""; 0]);
        prop_assert_eq!((after.messages, after.bytes), (before.messages, before.bytes));
        if losses == Losses::default() {
            prop_assert_eq!(after.simulated_time, before.simulated_time, "{}", trace);
        }
    }
}

/// A trace with every kind of event, as it comes out.
const EVERY_KIND: [&str; 3] = [
    "\
0 init
0 compute 1000
0 sleep 0.5
0 send 1 7 100
0 ssend 1 7 100
0 bsend 1 7 100
0 bsend 1 7 100000
0 rsend 1 7 100
0 isend 1 7 100 6 0
0 issend 1 7 100 6 1
0 ibsend 1 7 100000 6 2
0 wait 0 1 7 1
0 waitall_of 0,2
0 sendrecv 1 3 10 1 4 20
0 sendrecv 1 3 10 - - -
0 send_init 1 5 64 0
0 start 0
0 wait_of 0
0 start 0
0 waitall_of 0
0 request_free 0
0 comm_dup 2 0 0-2
0 comm_split 3 0 1,0
0 on 2 send 1 7 100
0 on 3 send 1 7 100
0 on 3 allreduce 800 100 6 8
0 on 2 barrier
0 alltoallw 3 1 1 1 3 1 1 1
0 reducescatter_block 8 5 6 8
0 on 3 iallreduce 0 8 20 6 8
0 on 3 ibarrier 1
0 wait_of 1
0 wait_of 0
0 comm_free 3
0 intercomm_create 3 0 0 1
0 on 3 barrier
0 finalize
",
    "\
1 init
1 recv 0 7 100
1 recv 0 7 100
1 recv 0 7 100 6 any_source
1 irecv 0 7 100000 6 0
1 irecv 0 7 100 6 1
1 wait_of 1
1 wait_of 0
1 irecv * * 100 6 0
1 irecv * 7 100 6 1
1 irecv * * 8 6 2
1 testany -
1 matched 0 0 7
1 testsome_of 0
1 matched 1 0 7
1 waitany_of 1
1 cancel 2
1 wait_of 2
1 probe 0 7 100
1 iprobe none 0 7 100
1 irecv 0 9 100 6 0
1 cancel 0
1 wait_of 0
1 irecv 0 9 100 6 0
1 recv 0 7 100000
1 sendrecv 0 4 20 0 3 10
1 sendrecv - - - 0 3 10
1 recv_init 0 5 64 1 any_tag
1 start 1
1 test_of 1
1 start 1
1 waitall_of 1
1 request_free 1
1 comm_dup 2 0 0-2
1 comm_split 3 0 1,0
1 on 3 recv 0 7 100
1 on 2 recv 0 7 100
1 on 3 allreduce 800 100 6 8
1 on 2 barrier
1 alltoallw 3 1 1 1 3 1 1 1
1 reducescatter_block 8 5 6 8
1 on 3 iallreduce 1 8 20 6 8
1 on 3 ibarrier 2
1 waitall_of 1,2
1 comm_free 3
1 intercomm_create 3 0 1 0
1 on 3 barrier
1 finalize
",
    "\
2 init
2 comm_dup 2 0 0-2
2 comm_split - 0
2 on 2 barrier
2 alltoallw 3 1 1 1 3 1 1 1
2 reducescatter_block 8 5 6 8
2 finalize
",
];

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

/// A platform of 16 hosts, as SimGrid describes it and both read it.
fn platform(name: &str) -> PathBuf {
    here("tests/data/simgrid/platforms").join(name)
}

/// The simulated time of a trace.
fn titr_says(trace: &Path, platform: &Path, collectives: &str) -> f64 {
    let platform = Platform::load(platform, &[format!("mpi.collectives=\"{collectives}\"")]).unwrap();
    let source = Source::open(trace).unwrap();
    let hosts = platform.place(source.ranks()).unwrap().0.into_iter();
    let seats = hosts.map(|host| Seat { host, speed: platform.speed(host) }).collect();
    let workload = Workload::new(source.streams().unwrap());
    let mut network = platform.network();
    let outcome = replay(workload, seats, &platform.mpi, network.as_mut(), (), Options::default());
    outcome.unwrap_or_else(|error| panic!("{}: {error}", trace.display())).simulated_time.seconds().0
}

/// Whether SimGrid is here; if not, the test says that it looks at nothing.
fn has_simgrid() -> bool {
    let found = Command::new("smpirun").arg("-version").output().is_ok();
    if !found {
        eprintln!("smpirun is not installed (ci/install test): nothing is compared with SimGrid");
    }
    found
}

/// The simulated time of an index that SimGrid is given.
fn simgrid_says(index: &Path, platform: &Path, ranks: u32) -> f64 {
    let folder = Folder::new();
    let hosts: String = (0..16).map(|host| format!("node-{host}\n")).collect();
    let mut command = Command::new("smpirun");
    command.arg("-np").arg(ranks.to_string()).arg("-platform").arg(platform);
    command.arg("-hostfile").arg(folder.file("hosts", hosts));
    // All digits of the time that a message is said at.
    let output = command.arg("-replay").arg(index).arg("--log=root.fmt:%.12r%e%m%n").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let time = said.lines().find_map(|line| line.split_once(" Simulation time")?.0.parse().ok());
    time.unwrap_or_else(|| panic!("{}: {said}{}", index.display(), String::from_utf8_lossy(&output.stdout)))
}

/// titr's time of a trace, SimGrid's of what it is converted to, and whether that is told to be something else.
fn both(trace: &Path, platform: &Path, collectives: &str) -> (f64, f64, bool) {
    let folder = Folder::new();
    let out = folder.path().join("out");
    let paths = [trace, &out].map(|path| path.to_str().unwrap());
    let arguments = ["convert", "--to", "simgrid", paths[0], "--output", paths[1], "--collectives", collectives];
    let said = folder.run(TITR, &arguments);
    assert!(said.ends_with("[0]"), "{said}");
    let ranks = Source::open(trace).unwrap().ranks();
    let simgrid = simgrid_says(&out.join("index.txt"), platform, ranks);
    (titr_says(trace, platform, collectives), simgrid, said.lines().count() > 2)
}

fn agree(titr: f64, simgrid: f64) -> bool {
    (titr - simgrid).abs() <= 1e-3 * simgrid
}

fn assert_agreement(trace: &Path, platform: &Path, collectives: &str) {
    let (titr, simgrid, _) = both(trace, platform, collectives);
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
    for trace in &recorded {
        for collectives in ["simgrid", "openmpi", "mpich"] {
            // Two collectives at once in the background, which SimGrid carries out one after the other.
            if collectives == "simgrid" || !trace.ends_with("nonblocking_collectives") {
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
        let (titr, simgrid, told) = both(&folder.file("trace", &program), &platform(on), "simgrid");
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
    let (titr, simgrid, _) = both(&folder.file("trace", trace), &platform("cluster16.xml"), "simgrid");
    assert!((0.0..1e-3).contains(&(simgrid - titr)), "titr says {titr}, SimGrid {simgrid}");
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
