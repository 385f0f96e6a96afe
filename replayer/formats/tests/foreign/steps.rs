//! Random programs of titr's own traces, made of steps that all ranks take.

use std::fs;
use std::path::{Path, PathBuf};

use titr_common::event::{Rank, ThreadId};
use titr_common::grammar::Parser;
use titr_common::trace::manifest::Mode;
use titr_common::trace::{Manifest, RankWriter};

/// Writes a trace of titr's without times, with these lines for each rank.
pub(crate) fn native(directory: &Path, lines: &[Vec<String>]) -> PathBuf {
    native_of(Mode::Ti, directory, lines)
}

/// Writes a trace of titr's with these lines for each rank.
pub(crate) fn native_of(mode: Mode, directory: &Path, lines: &[Vec<String>]) -> PathBuf {
    let path = directory.join("traces");
    fs::create_dir(&path).unwrap();
    let ranks = lines.len() as u32;
    let mut manifest = Manifest { mode, ..Manifest::of_unknown_origin(ranks) };
    for (rank, lines) in (0..).zip(lines) {
        let (mut writer, mut parser) = (RankWriter::create(&path, Rank(rank)).unwrap(), Parser::new(ranks));
        for line in lines {
            let (_, event) = parser.line(format!("{rank} {line}").as_bytes()).unwrap().unwrap();
            writer.write(ThreadId::MAIN, &event).unwrap();
        }
        let entry = &mut manifest.per_rank[rank as usize];
        *entry = writer.finish(entry.clone()).unwrap();
    }
    manifest.write(&path).unwrap();
    path
}

/// The ranks of random programs.
const RANKS: u32 = 3;

/// A step of all ranks: a line, in which `R`, `N` and `P` stand for the rank, the next one and the one before.
pub(crate) const STEPS: [&[&str]; 22] = [
    &["compute 1000", "barrier"],
    &["sendrecv N 7 800 P 7 800"],
    &["isend N 1 64 6 0", "irecv P 1 64 6 1", "compute 5", "waitall_of 0-1"],
    &["irecv P 1 64 6 0", "compute 12.5", "issend N 1 60 6 1", "wait_of 0", "wait_of 1"],
    &["irecv * * 64 6 0 any", "isend N 9 64 6 1", "test -", "matched 0 P 9", "waitsome_of 0", "wait R N 9 1"],
    &["allreduce 800 100 0"],
    &["allreduce 810 33"],
    &["bcast 4096 1", "compute 77", "barrier"],
    &["gather 40 0 0 6 6"],
    &["ibarrier 0", "compute 4", "wait_of 0"],
    &["allgatherv 10 10 10 10 6 6"],
    &["alltoallv 60 10 20 30 60 20 20 20 6 6"],
    &["region_begin step", "compute 9", "barrier", "compute 2", "region_end step"],
    &["region_begin a", "region_begin b", "region_end a", "barrier", "region_end b"],
    &["pcontrol 2", "compute 31", "barrier"],
    &["send_init N 3 100 0", "recv_init P 3 100 1", "start 0-1", "waitall_of 0-1", "request_free 0", "request_free 1"],
    &["irecv P 99 8 6 0", "cancel 0", "wait_of 0"],
    &["comm_dup 2 0 0-2", "on 2 barrier", "on 2 sendrecv N 4 9 P 4 9", "comm_free 2"],
    &["comm_split 2 0 0-2", "comm_dup 3 2 0-2", "on 3 allreduce 80 10", "comm_free 2", "comm_free 3"],
    &["on 1 barrier"],
    &["win_create 0 800", "win_fence 0", "put 0 N 100 0", "win_fence 0", "win_free 0"],
    &["sleep 0.001", "compute 3", "call MPIX_Harmonize 10 20"],
];

fn lines(step: usize, rank: u32) -> impl Iterator<Item = String> {
    let (next, before) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
    let word = move |word: &str| match word {
        "R" => rank.to_string(),
        "N" => next.to_string(),
        "P" => before.to_string(),
        word => word.to_owned(),
    };
    STEPS[step].iter().map(move |line| line.split(' ').map(word).collect::<Vec<_>>().join(" "))
}

/// The lines of all ranks of a program with these steps.
pub(crate) fn program(steps: &[usize]) -> Vec<Vec<String>> {
    let of = |rank| {
        let body = steps.iter().flat_map(|&step| lines(step, rank));
        std::iter::once("init".to_owned()).chain(body).chain(["finalize".to_owned()]).collect()
    };
    (0..RANKS).map(of).collect()
}
