//! Events read per second: decompressed and parsed.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on has failed")]

use std::fs;
use std::path::Path;

use divan::counter::ItemsCount;
use titr_common::event::Rank;
use titr_common::trace::{EventSource, LocatedEvents, StreamWriter, Trace};

const LINES: &[u8] = b"9 recv 1 1 520\n9 recv 8 3 520\n9 compute 20345\n9 send 17 1 520\n9 send 10 3 520\n";
const REPEATS: usize = 20_000;
const EVENTS: usize = 5 * REPEATS;

fn main() {
    divan::main();
}

/// Reads the trace whose stream of rank 9 is `stream`.
fn read(bencher: divan::Bencher, directory: &Path, stream: &Path) {
    let index = directory.join("index");
    fs::write(&index, vec![stream.display().to_string(); 20].join("\n")).unwrap();
    let source = Trace::open(&index).unwrap();
    bencher.counter(ItemsCount::new(EVENTS)).bench(|| {
        let mut stream = source.stream(Rank(9)).unwrap();
        let mut events = LocatedEvents::default();
        while stream.read(&mut events).unwrap() {
            divan::black_box(&mut events).clear();
        }
        assert_eq!(stream.events(), EVENTS as u64);
    });
}

#[divan::bench]
fn plain(bencher: divan::Bencher) {
    let directory = tempfile::tempdir().unwrap();
    let stream = directory.path().join("rank-9.txt");
    fs::write(&stream, LINES.repeat(REPEATS)).unwrap();
    read(bencher, directory.path(), &stream);
}

#[divan::bench]
fn packed(bencher: divan::Bencher) {
    let directory = tempfile::tempdir().unwrap();
    let mut stream = StreamWriter::create(directory.path(), Rank(9), 3).unwrap();
    for _ in 0..REPEATS / 1000 {
        stream.write_member(&LINES.repeat(1000)).unwrap();
    }
    let path = stream.path().to_owned();
    stream.finish(EVENTS as u64).unwrap();
    read(bencher, directory.path(), &path);
}
