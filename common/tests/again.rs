//! A trace whose loops are spelled with lines `again` alone, as titr wrote them before it had `loop`.

#![cfg(test)] // Tells clippy that helpers are tests too.

use std::fs;
use std::path::{Path, PathBuf};

use titr_common::event::Rank;
use titr_common::grammar::write_event;
use titr_common::trace::Trace;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/again")
}

#[test]
fn a_trace_without_lines_of_loops_is_read() {
    let trace = Trace::open(&data()).unwrap();
    let mut read = Vec::new();
    for rank in (0..trace.ranks()).map(Rank) {
        let mut stream = trace.stream(rank).unwrap();
        while let Some(event) = stream.next_event().unwrap() {
            write_event(&mut read, rank, &event);
        }
    }
    assert!(read == fs::read(data().join("spelled.txt")).unwrap());
}
