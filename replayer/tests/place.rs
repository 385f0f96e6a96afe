//! `titr place`: the placement is at least as fast as those that it is compared with, and a replay with it is as fast as it says.

use std::fs;

use serde_json::Value;

use crate::support::command::{Folder, TITR, TITR_REPLAY};
use crate::timeline::generated;

/// Faces of a plane, which 64 hosts in a cube have.
const STENCIL: &str = "stencil --ranks 64 --dimensions 8x8 --torus --bytes 256KiB --iterations 2 --compute 1e6";

/// A cube of hosts.
const CUBE: &str = "schema = 1\n[hosts]\nspeed = '1 Ginstr/s'\n[topology.torus]\ndims = [4, 4, 4]\n[network]\n\
                    bandwidth = '10 Gbit/s'\nlatency = '1 us'\n";

/// Eight hosts of two cores in a ring.
const RING: &str = "schema = 1\n[hosts]\nspeed = '1 Ginstr/s'\ncores = 2\n[topology.torus]\ndims = [8]\n[network]\n\
                    bandwidth = '10 Gbit/s'\nlatency = '1 us'\n";

fn folder_of(program: &str, platform: &str) -> Folder {
    let folder = generated(program);
    folder.file("p.toml", platform);
    folder
}

fn place(folder: &Folder, options: &[&str]) -> String {
    folder.run(TITR, &[&["place", "--platform", "p.toml", "--output", "ranks", "t"], options].concat())
}

fn json(shown: &str) -> Value {
    serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap()
}

fn times(list: &Value) -> Vec<f64> {
    let of = |one: &Value| one.as_f64().or_else(|| one["simulated_time"].as_f64()).unwrap();
    list.as_array().unwrap().iter().map(of).collect()
}

#[test]
fn a_stencil_gains_on_a_torus_and_a_replay_says_so_too() {
    let folder = folder_of(STENCIL, CUBE);
    let found = json(&place(&folder, &["--json", "--replays", "16", "--placement-file", "hosts"]));
    let time = found["simulated_time"].as_f64().unwrap();
    let random = times(&found["random"]["simulated_times"]);
    assert_eq!((random.len(), found["replays"].as_u64()), (10, Some(16)));
    assert!(random.iter().all(|random| time < *random), "{time} {random:?}");
    assert!(times(&found["methods"]).iter().all(|other| time <= *other), "{found}");

    let replayed = |settings: &[&str]| {
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let options: Vec<&str> = ["--platform", "p.toml", "--json", "t"].into_iter().chain(settings).collect();
        json(&folder.run(TITR_REPLAY, &options))["simulated_time"].as_f64().unwrap()
    };
    assert_eq!(replayed(&["placement.policy=file", "placement.file=hosts"]), time);
    assert_eq!(replayed(&["placement.policy=block"]), times(&found["methods"])[0]);
    assert_eq!(replayed(&["placement.policy=random", "placement.seed=9"]), random[9]);

    let hosts: Vec<u64> = found["hosts"].as_array().unwrap().iter().map(|host| host.as_u64().unwrap()).collect();
    let line = |(rank, host): (usize, &u64)| format!("rank {rank}=+n{host} slot=0\n");
    let expected: String = hosts.iter().enumerate().map(line).collect();
    assert_eq!(fs::read_to_string(folder.path().join("ranks")).unwrap(), expected);
}

/// Each rank exchanges messages with the rank at a distance of 6 only: pairs share a host, where messages take no link.
#[test]
fn partners_get_the_same_host() {
    let folder = Folder::new();
    folder.file("p.toml", RING);
    let rank = |rank: u32| {
        let other = (rank + 6) % 12;
        let (send, receive) = (format!("{rank} send {other} 0 1000000\n"), format!("{rank} recv {other} 0 1000000\n"));
        let exchange = if rank < 6 { send + &receive } else { receive + &send };
        format!("{rank} init\n{exchange}{rank} finalize\n")
    };
    folder.file("t", (0..12).map(rank).collect::<String>());
    let found = json(&place(&folder, &["--json", "--replays", "0"]));
    let hosts = found["hosts"].as_array().unwrap();
    assert!((0..6).all(|rank| hosts[rank] == hosts[rank + 6]), "{hosts:?}");
    assert_eq!((&found["found_by"], &found["replays"]), (&"mapping".into(), &0.into()));
}

/// A host of two sockets, between which messages are slow: ranks that exchange messages with the rank at a distance of 4 get the
/// same socket, and a replay with the file is as fast as predicted.
#[test]
fn partners_get_the_same_socket() {
    let folder = Folder::new();
    folder.file(
        "p.toml",
        "schema = 1\n[hosts]\ncount = 1\ncores = 8\nspeed = '1 Ginstr/s'\n[topology.star]\n[network]\nbandwidth = '1 GB/s'\n\
         latency = '1 us'\n[[node.level]]\nname = 'socket'\ncores = 4\nlatency = '200 ns'\nbandwidth = '20 GB/s'\n\
         [[node.level]]\nname = 'node'\nlatency = '2 us'\nbandwidth = '500 MB/s'\n",
    );
    let rank = |rank: u32| {
        let other = (rank + 4) % 8;
        let (send, receive) = (format!("{rank} send {other} 0 1000000\n"), format!("{rank} recv {other} 0 1000000\n"));
        let exchange = if rank < 4 { send + &receive } else { receive + &send };
        format!("{rank} init\n{exchange}{rank} finalize\n")
    };
    folder.file("t", (0..8).map(rank).collect::<String>());
    let found = json(&place(&folder, &["--json", "--replays", "0", "--placement-file", "seats"]));
    let cores = found["cores"].as_array().unwrap();
    let socket = |rank: usize| cores[rank].as_u64().unwrap() / 4;
    assert!((0..4).all(|rank| socket(rank) == socket(rank + 4)), "{cores:?}");
    let (time, block) = (found["simulated_time"].as_f64().unwrap(), times(&found["methods"])[0]);
    assert!(2.0 * time < block, "{time} {block}");
    let of_file = ["--set", "placement.policy=file", "--set", "placement.file=seats"];
    let replay = [&["--platform", "p.toml", "--json", "t"], &of_file[..]].concat();
    let replayed = json(&folder.run(TITR_REPLAY, &replay));
    assert_eq!(replayed["simulated_time"].as_f64().unwrap(), time);
    let file = fs::read_to_string(folder.path().join("ranks")).unwrap();
    let slot = |(rank, core): (usize, &Value)| format!("rank {rank}=+n0 slot={core}\n");
    assert_eq!(file, cores.iter().enumerate().map(slot).collect::<String>());

    folder.file("twice", "0 slot=1\n0 slot=1\n");
    folder.file("some", "0 slot=1\n0\n");
    folder.file("u", "0 init\n0 finalize\n1 init\n1 finalize\n");
    let refused = ["twice", "some"].map(|file| {
        let file = format!("placement.file={file}");
        folder.run(TITR_REPLAY, &["--platform", "p.toml", "u", "--set", "placement.policy=file", "--set", &file])
    });
    assert!(
        refused[0].contains("puts rank 1 on slot 1 of host 0, which is not one of its 8 cores that are free"),
        "{refused:?}"
    );
    assert!(refused[1].contains("some:2: some ranks have a slot, and others have none"), "{refused:?}");
}

#[test]
fn nothing_depends_on_the_number_of_jobs() {
    let folder = folder_of("stencil --ranks 12 --dimensions 3x4 --bytes 64KiB --iterations 2", RING);
    let found = |jobs| place(&folder, &["--json", "--replays", "20", "--jobs", jobs]);
    assert_eq!(found("1"), found("5"));
}

#[test]
fn a_host_without_a_name_has_no_rank() {
    let folder = folder_of("stencil --ranks 8 --dimensions 2x4 --bytes 64KiB", RING);
    folder.file("names", "a slots=2\n-\n-\nb:2\nc\nd\n-\n-\n");
    for (reader, expected) in [("openmpi", 8), ("mpich", 4), ("slurm", 8)] {
        let found = place(&folder, &["--json", "--hosts-file", "names", "--for", reader, "--replays", "8"]);
        let hosts = json(&found)["hosts"].clone();
        assert!(hosts.as_array().unwrap().iter().all(|host| [0, 3, 4, 5].contains(&host.as_u64().unwrap())), "{hosts}");
        let file = fs::read_to_string(folder.path().join("ranks")).unwrap();
        assert!(file.lines().count() >= expected && !file.contains("+n"), "{reader}: {file}");
        let names = ["a", "b", "c", "d"];
        let count = |name: &str| match reader {
            "openmpi" => file.matches(&format!("={name} slot=")).count(),
            "mpich" => {
                file.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.parse::<usize>().ok()).sum()
            }
            _ => file.lines().filter(|line| *line == name).count(),
        };
        assert_eq!(names.map(count), [2; 4], "{reader}: {file}");
    }
}

#[test]
fn what_is_wrong_is_said_once_and_nothing_is_written() {
    let folder = folder_of("stencil --ranks 20 --dimensions 4x5 --bytes 64KiB", RING);
    folder.file("two", "a\nb\n");
    folder.file("five", "a\nb\nc\nd\n-\n-\n-\ne\n");
    let with = |options: &[&str]| {
        let shown = place(&folder, options);
        assert!(!folder.path().join("ranks").exists(), "{shown}");
        shown
    };
    let shown = [
        with(&[]),
        with(&["--set", "hosts.cores=3", "--hosts-file", "two"]),
        with(&["--set", "hosts.cores=3", "--hosts-file", "five"]),
        with(&["--set", "hosts.cores=3", "--hosts-file", "missing"]),
        with(&["--set", "hosts.cores=3", "--for", "slurm"]),
        with(&["--set", "hosts.cores=3", "--placement-file", "ranks"]),
        with(&["--set", "hosts.cores=3", "--placement-file", "nowhere/hosts"]),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_placement_for_people() {
    let cube = folder_of(STENCIL, CUBE);
    let ring = folder_of("stencil --ranks 16 --dimensions 4x4 --bytes 256KiB", RING);
    insta::assert_snapshot!([place(&cube, &["--replays", "8"]), place(&ring, &["--replays", "0"])].join("\n"));
}
