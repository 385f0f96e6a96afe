//! Programs of several worlds: their traces are found, read as one, and replayed like a program of one world.

use std::path::PathBuf;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};
use titr_common::event::{Event, Rank};
use titr_common::trace::encounter::{Encounter, Runs, Side};
use titr_common::trace::manifest::{Counter, Ended, Mode, RankEntry, VERSION};
use titr_common::trace::{Manifest, StreamWriter};
use titr_common::units::{Quantity, Seconds};
use titr_formats::input;
use titr_platform::{Mpi, Spawn};
use titr_test_machine::{events, finishes, mpi, run};

/// The encounter of the ranks `members` with those that they call `remote`, whose link the first of them knows.
fn met(side: Side, link: &str, members: &[u32], remote: &[u32], at: u64) -> Encounter {
    let runs = |list: &[u32]| list.iter().copied().collect::<Runs>();
    Encounter { side, root: members[0], link: Some(link.to_owned()), members: runs(members), remote: runs(remote), at }
}

/// Writes the trace of a world, in which the first rank of an encounter alone knows its link.
fn world(folder: &Folder, name: &str, ranks: &[&str], encounters: &[Encounter]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::create_dir(&path).unwrap();
    let size = ranks.len() as u32;
    let (titr, mode, config) = (VERSION, Mode::Ti, Default::default());
    let (command, mpi, untraced_ranks, per_rank) = (vec![name.to_owned()], "MPI".to_owned(), Vec::new(), Vec::new());
    Manifest {
        titr,
        mode,
        ranks: size,
        untraced_ranks,
        foreign: None,
        started: None,
        combined: None,
        names: Vec::new(),
        command,
        mpi,
        config,
        per_rank,
    }
    .write(&path)
    .unwrap();
    for (rank, lines) in (0..).zip(ranks) {
        let text: String = lines.lines().map(|line| format!("{rank} {}\n", line.trim())).collect();
        let mut stream = StreamWriter::create(&path, Rank(rank), 3).unwrap();
        stream.write_member(text.as_bytes()).unwrap();
        let events = text.lines().count() as u64;
        let written = stream.finish(events).unwrap();
        let own = encounters.iter().filter(|met| met.members.iter().any(|member| member == rank));
        let own = own.cloned().map(|met| Encounter { link: met.link.filter(|_| met.root == rank), ..met });
        let mut entry = RankEntry::new(Rank(rank), Counter::exact("cpu"));
        (entry.run, entry.host) = (format!("run of {name}"), "node-1".to_owned());
        (entry.ended, entry.events, entry.crc32) = (Ended::Finalize, events, Some(written.crc32));
        entry.encounters = own.collect();
        entry.end(&path, size).unwrap();
    }
    path
}

/// The events of all ranks of the traces at `places`, and of those that are found beside them.
fn all(places: &[PathBuf]) -> Vec<Vec<Event>> {
    let trace = input::open(places).unwrap();
    assert_eq!(trace.untranslated(), [""; 0]);
    let read = |mut stream: titr_common::trace::RankStream| {
        let mut events = Vec::new();
        while let Some(event) = stream.next_event().unwrap() {
            events.push(event);
        }
        events
    };
    trace.streams().unwrap().into_iter().map(read).collect()
}

/// What two parents and three children do once they have met: `INTER` is their inter-communicator, a peer `c0` the first
/// child, `p1` the second parent.
const PARENT: [&str; 2] = [
    "compute 3000\nSPAWN\non INTER send c0 7 5000\non INTER recv c0 7 5000\nMERGE\non MERGED allreduce 800 100\non INTER bcast 1000 p0\nbarrier\ncomm_free MERGED\ncomm_free INTER",
    "SPAWN\non INTER isend c2 1 20000 6 0\nwait_of 0\nMERGE\non MERGED allreduce 800 100\non INTER bcast 0 -\nbarrier\ncomm_free MERGED\ncomm_free INTER",
];
const CHILD: [&str; 3] = [
    "SPAWN\non INTER recv p0 7 5000\non INTER send p0 7 5000\nMERGE\non MERGED allreduce 800 100\non INTER bcast 1000 p0\nbarrier\ncomm_free MERGED\ncomm_free INTER",
    "SPAWN\ncompute 9000\nMERGE\non MERGED allreduce 800 100\non INTER bcast 1000 p0\nbarrier\ncomm_free MERGED\ncomm_free INTER",
    "SPAWN\non INTER recv p1 1 20000\nMERGE\non MERGED allreduce 800 100\non INTER bcast 1000 p0\nbarrier\ncomm_free MERGED\ncomm_free INTER",
];

/// A rank's lines with these words in place of those in capitals, and peers from these numbers on.
fn lines(text: &str, words: [(&str, &str); 4], parents: u32, children: u32) -> String {
    let text = words.iter().fold(text.to_owned(), |text, (name, word)| text.replace(name, word));
    let names = (0..3).map(|n| (format!("p{n}"), parents + n)).chain((0..3).map(|n| (format!("c{n}"), children + n)));
    names.fold(text, |text, (name, rank)| text.replace(&name, &rank.to_string()))
}

/// The traces of both worlds, in each of which the other's ranks are numbered on from its own.
fn two_worlds(folder: &Folder, child: &str) -> [PathBuf; 2] {
    let words = |spawn, merge| [("SPAWN", spawn), ("INTER", "2"), ("MERGED", "3"), ("MERGE", merge)];
    let parents = PARENT.map(|text| {
        format!("init\n{}\nfinalize", lines(text, words("comm_spawn 2 0 0-1 2-4", "intercomm_merge 3 2 0-4"), 0, 2))
    });
    let children = CHILD.map(|text| {
        format!(
            "init\n{}\nfinalize",
            lines(text, words("comm_parent 2 0 0-2 3-4", "intercomm_merge 3 2 3-4,0-2"), 3, 0)
        )
    });
    [
        world(
            folder,
            "traces",
            &parents.each_ref().map(String::as_str),
            &[met(Side::Spawn, "a.0.1", &[0, 1], &[2, 3, 4], 5)],
        ),
        world(
            folder,
            child,
            &children.each_ref().map(String::as_str),
            &[met(Side::Parent, "a.0.1", &[0, 1, 2], &[3, 4], 6)],
        ),
    ]
}

/// The same program in one world: its two groups are made by nobody, as worlds are.
fn one_world() -> Vec<Vec<Event>> {
    let words = |own| {
        // Those who are spawned begin with that, and answer: all agree twice, as they do for a duplicate.
        let spawn = if own == 0 {
            "intercomm_create 3 2 0-1 2-4\ncomm_dup 5 3 0-1 2-4"
        } else {
            "intercomm_create 3 2 2-4 0-1\ncomm_dup 5 3 2-4 0-1"
        };
        [("SPAWN", spawn), ("INTER", "3"), ("MERGED", "4"), ("MERGE", "intercomm_merge 4 3 0-4")]
    };
    let rank = |own: usize, world: &str, text: &str| {
        let text = lines(text, words(own), 0, 2).replace("barrier", "on 2 barrier");
        format!("init\n{world}\n{text}\nfinalize")
    };
    let parents = PARENT.map(|text| rank(0, "comm_world 2 0 0-1", text));
    let children = CHILD.map(|text| rank(2, "comm_world 2 0 2-4", text));
    let all = parents.iter().chain(&children);
    let text: String = (0..)
        .zip(all)
        .flat_map(|(rank, text): (u32, _)| text.lines().map(move |line| format!("{rank} {line}\n")).collect::<Vec<_>>())
        .collect();
    events(5, &text)
}

#[test]
fn two_worlds_take_as_long_as_one_with_the_same_groups() {
    let folder = Folder::new();
    let [parents, children] = two_worlds(&folder, "traces-2");
    let expected = run(one_world(), &mpi()).unwrap();
    for places in [vec![parents.clone()], vec![parents.clone(), children.clone()]] {
        let outcome = run(all(&places), &mpi()).unwrap();
        assert_eq!(outcome.warnings, [""; 0]);
        assert_eq!(finishes(&outcome), finishes(&expected));
    }
    // The worlds that are named come first.
    let turned = run(all(&[children]), &mpi()).unwrap();
    assert_eq!((turned.ranks, turned.messages), (5, expected.messages));
}

/// The parent says that it spawns, four bytes in 2.004 µs, and then the child answers.
#[test]
fn a_spawn_waits_for_its_root_and_the_root_for_the_children() {
    let folder = Folder::new();
    let parent = "init\ncompute 100000\ncomm_spawn 2 0 0 1\non 2 send 1 7 1000\nfinalize";
    let child = "init\ncomm_parent 2 0 0 1\non 2 recv 1 7 1000\nfinalize";
    let place = world(&folder, "traces", &[parent], &[met(Side::Spawn, "a.0.1", &[0], &[1], 5)]);
    world(&folder, "traces-2", &[child], &[met(Side::Parent, "a.0.1", &[0], &[1], 6)]);
    assert_eq!(finishes(&run(all(&[place]), &mpi()).unwrap()), [104.008, 107.008]);
}

/// The processes begin when they have been started: 50 µs for the call and 3 µs for each.
#[test]
fn a_spawn_takes_as_long_as_the_platform_says() {
    let folder = Folder::new();
    let parents = ["init\ncompute 100000\ncomm_spawn 2 0 0-1 2-3\nfinalize", "init\ncomm_spawn 2 0 0-1 2-3\nfinalize"];
    let child = "init\ncomm_parent 2 0 0-1 2-3\nfinalize";
    let place = world(&folder, "traces", &parents, &[met(Side::Spawn, "a.0.1", &[0, 1], &[2, 3], 5)]);
    world(&folder, "traces-2", &[child, child], &[met(Side::Parent, "a.0.1", &[0, 1], &[2, 3], 6)]);
    let time = |spawn| run(all(std::slice::from_ref(&place)), &Mpi { spawn, ..mpi() }).unwrap();
    let micro = |time: f64| Quantity(Seconds(time * 1e-6));
    let (free, slow) = (time(Spawn::default()), time(Spawn { call: micro(50.0), process: micro(3.0) }));
    for (slow, free) in finishes(&slow).into_iter().zip(finishes(&free)) {
        assert!((slow - free - 56.0).abs() < 1e-9, "{slow} {free}");
    }
    assert_eq!((free.spawned, slow.spawned), (2, 2));

    let platform = here("../examples/torus.toml").display().to_string();
    let text = |options: &[&str]| folder.run(TITR_REPLAY, &[&["--platform", &platform], options, &["traces"]].concat());
    let told = "2 processes spawned in no time: mpi.spawn of the platform says how long it takes\n";
    assert!(text(&[]).contains(told));
    assert!(!text(&["--set", "mpi.spawn.call=50 us"]).contains("spawned"));
    assert!(text(&["--set", "mpi.spawn.calls=50 us"]).contains("unknown key `calls`"));
}

/// The two worlds meet twice at one port, and number each other as they did the first time.
#[test]
fn worlds_connect_twice_at_one_port() {
    let folder = Folder::new();
    let lines = |word: &str| {
        format!(
            "init\n{word} 2 0 0 1\non 2 sendrecv 1 7 1000 1 7 1000\ncomm_free 2\n{word} 2 0 0 1\non 2 barrier\ncomm_free 2\nfinalize"
        )
    };
    let meetings = |side, at: u64| [met(side, "port x", &[0], &[1], at), met(side, "port x", &[0], &[1], at + 10)];
    let place = world(&folder, "server", &[&lines("comm_accept")], &meetings(Side::Accept, 4));
    world(&folder, "client", &[&lines("comm_connect")], &meetings(Side::Connect, 7));
    let outcome = run(all(&[place]), &mpi()).unwrap();
    let ends = finishes(&outcome);
    // Twice an agreement of 2.004 µs, a message each way of 3 µs, and a barrier of a byte there and then a byte back.
    assert_eq!(ends.iter().copied().fold(0.0, f64::max), 11.01);
}

#[test]
fn the_commands_take_all_worlds_together() {
    let folder = Folder::new();
    two_worlds(&folder, "traces-2");
    assert_eq!(folder.run(TITR, &["check", "traces"]), "traces: sound\n[0]");
    let platform = here("../examples/torus.toml").display().to_string();
    let text = folder.run(TITR_REPLAY, &["--platform", &platform, "traces"]);
    assert!(text.contains("5 ranks,") && text.contains("ranks 0–1: the world of traces\n"), "{text}");
    assert!(text.contains("ranks 2–4: the world of traces-2\n"), "{text}");
    let together = folder.run(TITR_REPLAY, &["--platform", &platform, "traces", "traces-2"]);
    assert!(together.contains("ranks 2–4: the world of traces-2\n"), "{together}");
    let info = folder.run(TITR, &["info", "traces-2"]);
    assert!(info.contains("other worlds  rank 0 has been spawned by 2 processes\n"), "{info}");

    // Converted, they are a trace of one world.
    let converted = folder.run(TITR, &["convert", "--to", "ti", "traces", "-o", "one"]);
    assert!(converted.ends_with("[0]"), "{converted}");
    assert_eq!(folder.run(TITR, &["check", "one"]), "one: sound\n[0]");
    let alone = Folder::new();
    std::fs::rename(folder.path().join("one"), alone.path().join("one")).unwrap();
    let time = |text: &str| text.lines().nth(2).unwrap().to_owned();
    assert_eq!(time(&alone.run(TITR_REPLAY, &["--platform", &platform, "one"])), time(&text));
}

/// A speed for traces that say nothing of the speed of their machine.
const SPEED: &str = "hosts.speed=2.5 Ginstr/s";

#[test]
fn a_world_whose_trace_is_missing_is_named() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("moved")).unwrap();
    two_worlds(&folder, "moved/traces-2");
    let platform = here("../examples/torus.toml").display().to_string();
    let report = folder.run(TITR_REPLAY, &["--platform", &platform, "--set", SPEED, "--json", "traces"]);
    let report: serde_json::Value = serde_json::from_str(report.trim_end_matches("[0]")).unwrap();
    assert_eq!(report["ranks"], 2);
    insta::assert_snapshot!(report["warnings"]);
    insta::assert_snapshot!(folder.run(TITR, &["check", "traces"]));
    let report =
        folder.run(TITR_REPLAY, &["--platform", &platform, "--set", SPEED, "--json", "traces", "moved/traces-2"]);
    let report: serde_json::Value = serde_json::from_str(report.trim_end_matches("[0]")).unwrap();
    assert_eq!((&report["ranks"], report["warnings"].as_array().unwrap().len()), (&5.into(), 0));
}

#[test]
fn traces_that_contradict_each_other_are_refused() {
    let folder = Folder::new();
    two_worlds(&folder, "traces-2");
    let child = "init\ncomm_parent 2 0 0 1-2\nfinalize";
    world(&folder, "traces-3", &[child], &[met(Side::Parent, "a.0.1", &[0], &[1, 2], 6)]);
    insta::assert_snapshot!(folder.run(TITR, &["check", "traces"]));
    std::fs::remove_dir_all(folder.path().join("traces-2")).unwrap();
    insta::assert_snapshot!(folder.run(TITR, &["check", "traces"]));
}
