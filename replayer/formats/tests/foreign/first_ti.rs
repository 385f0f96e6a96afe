//! Traces of SimGrid up to 3.10.

use std::fs;

use proptest::prelude::*;

use titr_common::event::{Event, Rank};

use crate::samples::open;
use crate::tally::{Counts, collectives, counted, damage, of, read_damaged};

const TRACE: &str = "\
p0 init
p1 init
p0 comm_size 2
p1 comm_size 2
p0 compute 1e6
p0 Isend p1 1000
p1 Irecv p0 1000
p0 Irecv p1 500
p1 Isend p0 500
p1 wait
p0 waitAll
p1 wait
p0 send p1 7
p1 recv p0
p0 allReduce 8 100
p1 allReduce 8 100
p0 bcast 64 1
p1 bcast 64 1
p0 finalize
p1 finalize
";

fn expected() -> Counts {
    let collectives = collectives(&[("allreduce", 2, 2), ("bcast", 2, 2)]);
    Counts { ranks: 2, messages: 3, bytes: 1507, receives: 3, pairs: 2, collectives }
}

#[test]
fn a_file_of_all_ranks_and_an_index_of_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.trace");
    fs::write(&path, TRACE).unwrap();
    assert_eq!(of(&path), expected());
    for rank in 0..2 {
        let lines = TRACE.lines().filter(|line| line.starts_with(&format!("p{rank} ")));
        fs::write(
            folder.path().join(format!("{rank}.trace")),
            lines.map(|line| format!("{line}\n")).collect::<String>(),
        )
        .unwrap();
    }
    let index = folder.path().join("index.txt");
    fs::write(&index, "0.trace\n1.trace\n").unwrap();
    assert_eq!(of(&index), expected());
}

#[test]
fn the_oldest_traces_neither_begin_nor_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring");
    fs::write(&path, "# a ring\np0 compute 5\np0 send p1 10\np1 recv p0\n").unwrap();
    let trace = open(&path).unwrap();
    let mut stream = trace.stream(Rank(1)).unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().unwrap() {
        events.push(event);
    }
    assert_eq!((events.first(), events.last(), events.len()), (Some(&Event::Init), Some(&Event::Finalize), 3));
}

#[test]
fn a_wrong_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong");
    fs::write(&path, "p0 init\np0 send p7 3\n").unwrap();
    let error = open(&path).and_then(|trace| counted(&trace)).unwrap_err().to_string();
    assert!(error.ends_with("line 2: rank 7 of 1 (in 'p0 send p7 3')"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_an_error_or_other_events(
        places in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"0123456789:,-pc\n\0x"[..])), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut text = TRACE.as_bytes().to_vec();
        damage(&mut text, &places);
        let path = folder.path().join("x");
        fs::write(&path, text).unwrap();
        read_damaged(&path);
    }
}
