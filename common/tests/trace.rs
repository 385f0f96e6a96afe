//! Traces on disk from outside: directories, SimGrid's indexes and files, and the errors of damaged ones.

#![cfg(test)] // Tells clippy that helpers are tests too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use titr_common::event::{Event, Rank};
use titr_common::trace::manifest::{Counter, Ended, RankEntry};
use titr_common::trace::{Ending, Manifest, RankStream, StreamWriter, Trace, TraceError};
use titr_common::units::{Bytes, Instructions};

fn entry(rank: u32, ended: Ended) -> RankEntry {
    let counter = Counter { rate: Some(1e9), ..Counter::exact("cpu") };
    let mut entry = RankEntry { pid: 100 + rank, ..RankEntry::new(Rank(rank), counter) };
    (entry.run, entry.host, entry.cpu) = ("a run".into(), "here".into(), "a processor".into());
    (entry.ended, entry.events, entry.text, entry.disk) = (ended, 3, Bytes(40), Bytes(90));
    entry.untraced = BTreeMap::from([("MPI_Put".to_owned(), 2)]);
    entry
}

/// A trace of two ranks, three events each in two members.
fn trace() -> TempDir {
    let directory = TempDir::new().unwrap();
    let (command, mpi) = (vec!["./ring".to_owned()], "some MPI".to_owned());
    let manifest = Manifest { command, mpi, per_rank: Vec::new(), ..Manifest::of_unknown_origin(2) };
    manifest.write(directory.path()).unwrap();
    for rank in 0..2 {
        entry(rank, Ended::Running).write(directory.path()).unwrap();
        let mut stream = StreamWriter::create(directory.path(), Rank(rank), 3).unwrap();
        stream.write_member(format!("{rank} init\n{rank} compute 5\n").as_bytes()).unwrap();
        stream.write_member(format!("{rank} finalize\n").as_bytes()).unwrap();
        stream.finish(3).unwrap();
    }
    directory
}

fn ended() -> TempDir {
    let directory = trace();
    for rank in 0..2 {
        entry(rank, Ended::Finalize).end(directory.path(), 2).unwrap();
    }
    directory
}

fn drain(stream: &mut RankStream) -> Result<Vec<Event>, TraceError> {
    let mut events = Vec::new();
    while let Some(event) = stream.next_event()? {
        events.push(event);
    }
    Ok(events)
}

fn read(path: &Path) -> Result<Vec<Vec<Event>>, TraceError> {
    Trace::open(path)?.streams()?.iter_mut().map(drain).collect()
}

fn events() -> Vec<Event> {
    vec![Event::Init, Event::Compute(Instructions(5.0)), Event::Finalize]
}

/// The message for `path`, with the directory's own name taken out.
fn refusal(directory: &Path, path: &Path) -> String {
    read(path).unwrap_err().to_string().replace(&directory.display().to_string(), "DIR")
}

fn stream_of(directory: &Path, rank: u32) -> PathBuf {
    directory.join(format!("rank-{rank:06}.tit.gz"))
}

#[test]
fn what_is_written_is_read() {
    let directory = ended();
    assert_eq!(read(directory.path()).unwrap(), [events(), events()]);
    let mut names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["manifest.json", "rank-000000.tit.gz", "rank-000001.tit.gz"], "whoever ends last folds");
    let manifest = Trace::open(directory.path()).unwrap().manifest().cloned().unwrap();
    assert_eq!(manifest.per_rank, [entry(0, Ended::Finalize), entry(1, Ended::Finalize)]);
}

#[test]
fn a_trace_whose_rank_was_killed_is_read_with_the_entries_beside_it() {
    let directory = trace();
    entry(1, Ended::Finalize).end(directory.path(), 2).unwrap();
    let manifest = Manifest::read(directory.path()).unwrap();
    let how: Vec<Ended> = manifest.per_rank.iter().map(|entry| entry.ended).collect();
    assert_eq!(how, [Ended::Running, Ended::Finalize]);
}

#[test]
fn a_stream_is_never_overwritten() {
    let directory = trace();
    assert!(StreamWriter::create(directory.path(), Rank(0), 3).is_err());
}

#[test]
fn of_a_torn_stream_every_complete_member_is_read() {
    let directory = ended();
    let path = stream_of(directory.path(), 1);
    let whole = fs::read(&path).unwrap();
    let mut most = 0;
    for length in 1..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(matches!(read(directory.path()), Err(TraceError::Torn { .. })), "{length}");
        let source = Trace::open(directory.path()).unwrap().partial(true);
        let mut stream = source.stream(Rank(1)).unwrap();
        let found = drain(&mut stream).unwrap();
        assert!(matches!(stream.ending(), Some(Ending::Torn(_))), "{length}");
        assert!(events().starts_with(&found) && found.len() >= most, "{length}: {found:?}");
        most = found.len();
    }
    assert_eq!(most, 3);
}

#[test]
fn damage_is_found_before_a_line_of_it_is_believed() {
    let directory = ended();
    let path = stream_of(directory.path(), 1);
    let whole = fs::read(&path).unwrap();
    for at in 10..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        if let Ok(all) = read(directory.path()) {
            assert_eq!(all[1], events(), "byte {at} of a header's name or time");
        }
    }
}

#[test]
fn bad_input_is_named() {
    let mut all = Vec::new();
    let mut refuse = |what: &str, damage: &dyn Fn(&Path)| {
        let directory = ended();
        damage(directory.path());
        all.push(format!("{what}\n    {}", refusal(directory.path(), directory.path())));
    };
    let gzip = |path: &Path, text: &str| {
        let parent = path.parent().unwrap();
        fs::remove_file(path).unwrap();
        let mut stream = StreamWriter::create(parent, Rank(1), 3).unwrap();
        stream.write_member(text.as_bytes()).unwrap();
        stream.finish(2).unwrap();
    };
    refuse("a stream is missing", &|path| fs::remove_file(stream_of(path, 1)).unwrap());
    refuse("a stream is empty", &|path| fs::write(stream_of(path, 1), "").unwrap());
    refuse("a stream is torn", &|path| {
        let whole = fs::read(stream_of(path, 1)).unwrap();
        fs::write(stream_of(path, 1), &whole[..whole.len() - 40]).unwrap();
    });
    refuse("an unknown word", &|path| gzip(&stream_of(path, 1), "1 init\n1 sned 0 7 1000\n"));
    refuse("another rank's line", &|path| gzip(&stream_of(path, 1), "1 init\n0 finalize\n"));
    refuse("a line is gone", &|path| gzip(&stream_of(path, 1), "1 init\n"));
    refuse("no manifest", &|path| fs::remove_file(path.join("manifest.json")).unwrap());
    refuse("a torn manifest", &|path| fs::write(path.join("manifest.json"), "{\"titr\": 1,\n").unwrap());
    refuse("a rank missing from the manifest", &|path| {
        let mut manifest = Manifest::read(path).unwrap();
        manifest.per_rank.pop();
        manifest.write(path).unwrap();
    });
    refuse("another version", &|path| {
        let text = fs::read_to_string(path.join("manifest.json")).unwrap();
        fs::write(path.join("manifest.json"), text.replace("\"titr\": 1", "\"titr\": 7")).unwrap();
    });
    refuse("a stream too many", &|path| {
        fs::copy(stream_of(path, 1), stream_of(path, 2)).unwrap();
    });
    insta::assert_snapshot!(all.join("\n"));
}

const RING: &str = "0 init\n0 compute 5\n\n0 finalize\n# a comment\n1 init\n1 compute 5\n1 finalize";

#[test]
fn simgrid_one_file_for_all_ranks() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("ring.txt"), RING).unwrap();
    fs::write(directory.path().join("ring.idx"), "ring.txt\n").unwrap();
    for name in ["ring.txt", "ring.idx"] {
        assert_eq!(read(&directory.path().join(name)).unwrap(), [events(), events()], "{name}");
    }
}

#[test]
fn simgrid_one_file_for_each_rank() {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join("ring")).unwrap();
    for rank in 0..2 {
        let text = format!("{rank} init\n{rank} compute 5\n{rank} finalize\n");
        fs::write(directory.path().join(format!("ring/{rank}.txt")), text).unwrap();
    }
    let index = directory.path().join("ring.idx");
    fs::write(&index, "ring/0.txt\nring/1.txt\n").unwrap();
    assert_eq!(read(&index).unwrap(), [events(), events()]);

    fs::write(&index, "ring/0.txt\nring/2.txt\n").unwrap();
    insta::assert_snapshot!(refusal(directory.path(), &index), @"DIR/ring.idx:2: there is no file 'ring/2.txt' here or beside the index");
}

#[test]
fn a_line_without_a_rank_is_refused_in_a_file_for_all() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("ring.txt");
    fs::write(&path, "0 init\nsend 1 0 5\n0 finalize\n").unwrap();
    insta::assert_snapshot!(refusal(directory.path(), &path), @"DIR/ring.txt:2:1: 'send' where a rank is expected (in 'send 1 0 5')");
}
