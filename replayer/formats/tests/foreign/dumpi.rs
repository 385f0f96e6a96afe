//! Traces of DUMPI.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use titr_common::event::Event;
use titr_common::trace::Trace;

use crate::counts::events;
use crate::samples::{collection, open, sample};
use crate::tally::{Counts, collectives, counted, damage, lu, of, programs, read_damaged, stencil};

#[test]
fn the_samples_have_the_counts_of_their_programs() {
    for (name, counts) in programs(367_520) {
        assert_eq!(of(&sample("dumpi").join(name)), counts, "{name}");
    }
}

#[test]
fn the_meta_file_stands_for_its_trace_and_a_rank_does_not() {
    let directory = sample("dumpi/stencil");
    let names = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let (metas, others): (Vec<_>, Vec<_>) = names.partition(|path| path.extension().is_some_and(|end| end == "meta"));
    assert_eq!(of(&metas[0]), stencil());
    let error = open(&others[0]).err().unwrap().to_string();
    assert!(error.contains("one rank of 9") && error.contains(".meta"), "{error}");
}

/// A copy of a sample, for tests to damage.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(sample("dumpi").join(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::write(folder.path().join(path.file_name().unwrap()), fs::read(path).unwrap()).unwrap();
    }
    folder
}

fn bin(folder: &Path, rank: u32) -> std::path::PathBuf {
    let end = format!("-{rank:04}.bin");
    let mut paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.to_string_lossy().ends_with(&end)).unwrap()
}

/// The error of opening or reading a trace.
fn error(folder: &Path) -> String {
    open(folder).and_then(|trace| counted(&trace)).err().unwrap().to_string()
}

#[test]
fn a_missing_or_cut_file_is_an_error_that_names_it() {
    let folder = copy("stencil");
    let path = bin(folder.path(), 3);
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(error(folder.path()).contains("the file of rank 3 of a trace of DUMPI is missing"));
    fs::write(&path, &bytes[..bytes.len() - 70]).unwrap();
    let message = error(folder.path());
    assert!(message.contains("-0003.bin") && message.contains("no index at its end"), "{message}");
    // What macOS puts beside files in archives is no rank.
    fs::write(&path, &bytes).unwrap();
    fs::write(folder.path().join("._dumpi-0009.bin"), b"\0\x05\x16\x07").unwrap();
    assert_eq!(of(folder.path()), stencil());
}

/// Of a file that was cut anywhere, the calls before the cut are read; those of other ranks are whole, unless they make a
/// communicator with the rank after it.
#[test]
fn a_cut_file_is_read_as_far_as_it_goes() {
    let whole = open(&sample("dumpi/stencil")).unwrap();
    let counts = |trace: &Trace| (0..9).map(|rank| events(trace, rank).unwrap().len()).collect::<Vec<_>>();
    let all = counts(&whole);
    let folder = copy("stencil");
    let path = bin(folder.path(), 3);
    let bytes = fs::read(&path).unwrap();
    let mut before = 0;
    for part in 0..=20 {
        let length = (bytes.len() * part / 20).clamp(8, bytes.len() - 1);
        fs::write(&path, &bytes[..length]).unwrap();
        let message = error(folder.path());
        assert!(message.contains("-0003.bin") && message.contains("--partial"), "{length}: {message}");
        let partial = counts(&open(folder.path()).unwrap().partial(true));
        let others = |counts: &[usize]| [&counts[..3], &counts[4..]].concat();
        assert_eq!(others(&partial), others(&all), "{length}");
        assert!((before..=all[3]).contains(&partial[3]), "{length}: {} after {before} of {}", partial[3], all[3]);
        before = partial[3];
    }
    // The last cut leaves all records.
    assert_eq!(before, all[3]);
    let folder = copy("collectives");
    let path = bin(folder.path(), 5);
    let bytes = fs::read(&path).unwrap();
    // Before MPI_Comm_split.
    let at = bytes.windows(4).position(|bytes| bytes == [0, 86, 0x4f, 0]).unwrap();
    fs::write(&path, &bytes[..at]).unwrap();
    let partial = open(folder.path()).unwrap().partial(true);
    let lengths: Vec<usize> = (0..8).map(|rank| events(&partial, rank).unwrap().len()).collect();
    let whole = open(&sample("dumpi/collectives")).unwrap();
    assert!((0..8).all(|rank| lengths[rank as usize] < events(&whole, rank).unwrap().len()), "{lengths:?}");
    assert!(lengths.iter().all(|length| *length > 0), "{lengths:?}");
}

#[test]
fn a_split_that_not_all_members_call_is_an_error() {
    let folder = copy("collectives");
    // MPI_Comm_split becomes MPI_Comm_compare, which has other arguments of the same length as two handles and a flag.
    let path = bin(folder.path(), 5);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|bytes| bytes == [0, 86, 0x4f, 0]).unwrap();
    bytes[at + 1] = 200;
    fs::write(&path, bytes).unwrap();
    let message = error(folder.path());
    assert!(message.contains(".bin"), "{message}");
}

/// A function becomes another one, with arguments of the same kinds.
#[test]
fn no_call_that_can_take_time_is_left_out_in_silence() {
    let changed = |name: &str, from: u8, to: u16| {
        let folder = copy(name);
        let path = bin(folder.path(), 0);
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.windows(4).position(|bytes| bytes == [0, from, 0x4f, 0]).unwrap();
        bytes[at..at + 2].copy_from_slice(&to.to_be_bytes());
        fs::write(&path, bytes).unwrap();
        let trace = open(folder.path()).unwrap();
        (events(&trace, 0).unwrap(), trace.untranslated().join("\n"))
    };
    let (comm_size, file_set_atomicity) = (81, 279);
    let notes = changed("stencil", comm_size, file_set_atomicity).1;
    assert!(notes.contains("1 calls of MPI_File_set_atomicity have no event"), "{notes}");
    let (request_free, buffer_detach) = (15, 7);
    let events = changed("persistent", request_free, buffer_detach).0;
    assert!(events.iter().any(|event| matches!(event, Event::Other(other) if other.awaits_buffered())));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_an_error_or_other_events(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let folder = copy("wildcards");
        let path = bin(folder.path(), 3);
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes, &places);
        fs::write(path, bytes).unwrap();
        read_damaged(folder.path());
    }
}

#[test]
#[ignore = "reads the collection of traces that TITR_FOREIGN names"]
fn the_collection_has_the_right_counts() {
    let Some(directory) = collection() else { return };
    assert_eq!(of(&directory.join("programs-by-seven-tools/dumpi/lu")), lu());
    let old = directory.join("sst-macro/tests/test_traces");
    let testbgp = Counts {
        ranks: 7,
        messages: 588,
        bytes: 418_656,
        receives: 588,
        pairs: 42,
        collectives: collectives(&[("alltoall", 7, 49), ("barrier", 7, 21)]),
    };
    assert_eq!(of(&old.join("testbgp.meta")), testbgp);
    let testtrace = Counts {
        ranks: 4,
        messages: 4,
        bytes: 16,
        receives: 4,
        pairs: 4,
        collectives: collectives(&[("allreduce", 4, 4), ("barrier", 4, 4)]),
    };
    assert_eq!(of(&old.join("testtrace.meta")), testtrace);
    let message = open(&old).err().unwrap().to_string();
    assert!(message.contains("testbgp, testtrace"), "{message}");
}
