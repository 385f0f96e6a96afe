//! The ends of streams: data that may follow, and members that end between events.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use titr_common::event::{CommId, Completion, Event, Outgoing, Rank, SendMode, Tag, ThreadId};
use titr_common::trace::manifest::{Counter, Ended, RankEntry};
use titr_common::trace::{Manifest, RankWriter, StreamWriter, Trace, gather};
use titr_common::units::{Bytes, Instructions};

fn read(path: &Path) -> Result<Vec<Vec<Event>>, String> {
    let trace = Trace::open(path).map_err(|error| error.to_string())?;
    let mut streams = trace.streams().map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for stream in &mut streams {
        let mut events = Vec::new();
        while let Some(event) = stream.next_event().map_err(|error| error.to_string())? {
            events.push(event);
        }
        all.push(events);
    }
    Ok(all)
}

fn member(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A trace directory of one rank, whose stream `write` writes.
fn directory_of(write: impl FnOnce(&Path) -> RankEntry) -> TempDir {
    let folder = TempDir::new().unwrap();
    let entry = write(folder.path());
    Manifest { per_rank: vec![entry], ..Manifest::of_unknown_origin(1) }.write(folder.path()).unwrap();
    folder
}

fn entry() -> RankEntry {
    RankEntry::new(Rank(0), Counter::exact("none")).with(|entry| entry.ended = Ended::Finalize)
}

/// A stream of two events, with further members after its end record.
fn directory_with(further: &[&str]) -> TempDir {
    directory_of(|folder| {
        let mut stream = StreamWriter::create(folder, Rank(0), 3).unwrap();
        stream.write_member(b"0 init\n0 finalize\n").unwrap();
        let path = stream.path().to_owned();
        stream.finish(2).unwrap();
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        further.iter().for_each(|text| file.write_all(&member(text)).unwrap());
        entry()
    })
}

#[test]
fn nothing_follows_the_end_record() {
    let own = "# titr 1\n0 init\n0 finalize\n# end 2\n";
    let file = TempDir::new().unwrap();
    for (further, line) in [
        ("0 compute 1e9\n", "5: '0 compute 1e9'"),
        ("\n\n0 barrier", "7: '0 barrier'"),
        ("# end 2\n", "5: '# end 2'"),
        ("what is this?\n", "5: 'what is this?'"),
    ] {
        let expected = format!(":{line} follows the end record");
        let text = file.path().join("trace.txt");
        fs::write(&text, [own, further].concat()).unwrap();
        // In a file of all ranks, comments belong to no rank.
        if !further.starts_with('#') {
            let error = read(&text).unwrap_err();
            assert!(error.contains(&expected), "{error}");
        }
        let folder = directory_with(&["", further]);
        let error = read(folder.path()).unwrap_err();
        assert!(error.contains(&expected), "{error}");
        let archive = file.path().join("trace.tar");
        gather(&[folder.path()], &archive).unwrap();
        let error = read(&archive).unwrap_err();
        assert!(error.contains(&expected), "{error}");
        fs::remove_file(archive).unwrap();
    }
    let folder = directory_with(&["", "\n", ""]);
    assert_eq!(read(folder.path()).unwrap()[0].len(), 2);
}

#[test]
fn a_member_without_text_is_one_like_any_other() {
    let folder = directory_of(|folder| {
        let mut stream = StreamWriter::create(folder, Rank(0), 3).unwrap();
        for text in ["", "", "0 init\n", "", "0 finalize\n", ""] {
            stream.write_member(text.as_bytes()).unwrap();
        }
        stream.finish(2).unwrap();
        entry()
    });
    assert_eq!(read(folder.path()).unwrap(), [[Event::Init, Event::Finalize]]);
}

/// Event lines of 32 bytes, with 4,096 in a member.
#[test]
fn whatever_number_of_events_is_written_is_read() {
    let event = |number: u64| {
        let message = Outgoing {
            comm: CommId::WORLD,
            to: Rank(0),
            tag: Tag(100_000_000),
            bytes: Bytes(100_000_000_000 + number),
        };
        Event::Send(SendMode::Standard, message, Completion::Blocking)
    };
    for number in [0, 1, 4095, 4096, 4097, 8192] {
        let folder = directory_of(|folder| {
            let mut writer = RankWriter::create(folder, Rank(0)).unwrap();
            for event in (0..number).map(event) {
                writer.write(ThreadId::MAIN, &event).unwrap();
            }
            writer.finish(entry()).unwrap()
        });
        assert_eq!(read(folder.path()).unwrap(), [(0..number).map(event).collect::<Vec<_>>()]);
    }
}

/// A computation waits for the event after it, and an event of a loop for the end of its line.
#[test]
fn events_that_the_writer_holds_back_are_written_at_the_end() {
    let repeated = vec![Event::Finalize; 3];
    for last in [vec![Event::Compute(Instructions(5.0))], repeated] {
        let folder = directory_of(|folder| {
            let mut writer = RankWriter::create(folder, Rank(0)).unwrap();
            last.iter().for_each(|event| writer.write(ThreadId::MAIN, event).unwrap());
            writer.finish(entry()).unwrap()
        });
        assert_eq!(read(folder.path()).unwrap(), [last]);
    }
}

/// A file of seven gigabytes with only its header on disk.
#[test]
fn a_name_in_an_archive_is_read_up_to_a_limit() {
    let folder = TempDir::new().unwrap();
    for kind in [tar::EntryType::GNULongName, tar::EntryType::XHeader] {
        let mut header = tar::Header::new_gnu();
        header.set_path("././@LongLink").unwrap();
        header.set_entry_type(kind);
        header.set_size(6 << 30);
        header.set_cksum();
        let path = folder.path().join("trace.tar");
        let mut file = fs::File::create(&path).unwrap();
        file.write_all(header.as_bytes()).unwrap();
        file.set_len(7 << 30).unwrap();
        let error = read(&path).unwrap_err();
        assert!(error.contains("a name of more than a megabyte"), "{error}");
    }
}
